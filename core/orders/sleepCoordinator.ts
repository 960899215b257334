import { steady, type Clock } from '../clock';
import type { Order } from './order';

/** n8n reads every 60 s which executions are to be woken within the next 70 s: a shorter sleep would end late. */
export const MIN_SLEEP_MS = 66_000;

/** A poll may be late by this share of the time that a task has taken so far, … */
const PATIENCE_OF_ELAPSED = 0.05;
/** … but never by more than this. */
const MAX_PATIENCE_MS = 1_800_000;

/**
 * Orders that are polled side by side in memory until none of them is due soon: then all fall asleep, and the caller can
 * sleep in n8n's database until `until`. An order that is being polled or delivered keeps all awake.
 */
export class SleepCoordinator {
	/** When each of the orders that wait for their next poll will make it. */
	private readonly waiting = new Map<symbol, number>();

	private readonly asleep = new AbortController();

	private wakeAtMs = 0;

	private readonly clock: Clock;

	/** @param awake how many orders there are */
	constructor(
		private readonly wallClock: Clock,
		private awake: number,
	) {
		this.clock = steady(wallClock);
	}

	/** Aborts when all fall asleep. */
	get signal(): AbortSignal {
		return this.asleep.signal;
	}

	/** When the first of them has to be awake again, in Unix milliseconds; undefined while they are. */
	get until(): number | undefined {
		// n8n wakes executions by the clock of the computer, which may have been set meanwhile.
		return this.signal.aborted ? this.wakeAtMs + this.wallClock.now() - this.clock.now() : undefined;
	}

	/** The clock that one order is polled by. A poll that the sleep has put off is kept in `wait.dueAtMs`, and made up for. */
	clockOf({ acceptedAtMs, wait }: Pick<Order, 'acceptedAtMs' | 'wait'>): Clock {
		const key = Symbol('order');
		const { now, random } = this.clock;
		if (wait === undefined) return this.clock;
		const { startedAtMs = now(), timeoutMs, plan } = wait;
		const deadlineMs = startedAtMs + timeoutMs;
		return {
			now,
			random,
			sleep: async (delayMs, signal, atMostMs = Infinity) => {
				const nowMs = now();
				const lateMs = plan.kind === 'fixed' ? 0 : patienceMs(nowMs - (acceptedAtMs ?? startedAtMs));
				const patientMs = Math.max(delayMs, lateMs);
				const plannedAtMs = delayMs > 0 ? Math.min(nowMs + patientMs, Math.max(deadlineMs, nowMs + delayMs)) : nowMs;
				const wakeAtMs = Math.max(nowMs, Math.min(wait.dueAtMs ?? Infinity, plannedAtMs));
				wait.dueAtMs = wakeAtMs;
				if (wakeAtMs > nowMs) {
					this.waiting.set(key, wakeAtMs);
					this.considerSleeping();
				}
				await this.clock.sleep(Math.min(wakeAtMs - nowMs, atMostMs), signal);
				this.waiting.delete(key);
				if (!signal?.aborted && now() >= wakeAtMs) delete wait.dueAtMs;
			},
		};
	}

	/** An order has come to its end. */
	finished(): void {
		this.awake--;
		this.considerSleeping();
	}

	private considerSleeping(): void {
		if (this.awake === 0 || this.waiting.size < this.awake || this.signal.aborted) return;
		let nextMs = Infinity;
		for (const wakeAtMs of this.waiting.values()) nextMs = Math.min(nextMs, wakeAtMs);
		if (nextMs < this.clock.now() + MIN_SLEEP_MS) return;
		this.wakeAtMs = nextMs;
		this.asleep.abort();
	}
}

/** Only where it is worth a sleep: otherwise the plan alone decides. */
function patienceMs(elapsedMs: number): number {
	const ms = Math.min(MAX_PATIENCE_MS, elapsedMs * PATIENCE_OF_ELAPSED);
	return ms < MIN_SLEEP_MS ? 0 : ms;
}
