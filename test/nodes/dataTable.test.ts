/** n8n's Data Table node in a sub-execution: what is run, the table of the purchase log, and its old rows. */
import type { IExecuteFunctions, IExecuteWorkflowInfo } from 'n8n-workflow';
import { purchaseTables } from '../../core/processMemory';
import { COLUMNS } from '../../core/purchases/purchaseRow';
import { NEEDED_NODES, runDataTableNode, writeInBackground } from '../../nodes/purchaseLog/dataTableNode';
import { findTable, forgetTable, inSequence, matching, onRows } from '../../nodes/purchaseLog/table';
import { DataTables } from '../support/dataTables.mts';
import { storedSubWorkflows } from '../support/subWorkflows.mts';

beforeEach(() => {
	purchaseTables.clear();
});
afterEach(() => jest.useRealTimers());

test('the nodes of n8n that the log needs have the names that people know', () => {
	expect(NEEDED_NODES).toEqual({
		'n8n-nodes-base.executeWorkflowTrigger': 'Execute Workflow Trigger',
		'n8n-nodes-base.dataTable': 'Data table',
	});
});

describe('a sub-execution', () => {
	/** A context whose sub-executions end so. */
	function world(result: () => Promise<unknown>) {
		const executeWorkflow = jest.fn(result);
		const context = {
			executeWorkflow,
			getExecutionId: () => '7',
			getWorkflow: () => ({ id: 5 }),
		} as unknown as IExecuteFunctions;
		return { context, executeWorkflow };
	}
	const parentExecution = { executionId: '7', workflowId: '5', shouldResume: false };

	test('a sub-execution runs the node and gives its rows', async () => {
		const { context, executeWorkflow } = world(async () => ({ data: [[{ json: { id: 1 } }, { json: { id: 2 } }]] }));
		expect(await runDataTableNode(context, { operation: 'get' }, [{ a: 1 }])).toEqual([{ id: 1 }, { id: 2 }]);
		const [[info, items, none, options]] = executeWorkflow.mock.calls as unknown as [
			[IExecuteWorkflowInfo, unknown, unknown, unknown],
		];
		expect(JSON.parse(JSON.stringify(info.code))).toEqual(storedSubWorkflows['writes the purchase log']);
		expect([items, none, options]).toEqual([[{ json: { a: 1 } }], undefined, { parentExecution }]);
	});

	test('a sub-execution has one item where no rows are given: the node would not run without', async () => {
		const { context, executeWorkflow } = world(async () => ({ data: [null] }));
		expect(await runDataTableNode(context, {})).toStrictEqual([]);
		expect((executeWorkflow.mock.calls as unknown[][])[0]?.[1]).toEqual([{ json: {} }]);
	});

	test('a sub-execution fails with the error of the node', async () => {
		const error = new Error('locked');
		const { context } = world(async () => ({ data: [[{ json: {} }, { json: {}, error }]] }));
		await expect(runDataTableNode(context, {})).rejects.toBe(error);
		await expect(runDataTableNode(world(async () => await Promise.reject(error)).context, {})).rejects.toBe(error);
	});

	test('a sub-execution is given up after half a minute', async () => {
		jest.useFakeTimers();
		const { context } = world(async () => await new Promise(() => {}));
		const failed = expect(runDataTableNode(context, {})).rejects.toThrow('n8n took more than 30 s');
		await jest.advanceTimersByTimeAsync(30_000);
		await failed;
	});

	test('a sub-execution leaves no timer behind', async () => {
		jest.useFakeTimers();
		await runDataTableNode(world(async () => ({ data: [null] })).context, {});
		await jest.advanceTimersByTimeAsync(0);
		expect(jest.getTimerCount()).toBe(0);
	});

	test('a sub-execution is not waited for where the time of the execution is over', async () => {
		const { context, executeWorkflow } = world(async () => ({ data: [null] }));
		await writeInBackground(context, { operation: 'insert' }, [{ a: 1 }]);
		expect((executeWorkflow.mock.calls as unknown[][])[0]?.slice(1)).toEqual([
			[{ json: { a: 1 } }],
			undefined,
			{ doNotWaitToFinish: true, parentExecution },
		]);
	});
});

describe('the table', () => {
	const columns = Object.entries(COLUMNS).map(([name, type]) => ({ name, type }));
	const table = (id: string, name: string, of: unknown = columns) => ({ id, name, columns: of, rows: [] });

	test('the table is made once, with its columns, and found by its very name', async () => {
		const tables = new DataTables();
		tables.tables = [table('x', 'Gateway Purchases 2')];
		const context = tables.contextOf('w');
		const id = await findTable(context);
		expect(tables.tables[1]).toMatchObject({ id, name: 'Gateway Purchases', columns });
		expect(await findTable(context)).toBe(id);
		expect(tables.operations).toEqual(['list', 'create', 'list']);
		expect(await findTable(tables.contextOf('other'))).toBe(id);
		expect(tables.operations).toHaveLength(4);
	});

	test('the table is asked of n8n in the parameters of its node', async () => {
		const tables = new DataTables();
		const asked: unknown[] = [];
		const executeWorkflow = async (...[info, ...rest]: Parameters<typeof tables.execute>) => {
			asked.push((info.code as { nodes: Array<{ parameters: unknown }> }).nodes[1]?.parameters);
			return await tables.execute(info, ...rest);
		};
		await findTable({ ...tables.contextOf('w'), executeWorkflow } as never);
		const list = {
			...{ resource: 'table', operation: 'list', returnAll: true },
			options: { filterName: 'Gateway Purchases', sortField: 'createdAt', sortDirection: 'asc' },
		};
		const create = {
			...{ resource: 'table', operation: 'create', tableName: 'Gateway Purchases', columns: { column: columns } },
			options: { createIfNotExists: false },
		};
		expect(asked).toEqual([list, create, list]);
	});

	test('the table has rows that n8n finds by conditions, in the order of their IDs', () => {
		const condition = { keyName: 'run', condition: 'eq', keyValue: 'r' };
		expect(onRows('t', 'get', { ...matching([condition]), ...inSequence('DESC'), limit: 1 })).toEqual({
			...{ resource: 'row', operation: 'get', dataTableId: { __rl: true, mode: 'id', value: 't' }, limit: 1 },
			...{ matchType: 'allConditions', filters: { conditions: [condition] } },
			...{ returnAll: false, orderBy: true, orderByColumn: 'id', orderByDirection: 'DESC' },
		});
	});

	test('the table is looked for once by those who ask at the same time', async () => {
		const tables = new DataTables();
		const context = tables.contextOf('w');
		const [one, other] = await Promise.all([findTable(context), findTable(context)]);
		expect(one).toBe(other);
		expect(tables.operations).toEqual(['list', 'create', 'list']);
	});

	test('the table is that of another execution where both make it at the same moment', async () => {
		const tables = new DataTables();
		const ids = await Promise.all([findTable(tables.contextOf('a')), findTable(tables.contextOf('b'))]);
		expect(tables.tables).toHaveLength(1);
		expect(ids).toEqual([tables.tables[0]?.id, tables.tables[0]?.id]);
	});

	test('the table that n8n refuses is looked for again the next time, and the reason is said', async () => {
		const tables = new DataTables();
		tables.faults.push(['create', 'no more tables']);
		const context = tables.contextOf('w');
		await expect(findTable(context)).rejects.toThrow('there is no data table "Gateway Purchases": no more tables');
		expect(await findTable(context)).toBe(tables.tables[0]?.id);
	});

	test('the table that was not made although n8n says nothing is missed', async () => {
		const tables = new DataTables();
		const execute = tables.execute;
		const context = {
			...tables.contextOf('w'),
			executeWorkflow: async (...given: Parameters<typeof execute>) => {
				const result = await execute(...given);
				tables.tables = [];
				return result;
			},
		};
		await expect(findTable(context as never)).rejects.toThrow('"Gateway Purchases": n8n did not create it');
	});

	test.each<[string, unknown[], string]>([
		['has a column less', columns.filter(({ name }) => name !== 'credits'), 'credits'],
		[
			'has a column of another type',
			columns.map((column) => (column.name === 'retry' ? { ...column, type: 'string' } : column)),
			'retry',
		],
	])('the table that somebody has changed is not used: it %s', async (_, changed, missing) => {
		const tables = new DataTables();
		tables.tables = [table('x', 'Gateway Purchases', changed)];
		await expect(findTable(tables.contextOf('w'))).rejects.toThrow(
			`the data table "Gateway Purchases" does not have the column "${missing}" of the right type`,
		);
	});

	test('the table is looked for again after it was forgotten', async () => {
		const tables = new DataTables();
		const context = tables.contextOf('w');
		await findTable(context);
		forgetTable(tables.contextOf('other'));
		await findTable(context);
		expect(tables.operations).toHaveLength(3);
		forgetTable(context);
		await findTable(context);
		expect(tables.operations).toHaveLength(4);
	});

	test('the table is remembered for a thousand workflows at most', async () => {
		const tables = new DataTables();
		for (let workflow = 0; workflow < 999; workflow++) purchaseTables.set(`w${workflow}`, Promise.resolve('x'));
		await findTable(tables.contextOf('one more'));
		expect(purchaseTables.size).toBe(1000);
		await findTable(tables.contextOf('and one'));
		expect([...purchaseTables.keys()]).toEqual(['and one']);
	});
});
