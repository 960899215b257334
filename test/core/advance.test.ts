/** The life of one order, whatever it is for: it is submitted, read or polled, delivered, and ends. */
import { GatewayError, gatewayError, stoppedError, type GatewayErrorKind } from '../../core/errors';
import { AccountSlots } from '../../core/account/accountSlots';
import { idTooLong } from '../../core/http/connectionErrors';
import { advance, type Ports } from '../../core/orders/advance';
import { advanceAll } from '../../core/orders/engine';
import { FirstWave } from '../../core/orders/firstWave';
import type { Order, OrderDraft } from '../../core/orders/order';
import type { OutputTools, Product } from '../../core/orders/product';
import { SleepCoordinator } from '../../core/orders/sleepCoordinator';
import { endWell, errorOf, makeOrder, makeRefused } from '../../core/orders/states';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { WriteAheadLog } from '../../core/orders/writeAheadLog';
import { OrderLedger } from '../../core/orders/ledger';
import type { AttemptHooks } from '../../core/http/types';
import type { JobControls } from '../../core/orders/jobs';
import type { PollStatus } from '../../core/polling/pollTarget';
import { deferred, fakeClock, flushPromises, parseOrder, sharedClock } from './support';

interface Rec {
	state: PollStatus['state'];
	status: string;
}

const DONE: Rec = { state: 'done', status: 'completed' };
const PENDING: Rec = { state: 'pending', status: 'queued' };
const FAILED: Rec = { state: 'failed', status: 'failed' };

type Wanted = Partial<Product<{ id: string }, Rec>> & { records?: Rec[] };

/** A service in a nutshell, and all that becomes of orders there. */
function world({ records = [DONE], ...wanted }: Wanted = {}, more: Partial<Ports> = {}) {
	const seen: string[] = [];
	const store: Record<string, unknown> = {};
	const clock = fakeClock();
	const ledger = new OrderLedger({ store, executionId: '1', runIndex: 0 });
	const reads = [...records];
	const read = async () => {
		seen.push('read');
		return await Promise.resolve(reads.length > 1 ? (reads.shift() as Rec) : (reads[0] as Rec));
	};
	const product: Product<{ id: string }, Rec> = {
		status: 'queued',
		create: async (_, body) => {
			seen.push(`create ${JSON.stringify(body)}`);
			return await Promise.resolve({ id: 'task-1' });
		},
		read,
		target: (order, task) => ({
			thing: 'task',
			task,
			fetch: async () => (await wanted.read?.(order, task)) ?? (await read()),
			statusOf: (record) => record,
			toFailure: () => new GatewayError('taskFailed', 'It has failed'),
			survivalTable: () => new SurvivalTable(),
		}),
		output: (order, { answer, record, timedOut }) => ({
			json: { id: order.task?.taskId, isNew: answer !== undefined, status: record?.status, timedOut },
		}),
		...wanted,
	};
	const ports: Ports = {
		product,
		client: { backlogMs: 0 },
		clock,
		ledger,
		writeAhead: new WriteAheadLog(
			{ execution: 'established 1', isLasting: true, executionId: '1', runIndex: 0, isRetry: false },
			ledger,
		),
		events: {
			accepted: ({ task }) => seen.push(`accepted ${task?.taskId}`),
			unclear: () => {},
			continued: ({ task }) => seen.push(`continued ${task?.taskId}`),
			finished: ({ task }) => seen.push(`finished ${task?.taskId}`),
		},
		filesOf: () => new Map(),
		uploadImage: async () => await Promise.resolve(''),
		...more,
	};
	return { ports, seen, store, clock };
}

const controls = (signal = new AbortController().signal): JobControls => ({
	signal,
	heldBack: () => undefined,
	submitting: async (submit) => await submit(signal),
	uploading: async (upload) => await upload(),
	delivering: async (deliver) => await deliver(),
});

const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 600_000, onTimeout: 'error' as const };
const request = { body: { prompt: 'a cat' }, hash: 'h', submitAgain: false };
const planned = (more: Partial<OrderDraft> = {}) =>
	makeOrder({ item: 0, thing: 'task', kind: 'image', request, wait: { ...wait }, then: 'poll', ...more });
const existing = (more: Partial<OrderDraft> = {}) =>
	planned({ request: undefined, task: { taskId: 'task-0', elapsedMs: 0 }, ...more });
const outputOf = ({ end }: Order) => end?.output?.json;

test('an order is submitted, polled until it has finished, and has its output', async () => {
	const { ports, seen } = world({ records: [PENDING, DONE] });
	const order = planned();
	await advance(order, ports, controls());
	expect(seen).toEqual(['create {"prompt":"a cat"}', 'accepted task-1', 'read', 'read', 'finished task-1']);
	expect(outputOf(order)).toEqual({ id: 'task-1', isNew: true, status: 'completed', timedOut: false });
});

test('an order that nobody waits for ends with its acceptance, and may go on at the service', async () => {
	const { ports, seen } = world();
	const order = planned({ then: 'nothing' });
	await advance(order, ports, controls());
	expect(seen).toEqual(['create {"prompt":"a cat"}', 'accepted task-1']);
	expect(outputOf(order)).toEqual({ id: 'task-1', isNew: true, timedOut: false });
});

test('an order for what exists creates nothing', async () => {
	const { ports, seen } = world();
	const order = existing();
	await advance(order, ports, controls());
	expect(seen).toEqual(['read', 'finished task-0']);
	expect(outputOf(order)).toMatchObject({ id: 'task-0', isNew: false });
});

test('an order that is to be read once is read once', async () => {
	const { ports, seen } = world({ records: [PENDING] });
	const order = existing({ then: 'read' });
	await advance(order, ports, controls());
	expect(seen.filter((what) => what === 'read')).toHaveLength(1);
	expect(seen).toContain('finished task-0');
	expect(outputOf(order)).toMatchObject({ status: 'queued', timedOut: false });
});

describe('an order that nobody waits for, whose thing an earlier try has created', () => {
	const again = async (
		records: Rec[],
		{ agoMs = 60_000, ...more }: Partial<OrderDraft> & { agoMs?: number } = {},
		wanted: Wanted = {},
	) => {
		const { ports, seen } = world({ records, ...wanted });
		ports.ledger.accepted(0, { taskId: 'task-1', hash: 'h', acceptedAtMs: ports.clock.now() - agoMs });
		const order = planned({ then: 'nothing', ...more });
		const outcome = await advance(order, ports, controls()).then(
			() => [outputOf(order)?.timedOut === false && outputOf(order)?.status, order.end?.as],
			(error: GatewayError) => [error.kind, error.task?.taskId, order.end?.as],
		);
		return { seen, outcome, order, entry: ports.ledger.find(0, 'h') };
	};

	test('it is read once: nobody knows how it is by now', async () => {
		expect(await again([PENDING])).toMatchObject({ seen: ['continued task-1', 'read'], outcome: ['queued', 'done'] });
		expect(await again([DONE])).toMatchObject({ seen: ['continued task-1', 'read'], outcome: ['completed', 'done'] });
	});

	test('a failed one is an error, and can be bought again', async () => {
		const { outcome, entry, order } = await again([FAILED]);
		expect(outcome).toEqual(['taskFailed', 'task-1', 'failed']);
		expect(order.task?.status).toBe('failed');
		expect(entry).toBeUndefined();
	});

	const trouble = (kind: GatewayErrorKind, more: Partial<Order> = {}) => ({
		read: async (order: Order) => {
			Object.assign(order, more);
			return await Promise.reject(new GatewayError(kind, 'Nobody knows it'));
		},
	});

	test.each([
		'unavailable',
		'unreachable',
		'rateLimited',
		'notFound',
		'authentication',
		'permission',
		'badInput',
	] as const)('trouble (%s) is no error: nobody waits for it', async (kind) => {
		expect((await again([], {}, trouble(kind))).outcome).toEqual([undefined, 'done']);
	});

	test('one that a Purchase Key leads to, and that the service does not know, is no reason to advise another purchase', async () => {
		const { outcome } = await again([], { agoMs: 86_400_000 }, trouble('notFound', { reused: true }));
		expect(outcome).toEqual([undefined, 'done']);
	});

	test('a stop is not the end', async () => {
		const { outcome } = await again([], {}, trouble('stopped'));
		expect(outcome).toEqual(['stopped', undefined, undefined]);
	});

	test('a thing that is no target is not read', async () => {
		expect((await again([FAILED], {}, { target: undefined })).outcome).toEqual([undefined, 'done']);
	});

	test('who asks for one gets the error', async () => {
		const { outcome } = await again([], { agoMs: 1, then: 'read' }, trouble('notFound'));
		expect(outcome).toEqual(['notFound', 'task-1', 'failed']);
	});

	test('only tasks can be read like that', async () => {
		const { seen } = await again([FAILED], { thing: 'token', kind: '' });
		expect(seen).toEqual(['continued task-1']);
	});
});

test.each([8 * 3_600_000, -3_600_000])(
	'an order that is accepted after the clock of the computer was set (by %d ms) has its whole time, and no more',
	async (byMs) => {
		const time = sharedClock();
		let offMs = 86_400_000;
		const { random, sleep: pause } = time;
		const clock = { now: () => time.at + offMs, elapsed: () => time.at, random, sleep: pause };
		// Another order keeps the execution awake.
		const sleep = new SleepCoordinator(clock, 2);
		offMs += byMs;
		const beganAt = time.at;
		const readAfterMs: number[] = [];
		const read = async () => {
			readAfterMs.push(time.at - beganAt);
			return await Promise.resolve(readAfterMs.length === 1 ? { ...PENDING, retryAfterMs: 25_000 } : PENDING);
		};
		const { ports } = world({ read }, { clock, sleep });
		const fixed = { ...wait, plan: { kind: 'fixed' as const, intervalMs: 10_000 } };
		const order = existing({ acceptedAtMs: clock.now(), wait: fixed });
		const end = await time.run(advance(order, ports, controls()).catch((error: unknown) => error));
		expect(end).toMatchObject({ kind: 'taskTimedOut' });
		expect([time.at - beganAt, order.task?.elapsedMs]).toEqual([600_000, 600_000]);
		// After the pause that was asked for, as planned.
		expect(readAfterMs.slice(0, 3)).toEqual([10_000, 35_000, 40_000]);
		expect(readAfterMs.at(-1)).toBe(600_000);
	},
);

test('a task whose acceptance nobody knows is polled at once', async () => {
	const time = sharedClock();
	const readAtMs: number[] = [];
	const read = async () => {
		readAtMs.push(time.at);
		return await Promise.resolve(DONE);
	};
	const { ports } = world({ read }, { clock: time });
	await time.run(advance(existing(), ports, controls()));
	expect(readAtMs).toEqual([1_000_000]);
});

test('an order of a kind that cannot be read has an output all the same', async () => {
	const { ports } = world({ read: undefined });
	const order = existing({ then: 'read' });
	await advance(order, ports, controls());
	expect(outputOf(order)).toMatchObject({ id: 'task-0', timedOut: false });
});

test('an order that nobody polls ends here, also where another execution polls', async () => {
	const { ports } = world({}, { firstWave: new FirstWave(fakeClock(), 1, 1) });
	const order = planned({ then: 'nothing' });
	await advance(order, ports, controls());
	expect(order.state).toBe('ended');
});

test('the output of an order is made with the controls of its job, and may say something to the user', async () => {
	const output = jest.fn((_order, _seen, { hints }: OutputTools) => {
		hints.add('a hint');
		return { json: {} };
	});
	const { ports } = world({ output });
	const [order, own] = [existing(), controls()];
	await advance(order, ports, own);
	expect(output.mock.calls[0]?.[2].controls).toBe(own);
	expect(order.end?.hints).toEqual(['a hint']);
});

test.each<[string, Partial<OrderDraft>, Wanted]>([
	['without a wait', { wait: undefined }, {}],
	['of a kind that cannot be polled', {}, { target: undefined }],
])('an order %s that is to be polled is a mistake of the package', async (_, more, wanted) => {
	const { ports } = world(wanted);
	await expect(advance(existing(more), ports, controls())).rejects.toMatchObject({
		kind: 'ownMistake',
		message: expect.stringContaining('an order without a wait was polled') as string,
	});
});

test('where another execution polls, an order is left as accepted', async () => {
	const { ports, seen } = world({}, { firstWave: new FirstWave(fakeClock(), 1, 1) });
	const order = planned();
	await advance(order, ports, controls());
	expect([order.state, order.acceptedAtMs]).toEqual(['accepted', ports.clock.now()]);
	expect(seen).not.toContain('read');
	expect(order.wait?.startedAtMs).toBe(ports.clock.now());
});

test('an ID that is too long to be kept is in the log, and a retry buys nothing in its place', async () => {
	const id = 'x'.repeat(1_001);
	const create = async () => await Promise.reject(idTooLong('task', id));
	const { ports, seen } = world({ create });
	const order = planned();
	await expect(advance(order, ports, controls())).rejects.toMatchObject({
		kind: 'outcomeUnknown',
		task: { taskId: id },
	});
	expect(seen).toEqual([`accepted ${id}`]);
	await expect(advance(planned(), ports, controls())).rejects.toThrow('in an earlier try');
});

test('a request whose outcome is unknown is remembered with the time at which it was sent, not at which that was found out', async () => {
	const clock = sharedClock();
	const sentAtMs = clock.now() + 3_000;
	const create = async (_order: Order, _body: unknown, tries?: AttemptHooks) => {
		await clock.sleep(3_000);
		await tries?.sending?.();
		await clock.sleep(120_000);
		throw gatewayError('outcomeUnknown', { thing: 'task', what: 'No answer' });
	};
	const { ports } = world({ create }, { clock });
	const atMs = async () => {
		const error = await clock.run(advance(planned(), ports, controls()).catch((thrown: unknown) => thrown));
		return (error as GatewayError).details.reason?.data;
	};
	expect(await atMs()).toMatchObject({ what: 'No answer', atMs: sentAtMs });
	expect(await atMs()).toEqual({ thing: 'task', atMs: sentAtMs });
});

test.each([
	['well', () => existing()],
	['badly', () => makeRefused(0, gatewayError('executionStopped', {}))],
])('the first wave is not kept waiting by an order that has ended %s before it began', async (how, made) => {
	const wave = new FirstWave({ ...fakeClock(), sleep: async () => await new Promise(() => {}) }, 2, 9);
	const { ports } = world({}, { firstWave: wave });
	const [ended, order] = [made(), planned()];
	if (how === 'well') endWell(ended, { json: {} });
	const first = advance(order, ports, controls());
	await advance(ended, ports, controls()).catch(() => {});
	await first;
	expect(order.state).toBe('accepted');
});

test('an ended order stays as it is', async () => {
	const { ports, seen } = world();
	const order = existing();
	endWell(order, { json: { url: 'u' } });
	await advance(order, ports, controls());
	await expect(advance(makeRefused(0, gatewayError('executionStopped', {})), ports, controls())).rejects.toMatchObject({
		kind: 'stopped',
	});
	expect(seen).toEqual([]);
	expect(outputOf(order)).toEqual({ url: 'u' });
});

describe('what fails', () => {
	test('an order that fails ends with its error, and may be created again by a retry', async () => {
		const { ports, seen, store } = world({ records: [FAILED] });
		const order = planned();
		await expect(advance(order, ports, controls())).rejects.toThrow('It has failed');
		expect(errorOf(order)?.kind).toBe('taskFailed');
		expect(order.end?.as).toBe('failed');
		expect(seen.at(-1)).toBe('finished task-1');
		expect(JSON.stringify(store)).not.toContain('task-1');
	});

	test('an order that fails for good is remembered, so that a retry does not buy the same end', async () => {
		const fails = () => new GatewayError('taskFailed', 'x', { permanent: true });
		const { ports, store } = world({
			records: [FAILED],
			target: (_, task) =>
				({
					...(world().ports.product.target?.(planned(), task) as never as object),
					task,
					fetch: async () => await Promise.resolve(FAILED),
					toFailure: fails,
				}) as never,
		});
		await expect(advance(planned(), ports, controls())).rejects.toThrow('x');
		expect(JSON.stringify(store)).toContain('task-1');
	});

	test('a failed task that is not ours is nobody’s to forget', async () => {
		const { ports, store } = world({ records: [FAILED] });
		ports.ledger.accepted(0, { hash: 'h', taskId: 'task-9', acceptedAtMs: 1 });
		await expect(advance(existing(), ports, controls())).rejects.toThrow('It has failed');
		expect(JSON.stringify(store)).toContain('task-9');
	});

	test('the error of an order that fails is explained by the product', async () => {
		const explain = () => new GatewayError('notFound', 'It was yours');
		const { ports } = world({ records: [FAILED], explain });
		const order = planned();
		await expect(advance(order, ports, controls())).rejects.toThrow('It was yours');
		expect(errorOf(order)?.message).toBe('It was yours');
	});

	test('what fails before anything was accepted is a refusal', async () => {
		const { ports, store } = world({ create: async () => await Promise.reject(new GatewayError('balance', 'x')) });
		const order = planned();
		await expect(advance(order, ports, controls())).rejects.toThrow('x');
		expect(order.end?.as).toBe('refused');
		expect(JSON.stringify(store)).not.toContain('task');
	});
});

test('what could not be delivered has not been seen to finish', async () => {
	const output = async () => await Promise.reject(new GatewayError('download', 'x'));
	const { ports, seen } = world({ output });
	await expect(advance(existing(), ports, controls())).rejects.toThrow('x');
	expect(seen.filter((what) => what.startsWith('finished'))).toEqual([]);
});

test.each([true, false])(
	'a task that cannot be found is not forgotten, because it was accepted; with Submit Again: %j',
	async (submitAgain) => {
		const output = async () => await Promise.reject(new GatewayError('notFound', 'x'));
		const { ports, store } = world({ output });
		await expect(advance(planned({ request: { ...request, submitAgain } }), ports, controls())).rejects.toThrow('x');
		expect(JSON.stringify(store)).toContain('task-1');
	},
);

test('a task that was handed over and cannot be found is not forgotten', async () => {
	const { ports, store } = world({ output: async () => await Promise.reject(new GatewayError('notFound', 'x')) });
	ports.ledger.accepted(0, { hash: 'h', taskId: 'task-0', acceptedAtMs: 1 });
	await expect(advance(existing({ acceptedAtMs: 1 }), ports, controls())).rejects.toThrow('x');
	expect(JSON.stringify(store)).toContain('task-0');
});

test('a service that is left because the run has ended is no end of the order', async () => {
	const { ports } = world();
	const target = ports.product.target?.(existing(), { taskId: 'task-0', elapsedMs: 0 });
	ports.product.target = () => ({ ...target, fetch: async () => await Promise.reject(stoppedError()) }) as never;
	const order = existing();
	await expect(advance(order, ports, controls())).rejects.toMatchObject({ kind: 'stopped' });
	expect(order.state).toBe('accepted');
});

test('an unfinished task that is wanted all the same is not said to have finished', async () => {
	const { ports, seen } = world({ records: [PENDING] });
	const order = planned({ wait: { ...wait, timeoutMs: 1_000, onTimeout: 'return' } });
	await advance(order, ports, controls());
	expect(outputOf(order)).toMatchObject({ timedOut: true });
	expect(seen.filter((what) => what.startsWith('finished'))).toEqual([]);
});

test('whoever stops the polls of an order leaves it to others', async () => {
	const stop = new AbortController();
	const { ports } = world({ records: [PENDING] });
	ports.clock.sleep = async () => await Promise.resolve(stop.abort());
	const order = planned();
	await expect(advance(order, ports, controls(stop.signal))).rejects.toMatchObject({ kind: 'stopped' });
	expect(order.state).toBe('accepted');
});

describe('many', () => {
	test('orders sleep together when none of them is due soon, and go on from there', async () => {
		const clock = sharedClock();
		const { ports, seen } = world({ records: [PENDING] }, { clock });
		ports.sleep = new SleepCoordinator(clock, 2);
		const plan = { kind: 'fixed' as const, intervalMs: 100_000 };
		const orders = [0, 1].map((item) => existing({ item, acceptedAtMs: clock.now(), wait: { ...wait, plan } }));
		const begunAtMs = clock.now();
		const { wakeAtMs, outcomes } = await clock.run(
			advanceAll(orders, ports, { concurrency: 2, continueOnError: true }),
		);
		expect((wakeAtMs ?? 0) - begunAtMs).toBe(100_000);
		expect(seen).toEqual([]);
		expect(outcomes.map(({ ok }) => ok)).toEqual([true, true]);
		expect(orders.map(({ state }) => state)).toEqual(['accepted', 'accepted']);
		expect(orders.map(({ wait: left }) => (left?.dueAtMs ?? 0) - begunAtMs)).toEqual([100_000, 100_000]);
	});

	test('orders that have no place yet are not submitted when the others fall asleep', async () => {
		const clock = sharedClock();
		const { ports, seen } = world({ records: [PENDING] }, { clock });
		ports.sleep = new SleepCoordinator(clock, 5, 2);
		const plan = { kind: 'fixed' as const, intervalMs: 100_000 };
		const orders = [0, 1, 2, 3, 4].map((item) => planned({ item, wait: { ...wait, plan } }));
		const { wakeAtMs } = await clock.run(advanceAll(orders, ports, { concurrency: 2, continueOnError: true }));
		expect(wakeAtMs).toBeDefined();
		expect(orders.map(({ state }) => state)).toEqual(['accepted', 'accepted', 'planned', 'planned', 'planned']);
		expect(seen.filter((what) => what.startsWith('create'))).toHaveLength(2);
	});

	test('orders of a model that the key may not use end before the others fall asleep: after the sleep, nobody would know', async () => {
		const clock = sharedClock();
		const create = async ({ item, scope }: Order) => {
			if (scope === 'the model a') throw new GatewayError('permission', 'The key may not use the model a');
			return await Promise.resolve({ id: `task-${item}` });
		};
		const { ports, seen } = world({ records: [PENDING], create }, { clock });
		ports.sleep = new SleepCoordinator(clock, 5, 1);
		const plan = { kind: 'fixed' as const, intervalMs: 100_000 };
		const orders = ['a', 'b', 'a', 'b'].map((model, item) =>
			planned({ item, scope: `the model ${model}`, wait: { ...wait, plan } }),
		);
		const running = existing({ item: 4, scope: 'the model a', wait: { ...wait, plan } });
		await clock.run(advanceAll([...orders, running], ports, { concurrency: 1, continueOnError: true }));
		expect(seen).toEqual(['accepted task-1']);
		expect(orders.map(({ state }) => state)).toEqual(['ended', 'accepted', 'ended', 'planned']);
		expect(running.state).toBe('accepted');
		expect(orders[2]?.end?.as).toBe('notSubmitted');
	});

	const withOnePlace = () => {
		const clock = sharedClock();
		const account = new AccountSlots(clock);
		account.most = 1;
		const create = async ({ item }: Order) => await Promise.resolve({ id: `task-${item}` });
		const { ports, seen } = world({ records: [PENDING], create }, { clock });
		ports.client = { backlogMs: 0, slots: account.ofRun() };
		ports.sleep = new SleepCoordinator(clock, 3);
		const plan = { kind: 'fixed' as const, intervalMs: 100_000 };
		const orders = [0, 1, 2].map((item) => planned({ item, wait: { ...wait, plan } }));
		return { clock, account, ports, seen, orders };
	};

	test('orders sleep although some wait for a place of the account, which only they can make free', async () => {
		const { clock, account, ports, seen, orders } = withOnePlace();
		const beganMs = clock.now();
		const { wakeAtMs } = await clock.run(advanceAll(orders, ports, { concurrency: 3, continueOnError: true }));
		expect((wakeAtMs ?? 0) - beganMs).toBe(100_000);
		expect(orders.map(({ state }) => state)).toEqual(['accepted', 'planned', 'planned']);
		expect(seen).toEqual(['accepted task-0']);
		expect(account.ofRun().isBusy()).toBe(true);
	});

	test('orders wait for a place no longer than their timeout, however often they sleep meanwhile', async () => {
		const { clock, account, ports, orders } = withOnePlace();
		for (const { item, wait } of orders) if (item > 0 && wait !== undefined) wait.timeoutMs = 150_000;
		const beganMs = clock.now();
		for (let woken = 0; woken < 3 && orders.some(({ state }) => state === 'planned'); woken++) {
			ports.client = { backlogMs: 0, slots: account.ofRun() };
			ports.sleep = new SleepCoordinator(clock, orders.filter(({ state }) => state !== 'ended').length);
			const { wakeAtMs = 0 } = await clock.run(advanceAll(orders, ports, { concurrency: 3, continueOnError: true }));
			await clock.run(clock.sleep(wakeAtMs - clock.now()));
		}
		expect(orders.map((order) => errorOf(order)?.details.reason?.name)).toEqual([
			undefined,
			...['noFreePlace', 'noFreePlace'],
		]);
		expect(clock.now() - beganMs).toBeLessThanOrEqual(300_000);
	});

	test('orders wake up when the wait for a place is over, although nothing is to be polled then', async () => {
		const { clock, ports, orders } = withOnePlace();
		for (const { item, wait } of orders)
			Object.assign(
				wait as object,
				item > 0 ? { timeoutMs: 150_000 } : { plan: { kind: 'fixed', intervalMs: 400_000 } },
			);
		const beganMs = clock.now();
		const { wakeAtMs = 0 } = await clock.run(advanceAll(orders, ports, { concurrency: 3, continueOnError: true }));
		expect(wakeAtMs - beganMs).toBe(150_000);
	});

	test('orders do not sleep where another run can make a place free', async () => {
		const { clock, account, ports, orders } = withOnePlace();
		account.most = 2;
		const leave = account.ofRun().occupy('another task');
		const stop = new AbortController();
		const { signal } = stop;
		const advancing = advanceAll(orders, ports, { concurrency: 3, continueOnError: true, signal });
		await clock.run(clock.sleep(50_000));
		expect(ports.sleep?.until).toBeUndefined();
		leave();
		await clock.run(clock.sleep(10));
		expect(orders.map(({ state }) => state)).toEqual(['accepted', 'accepted', 'planned']);
		stop.abort();
		await clock.run(advancing);
	});

	test('orders keep what a poll has seen while they sleep', async () => {
		const clock = sharedClock();
		const { ports } = world({ records: [PENDING] }, { clock });
		ports.sleep = new SleepCoordinator(clock, 1);
		const plan = { kind: 'fixed' as const, intervalMs: 100_000 };
		const order = existing({ acceptedAtMs: clock.now() - 99_990, wait: { ...wait, plan } });
		const { wakeAtMs } = await clock.run(advanceAll([order], ports, { concurrency: 1, continueOnError: true }));
		expect(wakeAtMs).toBeDefined();
		expect(order.wait?.polls).toMatchObject([{ atMs: expect.any(Number) as number }]);
	});

	test('a timeout that the clock has put off begins once, however often the order sleeps', async () => {
		const clock = sharedClock();
		const { ports } = world({ records: [PENDING] }, { clock });
		const plan = { kind: 'fixed' as const, intervalMs: 70_000 };
		const order = existing({ acceptedAtMs: clock.now(), wait: { ...wait, plan, timeoutMs: 200_000 } });
		Object.assign(order.wait ?? {}, {
			startedAtMs: clock.now() + 3_600_000,
			notBeforeMs: clock.now() + 3_700_000,
		});
		const begunAtMs = clock.now();
		const wakesAtMs: number[] = [];
		for (let sleeps = 0; sleeps < 9; sleeps++) {
			ports.sleep = new SleepCoordinator(clock, 1);
			const { wakeAtMs } = await clock.run(advanceAll([order], ports, { concurrency: 1, continueOnError: true }));
			if (wakeAtMs === undefined) break;
			wakesAtMs.push(wakeAtMs - begunAtMs);
			await clock.runUntil(wakeAtMs);
			clock.at = wakeAtMs;
		}
		expect(order.end?.as).toBe('timedOut');
		expect(clock.now() - begunAtMs).toBe(200_000);
		expect(wakesAtMs[0]).toBe(70_000);
	});

	test('a task that is to be left alone is not polled when the execution wakes up for another one', async () => {
		const clock = sharedClock();
		const { ports } = world({}, { clock });
		const begunAtMs = clock.now();
		const polledAtS: Record<string, number[]> = {};
		ports.product.target = (_, task) => ({
			thing: 'task',
			task,
			fetch: async () => {
				const times = (polledAtS[task.taskId] ??= []);
				times.push(Math.round((clock.now() - begunAtMs) / 1000));
				return await Promise.resolve(times.length > 1 ? DONE : PENDING);
			},
			statusOf: (record) => ({ ...(record as Rec), retryAfterMs: task.taskId === 'task-0' ? 600_000 : undefined }),
			toFailure: () => new GatewayError('taskFailed', 'It has failed'),
			survivalTable: () => new SurvivalTable(),
		});
		const every = (item: number, intervalMs: number) =>
			existing({
				item,
				acceptedAtMs: begunAtMs,
				task: { taskId: `task-${item}`, elapsedMs: 0 },
				wait: { ...wait, timeoutMs: 3_600_000, plan: { kind: 'fixed', intervalMs } },
			});
		let orders = [every(0, 70_000), every(1, 150_000)];
		for (let sleeps = 0; sleeps < 9; sleeps++) {
			ports.sleep = new SleepCoordinator(clock, orders.filter(({ state }) => state !== 'ended').length);
			const { wakeAtMs } = await clock.run(advanceAll(orders, ports, { concurrency: 2, continueOnError: true }));
			if (wakeAtMs === undefined) break;
			orders = orders.map((order) => parseOrder(JSON.parse(JSON.stringify(order))) as Order);
			await clock.runUntil(wakeAtMs);
			clock.at = wakeAtMs;
		}
		expect(polledAtS).toEqual({ 'task-0': [70, 670], 'task-1': [150, 300] });
	});

	test('orders that nobody lets sleep are advanced to their ends', async () => {
		const { ports } = world();
		const orders = [planned(), planned({ item: 1 })];
		const { wakeAtMs, outcomes } = await advanceAll(orders, ports, { concurrency: 2, continueOnError: true });
		expect(wakeAtMs).toBeUndefined();
		expect(outcomes.map(({ ok }) => ok)).toEqual([true, true]);
		expect(orders.map(({ state }) => state)).toEqual(['ended', 'ended']);
	});

	test('orders run side by side, and one that ends keeps nobody awake', async () => {
		const { ports } = world();
		const ended: string[] = [];
		ports.sleep = {
			signal: new AbortController().signal,
			clockOf: () => ports.clock,
			began: () => {},
			finished: () => ended.push('x'),
			until: undefined,
		} as never;
		const slow = deferred<{ id: string }>();
		let sent = 0;
		ports.product.create = async () => (++sent === 1 ? await slow.promise : { id: `task-${sent}` });
		const orders = [0, 1, 2].map((item) => planned({ item, then: 'nothing' }));
		const all = advanceAll(orders, ports, { concurrency: 3, continueOnError: true });
		await flushPromises();
		expect([sent, ended.length]).toEqual([3, 2]);
		slow.resolve({ id: 'task-0' });
		expect((await all).outcomes.map(({ ok }) => ok)).toEqual([true, true, true]);
		expect(orders.map(({ task }) => task?.taskId)).toEqual(['task-0', 'task-2', 'task-3']);
	});
});

test('what only reads needs nothing that orders need', async () => {
	const jobs = ['a', 'b'].map((value) => ({ run: async () => await Promise.resolve(value) }));
	expect(await advanceAll(jobs, undefined, { concurrency: 2, continueOnError: true })).toEqual({
		outcomes: [
			{ ok: true, value: 'a' },
			{ ok: true, value: 'b' },
		],
		wakeAtMs: undefined,
	});
});

test('an order of an operation that makes nothing is refused', async () => {
	await expect(advanceAll([planned()], undefined, { concurrency: 1, continueOnError: true })).rejects.toMatchObject({
		kind: 'ownMistake',
		message: expect.stringContaining('an operation makes orders of nothing') as string,
	});
});

describe('the first wave', () => {
	const listening = () => ({ begin: jest.fn(), putOff: jest.fn(), accepted: jest.fn(), ended: jest.fn() });

	describe('the first wave uploads what only this process can read before anything is bought', () => {
		const FILE = { stored: () => undefined, read: async () => await Promise.resolve('bytes') };

		async function run(continueOnError: boolean, failing?: string) {
			const { ports, seen } = world({}, { firstWave: listening() as never });
			ports.filesOf = ({ item }) => new Map([[`file ${item}`, { ...FILE, read: async () => `${item}` } as never]]);
			ports.uploadImage = async (file) => {
				seen.push(`upload ${String(file)}`);
				if (String(file) === failing) throw new GatewayError('rejected', 'No image');
				return await Promise.resolve('https://files.example/a.png');
			};
			const fresh = (item: number) => planned({ item, request: structuredClone(request) });
			const orders = [fresh(0), fresh(1), existing({ item: 2 })];
			const job = { run: async () => await Promise.resolve('read' as never) };
			const { outcomes } = await advanceAll([...orders, job], ports, { concurrency: 1, continueOnError });
			const what = seen.filter((each) => /^(upload|create)/.test(each)).map((each) => each.split(' {')[0]);
			return { what, oks: outcomes.map(({ ok }) => ok), states: orders.map(({ state }) => state), orders };
		}

		test('the first wave uploads the files of all orders that are to be submitted before it buys', async () => {
			const { what, oks } = await run(false);
			expect(what).toEqual(['upload 0', 'upload 1', 'create', 'create']);
			expect(oks).toEqual([true, true, true, true]);
		});

		test('the first wave buys nothing where an upload has failed', async () => {
			const { what, oks, orders } = await run(false, '1');
			expect(what).toEqual(['upload 0', 'upload 1']);
			expect(oks.slice(0, 2)).toEqual([true, false]);
			expect(orders.map((order) => errorOf(order)?.kind)).toEqual([undefined, 'rejected', undefined]);
		});

		test('the first wave buys the others where the node continues on errors', async () => {
			const { what, oks, orders } = await run(true, '0');
			expect(what).toEqual(['upload 0', 'upload 1', 'create']);
			expect(oks).toEqual([false, true, true, true]);
			expect(errorOf(orders[0] as Order)?.kind).toBe('rejected');
		});
	});

	test('the first wave hears of an order that has ended', async () => {
		const wave = listening();
		const { ports } = world({}, { firstWave: wave as never });
		await advance(planned({ then: 'nothing' }), ports, controls());
		expect(wave.ended).toHaveBeenCalledTimes(1);
	});

	test('the first wave does not hear of an order that a stop has left as it is', async () => {
		const wave = listening();
		const create = async () => await Promise.reject(stoppedError());
		const { ports } = world({ create }, { firstWave: wave as never });
		const order = planned();
		await expect(advance(order, ports, controls())).rejects.toMatchObject({ kind: 'stopped' });
		expect([order.state, wave.ended.mock.calls]).toEqual(['planned', []]);
	});
});

describe('the place of what is polled', () => {
	const occupied = () => {
		const leave = jest.fn();
		return { leave, slots: { occupy: jest.fn(() => leave) } };
	};

	test('a task that is polled keeps its place until its wait ends', async () => {
		const { leave, slots } = occupied();
		const { ports } = world({}, { client: { backlogMs: 0, slots: slots as never } });
		await advance(existing(), ports, controls());
		expect(slots.occupy.mock.calls).toEqual([['task-0']]);
		expect(leave.mock.calls).toEqual([[undefined]]);
	});

	test('what is polled and is no task has no place', async () => {
		const { slots } = occupied();
		const { ports } = world({}, { client: { backlogMs: 0, slots: slots as never } });
		await advance(existing({ thing: 'asset', kind: 'real' }), ports, controls());
		expect(slots.occupy).not.toHaveBeenCalled();
	});

	test('a task keeps its place while the execution sleeps, until n8n must have woken it', async () => {
		const { leave, slots } = occupied();
		const asleep = new AbortController();
		const { ports } = world({ records: [PENDING] }, { client: { backlogMs: 0, slots: slots as never } });
		const nowMs = ports.clock.now();
		ports.sleep = { signal: asleep.signal, until: nowMs + 70_000, clockOf: () => ports.clock } as never;
		ports.clock.sleep = async () => await Promise.resolve(asleep.abort());
		const order = existing();
		await advance(order, ports, controls());
		expect(order.state).toBe('accepted');
		expect(leave.mock.calls).toEqual([[200_000 - (ports.clock.now() - nowMs)]]);
	});
});
