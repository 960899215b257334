/** The hand-over of a run to an execution that sleeps: what is noted before, what is passed on, and what happens where n8n refuses. */
import { gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { endBadly } from '../../core/orders/states';
import { lastWakeUp } from '../../core/processMemory';
import { toOrderItems, toPlaceholder } from '../../nodes/durable/orderItems';
import { waitAndOutputResults } from '../../nodes/durable/subWorkflow';
import { HINTS } from '../../nodes/run/hints';
import { done, durableRun } from '../support/durableRun.mts';
import { NODE } from '../support/lightContext.mts';
import { acceptedOrder, batchOf, orderOf, plannedOrder } from '../support/orders.mts';

const NOW = 1_800_000_000_000;
beforeEach(() => {
	jest.useFakeTimers({ now: NOW });
	lastWakeUp.why = undefined;
});
afterEach(() => jest.useRealTimers());

/** Accepted, in a run with Retry On Fail: its request stays. */
const again = (item: number) => acceptedOrder(item, { batch: batchOf({ retry: { tries: 2, pauseMs: 0, tried: 0 } }) });
const waiting = { data: [], waitTill: new Date(4e12), executionId: 'sleeper' };

describe('n8n puts the orders to sleep', () => {
	test('orders are handed over as they are, and the node shows what is left of them until n8n replaces it', async () => {
		const { start, executed, hints, executeData, happened } = durableRun({ execute: () => waiting });
		const orders = [acceptedOrder(0), plannedOrder(1), done(2)];
		const items = await start(orders);
		expect(executed).toEqual([
			{
				workflow: { code: waitAndOutputResults(NODE, 'stopWorkflow') },
				items: toOrderItems(orders),
				options: {
					parentExecution: { executionId: 'own', workflowId: 'w', shouldResume: true },
					returnLastRunOnly: true,
				},
			},
		]);
		expect(items).toEqual([
			{ json: { task_id: 'known-0', status: 'waiting', execution_id: 'sleeper' }, pairedItem: { item: 0 } },
			{ json: { status: 'to be submitted', execution_id: 'sleeper' }, pairedItem: { item: 1 } },
			{ json: { status: 'ended', execution_id: 'sleeper' }, pairedItem: { item: 2 } },
		]);
		expect([...hints]).toEqual([HINTS.asleep({ id: 'sleeper' })]);
		expect(executeData.data).toEqual({ main: [orders.map(toPlaceholder)] });
		expect(happened).toEqual(['deferred 1', 'ended']);
	});

	test('in a retry, the orders know that nobody around this execution waits', async () => {
		const isKnown = async (mode: string) => {
			const { run, start } = durableRun({ execute: () => waiting, more: { getMode: () => mode } });
			await start([acceptedOrder(0)]);
			return run.batch?.outermost;
		};
		expect([await isKnown('retry'), await isKnown('trigger')]).toEqual(['own', undefined]);
	});

	test('a run without a batch, which submits nothing, sleeps as well', async () => {
		const { start } = durableRun({ run: { batch: undefined }, execute: () => waiting });
		expect(await start([acceptedOrder(0)])).toMatchObject([{ json: { execution_id: 'sleeper' } }]);
	});

	test('the time limit of a task counts from the first wait for it', async () => {
		const [first, waited, planned, alone] = [acceptedOrder(0), acceptedOrder(1), plannedOrder(2), acceptedOrder(3)];
		if (waited.wait) waited.wait.startedAtMs = 7;
		delete alone.wait;
		await durableRun().start([first, waited, planned, alone]);
		expect([first, waited, planned].map(({ wait }) => wait?.startedAtMs)).toEqual([NOW, 7, undefined]);
		expect(alone.wait).toBeUndefined();
	});

	test('the places of the files that are still to be uploaded go with their orders, also for another try', async () => {
		const [stored, uploaded, accepted] = [plannedOrder(0), plannedOrder(1), again(2)];
		if (uploaded.request) uploaded.request.uploads = [];
		const place = { id: 'file', mimeType: 'image/png' };
		const file = new Map([['ref', { stored: () => place }]]);
		const files = new Map([stored, uploaded, accepted].map((order) => [order, file]));
		files.set(plannedOrder(5), new Map());
		await durableRun({ run: { files } }).start([stored, uploaded, accepted, plannedOrder(3), again(4)]);
		for (const order of [stored, accepted]) expect(order.request?.files).toEqual({ ref: place });
		expect(uploaded.request?.files).toBeUndefined();
	});

	test('what an earlier try has bought is not submitted again where nobody can upload its files', async () => {
		const [accepted, without, planned] = [again(0), again(1), plannedOrder(2)];
		const file = (found?: object) => ({ stored: () => found });
		const found = new Map([
			['ref', file({ id: 'file', mimeType: 'image/png' })],
			['other', file()],
		]);
		const files = new Map([accepted, planned].map((order) => [order, found]));
		await durableRun({ run: { files } }).start([accepted, without, planned]);
		expect(accepted.request).toBeUndefined();
		expect(without.request).toBeDefined();
		expect(without.request).not.toHaveProperty('files');
		// Nothing was bought: what is there goes with it.
		expect(Object.keys(planned.request?.files ?? {})).toEqual(['ref']);
	});

	test('an order that n8n could not note is not submitted there; the others are', async () => {
		const defer = async ({ item }: Order) => {
			if (item === 0) throw new Error('locked');
			await Promise.resolve();
		};
		const orders = [plannedOrder(0), plannedOrder(1), acceptedOrder(2)];
		await durableRun({ writeAhead: { defer } }).start(orders);
		expect(orders.map(({ state }) => state)).toEqual(['ended', 'planned', 'accepted']);
		expect(orders[0].end).toMatchObject({ as: 'refused' });
	});

	test('the purchase log notes the gap where something is bought, and only there', async () => {
		const markGap = jest.fn(async () => await Promise.resolve());
		await durableRun({ run: { purchases: { markGap } } }).start([acceptedOrder(0)]);
		expect(markGap).not.toHaveBeenCalled();
		await durableRun({ run: { purchases: { markGap } } }).start([acceptedOrder(0), plannedOrder(1)]);
		expect(markGap).toHaveBeenCalledTimes(1);
	});

	test('the purchase log notes the gap where another workflow is started: a retry after a crash must not start it again', async () => {
		const markGap = jest.fn(async () => await Promise.resolve());
		const background = { workflowId: 'other', name: 'Other', eachItem: false, executions: {} };
		const refused = plannedOrder(1);
		delete refused.request;
		endBadly(refused, gatewayError('balanceTooLow', {}));
		const run = { purchases: { markGap }, background };
		await durableRun({ run }).start([acceptedOrder(0)]);
		expect(markGap).toHaveBeenCalledTimes(1);
		await expect(durableRun({ run }).start([refused])).rejects.toThrow();
		expect(markGap).toHaveBeenCalledTimes(1);
	});

	test('where the gap cannot be noted, only what is accepted goes on', async () => {
		const markGap = async () => await Promise.reject(new Error('locked'));
		const orders = [again(0), plannedOrder(1), acceptedOrder(2)];
		await durableRun({ run: { purchases: { markGap } } }).start(orders);
		expect(orders.map(({ state }) => state)).toEqual(['accepted', 'ended', 'accepted']);
	});

	test('a retry after a crash hears of the orders that are submitted there', async () => {
		const once = durableRun();
		await once.start([acceptedOrder(0), plannedOrder(1)]);
		expect(once.deferred.mock.calls).toEqual([[1, 'hash 1', expect.any(Number)]]);
		const tried = durableRun({ run: { batch: batchOf({ retry: { tries: 2, pauseMs: 0, tried: 0 } }) } });
		await tried.start([again(0), plannedOrder(1), acceptedOrder(2)]);
		expect(tried.deferred.mock.calls).toEqual([
			[0, 'hash 0', expect.any(Number)],
			[1, 'hash 1', expect.any(Number)],
		]);
		expect(tried.happened).toEqual(['deferred 1', 'ended']);
	});

	test('a stop while n8n falls asleep is in the console; without cancel signal there is no stop', async () => {
		const stopped = durableRun({ execute: () => waiting });
		stopped.stop.abort();
		await stopped.start([acceptedOrder(0)]);
		expect(stopped.happened).toEqual(['ended', 'stopped']);
		const old = durableRun({ more: { getExecutionCancelSignal: () => undefined } });
		await old.start([acceptedOrder(0)]);
		expect(old.happened).toEqual(['ended']);
	});

	test('items that could not be read, and orders that were not submitted, are handed over as what they are', async () => {
		const error = gatewayError('balanceTooLow', {});
		const held = acceptedOrder(3);
		const { start, executed } = durableRun();
		await start([
			acceptedOrder(0),
			{ error, input: { a: 1 } },
			{ error },
			{ order: held, error, input: { b: 2 } },
			{ order: plannedOrder(4), error },
			{ order: done(5), error },
		]);
		const [, read, unread, known, planned, ended] = executed[0]?.items.map(orderOf) ?? [];
		expect(read).toMatchObject({ item: 1, state: 'ended', input: { a: 1 }, end: { as: 'refused' } });
		expect(unread).toMatchObject({ item: 2, state: 'ended' });
		expect(unread).not.toHaveProperty('input');
		expect(unread).not.toHaveProperty('task');
		expect(known).toMatchObject({ item: 3, state: 'ended', input: { b: 2 }, task: { taskId: 'known-3' } });
		expect(planned).toMatchObject({ item: 4, state: 'ended', end: { as: 'refused' } });
		expect(planned).not.toHaveProperty('task');
		expect(ended).toMatchObject({ item: 5, end: { as: 'done' } });
	});

	test('results that come late in this n8n are announced', async () => {
		lastWakeUp.why = 'HTTP 502';
		const { start, hints } = durableRun({ execute: () => waiting });
		await start([acceptedOrder(0)]);
		const advice = 'set WEBHOOK_URL to an address at which n8n can reach itself';
		expect([...hints]).toEqual([HINTS.wokenLate({ why: 'HTTP 502', advice }), HINTS.asleep({ id: 'sleeper' })]);
	});
});

test('a workflow in the background gets the orders, and the node does not sleep', async () => {
	const background = { workflowId: 'other', name: 'Post Picture', eachItem: false, executions: {} };
	const { start, executed, hints, happened } = durableRun({
		run: { background },
		execute: () => ({ data: [null as never], waitTill: undefined }),
	});
	const items = await start([acceptedOrder(0)]);
	expect(items).toMatchObject([{ json: { status: 'queued', execution_id: 'sub-1' } }]);
	expect(executed).toMatchObject([{ options: { doNotWaitToFinish: true } }]);
	expect([...hints]).toEqual([HINTS.inBackground({ name: 'Post Picture' })]);
	expect(happened).toEqual(['ended']);
});
