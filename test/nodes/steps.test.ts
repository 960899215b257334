/** The hidden operations of the sub-workflows, each by itself: what it starts, saves and puts out, and when it ends. */
import { sleep, type INodeExecutionData } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import { describe as describeError } from '../../core/errors/describe';
import { ORDER_VERSION, type Order } from '../../core/orders/order';
import { endBadly, endWell } from '../../core/orders/states';
import { liveOrders } from '../../core/processMemory';
import { hasFinished } from '../../nodes/durable/canceledError';
import { parseOrderItems, toOrderItems } from '../../nodes/durable/orderItems';
import { stepOf } from '../../nodes/durable/steps';
import { STEPS } from '../../nodes/durable/storedNames';
import { pollWhenCalled } from '../../nodes/durable/subWorkflow';
import { withFetch } from '../support/calls.mts';
import { lightContext, NODE, untilDone, type LightOptions } from '../support/lightContext.mts';
import { acceptedOrder, batchOf, orderOf, plannedOrder } from '../support/orders.mts';

beforeEach(() => jest.useFakeTimers({ now: 1_800_000_000_000 }));
afterEach(() => jest.useRealTimers());

const polled = (item: number, more: Parameters<typeof acceptedOrder>[1] = {}) =>
	acceptedOrder(item, {
		wait: { plan: { kind: 'fixed', intervalMs: 5_000 }, timeoutMs: 1e9, onTimeout: 'error' },
		...more,
	});
const done = (item: number) => {
	const order = acceptedOrder(item);
	endWell(order, { json: { task_id: `known-${item}`, status: 'completed' } });
	return order;
};
const newerRows = (...orders: Order[]) =>
	toOrderItems(orders).map((row) => {
		Object.assign(row.json.details.gateway_order, { version: ORDER_VERSION + 1 });
		return row;
	});

/** The execution that n8n has stopped. */
const stopped = { resultData: { runData: {}, error: { message: 'cancelled' } } };
const retry = { more: { getMode: () => 'retry' } };

/** Of each order: its state, or the reason of its end. */
const endsOf = (items: INodeExecutionData[]) =>
	items.map((item) => orderOf(item).end?.error?.details.reason?.name ?? orderOf(item).end?.as ?? orderOf(item).state);

function world(operation: string, options: LightOptions = {}, flow: object = {}, node: object = {}) {
	const light = lightContext({ names: new Set(['run']), ...options });
	Object.assign(light.memory.flow as object, flow);
	Object.assign(light.memory.node as object, node);
	const run = async () => await untilDone(Promise.resolve(stepOf(operation)?.(light.context)));
	return { ...light, run: async () => (await run()) ?? [] };
}

describe('Keep Waiting', () => {
	const keep = (options: LightOptions, flow?: object) => world(STEPS.keepWaiting, options, flow);

	test('Keep Waiting starts the execution that polls with the very items that came in, puts them out, and remembers whom it has started', async () => {
		const input = toOrderItems([polled(0, { batch: batchOf() }), plannedOrder(1)]);
		const { run, executed, memory } = keep({ input, stored: { old: { resultData: { runData: {} } } } });
		expect(await run()).toBe(input);
		expect(executed).toEqual([
			{
				workflow: { code: pollWhenCalled(NODE) },
				items: input,
				options: {
					parentExecution: { executionId: 'own', workflowId: 'w', shouldResume: true },
					returnLastRunOnly: true,
				},
			},
		]);
		expect(executed[0]?.items).toBe(input);
		expect(memory.flow).toEqual({ rounds: 1, polledBy: 'sub-1' });
	});

	test('Keep Waiting ends at once where all that came in has ended', async () => {
		const input = toOrderItems([done(0)]);
		const runData = { Start: [{ data: { main: [toOrderItems([polled(0)])] } }] };
		const { run, executed, memory } = keep(
			{ input, stored: { dead: { resultData: { runData } } } },
			{ rounds: 2, polledBy: 'dead' },
		);
		expect(await run()).toBe(input);
		expect([executed, memory.flow]).toEqual([[], { rounds: 3, polledBy: 'dead' }]);
	});

	test('Keep Waiting goes on with what is left of a dead execution, and says so to the next one', async () => {
		const batch = batchOf();
		const left = toOrderItems([done(0), polled(1, { batch })]);
		const runData = { Start: [{ data: { main: [left] } }] };
		const { run, executed } = keep(
			{ input: [{ json: { error: 'crash' } }], stored: { dead: { resultData: { runData } } } },
			{ rounds: 1, polledBy: 'dead' },
		);
		const rows = await run();
		expect(executed[0]?.items).toBe(rows);
		expect(rows.map((row) => orderOf(row).batch)).toEqual([undefined, { ...batch, isTakenOver: true }]);
	});

	test('Keep Waiting ends where the dead execution has come to its end', async () => {
		const runData = { 'Poll Tasks': [{ data: { main: [toOrderItems([done(0), done(1)])] } }] };
		const { run, executed } = keep(
			{ input: toOrderItems([done(0), polled(1)]), stored: { dead: { resultData: { runData } } } },
			{ rounds: 1, polledBy: 'dead' },
		);
		expect([endsOf(await run()), executed]).toEqual([['done', 'done'], []]);
	});

	test('Keep Waiting takes what came in, or else what it has begun with, where nothing is left of a dead execution', async () => {
		const outputs = { Start: toOrderItems([polled(7, { batch: batchOf() })]) };
		const passed = keep({ input: toOrderItems([polled(1)]), outputs }, { rounds: 1, polledBy: 'pruned' });
		expect((await passed.run()).map((row) => orderOf(row).item)).toEqual([1]);
		const begun = keep({ input: [{ json: {} }], outputs }, { rounds: 1, polledBy: 'pruned' });
		expect((await begun.run()).map((row) => orderOf(row).item)).toEqual([7]);
		const first = keep({ input: [{ json: {} }], outputs });
		expect((await first.run()).map((row) => [orderOf(row).item, orderOf(row).batch])).toEqual([[7, batchOf()]]);
	});

	test('Keep Waiting refuses items that are no orders, but ends with a damaged one when it has run before', async () => {
		const outputs = { Start: [{ json: {} }] };
		await expect(keep({ outputs }).run()).rejects.toMatchObject({ node: NODE });
		const later = keep({ outputs }, { rounds: 1 });
		expect(endsOf(await later.run())).toEqual(['storedItemUnreadable']);
		expect(later.executed).toEqual([]);
	});

	test('Keep Waiting submits nothing again when a person has clicked Retry', async () => {
		const { run, executed } = keep({ input: toOrderItems([polled(0), plannedOrder(1)]), ...retry });
		expect(endsOf(await run())).toEqual(['accepted', 'outcomeStillUnknown']);
		expect(endsOf(executed[0]?.items ?? [])).toEqual(['accepted', 'outcomeStillUnknown']);
		const over = keep({ input: toOrderItems([plannedOrder(1)]), ...retry });
		expect(endsOf(await over.run())).toEqual(['outcomeStillUnknown']);
		expect(over.executed).toEqual([]);
	});

	const ofWave = () => {
		const batch = batchOf({ places: 1, waves: 1 });
		const order = plannedOrder(1, { batch });
		if (order.request) order.request.wave = 0;
		return [polled(0, { batch }), order, plannedOrder(2, { batch }), plannedOrder(3, { batch })];
	};
	test.each<[string, LightOptions, object]>([
		[
			'a person has stopped the execution that polled',
			{ stored: { dead: { resultData: { runData: {}, error: { reason: 'manual' } } } } },
			{ rounds: 1, polledBy: 'dead' },
		],
		['nobody waits any more', { stored: { own: stopped } }, { rounds: 1 }],
		['fifty executions have died', {}, { rounds: 50 }],
		['somebody has written nonsense in the place of their number', {}, { rounds: 'x' }],
		['somebody has written a number below zero', {}, { rounds: -1 }],
	])('Keep Waiting ends where %s: with each ID, and with what may have been sent', async (_, options, flow) => {
		const { run, executed, logged } = keep(
			{ input: toOrderItems(ofWave()), names: new Set(['run', 'run, wave 0']), ...options },
			flow,
		);
		const items = await run();
		expect(executed).toEqual([]);
		expect(endsOf(items)).toEqual([
			'waitingInterrupted',
			'outcomeStillUnknown',
			...Array<string>(2).fill('submissionStopped'),
		]);
		expect(logged).toEqual(['Generation Gateway: nobody waits any more, still running at the service: known-0']);
	});

	const knew = (around: string[]) => ({
		dead: {
			resultData: { runData: {} },
			executionData: { contextData: { 'node:Poll Tasks': { parents: { around } } } },
		},
	});
	const asleepFor = (child: string) => ({
		waitTill: new Date(0),
		resultData: { runData: {} },
		executionData: { nodeExecutionStack: [{ metadata: { waitingChildExecutionIds: [child] } }] },
	});

	test('Keep Waiting starts nothing in the place of a dead execution when the one around was deleted: the dead one knew it', async () => {
		const input = toOrderItems([polled(0), plannedOrder(1)]);
		const flow = { rounds: 1, polledBy: 'dead' };
		const gone = keep({ input, stored: { ...knew(['own', 'root']), root: null } }, { ...flow });
		expect(endsOf(await gone.run())).toEqual(['waitingInterrupted', 'submissionStopped']);
		expect(gone.executed).toEqual([]);
		const there = keep({ input, stored: { ...knew(['own', 'root']), root: asleepFor('own') } }, { ...flow });
		await there.run();
		expect(there.executed).toHaveLength(1);
	});

	test('Keep Waiting of a retry asks for nobody around: whoever waited has gone on', async () => {
		const input = toOrderItems([polled(0)]);
		const flow = { rounds: 1, polledBy: 'dead', parents: { around: ['root'] } };
		const again = keep({ input, stored: knew(['own', 'root']), ...retry }, flow);
		await again.run();
		expect(again.executed).toHaveLength(1);
	});

	test.each([
		[0, undefined],
		[1, 'ended early'],
	])(
		'Keep Waiting remembers the execution that ended before it slept, so that a stop of it counts, but not in the first round, after which the node goes on in memory: %d',
		async (rounds, parked) => {
			const ended = Object.assign(new Error('n8n was stopped'), { executionId: 'ended early' });
			const execute = () => {
				throw ended;
			};
			const flow = { rounds, polledBy: 'dead' };
			const { run, memory, executed } = keep({ input: toOrderItems([polled(0)]), execute }, flow);
			await expect(run()).rejects.toBe(ended);
			expect(executed).toHaveLength(1);
			expect(memory.flow).toMatchObject({ rounds: rounds + 1, polledBy: 'dead' });
			expect(memory.flow.parked).toBe(parked);
		},
	);

	test('Keep Waiting says at its end why the executions that polled have failed, where n8n did not die', async () => {
		const died = async (error: object) => {
			const stored = { dead: { resultData: { runData: {}, error } } } as never;
			const { run } = keep({ input: toOrderItems([polled(0)]), stored }, { rounds: 50, polledBy: 'dead' });
			const [order] = parseOrderItems(await run()) ?? [];
			return order?.end?.error?.details.reason?.data;
		};
		for (const name of ['NodeOperationError', 'NodeApiError'])
			expect(await died({ name, message: `Base URL is "x"\n${'y'.repeat(300)}` })).toEqual({
				...{ id: 'known-0', why: `Base URL is "x" ${'y'.repeat(184)}` },
			});
		expect(await died({ name: 'WorkflowCrashedError', message: 'out of memory' })).toEqual({ id: 'known-0' });
	});

	test('Keep Waiting ends where a person has stopped an execution that ended before it slept', async () => {
		const stored = { parked: { resultData: { runData: {}, error: { reason: 'manual' } } } };
		const { run, executed } = keep({ input: toOrderItems([polled(0)]), stored }, { rounds: 2, parked: 'parked' });
		expect(endsOf(await run())).toEqual(['waitingInterrupted']);
		expect(executed).toEqual([]);
	});

	test('Keep Waiting goes on after 49 deaths, and in its first round whatever n8n says of those who wait', async () => {
		const input = toOrderItems([polled(0)]);
		const last = keep({ input }, { rounds: 49 });
		await last.run();
		const first = keep({ input, stored: { own: stopped } });
		await first.run();
		expect([last.executed.length, first.executed.length]).toEqual([1, 1]);
	});

	test.each([
		['what came of it', [[{ json: { a: 1 } }]], [{ json: { a: 1 } }]],
		['nothing, if that came of it', [], []],
	])('Keep Waiting puts out %s where the execution that polls did not fall asleep', async (_, data, items) => {
		const calls: unknown[] = [];
		const { run, memory } = keep({
			input: toOrderItems([polled(0)]),
			execute: () => ({ executionId: 'awake', waitTill: undefined, data }),
		});
		await withFetch(
			async (url) => await Promise.reject(void calls.push(url)),
			async () => {
				expect(await run()).toEqual(items);
				await jest.advanceTimersByTimeAsync(5_000);
			},
		);
		expect([memory.flow.polledBy, calls]).toEqual(['awake', []]);
	});

	test.each([
		[0, 1],
		[2, 1],
		[3, 0],
	])(
		'Keep Waiting calls the execution that polls, but not when many have died: after %d rounds %d calls',
		async (rounds, count) => {
			const calls: string[] = [];
			const noted = { details: { resume_url: 'http://n8n.test/webhook-waiting/sub-1?signature=s' } };
			const { run } = keep(
				{ input: toOrderItems([polled(0)]), execute: () => ({ data: [[{ json: noted }]] }) },
				{ rounds },
			);
			const answer = async (url: unknown) => {
				calls.push(String(url));
				return await Promise.resolve(new Response('{}', { headers: { 'content-type': 'application/json' } }));
			};
			await withFetch(answer, async () => {
				await run();
				await jest.advanceTimersByTimeAsync(5_000);
			});
			expect(calls).toEqual(Array(count).fill('http://n8n.test/webhook-waiting/sub-1?signature=s'));
		},
	);
});

describe('Note Address', () => {
	test('Note Address puts out the address of its execution, and takes orders only', async () => {
		const { run } = world(STEPS.noteAddress, { input: toOrderItems([polled(0)]) });
		expect(await run()).toEqual([
			{ json: { details: { resume_url: 'http://n8n.test/webhook-waiting/own?signature=s' } } },
		]);
		await expect(world(STEPS.noteAddress, { input: [{ json: {} }] }).run()).rejects.toMatchObject({ node: NODE });
	});
});

describe('Poll Tasks', () => {
	const poll = (options: LightOptions, node?: object) => world(STEPS.pollTasks, options, {}, node);
	const running = { id: 'known-0', model: 'm', status: 'in_progress', progress: 5, metadata: {} };

	test('Poll Tasks does nothing while the rows pass that n8n is to keep, before the execution sleeps', async () => {
		const { run, sent } = poll({ outputs: { 'Note Address': undefined }, input: toOrderItems([polled(0)]) });
		expect([await run(), sent]).toEqual([[], []]);
	});

	test('Poll Tasks polls what its execution has begun with until all have ended, and puts that out', async () => {
		const outputs = { 'Note Address': [], Start: toOrderItems([polled(0), done(1)]) };
		const { run, memory, logged } = poll({ outputs, input: [{ json: {} }] });
		const items = await run();
		expect(endsOf(items)).toEqual(['done', 'done']);
		expect(items.some(({ json }) => 'is_canceled' in (json.details as object))).toBe(false);
		expect([memory.node.isCanceled, memory.node.rows, liveOrders.has(memory.node)]).toEqual([
			...[undefined, undefined, false],
		]);
		expect(logged.filter((line) => line.includes('nobody waits'))).toEqual([]);
	});

	test('Poll Tasks goes on with what it has saved, if that can be read, and not with its beginning', async () => {
		const outputs = { Start: toOrderItems([polled(0)]) };
		const { run } = poll({ outputs }, { rows: toOrderItems([done(3), polled(4)]) });
		expect((await run()).map((row) => orderOf(row).item)).toEqual([3, 4]);
		await expect(poll({ outputs }, { rows: [{ json: {} }] }).run()).rejects.toMatchObject({ node: NODE });
		await expect(poll({ outputs: { Start: [{ json: {} }] } }).run()).rejects.toMatchObject({ node: NODE });
	});

	test('Poll Tasks ends whenever n8n is to save, says how far it is, and goes on with the same orders', async () => {
		const batch = batchOf();
		const outputs = {
			Start: toOrderItems([polled(0), done(1), plannedOrder(2, { batch }), plannedOrder(3, { batch })]),
		};
		const { run, memory, sent, names, sleepsUntil } = poll({
			outputs,
			answer: ({ method }) => (method === 'GET' ? running : undefined),
		});
		expect(await run()).toEqual([{ json: { running: 1, finished: 1, to_be_submitted: 2 } }]);
		expect(endsOf(memory.node.rows as never)).toEqual(['accepted', 'done', 'planned', 'planned']);
		const live = liveOrders.get(memory.node);
		expect([live !== undefined, sent]).toEqual([true, []]);
		expect(await run()).toEqual([{ json: { running: 3, finished: 1, to_be_submitted: 0 } }]);
		expect([liveOrders.get(memory.node) === live, names.has('run, wave 0')]).toEqual([true, true]);
		expect([sleepsUntil, memory.node.hasSlept]).toEqual([[], undefined]);
	});

	/** The execution that waits for this one is stopped when this one has been awake for so long. */
	const stoppedAfter = (ms: number): Record<string, object> => {
		const atMs = Date.now() + ms;
		return {
			own: { resultData: { runData: {} }, parentExecution: { executionId: 'parent' } },
			get parent() {
				return Date.now() >= atMs ? stopped : { resultData: { runData: {} } };
			},
		};
	};

	/** The answers to requests for all prompts but the first take so long. */
	const slowly =
		(ms: number): LightOptions['answer'] =>
		async ({ method, body }) => {
			if (method === 'GET') return running;
			if (!JSON.stringify(body).includes('prompt 0')) await sleep(ms);
			return undefined;
		};

	test('Poll Tasks counts orders that are being sent among those that are to be submitted', async () => {
		const batch = batchOf();
		const orders = [0, 1].map((item) => plannedOrder(item, { batch }));
		const { run } = poll({ outputs: { Start: toOrderItems(orders) }, answer: slowly(5_000) });
		expect(await run()).toEqual([{ json: { running: 0, finished: 0, to_be_submitted: 2 } }]);
		expect(await run()).toEqual([{ json: { running: 1, finished: 0, to_be_submitted: 1 } }]);
	});

	test('Poll Tasks leaves in doubt what is under way when nobody waits any more', async () => {
		const orders = [0, 1].map((item) => plannedOrder(item, { batch: batchOf() }));
		const { run } = poll({
			outputs: { Start: toOrderItems(orders) },
			answer: slowly(60_000),
			stored: stoppedAfter(5_000),
		});
		await run();
		await run();
		const items = await run();
		expect(endsOf(items)).toEqual(['waitingInterrupted', 'outcomeStillUnknown']);
		expect(orderOf(items[1] as INodeExecutionData).end?.error?.details.reason?.data).toEqual({ thing: 'task' });
	});

	const late = (intervalMs: number) =>
		polled(0, { wait: { plan: { kind: 'fixed', intervalMs }, timeoutMs: 2e9, onTimeout: 'error' } });
	test.each([
		['until the next poll', 300_000, 300_000],
		['for a day at the most', 20 * 86_400_000, 86_400_000],
	])('Poll Tasks sleeps when nothing is due soon, %s', async (_, intervalMs, sleptMs) => {
		const { run, memory, sleepsUntil } = poll({
			outputs: { Start: toOrderItems([late(intervalMs)]) },
			answer: () => running,
		});
		expect(await run()).toEqual([{ json: { running: 1, finished: 0, to_be_submitted: 0 } }]);
		const [until, ...others] = sleepsUntil.map((date) => date.getTime());
		expect(others).toEqual([]);
		expect(Math.abs(Number(until) - Date.now() - sleptMs)).toBeLessThan(20_000);
		expect([memory.node.hasSlept, liveOrders.has(memory.node)]).toEqual([true, false]);
		expect(endsOf(memory.node.rows as never)).toEqual(['accepted']);
	});

	test('Poll Tasks sends nothing when a person has clicked Retry: another execution has taken over', async () => {
		const batch = batchOf();
		const outputs = { Start: toOrderItems([polled(0, { batch }), plannedOrder(1, { batch }), done(2)]) };
		const { run, sent } = poll({ outputs, ...retry });
		expect(endsOf(await run())).toEqual(['waitingInterrupted', 'outcomeStillUnknown', 'done']);
		expect(sent).toEqual([]);
	});

	test('Poll Tasks ends within seconds when nobody waits any more: the tasks are named, and nothing more is sent', async () => {
		const orders = [polled(0), plannedOrder(1, { batch: batchOf() })];
		const { run, sent, memory, logged } = poll({
			outputs: { Start: toOrderItems(orders) },
			answer: () => running,
			stored: stoppedAfter(100),
		});
		expect(endsOf(await run())).toEqual(['waitingInterrupted', 'submissionStopped']);
		expect(sent.filter(({ method }) => method === 'POST')).toEqual([]);
		expect(liveOrders.has(memory.node)).toBe(false);
		expect(logged).toContain('Generation Gateway: nobody waits any more, still running at the service: known-0');
	});

	test('Poll Tasks runs once more, for an error, when nobody waits any more for what has not finished; a retry goes on with that', async () => {
		const orders = [polled(0), done(1), plannedOrder(2, { batch: batchOf() })];
		const options = { outputs: { Start: toOrderItems(orders) }, ...retry };
		const { run, memory } = poll(options);
		const items = await run();
		expect(endsOf(items)).toEqual(['waitingInterrupted', 'done', 'outcomeStillUnknown']);
		expect(items.map(({ json }) => (json.details as { is_canceled?: boolean }).is_canceled)).toEqual([
			true,
			true,
			true,
		]);
		expect([memory.node.isCanceled, endsOf(memory.node.rows as never)]).toEqual([
			true,
			['accepted', 'done', 'planned'],
		]);
		const next = poll({ input: items }, memory.node);
		const error = gatewayError('waitingCanceled', {});
		const thrown = (await next.run().catch((canceled: unknown) => canceled)) as { description: string };
		expect(thrown).toMatchObject({ node: NODE, message: error.message, context: { itemIndex: 0 } });
		expect(thrown.description).toBe(`${describeError(error, { recovery: 'runAgain' })} Tasks: known-0.`);
		expect(next.sent).toEqual([]);
	});

	test.each<[Parameters<typeof gatewayError>[0], string, boolean]>([
		['waitingInterrupted', 'stopped', false],
		['submissionStopped', 'notSubmitted', false],
		['outcomeStillUnknown', 'outcomeUnknown', false],
		['balanceTooLow', 'refused', true],
	])('an order that has ended with %s (%s) has finished by itself: %p', (reason, as, isFinished) => {
		const order = plannedOrder(0);
		expect(hasFinished(order)).toBe(false);
		endBadly(order, gatewayError(reason, {} as never));
		expect([order.end?.as, hasFinished(order)]).toEqual([as, isFinished]);
	});

	test('Poll Tasks names no tasks in its last error where none is left', async () => {
		const failed = acceptedOrder(1);
		endBadly(failed, gatewayError('taskFailed', { id: 'known-1', status: 'failed' }));
		const { run } = poll({ input: toOrderItems([done(0), failed]) }, { isCanceled: true });
		const thrown = (await run().catch((canceled: unknown) => canceled)) as { description: string; messages: string[] };
		expect(thrown.description).toBe(describeError(gatewayError('waitingCanceled', {}), { recovery: 'runAgain' }));
		expect(thrown.messages.join()).not.toContain('IDs');
	});

	test('Poll Tasks asks whether somebody waits before it submits what it has saved', async () => {
		const { run, sent } = poll({
			outputs: { Start: toOrderItems([plannedOrder(0, { batch: batchOf() })]) },
			stored: stoppedAfter(260),
		});
		expect(await run()).toMatchObject([{ json: { to_be_submitted: 1 } }]);
		expect(endsOf(await run())).toEqual(['submissionStopped']);
		expect(sent).toEqual([]);
	});

	test('Poll Tasks does not ask in its first run, when those who wait may not be saved yet', async () => {
		const getExecutionDataById = jest.fn(async () => await Promise.reject(new Error('not now')));
		const { run } = poll({
			outputs: { Start: toOrderItems([plannedOrder(0, { batch: batchOf() })]) },
			more: { getExecutionDataById },
		});
		await run();
		expect(getExecutionDataById.mock.calls.length).toBeLessThanOrEqual(1);
	});

	test('Poll Tasks hands its ends on when those who wait are saved as asleep, unless they have been seen asleep', async () => {
		const parent = (waitTill?: Date) => ({
			waitTill,
			resultData: { runData: {} },
			executionData: { nodeExecutionStack: [{ metadata: { waitingChildExecutionIds: ['own'] } }] },
		});
		let isAsleep = false;
		const stored = {
			own: { resultData: { runData: {} }, parentExecution: { executionId: 'parent' } },
			get parent() {
				return parent(isAsleep ? new Date(4e12) : undefined);
			},
		};
		const more = { getExecutionContext: () => ({ establishedAt: 1, parentExecutionId: 'parent' }) };
		const outputs = { Start: toOrderItems([polled(0)]) };
		const waiting = poll({ outputs, stored, more });
		let isOver = false;
		const work = waiting.run().finally(() => (isOver = true));
		await jest.advanceTimersByTimeAsync(12_000);
		expect(isOver).toBe(false);
		isAsleep = true;
		await work;
		isAsleep = false;
		const beganAtMs = Date.now();
		await poll({ outputs, stored, more }, { hasSlept: true }).run();
		expect(Date.now() - beganAtMs).toBeLessThan(12_000);
	});

	test('Poll Tasks leaves nothing at work when it fails', async () => {
		const { run, memory } = poll({
			outputs: { Start: toOrderItems([polled(0)]) },
			more: { getCredentials: async () => await Promise.reject(new Error('gone')) },
		});
		await expect(run()).rejects.toThrow('gone');
		expect(liveOrders.has(memory.node)).toBe(false);
	});

	test('at the end of Poll Tasks, as many orders are in doubt as may have been sent before a crash: the first of those that were not sent since', async () => {
		const batch = batchOf({ inDoubt: 1 });
		const orders = [done(9), polled(0, { batch }), ...[1, 2].map((item) => plannedOrder(item, { batch }))];
		const { run } = poll({ outputs: { Start: toOrderItems(orders) }, stored: stoppedAfter(100) });
		expect(endsOf(await run())).toEqual([
			...['done', 'waitingInterrupted', 'outcomeStillUnknown', 'submissionStopped'],
		]);
	});

	test('at the end of Poll Tasks, an order that may have been sent again is in doubt, and takes the doubt from no other one', async () => {
		const batch = batchOf({ inDoubt: 1 });
		const orders = [0, 1, 2].map((item) => plannedOrder(item, { batch }));
		Object.assign(orders[0]?.request as object, { maybeSent: true });
		const { run } = poll({ outputs: { Start: toOrderItems(orders) }, stored: stoppedAfter(100) });
		expect(endsOf(await run())).toEqual(['outcomeStillUnknown', 'outcomeStillUnknown', 'submissionStopped']);
	});

	test('the ends of Poll Tasks say how long the tasks have been waited for', async () => {
		const order = polled(0);
		Object.assign(order.wait as object, { startedAtMs: Date.now() - 5_000 });
		const orders = [order, polled(1), acceptedOrder(2, { wait: undefined })];
		const { run, logged } = poll({ outputs: { Start: toOrderItems(orders) }, ...retry });
		const ended = (await run()).map(orderOf);
		expect(ended.map(({ task }) => task?.elapsedMs)).toEqual([5_000, 0, 0]);
		expect(ended.map(({ end }) => end?.error?.details.task)).toEqual(ended.map(({ task }) => task));
		expect(order.state).toBe('accepted');
		expect(logged.at(-1)).toMatch(/still running at the service: known-0, known-1, known-2$/);
	});
});

describe('the names of steps', () => {
	test('the names of steps are those of the sub-workflows, with former ones, and no others', () => {
		const { results, ...steps } = STEPS;
		for (const name of [...Object.values(steps), ...Object.values(results), 'durableResults'])
			expect([name, typeof stepOf(name)]).toEqual([name, 'function']);
		expect(['generate', 'Durable', ''].map(stepOf)).toEqual([undefined, undefined, undefined]);
	});

	test.each([
		[STEPS.results.continueRegularOutput, 'code'],
		['durableResults', 'code'],
		[STEPS.results.continueErrorOutput, 'details'],
	])('the names of steps tell how errors are put out: %s', async (name, field) => {
		const failed = { ...polled(0), batch: undefined };
		const [row] = await world(STEPS.pollTasks, { outputs: { Start: toOrderItems([failed]) }, ...retry }).run();
		const { run } = world(name, { input: [row as INodeExecutionData] });
		const [item] = await run();
		expect(Object.keys(item?.json ?? {})).toContain(field);
		expect(name === STEPS.results.continueErrorOutput).toBe(!('code' in (item?.json ?? {})));
		await expect(world(STEPS.results.stopWorkflow, { input: [row as INodeExecutionData] }).run()).rejects.toMatchObject(
			{
				message: expect.stringContaining('known-0') as string,
			},
		);
	});
});

describe('a step of a newer version', () => {
	const refuse = async (options: LightOptions, node?: object) => {
		const thrown = (await world('durableOfTomorrow', options, {}, node)
			.run()
			.catch((error: unknown) => error)) as { message: string; description: string; messages: string[]; node: unknown };
		return thrown;
	};

	test('a step of a newer version ends with the tasks that it has begun with, or has saved', async () => {
		const outputs = { Start: newerRows(polled(0)) };
		const one = await refuse({ outputs });
		const error = gatewayError('storedByNewerVersion', { id: 'known-0' });
		expect(one).toMatchObject({
			...{ node: NODE, message: error.message, description: describeError(error, { recovery: 'runAgain' }) },
			context: { itemIndex: 0 },
		});
		expect(one.messages.join()).not.toContain('other IDs');
		const many = await refuse({ outputs }, { rows: newerRows(polled(1), plannedOrder(2), polled(3)) });
		expect(many.message).toContain('known-1');
		expect(many.description).toContain('Other tasks: known-3');
		expect(many.description).toContain(
			"Without a task ID: 1 item. If the newer version has submitted them, n8n's log has their IDs.",
		);
		const two = await refuse({ outputs }, { rows: newerRows(plannedOrder(0), polled(1), plannedOrder(2)) });
		expect(two.description).toContain('Without a task ID: 2 items.');
		expect(one.description).not.toContain('Without a task ID');
		const none = await refuse({ outputs: { Start: newerRows(plannedOrder(0)) } });
		expect(none.description).not.toContain('Without a task ID');
		expect(none.message).not.toContain('undefined');
	});

	test('a step of a newer version refuses what is no order, and passes on what n8n itself reports', async () => {
		expect(await refuse({}, { rows: [{ json: {} }] })).toMatchObject({ node: NODE });
		const error = new Error('of n8n');
		const getContext = () => {
			throw error;
		};
		expect(await refuse({ more: { getContext } })).toBe(error);
	});
});
