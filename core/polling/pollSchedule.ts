import type { SurvivalTable, Observation } from './survivalTable';
import { timeLeft, type TimeLeft } from './timeLeft';
import { afterPoll, nextPollAtMs, NOT_POLLED, SHORTEST_GAP_MS, type Poll, type PollState } from './planner';

/** Poll at every multiple of an interval after the acceptance, or when a poll is likely to pay. */
export type PollPlan = { kind: 'automatic' } | { kind: 'fixed'; intervalMs: number };

/** Clocks and timers may be early by this share of an interval. Less, and an early timer polls twice; more, and a late poll skips one. */
const EARLY = 0.01;

export interface ScheduledTask {
	/** Earlier durations of such tasks. It learns from this one. */
	table: SurvivalTable;
	/** A number in [0, 1). */
	random: () => number;
	/** The age of the task when the wait began: it may have finished before. */
	ageAtStartMs: number;
	/** The polls of earlier parts of the same wait. */
	polls?: readonly Poll[];
}

/** Plans the polls of one task. Ages are milliseconds since the acceptance. */
export class PollSchedule {
	private state: PollState = NOT_POLLED;

	private readonly observation: Observation;

	private turn: number;

	/** Plans are made once a second for each task, and most of the time nothing has changed. */
	private planned?: { backlogMs: number; tableVersion: number; atMs: number };

	constructor(
		private readonly plan: PollPlan,
		private readonly task: ScheduledTask,
	) {
		this.observation = task.table.begin();
		this.turn = this.drawTurn();
		for (const poll of task.polls ?? []) this.polled(poll);
	}

	/**
	 * The age at which to poll next; may lie in the past.
	 *
	 * @param backlogMs the time that a request would wait for its turn. A poll is put off by it instead of standing in
	 *   line: meanwhile the polls of other tasks may show that it is too early.
	 */
	nextPollAtMs(backlogMs: number): number {
		if (this.plan.kind === 'automatic') return this.plannedAtMs(backlogMs) + backlogMs;
		const { intervalMs } = this.plan;
		return intervalMs * Math.max(1, Math.floor(this.state.lastAtMs / intervalMs + EARLY) + 1);
	}

	private plannedAtMs(backlogMs: number): number {
		const { table } = this.task;
		const { version } = table;
		if (this.planned?.backlogMs === backlogMs && this.planned.tableVersion === version) return this.planned.atMs;
		const atMs = nextPollAtMs(this.state, table, this.turn, backlogMs);
		this.planned = { backlogMs, tableVersion: version, atMs };
		return atMs;
	}

	/** A poll has found the task unfinished, or got no answer. */
	polled(poll: Poll): void {
		this.planned = undefined;
		this.state = afterPoll(this.state, poll);
		if (poll.failed !== true) this.observation.pending(poll.atMs);
		this.turn = this.drawTurn();
	}

	timeLeft(ageMs: number): TimeLeft {
		return timeLeft(this.state, this.task.table, ageMs);
	}

	finished(ageMs: number): void {
		if (this.state.answeredAtMs === 0 && this.isStartedLate()) this.observation.abandoned();
		else this.observation.finished(ageMs);
	}

	/** The wait is over, however it ended. */
	end(): void {
		this.observation.abandoned();
	}

	/** True where a first poll would have come earlier: since then the task may have finished at any time. */
	private isStartedLate(): boolean {
		const { ageAtStartMs, table } = this.task;
		return ageAtStartMs > SHORTEST_GAP_MS && ageAtStartMs > nextPollAtMs(NOT_POLLED, table, 1, 0);
	}

	/** The share of a poll's price that the next one pays: 1 for a single task, random in a batch, so that its tasks do not poll in step. */
	private drawTurn(): number {
		return this.observation.running > 1 ? 2 * this.task.random() : 1;
	}
}
