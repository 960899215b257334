/**
 * The rows in which n8n stores orders: each says what was true when it was made, and whatever becomes of them, the ID of a
 * task is read.
 */
import type { INodeExecutionData } from 'n8n-workflow';
import { MAX_ID_LENGTH, type Order } from '../../core/orders/order';
import { accept, beginSubmitting, makeOrder } from '../../core/orders/states';
import { parseOrderItems, salvageOrderItems, toOrderItem, toOrderItems } from '../../nodes/durable/orderItems';

const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 1000, polls: [] };
const result = {
	...{ as: 'file' as const, outputField: 'data', fileName: '', simplify: true, split: false },
	...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] },
};
const planned = (item: number): Order =>
	makeOrder({
		...{ item, thing: 'task', kind: 'image', then: 'poll', wait: structuredClone(wait), result: { ...result } },
		request: { body: { prompt: 'a cat' }, hash: 'h' },
		isRetried: true,
	});

test('a row still says what was true when it was made, whatever becomes of its order', async () => {
	const order = planned(0);
	const rows = await toOrderItems([order]);
	const before = structuredClone(rows);
	// As an upload does.
	Object.assign(order.request ?? {}, { body: { prompt: 'a cat', image_urls: [] }, uploads: [] });
	beginSubmitting(order);
	accept(order, { taskId: 't', elapsedMs: 0 }, 1);
	order.wait?.polls?.push({ atMs: 1 });
	expect(rows).toEqual(before);
	expect(await parseOrderItems(rows)).toHaveLength(1);
});

const accepted = (item: number, taskId = `t${item}`): Order =>
	makeOrder({ item, thing: 'task', kind: 'image', then: 'poll', task: { taskId, elapsedMs: 0 } });
/** A row as n8n gives it back. */
const stored = (order: Order): INodeExecutionData =>
	JSON.parse(JSON.stringify(toOrderItem(order))) as INodeExecutionData;
const changed = (order: Order, of: object): INodeExecutionData => {
	const row = stored(order);
	Object.assign((row.json.details as { gateway_order: object }).gateway_order, of);
	return row;
};
const damaged = (order: Order, of: object = {}) => changed(order, { kind: 7, ...of });
/** Of each order: the item, the reason of its end or its state, and the ID. */
const seen = (orders: Order[] | undefined) =>
	orders?.map(({ item, state, task, end }) => [item, end?.error?.details.reason?.name ?? state, task?.taskId]);
test.each<[string, unknown, unknown]>([
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
	['no rows', [{ json: { a: 1 } }, { json: { details: { task_id: 't' } } }], undefined],
	['no items', [], undefined],
	['nothing', undefined, undefined],
])('of what an execution has left, whatever can be read counts: %s', async (_, value, expected) => {
	expect(seen(await salvageOrderItems(value))).toEqual(expected);
});
