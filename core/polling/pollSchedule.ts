import type { SurvivalTable, Observation } from './survivalTable';
import { afterPoll, nextPollAtMs, NOT_POLLED, SHORTEST_GAP_MS, type Poll, type PollState } from './planner';

/** When to check: at every multiple of an interval after the acceptance, or when it is likely to pay. */
export type PollPlan = { kind: 'automatic' } | { kind: 'fixed'; intervalMs: number };

/** Clocks and timers may be early by this share of an interval. Less, and an early timer checks twice; more, and a late check skips one. */
const EARLY = 0.01;

/** When to check one task, while it is waited for. Ages are milliseconds since the acceptance. */
export class PollSchedule {
	private state: PollState = NOT_POLLED;

	private readonly observation: Observation;

	private turn: number;

	/** Plans are made once a second for each task, and most of the time nothing has changed. */
	private planned?: { backlogMs: number; tableVersion: number; atMs: number };

	/**
	 * @param table what is known of such tasks; learns from this one
	 * @param polls what an earlier part of the same wait has seen
	 * @param takenUpAtMs the age at which the waiting begins: whether the task has finished before, nobody knows
	 */
	constructor(
		private readonly plan: PollPlan,
		private readonly table: SurvivalTable,
		private readonly random: () => number,
		private readonly takenUpAtMs: number,
		polls: readonly Poll[] = [],
	) {
		this.observation = table.begin();
		this.turn = this.drawTurn();
		for (const poll of polls) this.polled(poll);
	}

	/**
	 * The age at which to check next; may lie in the past.
	 *
	 * @param backlogMs how long a request would wait for its turn. What is due stays out of a line that is longer than it
	 *   is late: while the others are sent, they may teach that it is too early, and those who are latest come first.
	 */
	nextPollAtMs(backlogMs: number): number {
		if (this.plan.kind === 'automatic') return this.plannedAtMs(backlogMs) + backlogMs;
		const { intervalMs } = this.plan;
		return intervalMs * Math.max(1, Math.floor(this.state.lastAtMs / intervalMs + EARLY) + 1);
	}

	private plannedAtMs(backlogMs: number): number {
		const { version } = this.table;
		if (this.planned?.backlogMs === backlogMs && this.planned.tableVersion === version) return this.planned.atMs;
		const atMs = nextPollAtMs(this.state, this.table, this.turn, backlogMs);
		this.planned = { backlogMs, tableVersion: version, atMs };
		return atMs;
	}

	/** It was checked and has not finished. */
	polled(poll: Poll): void {
		this.planned = undefined;
		this.state = afterPoll(this.state, poll);
		if (poll.failed !== true) this.observation.pending(poll.atMs);
		this.turn = this.drawTurn();
	}

	finished(ageMs: number): void {
		if (this.state.answeredAtMs === 0 && this.isTakenUpLate()) this.observation.abandoned();
		else this.observation.finished(ageMs);
	}

	/** The wait is over, however it ended. */
	end(): void {
		this.observation.abandoned();
	}

	/** After a first check would have come: between that and the acceptance, it may have finished at any time. */
	private isTakenUpLate(): boolean {
		return this.takenUpAtMs > SHORTEST_GAP_MS && this.takenUpAtMs > nextPollAtMs(NOT_POLLED, this.table, 1, 0);
	}

	/** A single task pays the price of a check. Those of a batch draw it: they do not check in step, and the first end is soon seen. */
	private drawTurn(): number {
		return this.observation.running > 1 ? 2 * this.random() : 1;
	}
}
