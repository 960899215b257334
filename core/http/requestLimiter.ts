import { onAbort } from '../abort';
import { steady, type Clock } from '../clock';

/**
 * Requests per second, unless the user says otherwise: 50 tasks are submitted within a second, and the usual limit of
 * services is not reached.
 */
export const DEFAULT_REQUESTS_PER_SECOND = 60;

/**
 * The longest pause after a 429, whatever one answer asks for: a pause delays tasks with an earlier deadline, too. The
 * request that was refused waits as long as it was told.
 */
const LONGEST_HOLD_MS = 60_000;
const SLOWEST_PACE_MS = 1000;

/** The largest limit, whatever number is given: the window keeps one time per request. */
export const MOST_REQUESTS_PER_SECOND = 1000;

/** The length of the window, a little above a second: requests that leave a second apart may arrive a little closer. */
const WINDOW_MS = 1030;
/**
 * Requests that may leave at the same moment keep this share of the even spacing, so that they do not arrive all at
 * once.
 */
const SHORTEST_SPACING = 0.5;
/** Requests in a row before a short break, however many may leave: each keeps n8n busy for about a millisecond. */
const MOST_IN_A_ROW = 5;

/**
 * A sliding window that every request of one node run passes: submissions, polls and uploads share it. No more than
 * the limit leave within any window. After a 429 the whole batch holds back as long as the service asked, and then
 * goes on at half the pace, which recovers with each answer.
 *
 * One loop lets the requests through, in order. It counts when each has really left, not when it should have: in a
 * busy process they differ.
 */
export class RequestLimiter {
	private readonly clock: Clock;

	private readonly spacingMs: number;

	/** The most within one window. */
	private readonly most: number;

	/** The times of the last requests: at most as many as the limit, the oldest of them at `oldest`. */
	private readonly leftAtMs: number[] = [];

	private oldest = 0;

	private lastAtMs = -Infinity;

	/** Requests since the last break. */
	private inARow = 0;

	/** Milliseconds between requests after a 429; 0 in good times. */
	private slowedToMs = 0;

	private heldUntilMs = 0;

	/** Those that wait for their turn, in order. */
	private readonly waiting = new Set<() => void>();

	/** Ends the loop's sleep; absent while the loop rests. */
	private wake: AbortController | undefined;

	constructor(
		/** The most in any one second; more than `MOST_REQUESTS_PER_SECOND` are that many. */
		requestsPerSecond: number,
		clock: Clock,
	) {
		this.clock = steady(clock);
		this.most = Math.max(1, Math.floor(Math.min(MOST_REQUESTS_PER_SECOND, requestsPerSecond)) || 1);
		this.spacingMs = 1000 / this.most;
	}

	/** Milliseconds that the next request would wait for its turn, at least. */
	get backlogMs(): number {
		return this.waiting.size * Math.max(this.slowedToMs, this.spacingMs);
	}

	/** Resolves when a request may be sent; early when the signal aborts (the caller checks it). */
	async acquire(signal?: AbortSignal): Promise<void> {
		if (signal?.aborted) return;
		await new Promise<void>((resolve) => {
			const go = () => {
				this.waiting.delete(go);
				forget();
				resolve();
			};
			this.waiting.add(go);
			const forget = onAbort(signal, () => {
				go();
				if (this.waiting.size === 0) this.wake?.abort();
			});
			if (this.wake === undefined) void this.letThrough();
		});
	}

	/** The service answered 429: nothing is sent for `delayMs` (a minute at most), and then more slowly. */
	holdBack(delayMs: number): void {
		this.heldUntilMs = Math.max(this.heldUntilMs, this.clock.now() + Math.min(delayMs, LONGEST_HOLD_MS));
		const slowestMs = Math.max(SLOWEST_PACE_MS, this.spacingMs * 2);
		this.slowedToMs = Math.min(slowestMs, Math.max(this.spacingMs, this.slowedToMs) * 2);
	}

	/** The service answered anything else. */
	recover(): void {
		this.slowedToMs = this.slowedToMs > this.spacingMs ? this.slowedToMs * 0.95 : 0;
	}

	private async letThrough(): Promise<void> {
		const wake = (this.wake = new AbortController());
		for (const go of this.waiting) {
			let waitMs = this.freeInMs();
			// Asked again after each sleep: a 429 may have come in, and a sleep may end a little early.
			while (waitMs >= 1 && !wake.signal.aborted) {
				await this.clock.sleep(waitMs, wake.signal);
				this.inARow = 0;
				waitMs = this.freeInMs();
			}
			if (!this.waiting.has(go)) continue; // its signal has aborted meanwhile
			const now = this.clock.now();
			this.inARow = now - this.lastAtMs < WINDOW_MS ? this.inARow + 1 : 1;
			this.lastAtMs = now;
			this.leftAtMs[this.oldest] = now;
			this.oldest = (this.oldest + 1) % this.most;
			go();
		}
		this.wake = undefined;
	}

	private freeInMs(): number {
		const oldestMs = this.leftAtMs[this.oldest] ?? -Infinity;
		const spacingMs = Math.max(this.slowedToMs, this.spacingMs * SHORTEST_SPACING);
		const breakMs = this.inARow < MOST_IN_A_ROW ? 0 : 1;
		return Math.max(
			breakMs,
			Math.max(this.heldUntilMs, this.lastAtMs + spacingMs, oldestMs + WINDOW_MS) - this.clock.now(),
		);
	}
}
