/**
 * The table of the purchase log against a model of n8n's data tables: no row that was bought is lost, what is read is what
 * a retry or a Purchase Key has to know, and old rows go. The time is faked.
 */
import { cleanedTables, purchaseTables } from '../../core/processMemory';
import { TABLE_NAME, type PurchaseRow } from '../../core/purchases/purchaseRow';
import { cleanUp, mayLackOldRows } from '../../nodes/purchaseLog/cleanUp';
import { N8nPurchaseTable } from '../../nodes/purchaseLog/purchaseTable';
import { DataTables, type Row } from '../support/dataTables.mts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-05-01T00:00:00.000Z');
const ago = (days: number) => new Date(NOW - days * DAY_MS).toISOString();

beforeEach(() => {
	jest.useFakeTimers({ now: NOW });
	purchaseTables.clear();
	cleanedTables.clear();
});
afterEach(() => jest.useRealTimers());

const pause = async (ms: number) => await jest.advanceTimersByTimeAsync(ms);

/** Lets time pass until it is done. */
async function untilDone<T>(work: Promise<T>): Promise<T> {
	let isOver = false;
	work.catch(() => {}).finally(() => (isOver = true));
	for (let steps = 0; !isOver; steps++) {
		if (steps > 5_000) throw new Error('It never ends');
		await pause(100);
	}
	return await work;
}

const row = (changes: Partial<PurchaseRow> = {}): PurchaseRow => ({
	...{ time: new Date().toISOString(), state: 'accepted', task_id: 't', code: '', thing: 'task', model: 'm' },
	...{
		workflow: 'W',
		workflow_id: 'w',
		node: 'N',
		node_id: 'n',
		execution: '7',
		run: '7.0',
		origin: 'r',
		retry: false,
		item: 0,
	},
	...{ attempt: 'a', account: 'c', base_url: 'u', request_hash: 'h', key_hash: '', credits: null },
	...changes,
});

let workflows = 0;

/** The table as one more workflow sees it. */
function open() {
	const tables = new DataTables();
	const told: string[] = [];
	const context = tables.contextOf(`w${++workflows}`);
	const table = new N8nPurchaseTable(context, (why) => told.push(why));
	return {
		...{ tables, told, warned: context.warned, table },
		insert: async (changes?: Partial<PurchaseRow>) => await untilDone(table.insert(row(changes))),
		flush: async () => await untilDone(table.flush()),
	};
}

const idsIn = (rows: unknown[]) => rows.map((each) => (each as PurchaseRow).task_id);

describe('rows of IDs and ends, for which nothing waits', () => {
	test('a database that is locked for a moment loses no row', async () => {
		const { tables, table, flush, told } = open();
		tables.faults.push(['insert', 'SQLITE_BUSY: database is locked'], ['insert', 'SQLITE_BUSY: database is locked']);
		table.insertLater(row({ task_id: 'later' }));
		await flush();
		expect([idsIn(tables.rows), told]).toEqual([['later'], []]);
	});

	test('where rows cannot be written, a hint and the log of n8n say why', async () => {
		const { tables, table, flush, told, warned } = open();
		const full = 'Data table size limit exceeded';
		for (let time = 0; time < 3; time++) tables.faults.push(['insert', full]);
		table.insertLater(row());
		await flush();
		expect(told).toEqual([full]);
		expect(warned).toEqual([
			`Generation Gateway: 1 rows are missing in the data table "${TABLE_NAME}" (${full}), execution 7`,
		]);
	});
});

describe('what is read', () => {
	const run = { origin: 'r', workflow_id: 'w', node_id: 'n', node: 'N' };

	test('of a Purchase Key with more rows than n8n reads at once, the newest are read; of others all', async () => {
		const { tables, table, insert } = open();
		await insert({ key_hash: 'few', task_id: 'first' });
		const many = Array.from({ length: 1_500 }, (_, index) => row({ key_hash: 'many', task_id: `${index}` }));
		tables.rows.push(...many.map((each, index) => ({ ...each, id: 100 + index })));
		const keys = ['few', 'many', ...Array.from({ length: 200 }, (_, index) => `none ${index}`)];
		const found = await untilDone(Promise.all(keys.map(async (key) => await table.rowsOfKey(key))));
		expect(idsIn(found[0])).toEqual(['first']);
		expect(idsIn(found[1]).sort()).toEqual(idsIn(many.slice(500)).sort());
		expect(found.slice(2).flat()).toEqual([]);
	});

	test('the rows of a run are those of its workflow and node, which may have been renamed, or made again', async () => {
		const { table, insert } = open();
		await insert({ task_id: 'made again', node_id: 'x' });
		await insert({ task_id: 'own' });
		await insert({ task_id: 'renamed', node: 'x' });
		for (const other of [{ origin: 'x' }, { workflow_id: 'x' }, { node_id: 'x', node: 'x' }]) await insert(other);
		expect(idsIn(await untilDone(table.rowsOfRun(run)))).toEqual(['made again', 'own', 'renamed']);
	});

	test('a run of which not all rows can be read is not read at all: what is missing would be bought again', async () => {
		const { tables, table, insert } = open();
		await insert();
		const first = tables.rows[0];
		tables.rows.push(...Array.from({ length: 49_998 }, (_, index) => ({ ...first, id: first.id + index + 1 })));
		expect(await untilDone(table.rowsOfRun(run))).toHaveLength(49_999);
		tables.rows.push({ ...first, id: 60_000 });
		await expect(untilDone(table.rowsOfRun(run))).rejects.toThrow('the run has more than 50000 rows');
	});
});

describe('old rows', () => {
	type Part = Omit<Partial<PurchaseRow>, 'origin'> & { origin?: string | null };
	const usual = { time: ago(1), state: 'completed', origin: 'r', attempt: 'a', key_hash: '' };
	/** The newest 50,000: they stay, whatever they are. */
	const young = Array.from({ length: 50_000 }, (_, index) => ({
		...{ ...usual, origin: 'young', attempt: 'young', id: 1_000_000 + index },
	})) as Row[];

	/** The attempts that are left of the older rows. */
	async function left(older: Part[], newest = young): Promise<string[]> {
		const tables = new DataTables();
		const rows = older.map((each, index) => ({ ...usual, id: 1_000_000 - older.length + index, ...each })) as Row[];
		tables.tables.push({ id: 't', name: TABLE_NAME, columns: [], rows: [...rows, ...newest] });
		cleanedTables.clear();
		cleanUp(tables.contextOf('w'), 't');
		for (let seen = -1; seen !== tables.operations.length; await pause(100)) seen = tables.operations.length;
		const old = tables.rows.filter(({ id }) => id < 1_000_000);
		expect(tables.rows.length - old.length).toBe(newest.length);
		return [...new Set(old.map(({ attempt }) => String(attempt)))];
	}

	test('rows older than 90 days go', async () => {
		const days = [90.001, 90, 89].map((age) => ({ time: ago(age), attempt: `${age}` }));
		expect(await left(days, [])).toEqual(['90', '89']);
		expect(await left(Array<Part>(2_000).fill({ time: ago(91) }), [])).toEqual([]);
	});

	test('a run that began more than 90 days ago may lack rows', () => {
		expect([mayLackOldRows(NOW - 90 * DAY_MS - 1), mayLackOldRows(NOW - 90 * DAY_MS)]).toEqual([true, false]);
	});

	test('of more than 50,000 rows, whole runs go; keys and purchases without an end stay for 31 days', async () => {
		const purchase = (attempt: string, days: number, more: Part) =>
			(['submitting', 'accepted', 'completed'] as const).map((state) => ({
				...{ origin: attempt, attempt, state, time: ago(days) },
				...more,
			}));
		const ended = (['not_accepted', 'failed', 'failed_permanently'] as const).flatMap((state) => [
			...[...purchase(state, 1, {}).slice(0, 2), { origin: state, attempt: state, state }],
		]);
		const kept = await left([
			...purchase('key, 31 days and a bit', 31.001, { key_hash: 'k' }),
			...purchase('key, 31 days', 31, { key_hash: 'k' }),
			...purchase('open, 31 days and a bit', 31.001, { state: 'accepted' }),
			...purchase('open, 31 days', 31, { state: 'accepted' }),
			...purchase('unknown', 1, { state: 'unknown' }),
			...[...ended, ...purchase('completed', 1, {})],
			...purchase('beside an open one', 1, { origin: 'open, 31 days' }),
			...purchase('beside one of the newest', 1, { origin: 'young' }),
			...[null, ''].map((origin) => ({ origin, attempt: `of the run ${JSON.stringify(origin)}` })),
		]);
		expect(kept).toEqual([
			...['key, 31 days', 'open, 31 days', 'unknown', 'beside an open one', 'beside one of the newest'],
			...['of the run null', 'of the run ""'],
		]);
	});
});
