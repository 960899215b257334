/** An execution goes on in the place of another: what it reads of the other one, what it asks before it submits, and what a person's retry leaves. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { Order } from '../../core/orders/order';
import { beginSubmitting, endWell, errorOf } from '../../core/orders/states';
import { toOrderItems } from '../../nodes/durable/orderItems';
import { WaveLog } from '../../core/orders/waveLog';
import { leftOf, retried, resolveInterrupted, takenOver } from '../../nodes/durable/takeOver';
import { lightContext, type LightOptions } from '../support/lightContext.mts';
import { acceptedOrder, batchOf, plannedOrder } from '../support/orders.mts';

const output = (items: object[]) => ({ data: { main: [items] } });
const rowsOf = (...items: number[]): INodeExecutionData[] => toOrderItems(items.map((item) => acceptedOrder(item)));
const itemsOf = (orders: Order[] | undefined) => orders?.map(({ item }) => item);

describe('what is left of an execution that has polled', () => {
	const left = async (data: object | undefined, id: unknown = 'dead') => {
		const { context } = lightContext({ stored: data && { dead: data, 7: data } });
		const { orders, wasStopped } = await leftOf(context, id);
		return { items: itemsOf(orders), wasStopped };
	};
	const start = [output(rowsOf(0))];
	const saved = (rows: unknown) => ({ contextData: { 'node:Poll Tasks': { rows } } });

	test('of what is left of an execution, that comes first which it has saved itself, then its last output, then its beginning', async () => {
		const runData = { Start: start, 'Poll Tasks': [5, 6, 1].map((item) => output(rowsOf(item))) };
		const executionData = saved(rowsOf(2));
		expect(await left({ resultData: { runData }, executionData })).toEqual({ items: [2], wasStopped: false });
		expect(await left({ resultData: { runData } })).toEqual({ items: [1], wasStopped: false });
		expect(await left({ resultData: { runData: { Start: start } } })).toEqual({ items: [0], wasStopped: false });
	});

	test.each([
		['has begun nothing', {}],
		['has no beginning', { Start: [] }],
		['has begun without output', { Start: [{}], 'Poll Tasks': [{}] }],
		['has begun without items', { Start: [{ data: {} }], 'Poll Tasks': [{ data: {} }] }],
		['has polled nothing', { 'Poll Tasks': [] }],
	])('nothing is left of an execution that %s', async (_, runData) => {
		expect(await left({ resultData: { runData } })).toEqual({ items: undefined, wasStopped: false });
	});

	test('nothing is left of an execution that n8n has pruned, or of none', async () => {
		expect(await left(undefined)).toEqual({ items: undefined, wasStopped: false });
		for (const id of [null, 7])
			expect(await left({ resultData: { runData: { Start: start }, error: { reason: 'manual' } } }, id)).toEqual({
				items: undefined,
				wasStopped: false,
			});
	});

	test.each([
		[{ reason: 'manual' }, true],
		[{ reason: 'shutdown' }, false],
		[{ message: 'out of memory' }, false],
	])('an execution that has ended with %j was stopped by a person: %p', async (error, wasStopped) => {
		expect(await left({ resultData: { runData: {}, error } })).toMatchObject({ wasStopped });
	});
	test.each<[unknown, unknown]>([
		[['own', 'root'], { around: ['root'] }],
		[['other', 'root'], { around: ['other', 'root'] }],
		['root', undefined],
		[undefined, undefined],
	])('of an execution that knew %j to wait for it, those around who asks are known: %j', async (around, parents) => {
		const executionData = { contextData: { 'node:Poll Tasks': { parents: { around } } } };
		const { context } = lightContext({ stored: { dead: { resultData: { runData: {} }, executionData } } });
		expect((await leftOf(context, 'dead')).parents).toEqual(parents);
	});

	test.each([
		['NodeOperationError', 'no\nkey', 'no key'],
		['NodeApiError', 'x'.repeat(300), 'x'.repeat(200)],
		['WorkflowOperationError', 'n8n stopped', undefined],
		[undefined, 'out of memory', undefined],
	])(
		'of an execution that has ended with a %s, the reason is kept where it is the one of a node',
		async (name, message, why) => {
			const { context } = lightContext({ stored: { dead: { resultData: { runData: {}, error: { name, message } } } } });
			const known = await leftOf(context, 'dead');
			expect(known.why).toBe(why);
			expect('why' in known).toBe(why !== undefined);
		},
	);
});

test('who goes on in the place of another says so in all orders of a run, and changes none of theirs', () => {
	const order = acceptedOrder(0, { batch: batchOf() });
	expect(takenOver(order)).toEqual({ ...order, batch: { ...batchOf(), isTakenOver: true } });
	expect(order.batch).toEqual(batchOf());
	const old = acceptedOrder(0);
	expect(takenOver(old)).toBe(old);
});

test('a person’s retry lets the tasks that exist go on, submits nothing, and leaves no try', () => {
	const batch = batchOf({ retry: { tries: 3, pauseMs: 0, tried: 1 } });
	const sending = plannedOrder(1, { batch });
	beginSubmitting(sending);
	const done = acceptedOrder(4);
	endWell(done, { json: {} });
	const before = [plannedOrder(0, { batch }), sending, acceptedOrder(2, { batch }), acceptedOrder(3), done];
	const after = retried(before, '8');
	expect(after.map(({ state }) => state)).toEqual(['ended', 'ended', 'accepted', 'accepted', 'ended']);
	expect(after.map((order) => errorOf(order)?.details.reason)).toEqual([
		...Array<unknown>(2).fill({
			name: 'outcomeStillUnknown',
			data: { thing: 'task', what: expect.stringContaining('') as string },
		}),
		...[undefined, undefined, undefined],
	]);
	expect(after.map((order) => order.batch)).toEqual([
		...Array<unknown>(3).fill({ ...batch, retry: undefined, outermost: '8' }),
		...[undefined, undefined],
	]);
	expect('batch' in (after[3] as Order)).toBe(false);
	expect(before.map(({ state }) => state)).toEqual(['planned', 'submitting', 'accepted', 'accepted', 'ended']);
	expect(batch.retry).toBeDefined();
});

describe('before an execution ends in the place of another', () => {
	const settled = async (orders: Order[], options: LightOptions = {}) => {
		const light = lightContext(options);
		return { ...light, known: await resolveInterrupted(light.context, orders) };
	};
	const inWave = (item: number, batch = batchOf({ isTakenOver: true })) => {
		const order = plannedOrder(item, { batch });
		if (order.request) order.request.wave = 0;
		return order;
	};

	test('the orders of a wave that has a name may have been sent, and no others', async () => {
		const batch = batchOf({ isTakenOver: true, places: 1, waves: 1 });
		const orders = [inWave(0, batch), plannedOrder(1, { batch: { ...batch } }), acceptedOrder(2)];
		const { known } = await settled(orders, { names: new Set(['run', 'run, wave 0']) });
		expect(known.map((order) => errorOf(order)?.details.reason?.name ?? order.state)).toEqual([
			'outcomeStillUnknown',
			'planned',
			'accepted',
		]);
		// All of them have the same one now, in which the waves were counted.
		expect(known[0]?.batch).toBe(known[1]?.batch);
		expect(known[2]).toBe(orders[2]);
		expect(known[0]?.batch).not.toHaveProperty('isTakenOver');
	});

	test('orders of an older version, without a batch, stay as they are', async () => {
		const orders = [plannedOrder(0), acceptedOrder(1)];
		const checkProcessedAndRecord = jest.fn();
		const { known } = await settled(orders, { more: { helpers: { checkProcessedAndRecord } } });
		expect(known).toBe(orders);
		expect(checkProcessedAndRecord).not.toHaveBeenCalled();
	});

	test('where that cannot be found out, nothing has changed, and all that is unsent is in doubt', async () => {
		const batch = batchOf({ isTakenOver: true, waves: 1 });
		const orders = [inWave(0, batch), plannedOrder(1, { batch }), acceptedOrder(2)];
		const before = JSON.parse(JSON.stringify(orders)) as Order[];
		const failing = jest
			.spyOn(WaveLog.prototype, 'resolveInterrupted')
			.mockImplementation(async ([first]: readonly Order[]) => {
				delete first?.batch?.isTakenOver;
				return await Promise.reject(new Error('a mistake of ours'));
			});
		const { known } = await settled(orders);
		failing.mockRestore();
		expect(JSON.parse(JSON.stringify(known))).toEqual(before);
	});

	test('the batch is that of the first order which has one', async () => {
		const { known } = await settled([acceptedOrder(0), inWave(1)], { names: new Set(['run', 'run, wave 0']) });
		expect(known.map(({ state }) => state)).toEqual(['accepted', 'ended']);
	});

	test('the purchase log of the run is asked what was sent', async () => {
		const log = {
			...{ workflow: 'Workflow', workflow_id: 'w', node: 'Node', node_id: 'n', execution: '1', run: '1, run 0' },
			...{ retry: false, account: 'c', base_url: 'https://gateway.test' },
		};
		const { tables } = await settled([inWave(0, batchOf({ log, isTakenOver: true }))], {
			names: new Set(['run', 'run, wave 0']),
		});
		expect(tables.operations).toContain('get');
	});

	test('what was surely not sent is withdrawn from the purchase log, so that its key is free, and how the others have ended is noted', async () => {
		const log = {
			...{ workflow: 'Workflow', workflow_id: 'w', node: 'Node', node_id: 'n', execution: '1', run: '1, run 0' },
			...{ retry: false, account: 'c', base_url: 'https://gateway.test' },
		};
		const batch = batchOf({ log, isTakenOver: true, waves: 1 });
		const orders = [inWave(0, batch), plannedOrder(1, { batch })];
		for (const [index, order] of orders.entries())
			order.purchase = { attempt: `attempt ${index}`, hash: 'h', keyHash: `key ${index}` };
		const { tables } = await settled(orders, { names: new Set(['run', 'run, wave 0']) });
		expect(tables.rows.map(({ attempt, state }) => [attempt, state])).toEqual([['attempt 1', 'not_accepted']]);
	});
});
