/**
 * The table of the journal against a model of n8n's data tables: no row is lost, what is read is what a retry, another executor
 * or a Purchase Key has to know, and old rows go. The time is faked.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { TABLE_NAME } from '../../core/labels';
import { COLUMNS, LEASE, RUN, journalRow, type AttemptState, type JournalRow } from '../../core/journal/row';
import { NoTableError, PAUSES_MS } from '../../core/journal/table';
import { cleanedTables, journalTables, seenRows } from '../../core/processMemory';
import { cleanUp, mayLackOldRows } from '../../nodes/journal/cleanUp';
import { N8nJournalTable } from '../../nodes/journal/journalTable';
import { findTable, whatIsMissing } from '../../nodes/journal/purchasesTable';
import { DataTables, type Row } from '../support/dataTables.mts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-05-01T00:00:00.000Z');
const ago = (days: number) => new Date(NOW - days * DAY_MS).toISOString();

beforeEach(() => {
	jest.useFakeTimers({ now: NOW });
	journalTables.clear();
	seenRows.clear();
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

const row = (changes: Partial<JournalRow> = {}): JournalRow =>
	journalRow.parse({ run: 'r', first: '7', execution: '7', attempt: 'a', state: 'submitting', ...changes });

const lease = (attempt: string, changes: Partial<JournalRow> = {}) =>
	row({ state: LEASE, attempt, key_hash: 'run', ...changes });

let workflows = 0;

/** The table as the run of one more workflow sees it. */
async function open({ tables = new DataTables(), stop = new AbortController() } = {}) {
	const told: string[] = [];
	const context = tables.contextOf(`w${++workflows}`, stop.signal);
	await untilDone(findTable(context));
	const table = new N8nJournalTable(context, (why) => told.push(why), NOW);
	tables.subExecutions.length = 0;
	return {
		...{ tables, told, warned: context.warned, table, stop },
		/** The run of an execution that begins so long after the test. */
		again: (afterMs = 120_000) => new N8nJournalTable(context, (why) => told.push(why), NOW + afterMs),
		insert: async (...rows: JournalRow[]) => attemptsIn(await untilDone(table.insertAndLook(rows, ['run']))),
		look: async (...claims: string[]) => attemptsIn(await untilDone(table.look(claims))),
		/** Rows that are there already, in place of those that are. */
		fill: (rows: Array<Partial<Row>>) => {
			const usual = row();
			const all = rows.map((each, index) => ({ ...usual, id: index + 1, ...each }) as Row);
			tables.rows.splice(0, Infinity, ...all);
		},
	};
}

const attemptsIn = (rows: unknown[]) => rows.map((each) => (each as JournalRow).attempt);

const many = (count: number, each: Partial<Row> = {}) =>
	Array.from({ length: count }, (_, index) => ({ attempt: `${index + 1}`, ...each }));

const OTHER_COLUMNS = Object.keys(COLUMNS).map((name) => ({ name, type: 'string' }));

describe('whether n8n has a table', () => {
	test.each<[string, (tables: DataTables) => void, string]>([
		['turned off', ({ faults }) => faults.push(['list', OFF]), 'n8n’s data tables are turned off'],
		['a node of n8n 2.0', ({ faults }) => faults.push(['list', NO_TABLES]), 'it needs n8n 2.41 or later'],
		[
			'a node of n8n 1.123',
			({ faults }) => faults.push(['list', 'Could not get parameter']),
			'it needs n8n 2.41 or later',
		],
		[
			'not created',
			({ faults }) => faults.push(['create', 'not today']),
			`n8n did not create the data table "${TABLE_NAME}" (not today)`,
		],
		[
			'a table of the name with columns of other types',
			({ tables }) => tables.push({ id: 't', name: TABLE_NAME, columns: OTHER_COLUMNS, rows: [] }),
			`the data table "${TABLE_NAME}" has no column "item" of the right type: rename or delete this table`,
		],
	])('%s: it says that there is none, and why', async (_, prepare, why) => {
		const tables = new DataTables();
		prepare(tables);
		const asserted = untilDone(findTable(tables.contextOf(`w${++workflows}`)));
		await expect(asserted).rejects.toThrow(why);
		await expect(asserted).rejects.toBeInstanceOf(NoTableError);
	});

	test('a database that does not answer says nothing about the table', async () => {
		const tables = new DataTables();
		tables.faults.push(['list', LOCKED]);
		const context = tables.contextOf(`w${++workflows}`);
		await expect(untilDone(findTable(context))).rejects.not.toBeInstanceOf(NoTableError);
		await untilDone(findTable(context));
	});

	test('workflows of a project share the table; one whose name has more words is another table', async () => {
		const tables = new DataTables();
		tables.tables.push({ id: 'x', name: `${TABLE_NAME} of 2025`, columns: [], rows: [] });
		await open({ tables });
		await open({ tables });
		expect(tables.tables.map(({ name }) => name)).toEqual([`${TABLE_NAME} of 2025`, TABLE_NAME]);
	});

	const nodes = { 'n8n-nodes-base.executeWorkflowTrigger': {}, 'n8n-nodes-base.dataTable': {} };
	test.each<[string | undefined, object]>([
		[undefined, {}],
		['the workflow has not been saved', { id: '' }],
		['it needs n8n 2.41 or later', { establishedAtMs: undefined }],
		['this n8n does not have the node "Data table"', { known: { ...nodes, 'n8n-nodes-base.dataTable': undefined } }],
	])('before a look, what is missing is: %s', (why, changes) => {
		const facts = { id: 'w', establishedAtMs: 1 as number | undefined, known: nodes, ...changes };
		const context = {
			getWorkflow: () => ({ id: facts.id }),
			getKnownNodeTypes: () => facts.known,
		};
		expect(whatIsMissing(context as never, facts)).toBe(why);
	});
});

const OFF = 'Attempted to use Data table node but the module is disabled';
const NO_TABLES = "Cannot read properties of undefined (reading 'execute')";
const LOCKED = 'SQLITE_BUSY: database is locked';
const FULL = 'Validation error with data table request: Data table size limit exceeded: 200MB used, limit is 200MB';

describe('rows that are written before a request', () => {
	test('one sub-execution writes them and reads the claims, the newest first', async () => {
		const { tables, insert } = await open();
		await insert(lease('first'), row());
		expect(await insert(lease('second'), row())).toEqual(['second', 'first']);
		expect(tables.subExecutions).toEqual([
			['insert', 'get'],
			['insert', 'get'],
		]);
		expect(tables.rows).toHaveLength(4);
	});

	test('without any claim in the table, nothing is found', async () => {
		const { insert } = await open();
		expect(await insert(row())).toEqual([]);
	});

	test.each<[string, string, boolean]>([
		['full tables', FULL, true],
		['tables that are turned off', OFF, true],
		['a database that does not answer', LOCKED, false],
	])('%s refuse them', async (_, fault, isNoTable) => {
		const { tables, insert } = await open();
		tables.faults.push(['insert', fault]);
		const why = await insert(lease('x')).catch((thrown: unknown) => thrown);
		expect([why instanceof NoTableError, tables.rows]).toEqual([isNoTable, []]);
		expect(String(why)).toContain(fault);
	});

	test.each<[string, (tables: DataTables) => void]>([
		['removed', ({ tables }) => void tables.pop()],
		['renamed, and its insert failed', (tables) => (tables.faults.push(['insert', LOCKED]), tables.rename())],
	])(
		'into a table that was %s, they are not written a second time; the next ones go into a new one',
		async (_, change) => {
			const { tables, insert } = await open();
			await insert(lease('before'));
			change(tables);
			await expect(insert(lease('lost'))).rejects.not.toBeInstanceOf(NoTableError);
			expect(tables.operations.filter((operation) => operation === 'insert')).toHaveLength(2);
			expect(await insert(lease('new'))).toEqual(['new']);
		},
	);

	test('it rejects where the rows are in the table although the database has not said so', async () => {
		const { tables, insert } = await open();
		tables.faults.push(['insert', LOCKED, 'commitsAlthough']);
		await expect(insert(lease('x'))).rejects.toThrow(LOCKED);
		expect(attemptsIn(tables.rows)).toEqual(['x']);
	});
});

describe('sub-executions', () => {
	/** Those that have begun stay until they are ended. */
	class Slow extends DataTables {
		readonly ends: Array<() => void> = [];

		protected override async run(parameters: IDataObject, items: INodeExecutionData[]) {
			if (parameters.operation === 'insert') await new Promise<void>((end) => this.ends.push(end));
			return await super.run(parameters, items);
		}
	}

	test('at most six are under way: those behind them begin when others have ended, and their time begins then', async () => {
		const { tables, table } = await open({ tables: new Slow() });
		const { ends } = tables as Slow;
		const look = ['run'];
		const all = Promise.all(many(30).map(async ({ attempt }) => await table.insertAndLook([lease(attempt)], look)));
		for (let begun = 0; begun < 30; begun += 6) {
			await pause(20_000);
			expect(ends).toHaveLength(begun + 6);
			for (const end of ends.slice(begun)) end();
		}
		await untilDone(all);
		expect(tables.rows).toHaveLength(30);
	});

	test('those of a stopped execution, of which n8n never tells how they end, let others begin', async () => {
		const tables = new Slow();
		const stopped = await open({ tables });
		const other = await open();
		const look = ['run'];
		const inserts = many(8).map(async () => await stopped.table.insertAndLook([lease('x')], look).catch(String));
		const insert = other.table.insertAndLook([lease('y')], look);
		await pause(10);
		expect([tables.ends.length, attemptsIn(other.tables.rows)]).toEqual([6, []]);
		stopped.stop.abort();
		await pause(10);
		expect(attemptsIn(other.tables.rows)).toEqual(['y']);
		expect(await Promise.all(inserts.slice(6))).toEqual(Array(2).fill('Error: the execution was stopped'));
		expect(tables.ends).toHaveLength(6);
		for (const end of tables.ends) end();
		await untilDone(Promise.all([insert, ...inserts]));
	});
});

describe('what a look finds', () => {
	test('rows that this process had seen before the execution began are not read again', async () => {
		const { tables, insert, again } = await open();
		await insert(lease('old'), lease('older'));
		const next = again();
		expect(next.seenId).toBe(2);
		const first = await untilDone(next.insertAndLook([lease('own')], ['run']));
		expect(attemptsIn(first)).toEqual(['own']);
		expect(attemptsIn(await untilDone(next.look(['run'])))).toEqual(['own']);
		expect(attemptsIn(await untilDone(next.look(['run', 'key'])))).toHaveLength(3);
		expect([next.seenId, again().seenId, tables.subExecutions.length]).toEqual([2, 3, 4]);
	});

	test('rows that this process has seen since the execution began are read again: one may be the lease of a retry', async () => {
		const { insert, again } = await open();
		const seen = async (attempt: string, afterMs: number) => {
			jest.setSystemTime(NOW + afterMs);
			await insert(lease(attempt));
		};
		for (const [attempt, minutes] of Object.entries({ a: 1, b: 2, c: 2.5, d: 2.9, e: 4, f: 5 }))
			await seen(attempt, minutes * 60_000);
		// Clocks may differ by a minute.
		const began = [2, 2.1, 3.2, 4.2, 5.2, 6.2];
		expect(began.map((minutes) => again(minutes * 60_000).seenId)).toEqual([0, 1, 2, 2, 5, 6]);
	});

	test('after a clear SQLite counts from 1 again: where nothing is found, all rows are looked at', async () => {
		const { tables, insert, fill, again } = await open();
		fill(many(50));
		await insert(lease('old'));
		const next = again();
		tables.clear();
		const look = ['run'];
		const found = [await untilDone(next.insertAndLook([lease('own')], look)), await untilDone(next.look(look))].map(
			attemptsIn,
		);
		expect([found, again().seenId]).toEqual([[['own'], ['own']], 1]);
	});

	test('the numbers of one table say nothing about another one of the same name', async () => {
		const { tables, insert, fill, again } = await open();
		fill(many(50));
		await insert(lease('old'));
		const next = again();
		tables.tables.pop();
		const look = ['run'];
		await expect(untilDone(next.insertAndLook([lease('lost')], look))).rejects.toThrow('could not be found');
		const other = await open({ tables });
		await other.insert(lease('of another executor'));
		fill([{ ...lease('of another executor') }, ...many(60), { ...lease('young') }]);
		expect(attemptsIn(await untilDone(next.look(look)))).toEqual(['young', 'of another executor']);
	});

	test('of many claims all rows are found, also where one has more than n8n gives at once', async () => {
		const { tables, table, fill } = await open();
		fill([{ attempt: 'few', key_hash: 'few' }, ...many(2_000, { key_hash: 'many' })]);
		const keys = ['few', 'many', ...Array.from({ length: 200 }, (_, index) => `none ${index}`), 'new'];
		const rows = [row({ attempt: 'x', key_hash: 'new' })];
		const found = await untilDone(table.insertAndLook(rows, keys));
		const newest = many(2_000)
			.map(({ attempt }) => attempt)
			.reverse();
		const all = attemptsIn(found);
		expect(all.filter((attempt) => attempt !== 'x')).toEqual([...newest, 'few']);
		expect(all).toContain('x');
		expect(tables.subExecutions[0]).toEqual(['insert', 'get']);
	});
});

describe('rows of IDs and ends, for which no request waits', () => {
	test('the first is written at once; those that come meanwhile are written together', async () => {
		const { tables, table } = await open();
		const all = ['1', '2', '3'].map(async (attempt) => await table.insertLater(row({ attempt })));
		await untilDone(Promise.all(all));
		expect(tables.operations.filter((operation) => operation === 'insert')).toHaveLength(2);
		expect(attemptsIn(tables.rows)).toEqual(['1', '2', '3']);
	});

	test('they wait for rows that are being written, and travel along with the next ones', async () => {
		const { tables, table, insert } = await open();
		const first = insert(lease('1'));
		await pause(0);
		const ends = ['2', '3'].map(async (attempt) => await table.insertLater(row({ attempt })));
		const second = insert(lease('4'));
		await Promise.all([first, second, ...ends]);
		expect(tables.subExecutions).toEqual([
			['insert', 'get'],
			['insert', 'get'],
		]);
		expect(attemptsIn(tables.rows).sort()).toEqual(['1', '2', '3', '4']);
	});

	test('they do not wait behind the rows of requests that many other runs are about to send', async () => {
		class Hanging extends DataTables {
			protected override async run(parameters: IDataObject, items: INodeExecutionData[]) {
				if (items.some(({ json }) => json.state === LEASE)) await new Promise(() => {});
				return await super.run(parameters, items);
			}
		}
		const { tables, table, stop } = await open({ tables: new Hanging() });
		const others = await Promise.all(Array.from({ length: 20 }, async () => await open({ tables, stop })));
		for (const other of others) other.table.insertAndLook([lease('other')], ['run']).catch(() => {});
		void table.insertLater(row({ attempt: 'an ID' }));
		await pause(100);
		expect(attemptsIn(tables.rows)).toEqual(['an ID']);
		stop.abort();
	});

	test('they wait again where the rows that they travelled with were refused', async () => {
		const { tables, table, insert, told } = await open();
		const first = insert(lease('1'));
		await pause(0);
		tables.faults.push(['insert', LOCKED]);
		const end = table.insertLater(row({ attempt: '2' }));
		const second = insert(lease('3')).catch(String);
		expect(await second).toContain(LOCKED);
		await Promise.all([first, untilDone(end)]);
		expect([attemptsIn(tables.rows), told]).toEqual([['1', '2'], []]);
	});

	test.each([
		['is locked for a moment', 2, []],
		['is restarted, which takes a minute', PAUSES_MS.length, [LOCKED]],
	])('a database that %s loses no row', async (_, times, hints) => {
		const { tables, table, told } = await open();
		for (let time = 0; time < times; time++) tables.faults.push(['insert', LOCKED]);
		void table.insertLater(row({ attempt: 'later' }));
		await untilDone(table.flush());
		expect([attemptsIn(tables.rows), told]).toEqual([['later'], hints]);
	});

	test('where they cannot be written, a hint and the log of n8n say why', async () => {
		const { tables, table, told, warned } = await open();
		for (let time = 0; time <= PAUSES_MS.length; time++) tables.faults.push(['insert', FULL]);
		await untilDone(table.insertLater(row()));
		const why = `the storage of n8n’s data tables is full (${FULL})`;
		expect(told).toEqual([why]);
		expect(warned).toEqual([
			`Generation Gateway: 1 rows are missing in the data table "${TABLE_NAME}" (${why}), execution 7`,
		]);
	});

	test.each(['another row is written', 'the run ends'])(
		'those that were given up are tried once more when %s',
		async (what) => {
			const { tables, table, warned } = await open();
			for (let time = 0; time <= PAUSES_MS.length; time++) tables.faults.push(['insert', LOCKED]);
			await untilDone(table.insertLater(row({ attempt: 'given up' })));
			expect([attemptsIn(tables.rows), warned.length]).toEqual([[], 1]);
			if (what === 'the run ends') await untilDone(table.flush());
			else {
				await untilDone(table.insertLater(row({ attempt: 'later' })));
				await pause(10);
			}
			expect(attemptsIn(tables.rows).filter((attempt) => attempt === 'given up')).toEqual(['given up']);
			expect(warned).toHaveLength(1);
		},
	);

	test('the ID of a task is written although the execution is stopped meanwhile, and the table was not in reach', async () => {
		const { tables, table, stop } = await open();
		tables.faults.push(['insert', LOCKED]);
		void table.insertLater(row({ attempt: 'first' }));
		await pause(10);
		stop.abort();
		for (let time = 0; time < 9; time++) tables.faults.push(['list', 'the execution has been stopped']);
		void table.insertLater(row({ attempt: 'after it' }));
		await untilDone(table.flush());
		await pause(10);
		expect(attemptsIn(tables.rows).sort()).toEqual(['after it', 'first']);
	});

	test('after a stop, they do not wait for an insert that never ends', async () => {
		class Hanging extends DataTables {
			protected override async run(parameters: IDataObject, items: INodeExecutionData[]) {
				if (parameters.operation === 'insert' && this.subExecutions.length === 1) await new Promise(() => {});
				return await super.run(parameters, items);
			}
		}
		const { tables, table, stop } = await open({ tables: new Hanging() });
		table.insertAndLook([lease('x')], ['run']).catch(() => {});
		await pause(10);
		void table.insertLater(row({ attempt: 'an ID' }));
		await pause(10);
		expect(tables.rows).toEqual([]);
		stop.abort();
		void table.flush();
		await pause(100);
		expect(attemptsIn(tables.rows)).toEqual(['an ID']);
	});
});

describe('what is read', () => {
	test('of a run, all rows in the sequence in which they were written, whatever the node', async () => {
		const { table, fill } = await open();
		const runs = ['7.0 a w', '7.0 b w', '7.1 a w', '17.0 a w', '7.0 a w2', '7.0 a (w)', '7.0 a w'];
		fill(runs.map((run) => ({ run, attempt: run })));
		expect(attemptsIn(await untilDone(table.rowsOfRun('7.0 % w')))).toEqual(['7.0 a w', '7.0 b w', '7.0 a w']);
	});

	test('a run of which not all rows can be read is not read at all: what is missing would be bought again', async () => {
		const { tables, table, fill, again } = await open();
		fill(many(50_000, { run: '7.0 a w' }));
		expect(await untilDone(table.rowsOfRun('7.0 % w'))).toHaveLength(50_000);
		expect(again().seenId).toBe(50_000);
		tables.rows.push({ ...tables.rows[0], id: 60_000 });
		await expect(untilDone(table.rowsOfRun('7.0 % w'))).rejects.toThrow('the run has more than 50000 rows');
	});

	test('a table that is replaced while a run is read gives none of its rows', async () => {
		const { tables, table, fill } = await open();
		fill(many(1_500, { run: '7.0 a w' }));
		const reading = table.rowsOfRun('7.0 % w');
		await pause(1);
		tables.tables.pop();
		expect(await untilDone(reading)).toEqual([]);
	});

	test('Purchase Keys of one moment are read together, from the table that has the name now', async () => {
		const { tables, table, insert } = await open();
		await insert(row({ attempt: 'old', key_hash: 'k' }));
		tables.rename();
		const other = await open({ tables });
		await other.insert(row({ attempt: 'new', key_hash: 'k' }), row({ attempt: 'newer', key_hash: 'k' }));
		const found = await untilDone(Promise.all(['k', 'x', 'k'].map(async (key) => await table.rowsOfKey(key))));
		expect(found.map(attemptsIn)).toEqual([['newer', 'new'], [], ['newer', 'new']]);
		// The first finds out that the table has another name now.
		expect(tables.subExecutions.filter((operations) => operations.join() === 'list,get')).toHaveLength(2);
	});

	test('requests are found by their hashes, the newest rows first', async () => {
		const { table, fill } = await open();
		fill([{ attempt: 'few', request_hash: 'few' }, ...many(1_500, { request_hash: 'h' })]);
		const hashes = ['few', ...Array.from({ length: 150 }, (_, index) => `none ${index}`), 'h'];
		const found = attemptsIn(await untilDone(table.rowsOfRequests(hashes)));
		expect([found.length, found[0], found.at(-1)]).toEqual([1_501, '1500', 'few']);
	});

	const before = (id: number) => ({ id, createdAt: ago(1) });
	const since = (id: number) => ({ id, createdAt: new Date(NOW + 1_000).toISOString() });
	const allSince = (first: number, last: number) =>
		Array.from({ length: last - first + 1 }, (_, index) => since(first + index));

	test.each<[string, Array<Partial<Row>>, boolean]>([
		['a small one', [since(7), since(49_999)], false],
		['one that has got fewer than 50,000 since', [before(50_000), since(50_002), since(99_999)], false],
		['one that has all since', [before(50_000), ...allSince(50_001, 100_001)], false],
		['one that lacks the next row', [before(50_000), since(50_002), since(100_001)], true],
		['one that lacks a later row', [before(50_000), ...allSince(50_001, 51_100), since(100_001)], true],
		['one that lacks all before', [since(50_001)], true],
		['one that lacks rows of before the run', [before(3), before(50_001), since(50_002)], false],
	])('a table may lack the rows of a run that has none: %s', async (_, rows, lacks) => {
		const { table, fill } = await open();
		fill(rows);
		expect(await untilDone(table.lacksRows())).toBe(lacks);
	});

	test('a database that does not answer once is asked again', async () => {
		const { tables, look, insert } = await open();
		await insert(lease('x'));
		tables.faults.push(['get', LOCKED]);
		expect(await look('run')).toEqual(['x']);
		tables.faults.push(['get', LOCKED], ['get', LOCKED]);
		await expect(look('run')).rejects.toThrow(LOCKED);
	});
});

describe('old rows', () => {
	const usual = { createdAt: ago(0), state: 'accepted', run: 'r', attempt: 'a', key_hash: '' };
	/** The newest 50,000: they stay, whatever they are. */
	const young = Array.from({ length: 50_000 }, (_, index) => ({
		...{ ...usual, run: 'young', attempt: 'young', id: 1_000_000 + index },
	})) as Row[];

	type Part = Partial<Omit<Row, 'run'>> & { run?: string | null };

	/** The attempts that are left of the older rows. */
	async function left(older: Part[], newest = young, signal?: AbortSignal): Promise<string[]> {
		const tables = new DataTables();
		const rows = older.map((each, index) => ({ ...usual, id: 1_000_000 - older.length + index, ...each })) as Row[];
		tables.tables.push({ id: 't', name: TABLE_NAME, columns: [], rows: [...rows, ...newest] });
		cleanedTables.clear();
		cleanUp(tables.contextOf('w', signal), 't');
		for (let seen = -1; seen !== tables.operations.length; await pause(100)) seen = tables.operations.length;
		const old = tables.rows.filter(({ id }) => id < 1_000_000);
		expect(tables.rows.length - old.length).toBe(newest.length);
		return [...new Set(old.map(({ attempt }) => String(attempt)))];
	}

	test.each([0, -200, 200])(
		'rows that are 90 days older than the newest one go, also where the clock of the worker is wrong by %i days',
		async (wrongByDays) => {
			jest.setSystemTime(NOW + wrongByDays * DAY_MS);
			const days = [90.001, 90, 89].map((age) => ({ createdAt: ago(age), attempt: `${age}` }));
			expect(await left(days, young.slice(0, 1))).toEqual(['90', '89']);
			expect(await left(Array<Part>(2_000).fill({ createdAt: ago(91) }), young.slice(0, 1))).toEqual([]);
		},
	);

	test('after a stop, for which n8n begins nothing, they stay', async () => {
		expect(await left([{ createdAt: ago(91) }], [], AbortSignal.abort())).toEqual(['a']);
		expect(cleanedTables.size).toBe(0);
	});

	test('once a day they are removed when rows have been written, and where the tables are full', async () => {
		for (const fault of [undefined, FULL]) {
			const { tables, table, insert, fill } = await open();
			fill([
				{ createdAt: ago(91), attempt: 'old' },
				{ createdAt: ago(0), attempt: 'young' },
			]);
			if (fault === undefined) await untilDone(table.insertLater(row({ attempt: 'new' })));
			else {
				tables.faults.push(['insert', fault]);
				await insert(lease('x')).catch(() => {});
			}
			await pause(1_000);
			expect(attemptsIn(tables.rows).slice(0, 1)).toEqual(['young']);
			fill([{ createdAt: ago(91), attempt: 'old' }]);
			await untilDone(table.insertLater(row({ attempt: 'new' })));
			await pause(1_000);
			expect(attemptsIn(tables.rows)).toContain('old');
		}
	});

	test('a run that began more than 31 days ago may lack rows', () => {
		expect([mayLackOldRows(NOW - 31 * DAY_MS - 1), mayLackOldRows(NOW - 31 * DAY_MS)]).toEqual([true, false]);
	});

	test('of more than 50,000 rows, whole runs go; keys and attempts without an outcome stay for 31 days', async () => {
		const purchase = (attempt: string, days: number, more: Part, ...states: AttemptState[]) => [
			{ run: attempt, state: LEASE, attempt: 'lease', key_hash: attempt, createdAt: ago(days) },
			...(['submitting', ...states] as const).map((state) => ({
				...{ run: attempt, attempt, state, createdAt: ago(days) },
				...more,
			})),
		];
		const kept = await left([
			...purchase('key, 31 days and a bit', 31.001, { key_hash: 'k' }, 'accepted'),
			...purchase('key, 31 days', 31, { key_hash: 'k' }, 'accepted'),
			...purchase('open, 31 days and a bit', 31.001, {}),
			...purchase('open, 31 days', 31, {}),
			...purchase('unknown', 1, {}, 'unknown'),
			...purchase('a state of a later version', 1, { state: 'new' }),
			...(['not_accepted', 'accepted', 'failed'] as const).flatMap((state) => purchase(state, 1, {}, state)),
			...purchase('known later', 1, {}, 'unknown', 'accepted'),
			{ run: 'credits', attempt: 'credits', state: RUN },
			...purchase('beside an open one', 1, { run: 'open, 31 days' }, 'accepted').slice(1),
			...purchase('beside one of the newest', 1, { run: 'young' }, 'accepted').slice(1),
			// n8n would evaluate the last one.
			...[null, '', '={{ 1 }}'].map((run) => ({ run, attempt: `of the run ${JSON.stringify(run)}` })),
		]);
		expect(kept.filter((attempt) => attempt !== 'lease')).toEqual([
			...['key, 31 days', 'open, 31 days', 'unknown', 'a state of a later version', 'beside an open one'],
			...['beside one of the newest', 'of the run null', 'of the run ""', 'of the run "={{ 1 }}"'],
		]);
	});
});
