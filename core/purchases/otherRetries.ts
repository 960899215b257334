import { gatewayError } from '../errors';
import type { Order } from '../orders/order';
import { notRecorded } from '../orders/writeAheadLog';
import { lastOfAttempts, meaningOf } from './earlierTries';
import { parseRows, type ParsedRow, type StoredRow } from './purchaseRow';

/** Hardly a request takes longer, with all that is repeated after a 429. The outcome of one that does counts as unknown. */
const LONGEST_REQUEST_MS = 120_000;

/** The rows of requests that another retry has sent just now, and whose outcome is not there yet. */
export function requestsUnderWay(rows: readonly ParsedRow[], nowMs: number): StoredRow[] {
	const known = rows.filter((row) => row !== undefined);
	const isUnderWay = ({ state, retry, time }: StoredRow) =>
		state === 'submitting' && retry && Math.abs(nowMs - Date.parse(time)) < LONGEST_REQUEST_MS;
	// Few, of rows that may be many.
	const attempts = new Set(known.filter(isUnderWay).map(({ attempt }) => attempt));
	return [...lastOfAttempts(known.filter(({ attempt }) => attempts.has(attempt))).values()].filter(isUnderWay);
}

/** A row can have its number this long before others can read it: PostgreSQL gives it first, and may show a later one earlier. */
const SHOWN_WITHIN_MS = 2_000;

/** The number of the last row before those that another retry may be writing at this moment; 0 where there is none. */
export function lastSettledRow(rows: readonly ParsedRow[], underWay: readonly StoredRow[], nowMs: number): number {
	const known = rows.filter((row) => row !== undefined);
	const fresh = known.filter(({ retry, time }) => retry && Math.abs(nowMs - Date.parse(time)) < SHOWN_WITHIN_MS);
	const firstOpen = [...underWay, ...fresh].reduce((min, { id }) => Math.min(min, id), Infinity);
	return known.reduce((max, { id }) => (id < firstOpen ? Math.max(max, id) : max), 0);
}

/** The requests that another retry of the same execution sends at the same time, beside the orders of this one. */
export class OtherRetries {
	/** The requests of this retry, by item. */
	private readonly hashes = new Map<number, string | undefined>();

	know(orders: readonly Order[]): void {
		for (const { item, request, purchase } of orders) this.hashes.set(item, request?.hash ?? purchase?.hash);
	}

	/**
	 * The request among those of others that is about the same as the order. Throws `submissionNotRecorded` where nobody can say.
	 *
	 * @param values the rows that others have written since this retry began
	 * @param areRetries true: the rows of other executions do not count
	 */
	find(values: readonly unknown[], order: Order, { areRetries = false } = {}): StoredRow | undefined {
		const rows = parseRows(values);
		if (!rows.every((row) => row !== undefined)) throw notRecorded('a row of this run cannot be read');
		const isAbout = (row: StoredRow) =>
			(row.retry || !areRetries) && (row.item === order.item || this.hasMoved(row, order));
		return [...lastOfAttempts(rows).values()].find((row) => isAbout(row) && meaningOf(row) !== 'free');
	}

	/** True where the other one has sent this request for an item that has another one here. */
	private hasMoved({ item, request_hash: hash }: StoredRow, { request }: Order): boolean {
		return hash === request?.hash && this.hashes.get(item) !== hash;
	}
}

/** Throws `submittedByOtherRetry` where there is one: of two that meet, the order of this one is not sent. */
export function giveWay(other: StoredRow | undefined): void {
	if (other !== undefined) throw gatewayError('submittedByOtherRetry', { execution: other.execution });
}
