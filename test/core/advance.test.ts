/** The life of an order where n8n's engine and the simulation do not show it: what an earlier try has created, and sleeps. */
import { Marks } from '../../core/journal/marks';
import { GatewayError } from '../../core/errors';
import { AccountPlaces } from '../../core/account/places';
import { advance, advanceAll, type Ports } from '../../core/engine/advance';
import type { OrderDraft } from '../../core/orders/order';
import { SleepCoordinator } from '../../core/engine/sleepCoordinator';
import { errorOf, makeOrder } from '../../core/orders/states';
import { NEW_TASK } from '../../core/records/taskRecord';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { OrderLedger } from '../../core/orders/ledger';
import { sharedClock } from './support';

/** A service whose tasks never end, and what is sent to it. */
function world(read = async () => await Promise.resolve(NEW_TASK)) {
	const sent: string[] = [];
	const clock = sharedClock();
	const ledger = new OrderLedger({ store: {}, executionId: '1', runIndex: 0 });
	const scope = { establishedAtMs: 1, executionId: '1', runIndex: 0, isRetry: false };
	const client = {
		createTask: async () => (sent.push('create'), await Promise.resolve({ ...NEW_TASK, id: 'task-1' })),
		fetchTask: async () => (sent.push('read'), await read()),
		survivalTable: () => new SurvivalTable(),
		fileRules: { baseUrl: 'https://gateway.example' },
		backlogMs: 0,
	} as unknown as Ports['client'];
	const ports: Ports = {
		client,
		deliver: async (_, { record }) => await Promise.resolve({ json: { status: record?.status } }),
		clock,
		ledger,
		writeAhead: new Marks(scope, ledger),
		events: { accepted: () => {}, unclear: () => {}, continued: () => {}, finished: () => {} },
		filesOf: () => new Map(),
		uploadImage: async () => await Promise.resolve(''),
	};
	return { ports, sent, clock };
}

const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 600_000 };
const request = { body: { prompt: 'a cat' }, hash: 'h' };
const planned = (more: Partial<OrderDraft> = {}) =>
	makeOrder({ item: 0, thing: 'task', kind: 'image', request, wait: { ...wait }, then: 'poll', ...more });

test.each([
	['is read once, because its state is not known any more', async () => await Promise.resolve(NEW_TASK), 'queued'],
	[
		'is no error when it cannot be read, because no one waits for its end',
		async () => await Promise.reject(new GatewayError('unavailable', 'It is not known')),
		undefined,
	],
])('with Don’t Wait, a task of an earlier try %s', async (_, read, status) => {
	const { ports, sent, clock } = world(read);
	ports.ledger.accepted(0, { taskId: 'task-1', hash: 'h', acceptedAtMs: clock.now() - 60_000 });
	const order = planned({ then: 'nothing' });
	const { signal } = new AbortController();
	const submitting = async () => await Promise.reject(new Error('It is not submitted'));
	await advance(order, ports, {
		...{ signal, heldBack: () => undefined, submitting, uploading: submitting },
		delivering: async (deliver) => await deliver(),
	});
	expect([sent, order.end]).toEqual([['read'], { as: 'done', output: { json: { status } } }]);
});

const rarely = { ...wait, plan: { kind: 'fixed' as const, intervalMs: 100_000 } };

test('orders that have no place yet are not submitted when the others fall asleep', async () => {
	const { ports, sent, clock } = world();
	ports.sleep = new SleepCoordinator(clock, 5, 2);
	const orders = [0, 1, 2, 3, 4].map((item) => planned({ item, wait: { ...rarely } }));
	const { wakeAtMs } = await clock.run(advanceAll(orders, ports, { concurrency: 2, continueOnError: true }));
	expect(wakeAtMs).toBeDefined();
	expect(orders.map(({ state }) => state)).toEqual(['accepted', 'accepted', 'planned', 'planned', 'planned']);
	expect(sent.filter((what) => what === 'create')).toHaveLength(2);
});

test('orders wait for a place no longer than their timeout, however often they sleep meanwhile', async () => {
	const { ports, clock } = world();
	const account = new AccountPlaces(clock);
	account.most = 1;
	const orders = [600_000, 150_000, 150_000].map((timeoutMs, item) =>
		planned({ item, wait: { ...rarely, timeoutMs } }),
	);
	const beganMs = clock.now();
	for (let woken = 0; woken < 3 && orders.some(({ state }) => state === 'planned'); woken++) {
		ports.client = { ...ports.client, places: account.ofRun() };
		ports.sleep = new SleepCoordinator(clock, orders.filter(({ state }) => state !== 'ended').length);
		const { wakeAtMs = 0 } = await clock.run(advanceAll(orders, ports, { concurrency: 3, continueOnError: true }));
		await clock.run(clock.sleep(wakeAtMs - clock.now()));
	}
	const reasons = orders.map((order) => errorOf(order)?.details.reason?.name);
	expect(reasons).toEqual([undefined, 'noFreePlace', 'noFreePlace']);
	expect(clock.now() - beganMs).toBeLessThanOrEqual(300_000);
});
