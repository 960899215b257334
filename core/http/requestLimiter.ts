import type { Clock } from '../clock';

/** 50 tasks are submitted within a second; the limit of usual services is not met. */
export const DEFAULT_REQUESTS_PER_SECOND = 60;

/**
 * The batch as a whole holds back no longer than this, whatever one answer asks for: a hold has no regard for
 * the deadlines of the tasks behind it, while the one that was asked keeps to what it was told.
 */
const LONGEST_HOLD_MS = 60_000;
const SLOWEST_PACE_MS = 1000;

/** A little above a second: requests that leave a second apart may arrive a little closer. */
const WINDOW_MS = 1035;
/** Of the even spacing: keeps requests that may go at the same moment from arriving in a heap. */
const SHORTEST_SPACING = 0.1;

/**
 * A sliding window that every request of one node run passes: submissions, polls and uploads share it. No more than
 * the limit leave within any window. After a 429 the whole batch holds back as long as the service asked, and then
 * goes on at half the pace, which recovers with each answer.
 */
export class RequestLimiter {
	private readonly spacingMs: number;

	/** When the last requests left, or are to leave: as many as the limit, the oldest at `next`. */
	private readonly leftAtMs: number[];

	private next = 0;

	private lastAtMs = -Infinity;

	/** Milliseconds between requests after a 429; 0 in good times. */
	private slowedToMs = 0;

	private heldUntilMs = 0;

	constructor(
		/** The most in any one second. */
		requestsPerSecond: number,
		private readonly clock: Clock,
	) {
		const most = Math.max(1, Math.floor(requestsPerSecond));
		this.spacingMs = 1000 / most;
		this.leftAtMs = new Array<number>(most).fill(-Infinity);
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
		const slowestMs = Math.max(SLOWEST_PACE_MS, this.spacingMs * 2);
		this.slowedToMs = Math.min(slowestMs, Math.max(this.spacingMs, this.slowedToMs) * 2);
		// The first one goes when the hold ends.
		this.lastAtMs = Math.max(this.lastAtMs, this.heldUntilMs - this.slowedToMs);
	}

	/** The service answered anything else. */
	recover(): void {
		this.slowedToMs = this.slowedToMs > this.spacingMs ? this.slowedToMs * 0.95 : 0;
	}

	private reserve(): number {
		const oldestMs = this.leftAtMs[this.next] ?? -Infinity;
		const spacingMs = Math.max(this.slowedToMs, this.spacingMs * SHORTEST_SPACING);
		const at = Math.max(this.clock.now(), this.heldUntilMs, this.lastAtMs + spacingMs, oldestMs + WINDOW_MS);
		this.leftAtMs[this.next] = at;
		this.next = (this.next + 1) % this.leftAtMs.length;
		this.lastAtMs = at;
		return at;
	}
}
