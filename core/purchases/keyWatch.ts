import type { Clock } from '../clock';
import { CREATE_TIMEOUT_MS } from '../limits';
import { lastOfAttempts, meaningOf } from './earlierTries';
import { parseRow, type StoredRow } from './purchaseRow';

/** A key holds for so long after its purchase. */
const KEY_MS = 30 * 24 * 60 * 60 * 1000;

/** An attempt without an ID may be a request under way for so long after its last row. */
const UNDER_WAY_MS = CREATE_TIMEOUT_MS + 10_000;

/** The clocks of two workers differ by less than this: only an older row tells by its time that its request has ended. */
const CLOCKS_DIFFER_MS = 10 * 60_000;

/** An attempt that has bought something under a key, may be about to, or may have. */
export interface Attempt {
	is: 'bought' | 'underWay' | 'unknown';
	/** Its last row. */
	row: StoredRow;
}

/** The attempts to buy under one key, as its rows tell from time to time. */
export class KeyWatch {
	/** The times at which the rows of attempts without an ID were seen first, by our clock: others may go wrong. */
	private readonly seenAtMs = new Map<string, number>();

	constructor(private readonly clock: Clock) {}

	/**
	 * The attempts of the last 30 days, in the sequence in which they began. Those that have surely bought nothing are not
	 * among them, nor those whose task has failed. Undefined where a row cannot be read: it may mean a purchase.
	 */
	read(values: readonly unknown[]): Attempt[] | undefined {
		const rows = values.map(parseRow);
		if (!rows.every((row) => row !== undefined)) return undefined;
		const nowMs = this.clock.now();
		const young = new Set(rows.filter(({ time }) => nowMs - Date.parse(time) < KEY_MS).map(({ attempt }) => attempt));
		return [...lastOfAttempts(rows).values()]
			.filter((row) => meaningOf(row) !== 'free' && young.has(row.attempt))
			.map((row) => ({ is: this.meaningNow(row, nowMs), row }));
	}

	private meaningNow(row: StoredRow, nowMs: number): Attempt['is'] {
		if (meaningOf(row) === 'created' && row.task_id !== '') return 'bought';
		return this.isUnderWay(row, nowMs) ? 'underWay' : 'unknown';
	}

	private isUnderWay({ id, attempt, state, time }: StoredRow, nowMs: number): boolean {
		if (state !== 'submitting') return false;
		const name = `${attempt} ${id} ${time}`;
		const seenAtMs = this.seenAtMs.get(name) ?? nowMs;
		this.seenAtMs.set(name, seenAtMs);
		return nowMs - seenAtMs < UNDER_WAY_MS && nowMs - Date.parse(time) < CLOCKS_DIFFER_MS;
	}
}
