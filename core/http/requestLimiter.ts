import { onAbort } from '../abort';
import { steady, type Clock } from '../clock';
import { RequestWindow, WINDOW_MS } from './requestWindow';

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

/** Requests in a row before a short break, however many may leave: each keeps n8n busy for about a millisecond. */
const MOST_IN_A_ROW = 5;

/** The pace of the requests of one run, as who sends them sees it. */
export interface Pace {
	/** The limit. */
	readonly requestsPerSecond: number;
	/** Milliseconds that the next request would wait for its turn, at least. */
	readonly backlogMs: number;
	/** Milliseconds until the next request may leave, those that wait before it and a pause after a 429 included. */
	readonly turnInMs: number;
	/** Milliseconds between two requests at the present pace. */
	readonly spacingMs: number;
	/**
	 * Resolves with true when a request may be sent; early when the signal aborts (the caller checks it). With false when a pause
	 * moves its turn further away than `withinMs`, or has done so already.
	 */
	acquire: (signal?: AbortSignal, withinMs?: number) => Promise<boolean>;
	/** The service answered 429: nothing is sent for `delayMs` (a minute at most), and then more slowly. */
	holdBack: (delayMs: number) => void;
	/** The service answered anything else. */
	recover: () => void;
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

	private readonly window: RequestWindow;

	/** Requests since the last break. */
	private inARow = 0;

	/** Milliseconds between requests after a 429; 0 in good times. */
	private slowedToMs = 0;

	private heldUntilMs = 0;

	/** The runs whose requests wait, in the sequence of their turns. */
	private readonly turns = new Set<Lane>();

	private readonly own: Pace;

	/** Ends the loop's sleep; absent while the loop rests. */
	private wake: AbortController | undefined;

	constructor(
		/** The most in any one second; more than `MOST_REQUESTS_PER_SECOND` are that many. */
		requestsPerSecond: number,
		clock: Clock,
	) {
		this.clock = steady(clock);
		this.window = new RequestWindow(requestsPerSecond);
		this.own = this.lane();
	}

	/** Changes the limit, for requests that wait, too. The pause after a 429 stays. */
	limitTo(requestsPerSecond: number): void {
		this.window.limitTo(requestsPerSecond);
		this.wake?.abort();
	}

	/** The pace of one run among those of the account. */
	lane(): Pace {
		return new Lane(this);
	}

	get requestsPerSecond(): number {
		return this.window.most;
	}

	get backlogMs(): number {
		return this.own.backlogMs;
	}

	get turnInMs(): number {
		return this.own.turnInMs;
	}

	get spacingMs(): number {
		return Math.max(this.slowedToMs, this.window.spacingMs);
	}

	/** Milliseconds until the pause after a 429 is over. */
	get heldForMs(): number {
		return this.heldUntilMs - this.clock.now();
	}

	async acquire(signal?: AbortSignal, withinMs?: number): Promise<boolean> {
		return await this.own.acquire(signal, withinMs);
	}

	holdBack(delayMs: number): void {
		const { spacingMs } = this.window;
		this.heldUntilMs = Math.max(this.heldUntilMs, this.clock.now() + Math.min(delayMs, LONGEST_HOLD_MS));
		const slowestMs = Math.max(SLOWEST_PACE_MS, spacingMs * 2);
		this.slowedToMs = Math.min(slowestMs, Math.max(spacingMs, this.slowedToMs) * 2);
		const { heldForMs } = this;
		let before = 0;
		for (const lane of [...this.turns]) before += lane.giveUpLate(heldForMs + before * this.spacingMs, this.spacingMs);
	}

	recover(): void {
		this.slowedToMs = this.slowedToMs > this.window.spacingMs ? this.slowedToMs * 0.95 : 0;
	}

	/** Milliseconds that requests of a lane would wait for their turns. */
	backlogOf(lane: Lane): number {
		return lane.waiting.size * this.turns.size * this.spacingMs;
	}

	/** Milliseconds until the next request of a lane may leave. */
	turnOf(lane: Lane): number {
		const freeAtMs = Math.max(this.heldUntilMs, this.window.freeAtMs(this.slowedToMs));
		return Math.max(0, freeAtMs - this.clock.now(), this.backlogOf(lane));
	}

	/** Notes that a request of a lane waits. */
	begin(lane: Lane): void {
		if (this.turns.has(lane)) return;
		this.turns.add(lane);
		if (this.wake === undefined) void this.letThrough();
	}

	/** Notes that nothing of a lane waits any more. */
	end(lane: Lane): void {
		this.turns.delete(lane);
		this.wake?.abort();
	}

	private async letThrough(): Promise<void> {
		for (let next = this.next(); next !== undefined; next = this.next()) {
			const waitMs = next.atMs - this.clock.now();
			// A break that is due is made, however little of it is left by now.
			if (waitMs < 1 && this.inARow < MOST_IN_A_ROW) {
				this.letThroughOne(next.lane);
				continue;
			}
			this.wake = new AbortController();
			await this.clock.sleep(Math.max(1, waitMs), this.wake.signal);
			if (!this.wake.signal.aborted) this.inARow = 0;
		}
		this.wake = undefined;
	}

	private letThroughOne(lane: Lane): void {
		const nowMs = this.clock.now();
		this.inARow = nowMs - this.window.lastAtMs < WINDOW_MS ? this.inARow + 1 : 1;
		this.window.leaves(nowMs);
		this.turns.delete(lane);
		lane.letOneThrough();
		if (lane.waiting.size > 0) this.turns.add(lane);
	}

	/** The run whose request leaves next, and when. Asked again after each sleep: a 429 may have come in. */
	private next(): { lane: Lane; atMs: number } | undefined {
		const [lane] = this.turns;
		if (lane === undefined) return undefined;
		return { lane, atMs: Math.max(this.clock.now(), this.heldUntilMs, this.window.freeAtMs(this.slowedToMs)) };
	}
}

/** The requests of one run. */
class Lane implements Pace {
	/** Those that wait for their turn, in order, with the time within which it has to come. */
	readonly waiting = new Map<(isTurn: boolean) => void, number | undefined>();

	constructor(private readonly limiter: RequestLimiter) {}

	get requestsPerSecond(): number {
		return this.limiter.requestsPerSecond;
	}

	get backlogMs(): number {
		return this.limiter.backlogOf(this);
	}

	get turnInMs(): number {
		return this.limiter.turnOf(this);
	}

	get spacingMs(): number {
		return this.limiter.spacingMs;
	}

	async acquire(signal?: AbortSignal, withinMs?: number): Promise<boolean> {
		if (signal?.aborted) return true;
		if (withinMs !== undefined && this.limiter.heldForMs > withinMs) return false;
		return await new Promise<boolean>((resolve) => {
			const go = (isTurn: boolean) => {
				this.waiting.delete(go);
				forget();
				resolve(isTurn);
			};
			this.waiting.set(go, withinMs);
			const forget = onAbort(signal, () => {
				go(true);
				if (this.waiting.size === 0) this.limiter.end(this);
			});
			this.limiter.begin(this);
		});
	}

	/**
	 * Ends the waiting of those whose turn comes later than they can wait. Returns the number of the others.
	 *
	 * @param turnInMs of the first one
	 */
	giveUpLate(turnInMs: number, spacingMs: number): number {
		let left = 0;
		for (const [go, withinMs = Infinity] of [...this.waiting]) {
			if (turnInMs + left * spacingMs > withinMs) go(false);
			else left++;
		}
		if (this.waiting.size === 0) this.limiter.end(this);
		return left;
	}

	holdBack(delayMs: number): void {
		this.limiter.holdBack(delayMs);
	}

	recover(): void {
		this.limiter.recover();
	}

	/** Lets its first request leave. */
	letOneThrough(): void {
		for (const go of this.waiting.keys()) return go(true);
	}
}
