import { asGatewayError, codeOf, gatewayError, type GatewayError } from '../errors';
import { steady, takingBreaks, type Clock } from '../clock';
import type { JsonObject } from '../json';
import type { RowBudget, RowPermit, RowPace } from '../account/rowBudget';
import { TURN_WITHIN_MS } from '../account/rowBudget';
import type { OrderLedger } from '../orders/ledger';
import type { Order } from '../orders/order';
import { errorOf } from '../orders/states';
import { INTERRUPTED, notRecorded, UNREADABLE } from '../orders/writeAheadLog';
import type { GuardedAttempts, Submission, WriteAhead, WriteAheadLog } from '../orders/writeAheadLog';
import { outlasting, PAUSES_MS } from '../orders/outlasting';
import { CREATE_TIMEOUT_MS } from '../limits';
import { wordsOf } from '../text';
import type { FoundMarks, Marks } from './marks';
import { claimOthers, type KeyClaims } from './purchaseKey';
import { GAP_CODE, lastOfAttempts, meaningOf, readRun, replay, toEntry, type Gap, type RunRows } from './replay';
import { journalRow, LEASE, nameOfRun, parseRow, patternOfRun, RUN, TABLE_NAME } from './row';
import type { AttemptRow, AttemptState, JournalRow, RunColumns, RunIdentity, StoredRow } from './row';
import { NoTableError, type JournalTable } from './table';

/** An attempt without an outcome may still get one for so long after its row: a request takes no longer. */
export const MAY_GET_OUTCOME_MS = CREATE_TIMEOUT_MS + 10_000;

/** The end of a run waits so long for rows at the most: a result is worth more than they are. */
const MOST_WAIT_MS = 5000;

/** Orders whose requests are about to be sent gather for so long, and for so many rows: they share one write. */
const GATHER_MS = 5;
const ROWS_AT_ONCE = 90;

/** The pauses between two readings of what may get an outcome. */
const READ_AGAIN_MS = { first: 1_000, longest: 15_000 };

/** The surroundings of the journal of a run. */
export interface JournalPorts {
	columns: Omit<RunColumns, 'first' | 'run'>;
	identity: RunIdentity;
	/** A person's retry: earlier tries have rows, or had some. */
	isRetry: boolean;
	/** The run began so long ago that rows of it may have been removed. */
	isOld: boolean;
	table: JournalTable;
	marks: Pick<Marks, 'find' | 'write'>;
	/** The log of a run without rows: it says what may be submitted where rows do not tell, or cannot be written. */
	withoutRows: WriteAheadLog;
	rows: Pick<RowBudget, 'take' | 'refused' | 'answered'>;
	pace: RowPace;
	ledger: OrderLedger;
	clock: Clock;
	/** Tells the user why rows are missing. */
	tell: (why: string) => void;
}

/** The facts that the tries of one execution share: n8n keeps them with the ledger. */
interface Memory {
	executionId: string;
	/** Names of its leases; the last one counts. */
	leases: string[];
	first: string;
	nextNumber: number;
	isMarked?: boolean;
	/** The reason why it submits nothing without an ID, unless a person names it. */
	doubt?: string;
	/** It has no rows: n8n had no table for them before its first request. */
	isWithoutRows?: boolean;
}

/** An order that wants to write its row. */
interface Joining {
	order: Order;
	permit: RowPermit;
	signal?: AbortSignal;
	resolve: () => void;
	reject: (error: GatewayError) => void;
}

/**
 * The journal of one run of a node: its memory that outlives a crash, and the fence between the executions that may work on it.
 *
 * - **No row, no purchase.** A request is sent only when its row `submitting` is in the table, and rows of a run carry a running
 *   number. So a missing row means that its request was surely not sent, where no number is missing.
 * - **Write, wait for the commit, look, send.** Each execution has a lease. A retry writes it first, then reads the rows of the run.
 *   An execution that has written rows looks for leases: a first try sends only if its own lease is there and no other; a retry only
 *   if the newest lease is its own. Both sides write first and read then, so of any number of executions at most one sends.
 * - The look goes by names, not by numbers: those of SQLite begin again when a person clears the table.
 */
export class Journal implements WriteAhead {
	private readonly memory: Memory;

	private readonly run: string;

	/** The error of all that is to be submitted from now on. */
	private stopped?: GatewayError;

	/** The lease of a first try, or one that tells of a gap, is written with the next rows. */
	private leaseToWrite?: Partial<JournalRow>;

	private readonly joining: Joining[] = [];

	private isInserting = false;

	private attempts = 0;

	private marking?: Promise<boolean>;

	private readonly permits = new Map<Order, RowPermit>();

	/** Orders of which rows do not tell the outcome, and may still do so. */
	private readonly unsettled = new Map<Order, AttemptRow>();

	private readonly clock: Clock;

	/** The clock of the database, as far as it is ahead of the own one. Known when the own lease was read. */
	private databaseAheadMs = 0;

	/** The part of the journal that Purchase Keys use. */
	readonly keys: KeyClaims;

	/** Tells the names of this process from those of another one with the same execution. */
	private readonly stamp: string;

	constructor(readonly ports: JournalPorts) {
		this.clock = steady(ports.clock);
		this.run = nameOfRun(ports.identity);
		const { executionId } = ports.ledger.scope;
		this.stamp = `${ports.clock.now().toString(36)}${Math.floor(ports.clock.random() * 36 ** 4).toString(36)}`;
		const known = ports.ledger.journal as Partial<Memory> | undefined;
		this.memory =
			known?.executionId === executionId
				? (known as Memory)
				: { executionId, leases: [], first: ports.isRetry ? '' : executionId, nextNumber: 0 };
		ports.ledger.journal = this.memory as unknown as JsonObject;
		if (this.memory.doubt !== undefined) ports.withoutRows.doubt(this.memory.doubt);
		this.keys = {
			rowsOfKey: async (keyHash) => await ports.table.rowsOfKey(keyHash),
			...{ clock: this.clock, wallClock: ports.clock },
			...{ executionId, run: ports.ledger.run, workflowId: ports.identity.workflowId },
			...{ own: new WeakMap(), gaveWay: new WeakSet(), seenAtMs: new Map() },
		};
	}

	/** True where n8n had no table before the first request: the log of a run without rows has taken over. */
	get isWithoutRows(): boolean {
		return this.memory.isWithoutRows === true;
	}

	/** Lets a retry go on with what the tries before it have created. */
	async takeOver(orders: readonly Order[]): Promise<void> {
		const { isRetry, ledger, clock } = this.ports;
		if (!isRetry || this.memory.leases.length > 0 || orders.every(({ state }) => state !== 'planned')) return;
		const breakIfDue = takingBreaks(clock);
		const marks = await this.ports.marks.find().catch(() => undefined);
		const before = await this.readRun(breakIfDue).catch(() => undefined);
		this.memory.first = before?.first ?? '';
		const lease = this.nameLease();
		let error: GatewayError | undefined;
		const claim = async () =>
			await this.claim(lease).catch((thrown: unknown) => {
				if (!(thrown instanceof NoTableError)) throw thrown;
				error = notRecorded(thrown);
			});
		await outlasting(clock, claim).catch((thrown: unknown) => (error = notRecorded(thrown)));
		const rows = await this.readRun(breakIfDue).catch((thrown: unknown) => {
			this.ports.tell(wordsOf(thrown));
			return undefined;
		});
		// Without its lease, an execution that goes on elsewhere would not see it.
		this.stopped = error;
		if (rows === undefined) return this.doubt(UNREADABLE);
		this.memory.first ||= rows.first;
		this.memory.nextNumber = rows.nextNumber;
		const own = rows.leases.find(({ attempt }) => attempt === lease);
		if (own !== undefined) this.databaseAheadMs = own.createdAt - this.clock.now();
		const { goOn, inDoubt } = await replay(rows.attempts, ledger, orders, breakIfDue);
		for (const [order, row] of goOn) order.purchase = purchaseOf(order, row.attempt);
		for (const [order, row] of inDoubt) if (this.mayGetOutcome(row)) this.unsettled.set(order, row);
		const gap = gapOf(rows, marks, this.ports.isOld);
		if (gap !== undefined) this.doubt(gap);
	}

	/** The orders of a retry whose requests may get an outcome yet: they are told, or submitted again, when that is over. */
	isUnsettled(order: Order): boolean {
		return this.unsettled.has(order);
	}

	/** Reads again until all of these have an outcome, or cannot get one any more. */
	async settle(signal?: AbortSignal): Promise<void> {
		const { ledger, clock } = this.ports;
		let pauseMs = READ_AGAIN_MS.first;
		for (;;) {
			const rows = await this.readRun(takingBreaks(clock)).catch(() => undefined);
			const last = rows && lastOfAttempts(rows.attempts);
			for (const [order, row] of this.unsettled) {
				const now = last?.get(row.attempt) ?? row;
				if (now.state === 'submitting' && this.mayGetOutcome(now)) continue;
				this.unsettled.delete(order);
				if (meaningOf(now) === 'free') ledger.forget(order.item);
				if (meaningOf(now) !== 'created' || now.task_id === '') continue;
				ledger.accepted(order.item, toEntry(now));
				order.purchase = purchaseOf(order, now.attempt);
			}
			if (this.unsettled.size === 0 || signal?.aborted) return;
			await clock.sleep(pauseMs, signal);
			pauseMs = Math.min(READ_AGAIN_MS.longest, pauseMs * 2);
		}
	}

	async beforeUploads(order: Submission): Promise<void> {
		if (this.stopped !== undefined) throw this.stopped;
		if (this.memory.doubt !== undefined || this.isWithoutRows) await this.ports.withoutRows.beforeUploads(order);
	}

	async isOverruled(order: Submission): Promise<boolean> {
		return this.memory.doubt !== undefined && (await this.ports.withoutRows.isOverruled(order));
	}

	async guard<T>(order: Order, send: (tries: GuardedAttempts) => Promise<T>): Promise<T> {
		const hooks: GuardedAttempts = {
			begin: async (signal) => await this.begin(order, signal),
			sending: async () => await this.sending(order),
			putOff: (pauseMs, answer) => {
				this.note(order, 'not_accepted', { error: answer, pauseMs });
				delete order.purchase;
			},
			turnWithinMs: TURN_WITHIN_MS,
		};
		if (this.memory.doubt === undefined && !this.isWithoutRows) return await send(hooks);
		return await this.ports.withoutRows.guard(order, async () => await send(hooks));
	}

	/** Notes the outcome of an attempt. It is not waited for. */
	note(order: Order, state: AttemptState, { taskId, error, pauseMs = 1 }: Outcome = {}): void {
		const permit = this.permits.get(order);
		const { rows, table } = this.ports;
		const is429 = error?.details.httpStatus === 429;
		if (permit !== undefined) {
			if (is429 && pauseMs > 0) rows.refused(error, error.details.retryAfterMs ?? pauseMs);
			else if (state !== 'not_accepted' || error?.details.httpStatus !== undefined) rows.answered();
		}
		this.permits.delete(order);
		const row = this.toRow(order, state, taskId, error);
		// Without a purchase there is no attempt, and so no row.
		if (row === undefined) return permit?.end();
		permit?.answered();
		void table.insertLater(row).then(() => permit?.end());
	}

	/** Notes the credits that the account has used during the run so far. It is not waited for. */
	noteRun(credits: number, model: string): void {
		const { table } = this.ports;
		if (this.isWithoutRows) return;
		const row = { ...this.columns, attempt: this.stamp, state: RUN, model, credits };
		void table.insertLater(journalRow.parse(row));
		void table.flush();
	}

	/**
	 * Notes the tasks that have failed. Resolves when the rows are in the table that another try looks for: IDs, outcomes, and failures
	 * that free a Purchase Key, or a purchase that is reused.
	 */
	async end(orders: readonly Order[]): Promise<void> {
		const { table } = this.ports;
		let written = table.flush();
		for (const order of orders) {
			const { purchase, end } = order;
			if (purchase === undefined) continue;
			if (end?.error?.kind === 'taskFailed') {
				const failed = this.toRow(order, 'failed', undefined, errorOf(order));
				if (failed !== undefined) void table.insertLater(failed);
				written = purchase.keyHash === undefined && !order.reused ? written : table.flush();
			}
			if (end !== undefined) delete order.purchase;
		}
		void table.flush();
		const over = new AbortController();
		await Promise.race([written, this.clock.sleep(MOST_WAIT_MS, over.signal)]).finally(() => over.abort());
	}

	/** Resolves when the row of an order is in the table, and no other execution goes on with the run. */
	private async begin(order: Order, signal?: AbortSignal): Promise<void> {
		if (this.stopped !== undefined) throw this.stopped;
		if (this.isWithoutRows) return await this.ports.withoutRows.defer(order);
		const permit = await this.ports.rows.take(this.ports.pace, signal);
		if (signal?.aborted) return permit.end();
		await new Promise<void>((resolve, reject) => {
			this.joining.push({ order, permit, signal, resolve, reject });
			if (!this.isInserting) void this.insertAll();
		});
	}

	/** Called right before the request leaves: a mark says from now on that rows must be there. */
	private async sending(order: Order): Promise<void> {
		if (this.isWithoutRows) return;
		const { marks, clock, isRetry } = this.ports;
		if (this.memory.isMarked !== true) {
			this.marking ??= outlasting(clock, async () => await marks.write(!isRetry));
			const isAlone = await this.marking.catch((thrown: unknown) => {
				this.marking = undefined;
				throw notRecorded(thrown);
			});
			if (!isAlone)
				throw (this.stopped ??= gatewayError('outcomeStillUnknown', { thing: order.thing, what: INTERRUPTED }));
			this.memory.isMarked = true;
		}
		this.permits.get(order)?.leaves();
	}

	/** Writes the rows of those that have joined, group after group. */
	private async insertAll(): Promise<void> {
		this.isInserting = true;
		while (this.joining.length > 0) {
			await this.ports.clock.sleep(GATHER_MS);
			const group = this.joining.splice(0, ROWS_AT_ONCE);
			await this.insert(group).catch((thrown: unknown) => {
				const error = asGatewayError(thrown);
				for (const { order, permit, reject } of group) {
					if (this.permits.has(order)) this.note(order, 'not_accepted', { error });
					else permit.end();
					delete order.purchase;
					reject(error);
				}
			});
		}
		this.isInserting = false;
	}

	/** Writes the rows of a group, and again with new names as long as n8n cannot say that they are there. */
	private async insert(group: Joining[]): Promise<void> {
		const { table, clock, isRetry } = this.ports;
		for (const pauseMs of [...PAUSES_MS, undefined]) {
			const left = this.stillWanted(group);
			if (left.length === 0) return;
			if (this.stopped !== undefined) throw this.stopped;
			const { rows, look } = this.toRows(left);
			let found: unknown[];
			try {
				found = await table.insertAndLook(rows, look);
			} catch (thrown) {
				// Nothing was sent before, and n8n has said that it has not written anything: the run has no rows.
				if (thrown instanceof NoTableError && !isRetry && this.memory.nextNumber === 0)
					return await this.goOnWithoutRows(left, thrown);
				this.withdraw(left);
				if (pauseMs === undefined) throw notRecorded(thrown);
				await clock.sleep(pauseMs);
				continue;
			}
			this.memory.nextNumber += left.length;
			this.leaseToWrite = undefined;
			return this.letGo(left, found);
		}
	}

	private stillWanted(group: Joining[]): Joining[] {
		return group.filter(({ order, permit, signal, resolve }) => {
			if (!signal?.aborted) return true;
			if (this.permits.has(order)) this.note(order, 'not_accepted');
			else permit.end();
			delete order.purchase;
			resolve();
			return false;
		});
	}

	private toRows(group: Joining[]): { rows: JournalRow[]; look: Parameters<JournalTable['insertAndLook']>[1] } {
		if (this.memory.leases.length === 0) this.leaseToWrite = { attempt: this.nameLease() };
		const attempts = group.map(({ order, permit }, index) => {
			const attempt = `${this.memory.executionId}-${this.stamp}-${this.attempts++}`;
			order.purchase = purchaseOf(order, attempt);
			this.keys.own.set(order, (this.keys.own.get(order) ?? new Set()).add(attempt));
			this.permits.set(order, permit);
			return journalRow.parse({
				...this.toRow(order, 'submitting'),
				number: this.memory.nextNumber + index,
			});
		});
		const lease = this.leaseToWrite && this.toLease(this.leaseToWrite);
		const keys = new Set(group.flatMap(({ order }) => order.request?.keyHash ?? []));
		return {
			rows: lease === undefined ? attempts : [lease, ...attempts],
			look: { claims: [this.run, ...keys], afterId: this.ports.table.seenId },
		};
	}

	/** Withdraws rows that may be there after all: only new attempts are sent. */
	private withdraw(group: Joining[]): void {
		for (const { order } of group) {
			const row = this.toRow(order, 'not_accepted');
			if (row !== undefined) void this.ports.table.insertLater(row);
		}
	}

	/** Lets those go whose rows are there, unless another execution has taken over, or has bought under the same Purchase Key. */
	private letGo(group: Joining[], found: unknown[]): void {
		const rows = found.map(parseRow);
		this.stopped = rows.every((row) => row !== undefined)
			? this.lookAround(rows)
			: notRecorded('a row of this run cannot be read');
		if (this.stopped !== undefined) throw this.stopped;
		for (const { order, resolve, reject } of group) {
			const { keyHash } = order.request ?? {};
			const alone = keyHash === undefined ? Promise.resolve() : claimOthers(this.keys, order, found);
			void alone.then(resolve, (thrown: unknown) => {
				const error = asGatewayError(thrown);
				this.note(order, 'not_accepted', { error });
				delete order.purchase;
				reject(error);
			});
		}
	}

	/** The error of all orders where another execution goes on with the run, or where rows of it were removed. */
	private lookAround(rows: StoredRow[]): GatewayError | undefined {
		const { leases: own, first } = this.memory;
		const isOfRun = (row: StoredRow) =>
			row.state === LEASE && row.run === this.run && (row.first === '' || first === '' || row.first === first);
		const leases = rows.filter(isOfRun).sort((one, other) => other.id - one.id);
		const isOwn = ({ attempt }: StoredRow) => own.includes(attempt);
		// The lease of a first try is a witness, and outranks no other.
		const others = this.ports.isRetry ? leases.filter((row) => row.execution !== row.first) : leases;
		const [newest] = this.ports.isRetry ? others : others.filter((row) => !isOwn(row));
		if (newest !== undefined && !isOwn(newest))
			return gatewayError('submittedByOtherRetry', { execution: newest.execution });
		return leases.some(isOwn) ? undefined : notRecorded(ROWS_GONE);
	}

	/** The run has no rows: its names in n8n's table of processed data are its memory. */
	private async goOnWithoutRows(group: Joining[], why: NoTableError): Promise<void> {
		this.memory.isWithoutRows = true;
		this.ports.tell(why.message);
		for (const { order, permit, resolve, reject } of group) {
			this.permits.delete(order);
			permit.end();
			delete order.purchase;
			const { keyHash } = order.request ?? {};
			const allowed =
				keyHash === undefined
					? this.ports.withoutRows.defer(order)
					: Promise.reject(gatewayError('purchaseLogUnavailable', { why: why.message }));
			await allowed.then(resolve, (thrown: unknown) => reject(asGatewayError(thrown)));
		}
	}

	/** Lets nothing be submitted that has no ID and that a person does not name. */
	private doubt(what: string): void {
		this.memory.doubt = what;
		this.ports.withoutRows.doubt(what);
		// Rows that are missing must not look like requests that were not sent, to those who take over from here.
		this.leaseToWrite = { attempt: this.nameLease(), code: GAP_CODE };
	}

	/** True where the outcome of an attempt may still be written. */
	private mayGetOutcome({ state, createdAt }: AttemptRow): boolean {
		return state === 'submitting' && this.clock.now() + this.databaseAheadMs - createdAt < MAY_GET_OUTCOME_MS;
	}

	private nameLease(): string {
		const name = `${this.memory.executionId}-${this.stamp}-lease${this.memory.leases.length}`;
		this.memory.leases.push(name);
		return name;
	}

	private async claim(attempt: string): Promise<void> {
		const { table } = this.ports;
		await table.insertAndLook([this.toLease({ attempt })], { claims: [this.run], afterId: table.seenId });
	}

	private toLease(lease: Partial<JournalRow>): JournalRow {
		return journalRow.parse({ ...this.columns, ...lease, state: LEASE, key_hash: this.run });
	}

	private get columns(): RunColumns {
		return { ...this.ports.columns, run: this.run, first: this.memory.first };
	}

	/** Undefined where the order has no attempt. */
	private toRow(
		{ thing, model = thing, item, task, purchase }: Order,
		state: AttemptState,
		taskId = task?.taskId,
		error?: GatewayError,
	): JournalRow | undefined {
		if (purchase === undefined) return undefined;
		return journalRow.parse({
			...this.columns,
			// The end of what is reused belongs to the run that has bought it: here, a retry would miss the rows before.
			...purchase.boughtIn,
			...{ item, state, model, task_id: taskId ?? '', code: error === undefined ? '' : codeOf(error) },
			...{ attempt: purchase.attempt, request_hash: purchase.hash, key_hash: purchase.keyHash ?? '' },
			more: error?.details.permanent && state === 'failed' ? JSON.stringify({ permanent: true }) : '',
		});
	}

	private async readRun(breakIfDue: () => Promise<void>): Promise<RunRows> {
		const { table, identity, columns } = this.ports;
		const values = await table.rowsOfRun(patternOfRun(identity));
		return await readRun(values, { identity, node: columns.node }, breakIfDue);
	}
}

interface Outcome {
	taskId?: string;
	error?: GatewayError;
	/** 0: the request is sent again as soon as the account has a place. */
	pauseMs?: number;
}

/** The part of an order by which its rows are joined and found. */
export function purchaseOf({ request }: Order, attempt: string): NonNullable<Order['purchase']> {
	const { hash = '', keyHash } = request ?? {};
	return { attempt, hash, ...(keyHash === undefined ? {} : { keyHash }) };
}

const ROWS_GONE = `rows of this run were removed from the data table ${TABLE_NAME}`;

/** The reason why rows do not tell all that earlier tries have sent, for messages. */
function gapOf(rows: RunRows, marks: FoundMarks | undefined, isOld: boolean): string | undefined {
	if (marks === undefined) return UNREADABLE;
	if (marks.withoutRows) return INTERRUPTED;
	if (rows.gap !== undefined) return GAPS[rows.gap];
	if (marks.withRows > 1) return GAPS.twoFirstTries;
	if (isOld || (marks.withRows > 0 && rows.attempts.length === 0)) return GAPS.rowsRemoved;
	return undefined;
}

const GAPS: Record<Gap, string> = {
	unreadable: `A row of this run in the data table ${TABLE_NAME} cannot be read: it was changed, or another version of this package has written it.`,
	otherNode: `The rows in the data table ${TABLE_NAME} are those of another node with this name.`,
	twoFirstTries: `Two executions began in the same millisecond, and n8n does not say which of them this one repeats.`,
	rowsRemoved: `Rows of this run are missing in the data table ${TABLE_NAME}.`,
	takenOverWithGap: `Rows of this run were missing in the data table ${TABLE_NAME} when it was retried before.`,
};
