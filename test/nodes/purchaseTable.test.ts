/** The table of the purchase log: what becomes of rows that nobody waits for, and of the rows of a key. */
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { N8nPurchaseTable } from '../../nodes/purchaseLog/purchaseTable';
import { DataTables } from '../support/dataTables.mts';
import { pause } from '../support/nodes.mts';

let workflows = 0;

const row = (changes: Partial<PurchaseRow> = {}): PurchaseRow => ({
	...{ time: new Date().toISOString(), state: 'accepted', task_id: 't', code: '', thing: 'task', model: 'm' },
	...{ workflow: 'W', workflow_id: 'w', node: 'N', node_id: 'n', execution: '7', run: 'r', retry: false, item: 0 },
	...{ attempt: 'a', account: 'c', base_url: 'u', request_hash: 'h', key_hash: '', credits: null },
	...changes,
});

/** The table of a workflow that nobody has used so far. */
function open(tables = new DataTables(), signal?: AbortSignal) {
	const told: string[] = [];
	const context = tables.contextOf(`w${++workflows}`, signal);
	return { tables, told, warned: context.warned, table: new N8nPurchaseTable(context, (why) => told.push(why)) };
}

const ids = ({ rows }: DataTables) => rows.map(({ task_id: id }) => id);

test('rows that nobody waits for are written together, once; flush waits until they are there', async () => {
	const { tables, table, told } = open();
	await table.insert(row({ task_id: 'before' }));
	for (const id of ['1', '2', '3']) table.insertLater(row({ task_id: id }));
	await table.flush();
	expect(ids(tables)).toEqual(['before', '1', '2', '3']);
	expect(tables.operations.filter((operation) => operation === 'insert')).toHaveLength(2);
	expect(told).toEqual([]);
});

test('the table is removed in the middle of a run: rows that nobody waits for are in the new one', async () => {
	const { tables, table, told } = open();
	await table.insert(row());
	tables.tables = [];
	table.insertLater(row({ task_id: 'later' }));
	await table.flush();
	expect(ids(tables)).toEqual(['later']);
	expect(told).toEqual([]);
});

test('a database that is locked for a moment loses no row', async () => {
	const { tables, table, told } = open();
	await table.insert(row({ task_id: 'before' }));
	tables.faults.push(['insert', 'SQLITE_BUSY: database is locked']);
	table.insertLater(row({ task_id: 'later' }));
	await table.flush();
	expect(ids(tables)).toEqual(['before', 'later']);
	expect(told).toEqual([]);
});

test('where rows cannot be written, a hint and the log of n8n say why', async () => {
	const { tables, table, told, warned } = open();
	await table.insert(row());
	for (let time = 0; time < 3; time++) tables.faults.push(['insert', 'Data table size limit exceeded']);
	table.insertLater(row());
	await table.flush();
	expect(told).toEqual(['Data table size limit exceeded']);
	expect(warned).toEqual([
		'Generation Gateway: 1 rows are missing in the data table "Gateway Purchases" (Data table size limit exceeded), execution 7',
	]);
});

test('after a stop, rows are written where the time of the execution is over', async () => {
	const stop = new AbortController();
	const { tables, table, told } = open(new DataTables(), stop.signal);
	await table.insert(row({ task_id: 'before' }));
	tables.isOver = true;
	stop.abort();
	table.insertLater(row({ task_id: 'later' }));
	await table.flush();
	await pause(20);
	expect(ids(tables)).toEqual(['before', 'later']);
	expect(told).toEqual([]);
});

test("n8n's own timeout cuts off a write: it is made again when the node has heard of it", async () => {
	const stop = new AbortController();
	const { tables, table, told } = open(new DataTables(), stop.signal);
	await table.insert(row({ task_id: 'before' }));
	tables.isOver = true;
	table.insertLater(row({ task_id: 'later' }));
	const flushed = table.flush();
	await pause(100);
	stop.abort();
	await flushed;
	await pause(20);
	expect(ids(tables)).toEqual(['before', 'later']);
	expect(told).toEqual([]);
});

describe('more than 50,000 rows', () => {
	const DAY_MS = 24 * 60 * 60 * 1000;
	const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
	let operations: string[] = [];

	/** The rows of purchases, oldest first, below as many as stay whatever they are; returns the attempts that are left of them. */
	async function leftOf(purchases: PurchaseRow[]): Promise<string[]> {
		const { tables, table } = open();
		await table.insert(row({ attempt: 'newest', run: 'newest' }));
		const young = Array.from({ length: 49_999 }, () => row({ attempt: 'young', run: 'newest' }));
		const rows = [...purchases, ...young];
		tables.rows.unshift(...rows.map((of, index) => ({ ...of, id: index - rows.length })));
		table.insertLater(row({ attempt: 'newest', run: 'newest' }));
		await table.flush();
		const left = () => tables.rows.map(({ attempt }) => String(attempt)).filter((name) => !/young|newest/.test(name));
		for (let before = -1; before !== tables.operations.length; await pause(100)) before = tables.operations.length;
		({ operations } = tables);
		expect(tables.rows.filter(({ attempt }) => attempt === 'young')).toHaveLength(49_999);
		return left();
	}

	test('of more than 50,000 rows the oldest go, but those of keys and of purchases without an end stay for 31 days', async () => {
		const purchase = (attempt: string, days: number, end?: PurchaseRow['state'], more: Partial<PurchaseRow> = {}) =>
			(['submitting', 'accepted', ...(end === undefined ? [] : [end])] as const).map((state) =>
				row({ run: attempt, ...more, attempt, state, time: ago(days) }),
			);
		const rows = [
			...purchase('running, 32 days', 32),
			...purchase('key, 32 days', 32, 'completed', { key_hash: 'k' }),
			...purchase('running, 30 days', 30),
			...purchase('key, 30 days', 30, 'completed', { key_hash: 'k' }),
			...purchase('unknown', 30, 'unknown'),
			...purchase('ended', 1, 'completed'),
			row({ run: 'ended', attempt: '', state: 'run', time: ago(1) }),
			...purchase('failed', 1, 'failed'),
			...purchase('running', 1),
		];
		expect([...new Set(await leftOf(rows))]).toEqual(['running, 30 days', 'key, 30 days', 'unknown', 'running']);
	});

	/** The rows of a run, oldest first. */
	const run = (...rows: Array<Partial<PurchaseRow>>) => rows.map((more) => row({ run: 'r', time: ago(1), ...more }));
	const ended = (['submitting', 'accepted', 'completed'] as const).map((state) => ({ attempt: 'a', state }));
	const old = { attempt: 'a', state: 'submitting', time: ago(32) } as const;

	test.each<[string, PurchaseRow[]]>([
		['a purchase whose end is not there', run({ attempt: 'open', state: 'submitting' }, ...ended)],
		['a purchase whose end is not there in the midst', run(old, { attempt: 'open', state: 'accepted' }, ...ended)],
		['one whose outcome is unknown', run(...ended, { attempt: 'open', state: 'unknown' })],
		['one with a Purchase Key', run(...ended, { attempt: 'open', state: 'completed', key_hash: 'k' })],
		[
			'rows among the newest',
			run(...ended, { attempt: 'open', state: 'completed' }).map((of) => ({ ...of, run: 'newest' })),
		],
	])('all rows of a run stay, so that a retry knows what was sent, where it has %s', async (_, rows) => {
		expect([...new Set(await leftOf(rows))].sort()).toEqual(['a', 'open']);
	});

	test('hundreds of runs go in a few steps, and what has no run stays', async () => {
		const many = Array.from({ length: 250 }, (_, index) => row({ run: `${index}`, attempt: 'x', state: 'completed' }));
		expect(await leftOf([...many, row({ run: '', attempt: 'by hand', state: 'completed' })])).toEqual(['by hand']);
		expect(operations.filter((operation) => operation === 'deleteRows')).toHaveLength(3);
	});
});

test('of a key with more rows than n8n reads at once, the newest are read; of others all', async () => {
	const { tables, table } = open();
	await table.insert(row({ key_hash: 'few', task_id: 'first' }));
	for (let count = 0; count < 1500; count++)
		tables.rows.push({ ...row({ key_hash: 'many', task_id: `${count}` }), id: 100 + count });
	const [many, few] = await Promise.all([table.rowsOfKey('many'), table.rowsOfKey('few')]);
	expect(many).toHaveLength(1000);
	expect(many.map((found) => Number((found as PurchaseRow).task_id)).sort((a, b) => a - b)[0]).toBe(500);
	expect(few).toMatchObject([{ task_id: 'first' }]);
});

test('somebody renames the table: what another workflow writes into the new one is read, and rows go there', async () => {
	const tables = new DataTables();
	const [first, second] = [open(tables).table, open(tables).table];
	await first.insert(row({ key_hash: 'k', task_id: 'archived' }));
	for (const table of tables.tables) table.name = 'Archive';
	await second.insert(row({ key_hash: 'k', task_id: 'bought' }));
	expect(await first.rowsOfKey('k')).toMatchObject([{ task_id: 'bought' }]);
	await first.insert(row({ key_hash: 'k', task_id: 'claim' }));
	expect(ids(tables)).toEqual(['bought', 'claim']);
});
