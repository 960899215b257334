/** n8n's data tables, as its workers and a PostgreSQL share them: what was written first is not always seen first. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { DataTables, type Row } from '../../support/dataTables.mts';
import type { Story } from './story.mts';
import type { TableEvent, TableFate } from './tableFate.mts';
import { WORLD, type Owner, type Time } from './time.mts';

const TABLE_NAME = 'Gateway Purchases';
/** n8n needs so long at the most until it asks the database: a process that dies meanwhile asks nothing. */
const LONGEST_BEGINNING_MS = 40;
/** A statement is on its way to the database for so long at the most, … */
const LONGEST_WAY_MS = 20;
/** … and rows that have their numbers already are seen by others after so long at the most. */
const LONGEST_COMMIT_MS = 150;
/** The longest delay after which a row that n8n has given up is in the table. */
const LONGEST_LATE_MS = 40_000;
const SLOW_MS = { least: 5000, most: 40_000 };
/** n8n answers. */
const ANSWER_MS = 3;
/** What a person does with the table comes so long after the use that it goes by, at the most. */
const LONGEST_EVENT_MS = 250;

/** A row, from the moment at which it was handed to n8n. */
export interface Written {
	row: Row;
	tableId: string;
	/** The process that writes it. */
	owner: Owner;
	issuedAtMs: number;
	/** Absent: no reading has ever shown it. */
	committedAtMs?: number;
	/** It has been removed. */
	goneAtMs?: number;
}

export class LogTables extends DataTables {
	/** All rows that were ever written, whatever has become of them. */
	readonly written: Written[] = [];

	/** What has become of it. */
	readonly happened: Array<{ does: TableEvent['does']; atMs: number }> = [];

	private uses = 0;

	private inserts = 0;

	private readonly lastIds = new Map<string, number>();

	constructor(
		private readonly time: Time,
		private readonly story: Story,
		private readonly fate: TableFate = {},
	) {
		super();
		if (fate.hasOtherColumns) this.tables.push({ id: 'old', name: TABLE_NAME, columns: OF_VERSION_3, rows: [] });
	}

	/** The number of leases that an execution has written. */
	leasesOf(execution: string): number {
		return this.written.filter(
			({ row, committedAtMs }) => row.state === 'lease' && row.execution === execution && committedAtMs !== undefined,
		).length;
	}

	/** A process has died, or was taken for dead. */
	hasDied(): void {
		for (const { does, afterDeathMs } of this.fate.events ?? [])
			if (afterDeathMs !== undefined) this.time.after(afterDeathMs, () => this.happen(does, ' after a death'), WORLD);
	}

	protected override async run(parameters: IDataObject, items: INodeExecutionData[]): Promise<INodeExecutionData[]> {
		const { time, story, fate } = this;
		const operation = String(parameters.operation);
		const use = this.uses++;
		for (const { does, afterUses } of fate.events ?? [])
			if (afterUses === use) time.after(time.random() * LONGEST_EVENT_MS, () => this.happen(does), WORLD);
		await time.pass(1 + time.random() * LONGEST_BEGINNING_MS);
		if (operation === 'insert' && this.inserts++ >= (fate.fullAfter ?? Infinity)) {
			story.visit(fate.fullAfter === 0 ? 'a table that is full from the start' : 'a table that gets full');
			throw new Error('Data table size limit exceeded: 50MB used, limit is 50MB');
		}
		const fails = fate.failing?.includes(use) ?? false;
		if (fails) story.visit('a table that does not answer');
		if (fails && time.random() < 0.4) throw new Error('the database is locked');
		const { owner } = time;
		const wayMs = time.random() * LONGEST_WAY_MS + this.slownessMs(use);
		const rows =
			operation === 'insert'
				? await this.insert(parameters, items, { owner, wayMs, isLost: fails })
				: await this.read(operation, parameters, items, wayMs);
		// The operation is done, although its answer is lost.
		if (fails) throw new Error('the connection to the database was closed');
		if (operation === 'get' && story.phases.get(owner) === 'rows') story.phases.set(owner, 'looked');
		return rows.map((json) => ({ json }));
	}

	private slownessMs(use: number): number {
		if (!this.fate.slow?.includes(use)) return 0;
		this.story.visit('a table that takes long');
		return SLOW_MS.least + this.time.random() * (SLOW_MS.most - SLOW_MS.least);
	}

	private async read(
		operation: string,
		parameters: IDataObject,
		items: INodeExecutionData[],
		wayMs: number,
	): Promise<IDataObject[]> {
		await this.time.pass(wayMs);
		const found = this.perform(operation, parameters, items);
		await this.time.pass(ANSWER_MS);
		return found;
	}

	/** The database goes on with it when the process is dead, or has given it up. */
	private async insert(
		parameters: IDataObject,
		items: INodeExecutionData[],
		{ owner, wayMs, isLost }: { owner: Owner; wayMs: number; isLost: boolean },
	): Promise<IDataObject[]> {
		const { time, story } = this;
		const { value: tableId } = parameters.dataTableId as { value: string };
		this.refuseOthers(tableId, items);
		if (items.some(({ json }) => json.state === 'submitting')) story.phases.set(owner, 'rows');
		const written = items.map(({ json }) => {
			const each: Written = { row: { ...json, id: 0 }, tableId, owner, issuedAtMs: time.nowMs };
			this.written.push(each);
			return each;
		});
		const commitMs = time.random() * LONGEST_COMMIT_MS;
		const lateMs = isLost && time.random() < 0.5 ? time.random() * LONGEST_LATE_MS : 0;
		time.after(wayMs + lateMs, () => this.number(written), WORLD);
		time.after(wayMs + lateMs + commitMs, () => this.commit(parameters, written), WORLD);
		await time.pass(wayMs + commitMs + ANSWER_MS);
		return [{ success: true, insertedRows: items.length }];
	}

	private number(written: Written[]): void {
		for (const { row, tableId } of written) row.id = this.nextIdIn(tableId);
	}

	private commit(parameters: IDataObject, written: Written[]): void {
		const { time, story } = this;
		const createdAt = new Date(time.nowMs).toISOString();
		const [{ tableId }] = written;
		if (!this.tables.some(({ id }) => id === tableId)) return;
		for (const each of written) {
			if (this.isOvertaken(each)) story.visit('an insert behind what was written after it');
			each.committedAtMs = time.nowMs;
			each.row.createdAt = createdAt;
		}
		this.perform(
			'insert',
			parameters,
			written.map(({ row }) => ({ json: { ...row } })),
		);
	}

	/** True where its attempt was withdrawn meanwhile, or another execution has taken its run over. */
	private isOvertaken({ row: { attempt, state, execution, key_hash: run }, issuedAtMs }: Written): boolean {
		if (state !== 'submitting') return false;
		return this.written.some(
			({ row, committedAtMs, ...other }) =>
				committedAtMs !== undefined &&
				other.issuedAtMs > issuedAtMs &&
				(row.attempt === attempt || (row.state === 'lease' && row.execution !== execution && row.key_hash !== run)),
		);
	}

	/** Each table counts for itself; on SQLite, from 1 again when it is cleared. */
	private nextIdIn(tableId: string): number {
		const last = (this.lastIds.get(tableId) ?? 0) + 1;
		this.lastIds.set(tableId, last);
		if (!this.fate.isSqlite) return last;
		const rows = this.tables.find(({ id }) => id === tableId)?.rows ?? [];
		const underWay = this.written.filter((each) => each.tableId === tableId && each.committedAtMs === undefined);
		return 1 + Math.max(0, ...rows.map(({ id }) => id), ...underWay.map(({ row }) => row.id));
	}

	private refuseOthers(tableId: string, items: INodeExecutionData[]): void {
		const columns = this.tables.find(({ id }) => id === tableId)?.columns as Array<{ name: string }> | undefined;
		const known = new Set(columns?.map(({ name }) => name));
		const unknown = items.flatMap(({ json }) => Object.keys(json)).find((name) => !known.has(name));
		if (columns !== undefined && unknown !== undefined) throw new Error(`unknown column name '${unknown}'`);
	}

	private happen(does: TableEvent['does'], when = ''): void {
		const { time, story } = this;
		const table = this.tables.find(({ name }) => name === TABLE_NAME);
		if (table === undefined || (table.rows.length === 0 && does !== 'rename')) return;
		story.visit(`a table: ${does}${when}`);
		this.happened.push({ does, atMs: time.nowMs });
		const { rows } = table;
		const some = 1 + Math.floor(time.random() * rows.length);
		if (does === 'rename') table.name = `${TABLE_NAME} ${this.tables.length}`;
		else if (does === 'clear') table.rows = [];
		else if (does === 'restore') table.rows = rows.slice(0, -some);
		else table.rows = rows.slice(Math.min(some, rows.length - 1));
		const left = new Set(table.rows.map(({ id }) => id));
		for (const each of this.written)
			if (each.tableId === table.id && each.committedAtMs !== undefined && !left.has(each.row.id))
				each.goneAtMs ??= time.nowMs;
	}
}

/** Some of them: it was never published. */
const OF_VERSION_3 = ['time', 'state', 'task_id', 'workflow', 'node', 'origin', 'request_hash', 'key_hash'].map(
	(name) => ({ name, type: 'string' }),
);
