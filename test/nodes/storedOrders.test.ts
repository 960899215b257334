/**
 * The rows in which n8n stores orders: each says what was true when it was made, and whatever becomes of them, the ID of a
 * task is read.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { MAX_ID_LENGTH, ORDER_VERSION, type Order } from '../../core/orders/order';
import { accept, beginSubmitting, endWell, makeOrder, putOff } from '../../core/orders/states';
import { parseOrderItems, salvageOrderItems, toOrderItems } from '../../nodes/durable/orderItems';

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
test('a row that the workflow meets as it is is an error without a result, and names the task', () => {
	expect(toOrderItems([accepted(0)])[0]?.json).toEqual({
		error: 'The result of task t0 has not arrived yet',
		message: expect.stringContaining('n8n keeps it until every task has finished') as string,
		details: { task_id: 't0', gateway_order: accepted(0) },
	});
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

test('an order of a newer version is kept as it is, with its files, for one who has that version again', () => {
	const row = { ...newer(accepted(0)), binary: { data: { data: 'AAAA', mimeType: 'image/png' } } };
	const [order] = salvageOrderItems([row]) ?? [];
	const { gateway_order: stored } = row.json.details as IDataObject;
	expect(order?.about).toEqual({ stored, binary: row.binary });
	expect(salvageOrderItems(toOrderItems([order as Order]))?.[0]).toEqual(order);
});
