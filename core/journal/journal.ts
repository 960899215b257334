import { untilAborted } from '../abort';
import { asGatewayError, gatewayError, stoppedError, type GatewayError } from '../errors';
import { steady, takingBreaks, type Clock } from '../clock';
import type { JsonObject } from '../json';
import { OLDEST_ROW_MS } from '../limits';
import { TURN_WITHIN_MS, type RowBudget, type RowPace, type RowPermit } from '../account/rowBudget';
import { INTERRUPTED, notRecorded, tooSlow, UNREADABLE } from './marks';
import type { RequestOutcome, Submission, WriteAhead, FoundMarks, Marks } from './marks';
import type { OrderLedger } from '../orders/ledger';
import type { Purchase } from '../orders/order';
import { errorOf, mayGoOn } from '../orders/states';
import { wordsOf } from '../text';
import { gapOf, GAPS, gapSinceHandOver, leasesIn, ROWS_GONE, submittedBy, toMemory } from './fence';
import type { HandedOverRun, Memory } from './fence';
import { claimOthers, type KeyClaims } from './purchaseKey';
import {
	asTakenOver,
	GAP_CODE,
	SENDS_NOTHING_CODE,
	mostTries,
	nameEarlierTasks,
	purchaseOf,
	readRun,
	replay,
	takeUpBought,
	withoutFreed,
	UnsettledOrders,
} from './replay';
import type { RunRows } from './replay';
import { isOfPoller, journalRow, LEASE, nameOfRun, patternOfRun, rowOfAttempt, RUN, TAKEN_BACK } from './row';
import type { AttemptRow, AttemptState, JournalRow, RunColumns, RunIdentity } from './row';
import { type JournalTable, NoTableError, outlasting, PAUSES_MS } from './table';

/** The end of a run waits so long for rows at the most: a result is worth more than they are. */
const MOST_WAIT_MS = 5000;

/** Orders whose requests are about to be sent gather for so long, and for so many rows: they share one write. */
const GATHER_MS = 5;
const ROWS_AT_ONCE = 90;

/** The pauses after which marks are asked for again. Another retry removes those of its question within milliseconds. */
const ASK_AGAIN_MS = [100, 200, 400];

/** The surroundings of the journal of a run. */
export interface JournalPorts {
	columns: Omit<RunColumns, 'first' | 'run'>;
	identity: RunIdentity;
	/** Without rows, nothing may be bought. */
	needsRows?: boolean;
	/** A person's retry, or an execution that the run was handed to: earlier ones have rows, or had some. */
	isRetry: boolean;
	/** Present where the run was handed over, and its first try is known. */
	handedOver?: HandedOverRun;
	/** The run began so long ago that rows of it may have been removed. */
	isOld: boolean;
	table: JournalTable;
	/** They say what may be submitted where rows do not tell, or cannot be written. */
	marks: Marks;
	rows: Pick<RowBudget, 'take'>;
	pace: RowPace;
	ledger: OrderLedger;
	clock: Clock;
	/** Asked after the look, before anything is sent: false where no execution waits for it any more. Absent: the signal tells. */
	isWanted?: () => Promise<boolean>;
	/** Tells the user why rows are missing. */
	tell: (why: string) => void;
}

/** An order that wants to write its row. */
interface Joining {
	order: Purchase;
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

	readonly turnWithinMs = TURN_WITHIN_MS;

	/** The error of all that is to be submitted from now on. */
	private stopped?: GatewayError;

	private readonly joining: Joining[] = [];

	private isInserting = false;
	/** The last group of rows could not be written for a minute: the next ones are tried once, or each would wait as long. */
	private hasGivenUp = false;

	private attempts = 0;
	private marking?: Promise<void>;
	private readonly permits = new Map<Purchase, RowPermit>();

	/** The times before the rows of orders were written. */
	private readonly writtenAtMs = new WeakMap<Purchase, number>();

	private readonly unsettled: UnsettledOrders;

	private readonly clock: Clock;

	/** A task of the run that had failed before this execution took over. */
	failedTask?: string;

	/** The tries of Retry On Fail until then, as far as the rows show them: most tasks of one item. */
	tries = 0;
	private missesFirstTry = false;
	/** The part of the journal that Purchase Keys use. */
	readonly keys: KeyClaims;

	/** Tells the names of this process from those of another one with the same execution. */
	private readonly stamp: string;

	constructor(readonly ports: JournalPorts) {
		this.clock = steady(ports.clock);
		this.unsettled = new UnsettledOrders(ports.ledger, this.clock);
		this.run = nameOfRun(ports.identity);
		const { executionId } = ports.ledger.scope;
		this.stamp = `${ports.clock.now().toString(36)}${Math.floor(ports.clock.random() * 36 ** 4).toString(36)}`;
		const known = ports.ledger.journal as Partial<Memory> | undefined;
		this.memory = known?.executionId === executionId ? (known as Memory) : toMemory(executionId, ports, known);
		ports.ledger.journal = this.memory as unknown as JsonObject;
		// Where rows could not be read before, they are read again.
		if (this.memory.doubt !== undefined && this.memory.hasTakenOver) ports.marks.doubt(this.memory.doubt);
		const { error } = ports.handedOver?.claim ?? {};
		if (error !== undefined) this.stopped = notRecorded(error);
		this.keys = {
			rowsOfKey: async (keyHash) => await ports.table.rowsOfKey(keyHash),
			...{ clock: this.clock, wallClock: ports.clock },
			...{ executionId, run: ports.ledger.run, ownRuns: ports.ledger.ownRuns, workflowId: ports.identity.workflowId },
			...{ own: new WeakMap(), gaveWay: new WeakSet(), memory: this.memory },
		};
	}

	/** The run as the executions need it that it is handed to. */
	get toHandOver(): Omit<HandedOverRun, 'claim'> & { lease?: string; table?: string } {
		const { first, nextNumber, isMarked = false, isClaimed, lease, leases } = this.memory;
		const { id: table } = this.ports.table;
		const ignored = leases.filter((name) => name !== lease);
		const named = isClaimed && lease !== undefined && { lease };
		return { first, nextNumber, isMarked, ...named, ...(ignored.length > 0 && { ignored }), ...(table && { table }) };
	}

	/** The journal of an execution that has handed its run over, but goes on with it. */
	takenBack(): Journal {
		this.ports.ledger.journal = {};
		const journal = new Journal({ ...this.ports, handedOver: this.toHandOver });
		Object.assign(journal.memory, { isTakenBack: true, isMarked: this.memory.isMarked } satisfies Partial<Memory>);
		return journal;
	}

	/** It goes on with a run on which others may have worked before. */
	private get takesOver(): boolean {
		return this.ports.isRetry || this.memory.isTakenBack === true;
	}

	/** The execution that an earlier try has handed the run to, as far as the rows tell, and the reason why it may be that of another run. */
	async findSupervisor(): Promise<{ execution: string; sends: boolean; gap?: string } | undefined> {
		const { leases = [] } = (await this.readRun(takingBreaks(this.clock)).catch(() => undefined)) ?? {};
		const last = leases.filter(({ attempt }) => isOfPoller(attempt)).at(-1);
		const firstTries = new Set(leases.flatMap(({ first }) => first || []));
		const gap = firstTries.size > 1 && { gap: GAPS.twoFirstTries };
		return last && { execution: last.execution, sends: last.code !== SENDS_NOTHING_CODE, ...gap };
	}

	/** True where rows do not tell all that was sent. */
	get isInDoubt(): boolean {
		return this.memory.doubt !== undefined || this.stopped !== undefined;
	}

	/** True where n8n had no table before the first request: the run has no rows. */
	get isWithoutRows(): boolean {
		return this.memory.withoutRows !== undefined;
	}

	/** Lets a retry, or the execution that the run was handed to, go on with what those before it have created. */
	async takeOver(orders: readonly Purchase[]): Promise<void> {
		const { ledger, clock, handedOver } = this.ports;
		const mayBeBought = ({ state, isRetried }: Purchase) =>
			state === 'planned' || (handedOver !== undefined && isRetried);
		if (!this.takesOver || this.memory.hasTakenOver || !orders.some(mayBeBought)) return;
		const breakIfDue = takingBreaks(clock);
		delete this.memory.doubt;
		if (handedOver?.claim === undefined) await this.claim();
		const read = async () => await this.readRun(breakIfDue);
		// Without a lease, nothing is sent whatever the rows say: they are not worth another wait.
		const rows = await (this.stopped === undefined ? outlasting(clock, read) : read()).catch((thrown: unknown) => {
			this.ports.tell(wordsOf(thrown));
			return undefined;
		});
		// Without its lease, an execution that goes on elsewhere would not see it. The next try takes over again: what was sent
		// until then is in no row that this one has read.
		this.memory.isClaimed = this.stopped === undefined;
		this.memory.hasTakenOver = this.memory.isClaimed && rows !== undefined;
		if (rows === undefined) return this.doubt(UNREADABLE);
		this.memory.first ||= rows.first;
		this.memory.nextNumber = Math.max(rows.nextNumber, handedOver?.nextNumber ?? 0);
		// After the rows: a table that is cleared in between would look like a run that has sent nothing.
		const gap = await this.findGap(rows);
		const own = rows.leases.find(({ attempt }) => attempt === this.memory.lease);
		if (own !== undefined) this.unsettled.nowInDatabaseMs(own.createdAt);
		const attempts = this.attemptsOf(rows);
		// One in whose place another was submitted is no failure of the run any more.
		const isFailed = ({ state }: AttemptRow, at: number) => state === 'failed' && attempts[at]?.state !== 'failed';
		this.failedTask = rows.attempts.find(isFailed)?.task_id;
		this.tries = mostTries(rows.attempts);
		if (handedOver !== undefined) {
			takeUpBought(attempts, orders, clock.now());
			await breakIfDue();
			nameEarlierTasks(attempts, orders);
		}
		const { goOn, inDoubt } = await replay(attempts, ledger, orders, breakIfDue);
		for (const [order, row] of goOn) order.purchase = purchaseOf(order, row.attempt);
		this.unsettled.add(inDoubt);
		if (gap !== undefined) this.doubt(gap);
	}

	/** Writes the own lease, before rows are read. Where that is not possible, nothing is submitted. */
	private async claim(): Promise<void> {
		const { clock, table } = this.ports;
		this.stopped = undefined;
		const claim = async () =>
			await table.insertAndLook([this.toLease({ attempt: this.nameLease() })], [this.run]).catch((thrown: unknown) => {
				if (!(thrown instanceof NoTableError)) throw thrown;
				this.stopped = notRecorded(thrown);
			});
		await outlasting(clock, claim).catch((thrown: unknown) => (this.stopped = notRecorded(thrown)));
	}

	/** The reason why rows do not tell all that those before have sent. */
	private async findGap(rows: RunRows): Promise<string | undefined> {
		const { handedOver } = this.ports;
		if (handedOver !== undefined)
			return gapSinceHandOver(rows, handedOver, this.stopped === undefined ? this.memory.lease : undefined);
		const { gap, marks } = await this.findGapOfTries(rows);
		this.memory.missed = { marks: marks?.withRows === false, rows: rows.nextNumber === 0 };
		this.missesFirstTry = !rows.leases.some(({ execution, first }) => execution === first);
		return gap;
	}

	/** To ask for marks is to write them for a moment: those that another retry has found not to be there look like marks until it has removed them. */
	private async findGapOfTries(rows: RunRows): Promise<{ gap?: string; marks?: FoundMarks }> {
		const { clock, isOld } = this.ports;
		const ask = async () => {
			const marks = await this.ports.marks.find().catch(() => undefined);
			return { marks, gap: gapOf(rows, marks, { isOld, isFirstKnown: this.memory.isFirstKnown }) };
		};
		let found = await ask();
		for (const pauseMs of ASK_AGAIN_MS) {
			if (found.gap === undefined || rows.gap !== undefined || isOld) break;
			// By chance, or two retries would ask at the same moments.
			await clock.sleep(pauseMs * (1 + 2 * clock.random()));
			found = await ask();
		}
		if (found.gap !== undefined || rows.nextNumber > 0 || rows.leases.some(({ first }) => first !== '')) return found;
		// Neither a row of its tries nor a mark: nothing was sent, or the clean-up of a large table and n8n's own have removed all of it.
		const lacksRows = await this.ports.table.lacksRows().catch(() => true);
		return lacksRows ? { ...found, gap: GAPS.rowsRemoved } : found;
	}

	/** The orders of a retry whose requests may get an outcome yet: they are told, or submitted again, when that is over. */
	isUnsettled(order: Purchase): boolean {
		return this.unsettled.has(order);
	}

	/** Reads again until all of these have an outcome, or cannot get one any more: the ledger knows then what was bought, or is in doubt. */
	async settle(signal?: AbortSignal): Promise<void> {
		await this.unsettled.settle(async () => this.attemptsOf(await this.readRun(takingBreaks(this.clock))), signal);
	}

	/** The attempts as this execution has to take them: only a person's retry buys again what has failed. */
	private attemptsOf({ attempts }: RunRows): AttemptRow[] {
		return this.ports.handedOver === undefined ? attempts : asTakenOver(attempts);
	}

	async beforeUploads(order: Submission): Promise<void> {
		if (this.memory.doubt !== undefined || this.isWithoutRows) await this.ports.marks.beforeUploads(order);
		if (this.stopped !== undefined) throw this.stopped;
	}

	async isOverruled(order: Submission): Promise<boolean> {
		return this.memory.doubt !== undefined && (await this.ports.marks.isOverruled(order));
	}

	leaves(order: Purchase): void {
		const permit = this.permits.get(order);
		const ageMs = this.clock.now() - (this.writtenAtMs.get(order) ?? Infinity);
		// n8n's database, or its process, has stood still meanwhile.
		if (permit !== undefined && ageMs > OLDEST_ROW_MS) throw tooSlow();
		permit?.leaves();
	}

	/** Notes the outcome of an attempt, without waiting. */
	note(order: Purchase, state: AttemptState, { taskId, error, pauseMs = 1 }: RequestOutcome = {}): void {
		this.ports.marks.note(order, state);
		const permit = this.permits.get(order);
		const status = error?.details.httpStatus;
		if (error !== undefined && status === 429 && pauseMs > 0) permit?.refused(error.details.retryAfterMs ?? pauseMs);
		else if (state !== 'not_accepted' || status !== undefined) permit?.served();
		this.permits.delete(order);
		const row = rowOfAttempt(this.columns, order, state, { taskId, error });
		// Without a purchase there is no attempt, and so no row.
		if (row === undefined) return permit?.end();
		permit?.answered();
		void this.ports.table.insertLater(row).then(() => permit?.end());
	}

	/** Notes the credits that the account has used during the run so far. It is not waited for. */
	noteRun(credits: number, model: string): void {
		if (this.isWithoutRows) return;
		const row = { ...this.columns, attempt: this.stamp, state: RUN, model, credits };
		void this.ports.table.insertLater(journalRow.parse(row));
		void this.ports.table.flush();
	}

	/**
	 * Notes the tasks that have failed. Resolves when the rows are in the table that another try looks for: IDs, outcomes, and failures
	 * that free a Purchase Key, or a purchase that is reused.
	 */
	async end(orders: readonly Purchase[]): Promise<void> {
		const { table } = this.ports;
		const ids = table.flush();
		let freesOthers = false;
		const breakIfDue = takingBreaks(this.clock);
		for (const order of orders) {
			await breakIfDue();
			const { purchase, end } = order;
			if (purchase === undefined) continue;
			if (end?.error?.kind === 'taskFailed') {
				const failed = rowOfAttempt(this.columns, order, 'failed', { error: errorOf(order) });
				if (failed !== undefined) void table.insertLater(failed);
				freesOthers ||= purchase.keyHash !== undefined || order.reused === true;
			}
			// Where its task fails in a later try, that has to be noted.
			if (end !== undefined && !mayGoOn(order)) delete order.purchase;
		}
		const all = table.flush();
		const over = new AbortController();
		await Promise.race([freesOthers ? all : ids, this.clock.sleep(MOST_WAIT_MS, over.signal)]).finally(() =>
			over.abort(),
		);
	}

	/** Resolves when the row of an order is in the table, and no other execution goes on with the run. */
	async begin(order: Purchase, signal?: AbortSignal, onWait?: () => (() => void) | undefined): Promise<void> {
		if (this.memory.doubt !== undefined) await this.ports.marks.begin(order);
		if (this.stopped !== undefined) throw this.stopped;
		const { withoutRows: why } = this.memory;
		if (why !== undefined) return await this.beginWithoutRows(order, why);
		const permit = await this.ports.rows.take(this.ports.pace, { scope: order.scope, signal, onWait });
		if (signal?.aborted) return permit.end();
		const joined = new Promise<void>((resolve, reject) => {
			this.joining.push({ order, permit, signal, resolve, reject });
			if (!this.isInserting) void this.insertAll();
		});
		// A stop does not wait for n8n's database.
		await untilAborted(joined, signal);
		if (signal?.aborted || this.isWithoutRows || this.memory.isMarked === true) return;
		// Before the turn of the request: one that leaves after its turn is too close to the next one.
		this.marking ??= this.mark(order).finally(() => (this.marking = undefined));
		await untilAborted(this.marking, signal);
	}

	/** Writes the mark: from now on, rows must be there. Throws where another process may have sent something that this one has not seen. */
	private async mark({ thing }: Purchase): Promise<void> {
		const { marks, clock, table } = this.ports;
		const { missed } = this.memory;
		const stop = (what: string) => (this.stopped ??= gatewayError('outcomeStillUnknown', { thing, what }));
		const found = await outlasting(clock, async () => await marks.leaveWithRows(this.takesOver ? 'retry' : 'firstTry'));
		if (found === 'taken') throw stop(INTERRUPTED);
		if (found !== 'alone' && missed?.marks !== false) {
			// It has come since this one has looked, and a person may have cleared the table in between: then the rows of the
			// other one are not there (rows of a retry hide that), or its look has not shown this one.
			const hasFirstTry = async () => this.missesFirstTry && (await marks.hasFirstTry(clock));
			if (missed?.rows || (await outlasting(clock, hasFirstTry))) throw stop(GAPS.rowsRemoved);
			const lookAgain = async () => {
				await marks.leaveAgain();
				return await table.look([this.run]);
			};
			const rows = await outlasting(clock, lookAgain).catch((thrown: unknown) => {
				throw notRecorded(thrown);
			});
			this.stopped ??= this.lookAround(rows);
			if (this.stopped !== undefined) throw this.stopped;
			// A retry marks after its lease: it has written into another table, because a person has renamed this one.
			if (found === 'retried' && this.ports.handedOver === undefined) throw stop(GAPS.rowsRemoved);
		}
		this.memory.isMarked = true;
		// From now on, the mark of the run is known to be there.
		if (this.ports.handedOver !== undefined) this.memory.missed = { marks: false, rows: false };
	}

	/** Before the execution sleeps: when it wakes up, another process may have its memory, so it leaves a mark of its own again. */
	async sleep(orders: readonly Purchase[]): Promise<void> {
		await this.end(orders);
		this.memory.isMarked = false;
		this.ports.ledger.countTry();
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
		const { table, clock } = this.ports;
		for (const pauseMs of this.hasGivenUp ? [undefined] : [...PAUSES_MS, undefined]) {
			const left = this.stillWanted(group);
			if (left.length === 0) return;
			if (this.stopped !== undefined) throw this.stopped;
			// Decided for the group before, and never changed: what is sent without rows must be found by all that follow.
			if (this.memory.withoutRows !== undefined) return await this.goOnWithoutRows(left, this.memory.withoutRows);
			const { rows, claims } = this.toRows(left);
			let found: unknown[];
			try {
				found = await table.insertAndLook(rows, claims);
			} catch (thrown) {
				// Nothing was sent before, and n8n has said that it has not written anything: the run has no rows.
				if (thrown instanceof NoTableError && !this.takesOver && this.memory.nextNumber === 0) {
					if (this.ports.needsRows) throw gatewayError('backgroundNotPossible', { why: thrown.message });
					// A table that is full can be read: a retry may have sent with rows what this execution would send without.
					const other = this.leasesIn(await table.look(claims).catch(() => []))?.other;
					if (other !== undefined) throw (this.stopped ??= submittedBy(other));
					return await this.goOnWithoutRows(left, thrown.message);
				}
				this.hasGivenUp = pauseMs === undefined;
				if (pauseMs === undefined) throw notRecorded(thrown);
				this.withdraw(left);
				await clock.sleep(pauseMs);
				continue;
			}
			this.hasGivenUp = false;
			// A try that has ended may be slow to hear of its rows: the next one has these numbers, too, and none must be missing.
			this.memory.nextNumber = Math.max(this.memory.nextNumber, 1 + (rows.at(-1)?.number ?? -1));
			this.memory.isClaimed = true;
			this.memory.isDoubtTold = this.memory.doubt !== undefined;
			if ((await this.ports.isWanted?.()) === false) throw stoppedError();
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

	private toRows(group: Joining[]): { rows: JournalRow[]; claims: string[] } {
		const attempts = group.map(({ order, permit }, index) => {
			const attempt = `${this.memory.executionId}-${this.stamp}-${this.attempts++}`;
			order.purchase = purchaseOf(order, attempt);
			this.keys.own.set(order, (this.keys.own.get(order) ?? new Set()).add(attempt));
			this.permits.set(order, permit);
			this.writtenAtMs.set(order, this.clock.now());
			return journalRow.parse({
				...rowOfAttempt(this.columns, order, 'submitting'),
				number: this.memory.nextNumber + index,
			});
		});
		const keys = group.flatMap(({ order }) => order.request?.keyHash ?? []);
		return { rows: [...this.leasesToWrite(), ...attempts], claims: [this.run, ...new Set(keys)] };
	}

	/** The lease of a first try, or one that tells of a doubt. */
	private leasesToWrite(): JournalRow[] {
		const { isClaimed, doubt, isDoubtTold } = this.memory;
		// Rows that are missing must not look like requests that were not sent, to those who take over from here.
		if (doubt !== undefined && !isDoubtTold) {
			const { lease } = this.memory;
			const told = this.toLease({ attempt: this.nameLease(), code: GAP_CODE });
			this.memory.lease = lease;
			return [told];
		}
		return isClaimed ? [] : [this.toLease({ attempt: this.nameLease() })];
	}

	/** Withdraws rows that may be there after all: only new attempts are sent. */
	private withdraw(group: Joining[]): void {
		for (const { order } of group) {
			const row = rowOfAttempt(this.columns, order, 'not_accepted');
			if (row !== undefined) void this.ports.table.insertLater(row);
		}
	}

	/** Lets those go whose rows are there, unless another execution has taken over, or has bought under the same Purchase Key. */
	private letGo(group: Joining[], found: unknown[]): void {
		this.stopped = this.lookAround(found);
		if (this.stopped !== undefined) throw this.stopped;
		for (const { order, signal, resolve, reject } of group) {
			// It has been withdrawn, and may have another attempt by now.
			if (signal?.aborted) continue;
			const { keyHash } = order.request ?? {};
			const alone = keyHash === undefined ? Promise.resolve() : claimOthers(this.keys, order, found, signal);
			void alone.then(resolve, (thrown: unknown) => {
				if (signal?.aborted) return;
				const error = asGatewayError(thrown);
				this.note(order, 'not_accepted', { error });
				delete order.purchase;
				reject(error);
			});
		}
	}

	/** The error of all orders where another execution goes on with the run, or where rows of it were removed. */
	private lookAround(found: readonly unknown[]): GatewayError | undefined {
		const leases = this.leasesIn(found);
		if (leases === undefined) return notRecorded('a row of this run cannot be read');
		// Beside a lease that is gone, one before it would pass for a newer one.
		if (leases.other !== undefined && (leases.hasOwn || !this.takesOver)) return submittedBy(leases.other);
		return leases.hasOwn ? undefined : notRecorded(ROWS_GONE);
	}

	/** The run has no rows: its marks are its memory. */
	private async goOnWithoutRows(group: Joining[], why: string): Promise<void> {
		const isNew = this.memory.withoutRows === undefined;
		this.memory.withoutRows = why;
		if (isNew) this.ports.tell(why);
		for (const { order, permit, resolve, reject } of group) {
			this.permits.delete(order);
			permit.end();
			delete order.purchase;
			await this.beginWithoutRows(order, why).then(resolve, (thrown: unknown) => reject(asGatewayError(thrown)));
		}
	}

	/** Resolves when the mark of this try is there. Without rows, others would not see what is bought under a Purchase Key. */
	private async beginWithoutRows(order: Purchase, why: string): Promise<void> {
		if (order.request?.keyHash !== undefined) throw gatewayError('purchaseLogUnavailable', { why });
		await this.ports.marks.begin(order);
	}

	/** Lets nothing be submitted that has no ID and that a person does not name. */
	private doubt(what: string): void {
		this.memory.doubt = what;
		this.ports.marks.doubt(what);
	}

	private nameLease(): string {
		const kind = this.memory.isTakenBack ? TAKEN_BACK : 'lease';
		const name = `${this.memory.executionId}-${this.stamp}-${kind}${this.memory.leases.length}`;
		this.memory.leases.push(name);
		this.memory.lease = name;
		return name;
	}

	private toLease(lease: Partial<JournalRow>): JournalRow {
		const { isRetry, handedOver } = this.ports;
		// That of a retry after a crash names no first try: one of the same millisecond that is still silent has to see it, too.
		const first = isRetry && handedOver === undefined && !this.memory.isFirstKnown ? '' : this.memory.first;
		return journalRow.parse({ ...this.columns, first, ...lease, state: LEASE, key_hash: this.run });
	}

	private readonly leasesIn = (found: readonly unknown[]) =>
		leasesIn(found, { run: this.run, memory: this.memory, takesOver: this.takesOver });

	private get columns(): RunColumns {
		return { ...this.ports.columns, run: this.run, first: this.memory.first };
	}

	private async readRun(breakIfDue: () => Promise<void>): Promise<RunRows> {
		const { table, identity, columns, handedOver } = this.ports;
		const values = await table.rowsOfRun(patternOfRun(identity));
		const first = handedOver?.first || (this.memory.isFirstKnown && this.memory.first) || undefined;
		const rows = await readRun(values, { identity, node: columns.node, first }, breakIfDue);
		return handedOver === undefined ? rows : withoutFreed(rows, handedOver.nextNumber, handedOver.claim?.lease);
	}
}
