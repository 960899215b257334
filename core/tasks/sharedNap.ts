import { steady, type Clock } from '../clock';

/** n8n reads every 60 s which executions are to be woken within the next 70 s: a shorter sleep would end late. */
export const SHORTEST_SLEEP_MS = 66_000;

/** A look that comes so late is not missed: this share of the time that a task has taken so far, … */
const PATIENCE_OF_ELAPSED = 0.05;
/** … but never more than this. */
const LONGEST_PATIENCE_MS = 1_800_000;

/** Where a wait began and ends. Unix milliseconds. */
export interface Span {
	startedAtMs: number;
	deadlineMs: number;
	/** The user has set the interval: it is kept. */
	isFixed: boolean;
	/** When the next check is due. What a nap has cut short is kept here, and made up for. */
	dueAtMs?: number;
}

/**
 * Tasks that wait next to each other in memory until none of them has anything to do soon: then all lie down, and the
 * caller can sleep in n8n's database until `wakeAtMs`. A task that is being checked or downloaded keeps all awake.
 */
export class SharedNap {
	/** When each of the tasks that wait for their next check will make it. */
	private readonly asleep = new Map<symbol, number>();

	private readonly lieDown = new AbortController();

	private wakeAtMs = 0;

	private readonly clock: Clock;

	/** @param untilMs waiting in memory ends here at the latest, by a check that lies behind it */
	constructor(
		private readonly wallClock: Clock,
		private awake: number,
		private readonly untilMs: number,
	) {
		this.clock = steady(wallClock);
	}

	/** Aborts when all lie down. */
	get signal(): AbortSignal {
		return this.lieDown.signal;
	}

	/** When the first of them has to be awake again; undefined while they are. */
	get until(): number | undefined {
		// n8n wakes executions by the clock of the computer, which may have been set meanwhile.
		return this.signal.aborted ? this.wakeAtMs + this.wallClock.now() - this.clock.now() : undefined;
	}

	/** The clock that one task waits by. */
	clockOf(span: Span): Clock {
		const key = Symbol('task');
		const { now, random } = this.clock;
		return {
			now,
			random,
			sleep: async (delayMs, signal, atMostMs = Infinity) => {
				const nowMs = now();
				const patientMs = span.isFixed ? delayMs : Math.max(delayMs, patienceMs(nowMs - span.startedAtMs));
				const plannedAtMs =
					delayMs > 0 ? Math.min(nowMs + patientMs, Math.max(span.deadlineMs, nowMs + delayMs)) : nowMs;
				const wakeAtMs = Math.max(nowMs, Math.min(span.dueAtMs ?? Infinity, plannedAtMs));
				span.dueAtMs = wakeAtMs;
				if (wakeAtMs > nowMs) {
					this.asleep.set(key, wakeAtMs);
					this.considerLyingDown();
				}
				await this.clock.sleep(Math.min(wakeAtMs - nowMs, atMostMs), signal);
				this.asleep.delete(key);
				if (!signal?.aborted && now() >= wakeAtMs) delete span.dueAtMs;
			},
		};
	}

	/** A task has come to its end. */
	finished(): void {
		this.awake--;
		this.considerLyingDown();
	}

	private considerLyingDown(): void {
		if (this.awake === 0 || this.asleep.size < this.awake || this.signal.aborted) return;
		let nextMs = Infinity;
		for (const wakeAtMs of this.asleep.values()) nextMs = Math.min(nextMs, wakeAtMs);
		const soonestMs = this.clock.now() + SHORTEST_SLEEP_MS;
		if (nextMs < soonestMs && nextMs < this.untilMs) return;
		this.wakeAtMs = Math.max(nextMs, soonestMs);
		this.lieDown.abort();
	}
}

/** Only where it is worth a sleep: otherwise the plan alone decides. */
function patienceMs(elapsedMs: number): number {
	const ms = Math.min(LONGEST_PATIENCE_MS, elapsedMs * PATIENCE_OF_ELAPSED);
	return ms < SHORTEST_SLEEP_MS ? 0 : ms;
}
