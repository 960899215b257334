/** The attributes of a node's span, without n8n. */
import type { Order } from '../../core/orders/order';
import { trace } from '../../nodes/run/tracing';
import { acceptedOrder, plannedOrder } from '../support/orders.mts';

function tracingOf(orders: readonly Order[], more: object = {}) {
	const setMetadata = jest.fn();
	trace({ getNode: () => ({ type: 'n' }), isToolExecution: () => false, setMetadata, ...more } as never, orders, 7);
	return setMetadata.mock.calls as unknown[][];
}

/** An accepted order of this task and model. */
const order = (taskId: string, model?: string, elapsedMs = 0) => {
	const made = acceptedOrder(0, { model });
	made.task = { taskId, elapsedMs };
	return made;
};

test('the span of a node has the tasks and models of its orders, each once, the longest wait, and its requests', () => {
	const orders = [order('a', 'm', 1_000), order('b', 'm', 2_340), order('a', 'n'), plannedOrder(3)];
	expect(tracingOf(orders)).toEqual([
		[
			{
				tracing: {
					'gateway.ids': 'a, b',
					'gateway.models': 'm, n',
					'gateway.waited_seconds': 2.3,
					'gateway.requests': 7,
				},
			},
		],
	]);
});

test('the span of a node has no wait where there was none, and no list without entries', () => {
	expect(tracingOf([])).toEqual([[{ tracing: { 'gateway.requests': 7 } }]]);
	expect(tracingOf([order('a')])).toEqual([[{ tracing: { 'gateway.ids': 'a', 'gateway.requests': 7 } }]]);
});

test.each([
	['a', true],
	['Task_1.2:3/4+5=6~7-8', true],
	['a'.repeat(100), true],
	['a'.repeat(101), false],
	['a secret castle', false],
	[' a', false],
	['a?', false],
	['', false],
])('%j is in the span of a node, as an ID: %p', (taskId, isThere) => {
	const ids = isThere ? { 'gateway.ids': taskId } : {};
	expect(tracingOf([order(taskId)])).toEqual([[{ tracing: { ...ids, 'gateway.requests': 7 } }]]);
});

test('the span of a node names twenty tasks, and how many more there are', () => {
	const ids = Array.from({ length: 22 }, (_, index) => `t${index}`);
	const named = (count: number) =>
		(tracingOf(ids.slice(0, count).map((id) => order(id)))[0]?.[0] as { tracing: object }).tracing;
	expect(named(20)).toHaveProperty(['gateway.ids'], ids.slice(0, 20).join(', '));
	expect(named(22)).toHaveProperty(['gateway.ids'], `${ids.slice(0, 20).join(', ')} and 2 more`);
});

test('a call of an agent sets nothing, and an n8n that traces nothing, or cannot, is no obstacle', () => {
	expect(tracingOf([order('a')], { isToolExecution: () => true })).toEqual([]);
	expect(tracingOf([order('a')], { setMetadata: undefined })).toEqual([]);
	const setMetadata = jest.fn(() => {
		throw new Error('not now');
	});
	tracingOf([order('a')], { setMetadata });
	expect(setMetadata).toHaveBeenCalledTimes(1);
});

test('a run of more items than a function takes as arguments is traced, too', () => {
	const many = Array.from({ length: 200_000 }, (_, index) => ({ task: { taskId: `t${index}`, elapsedMs: index } }));
	expect(tracingOf(many as never)).toMatchObject([[{ tracing: { 'gateway.waited_seconds': 200 } }]]);
});
