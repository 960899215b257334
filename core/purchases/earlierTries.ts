import { getPath } from '../json';
import type { OrderLedger } from '../orders/ledger';
import type { Order } from '../orders/order';
import { parseRow, RUN, STATES, type PurchaseState, type StoredRow } from './purchaseRow';

/** The requests that the earlier tries of a run have sent, as their rows in the log tell. */
export class EarlierTries {
	/** The last states of the requests of each item, in the sequence in which they were sent. */
	private readonly requests = new Map<number, StoredRow[]>();

	private constructor(rows: StoredRow[]) {
		for (const row of lastOfAttempts(rows).values())
			this.requests.set(row.item, [...(this.requests.get(row.item) ?? []), row]);
	}

	/**
	 * Undefined where the rows do not tell what the earlier tries have bought: there are none, one of them cannot be read,
	 * or two executions that began in the same millisecond have written them.
	 */
	static read(values: readonly unknown[]): EarlierTries | undefined {
		const rows = values.filter((value) => getPath(value, 'state') !== RUN).map(parseRow);
		if (rows.length === 0 || !rows.every((row) => row !== undefined)) return undefined;
		const firstTries = rows.filter(({ retry }) => !retry).map(({ execution }) => execution);
		return new Set(firstTries).size > 1 ? undefined : new EarlierTries(rows);
	}

	/**
	 * Gives the ledger back what it has lost: what this request has created goes on. A request of an unknown outcome, or
	 * another request that has created something, leaves it to the user. The other orders may be submitted. Returns the
	 * rows of the orders that go on.
	 */
	restoreLedger(ledger: OrderLedger, orders: readonly Order[]): Map<Order, StoredRow> {
		const goOn = new Map<Order, StoredRow>();
		for (const order of orders) {
			const { item, state, request } = order;
			if (request === undefined || state !== 'planned' || ledger.find(item, request.hash) !== undefined) continue;
			const ofItem = this.requests.get(item) ?? [];
			const unknown = ofItem.find((row) => isUnknown(row, order));
			const created = ofItem.filter((row) => meaningOf(row) === 'created' && !isUnknown(row, order));
			const goesOn = created.filter((row) => row.request_hash === request.hash).at(-1);
			// Another request is another purchase, as in a retry of an execution that has ended, where the ledger knows of it.
			const knownUntil = created.findIndex((row) => row.task_id === ledger.idOf(item));
			const other = created.slice(knownUntil + 1).at(-1);
			if (goesOn !== undefined) {
				goOn.set(order, goesOn);
				ledger.accepted(item, toEntry(goesOn));
			} else if (unknown !== undefined) {
				ledger.lost(item, { ...toEntry(unknown), taskId: undefined });
			} else if (other !== undefined) {
				ledger.lost(item, toEntry(other));
			}
		}
		return goOn;
	}
}

/** Hardly a request takes longer, with all that is repeated after a 429. The outcome of one that does counts as unknown. */
const LONGEST_REQUEST_MS = 120_000;

/** The rows of requests that another retry has sent just now, and whose outcome is not there yet. */
export function requestsUnderWay(rows: ReadonlyArray<StoredRow | undefined>, nowMs: number): StoredRow[] {
	const known = rows.filter((row) => row !== undefined);
	return [...lastOfAttempts(known).values()].filter(
		({ state, retry, time }) =>
			state === 'submitting' && retry && Math.abs(nowMs - Date.parse(time)) < LONGEST_REQUEST_MS,
	);
}

/** Nobody knows the outcome, or its ID was lost. The service gives a token no ID that is needed. */
function isUnknown(row: StoredRow, { thing }: Order): boolean {
	const meaning = meaningOf(row);
	return meaning === 'unknown' || (meaning === 'created' && row.task_id === '' && thing !== 'token');
}

function toEntry({ task_id: taskId, request_hash: hash, time }: StoredRow) {
	return { taskId, hash, acceptedAtMs: Date.parse(time) };
}

/** The last row of each attempt, with the ID that one of its rows has, by attempt in the sequence in which they were sent. */
export function lastOfAttempts(rows: readonly StoredRow[]): Map<string, StoredRow> {
	const asWritten = [...rows].sort((a, b) => a.id - b.id);
	// By the states: the rows of a request may have been written in another sequence, and clocks can be set back.
	const byState = [...asWritten].sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
	const ids = new Map(byState.filter(({ task_id: id }) => id !== '').map((row) => [row.attempt, row.task_id]));
	const last = new Map(asWritten.map((row) => [row.attempt, row]));
	for (const row of byState) last.set(row.attempt, { ...row, task_id: ids.get(row.attempt) ?? '' });
	return last;
}

/** The thing of a row: nobody knows whether it was created, it was, or it may be created again. */
export function meaningOf({ state }: StoredRow): 'unknown' | 'created' | 'free' {
	return MEANING[state];
}

const MEANING: Record<PurchaseState, 'unknown' | 'created' | 'free'> = {
	submitting: 'unknown',
	unknown: 'unknown',
	not_accepted: 'free',
	accepted: 'created',
	failed: 'free',
	failed_permanently: 'created',
	completed: 'created',
};
