import type { LifeTable, Life } from './lifeTable';
import { afterLook, nextLookAtMs, NOT_CHECKED, SHORTEST_GAP_MS, type Look, type PollState } from './planner';

/** When to check: at every multiple of an interval after the acceptance, or when it is likely to pay. */
export type PollPlan = { kind: 'automatic' } | { kind: 'fixed'; intervalMs: number };

/** Clocks and timers may be early by this share of an interval. Less, and an early timer checks twice; more, and a late check skips one. */
const EARLY = 0.01;

/** When to check one task, while it is waited for. Ages are milliseconds since the acceptance. */
export class PollSchedule {
	private state: PollState = NOT_CHECKED;

	private readonly life: Life;

	private turn: number;

	/** Plans are made once a second for each task, and most of the time nothing has changed. */
	private planned?: { backlogMs: number; tableVersion: number; atMs: number };

	/**
	 * @param table what is known of such tasks; learns from this one
	 * @param looks what an earlier part of the same wait has seen
	 * @param takenUpAtMs the age at which the waiting begins: whether the task has finished before, nobody knows
	 */
	constructor(
		private readonly plan: PollPlan,
		private readonly table: LifeTable,
		private readonly random: () => number,
		private readonly takenUpAtMs: number,
		looks: readonly Look[] = [],
	) {
		this.life = table.begin();
		this.turn = this.drawTurn();
		for (const look of looks) this.looked(look);
	}

	/**
	 * The age at which to check next; may lie in the past.
	 *
	 * @param backlogMs how long a request would wait for its turn. What is due stays out of a line that is longer than it
	 *   is late: while the others are sent, they may teach that it is too early, and those who are latest come first.
	 */
	nextLookAtMs(backlogMs: number): number {
		if (this.plan.kind === 'automatic') return this.plannedAtMs(backlogMs) + backlogMs;
		const { intervalMs } = this.plan;
		return intervalMs * Math.max(1, Math.floor(this.state.lastAtMs / intervalMs + EARLY) + 1);
	}

	private plannedAtMs(backlogMs: number): number {
		const { version } = this.table;
		if (this.planned?.backlogMs === backlogMs && this.planned.tableVersion === version) return this.planned.atMs;
		const atMs = nextLookAtMs(this.state, this.table, this.turn, backlogMs);
		this.planned = { backlogMs, tableVersion: version, atMs };
		return atMs;
	}

	/** It was checked and has not finished. */
	looked(look: Look): void {
		this.planned = undefined;
		this.state = afterLook(this.state, look);
		if (look.failed !== true) this.life.pending(look.atMs);
		this.turn = this.drawTurn();
	}

	finished(ageMs: number): void {
		if (this.state.answeredAtMs === 0 && this.isTakenUpLate()) this.life.givenUp();
		else this.life.finished(ageMs);
	}

	/** The wait is over, however it ended. */
	end(): void {
		this.life.givenUp();
	}

	/** After a first check would have come: between that and the acceptance, it may have finished at any time. */
	private isTakenUpLate(): boolean {
		return this.takenUpAtMs > SHORTEST_GAP_MS && this.takenUpAtMs > nextLookAtMs(NOT_CHECKED, this.table, 1, 0);
	}

	/** A single task pays the price of a check. Those of a batch draw it: they do not check in step, and the first end is soon seen. */
	private drawTurn(): number {
		return this.life.running > 1 ? 2 * this.random() : 1;
	}
}
