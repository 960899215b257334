/** The life of one order, whatever it is for: it is submitted, read or polled, delivered, and ends. */
import { GatewayError, type GatewayErrorKind } from '../../core/errors';
import { AccountSlots } from '../../core/account/accountSlots';
import { idTooLong } from '../../core/http/connectionErrors';
import { advance, type Ports } from '../../core/orders/advance';
import { advanceAll } from '../../core/orders/engine';
import type { Order, OrderDraft } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import { SleepCoordinator } from '../../core/orders/sleepCoordinator';
import { errorOf, makeOrder } from '../../core/orders/states';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { WriteAheadLog } from '../../core/orders/writeAheadLog';
import { OrderLedger } from '../../core/orders/ledger';
import type { JobControls } from '../../core/orders/jobs';
import type { PollStatus } from '../../core/polling/pollTarget';
import { fakeClock, sharedClock } from './support';

interface Rec {
	state: PollStatus['state'];
	status: string;
}

const DONE: Rec = { state: 'done', status: 'completed' };
const PENDING: Rec = { state: 'pending', status: 'queued' };

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
const outputOf = ({ end }: Order) => end?.output?.json;

test('an order is submitted, polled until it has finished, and has its output', async () => {
	const { ports, seen } = world({ records: [PENDING, DONE] });
	const order = planned();
	await advance(order, ports, controls());
	expect(seen).toEqual(['create {"prompt":"a cat"}', 'accepted task-1', 'read', 'read', 'finished task-1']);
	expect(outputOf(order)).toEqual({ id: 'task-1', isNew: true, status: 'completed', timedOut: false });
});

describe('an order that is only submitted, whose thing an earlier try has created', () => {
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

	test('a task of an earlier try is read once, because its state is not known any more', async () => {
		expect(await again([PENDING])).toMatchObject({ seen: ['continued task-1', 'read'], outcome: ['queued', 'done'] });
		expect(await again([DONE])).toMatchObject({ seen: ['continued task-1', 'read'], outcome: ['completed', 'done'] });
	});

	const trouble = (kind: GatewayErrorKind, more: Partial<Order> = {}) => ({
		read: async (order: Order) => {
			Object.assign(order, more);
			return await Promise.reject(new GatewayError(kind, 'It is not known'));
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
	] as const)(
		'trouble (%s) with a task of an earlier try is no error, because no one waits for its end',
		async (kind) => {
			expect((await again([], {}, trouble(kind))).outcome).toEqual([undefined, 'done']);
		},
	);
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

describe('orders that fall asleep', () => {
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
});
