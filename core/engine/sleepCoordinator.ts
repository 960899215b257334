import { steady, type Clock } from '../clock';
import type { Order } from '../orders/order';

/** n8n reads every 60 s which executions are to be woken within the next 70 s: a shorter sleep would end late. */
export const MIN_SLEEP_MS = 66_000;

/** A poll may be late by this share of the task's age, … */
const PATIENCE_OF_ELAPSED = 0.05;
/** … but never by more than this. */
const MAX_PATIENCE_MS = 1_800_000;

/**
 * An order that waits for another one, for a free place or for the purchase under its key, keeps the execution awake for so long:
 * that of a short task is over sooner. Afterwards it is due when the execution wakes up the next time.
 */
const AWAKE_FOR_OTHERS_MS = 5_000;

/**
 * Decides when an execution that polls several orders can sleep: when none of them is due soon, nor being delivered.
 * Then all polls end, and the caller sleeps in n8n's database until `until`.
 */
export class SleepCoordinator {
	/** The time of the next poll, for each order that waits for it. */
	private readonly waiting = new Map<symbol, number>();

	private readonly asleep = new AbortController();

	private wakeAtMs = 0;

	private readonly clock: Clock;

	/** The orders that wait for others, and how long they keep the execution awake. */
	private readonly waitingForOthers = new Map<object, number>();

	/** The times until which they do, once they have waited: each order is patient once. */
	private readonly awakeUntilMs = new WeakMap<object, number>();

	/** The orders that have begun and not ended: one that delivers is not in flight. */
	private begun = 0;

	/**
	 * @param unfinished how many orders there are
	 * @param concurrency how many of them are in flight at once; the others wait
	 */
	constructor(
		private readonly wallClock: Clock,
		private unfinished: number,
		private readonly concurrency = unfinished,
	) {
		this.clock = steady(wallClock);
	}

	/** Aborts when the execution is to sleep. */
	get signal(): AbortSignal {
		return this.asleep.signal;
	}

	/** The time to wake up, in Unix milliseconds; undefined while the execution is awake. */
	get until(): number | undefined {
		// n8n wakes executions by the clock of the computer, which may have been set meanwhile.
		return this.signal.aborted ? this.wakeAtMs + this.wallClock.now() - this.clock.now() : undefined;
	}

	/** The clock of one order's polls. What the sleep delays keeps its time in `wait.dueAtMs`, and comes at once then. */
	clockOf({ acceptedAtMs, wait }: Pick<Order, 'acceptedAtMs' | 'wait'>): Clock {
		const key = Symbol('order');
		const { now, random } = this.clock;
		if (wait === undefined) return this.clock;
		// The clock of the computer may have been set since this one began.
		const aheadMs = now() - this.wallClock.now();
		const startedAtMs = (wait.startedAtMs ?? this.wallClock.now()) + aheadMs;
		const bornAtMs = acceptedAtMs === undefined ? startedAtMs : acceptedAtMs + aheadMs;
		const { timeoutMs, plan } = wait;
		const deadlineMs = startedAtMs + timeoutMs;
		return {
			now,
			random,
			sleep: async (delayMs, signal, atMostMs = Infinity) => {
				const nowMs = now();
				const lateMs = plan.kind === 'fixed' ? 0 : patienceMs(nowMs - bornAtMs);
				const patientMs = Math.max(delayMs, lateMs);
				const plannedAtMs = delayMs > 0 ? Math.min(nowMs + patientMs, Math.max(deadlineMs, nowMs + delayMs)) : nowMs;
				const wakeAtMs = Math.max(nowMs, Math.min(wait.dueAtMs ?? Infinity, plannedAtMs));
				wait.dueAtMs = wakeAtMs;
				this.waiting.set(key, wakeAtMs);
				this.considerSleeping();
				await this.clock.sleep(Math.min(wakeAtMs - nowMs, atMostMs), signal);
				this.waiting.delete(key);
				if (!signal?.aborted && now() >= wakeAtMs) delete wait.dueAtMs;
			},
		};
	}

	/** Notes that an order is in flight. */
	began(): void {
		this.begun++;
	}

	/** Notes that an order waits for others. Call what it returns when it waits no more. */
	waitsForOther(order: object): () => void {
		const untilMs = this.awakeUntilMs.get(order) ?? this.clock.now() + AWAKE_FOR_OTHERS_MS;
		this.awakeUntilMs.set(order, untilMs);
		this.waitingForOthers.set(order, untilMs);
		const over = new AbortController();
		void this.clock.sleep(Math.max(1, untilMs - this.clock.now()), over.signal).then(() => {
			if (over.signal.aborted) return;
			// A timer may end a little early: by the clock alone, the execution would then stay awake until another order does something.
			this.awakeUntilMs.set(order, -Infinity);
			this.waitingForOthers.set(order, -Infinity);
			this.considerSleeping();
		});
		return () => {
			over.abort();
			this.waitingForOthers.delete(order);
		};
	}

	/** Notes that an order has ended. */
	finished(): void {
		this.begun--;
		this.unfinished--;
		this.considerSleeping();
	}

	private considerSleeping(): void {
		const unfinished = Math.max(this.begun, Math.min(this.unfinished, this.concurrency));
		const waiting = this.waiting.size + this.waitingForOthers.size;
		if (unfinished <= 0 || waiting < unfinished || this.signal.aborted) return;
		const nowMs = this.clock.now();
		const shortestMs = nowMs + MIN_SLEEP_MS;
		for (const untilMs of this.waitingForOthers.values()) if (untilMs > nowMs) return;
		let nextMs = this.waitingForOthers.size > 0 ? shortestMs : Infinity;
		for (const atMs of this.waiting.values()) {
			// The first one that is near decides: with thousands, a look at all of them at each poll would fill n8n's thread.
			if (atMs < shortestMs) return;
			nextMs = Math.min(nextMs, atMs);
		}
		this.wakeAtMs = nextMs;
		this.asleep.abort();
	}
}

/** The time by which a poll may be late; 0 where that would not make a sleep. */
function patienceMs(elapsedMs: number): number {
	const ms = Math.min(MAX_PATIENCE_MS, elapsedMs * PATIENCE_OF_ELAPSED);
	return ms < MIN_SLEEP_MS ? 0 : ms;
}
