/** The meaning of the rows of a run for a retry: which orders go on, which wait for an outcome, and which are in doubt. */
import { nameRun, type OrderLedger } from '../orders/ledger';
import type { Purchase } from '../orders/order';
import { hasEnded, leaveBehind, reopenForRetry } from '../orders/states';
import { isAttempt, isOfPoller, isPermanent, LEASE, nameOfRun, parseRow, roundOf, STATES } from './row';
import type { AttemptRow, AttemptState, RunIdentity, StoredRow } from './row';
import { untilAborted } from '../abort';
import type { Clock } from '../clock';
import { MAY_BE_UNDER_WAY_MS } from '../limits';

/** The code of a lease whose execution has found a gap: later ones must not take missing rows for requests that were not sent. */
export const GAP_CODE = 'rows_missing';

/** The code of the lease of an execution that has nothing left to send: it stops no other, and a retry finds its execution by it. */
export const SENDS_NOTHING_CODE = 'sends_nothing';

/** The pauses between two readings of what may get an outcome. */
const READ_AGAIN_MS = { first: 1_000, longest: 15_000 };

/**
 * Gives the ledger of a retry back what it has lost: what this request has created goes on, also where it was that of another item,
 * because a node before returns other items now. A request of an unknown outcome, or another request that has created
 * something, is left to the user. Of the other orders, surely none was sent, if the rows have no gap.
 *
 * @param breakIfDue between two of many orders
 */
export async function replay(
	rows: readonly AttemptRow[],
	ledger: OrderLedger,
	orders: readonly Purchase[],
	breakIfDue: () => Promise<void>,
): Promise<Replayed> {
	await breakIfDue();
	const lost = new LostPurchases(rows, ledger);
	const which = async (from: readonly Purchase[], isStillOpen: (order: Purchase) => boolean) => {
		const open: Purchase[] = [];
		for (const order of from) {
			await breakIfDue();
			if (isStillOpen(order)) open.push(order);
		}
		return open;
	};
	for (const order of orders) {
		await breakIfDue();
		if (order.state !== 'planned') lost.claimKnown(order);
	}
	let open = await which(orders, (order) => lost.isOpen(order));
	// In turn for all: a row that belongs to one order says nothing about the others.
	open = await which(open, (order) => !lost.findOfItem(order));
	open = await which(open, (order) => !lost.findAnywhere(order));
	for (const order of open) {
		await breakIfDue();
		lost.leaveToUser(order);
	}
	return lost.replayed;
}

/** The ends that the rows of a run tell of orders whose ledger was lost. */
interface Replayed {
	/** Orders that go on, with the rows that have their IDs. */
	goOn: Map<Purchase, AttemptRow>;
	/** Orders of which it is not known whether they were accepted, with the rows that say so. */
	inDoubt: Map<Purchase, AttemptRow>;
}

/** Finds the purchases of orders whose ledger was lost: each row is the purchase of one of them. */
class LostPurchases {
	readonly replayed: Replayed = { goOn: new Map(), inDoubt: new Map() };

	/** The last states of the requests of each item, in the sequence in which they were sent. */
	private readonly ofItem = new Map<number, AttemptRow[]>();

	private readonly claimed = new Set<AttemptRow>();

	private readonly byAttempt: RowIndex = new Map();

	private readonly byId: RowIndex = new Map();

	/** Those without a Purchase Key of which something may have come, and that no order has claimed, by the hash of the request. */
	private readonly byHash: RowIndex = new Map();

	constructor(
		rows: readonly AttemptRow[],
		private readonly ledger: OrderLedger,
	) {
		for (const row of lastOfAttempts(rows).values()) {
			const { attempt, task_id: id, request_hash: hash, item } = row;
			this.ofItem.set(item, [...(this.ofItem.get(item) ?? []), row]);
			addTo(this.byAttempt, attempt, row);
			if (id !== '') addTo(this.byId, id, row);
			if (row.key_hash === '' && meaningOf(row) !== 'free') addTo(this.byHash, hash, row);
		}
	}

	/**
	 * True where the ledger does not know the order. Where it does, its rows are explained, wherever it has found them; but
	 * not what another retry has submitted since, in the place of what the ledger has in doubt or what has failed since: this one
	 * would do so, too. Nor an ID that has come since: without it, the order would stay in doubt for ever.
	 */
	isOpen(order: Purchase): boolean {
		const { item, state, request } = order;
		if (request === undefined || state !== 'planned') return false;
		const known = this.ledger.find(item, request.hash);
		if (known === undefined) return true;
		const { hash, attempt, taskId, isGivenUp, handedOver } = known;
		if (handedOver) this.ledger.handedBack(item);
		// A try that has died may have sent this request in the place of the one that the ledger knows.
		const ofItem = this.unclaimed(item).filter((row) => [hash, request.hash].includes(row.request_hash));
		const isOfOtherKey = known.reusedKey !== undefined && known.reusedKey !== request.keyHash;
		const isInDoubt = taskId === undefined || isGivenUp === true || handedOver === true || isOfOtherKey;
		const ownAt = ofItem.findIndex((row) => row.attempt === attempt);
		const own = ofItem.slice(ownAt, ownAt + 1).filter((row) => taskId === undefined && isCreated(row, order));
		const later = isInDoubt || ownAt >= 0 ? [...own, ...ofItem.slice(ownAt + 1)] : [];
		for (const rows of [this.byAttempt.get(attempt), ofItem, this.byId.get(taskId)])
			this.claim(rows ?? new Set<AttemptRow>());
		const row = lastOf(later, order);
		if (row !== undefined) this.take(order, row);
		return false;
	}

	/** Claims the rows of an order that is known to be bought, or has ended: an identical one would go on with the same task. */
	claimKnown({ item, task, purchase }: Purchase): void {
		const rows = [this.byId.get(task?.taskId), this.byAttempt.get(purchase?.attempt)];
		for (const each of rows) this.claim(each ?? []);
		if (task === undefined) this.claim(this.unclaimed(item));
	}

	/** Takes the last purchase of the item that was made with this request, or may have been. */
	findOfItem(order: Purchase): boolean {
		const same = this.unclaimed(order.item).filter((row) => isSameRequest(row, order));
		const row = lastOf(same, order);
		if (row === undefined) return false;
		// An item may have bought the same more than once.
		this.claim(same);
		return this.take(order, row);
	}

	/** The same for a purchase of any item. With a Purchase Key, the rows of the key decide. */
	findAnywhere(order: Purchase): boolean {
		if (order.request?.keyHash !== undefined) return false;
		const same = this.byHash.get(order.request?.hash) ?? new Set<AttemptRow>();
		let row: AttemptRow | undefined;
		for (const each of same) {
			row = each;
			if (isCreated(each, order)) break;
		}
		if (row === undefined) return false;
		this.claim([row]);
		return this.take(order, row);
	}

	/** Leaves an order to the user whose item has bought something with another request, or may have. */
	leaveToUser(order: Purchase): void {
		const { item } = order;
		const rows = this.unclaimed(item).filter((row) => meaningOf(row) !== 'free');
		// Another request is another purchase, as in a retry of an execution that has ended, where the ledger knows of it.
		const knownId = this.ledger.idOf(item);
		const knownUntil = rows.findIndex((row) => isCreated(row, order) && row.task_id === knownId);
		const last = rows.slice(knownUntil + 1).at(-1);
		if (last === undefined) return;
		if (isUnknown(last, order)) this.take(order, last);
		else this.ledger.lost(item, { ...toEntry(last), run: runOf(last) });
	}

	private unclaimed(item: number): AttemptRow[] {
		return [...(this.ofItem.get(item) ?? [])].filter((row) => !this.claimed.has(row));
	}

	private claim(rows: Iterable<AttemptRow>): void {
		for (const row of rows) {
			this.claimed.add(row);
			this.byHash.get(row.request_hash)?.delete(row);
		}
	}

	private take(order: Purchase, row: AttemptRow): true {
		if (isUnknown(row, order)) {
			this.replayed.inDoubt.set(order, row);
			this.ledger.lost(order.item, { ...toEntry(row), run: runOf(row), taskId: undefined });
		} else {
			this.replayed.goOn.set(order, row);
			this.ledger.accepted(order.item, toEntry(row));
		}
		return true;
	}
}

/** Rows by something that they have. */
type RowIndex = Map<string | undefined, Set<AttemptRow>>;

function addTo<Key, Value>(index: Map<Key, Set<Value>>, key: Key, value: Value): void {
	index.set(key, (index.get(key) ?? new Set()).add(value));
}

/**
 * The orders whose rows do not tell the outcome of a request, and may still do so: the execution that has sent it may be alive. They
 * are told, or submitted again, when that is over: otherwise a person would be told of a doubt that is none a second later.
 */
export class UnsettledOrders {
	private readonly rows = new Map<Purchase, AttemptRow>();

	/** The clock of the database, as far as it is ahead of the own one. */
	private databaseAheadMs = 0;

	/** The times at which attempts without an outcome were seen first: where the clocks are wrong, the wait would last for hours otherwise. */
	private readonly seenAtMs = new Map<string, number>();

	/** @param clock without jumps */
	constructor(
		private readonly ledger: OrderLedger,
		private readonly clock: Clock,
	) {}

	/** Notes the time of the database, as a row has it that was just written. Unix milliseconds. */
	nowInDatabaseMs(atMs: number): void {
		this.databaseAheadMs = atMs - this.clock.now();
	}

	/** Adds those of the orders in doubt whose rows are young enough. */
	add(inDoubt: ReadonlyMap<Purchase, AttemptRow>): void {
		for (const [order, row] of inDoubt) if (this.mayGetOutcome(row)) this.rows.set(order, row);
	}

	has(order: Purchase): boolean {
		return this.rows.has(order);
	}

	/**
	 * Reads again until all of them have an outcome, or cannot get one any more.
	 *
	 * @param readAttempts as the execution has to take them that took over: see `asTakenOver`
	 */
	async settle(readAttempts: () => Promise<AttemptRow[]>, signal?: AbortSignal): Promise<void> {
		let pauseMs = READ_AGAIN_MS.first;
		for (;;) {
			const rows = await untilAborted(
				readAttempts().catch(() => undefined),
				signal,
			);
			const last = rows && lastOfAttempts(rows);
			for (const [order, row] of this.rows) {
				const now = last?.get(row.attempt) ?? row;
				if (now.state === 'submitting' && this.mayGetOutcome(now)) continue;
				this.rows.delete(order);
				this.settleOne(order, now, [...(last?.values() ?? [])]);
			}
			if (this.rows.size === 0 || signal?.aborted) return;
			await this.clock.sleep(pauseMs, signal);
			pauseMs = Math.min(READ_AGAIN_MS.longest, pauseMs * 2);
		}
	}

	/**
	 * Gives the ledger the outcome of an attempt.
	 *
	 * @param all the last rows of all attempts of the run
	 */
	private settleOne(order: Purchase, row: AttemptRow, all: readonly AttemptRow[]): void {
		const { ledger } = this;
		let outcome: AttemptRow | undefined = row;
		if (meaningOf(row) === 'free') {
			ledger.forget(order.item);
			// It was sent in the place of one before, which is in doubt still.
			const same = all.filter((each) => each.item === row.item && each.request_hash === row.request_hash);
			outcome = lastOf(same, order);
			if (outcome === undefined) return;
		}
		const isOther = outcome.request_hash !== order.request?.hash;
		if (meaningOf(outcome) === 'created' && outcome.task_id !== '') {
			// The task of another request is no result of this one.
			if (isOther) return ledger.lost(order.item, { ...toEntry(outcome), run: runOf(outcome) });
			ledger.accepted(order.item, toEntry(outcome));
			order.purchase = purchaseOf(order, outcome.attempt);
		} else if (outcome !== row) {
			ledger.lost(order.item, { ...toEntry(outcome), run: runOf(outcome), taskId: undefined });
			// An execution that was silent for long has sent it in the place of the one before, and may be about to take it back.
			if (this.mayGetOutcome(outcome)) this.rows.set(order, outcome);
		}
	}

	/** True where the outcome of an attempt may still be written. */
	private mayGetOutcome({ state, createdAt, attempt }: AttemptRow): boolean {
		if (state !== 'submitting') return false;
		const nowMs = this.clock.now();
		const seenAtMs = this.seenAtMs.get(attempt) ?? nowMs;
		this.seenAtMs.set(attempt, seenAtMs);
		return nowMs + this.databaseAheadMs - createdAt < MAY_BE_UNDER_WAY_MS && nowMs - seenAtMs < MAY_BE_UNDER_WAY_MS;
	}
}

/**
 * Reads the rows of a run. Those of another node with its name count: it may be the same one, deleted and added again.
 *
 * @param values the rows of all nodes of the workflow in this round of it
 * @param of.first the execution of the first try, where it is known: others of the same millisecond have rows of the same name
 */
export async function readRun(
	values: readonly unknown[],
	{ identity, node, first }: { identity: RunIdentity; node: string; first?: string },
	breakIfDue: () => Promise<void>,
): Promise<RunRows> {
	const run = nameOfRun(identity);
	const rows: StoredRow[] = [];
	let isUnreadable = false;
	for (const value of values) {
		await breakIfDue();
		const row = parseRow(value);
		if (row === undefined) isUnreadable = true;
		else if ((row.run === run || row.node === node) && isOfFirst(row, first)) rows.push(row);
	}
	const attempts = rows.filter(isAttempt).sort((one, other) => one.id - other.id);
	const firstTries = [...new Set(rows.flatMap(({ first }) => first || []))];
	const numbers = new Set(attempts.flatMap(({ state, number }) => (state === 'submitting' ? (number ?? -1) : [])));
	const nextNumber = attempts.reduce((next, row) => Math.max(next, (row.number ?? -1) + 1), 0);
	const leases = rows.filter(({ state }) => state === LEASE);
	const gaps: Array<[Gap, boolean]> = [
		['unreadable', isUnreadable],
		['otherNode', rows.some((row) => row.run !== run)],
		['twoFirstTries', firstTries.length > 1],
		['rowsRemoved', numbers.size < nextNumber || numbers.has(-1) || hasLostStart(attempts)],
		['takenOverWithGap', leases.some(({ code }) => code === GAP_CODE)],
	];
	const [gap] = gaps.find(([, isThere]) => isThere) ?? [];
	return { attempts, leases, first: firstTries.length === 1 ? String(firstTries[0]) : '', nextNumber, gap };
}

/** The rows of all tries of a run. */
export interface RunRows {
	/** Those of attempts, in the sequence of their numbers in the table. */
	attempts: AttemptRow[];
	leases: StoredRow[];
	/** The execution of the first try; empty where there is none, or more than one. */
	first: string;
	/** The number of the next attempt. */
	nextNumber: number;
	gap?: Gap;
}

/** The reasons why rows do not tell all that the earlier tries of a run have sent: without an ID, nothing is submitted then. */
export type Gap = 'unreadable' | 'otherNode' | 'twoFirstTries' | 'rowsRemoved' | 'takenOverWithGap';

const isOfFirst = (row: StoredRow, first?: string) => first === undefined || row.first === '' || row.first === first;

/**
 * True where the outcome of a request is there, and the row from before it is not. A withdrawal stands alone where n8n has not
 * written what it withdraws, and a failure where another run has bought the task under the same Purchase Key.
 */
function hasLostStart(attempts: readonly AttemptRow[]): boolean {
	const begun = new Set(attempts.flatMap(({ state, attempt }) => (state === 'submitting' ? attempt : [])));
	const mayStandAlone = (state: AttemptState) => state === 'not_accepted' || state === 'failed';
	return attempts.some(({ state, attempt }) => !mayStandAlone(state) && !begun.has(attempt));
}

/**
 * The rows of a run that was handed over, without attempts whose failure its node had seen before: a person's retry, or n8n's Retry
 * On Fail, has freed their orders, and an execution that goes on must not end them with that failure.
 *
 * @param nextNumber the number of the next attempt at the hand-over
 * @param ownLease that of a poller
 */
export function withoutFreed(rows: RunRows, nextNumber: number, ownLease?: string): RunRows {
	const supervisor = rows.leases.find(({ attempt }) => attempt === ownLease)?.execution;
	const lease = rows.leases.find(({ execution, attempt }) => execution === supervisor && isOfPoller(attempt));
	const isBefore = ({ id }: AttemptRow) => lease === undefined || id < lease.id;
	const sent = rows.attempts.filter(({ state, number = nextNumber }) => state === 'submitting' && number < nextNumber);
	const attempts = new Set(sent.map(({ attempt }) => attempt));
	const freed = new Set(
		rows.attempts
			.filter((row) => attempts.has(row.attempt) && row.state === 'failed' && !isPermanent(row) && isBefore(row))
			.map(({ attempt }) => attempt),
	);
	return { ...rows, attempts: rows.attempts.filter(({ attempt }) => !freed.has(attempt)) };
}

/**
 * The rows as an execution reads them that the run was handed to: a task that has failed is that of its order, which ends with this
 * failure, unless another one was submitted in its place. Only a person's retry buys again what nothing has replaced.
 */
export function asTakenOver(rows: readonly AttemptRow[]): AttemptRow[] {
	const last = new Map<number, string>();
	for (const { item, attempt, state } of [...rows].sort((a, b) => a.id - b.id))
		if (state === 'submitting') last.set(item, attempt);
	const isLast = ({ item, attempt }: AttemptRow) => (last.get(item) ?? attempt) === attempt;
	return rows.map((row) =>
		row.state === 'failed' && row.task_id !== '' && isLast(row) ? { ...row, state: 'accepted' } : row,
	);
}

/**
 * Takes orders up again that had ended with an error when they were handed over, and that another poller, or a retry, may have bought
 * since: otherwise Retry On Fail would buy them a second time.
 */
export function takeUpBought(rows: readonly AttemptRow[], orders: readonly Purchase[], nowMs: number): void {
	const bought = new Set<string>();
	for (const row of lastOfAttempts(rows).values())
		if (meaningOf(row) !== 'free') bought.add(`${row.item} ${row.request_hash}`);
	for (const order of orders)
		if (hasEnded(order) && order.isRetried && bought.has(`${order.item} ${order.request?.hash}`))
			reopenForRetry(order, { submits: true, nowMs });
}

/** Names the tasks that have failed and were replaced before an execution died: no output would name them otherwise. */
export function nameEarlierTasks(rows: readonly AttemptRow[], orders: readonly Purchase[]): void {
	const failed = new Map<string, Set<string>>();
	const keyOf = (item: number, hash?: string) => `${item} ${hash}`;
	for (const { state, item, task_id: id, request_hash: hash } of rows) {
		if (state === 'failed' && id !== '') addTo(failed, keyOf(item, hash), id);
	}
	for (const order of orders) {
		const ids = failed.get(keyOf(order.item, order.request?.hash));
		const others = [...(ids ?? [])].filter((id) => id !== order.task?.taskId);
		if (order.state === 'planned' && others.length > 0) leaveBehind(order, others);
	}
}

/** The most tasks that one item has had. */
export function mostTries(rows: readonly AttemptRow[]): number {
	const created = new Map<number, Set<string>>();
	for (const { item, attempt, task_id: id } of rows) if (id !== '') addTo(created, item, attempt);
	return Math.max(0, ...[...created.values()].map(({ size }) => size));
}

/** The thing of a row: it is not known whether it was created, it was, or it may be created again. */
export function meaningOf(row: AttemptRow): 'unknown' | 'created' | 'free' {
	switch (row.state) {
		case 'submitting':
		case 'unknown':
			return 'unknown';
		case 'accepted':
			return 'created';
		case 'not_accepted':
			return 'free';
		case 'failed':
			return isPermanent(row) ? 'created' : 'free';
	}
}

function isSameRequest({ request_hash: hash }: AttemptRow, { request }: Purchase): boolean {
	return hash === request?.hash;
}

function isCreated(row: AttemptRow, order: Purchase): boolean {
	return meaningOf(row) === 'created' && !isUnknown(row, order);
}

/** Its outcome is not known, or its ID was lost. The service gives a token no ID that is needed. */
function isUnknown(row: AttemptRow, { thing }: Purchase): boolean {
	const meaning = meaningOf(row);
	return meaning === 'unknown' || (meaning === 'created' && row.task_id === '' && thing !== 'token');
}

/** The last request that has created something, or else the last of an unknown outcome: it was sent in the others' place. */
function lastOf(rows: readonly AttemptRow[], order: Purchase): AttemptRow | undefined {
	return rows.filter((row) => isCreated(row, order)).at(-1) ?? rows.filter((row) => isUnknown(row, order)).at(-1);
}

/**
 * The last state of each attempt, with the ID that one of its rows has, by attempt in the sequence in which they were sent. The
 * states decide, not the numbers of the rows: an outcome may be written before an insert is committed that was given up.
 */
export function lastOfAttempts(rows: readonly AttemptRow[]): Map<string, AttemptRow> {
	const asWritten = [...rows].sort((a, b) => a.id - b.id);
	const byState = STATES.flatMap((state) => asWritten.filter((row) => row.state === state));
	const ids = new Map(byState.filter(({ task_id: id }) => id !== '').map((row) => [row.attempt, row.task_id]));
	const last = new Map(asWritten.map((row) => [row.attempt, row]));
	for (const row of byState) last.set(row.attempt, { ...row, task_id: ids.get(row.attempt) ?? '' });
	return last;
}

/** The entry of the ledger for what a row tells. */
function toEntry({ task_id: taskId, request_hash: hash, attempt, createdAt: acceptedAtMs }: AttemptRow) {
	return { taskId, hash, attempt, acceptedAtMs };
}

/** The part of an order by which its rows are joined and found. */
export function purchaseOf({ request }: Purchase, attempt: string): NonNullable<Purchase['purchase']> {
	const { hash = '', keyHash } = request ?? {};
	return { attempt, hash, ...(keyHash === undefined ? {} : { keyHash }) };
}

/** The name of the run that has written a row: see `core/orders/ledger.ts`. */
export function runOf({ execution, run }: Pick<StoredRow, 'execution' | 'run'>): string {
	return nameRun(execution, roundOf(run));
}
