import { onAbort } from '../abort';
import { steady, type Clock } from '../clock';

/** Unless the user says otherwise: 50 tasks leave within a second, and no usual limit of services is reached. */
export const DEFAULT_REQUESTS_PER_SECOND = 60;

/** The largest limit, whatever number is given: the account keeps one time per request. */
export const MOST_REQUESTS_PER_SECOND = 1000;

/** A little above a second: requests that leave a second apart may arrive a little closer. */
const SECOND_MS = 1030;

/**
 * Requests that may leave at once because they are late: without them, each delay of n8n's thread would lower the pace. More in
 * a row would keep n8n busy, which answers no request meanwhile: each takes it about a millisecond.
 */
const MOST_IN_A_ROW = 4;

/**
 * The longest pause after a 429, whatever one answer asks for: a pause delays tasks with an earlier deadline, too. The
 * request that was refused waits as long as it was told.
 */
export const LONGEST_HOLD_MS = 60_000;
const SLOWEST_MS = 1000;

/** The pace of one run. */
export interface Pace {
	/** Milliseconds that the next poll, or upload, would wait for its turn, at least. */
	readonly backlogMs: number;
	/** Milliseconds until the next submission may leave, those that wait before it and a pause after a 429 included. */
	readonly turnInMs: number;
	/** Milliseconds between two requests at the present pace. */
	readonly spacingMs: number;
	/**
	 * Resolves with true when a request may be sent; early when the signal aborts (the caller checks it). With false when a pause
	 * moves its turn further away than `withinMs`, or has done so already: so only a submission asks, whose row is there.
	 */
	acquire: (signal?: AbortSignal, withinMs?: number) => Promise<boolean>;
	/** The service answered 429: nothing is sent for `delayMs` (a minute at most), and then more slowly. */
	holdBack: (delayMs: number) => void;
	/** The service answered anything else. */
	recover: () => void;
}

/** Submissions of a run, or its other requests, that wait for their turns, in order, with the time within which each turn has to come. */
type Waiting = Map<(isTurn: boolean) => void, number>;

/**
 * The pace of an account: all requests of all its runs in this process leave evenly spaced. After a 429 all of them
 * hold back as long as the service asked, and then go on at half the pace, which recovers with each answer. The runs
 * take turns, so that a short one does not wait for all requests of a long one; so do submissions and other requests: a
 * submission, whose row is there, does not wait for the polls of all runs, which may be more than can leave.
 */
export class AccountPace {
	private readonly clock: Clock;

	private most = 1;

	/** The times of the last requests, in a ring: as many as the largest limit needs. */
	private readonly leftAtMs: number[] = [];

	private left = 0;

	/** The next request is due. */
	private dueAtMs = -Infinity;

	private heldUntilMs = -Infinity;

	/** Milliseconds between requests after a 429; 0 in good times. */
	private slowedToMs = 0;

	private readonly submissions = new Set<Waiting>();

	private readonly others = new Set<Waiting>();

	/** Those of all runs, in the sequence of their turns; first the kind whose turn it is. */
	private turns = [this.submissions, this.others];

	/** Ends the sleep of the loop that lets requests leave; absent while none waits. */
	private wake?: AbortController;

	constructor(requestsPerSecond: number, clock: Clock) {
		this.clock = steady(clock);
		this.limitTo(requestsPerSecond);
	}

	/** Changes the limit, for requests that wait, too; what has left counts for the new one. A pause after a 429 stays. */
	limitTo(requestsPerSecond: number): void {
		this.most = Math.max(1, Math.floor(Math.min(MOST_REQUESTS_PER_SECOND, requestsPerSecond)) || 1);
		this.wake?.abort();
	}

	/** The pace of one run among those of the account. */
	ofRun(): Pace {
		const submissions: Waiting = new Map();
		const others: Waiting = new Map();
		const backlogMs = () => this.backlogMs(others, this.others);
		const turnInMs = () => Math.max(0, this.freeAtMs - this.clock.now(), this.backlogMs(submissions, this.submissions));
		const spacingMs = () => this.spacingMs;
		return {
			get backlogMs() {
				return backlogMs();
			},
			get turnInMs() {
				return turnInMs();
			},
			get spacingMs() {
				return spacingMs();
			},
			acquire: async (signal, withinMs) =>
				withinMs === undefined
					? await this.acquire(others, this.others, signal)
					: await this.acquire(submissions, this.submissions, signal, withinMs),
			holdBack: (delayMs) => this.holdBack(delayMs),
			recover: () => this.recover(),
		};
	}

	private get usualMs(): number {
		return 1000 / this.most;
	}

	private get spacingMs(): number {
		return Math.max(this.slowedToMs, this.usualMs);
	}

	/** The time from which one more may leave: when it is due, and no second gets more than the limit. */
	private get freeAtMs(): number {
		const leftAtMs = this.leftAtMs[(this.left - this.most) % MOST_REQUESTS_PER_SECOND] ?? -Infinity;
		return Math.max(this.dueAtMs, leftAtMs + SECOND_MS);
	}

	private backlogMs(waiting: Waiting, ofKind: Set<Waiting>): number {
		const kinds = this.turns.filter(({ size }) => size > 0).length;
		return waiting.size * ofKind.size * kinds * this.spacingMs;
	}

	private async acquire(
		waiting: Waiting,
		ofKind: Set<Waiting>,
		signal?: AbortSignal,
		withinMs = Infinity,
	): Promise<boolean> {
		if (signal?.aborted) return true;
		if (this.heldUntilMs - this.clock.now() > withinMs) return false;
		return await new Promise((resolve) => {
			const go = (isTurn: boolean) => {
				forget();
				waiting.delete(go);
				if (waiting.size === 0) ofKind.delete(waiting);
				if (this.submissions.size + this.others.size === 0) this.wake?.abort();
				resolve(isTurn);
			};
			const forget = onAbort(signal, () => go(true));
			waiting.set(go, withinMs);
			ofKind.add(waiting);
			if (this.wake === undefined) void this.letThrough();
		});
	}

	private holdBack(delayMs: number): void {
		const heldForMs = Math.min(delayMs, LONGEST_HOLD_MS);
		this.heldUntilMs = Math.max(this.heldUntilMs, this.clock.now() + heldForMs);
		this.dueAtMs = Math.max(this.dueAtMs, this.heldUntilMs);
		this.slowedToMs = Math.min(Math.max(SLOWEST_MS, this.usualMs * 2), this.spacingMs * 2);
		// A row that is written long before its request leaves is in doubt for as long, should n8n die.
		let turnInMs = this.heldUntilMs - this.clock.now();
		for (const waiting of [...this.submissions])
			for (const [go, withinMs] of [...waiting]) {
				if (turnInMs > withinMs) go(false);
				else turnInMs += this.spacingMs;
			}
	}

	private recover(): void {
		this.slowedToMs = this.slowedToMs > this.usualMs ? this.slowedToMs * 0.95 : 0;
	}

	/** Lets one request after the other leave. Looks again after each sleep: a 429 may have come in. */
	private async letThrough(): Promise<void> {
		const next = () => this.turns.find(({ size }) => size > 0);
		for (let kind = next(); kind !== undefined; kind = next()) {
			const waitMs = this.freeAtMs - this.clock.now();
			if (waitMs < 1) {
				this.letOneThrough(kind);
				continue;
			}
			this.wake = new AbortController();
			await this.clock.sleep(waitMs, this.wake.signal);
		}
		this.wake = undefined;
	}

	private letOneThrough(kind: Set<Waiting>): void {
		const [waiting] = kind;
		if (waiting === undefined) return;
		// When it really leaves counts, not when it should have: in a busy process they differ.
		const nowMs = this.clock.now();
		this.leftAtMs[this.left++ % MOST_REQUESTS_PER_SECOND] = nowMs;
		this.dueAtMs = Math.max(this.dueAtMs, nowMs - (MOST_IN_A_ROW - 1) * this.spacingMs) + this.spacingMs;
		const [go] = waiting.keys();
		go?.(true);
		kind.delete(waiting);
		if (waiting.size > 0) kind.add(waiting);
		this.turns = kind === this.submissions ? [this.others, kind] : [this.submissions, kind];
	}
}
