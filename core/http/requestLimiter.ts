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

/** The pace of the requests of one run, as who sends them sees it. */
export interface Pace {
	/** The limit. */
	readonly requestsPerSecond: number;
	/** Milliseconds that the next request would wait for its turn, at least. */
	readonly backlogMs: number;
	/** Resolves when a request may be sent; early when the signal aborts (the caller checks it). */
	acquire: (signal?: AbortSignal) => Promise<void>;
	/** The service answered 429: nothing is sent for `delayMs` (a minute at most), and then more slowly. */
	holdBack: (delayMs: number) => void;
	/** The service answered anything else. */
	recover: () => void;
}

/** A sliding window: no more than `most` requests leave within it. */
class Window {
	readonly most: number;

	readonly spacingMs: number;

	lastAtMs = -Infinity;

	/** The times of the last requests: at most as many as the limit, the oldest of them at `oldest`. */
	private readonly leftAtMs: number[] = [];

	private oldest = 0;

	constructor(requestsPerSecond: number) {
		this.most = Math.max(1, Math.floor(Math.min(MOST_REQUESTS_PER_SECOND, requestsPerSecond)) || 1);
		this.spacingMs = 1000 / this.most;
	}

	/** The time from which one more may leave. */
	freeAtMs(slowedToMs = 0): number {
		const oldestMs = this.leftAtMs[this.oldest] ?? -Infinity;
		return Math.max(this.lastAtMs + Math.max(slowedToMs, this.spacingMs * SHORTEST_SPACING), oldestMs + WINDOW_MS);
	}

	leaves(nowMs: number): void {
		this.lastAtMs = nowMs;
		this.leftAtMs[this.oldest] = nowMs;
		this.oldest = (this.oldest + 1) % this.most;
	}
}

/**
 * The pace of an account: a sliding window that every request of all its runs in this process passes, submissions, polls and
 * uploads alike. After a 429 all of them hold back as long as the service asked, and then go on at half the pace, which
 * recovers with each answer. The runs take turns, so that a short one does not wait for all requests of a long one.
 *
 * One loop lets the requests through. It counts when each has really left, not when it should have: in a busy process
 * they differ.
 */
export class RequestLimiter implements Pace {
	private readonly clock: Clock;

	private readonly window: Window;

	/** Requests since the last break. */
	private inARow = 0;

	/** Milliseconds between requests after a 429; 0 in good times. */
	private slowedToMs = 0;

	private heldUntilMs = 0;

	/** The runs whose requests wait, in the sequence of their turns. */
	private readonly turns = new Set<Lane>();

	private readonly own: Lane;

	/** Ends the loop's sleep; absent while the loop rests. */
	private wake: AbortController | undefined;

	constructor(
		/** The most in any one second; more than `MOST_REQUESTS_PER_SECOND` are that many. */
		requestsPerSecond: number,
		clock: Clock,
	) {
		this.clock = steady(clock);
		this.window = new Window(requestsPerSecond);
		this.own = new Lane(this);
	}

	/** The pace of one run among those of the account. Its own limit can be lower. */
	lane(requestsPerSecond = Infinity): Pace {
		return new Lane(this, requestsPerSecond < this.window.most ? new Window(requestsPerSecond) : undefined);
	}

	get requestsPerSecond(): number {
		return this.window.most;
	}

	get backlogMs(): number {
		return this.own.backlogMs;
	}

	async acquire(signal?: AbortSignal): Promise<void> {
		await this.own.acquire(signal);
	}

	holdBack(delayMs: number): void {
		const { spacingMs } = this.window;
		this.heldUntilMs = Math.max(this.heldUntilMs, this.clock.now() + Math.min(delayMs, LONGEST_HOLD_MS));
		const slowestMs = Math.max(SLOWEST_PACE_MS, spacingMs * 2);
		this.slowedToMs = Math.min(slowestMs, Math.max(spacingMs, this.slowedToMs) * 2);
	}

	recover(): void {
		this.slowedToMs = this.slowedToMs > this.window.spacingMs ? this.slowedToMs * 0.95 : 0;
	}

	/** Milliseconds that requests of a lane would wait for their turns. */
	backlogOf(lane: Lane): number {
		const runs = this.turns.size + (this.turns.has(lane) ? 0 : 1);
		return lane.waiting.size * runs * Math.max(this.slowedToMs, this.window.spacingMs);
	}

	/** Notes that a request of a lane waits. */
	begin(lane: Lane): void {
		if (this.turns.has(lane)) return;
		this.turns.add(lane);
		if (this.wake === undefined) void this.letThrough();
		else this.wake.abort(); // its own limit may let it leave earlier than the others
	}

	/** Notes that nothing of a lane waits any more. */
	end(lane: Lane): void {
		this.turns.delete(lane);
		this.wake?.abort();
	}

	private async letThrough(): Promise<void> {
		for (let next = this.next(); next !== undefined; next = this.next()) {
			const waitMs = next.atMs - this.clock.now();
			if (waitMs < 1) {
				this.letThroughOne(next.lane);
				continue;
			}
			this.wake = new AbortController();
			await this.clock.sleep(waitMs, this.wake.signal);
			if (!this.wake.signal.aborted) this.inARow = 0;
		}
		this.wake = undefined;
	}

	private letThroughOne(lane: Lane): void {
		const nowMs = this.clock.now();
		this.inARow = nowMs - this.window.lastAtMs < WINDOW_MS ? this.inARow + 1 : 1;
		this.window.leaves(nowMs);
		this.turns.delete(lane);
		lane.letOneThrough(nowMs);
		if (lane.waiting.size > 0) this.turns.add(lane);
	}

	/** The run whose request leaves next, and when. Asked again after each sleep: a 429 may have come in. */
	private next(): { lane: Lane; atMs: number } | undefined {
		const breakMs = this.inARow < MOST_IN_A_ROW ? 0 : 1;
		const nowMs = this.clock.now();
		const freeAtMs = Math.max(nowMs + breakMs, this.heldUntilMs, this.window.freeAtMs(this.slowedToMs));
		let next: { lane: Lane; atMs: number } | undefined;
		for (const lane of this.turns) {
			const atMs = Math.max(freeAtMs, lane.freeAtMs);
			if (next === undefined || atMs < next.atMs) next = { lane, atMs };
			if (atMs <= freeAtMs) break;
		}
		return next;
	}
}

/** The requests of one run. */
class Lane implements Pace {
	/** Those that wait for their turn, in order. */
	readonly waiting = new Set<() => void>();

	constructor(
		private readonly limiter: RequestLimiter,
		private readonly window?: Window,
	) {}

	get requestsPerSecond(): number {
		return this.window?.most ?? this.limiter.requestsPerSecond;
	}

	get backlogMs(): number {
		return Math.max(this.limiter.backlogOf(this), this.waiting.size * (this.window?.spacingMs ?? 0));
	}

	get freeAtMs(): number {
		return this.window?.freeAtMs() ?? -Infinity;
	}

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
				if (this.waiting.size === 0) this.limiter.end(this);
			});
			this.limiter.begin(this);
		});
	}

	holdBack(delayMs: number): void {
		this.limiter.holdBack(delayMs);
	}

	recover(): void {
		this.limiter.recover();
	}

	/** Lets its first request leave. */
	letOneThrough(nowMs: number): void {
		this.window?.leaves(nowMs);
		for (const go of this.waiting) return go();
	}
}
