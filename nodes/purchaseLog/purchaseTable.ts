import type { IDataObject, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { wordsOf } from '../../core/text';
import { TABLE_NAME, type PurchaseRow } from '../../core/purchases/purchaseRow';
import type { PurchaseTable, RunOfNode } from '../../core/purchases/purchaseTable';
import { realClock } from '../connection/transport';
import { cleanUp } from './cleanUp';
import { runDataTableNode, writeInBackground } from './dataTableNode';
import { findTable, forgetTable, inSequence, matching, onRows } from './table';

/** Orders whose requests are about to be sent gather for so long: they share one write, and one reading of their keys. */
const GATHER_MS = 5;

/** IDs and ends wait for each other for so long. With the write it takes less than a second. */
const COLLECT_MS = 300;

/** n8n has a limit of parameters per statement; so many rows at once were measured. */
const ROWS_AT_ONCE = 1000;

/** A run that has more rows cannot be read. */
const MOST_ROWS_OF_RUN = 50_000;

/** Keys at once, and rows of theirs: n8n gives up a reading of more than 1,000 rows when rows are added meanwhile. */
const KEYS_AT_ONCE = 100;
const MOST_ROWS_OF_KEYS = 1000;

/**
 * Rows that nobody waits for are written again after these pauses: the table may have been removed, or the database be
 * locked.
 */
const PAUSES_MS = [500, 2000];

/** Rows that are written together, soon or at once. */
interface Later {
	rows: PurchaseRow[];
	now: AbortController;
}

/** One of those that gather until they are worked on together. */
interface Gathered<T, Result> {
	of: T;
	resolve: (result: Result) => void;
	reject: (why: unknown) => void;
}

/** The data table of n8n that holds the purchase log of the workflow's project. */
export class N8nPurchaseTable implements PurchaseTable {
	private later?: Later;

	/** The writes that nobody waits for, while they last. */
	private readonly writes = new Set<Promise<void>>();

	readonly insert: (row: PurchaseRow) => Promise<void>;

	readonly rowsOfKey: (keyHash: string) => Promise<unknown[]>;

	/** Of one run: those who ask together get the same answer. */
	readonly rowsOfOthers: PurchaseTable['rowsOfOthers'];

	/** @param tell is told why rows that nobody waits for are missing */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly tell: (why: string) => void,
	) {
		this.insert = gathering(async (rows) => await this.insertAll(rows));
		this.rowsOfKey = gathering(async (keys) => await this.rowsOfKeys(keys));
		const ofOthers = gathering(async (all: Array<{ run: RunOfNode; since: INodeParameters[] }>) => {
			const [first] = all;
			const rows = first === undefined ? [] : await this.rowsOfNode(first.run, first.since);
			return all.map(() => rows);
		});
		this.rowsOfOthers = async ({ execution, ...run }, since) =>
			await ofOthers({
				run,
				since: [
					{ keyName: 'execution', condition: 'neq', keyValue: execution },
					{ keyName: 'id', condition: 'gt', keyValue: since },
				],
			});
	}

	insertLater(row: PurchaseRow): void {
		if (this.later !== undefined) {
			this.later.rows.push(row);
			return;
		}
		this.later = { rows: [row], now: new AbortController() };
		const write = this.writeLater(this.later);
		this.writes.add(write);
		void write.then(() => this.writes.delete(write));
	}

	async flush(): Promise<void> {
		this.later?.now.abort();
		await Promise.all(this.writes);
	}

	async rowsOfRun(run: RunOfNode): Promise<IDataObject[]> {
		return await this.rowsOfNode(run);
	}

	/** Those of the node's ID, and others of its name: n8n's conditions hold all together, or any of them. */
	private async rowsOfNode({ node, node_id: id, ...run }: RunOfNode, more: INodeParameters[] = []) {
		const ofRun = [equals('origin', run.origin), equals('workflow_id', run.workflow_id)];
		const ofId = await this.rowsWith([...ofRun, equals('node_id', id), ...more]);
		const isOther = { keyName: 'node_id', condition: 'neq', keyValue: id };
		const ofName = await this.rowsWith([...ofRun, equals('node', node), isOther, ...more]);
		return [...ofId, ...ofName].sort((one, other) => Number(one.id) - Number(other.id));
	}

	private async rowsWith(conditions: INodeParameters[]): Promise<IDataObject[]> {
		const rows = await this.use('get', { ...matching(conditions), returnAll: false, limit: MOST_ROWS_OF_RUN });
		if (rows.length >= MOST_ROWS_OF_RUN) throw new Error(`the run has more than ${MOST_ROWS_OF_RUN} rows`);
		return rows;
	}

	private async insertAll(rows: PurchaseRow[]): Promise<void[]> {
		for (const part of inParts(rows, ROWS_AT_ONCE)) await this.use('insert', INSERT, part);
		return rows.map(() => undefined);
	}

	/**
	 * Looks for the table by its name each time: one that somebody has renamed keeps its ID, and other workflows buy by the
	 * rows of a new one.
	 */
	private async rowsOfKeys(keys: string[]): Promise<IDataObject[][]> {
		forgetTable(this.context);
		const found: IDataObject[] = [];
		const ofMany = inParts([...new Set(keys)], KEYS_AT_ONCE);
		for (let part = ofMany.shift(); part !== undefined; part = ofMany.shift()) {
			const conditions = part.map((key) => equals('key_hash', key));
			const filter = { matchType: 'anyCondition', filters: { conditions } };
			const rows = await this.use('get', { ...filter, ...inSequence('DESC'), limit: MOST_ROWS_OF_KEYS });
			if (rows.length < MOST_ROWS_OF_KEYS || part.length === 1) found.push(...rows);
			else ofMany.push(...inParts(part, Math.ceil(part.length / 2)));
		}
		return keys.map((key) => found.filter(({ key_hash: keyHash }) => keyHash === key));
	}

	/** Somebody may have removed the table since its ID was learned, so a second try looks for it again. */
	private async use(operation: string, parameters: INodeParameters, rows?: PurchaseRow[]): Promise<IDataObject[]> {
		const once = async () =>
			await runDataTableNode(this.context, onRows(await findTable(this.context), operation, parameters), rows);
		return await once().catch(async () => {
			forgetTable(this.context);
			return await once();
		});
	}

	private async writeLater(later: Later): Promise<void> {
		await realClock.sleep(COLLECT_MS, later.now.signal);
		this.later = undefined;
		try {
			for (const part of inParts(later.rows, ROWS_AT_ONCE)) await this.write(part);
		} catch (thrown) {
			const why = wordsOf(thrown);
			this.tell(why);
			// The run may have ended by now.
			this.context.logger.warn(
				`Generation Gateway: ${later.rows.length} rows are missing in the data table "${TABLE_NAME}" (${why}), execution ${this.context.getExecutionId()}`,
			);
		}
		// Where n8n's tables are full, that is what makes room.
		const tableId = await findTable(this.context).catch(() => undefined);
		if (tableId !== undefined) cleanUp(this.context, tableId);
	}

	private async write(rows: PurchaseRow[]): Promise<void> {
		const signal = this.context.getExecutionCancelSignal();
		for (const pauseMs of PAUSES_MS) {
			const isWritten = await this.writeOnce(rows).then(
				() => true,
				() => false,
			);
			if (isWritten) return;
			await realClock.sleep(pauseMs, signal);
			// Nothing can be looked for when the time of the execution is over.
			if (!signal?.aborted) forgetTable(this.context);
		}
		await this.writeOnce(rows);
	}

	private async writeOnce(rows: PurchaseRow[]): Promise<void> {
		const parameters = onRows(await findTable(this.context), 'insert', INSERT);
		const write = this.context.getExecutionCancelSignal()?.aborted ? writeInBackground : runDataTableNode;
		await write(this.context, parameters, rows);
	}
}

const INSERT = { columns: { mappingMode: 'autoMapInputData', value: null }, options: { optimizeBulk: true } };

function equals(keyName: string, keyValue: string): INodeParameters {
	return { keyName, condition: 'eq', keyValue };
}

/** Calls for one `T` each that come close together become one call for all of them, one such call after the other. */
function gathering<T, Result>(work: (all: T[]) => Promise<Result[]>): (of: T) => Promise<Result> {
	let gathered: Array<Gathered<T, Result>> = [];
	let last: Promise<void> = Promise.resolve();
	const workOnAll = async () => {
		await realClock.sleep(GATHER_MS);
		const all = gathered;
		gathered = [];
		await work(all.map(({ of }) => of)).then(
			(results) => all.forEach(({ resolve }, index) => resolve(results[index] as Result)),
			(why: unknown) => all.forEach(({ reject }) => reject(why)),
		);
	};
	return async (of) =>
		await new Promise<Result>((resolve, reject) => {
			if (gathered.push({ of, resolve, reject }) === 1) last = last.then(workOnAll);
		});
}

function inParts<T>(all: T[], size: number): T[][] {
	const starts = Array.from({ length: Math.ceil(all.length / size) }, (_, part) => part * size);
	return starts.map((start) => all.slice(start, start + size));
}
