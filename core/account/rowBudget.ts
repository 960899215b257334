import { onAbort } from '../abort';
import { steady, type Clock } from '../clock';
import type { GatewayError } from '../errors';
import type { Pace } from '../http/requestLimiter';
import { REPEAT_FOR_MS } from '../limits';

/** A row is written no earlier than this before its request leaves. */
export const TURN_WITHIN_MS = 500;

/** The pauses of an account that takes nothing: the first one, and the longest. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** A row that may be written, until its outcome is written, too. */
export interface RowPermit {
	/** The request leaves: it is on its way to the service. */
	leaves: () => void;
	/** Its outcome is known, and is to be written now. */
	answered: () => void;
	/** Its outcome is written, or nothing was written at all. */
	end: () => void;
}

/** The pace of a run, as far as its rows go by it. */
export type RowPace = Pick<Pace, 'turnInMs' | 'spacingMs'>;

/** An order that wants to write a row. */
interface Waiter {
	pace: RowPace;
	sinceMs: number;
	go: () => void;
	fail: (error: GatewayError) => void;
}

const LOOK_AGAIN_MS = 1;

/** The account takes no tasks, and none of them runs here whose end would make room. */
interface Full {
	sinceMs: number;
	untilMs: number;
	pauseMs: number;
	error: GatewayError;
}

/**
 * The rows of an account in this process whose requests have not left, or whose outcome is not written: as many as leave within
 * half a second. n8n may die at any moment, and each of them is in doubt then.
 *
 * While the account is full, one order asks again, after growing pauses: otherwise each of hundreds would write two rows for
 * every answer of 429.
 */
export class RowBudget {
	private readonly clock: Clock;

	private open = 0;

	private full?: Full;

	private isAsking = false;

	/** Those that want to write a row, in the sequence in which they have come. */
	private readonly queue: Waiter[] = [];

	/** Ends the pause of the first one; absent while nothing waits. */
	private wake?: AbortController;

	constructor(clock: Clock) {
		this.clock = steady(clock);
	}

	/**
	 * Resolves when a row may be written; early when the signal aborts (the caller checks it). Rejects with the answer of the
	 * service when the account has been full for as long as a request is repeated.
	 */
	async take(pace: RowPace, signal?: AbortSignal): Promise<RowPermit> {
		return await new Promise((resolve, reject) => {
			const end = () => {
				forget();
				const at = this.queue.indexOf(waiter);
				if (at >= 0) this.queue.splice(at, 1);
			};
			const waiter: Waiter = {
				pace,
				sinceMs: this.clock.now(),
				go: () => {
					end();
					resolve(this.permit());
				},
				fail: (error) => {
					end();
					reject(error);
				},
			};
			const forget = onAbort(signal, () => waiter.go());
			if (signal?.aborted) return;
			this.queue.push(waiter);
			if (this.wake === undefined) void this.serve();
			else if (this.queue.length === 1) this.wake.abort();
		});
	}

	/** Notes an answer of 429 while no task of the account runs here. */
	refused(error: GatewayError, askedMs: number): void {
		const nowMs = this.clock.now();
		const pauseMs = Math.min(LONGEST_PAUSE_MS, (this.full?.pauseMs ?? SHORTEST_PAUSE_MS / 2) * 2);
		const sinceMs = this.full?.sinceMs ?? nowMs;
		this.full = { sinceMs, untilMs: nowMs + Math.max(pauseMs, askedMs), pauseMs, error };
		this.isAsking = false;
		this.changed();
	}

	/** Notes any other answer: the account takes requests. */
	answered(): void {
		if (this.full === undefined) return;
		this.full = undefined;
		this.isAsking = false;
		this.changed();
	}

	private permit(): RowPermit {
		let isOpen = true;
		const asks = this.full !== undefined;
		this.open++;
		const count = (opens: boolean) => {
			if (isOpen === opens) return;
			isOpen = opens;
			this.open += opens ? 1 : -1;
			if (!opens) this.changed();
		};
		return {
			leaves: () => count(false),
			answered: () => count(true),
			end: () => {
				count(false);
				// It has got no answer: the next one asks.
				if (asks && this.isAsking) {
					this.isAsking = false;
					this.changed();
				}
			},
		};
	}

	private changed(): void {
		this.wake?.abort();
	}

	/** Lets the first one go when it may, then the next. */
	private async serve(): Promise<void> {
		this.wake = new AbortController();
		for (let first = this.queue[0]; first !== undefined; first = this.queue[0]) {
			const waitMs = this.waitOf(first);
			if (waitMs <= 0) {
				first.go();
				continue;
			}
			this.wake = new AbortController();
			await this.clock.sleep(waitMs, this.wake.signal);
		}
		this.wake = undefined;
	}

	/** Milliseconds until it is worth to look again; 0 where the first one may go, or has an answer. */
	private waitOf({ pace, sinceMs, fail }: Waiter): number {
		const nowMs = this.clock.now();
		const { full } = this;
		if (full !== undefined) {
			const leftMs = Math.max(sinceMs, full.sinceMs) + REPEAT_FOR_MS - nowMs;
			if (leftMs < 0) {
				fail(full.error);
				return LOOK_AGAIN_MS;
			}
			if (this.isAsking) return leftMs + LOOK_AGAIN_MS;
			if (nowMs < full.untilMs) return Math.min(leftMs + LOOK_AGAIN_MS, full.untilMs - nowMs);
			this.isAsking = true;
			return 0;
		}
		const turnInMs = pace.turnInMs + this.open * pace.spacingMs;
		const isNear = this.open === 0 ? pace.turnInMs <= TURN_WITHIN_MS : turnInMs < TURN_WITHIN_MS;
		return isNear ? 0 : Math.max(LOOK_AGAIN_MS, turnInMs - TURN_WITHIN_MS);
	}
}
