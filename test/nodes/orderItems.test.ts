/** Rows are what n8n saves of orders, at a moment of its own; and what is read of them when they come back, or of what has become of them. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { GatewayError } from '../../core/errors';
import { MAX_ID_LENGTH, ORDER_VERSION, type Order } from '../../core/orders/order';
import { accept, beginSubmitting, endWell, makeOrder, putOff } from '../../core/orders/states';
import {
	asCanceled,
	itemsOfStart,
	ordersOfStart,
	parseOrderItems,
	requireOrders,
	salvagedStart,
	salvageOrderItems,
	toPlaceholder,
	toOrderItems,
} from '../../nodes/durable/orderItems';

const batch = { name: 'run', places: 2, requestsPerSecond: 10, stopsAtError: false, waves: 3, inDoubt: 2 };
const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 1000, onTimeout: 'error' as const, polls: [] };
const result = {
	...{ downloadResult: true, downloadLink: false, outputField: 'data', fileName: '', simplify: true },
	...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] },
};
const inWave = (item: number, shared = { ...batch, retry: { tries: 3, pauseMs: 0, tried: 1 } }): Order =>
	makeOrder({
		...{ item, thing: 'task', kind: 'image', then: 'poll', wait: structuredClone(wait), result: { ...result } },
		request: { body: { prompt: 'a cat' }, hash: 'h', submitAgain: false, wave: 2 },
		batch: shared,
	});

/** Each of them changes the order after its row was made. */
const CHANGES: Array<[string, (order: Order) => void]> = [
	['an acceptance', (order) => (beginSubmitting(order), accept(order, { taskId: 't', elapsedMs: 0 }, 1))],
	['a request that is put off', (order) => (beginSubmitting(order), putOff(order))],
	['a new wave', ({ batch: shared }) => void (shared && shared.waves++)],
	['an order in doubt that has ended', ({ batch: shared }) => void (shared && (shared.inDoubt = 1))],
	['a try', ({ batch: shared }) => void (shared?.retry && shared.retry.tried++)],
	['a poll', (order) => void order.wait?.polls?.push({ atMs: 1 })],
	['the URLs of a request', (order) => void (order.result && (order.result.requestUrls = ['https://a.example']))],
];

test.each(CHANGES)('after %s, a row still says what was true when it was made', (_, change) => {
	const order = inWave(0);
	const rows = toOrderItems([order]);
	const before = structuredClone(rows);
	change(order);
	expect(rows).toEqual(before);
	expect(parseOrderItems(rows)).toHaveLength(1);
});

test('after an answer about its task, a row still says what was true when it was made', () => {
	const order = accepted(0);
	const rows = toOrderItems([order]);
	const before = structuredClone(rows);
	Object.assign(order.task as object, { progress: 50 });
	expect(rows).toEqual(before);
});

test('a row has all of its order, and nothing else', () => {
	const order = inWave(0);
	order.wait?.polls?.push({ atMs: 1, progress: 5 });
	for (const each of [order, accepted(1), withoutFiles(2)])
		expect(toOrderItems([each]).map(({ json }) => json.details.gateway_order)).toStrictEqual([each]);
});

test('what orders have in common is one object in their rows, which n8n stores once', () => {
	const shared = { ...batch };
	const [first, second] = toOrderItems([inWave(0, shared as never), inWave(1, shared as never)]).map(
		({ json }) => json.details.gateway_order,
	);
	expect(first?.batch).toBe(second?.batch);
	expect(first?.result).toBe(second?.result);
	expect(first?.wait?.plan).toBe(second?.wait?.plan);
});

const accepted = (item: number, taskId = `t${item}`): Order =>
	makeOrder({ item, thing: 'task', kind: 'image', then: 'poll', task: { taskId, elapsedMs: 0 } });
const delivered = (item: number): Order => {
	const order = accepted(item);
	endWell(order, { json: { url: 'u' }, binary: { data: { id: 'f' } } });
	return order;
};
const withoutFiles = (item: number): Order => {
	const order = accepted(item);
	endWell(order, { json: { url: 'u' } });
	return order;
};
/** A row as n8n gives it back. */
const stored = (order: Order): INodeExecutionData =>
	JSON.parse(JSON.stringify(toOrderItems([order])[0])) as INodeExecutionData;
const changed = (order: Order, of: object): INodeExecutionData => {
	const row = stored(order);
	Object.assign((row.json.details as { gateway_order: object }).gateway_order, of);
	return row;
};
const newer = (order: Order) => changed(order, { version: ORDER_VERSION + 1 });
const damaged = (order: Order, of: object = {}) => changed(order, { kind: 7, ...of });
/** Of each order: the item, the reason of its end or its state, and the ID. */
const seen = (orders: Order[] | undefined) =>
	orders?.map(({ item, state, task, end }) => [item, end?.error?.details.reason?.name ?? state, task?.taskId]);
function reasonOf(read: () => unknown): unknown {
	try {
		return read();
	} catch (thrown) {
		return (thrown as GatewayError).details.reason?.name;
	}
}

test('a row that the workflow meets as it is is an error without a result, and names the task', () => {
	expect(toOrderItems([accepted(0)])[0]?.json).toEqual({
		error: 'The result of task t0 has not arrived yet',
		message: expect.stringContaining('n8n keeps it until every task has finished') as string,
		details: { task_id: 't0', gateway_order: accepted(0) },
	});
	expect(toOrderItems([inWave(0)])[0]?.json).toMatchObject({ error: 'The result of this item has not arrived yet' });
	expect(Object.keys(toOrderItems([inWave(0)])[0]?.json.details ?? {})).toEqual(['gateway_order']);
	expect(toOrderItems([accepted(0)])[0]).not.toHaveProperty('binary');
	expect(Object.keys(toOrderItems([accepted(0)])[0]?.json.details.gateway_order ?? {})).not.toContain('batch');
});

test('a row of what nobody waits for says so beside its order', () => {
	const [row] = toOrderItems([accepted(0)]);
	if (row === undefined) throw new Error('there is no row');
	const { json, ...files } = asCanceled({ ...row, binary: { data: { mimeType: 'image/png', data: 'x' } } });
	expect(json).toEqual({ ...row.json, details: { ...row.json.details, is_canceled: true } });
	expect(files).toEqual({ binary: { data: { mimeType: 'image/png', data: 'x' } } });
});

test('the place of an order has its ID, and not the order', () => {
	const { error, message } = toOrderItems([accepted(0)])[0]?.json ?? {};
	expect(toPlaceholder(accepted(0))).toEqual({ json: { error, message, details: { task_id: 't0' } } });
});

test('files are where n8n looks for them while an order is a row, and with its output again afterwards', () => {
	const row = stored(delivered(0));
	expect(row.binary).toEqual({ data: { id: 'f' } });
	expect(JSON.stringify(row.json)).not.toContain('"f"');
	expect(parseOrderItems([row])).toEqual([delivered(0)]);
	expect(parseOrderItems([stored(withoutFiles(0))])).toStrictEqual([withoutFiles(0)]);
	expect(parseOrderItems([{ ...stored(accepted(0)), binary: { data: {} } }])).toEqual([accepted(0)]);
	expect(parseOrderItems([{ json: row.json }])?.[0]?.end?.output).toEqual({ json: { url: 'u' } });
});

test.each<[string, unknown]>([
	['none', []],
	['no list', stored(accepted(0))],
	['nothing', undefined],
	['items of a workflow', [{ json: { a: 1 } }]],
	['one that is damaged', [stored(accepted(0)), damaged(accepted(1))]],
	['one of a newer version', [newer(accepted(0))]],
	['the order of a token', [changed(accepted(0), { thing: 'token' })]],
])('what is not all rows is none: %s', (_, value) => {
	expect(parseOrderItems(value)).toBeUndefined();
});

test.each<[string, unknown, unknown]>([
	[
		'rows',
		[stored(accepted(4)), stored(delivered(5))],
		[
			[4, 'accepted', 't4'],
			[5, 'ended', 't5'],
		],
	],
	[
		'rows of which one is damaged: the ID is in its order',
		[stored(accepted(0)), damaged(accepted(1))],
		[
			[0, 'accepted', 't0'],
			[1, 'storedItemUnreadable', 't1'],
		],
	],
	[
		'the ID is beside its order',
		[
			damaged(accepted(0), { task: undefined }),
			damaged(accepted(1), { task: 'x' }),
			damaged(accepted(2), { task: { taskId: '' } }),
		],
		[
			[0, 'storedItemUnreadable', 't0'],
			[1, 'storedItemUnreadable', 't1'],
			[2, 'storedItemUnreadable', 't2'],
		],
	],
	[
		'no ID can be read',
		[
			{ json: { details: { gateway_order: 'x', task_id: 7 } } },
			{ json: { details: { gateway_order: {}, task_id: 'x'.repeat(MAX_ID_LENGTH + 1) } } },
		],
		[
			[0, 'storedItemUnreadable', undefined],
			[1, 'storedItemUnreadable', undefined],
		],
	],
	[
		'one of a newer version',
		[newer(accepted(3)), changed(accepted(1), { version: '99' }), changed(accepted(2), { version: ORDER_VERSION - 1 })],
		[
			[0, 'storedByNewerVersion', 't3'],
			[1, 'storedItemUnreadable', 't1'],
			[2, 'storedItemUnreadable', 't2'],
		],
	],
	[
		'rows among other items',
		[{ json: {} }, {}, { json: { details: 7 } }, stored(accepted(9))],
		[
			[0, 'storedItemUnreadable', undefined],
			[1, 'storedItemUnreadable', undefined],
			[2, 'storedItemUnreadable', undefined],
			[9, 'accepted', 't9'],
		],
	],
	['no rows', [{ json: { a: 1 } }, { json: { details: { task_id: 't' } } }], undefined],
	['no items', [], undefined],
	['no objects', [stored(accepted(0)), 7], undefined],
	['no list', stored(accepted(0)), undefined],
	['nothing', undefined, undefined],
])('of what an execution has left, whatever can be read counts: %s', (_, value, expected) => {
	expect(seen(salvageOrderItems(value))).toEqual(expected);
});

test('an order of a newer version is kept as it is, for whoever has that version again', () => {
	const row = newer(accepted(0));
	const [order] = salvageOrderItems([row]) ?? [];
	expect(order?.about).toEqual({
		stored: row.json.details && (row.json.details as { gateway_order: object }).gateway_order,
	});
	const binary = { data: { data: 'AAAA', mimeType: 'image/png' } };
	const [withFile] = salvageOrderItems([{ ...row, binary }]) ?? [];
	expect(withFile?.about).toEqual({ ...order?.about, binary });
	expect(salvageOrderItems(toOrderItems([withFile as Order]))?.[0]).toEqual(withFile);
	expect(salvageOrderItems([damaged(accepted(0))])?.[0]).not.toHaveProperty('about');
	expect(salvageOrderItems([damaged(accepted(0))])?.[0]?.end?.error?.message).toBe(
		'What n8n has stored of task t0 cannot be read',
	);
	const longest = 'x'.repeat(MAX_ID_LENGTH);
	expect(salvageOrderItems([{ json: { details: { gateway_order: {}, task_id: longest } } }])?.[0]?.task?.taskId).toBe(
		longest,
	);
	expect(salvageOrderItems([{ json: { details: { gateway_order: {} } } }])?.[0]).not.toHaveProperty('task');
});

test.each<[string, unknown, unknown]>([
	['rows', [stored(accepted(0))], [[0, 'accepted', 't0']]],
	[
		'rows of a newer version among others',
		[stored(accepted(4)), newer(accepted(5))],
		[
			[4, 'accepted', 't4'],
			[1, 'storedByNewerVersion', 't5'],
		],
	],
	['a damaged row', [newer(accepted(0)), damaged(accepted(1))], 'operationNotForWorkflows'],
	['an item of a workflow', [newer(accepted(0)), { json: {} }], 'operationNotForWorkflows'],
	['an item without data', [newer(accepted(0)), { json: 7 }], 'operationNotForWorkflows'],
	['no rows', [], 'operationNotForWorkflows'],
	['nothing', undefined, 'operationNotForWorkflows'],
])('the hidden operations take rows only: %s', (_, value, expected) => {
	expect(reasonOf(() => seen(requireOrders(value)))).toEqual(expected);
});

describe('the beginning of a sub-execution', () => {
	/** A context whose node Start has these items; undefined: there is no such node. */
	const context = (start: INodeExecutionData[] | undefined, input: INodeExecutionData[] = []) =>
		({
			getWorkflowDataProxy: (item: number) => ({
				$: (name: string) => {
					if (item !== 0 || name !== 'Start' || start === undefined) throw new Error('no such node');
					return { all: () => start };
				},
			}),
			getInputData: () => input,
		}) as unknown as IExecuteFunctions;

	test('the beginning of a sub-execution is what the node Start has, or else what comes in', () => {
		const items = [{ json: { a: 1 } }];
		expect(itemsOfStart(context(items))).toBe(items);
		expect(itemsOfStart(context(undefined, items))).toBe(items);
	});

	test('the beginning of a sub-execution has orders, of which some may be damaged', () => {
		expect(seen(ordersOfStart(context([stored(accepted(0)), damaged(accepted(1))])))).toEqual([
			[0, 'accepted', 't0'],
			[1, 'storedItemUnreadable', 't1'],
		]);
		expect(reasonOf(() => ordersOfStart(context([{ json: {} }])))).toBe('operationNotForWorkflows');
	});

	test('the beginning of a sub-execution has at least one order in a later round, whatever became of it', () => {
		expect(seen(salvagedStart(context([stored(accepted(3))])))).toEqual([[3, 'accepted', 't3']]);
		expect(seen(salvagedStart(context([{ json: {} }, { json: { details: { task_id: 't' } } }])))).toEqual([
			[0, 'storedItemUnreadable', undefined],
			[1, 'storedItemUnreadable', 't'],
		]);
		expect(seen(salvagedStart(context([])))).toEqual([[0, 'storedItemUnreadable', undefined]]);
	});
});
