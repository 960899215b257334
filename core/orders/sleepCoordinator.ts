import { steady, type Clock } from '../clock';
import type { Order } from './order';

/** n8n reads every 60 s which executions are to be woken within the next 70 s: a shorter sleep would end late. */
export const MIN_SLEEP_MS = 66_000;

/** A poll may be late by this share of the task's age, … */
const PATIENCE_OF_ELAPSED = 0.05;
/** … but never by more than this. */
const MAX_PATIENCE_MS = 1_800_000;

/**
 * Decides when an execution that polls several orders can sleep: when none of them is due soon. Then all polls end, and
 * the caller sleeps in n8n's database until `until`. An order that is being polled or delivered keeps the execution
 * awake.
 */
export class SleepCoordinator {
	/** The time of the next poll, for each order that waits for it. */
	private readonly waiting = new Map<symbol, number>();

	private readonly asleep = new AbortController();

	private wakeAtMs = 0;

	private readonly clock: Clock;

	/** The times until which orders wait for a slot of the account. */
	private readonly withoutSlot = new Map<symbol, number>();

	/** True while nobody but this execution can make room for them. */
	private isAlone?: () => boolean;

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

	/**
	 * The clock of one order's polls. The time of a poll that the sleep has put off is kept in `wait.dueAtMs`, so that it
	 * comes right after.
	 */
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

	/** Notes that an order has got its slot. */
	began(): void {
		this.begun++;
	}

	/**
	 * Notes that an order waits for a slot of the account: where only the orders that are polled here can make room, it
	 * keeps nobody awake. Call what it returns when it waits no more.
	 *
	 * @param isAlone the same for all of them
	 * @param forMs the time after which it waits no more in any case
	 */
	waitsForSlot(isAlone: () => boolean, forMs: number): () => void {
		const key = Symbol('order');
		this.isAlone = isAlone;
		this.withoutSlot.set(key, this.clock.now() + forMs);
		this.considerSleeping();
		return () => this.withoutSlot.delete(key);
	}

	/** Notes that an order has ended. */
	finished(): void {
		this.begun--;
		this.unfinished--;
		this.considerSleeping();
	}

	private considerSleeping(): void {
		// Asking costs more with each task of the account, so not where it makes no difference.
		const withoutSlot = this.waiting.size > 0 && this.isAlone?.() ? this.withoutSlot.size : 0;
		const awake = Math.max(this.begun, Math.min(this.unfinished, this.concurrency)) - withoutSlot;
		if (awake <= 0 || this.waiting.size < awake || this.signal.aborted) return;
		let nextMs = Infinity;
		for (const atMs of [...this.waiting.values(), ...this.withoutSlot.values()]) nextMs = Math.min(nextMs, atMs);
		if (nextMs < this.clock.now() + MIN_SLEEP_MS) return;
		this.wakeAtMs = nextMs;
		this.asleep.abort();
	}
}

/** The time by which a poll may be late; 0 where that would not make a sleep. */
function patienceMs(elapsedMs: number): number {
	const ms = Math.min(MAX_PATIENCE_MS, elapsedMs * PATIENCE_OF_ELAPSED);
	return ms < MIN_SLEEP_MS ? 0 : ms;
}
