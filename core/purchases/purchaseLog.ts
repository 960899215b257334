import { takingBreaks } from '../clock';
import { asGatewayError, codeOf, type GatewayError } from '../errors';
import type { OrderLedger } from '../orders/ledger';
import type { SentOrders } from '../orders/sentRecord';
import { outlasting } from '../orders/outlasting';
import { notRecorded } from '../orders/writeAheadLog';
import type { Order } from '../orders/order';
import { errorOf } from '../orders/states';
import { wordsOf } from '../text';
import { endOf, nameAttempt, purchaseOf } from './attempts';
import { EarlierTries } from './earlierTries';
import type { LogPorts } from './purchaseTable';
import { giveWay, lastSettledRow, OtherRetries, requestsUnderWay } from './otherRetries';
import { parseManyRows, purchaseRow, RUN } from './purchaseRow';
import type { ParsedRow, PurchaseRow, PurchaseState, StoredRow } from './purchaseRow';
import { SentRequests } from './sentRequests';

/** The facts that are known when something has come of an order. */
interface News {
	taskId?: string;
	error?: GatewayError;
}

/** The end of a run waits so long for rows at the most: a result is worth more than they are. */
const MOST_WAIT_MS = 5000;

/** The log of one run: a row before each request, one with its ID, and one for its end. */
export class PurchaseLog {
	private gap?: Promise<void>;

	private earlier?: Promise<EarlierTries | undefined>;

	private readonly otherRetries = new OtherRetries();

	/** The number of attempts, which tells them apart. */
	private attempts = 0;

	private readonly startedAtMs: number;

	/**
	 * In a retry that has read the rows of the run: the number of the last one before those that another retry may be writing.
	 * It may go by the same rows at the same time: what other executions have written since is theirs. Undefined where there
	 * is none.
	 */
	lastSeenRow?: number;

	constructor(readonly ports: LogPorts) {
		this.lastSeenRow = ports.lastSeenRow;
		this.startedAtMs = ports.clock.now();
	}

	/** The orders of the run: without them, what another retry sends for one of them could be taken for another one's. */
	know(orders: readonly Order[]): void {
		this.otherRetries.know(orders);
	}

	/** Lets a retry go on with what the tries before a crash have created. */
	async continueEarlierTries(orders: readonly Order[], ledger: OrderLedger): Promise<void> {
		if (!this.ports.columns.retry || orders.every(({ state }) => state !== 'planned')) return;
		this.know(orders);
		const tries = await this.readEarlierTries();
		// A later try of the same execution looks from there, too: it may not get to know what another retry has bought since.
		this.lastSeenRow = ledger.firstSeenRow(this.lastSeenRow);
		const goOn = await tries?.restoreLedger(ledger, orders, takingBreaks(this.ports.clock));
		for (const [order, { attempt }] of goOn ?? []) order.purchase = purchaseOf(order, attempt);
	}

	/**
	 * Lets the orders of a run that goes on here go on with what they have created before a crash, where n8n has not saved
	 * that: their rows know it. See `SentRecord`.
	 */
	async recover(orders: readonly Order[]): Promise<SentOrders | undefined> {
		const mayLackRows = await this.ports.hasGap().catch(() => true);
		const rows = await this.readRows(takingBreaks(this.ports.clock));
		const sent = rows && SentRequests.read(rows, this.ports.columns.execution);
		if (sent === undefined) return undefined;
		const areAll = sent.areAll(orders);
		const inDoubt = new Map<Order, number>();
		for (const order of orders) {
			const row = sent.recover(order);
			if (row !== undefined) inDoubt.set(order, Date.parse(row.time));
		}
		return { inDoubt, areAll: areAll && !mayLackRows };
	}

	/**
	 * Writes the row of an order whose request is about to be sent. Resolves when it has been written, or cannot be. Rejects
	 * where nothing may be sent: without the row and a note of that, a retry would take the order for one that was not sent;
	 * and two retries at once must not both send it.
	 */
	async begin(order: Order): Promise<void> {
		const { lastSeenRow } = this;
		const begun = lastSeenRow === undefined ? this.beginOrLeaveGap(order) : this.beginBesideOthers(order, lastSeenRow);
		await begun.catch((thrown: unknown) => {
			const error = asGatewayError(thrown);
			this.note(order, 'not_accepted', { error });
			delete order.purchase;
			throw error;
		});
	}

	/** The same where nothing may be bought without the row. Rejects where it may not be in the table. */
	async claim(order: Order): Promise<void> {
		const { obstacle, executionId, table } = this.ports;
		if (obstacle !== undefined) throw new Error(obstacle);
		const attempt = nameAttempt(executionId, `${this.startedAtMs.toString(36)}-${this.attempts++}`);
		order.purchase = purchaseOf(order, attempt);
		await table.insert(purchaseRow.parse(this.toRow(order, 'submitting')));
	}

	/** Notes what has come of an order, unless its row is from when there was a log. Nobody waits for these rows. */
	note(order: Order, state: PurchaseState, news: News = {}): void {
		const row = purchaseRow.safeParse(this.toRow(order, state, news)).data;
		// Without a purchase there is no attempt, and so no row.
		if (row !== undefined && this.ports.obstacle === undefined) this.ports.table.insertLater(row);
	}

	/** See `SentRecord`. */
	withdrawUnsent(orders: readonly Order[]): void {
		for (const order of orders) {
			if (order.state !== 'planned') continue;
			this.note(order, 'not_accepted');
			delete order.purchase;
		}
	}

	/**
	 * Notes what the account has used during the run so far: each try of a run, and each execution that reports it, has a row, of
	 * which the largest counts. Nobody waits for this row.
	 */
	noteRun(credits: number, model: string): void {
		const { columns, clock, table, obstacle } = this.ports;
		if (obstacle !== undefined) return;
		const about = { thing: RUN, model, item: 0, attempt: '', request_hash: '' };
		const time = new Date(clock.now()).toISOString();
		const row = purchaseRow.safeParse({ ...columns, ...about, time, state: RUN, credits }).data;
		if (row !== undefined) table.insertLater(row);
		void table.flush();
	}

	/**
	 * Marks a gap: this node cannot see, or the rows do not tell, all that was submitted, so a retry is as careful as without
	 * a log. Rejects where that cannot be remembered: then nothing may be submitted.
	 */
	async markGap(): Promise<void> {
		this.gap ??= outlasting(this.ports.clock, this.ports.rememberGap);
		await this.gap.catch((thrown: unknown) => {
			delete this.gap;
			throw notRecorded(thrown);
		});
	}

	/**
	 * Notes how orders have ended. Those that are still running have no end yet. Resolves when the rows are in the table that
	 * another try looks for: IDs, outcomes, and failures that free a key.
	 */
	async end(orders: readonly Order[]): Promise<void> {
		const { table, clock } = this.ports;
		let written = table.flush();
		let isLookedFor = false;
		for (const order of orders) {
			const state = endOf(order);
			if (order.purchase === undefined || state === undefined) continue;
			if (!(order.reused && state === 'completed')) this.note(order, state, { error: errorOf(order) });
			isLookedFor ||= order.purchase.keyHash !== undefined && state === 'failed';
			delete order.purchase;
		}
		const endsWritten = table.flush();
		if (isLookedFor) written = endsWritten;
		const over = new AbortController();
		await Promise.race([written, clock.sleep(MOST_WAIT_MS, over.signal)]).finally(() => over.abort());
	}

	/** The rows of earlier tries of this run; undefined where their rows do not tell what they have bought. */
	async readEarlierTries(): Promise<EarlierTries | undefined> {
		return await (this.earlier ??= this.read());
	}

	private toRow(order: Order, state: PurchaseState, { taskId, error }: News = {}): Partial<PurchaseRow> {
		const { thing, model, item, task, purchase } = order;
		return {
			...this.ports.columns,
			...{ time: new Date(this.ports.clock.now()).toISOString(), state, thing, model, item },
			...{ task_id: taskId ?? task?.taskId ?? '', code: error === undefined ? '' : codeOf(error) },
			...{ attempt: purchase?.attempt, request_hash: purchase?.hash, key_hash: purchase?.keyHash },
		};
	}

	private async read(): Promise<EarlierTries | undefined> {
		const { obstacle, hasGap, tell } = this.ports;
		if (obstacle !== undefined) return undefined;
		const mayLackRows = await hasGap().catch((why: unknown) => {
			tell(wordsOf(why));
			return true;
		});
		const breakIfDue = takingBreaks(this.ports.clock);
		const rows = await this.readRows(breakIfDue);
		if (rows === undefined) return undefined;
		await breakIfDue();
		const nowMs = this.ports.clock.now();
		const underWay = requestsUnderWay(rows, nowMs);
		// What another retry submits right now counts as written after this reading: its order gives way to that.
		this.lastSeenRow = lastSettledRow(rows, underWay, nowMs);
		// One of two retries at once may take the other's question for a gap: both look out for one another all the same.
		if (mayLackRows) return undefined;
		const attempts = new Set<string | undefined>(underWay.map(({ attempt }) => attempt));
		await breakIfDue();
		return EarlierTries.read(rows.filter((row) => !attempts.has(row?.attempt)));
	}

	private async readRows(breakIfDue: () => Promise<void>): Promise<ParsedRow[] | undefined> {
		const { columns, table, tell } = this.ports;
		try {
			return await parseManyRows(await table.rowsOfRun(columns), breakIfDue);
		} catch (thrown) {
			tell(wordsOf(thrown));
			return undefined;
		}
	}

	/** A retry that could not read the log looks for other retries all the same. */
	private async beginOrLeaveGap(order: Order): Promise<void> {
		const { columns, table, tell } = this.ports;
		let other: StoredRow | undefined;
		try {
			await this.claim(order);
			if (columns.retry)
				other = this.otherRetries.find(await table.rowsOfOthers(columns, 0), order, { areRetries: true });
		} catch (thrown) {
			tell(wordsOf(thrown));
			await this.markGap();
		}
		giveWay(other);
	}

	/**
	 * Writes its row first, then looks for rows of others: of two retries that do so, the later reading sees both rows. Who
	 * sees another one gives way, and maybe both do.
	 */
	private async beginBesideOthers(order: Order, since: number): Promise<void> {
		const { columns, table } = this.ports;
		const values = await this.claim(order)
			.then(async () => await table.rowsOfOthers(columns, since))
			.catch((thrown: unknown) => {
				throw notRecorded(thrown);
			});
		giveWay(this.otherRetries.find(values, order));
	}
}
