import { onAbort } from '../abort';
import { steady, type Clock } from '../clock';
import { gatewayError, type GatewayError } from '../errors';
import type { Pace } from './pace';
import { REPEAT_FOR_MS } from '../limits';
import { roughDuration } from '../text';

/** A row is written no earlier than this before its request leaves. */
export const TURN_WITHIN_MS = 500;

/** The pauses of an account that takes nothing: the first one, and the longest, whatever one answer asks for. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** A row that may be written, until its outcome is written, too. */
export interface RowPermit {
	/** The request leaves: it is on its way to the service. */
	leaves: () => void;
	/**
	 * The answer is 429, and no task of the account runs here whose end would make room.
	 *
	 * @param askedMs the pause that the service asks for
	 */
	refused: (askedMs: number) => void;
	/** The answer is any other: the account takes requests. */
	served: () => void;
	/** The outcome is known, and is to be written now. */
	answered: () => void;
	/** The outcome is written, or nothing was written at all. */
	end: () => void;
}

/** The pace of a run, as far as its rows go by it. */
export type RowPace = Pick<Pace, 'turnInMs' | 'spacingMs'>;

/** A request for a permit. */
export interface RowRequest {
	/** All that the service may refuse together, e.g. one model. */
	scope?: string;
	signal?: AbortSignal;
	/** Called when it waits because the account is full. What it returns is called when it does not any more. */
	onWait?: () => (() => void) | undefined;
}

/** An order that wants to write a row. */
interface Waiter extends Pick<RowRequest, 'scope'> {
	sinceMs: number;
	go: (permit: RowPermit) => void;
	fail: (error: GatewayError) => void;
	/** The account is full, or is not any more: then it only waits for its turn. */
	waitsForAccount: (isFull: boolean) => void;
}

const LOOK_AGAIN_MS = 1;

/** The rows of a run that are written together cost n8n hardly more than one: a hundred runs that get one each take minutes. */
const ROWS_IN_A_TURN = 10;

/**
 * An account that was full so long ago, and has not been asked since, may be anything: the next pause is a short one again. Longer than
 * an execution sleeps for others: else all its orders would ask at each awakening.
 */
const FORGET_FULL_AFTER_MS = 180_000;

/** The account takes no tasks. */
interface Full {
	sinceMs: number;
	untilMs: number;
	pauseMs: number;
}

/**
 * The rows of an account in this process whose requests have not left, or whose outcome is not written: as many as leave within
 * half a second. n8n may die at any moment, and each of them is in doubt then.
 *
 * While the account is full, one order asks again, after growing pauses: otherwise each of hundreds would write two rows for
 * every answer of 429.
 *
 * The runs take turns, as they do for their requests: a short one does not wait for all rows of a long one, nor behind one whose turn
 * is far.
 */
export class RowBudget {
	private readonly clock: Clock;

	private open = 0;

	private full?: Full;

	/** The one that asks whether the account is still full. Answers of others say nothing about that: they were sent before. */
	private asking?: RowPermit;

	/** The scope of the order that has asked last. */
	private askedScope?: string;

	/** Those that want to write a row, by the pace of their run: the runs in the sequence of their turns, the orders as they have come. */
	private readonly turns = new Map<RowPace, Set<Waiter>>();

	/** The rows that the run whose turn it is was given. */
	private rowsInTurn = 0;

	/** Ends the pause until the next one may go; absent while nothing waits. */
	private wake?: AbortController;

	constructor(clock: Clock) {
		this.clock = steady(clock);
	}

	/**
	 * Resolves when a row may be written; early when the signal aborts (the caller checks it). Rejects when the account
	 * has been full for as long as a request is repeated.
	 */
	async take(pace: RowPace, { scope, signal, onWait }: RowRequest = {}): Promise<RowPermit> {
		if (signal?.aborted) return this.permit();
		if (this.turns.size === 0 && this.clock.now() - (this.full?.untilMs ?? 0) > FORGET_FULL_AFTER_MS)
			this.full = undefined;
		const waiting = this.turns.get(pace) ?? new Set();
		return await new Promise((resolve, reject) => {
			let goesOn: (() => void) | undefined;
			const end = () => {
				forget();
				goesOn?.();
				waiting.delete(waiter);
				if (waiting.size === 0) this.turns.delete(pace);
			};
			const waiter: Waiter = {
				scope,
				sinceMs: this.clock.now(),
				go: (permit) => {
					end();
					resolve(permit);
				},
				fail: (error) => {
					end();
					reject(error);
				},
				waitsForAccount: (isFull) => {
					goesOn?.();
					goesOn = isFull ? onWait?.() : undefined;
				},
			};
			const forget = onAbort(signal, () => waiter.go(this.permit()));
			this.turns.set(pace, waiting.add(waiter));
			if (this.full !== undefined) waiter.waitsForAccount(true);
			if (this.wake === undefined) void this.serve();
			else if (waiting.size === 1) this.wake.abort();
		});
	}

	private permit(): RowPermit {
		let isOpen = true;
		this.open++;
		const count = (opens: boolean) => {
			if (isOpen === opens) return;
			isOpen = opens;
			this.open += opens ? 1 : -1;
			if (!opens) this.changed();
		};
		const permit: RowPermit = {
			leaves: () => count(false),
			refused: (askedMs) => this.refused(permit, askedMs),
			served: () => {
				this.asking = undefined;
				this.becomes(undefined);
			},
			answered: () => count(true),
			end: () => {
				count(false);
				if (this.asking !== permit) return;
				// It has got no answer: the next one asks.
				this.asking = undefined;
				this.changed();
			},
		};
		return permit;
	}

	private refused(permit: RowPermit, askedMs: number): void {
		const nowMs = this.clock.now();
		const { full } = this;
		const isAsking = this.asking === permit;
		// Of many that were under way together, the first one says it all.
		const shortestMs = full?.pauseMs ?? SHORTEST_PAUSE_MS;
		const pauseMs = full !== undefined && isAsking ? Math.min(LONGEST_PAUSE_MS, shortestMs * 2) : shortestMs;
		const untilMs = Math.max(full?.untilMs ?? 0, nowMs + Math.min(LONGEST_PAUSE_MS, Math.max(pauseMs, askedMs)));
		if (isAsking) this.asking = undefined;
		this.becomes({ sinceMs: full?.sinceMs ?? nowMs, untilMs, pauseMs });
	}

	private becomes(full?: Full): void {
		const isOther = (this.full === undefined) !== (full === undefined);
		this.full = full;
		if (isOther)
			for (const waiting of this.turns.values())
				for (const waiter of waiting) waiter.waitsForAccount(full !== undefined);
		this.changed();
	}

	private changed(): void {
		this.wake?.abort();
	}

	/** Lets one after the other go, each when it may. */
	private async serve(): Promise<void> {
		this.wake = new AbortController();
		while (this.turns.size > 0) {
			const waitMs = this.letOneGo();
			if (waitMs <= 0) continue;
			this.wake = new AbortController();
			await this.clock.sleep(waitMs, this.wake.signal);
		}
		this.wake = undefined;
	}

	/** Lets the first one of the next run go that may. Returns the milliseconds until it is worth to look again, where none may. */
	private letOneGo(): number {
		let shortestMs = Infinity;
		for (const [pace, waiting] of this.turns) {
			const [first] = waiting;
			const waitMs = first === undefined ? Infinity : this.waitOf(first, pace);
			shortestMs = Math.min(shortestMs, waitMs);
			if (first === undefined || waitMs > 0) continue;
			// While the account is full, each row is one of a few: a model that it never takes would have them all.
			if (this.full !== undefined || ++this.rowsInTurn >= ROWS_IN_A_TURN) {
				this.rowsInTurn = 0;
				this.turns.delete(pace);
				this.turns.set(pace, waiting);
			}
			this.letGo(this.full === undefined ? first : this.firstToAsk(waiting, first));
			break;
		}
		return shortestMs;
	}

	private letGo({ go, scope }: Waiter): void {
		const permit = this.permit();
		if (this.full !== undefined) [this.asking, this.askedScope] = [permit, scope];
		go(permit);
	}

	/** The first one of another scope than the last that has asked: a model that is never taken must not ask for all others. */
	private firstToAsk(waiting: ReadonlySet<Waiter>, first: Waiter): Waiter {
		for (const waiter of waiting) if (waiter.scope !== this.askedScope) return waiter;
		return first;
	}

	/** Milliseconds until it is worth to look again; 0 where it may go. */
	private waitOf({ sinceMs, fail }: Waiter, pace: RowPace): number {
		const nowMs = this.clock.now();
		const { full } = this;
		const openMs = this.open * pace.spacingMs;
		const turnInMs = pace.turnInMs + openMs;
		const isNear = this.open === 0 ? pace.turnInMs <= TURN_WITHIN_MS : turnInMs < TURN_WITHIN_MS;
		// Time alone makes no room among open rows: n8n would look again each millisecond while its database does not answer.
		const isForOthers = this.open > 0 && openMs >= TURN_WITHIN_MS;
		const waitMs = isNear ? 0 : isForOthers ? LONGEST_PAUSE_MS : Math.max(LOOK_AGAIN_MS, turnInMs - TURN_WITHIN_MS);
		if (full === undefined) return waitMs;
		const leftMs = Math.max(sinceMs, full.sinceMs) + REPEAT_FOR_MS - nowMs;
		if (leftMs < 0) {
			// The answers were those to other orders: their words may be about another model.
			fail(gatewayError('rateLimited', { fullFor: roughDuration(REPEAT_FOR_MS) }));
			return LOOK_AGAIN_MS;
		}
		const pauseMs = this.asking === undefined ? Math.max(waitMs, full.untilMs - nowMs) : Infinity;
		return Math.min(leftMs + LOOK_AGAIN_MS, pauseMs);
	}
}
