import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { codeOf, type GatewayError } from '../../core/errors';
import type { TaskLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { errorOf } from '../../core/orders/states';
import { EarlierTries } from '../../core/purchases/earlierTries';
import { purchaseRow, type PurchaseRow, type PurchaseState } from '../../core/purchases/purchaseRow';
import { realClock } from '../connection/transport';
import { cleanUp, matching } from './cleanUp';
import { useDataTable, wordsOf, writeInBackground } from './dataTable';
import { findTable, forgetTable, onRows } from './table';

/** The columns that are the same in all rows of a run. */
export type RunColumns = Pick<
	PurchaseRow,
	'workflow' | 'workflow_id' | 'node' | 'node_id' | 'execution' | 'run' | 'retry' | 'account' | 'base_url'
>;

export interface LogPorts {
	columns: RunColumns;
	/** The reason why this n8n cannot keep a log, if there is one. */
	obstacle?: string;
	/** Remembers, where it survives a crash, that something may be bought without a row. */
	rememberGap: () => Promise<void>;
	/** True where an earlier try has. */
	hasGap: () => Promise<boolean>;
	/** Tells the user why rows are missing. */
	tell: (why: string) => void;
}

/** Orders whose requests are about to be sent gather for so long: they share one write. */
const GATHER_MS = 5;

/** IDs and ends wait for each other for so long. With the write it takes less than a second. */
const COLLECT_MS = 300;

/** n8n has a limit of parameters per statement; so many rows at once were measured. */
const ROWS_AT_ONCE = 1000;

/** A run that has more rows cannot be read. */
const MOST_ROWS_READ = 50_000;

/** The log of one run: a row before each request, one with its ID, and one for its end. */
export class PurchaseLog {
	/** The first row of each order that this run has sent. */
	private readonly begun = new Map<Order, PurchaseRow>();

	private gathered: PurchaseRow[] = [];

	private gathering?: Promise<void>;

	private lastWrite: Promise<void> = Promise.resolve();

	private collected: PurchaseRow[] = [];

	private collecting?: AbortController;

	private gap?: Promise<void>;

	private earlier?: Promise<EarlierTries | undefined>;

	/** The number of attempts, which tells them apart. */
	private attempts = 0;

	private readonly startedAtMs = Date.now();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly ports: LogPorts,
	) {}

	/** Lets a retry go on with what the tries before a crash have created. */
	async continueEarlierTries(orders: readonly Order[], ledger: TaskLedger): Promise<void> {
		if (!this.ports.columns.retry || orders.every(({ state }) => state !== 'planned')) return;
		const tries = await this.readEarlierTries();
		for (const [order, { attempt }] of tries?.tell(ledger, orders) ?? []) {
			const row = this.firstRow(order, attempt);
			if (row.success) this.begun.set(order, row.data);
		}
	}

	/** Writes the row of an order whose request is about to be sent. Resolves when it has been written, or cannot be. */
	async begin(order: Order): Promise<void> {
		const { obstacle, columns } = this.ports;
		if (obstacle !== undefined) return await this.leaveGap(obstacle);
		const row = this.firstRow(order, `${columns.execution}-${this.startedAtMs.toString(36)}-${this.attempts++}`);
		if (!row.success) return await this.leaveGap(`${row.error.issues[0]?.path.join('.')} does not fit`);
		this.begun.set(order, row.data);
		this.gathered.push(row.data);
		this.gathering ??= this.lastWrite = this.gather(this.lastWrite);
		await this.gathering;
	}

	/** Notes what has come of an order. Nobody waits for these rows. */
	note(order: Order, state: PurchaseState, { taskId, error }: { taskId?: string; error?: GatewayError } = {}): void {
		const begun = this.begun.get(order);
		if (begun === undefined) return;
		const code = error === undefined ? '' : codeOf(error);
		const row = { ...begun, time: new Date().toISOString(), state, task_id: taskId ?? order.task?.taskId ?? '', code };
		const checked = purchaseRow.safeParse(row);
		if (!checked.success) return;
		this.collected.push(checked.data);
		if (this.collecting === undefined) void this.collect((this.collecting = new AbortController()).signal);
	}

	/** Another execution goes on and submits without rows: a retry is as careful as without a log then. */
	async handOver(): Promise<void> {
		await (this.gap ??= this.ports.rememberGap());
	}

	/** Notes how the orders of this run have ended. Those that are still running have no end yet. */
	end(orders: readonly Order[]): void {
		for (const order of orders) {
			const state = endOf(order);
			if (state !== undefined) this.note(order, state, { error: errorOf(order) });
		}
		this.collecting?.abort();
	}

	/** The rows of earlier tries of this run; undefined where their rows do not tell what they have bought. */
	async readEarlierTries(): Promise<EarlierTries | undefined> {
		return await (this.earlier ??= this.read());
	}

	private firstRow({ thing, model, item, request }: Order, attempt: string) {
		return purchaseRow.safeParse({
			...this.ports.columns,
			...{ time: new Date().toISOString(), state: 'submitting', thing, model, item, attempt },
			request_hash: request?.hash,
		});
	}

	private async read(): Promise<EarlierTries | undefined> {
		const { run, workflow_id: workflowId, node_id: nodeId } = this.ports.columns;
		const equals = (keyName: string, keyValue: string) => ({ keyName, condition: 'eq', keyValue });
		const conditions = [equals('run', run), equals('workflow_id', workflowId), equals('node_id', nodeId)];
		try {
			if (this.ports.obstacle !== undefined || (await this.ports.hasGap())) return undefined;
			const limits = { returnAll: false, limit: MOST_ROWS_READ };
			const rows = await this.use('get', { ...matching(conditions), ...limits });
			return rows.length < MOST_ROWS_READ ? EarlierTries.read(rows) : undefined;
		} catch (thrown) {
			this.ports.tell(wordsOf(thrown));
			return undefined;
		}
	}

	private async gather(last: Promise<void>): Promise<void> {
		await realClock.sleep(GATHER_MS);
		await last;
		const rows = this.gathered;
		this.gathered = [];
		this.gathering = undefined;
		try {
			for (const part of inParts(rows)) await this.use('insert', INSERT, part);
		} catch (thrown) {
			await this.leaveGap(wordsOf(thrown));
		}
	}

	/** Somebody may have removed the table since its ID was learned, so a second try looks for it again. */
	private async use(operation: string, parameters: INodeParameters, rows?: PurchaseRow[]) {
		const once = async () =>
			await useDataTable(this.context, onRows(await findTable(this.context), operation, parameters), rows);
		return await once().catch(async () => {
			forgetTable(this.context);
			return await once();
		});
	}

	private async leaveGap(why: string): Promise<void> {
		this.ports.tell(why);
		await (this.gap ??= this.ports.rememberGap());
	}

	private async collect(signal: AbortSignal): Promise<void> {
		await realClock.sleep(COLLECT_MS, signal);
		const rows = this.collected;
		this.collected = [];
		this.collecting = undefined;
		try {
			const tableId = await findTable(this.context);
			const parameters = onRows(tableId, 'insert', INSERT);
			for (const part of inParts(rows)) await writeInBackground(this.context, parameters, part);
			cleanUp(this.context, tableId);
		} catch (thrown) {
			this.ports.tell(wordsOf(thrown));
		}
	}
}

const INSERT = { columns: { mappingMode: 'autoMapInputData', value: null }, options: { optimizeBulk: true } };

function inParts(rows: PurchaseRow[]): PurchaseRow[][] {
	const starts = Array.from({ length: Math.ceil(rows.length / ROWS_AT_ONCE) }, (_, part) => part * ROWS_AT_ONCE);
	return starts.map((start) => rows.slice(start, start + ROWS_AT_ONCE));
}

/** Refused and unknown ones are noted when the request ends. */
function endOf({ end, then, thing }: Order): PurchaseState | undefined {
	if (end?.as === 'done') {
		const hasEnded = thing !== 'task' || (then !== 'nothing' && end.output?.json.status === 'completed');
		return hasEnded ? 'completed' : undefined;
	}
	if (end?.as !== 'failed' || end.error?.kind !== 'taskFailed') return undefined;
	return end.error.details.permanent ? 'failed_permanently' : 'failed';
}
