/** Which rows of the purchase log are removed, and in which steps. The time is faked. */
import { sleep, type IDataObject } from 'n8n-workflow';
import { cleanedTables } from '../../core/processMemory';
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { cleanUp, mayLackOldRows } from '../../nodes/purchaseLog/cleanUp';
import { DataTables, type Row } from '../support/dataTables.mts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-05-01T00:00:00.000Z');
const ago = (days: number) => new Date(NOW - days * DAY_MS).toISOString();

beforeEach(() => {
	jest.useFakeTimers({ now: NOW });
	cleanedTables.clear();
});
afterEach(() => jest.useRealTimers());

/** Notes the parameters of what is removed and read. */
class Noted extends DataTables {
	readonly calls: IDataObject[] = [];

	protected override perform(operation: string, parameters: IDataObject, items: never[]): IDataObject[] {
		this.calls.push(parameters);
		if (operation === 'get' && parameters.orderByDirection === 'DESC' && parameters.filters !== undefined)
			return this.before(parameters);
		return super.perform(operation, parameters, items);
	}

	/** The rows below a number, the newest first: faster than a look at each of 50,000. */
	private before({ filters, limit }: IDataObject): Row[] {
		const [{ keyName, condition, keyValue }] = (filters as { conditions: [Record<string, unknown>] }).conditions;
		expect([keyName, condition]).toEqual(['id', 'lt']);
		// PostgreSQL refuses a number that the column could not hold.
		expect(keyValue).toBeLessThanOrEqual(this.rows.at(-1)!.id + 1);
		let [low, high] = [0, this.rows.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.rows[middle].id < Number(keyValue)) low = middle + 1;
			else high = middle;
		}
		return this.rows.slice(Math.max(0, low - Number(limit)), low).reverse();
	}

	get removed() {
		return this.calls.filter(({ operation }) => operation === 'deleteRows');
	}
}

type Part = Omit<Partial<PurchaseRow>, 'run'> & { run?: string | null };

/** The newest 50,000: they stay whatever they are. */
const young = Array.from({ length: 50_000 }, (_, index) => {
	const row = { time: ago(1), state: 'completed', run: 'young', attempt: 'young', key_hash: '' };
	return { ...row, id: 1_000_000 + index };
}) as Row[];

async function clean(older: Part[], newest = young) {
	cleanedTables.clear();
	const tables = new Noted();
	const rows = older.map((row, index) => ({
		...{ time: ago(1), state: 'completed', run: 'r', attempt: 'a', key_hash: '', id: 1_000_000 - older.length + index },
		...row,
	}));
	tables.tables = [{ id: 't', name: 'Gateway Purchases', columns: [], rows: [...rows, ...newest] as Row[] }];
	const context = tables.contextOf('w');
	cleanUp(context, 't');
	await settle(tables);
	const left = tables.rows.filter(({ id }) => id < 1_000_000).map(({ attempt }) => String(attempt));
	expect(tables.rows).toHaveLength(left.length + newest.length);
	return { left: [...new Set(left)], tables, context };
}

async function settle(tables: DataTables): Promise<void> {
	for (let steps = 0, seen = -1; seen !== tables.operations.length; steps++) {
		if (steps > 20) throw new Error('It never ends');
		seen = tables.operations.length;
		await jest.advanceTimersByTimeAsync(100);
	}
}

const runsOf = ({ filters }: IDataObject) =>
	(filters as { conditions: Array<{ keyValue: string }> }).conditions.map(({ keyValue }) => keyValue);

test('a run that began more than 90 days ago may lack rows', () => {
	expect([mayLackOldRows(NOW - 90 * DAY_MS - 1), mayLackOldRows(NOW - 90 * DAY_MS)]).toEqual([true, false]);
});

describe('rows of 90 days', () => {
	test('rows older than 90 days go; those of exactly 90 days stay', async () => {
		const { left, tables } = await clean(
			[90.001, 90, 89].map((days) => ({ time: ago(days), attempt: `${days}` })),
			[],
		);
		expect(left).toEqual(['90', '89']);
		const isOld = { keyName: 'time', condition: 'lt', keyValue: ago(90) };
		const table = { resource: 'row', dataTableId: { __rl: true, mode: 'id', value: 't' } };
		const inOrder = { returnAll: false, orderBy: true, orderByColumn: 'id' };
		expect(tables.calls).toEqual([
			{
				...{ ...table, operation: 'get', matchType: 'allConditions', filters: { conditions: [isOld] } },
				...{ ...inOrder, orderByDirection: 'ASC', limit: 1000 },
			},
			{
				...{ ...table, operation: 'deleteRows', matchType: 'allConditions' },
				filters: { conditions: [isOld, { keyName: 'id', condition: 'lte', keyValue: 999_997 }] },
			},
			{ ...table, operation: 'get', ...inOrder, orderByDirection: 'DESC', limit: 1 },
			{ ...table, operation: 'get', ...inOrder, orderByDirection: 'ASC', limit: 1 },
		]);
	});

	test('a thousand rows go at once, and the search ends where no more are found', async () => {
		const { left, tables } = await clean(Array<Part>(2000).fill({ time: ago(91) }), []);
		expect(left).toEqual([]);
		expect(tables.operations).toEqual(['get', 'deleteRows', 'get', 'deleteRows', 'get', 'get', 'get']);
	});

	test('150,000 rows go on one day at most', async () => {
		const tables = new DataTables();
		const page = Array<object>(1000).fill({ json: { id: 7 } });
		const context = tables.contextOf('w');
		let removed = 0;
		let isSurplusLookedFor = false;
		context.executeWorkflow = (async ({ code }: { code: { nodes: Array<{ parameters: IDataObject }> } }) => {
			const { operation, limit } = code.nodes[1]?.parameters ?? {};
			if (operation === 'deleteRows') removed++;
			if (limit === 1) isSurplusLookedFor = true;
			await sleep(1);
			return { data: [operation === 'get' && limit !== 1 ? page : []] };
		}) as never;
		cleanUp(context, 't');
		await jest.advanceTimersByTimeAsync(1000);
		expect(removed).toBe(150);
		expect(isSurplusLookedFor).toBe(true);
	});
});

describe('more than 50,000 rows', () => {
	test('a table with 50,000 rows is not read; of one with a row more, the oldest run goes', async () => {
		const { tables } = await clean([], young);
		expect(tables.operations).toEqual(['get', 'get', 'get']);
		expect((await clean([{ attempt: 'oldest' }])).left).toEqual([]);
	});

	test('high numbers of few rows are no surplus', async () => {
		const { tables } = await clean([{ run: 'a' }, { run: 'b' }], young.slice(0, 3));
		expect(tables.operations).toEqual(['get', 'get', 'get']);
	});

	test.each(['not_accepted', 'failed', 'failed_permanently', 'completed'] as const)(
		'a purchase that has ended goes with its whole run: %s',
		async (state) => {
			const run = (['submitting', 'accepted', state] as const).map((each) => ({ state: each, attempt: 'ended' }));
			expect((await clean([...run, { state: 'run', attempt: '' }])).left).toEqual([]);
		},
	);

	test('keys and purchases without an end stay for 31 days, and with them all rows of their runs', async () => {
		const purchase = (attempt: string, days: number, more: Part) =>
			(['submitting', 'accepted', 'completed'] as const).map((state) => ({
				...{ run: attempt, attempt, state, time: ago(days) },
				...more,
			}));
		const { left } = await clean([
			...purchase('key, 31 days and a bit', 31.001, { key_hash: 'k' }),
			...purchase('key, 31 days', 31, { key_hash: 'k' }),
			...purchase('open, 31 days and a bit', 31.001, { state: 'accepted' }),
			...purchase('open, 31 days', 31, { state: 'accepted' }),
			...purchase('unknown', 1, { state: 'unknown' }),
			...purchase('ended', 1, {}),
			...purchase('beside an open one', 1, { run: 'open, 31 days' }),
			...purchase('newest', 1, { run: 'young' }),
		]);
		expect(left).toEqual(['key, 31 days', 'open, 31 days', 'unknown', 'beside an open one', 'newest']);
	});

	test('a hundred runs go at once, and what has no run stays', async () => {
		const many = Array.from({ length: 250 }, (_, index) => ({ run: `${index}` }));
		const { left, tables } = await clean([...many, { run: null, attempt: 'none' }, { run: '', attempt: 'empty' }]);
		expect(left).toEqual(['none', 'empty']);
		expect(tables.removed.map((each) => runsOf(each).length)).toEqual([100, 100, 50]);
		expect(tables.removed.flatMap(runsOf).sort()).toEqual(many.map(({ run }) => run).sort());
		expect(tables.removed[0]).toMatchObject({ matchType: 'anyCondition' });
		const [first] = (tables.removed[0]?.filters as { conditions: unknown[] }).conditions;
		expect(first).toEqual({ keyName: 'run', condition: 'eq', keyValue: '249' });
	});

	test('nothing is removed where no run may go', async () => {
		const { left, tables } = await clean([{ state: 'unknown' }]);
		expect(left).toEqual(['a']);
		expect(tables.removed).toEqual([]);
		expect((await clean([{ run: null }])).tables.removed).toEqual([]);
	});

	test('runs go together as long as they have a thousand rows at most', async () => {
		const run = (name: string, rows: number) => Array<Part>(rows).fill({ run: name });
		const { tables } = await clean([...run('huge', 1500), ...run('c', 501), ...run('b', 500), ...run('a', 500)]);
		expect(tables.removed.map(runsOf)).toEqual([['a', 'b'], ['c'], ['huge']]);
		expect((await clean(run('huge', 1500))).tables.removed.map(runsOf)).toEqual([['huge']]);
	});
});

test('a table is looked at once a day', async () => {
	const { tables, context } = await clean([], []);
	const after = async (ms: number) => {
		jest.setSystemTime(NOW + ms);
		const before = tables.operations.length;
		cleanUp(context, 't');
		await settle(tables);
		return tables.operations.length - before;
	};
	expect([await after(DAY_MS - 1), await after(DAY_MS)]).toEqual([0, 3]);
});

test('the days of a thousand tables are remembered', () => {
	const context = new DataTables().contextOf('w');
	for (let table = 0; table < 999; table++) cleanedTables.set(`t${table}`, NOW);
	cleanUp(context, 'one more');
	expect(cleanedTables.size).toBe(1000);
	cleanUp(context, 'and one');
	expect([...cleanedTables.keys()]).toEqual(['and one']);
});

test('rows that cannot be removed are told in the log of n8n', async () => {
	const tables = new DataTables();
	const context = tables.contextOf('w');
	cleanUp(context, 'no table');
	await settle(tables);
	expect(context.warned).toEqual([
		'Generation Gateway: old rows of "Gateway Purchases" were not removed (Could not find the data table: \'no table\')',
	]);
});
