import type { Clock } from '../clock';

/** 50 tasks are submitted within a second; the limit of usual services is not met. */
export const DEFAULT_REQUESTS_PER_SECOND = 60;

/**
 * The batch as a whole holds back no longer than this, whatever one answer asks for: a hold has no regard for
 * the deadlines of the tasks behind it, while the one that was asked keeps to what it was told.
 */
const LONGEST_HOLD_MS = 60_000;
const SLOWEST_PACE_MS = 1000;

/**
 * A token bucket that every request of one node run passes: submissions, polls and uploads share it. After a
 * 429 the whole batch holds back as long as the service asked, and then goes on at half the pace, which
 * recovers with each answer.
 *
 * What was saved up counts: a third of the limit may go at once, and two thirds of it per second after that, so
 * that no second ever sees more than the limit. The default of 60 puts 50 submissions out within a second.
 */
export class RequestLimiter {
	private readonly spacingMs: number;

	private readonly burst: number;

	private paceMs: number;

	/** When the next request may go if no tokens are saved up. */
	private nextFreeAtMs = 0;

	private heldUntilMs = 0;

	constructor(
		/** The most in any one second. */
		requestsPerSecond: number,
		private readonly clock: Clock,
	) {
		this.spacingMs = 1500 / requestsPerSecond;
		this.burst = Math.max(1, Math.floor(requestsPerSecond / 3));
		this.paceMs = this.spacingMs;
	}

	/** Resolves when a request may be sent; early when the signal aborts (the caller checks it). */
	async acquire(signal?: AbortSignal): Promise<void> {
		for (;;) {
			const waitMs = this.reserve() - this.clock.now();
			if (waitMs > 0) await this.clock.sleep(waitMs, signal);
			if (signal?.aborted || this.clock.now() >= this.heldUntilMs) return;
			// A 429 came in while this request waited for its turn: it queues again behind the hold.
		}
	}

	/** The service answered 429: nothing is sent for `delayMs` (a minute at most), and then more slowly. */
	holdBack(delayMs: number): void {
		this.heldUntilMs = Math.max(this.heldUntilMs, this.clock.now() + Math.min(delayMs, LONGEST_HOLD_MS));
		this.nextFreeAtMs = Math.max(this.nextFreeAtMs, this.heldUntilMs);
		this.paceMs = Math.min(Math.max(SLOWEST_PACE_MS, this.spacingMs * 2), this.paceMs * 2);
	}

	/** The service answered anything else. */
	recover(): void {
		this.paceMs = Math.max(this.spacingMs, this.paceMs * 0.95);
	}

	private reserve(): number {
		const savedUpMs = (this.burst - 1) * this.spacingMs;
		const oldest = Math.max(this.clock.now() - savedUpMs, this.heldUntilMs);
		const at = Math.max(this.nextFreeAtMs, oldest);
		this.nextFreeAtMs = at + this.paceMs;
		return at;
	}
}
