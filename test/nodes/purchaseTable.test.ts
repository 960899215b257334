/** The table of the purchase log: what becomes of rows that are written. The time is faked. */
import { cleanedTables, purchaseTables } from '../../core/processMemory';
import { TABLE_NAME } from '../../core/purchases/purchaseRow';
import { DataTables } from '../support/dataTables.mts';
import { untilDone } from '../support/lightContext.mts';
import { flush, ids, insert, Noted, onTable, open, row } from '../support/purchaseTables.mts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const pause = async (ms: number) => await jest.advanceTimersByTimeAsync(ms);

test('rows that nobody waits for are written together, once; flush waits until they are there', async () => {
	const { tables, table, told } = open();
	await insert(table, row({ task_id: 'before' }));
	for (const id of ['1', '2', '3']) table.insertLater(row({ task_id: id }));
	await flush(table);
	expect(ids(tables)).toEqual(['before', '1', '2', '3']);
	expect(tables.operations.filter((operation) => operation === 'insert')).toHaveLength(2);
	expect(told).toEqual([]);
});

test('the table is removed in the middle of a run: rows that nobody waits for are in the new one', async () => {
	const { tables, table, told } = open();
	await insert(table, row());
	tables.tables = [];
	table.insertLater(row({ task_id: 'later' }));
	await flush(table);
	expect(ids(tables)).toEqual(['later']);
	expect(told).toEqual([]);
});

test('a database that is locked for a moment loses no row', async () => {
	const { tables, table, told } = open();
	await insert(table, row({ task_id: 'before' }));
	tables.faults.push(['insert', 'SQLITE_BUSY: database is locked']);
	table.insertLater(row({ task_id: 'later' }));
	await flush(table);
	expect(ids(tables)).toEqual(['before', 'later']);
	expect(told).toEqual([]);
});

test('where rows cannot be written, a hint and the log of n8n say why', async () => {
	const { tables, table, told, warned } = open();
	await insert(table, row());
	for (let time = 0; time < 3; time++) tables.faults.push(['insert', 'Data table size limit exceeded']);
	table.insertLater(row());
	await flush(table);
	expect(told).toEqual(['Data table size limit exceeded']);
	expect(warned).toEqual([
		'Generation Gateway: 1 rows are missing in the data table "Gateway Purchases" (Data table size limit exceeded), execution 7',
	]);
});

test('after a stop, rows are written where the time of the execution is over', async () => {
	const stop = new AbortController();
	const { tables, table, told } = open(new DataTables(), stop.signal);
	await insert(table, row({ task_id: 'before' }));
	tables.isOver = true;
	stop.abort();
	table.insertLater(row({ task_id: 'later' }));
	await flush(table);
	await pause(20);
	expect(ids(tables)).toEqual(['before', 'later']);
	expect(told).toEqual([]);
});

test("n8n's own timeout cuts off a write: it is made again when the node has heard of it", async () => {
	const stop = new AbortController();
	const { tables, table, told } = open(new DataTables(), stop.signal);
	await insert(table, row({ task_id: 'before' }));
	tables.isOver = true;
	table.insertLater(row({ task_id: 'later' }));
	const flushed = table.flush();
	await pause(100);
	stop.abort();
	await untilDone(flushed);
	await pause(20);
	expect(ids(tables)).toEqual(['before', 'later']);
	expect(told).toEqual([]);
});

describe('rows that are waited for', () => {
	test('rows that come close together are written at once, in the sequence in which they came', async () => {
		const tables = new Noted();
		const { table } = open(tables);
		await untilDone(Promise.all(['1', '2', '3'].map(async (id) => await table.insert(row({ task_id: id })))));
		await insert(table, row({ task_id: '4' }));
		expect(tables.written).toEqual([3, 1]);
		expect(ids(tables)).toEqual(['1', '2', '3', '4']);
		expect(tables.asked('insert')[0]).toEqual({
			...onTable(tables),
			operation: 'insert',
			columns: { mappingMode: 'autoMapInputData', value: null },
			options: { optimizeBulk: true },
		});
	});

	test('rows that come while others are written are written after them', async () => {
		const tables = new Noted();
		tables.delayMs = 1000;
		const { table } = open(tables);
		const first = table.insert(row({ task_id: '1' }));
		// The table has been looked for, made, and looked for again: now the row is on its way.
		await pause(3500);
		tables.delayMs = 1;
		const others = Promise.all(['2', '3'].map(async (id) => await table.insert(row({ task_id: id }))));
		await pause(100);
		expect(ids(tables)).toEqual([]);
		await untilDone(Promise.all([first, others]));
		expect(ids(tables)).toEqual(['1', '2', '3']);
		expect(tables.written).toEqual([1, 2]);
	});

	test('a thousand rows are written at once', async () => {
		const tables = new Noted();
		const { table } = open(tables);
		await untilDone(Promise.all(Array.from({ length: 2500 }, async () => await table.insert(row()))));
		expect(tables.written).toEqual([1000, 1000, 500]);
	});

	test('all who wait hear that the rows could not be written after a second try', async () => {
		const { tables, table } = open();
		await insert(table, row());
		tables.faults.push(['insert', 'locked'], ['insert', 'locked for good']);
		const results = await untilDone(Promise.allSettled([table.insert(row()), table.insert(row())]));
		expect(results.map((result) => (result as PromiseRejectedResult).reason.message)).toEqual(
			Array(2).fill('locked for good'),
		);
		await insert(table, row());
		expect(tables.rows).toHaveLength(2);
	});

	test('the table is removed in the middle of a run: rows are in the new one', async () => {
		const { tables, table } = open();
		await insert(table, row());
		tables.tables = [];
		await insert(table, row({ task_id: 'second' }));
		expect(ids(tables)).toEqual(['second']);
	});
});

describe('rows that nobody waits for', () => {
	test('rows that nobody waits for gather for 0.3 s without a flush, and later ones are written by themselves', async () => {
		const tables = new Noted();
		const { table } = open(tables);
		await insert(table, row());
		table.insertLater(row({ task_id: 'a' }));
		await pause(200);
		table.insertLater(row({ task_id: 'b' }));
		await pause(95);
		expect(tables.written).toEqual([1]);
		await pause(20);
		expect(tables.written).toEqual([1, 2]);
		table.insertLater(row({ task_id: 'c' }));
		await pause(400);
		expect(tables.written).toEqual([1, 2, 1]);
		await flush(table);
		expect(tables.written).toEqual([1, 2, 1]);
	});

	test('a flush waits for rows that are being written already', async () => {
		const { tables, table } = open();
		await insert(table, row({ task_id: 'before' }));
		tables.delayMs = 1000;
		table.insertLater(row({ task_id: 'a' }));
		await pause(400);
		await flush(table);
		expect(ids(tables)).toEqual(['before', 'a']);
	});

	test('a thousand rows that nobody waits for are written at once', async () => {
		const tables = new Noted();
		const { table } = open(tables);
		for (let count = 0; count < 1500; count++) table.insertLater(row());
		await flush(table);
		expect(tables.written).toEqual([1000, 500]);
	});

	test('rows are written again after 0.5 s, and then after 2 s', async () => {
		const tables = new Noted();
		const { table, told } = open(tables);
		await insert(table, row());
		tables.faults.push(['insert', 'locked'], ['insert', 'locked']);
		const inserts = () => tables.operations.filter((operation) => operation === 'insert').length - 1;
		table.insertLater(row({ task_id: 'later' }));
		const flushed = table.flush();
		await pause(480);
		expect(inserts()).toBe(1);
		await pause(100);
		expect(inserts()).toBe(2);
		await pause(1900);
		expect(inserts()).toBe(2);
		await untilDone(flushed);
		expect([inserts(), ids(tables), told]).toEqual([3, ['t', 'later'], []]);
	});

	test('a stop cuts the pauses off: the rows are written at once', async () => {
		const stop = new AbortController();
		const { tables, table, told } = open(new DataTables(), stop.signal);
		await insert(table, row());
		tables.faults.push(['insert', 'locked'], ['insert', 'locked']);
		table.insertLater(row({ task_id: 'later' }));
		const flushed = table.flush();
		await pause(100);
		stop.abort();
		await pause(100);
		await flushed;
		expect(told).toEqual([]);
	});

	test('old rows are removed after a write', async () => {
		cleanedTables.clear();
		const { tables, table } = open();
		await insert(table, row({ task_id: 'old', time: new Date(Date.now() - 91 * 86_400_000).toISOString() }));
		table.insertLater(row({ task_id: 'new' }));
		await flush(table);
		await pause(1000);
		expect(ids(tables)).toEqual(['new']);
	});

	test('old rows are removed where n8n’s tables are full, too: that makes room', async () => {
		cleanedTables.clear();
		const { tables, table } = open();
		await insert(table, row({ task_id: 'old', time: new Date(Date.now() - 91 * 86_400_000).toISOString() }));
		tables.faults.push(...Array.from({ length: 3 }, (): ['insert', string] => ['insert', 'the tables are full']));
		table.insertLater(row({ task_id: 'new' }));
		await flush(table);
		await pause(4000);
		expect(ids(tables)).toEqual([]);
	});

	test('nothing is removed from a table that cannot be found', async () => {
		cleanedTables.clear();
		purchaseTables.clear();
		const { tables, table, told } = open();
		tables.tables.push({ id: 'log', name: TABLE_NAME, columns: [], rows: [] });
		table.insertLater(row());
		await flush(table);
		await pause(4000);
		expect(told).toHaveLength(1);
		expect([...cleanedTables]).toEqual([]);
	});
});
