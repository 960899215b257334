import type { OrderLedger } from '../orders/ledger';
import type { Order } from '../orders/order';
import { STATES, type ParsedRow, type PurchaseState, type StoredRow } from './purchaseRow';

/** The requests that the earlier tries of a run have sent, as their rows in the log tell. */
export class EarlierTries {
	/** The last states of the requests of each item, in the sequence in which they were sent. */
	private readonly requests = new Map<number, StoredRow[]>();

	private constructor(rows: readonly StoredRow[]) {
		for (const row of lastOfAttempts(rows).values())
			this.requests.set(row.item, [...(this.requests.get(row.item) ?? []), row]);
	}

	/**
	 * Undefined where the rows do not tell what the earlier tries have bought: there are none, one of them cannot be read,
	 * or two executions that began in the same millisecond have written them.
	 */
	static read(rows: readonly ParsedRow[]): EarlierTries | undefined {
		if (rows.length === 0 || !rows.every((row) => row !== undefined)) return undefined;
		const firstTries = rows.filter(({ retry }) => !retry).map(({ execution }) => execution);
		return new Set(firstTries).size > 1 ? undefined : new EarlierTries(rows);
	}

	/**
	 * Gives the ledger back what it has lost: what this request has created goes on, also where it was that of another item,
	 * because a node before returns other items now. A request of an unknown outcome, or another request that has created
	 * something, leaves it to the user. The other orders may be submitted. Returns the rows of the orders that go on.
	 *
	 * @param breakIfDue between two of many orders
	 */
	async restoreLedger(
		ledger: OrderLedger,
		orders: readonly Order[],
		breakIfDue: () => Promise<void>,
	): Promise<Map<Order, StoredRow>> {
		await breakIfDue();
		const lost = new LostPurchases(this.requests, ledger);
		const which = async (from: readonly Order[], isStillOpen: (order: Order) => boolean) => {
			const open: Order[] = [];
			for (const order of from) {
				await breakIfDue();
				if (isStillOpen(order)) open.push(order);
			}
			return open;
		};
		let open = await which(orders, (order) => lost.isOpen(order));
		// In turn for all: a row that belongs to one order says nothing about the others.
		open = await which(open, (order) => !lost.findOfItem(order));
		open = await which(open, (order) => !lost.findAnywhere(order));
		for (const order of open) {
			await breakIfDue();
			lost.leaveToUser(order);
		}
		return lost.goOn;
	}
}

/** Rows by something that they have. */
type RowIndex = Map<string | undefined, Set<StoredRow>>;

function addTo(index: RowIndex, key: string, row: StoredRow): void {
	index.set(key, (index.get(key) ?? new Set()).add(row));
}

/** Finds what orders have bought, whose ledger was lost: each row is the purchase of one of them. */
class LostPurchases {
	/** The orders that go on, with the rows that say so. */
	readonly goOn = new Map<Order, StoredRow>();

	private readonly claimed = new Set<StoredRow>();

	private readonly byAttempt: RowIndex = new Map();

	private readonly byId: RowIndex = new Map();

	/** Those without a Purchase Key of which something may have come, and that nobody has claimed, by the hash of the request. */
	private readonly byHash: RowIndex = new Map();

	constructor(
		private readonly requests: ReadonlyMap<number, StoredRow[]>,
		private readonly ledger: OrderLedger,
	) {
		for (const row of [...requests.values()].flat()) {
			const { attempt, task_id: id, request_hash: hash } = row;
			addTo(this.byAttempt, attempt, row);
			if (id !== '') addTo(this.byId, id, row);
			if (row.key_hash === '' && meaningOf(row) !== 'free') addTo(this.byHash, hash, row);
		}
	}

	/**
	 * True where the ledger does not know the order. Where it does, its rows are explained, wherever it has found them; but
	 * not what another retry has submitted since, in the place of what the ledger has in doubt: this one would do so, too.
	 */
	isOpen(order: Order): boolean {
		const { item, state, request } = order;
		if (request === undefined || state !== 'planned') return false;
		const known = this.ledger.find(item, request.hash);
		if (known === undefined) return true;
		const { hash, attempt, taskId, isGivenUp } = known;
		const ofItem = this.unclaimed(item).filter((row) => row.request_hash === hash);
		const isInDoubt = taskId === undefined || isGivenUp === true;
		const later = isInDoubt ? ofItem.slice(ofItem.findIndex((row) => row.attempt === attempt) + 1) : [];
		for (const rows of [this.byAttempt.get(attempt), ofItem, this.byId.get(taskId)])
			this.claim(rows ?? new Set<StoredRow>());
		const row = lastOf(later, order);
		if (row !== undefined) this.take(order, row);
		return false;
	}

	/** Takes the last purchase of the item that was made with this request, or may have been. */
	findOfItem(order: Order): boolean {
		const same = this.unclaimed(order.item).filter((row) => isSameRequest(row, order));
		const row = lastOf(same, order);
		if (row === undefined) return false;
		// An item may have bought the same more than once.
		this.claim(same);
		return this.take(order, row);
	}

	/** The same for a purchase of any item. With a Purchase Key, the rows of the key decide. */
	findAnywhere(order: Order): boolean {
		if (order.request?.keyHash !== undefined) return false;
		const same = this.byHash.get(order.request?.hash) ?? new Set<StoredRow>();
		let row: StoredRow | undefined;
		for (const each of same) {
			row = each;
			if (isCreated(each, order)) break;
		}
		if (row === undefined) return false;
		this.claim([row]);
		return this.take(order, row);
	}

	/** Leaves an order to the user whose item has bought something with another request, or may have. */
	leaveToUser(order: Order): void {
		const { item } = order;
		const rows = this.unclaimed(item).filter((row) => meaningOf(row) !== 'free');
		// Another request is another purchase, as in a retry of an execution that has ended, where the ledger knows of it.
		const knownId = this.ledger.idOf(item);
		const knownUntil = rows.findIndex((row) => isCreated(row, order) && row.task_id === knownId);
		const last = rows.slice(knownUntil + 1).at(-1);
		if (last === undefined) return;
		if (isUnknown(last, order)) this.take(order, last);
		else this.ledger.lost(item, { ...toEntry(last), run: last.run });
	}

	private unclaimed(item: number): StoredRow[] {
		return [...(this.requests.get(item) ?? new Set<StoredRow>())].filter((row) => !this.claimed.has(row));
	}

	private claim(rows: Iterable<StoredRow>): void {
		for (const row of rows) {
			this.claimed.add(row);
			this.byHash.get(row.request_hash)?.delete(row);
		}
	}

	private take(order: Order, row: StoredRow): true {
		if (isUnknown(row, order)) this.ledger.lost(order.item, { ...toEntry(row), run: row.run, taskId: undefined });
		else {
			this.goOn.set(order, row);
			this.ledger.accepted(order.item, toEntry(row));
		}
		return true;
	}
}

function isSameRequest({ request_hash: hash }: StoredRow, { request }: Order): boolean {
	return hash === request?.hash;
}

function isCreated(row: StoredRow, order: Order): boolean {
	return meaningOf(row) === 'created' && !isUnknown(row, order);
}

/** Nobody knows the outcome, or its ID was lost. The service gives a token no ID that is needed. */
function isUnknown(row: StoredRow, { thing }: Order): boolean {
	const meaning = meaningOf(row);
	return meaning === 'unknown' || (meaning === 'created' && row.task_id === '' && thing !== 'token');
}

function toEntry({ task_id: taskId, request_hash: hash, attempt, time }: StoredRow) {
	return { taskId, hash, attempt, acceptedAtMs: Date.parse(time) };
}

/** The last request that has created something, or else the last of an unknown outcome: it was sent in the others' place. */
function lastOf(rows: readonly StoredRow[], order: Order): StoredRow | undefined {
	return rows.filter((row) => isCreated(row, order)).at(-1) ?? rows.filter((row) => isUnknown(row, order)).at(-1);
}

/** The last row of each attempt, with the ID that one of its rows has, by attempt in the sequence in which they were sent. */
export function lastOfAttempts(rows: readonly StoredRow[]): Map<string, StoredRow> {
	const asWritten = [...rows].sort((a, b) => a.id - b.id);
	// By the states: the rows of a request may have been written in another sequence, and clocks can be set back.
	const byState = STATES.flatMap((state) => asWritten.filter((row) => row.state === state));
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
