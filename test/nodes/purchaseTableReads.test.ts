/** The table of the purchase log: which rows are read, and in which steps. The time is faked. */
import type { IDataObject } from 'n8n-workflow';
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { DataTables } from '../support/dataTables.mts';
import { untilDone } from '../support/lightContext.mts';
import { ids, insert, Noted, onTable, open, row } from '../support/purchaseTables.mts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const run = { run: 'r', workflow_id: 'w', node_id: 'n', node: 'N' };
const ofRun = [
	{ keyName: 'run', condition: 'eq', keyValue: 'r' },
	{ keyName: 'workflow_id', condition: 'eq', keyValue: 'w' },
	{ keyName: 'node_id', condition: 'eq', keyValue: 'n' },
];
/** Others of the same name. */
const ofOthers = [
	{ keyName: 'node', condition: 'eq', keyValue: 'N' },
	{ keyName: 'node_id', condition: 'neq', keyValue: 'n' },
];

test('of a key with more rows than n8n reads at once, the newest are read; of others all', async () => {
	const { tables, table } = open();
	await insert(table, row({ key_hash: 'few', task_id: 'first' }));
	for (let count = 0; count < 1500; count++)
		tables.rows.push({ ...row({ key_hash: 'many', task_id: `${count}` }), id: 100 + count });
	const [many, few] = await untilDone(Promise.all([table.rowsOfKey('many'), table.rowsOfKey('few')]));
	expect(many).toHaveLength(1000);
	expect(many.map((found) => Number((found as PurchaseRow).task_id)).sort((a, b) => a - b)[0]).toBe(500);
	expect(few).toMatchObject([{ task_id: 'first' }]);
});

test('somebody renames the table: what another workflow writes into the new one is read, and rows go there', async () => {
	const tables = new DataTables();
	const [first, second] = [open(tables).table, open(tables).table];
	await insert(first, row({ key_hash: 'k', task_id: 'archived' }));
	for (const table of tables.tables) table.name = 'Archive';
	await insert(second, row({ key_hash: 'k', task_id: 'bought' }));
	expect(await untilDone(first.rowsOfKey('k'))).toMatchObject([{ task_id: 'bought' }]);
	await insert(first, row({ key_hash: 'k', task_id: 'claim' }));
	expect(ids(tables)).toEqual(['bought', 'claim']);
});

describe('the rows of a run', () => {
	test('the rows of a run are those of its workflow and node, which may have a new name, or be made anew under the same', async () => {
		const tables = new Noted();
		const { table } = open(tables);
		await insert(table, row({ task_id: 'made anew', node_id: 'x' }));
		await insert(table, row({ task_id: 'own' }));
		await insert(table, row({ task_id: 'renamed', node: 'x' }));
		for (const other of [{ run: 'x' }, { workflow_id: 'x' }, { node_id: 'x', node: 'x' }])
			await insert(table, row(other));
		expect((await untilDone(table.rowsOfRun(run))).map((each) => (each as IDataObject).task_id)).toEqual([
			...['made anew', 'own', 'renamed'],
		]);
		const conditionsOf = [ofRun, [...ofRun.slice(0, 2), ...ofOthers]];
		expect(tables.asked('get')).toEqual(
			conditionsOf.map((conditions) => ({
				...{ ...onTable(tables), operation: 'get', matchType: 'allConditions', filters: { conditions } },
				...{ returnAll: false, limit: 50_000 },
			})),
		);
	});

	test('the rows of others are those of other executions since a row; those who ask together get one answer', async () => {
		const tables = new Noted();
		const { table } = open(tables);
		for (const execution of ['6', '6', '7']) await insert(table, row({ execution }));
		await insert(table, row({ execution: '6', node_id: 'x', node: 'x' }));
		const ask = async () => await table.rowsOfOthers({ ...run, execution: '7' }, 1);
		const [one, other] = await untilDone(Promise.all([ask(), ask()]));
		expect(one).toMatchObject([{ id: 2, execution: '6' }]);
		expect(other).toEqual(one);
		const since = [
			{ keyName: 'execution', condition: 'neq', keyValue: '7' },
			{ keyName: 'id', condition: 'gt', keyValue: 1 },
		];
		expect(tables.asked('get')).toMatchObject([
			{ filters: { conditions: [...ofRun, ...since] } },
			{ filters: { conditions: [...ofRun.slice(0, 2), ...ofOthers, ...since] } },
		]);
	});

	test('a run with 50,000 rows cannot be read: some may be missing', async () => {
		class Full extends DataTables {
			count = 49_999;

			protected override perform(operation: string, parameters: IDataObject, items: never[]) {
				if (operation !== 'get') return super.perform(operation, parameters, items);
				// None has the name only.
				const { conditions } = parameters.filters as { conditions: IDataObject[] };
				const isOfName = conditions.some(({ keyName }) => keyName === 'node');
				return isOfName ? [] : Array(this.count).fill({ id: 1 });
			}
		}
		const tables = new Full();
		const { table } = open(tables);
		expect(await untilDone(table.rowsOfRun(run))).toHaveLength(49_999);
		tables.count++;
		await expect(untilDone(table.rowsOfRun(run))).rejects.toThrow('the run has more than 50000 rows');
	});
});

describe('the rows of keys', () => {
	test('a hundred keys are read at once, each of them once', async () => {
		const tables = new Noted();
		const { table } = open(tables);
		await insert(table, row({ key_hash: 'k149', task_id: 'found' }));
		await insert(table, row({ key_hash: 'other' }));
		const keys = [...Array.from({ length: 150 }, (_, index) => `k${index}`), 'k149'];
		const found = await untilDone(Promise.all(keys.map(async (key) => await table.rowsOfKey(key))));
		expect(found.map((rows) => rows.length)).toEqual(keys.map((key) => (key === 'k149' ? 1 : 0)));
		expect(tables.values).toEqual([keys.slice(0, 100), keys.slice(100, 150)]);
		expect(tables.asked('get')[1]).toMatchObject({
			...{ matchType: 'anyCondition', returnAll: false, limit: 1000 },
			...{ orderBy: true, orderByColumn: 'id', orderByDirection: 'DESC' },
			filters: { conditions: [{ keyName: 'key_hash', condition: 'eq' }, ...Array<object>(49).fill({})] },
		});
	});

	test('keys with too many rows are read in halves, until one is alone', async () => {
		const tables = new Noted();
		const { table } = open(tables);
		await insert(table, row({ key_hash: 'a' }));
		for (let count = 0; count < 1000; count++) tables.rows.push({ ...row({ key_hash: 'c' }), id: 100 + count });
		const found = await untilDone(Promise.all(['a', 'b', 'c'].map(async (key) => await table.rowsOfKey(key))));
		expect(found.map((rows) => rows.length)).toEqual([1, 0, 1000]);
		expect(tables.values).toEqual([['a', 'b', 'c'], ['a', 'b'], ['c']]);
	});
});
