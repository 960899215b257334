import type { IDataObject, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { TABLE_NAME } from '../../core/labels';
import type { JournalRow } from '../../core/journal/row';
import { PAUSES_MS, type JournalTable } from '../../core/journal/table';
import { seenRows } from '../../core/processMemory';
import { wordsOf } from '../../core/text';
import { realClock } from '../connection/transport';
import { cleanUp, MOST_ROWS } from './cleanUp';
import { runDataTableNodes, writeInBackground } from './dataTableNode';
import {
	asNoTable,
	findTable,
	forgetTable,
	inSequence,
	knownTable,
	matching,
	matchingAny,
	onRows,
	readIfNamed,
	rememberSeen,
	seenBefore,
	where,
} from './purchasesTable';

/** Runs that ask for their Purchase Keys gather for so long: they share one reading. */
const GATHER_MS = 5;

/** n8n gives up a reading of more than 1,000 rows when rows are added meanwhile, and writes so many as fast as was measured. */
const ROWS_AT_ONCE = 1000;

/** Trouble is told after so many tries of rows that no request waits for: the end of a run, which shows it, comes before the last one. */
const TOLD_AFTER = 3;

/** The most claims, or requests, that are looked for at once: n8n's database has a limit of parameters. */
const VALUES_AT_ONCE = 100;

/** The clocks of n8n's processes and of its database may differ so much. */
const CLOCKS_DIFFER_MS = 60_000;

/** A run that has more rows cannot be read. */
const MOST_ROWS_OF_RUN = 50_000;

const INSERT = { columns: { mappingMode: 'autoMapInputData', value: null }, options: { optimizeBulk: true } };

/** The data table of n8n that holds the journal of the workflow's project. */
export class N8nJournalTable implements JournalTable {
	/** The highest number of a row that this process had seen when the execution began. Of no use where there are several claims. */
	readonly seenId: number;

	/** The rows of those keys that are asked for at the same time are read together. */
	readonly rowsOfKey: (keyHash: string) => Promise<unknown[]>;

	/** The table whose number `seenId` is. */
	private readonly seenIn?: string;

	/** The last table of this run: where the execution has been stopped, none can be looked for. */
	private lastTable?: string;

	private readonly later: LaterRows;

	/**
	 * @param tell is told why rows for which no request waits are missing
	 * @param beganAtMs the time at which the first try of the execution began; unix milliseconds
	 * @param ofRun the ID of the table that the run has used in other executions: it keeps it, also where a person has renamed it
	 */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly tell: (why: string) => void,
		private readonly beganAtMs: number,
		private readonly ofRun?: string,
	) {
		this.seenIn = ofRun ?? knownTable(context);
		this.seenId = seenBefore(this.seenIn ?? '', beganAtMs);
		this.rowsOfKey = gathering(async (keys) => await this.rowsOfKeys(keys));
		this.later = new LaterRows({
			write: async (rows) => await this.write(rows),
			pause: async (delayMs) => await realClock.sleep(delayMs, this.signal),
			isStopped: () => this.isStopped,
			tell: (why) => this.tell(wordsOf(why)),
			giveUp: (count, why) => this.giveUp(count, wordsOf(why)),
			rest: () => this.cleanUp(),
		});
	}

	async insertAndLook(rows: JournalRow[], claims: string[]): Promise<unknown[]> {
		const table = await this.findTable();
		const sinceId = this.sinceIn(table);
		const [part = [], ...others] = inParts(unique(claims), VALUES_AT_ONCE);
		const found = await this.later.alongWith(async (along) => {
			const insert = onRows(table, 'insert', INSERT);
			const look = onRows(table, 'get', newest('key_hash', part, others.length === 0 ? sinceId : 0));
			return await runDataTableNodes(this.context, [insert, look], [...rows, ...along]).catch(
				async (thrown: unknown) => await this.refuse(thrown),
			);
		});
		rememberSeen(table, found);
		return await this.complete(table, claims, sinceId, found);
	}

	async look(claims: string[]): Promise<unknown[]> {
		return await this.twice(async (table) => await this.complete(table, claims, this.sinceIn(table)));
	}

	async insertLater(row: JournalRow): Promise<void> {
		await this.later.add(row);
	}

	async flush(): Promise<void> {
		await this.later.flush();
	}

	async rowsOfRun(pattern: string): Promise<unknown[]> {
		return await this.twice(async (table) => {
			const found: IDataObject[] = [];
			for (;;) {
				const next = matching([where('run', 'like', pattern), where('id', 'gt', Number(found.at(-1)?.id ?? 0))]);
				const rows = await this.read(table, { ...next, ...inSequence('ASC', ROWS_AT_ONCE) });
				found.push(...rows);
				if (found.length > MOST_ROWS_OF_RUN) throw new Error(`the run has more than ${MOST_ROWS_OF_RUN} rows`);
				if (rows.length < ROWS_AT_ONCE) return found;
			}
		});
	}

	async lacksRows(): Promise<boolean> {
		return await this.twice(async (table) => {
			const numbers = async (parameters: INodeParameters) =>
				(await this.read(table, parameters)).map(({ id }) => Number(id));
			const [newest = 0] = await numbers(inSequence('DESC', 1));
			if (newest < MOST_ROWS) return false;
			const since = new Date(this.beganAtMs - CLOCKS_DIFFER_MS).toISOString();
			let [last = 0] = await numbers({ ...matching([where('createdAt', 'lt', since)]), ...inSequence('DESC', 1) });
			// A row of the run would be among the newest ones, which the clean-up spares.
			if (newest - last < MOST_ROWS) return false;
			for (;;) {
				const next = await numbers({ ...matching([where('id', 'gt', last)]), ...inSequence('ASC', ROWS_AT_ONCE) });
				if (next.some((id, index) => id !== last + 1 + index)) return true;
				if (next.length < ROWS_AT_ONCE) return false;
				last += next.length;
			}
		});
	}

	async rowsOfRequests(requestHashes: string[]): Promise<unknown[]> {
		return await this.twice(async (table) => await this.rowsWith(table, 'request_hash', requestHashes));
	}

	private get signal(): AbortSignal | undefined {
		return this.context.getExecutionCancelSignal();
	}

	private get isStopped(): boolean {
		return this.signal?.aborted ?? false;
	}

	private async findTable(): Promise<string> {
		const table = this.ofRun ?? (await findTable(this.context));
		this.lastTable = table;
		return table;
	}

	get id(): string | undefined {
		return this.lastTable ?? this.ofRun;
	}

	/** The numbers of another table say nothing about the rows of this one. */
	private sinceIn(table: string): number {
		return table === this.seenIn ? this.seenId : 0;
	}

	/** The insert is not tried again here: its rows may be there. The next one looks for the table, which may have been removed. */
	private async refuse(thrown: unknown): Promise<never> {
		forgetTable(this.context);
		const error = asNoTable(thrown);
		// Where n8n's tables are full, that is what makes room.
		if (error !== thrown) this.cleanUp();
		return await Promise.reject(error);
	}

	/**
	 * All rows with these claims.
	 *
	 * @param found what was read with the first of them already
	 */
	private async complete(
		table: string,
		claims: string[],
		sinceId: number,
		found?: IDataObject[],
	): Promise<IDataObject[]> {
		const [claim = '', ...others] = unique(claims);
		if (others.length > 0) return await this.rowsWith(table, 'key_hash', claims, found);
		const rows = found ?? (await this.read(table, newest('key_hash', [claim], sinceId)));
		if (rows.length > 0 || sinceId === 0) return rows;
		// Where a person has cleared the table, SQLite begins at 1 again.
		seenRows.delete(table);
		return await this.read(table, newest('key_hash', [claim], 0));
	}

	/** The table has to have its name now: see `readIfNamed`. */
	private async rowsOfKeys(keys: string[]): Promise<IDataObject[][]> {
		const found = await this.twice(async (table) => {
			const [part = []] = inParts(unique(keys), VALUES_AT_ONCE);
			const first = await readIfNamed(this.context, table, newest('key_hash', part, 0));
			rememberSeen(table, first);
			return await this.rowsWith(table, 'key_hash', keys, first);
		});
		return keys.map((key) => found.filter(({ key_hash: keyHash }) => keyHash === key));
	}

	/**
	 * All rows that have one of these values in the column, the newest first: behind a thousand others, one may tell of an unknown
	 * outcome. Where n8n may have left out some of several values, it is asked for half of them.
	 *
	 * @param first the answer for the first values, where it is there already
	 */
	private async rowsWith(
		table: string,
		column: string,
		values: string[],
		first?: IDataObject[],
	): Promise<IDataObject[]> {
		const found: IDataObject[] = [];
		const parts = inParts(unique(values), VALUES_AT_ONCE);
		let answer = first;
		for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
			const rows = answer ?? (await this.read(table, newest(column, part, 0)));
			answer = undefined;
			const isWhole = rows.length < ROWS_AT_ONCE;
			if (!isWhole && part.length > 1) parts.push(...inParts(part, Math.ceil(part.length / 2)));
			else found.push(...rows, ...(isWhole ? [] : await this.olderThan(table, column, rows)));
		}
		return found.sort((one, other) => Number(other.id) - Number(one.id));
	}

	/** The rows that have the same value in the column as these, and lower numbers than all of them. */
	private async olderThan(table: string, column: string, newer: IDataObject[]): Promise<IDataObject[]> {
		const found: IDataObject[] = [];
		for (let rows = newer; rows.length >= ROWS_AT_ONCE; found.push(...rows)) {
			const { [column]: value, id } = rows.at(-1) ?? {};
			const older = matching([where(column, 'eq', String(value)), where('id', 'lt', Number(id))]);
			rows = await this.read(table, { ...older, ...inSequence('DESC', ROWS_AT_ONCE) });
		}
		return found;
	}

	private async read(table: string, parameters: INodeParameters): Promise<IDataObject[]> {
		const rows = await runDataTableNodes(this.context, [onRows(table, 'get', parameters)]);
		rememberSeen(table, rows);
		return rows;
	}

	/** A person may have removed the table since its ID was learned, so a second try looks for it again and reads all of it. */
	private async twice<T>(work: (table: string) => Promise<T>): Promise<T> {
		const once = async () => await work(await this.findTable());
		return await once().catch(async () => {
			forgetTable(this.context);
			return await once();
		});
	}

	private async write(rows: JournalRow[]): Promise<void> {
		const lastTable = this.isStopped ? this.lastTable : undefined;
		const insert = onRows(lastTable ?? (await this.findTable()), 'insert', INSERT);
		if (this.isStopped) return await writeInBackground(this.context, insert, rows);
		const writing = runDataTableNodes(this.context, [insert], rows, 'outcomes');
		await writing.catch(async (thrown: unknown) => await this.refuse(thrown));
	}

	private giveUp(count: number, why: string): void {
		// The run may have ended by now.
		this.context.logger.warn(
			`Generation Gateway: ${count} rows are missing in the data table "${TABLE_NAME}" (${why}), execution ${this.context.getExecutionId()}`,
		);
	}

	private cleanUp(): void {
		if (this.lastTable !== undefined) cleanUp(this.context, this.lastTable);
	}
}

/** The parameters for the newest rows with one of these values; with a single value, only for rows with a higher number. */
function newest(column: string, values: string[], sinceId: number): INodeParameters {
	const [value = '', ...others] = values;
	const isOfOne = others.length === 0 && sinceId > 0;
	const filter = isOfOne
		? matching([where(column, 'eq', value), where('id', 'gt', sinceId)])
		: matchingAny(column, values);
	return { ...filter, ...inSequence('DESC', ROWS_AT_ONCE) };
}

/**
 * The rows that no request waits for: IDs and ends. An ID is worth as many tries as the row before its request; the end of a run does
 * not wait for all of them. While a write is under way, they gather, and then one write takes all of
 * them, because each costs n8n a sub-execution.
 */
class LaterRows {
	private waiting: Later[] = [];

	/** The rows that were given up: each time that others could be written, they are tried once more. */
	private lost: Later[] = [];

	private readonly promises = new Set<Promise<void>>();

	/** The inserts of other rows that are under way. */
	private inserts = 0;

	/** The writes of these rows that are under way: more than one only once the execution is stopped. */
	private writes = 0;

	constructor(private readonly ports: Ports) {}

	/** Resolves when the row is in the table, or was given up. */
	async add(row: JournalRow): Promise<void> {
		const ended = new Promise<void>((end) => this.waiting.push({ row, failures: 0, end }));
		this.promises.add(ended);
		this.begin();
		await ended;
		this.promises.delete(ended);
	}

	/** Resolves when all rows so far are in the table, or were given up. */
	async flush(): Promise<void> {
		this.takeUpLost();
		this.begin();
		await Promise.all(this.promises);
	}

	private takeUpLost(): void {
		this.waiting.push(...this.lost.splice(0));
	}

	/** Lets an insert of other rows take along those that wait. Where it rejects, they wait again. */
	async alongWith<T>(insert: (rows: JournalRow[]) => Promise<T>): Promise<T> {
		const along = this.take();
		this.inserts++;
		const work = insert(along.map(({ row }) => row));
		const ended = work.then(
			() => {
				endAll(along);
				this.takeUpLost();
			},
			() => void this.waiting.unshift(...along),
		);
		void ended.then(() => {
			this.inserts--;
			this.begin();
		});
		return await work;
	}

	/** Once the execution is stopped, n8n may never tell how what is under way has ended. */
	private mayBegin(underWay: number): boolean {
		return this.waiting.length > 0 && (underWay === 0 || this.ports.isStopped());
	}

	private begin(): void {
		if (this.mayBegin(this.inserts + this.writes)) void this.writeWaiting().then(() => this.ports.rest());
	}

	private async writeWaiting(): Promise<void> {
		this.writes++;
		do {
			const rows = this.take();
			await this.ports.write(rows.map(({ row }) => row)).then(
				() => {
					endAll(rows);
					this.takeUpLost();
				},
				async (why: unknown) => await this.waitAgain(rows, why),
			);
		} while (this.mayBegin(this.inserts));
		this.writes--;
	}

	private async waitAgain(rows: Later[], why: unknown): Promise<void> {
		for (const row of rows) row.failures++;
		const [again, givenUp] = partition(rows, ({ failures }) => failures <= PAUSES_MS.length);
		if (rows.some(({ failures }) => failures === TOLD_AFTER)) this.ports.tell(why);
		const isNew = ({ failures }: Later) => failures === PAUSES_MS.length + 1;
		if (givenUp.some(isNew)) this.ports.giveUp(givenUp.filter(isNew).length, why);
		endAll(givenUp);
		this.lost.push(...givenUp);
		this.waiting.unshift(...again);
		const [first] = again;
		if (first !== undefined) await this.ports.pause(PAUSES_MS[first.failures - 1] ?? 0);
	}

	private take(): Later[] {
		return this.waiting.splice(0, ROWS_AT_ONCE);
	}
}

interface Ports {
	/** Rejects where the rows may not be in the table. */
	write: (rows: JournalRow[]) => Promise<void>;
	/** Waits, but not longer than the execution lasts. */
	pause: (delayMs: number) => Promise<void>;
	isStopped: () => boolean;
	/** Rows could not be written in several tries. */
	tell: (why: unknown) => void;
	/** Rows could not be written in all tries. */
	giveUp: (count: number, why: unknown) => void;
	/** There is nothing more to write now. */
	rest: () => void;
}

/** A row that waits until it is written. */
interface Later {
	row: JournalRow;
	failures: number;
	end: () => void;
}

function endAll(rows: Later[]): void {
	for (const { end } of rows) end();
}

function partition<T>(all: T[], isFirst: (one: T) => boolean): [T[], T[]] {
	return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
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

/** One of those that gather until they are worked on together. */
interface Gathered<T, Result> {
	of: T;
	resolve: (result: Result) => void;
	reject: (why: unknown) => void;
}

const unique = (values: string[]) => [...new Set(values)];

function inParts<T>(all: T[], size: number): T[][] {
	const starts = Array.from({ length: Math.ceil(all.length / size) }, (_, part) => part * size);
	return starts.map((start) => all.slice(start, start + size));
}
