/** Orders are advanced in memory: which of them are sent, in which sequence, and when somebody else has to go on. */
import type { Order } from '../../core/orders/order';
import { endWell } from '../../core/orders/states';
import { OrderLedger } from '../../core/orders/ledger';
import type { PurchaseLog } from '../../core/purchases/purchaseLog';
import { advanceOrders, type EnginePorts } from '../../nodes/durable/advanceOrders';
import { lightContext, untilDone, type LightOptions } from '../support/lightContext.mts';
import { acceptedOrder, batchOf, plannedOrder } from '../support/orders.mts';

beforeEach(() => jest.useFakeTimers({ now: 1_800_000_000_000 }));
afterEach(() => jest.useRealTimers());

/** A write-ahead log that lets everything pass. */
const writeAhead: EnginePorts['writeAhead'] = {
	beforeUploads: async () => await Promise.resolve(),
	guard: async (_, send) =>
		await send({
			begin: async () => await Promise.resolve(),
			sending: async () => await Promise.resolve(),
			putOff: () => {},
		}),
};

function world(options: LightOptions = {}) {
	const light = lightContext(options);
	const finished: number[] = [];
	const advance = async (orders: Order[], more: Partial<EnginePorts> = {}) =>
		await advanceOrders(light.context, orders, {
			writeAhead,
			ledger: new OrderLedger({ store: {}, executionId: 'own', runIndex: 0 }),
			filesOf: () => new Map(),
			events: {
				accepted: () => {},
				unclear: () => {},
				continued: () => {},
				finished: ({ item }) => finished.push(item),
			},
			...more,
		});
	const posts = () => light.sent.filter(({ method }) => method === 'POST');
	return { ...light, advance, finished, posts };
}

const states = (orders: Order[]) => orders.map(({ state }) => state);
const ended = (item: number) => {
	const order = acceptedOrder(item);
	endWell(order, { json: { task_id: 'x' } });
	return order;
};

test('orders are submitted, polled and delivered until all of them have ended, and nobody has to go on', async () => {
	const { advance, finished, posts, sent } = world();
	const orders = [plannedOrder(0), ended(1), acceptedOrder(2)];
	expect(await untilDone(advance(orders, { batch: batchOf() }))).toBeUndefined();
	expect(states(orders)).toEqual(['ended', 'ended', 'ended']);
	expect([posts().length, finished.sort()]).toEqual([1, [0, 2]]);
	expect(sent.filter(({ path }) => path.endsWith('known-2'))).toHaveLength(1);
	expect(orders.map(({ end }) => end?.output?.json.task_id)).toEqual([expect.stringMatching(/^task-/), 'x', 'known-2']);
});

test('where all orders have ended, nothing is asked of n8n', async () => {
	const getCredentials = jest.fn();
	const { advance } = world({ more: { getCredentials } });
	expect(await advance([ended(0)])).toBeUndefined();
	expect(getCredentials).not.toHaveBeenCalled();
});

test('tasks that run have their places already: the others are submitted when one of them has finished', async () => {
	let isDone = false;
	const running = { id: 'known-1', model: 'm', status: 'in_progress', progress: 50, metadata: {} };
	const { advance, posts } = world({ answer: ({ url }) => (url.endsWith('known-1') && !isDone ? running : undefined) });
	const orders = [plannedOrder(0), acceptedOrder(1), plannedOrder(2)];
	const work = advance(orders, { batch: batchOf({ places: 1 }) });
	await jest.advanceTimersByTimeAsync(20_000);
	expect([posts().length, states(orders)]).toEqual([0, ['planned', 'accepted', 'planned']]);
	isDone = true;
	expect(await untilDone(work)).toBeUndefined();
	expect([posts().length, states(orders)]).toEqual([2, ['ended', 'ended', 'ended']]);
	expect(posts()[1]?.atMs).toBeGreaterThan(posts()[0]?.atMs ?? 0);
});

test('orders of an older version, without a batch, all run at once', async () => {
	const { advance, posts } = world();
	await untilDone(advance([0, 1, 2].map((item) => plannedOrder(item))));
	expect(new Set(posts().map(({ atMs }) => Math.floor(atMs / 1000))).size).toBe(1);
});

test.each([
	[true, 1],
	[false, 3],
])('after an error, where the node stops at errors is %p, so many are submitted: %d', async (stopsAtError, count) => {
	const { advance, posts } = world({ answer: ({ method }) => (method === 'POST' ? 400 : undefined) });
	const orders = [0, 1, 2].map((item) => plannedOrder(item));
	await untilDone(advance(orders, { batch: batchOf({ places: 1, stopsAtError }) }));
	expect([posts().length, states(orders)]).toEqual([count, ['ended', 'ended', 'ended']]);
});

test('where none of the tasks is due soon, the time to go on is returned, and all of them are as they were', async () => {
	const { advance, finished } = world({
		answer: ({ method, url }, count) =>
			method === 'GET'
				? { id: url.split('/').at(-1), model: 'm', status: 'in_progress', progress: count, metadata: {} }
				: undefined,
	});
	const orders = [acceptedOrder(0), acceptedOrder(1)];
	for (const { wait } of orders)
		Object.assign(wait as object, { plan: { kind: 'fixed', intervalMs: 300_000 }, timeoutMs: 3_000_000 });
	const wakeAtMs = await untilDone(advance(orders));
	expect(wakeAtMs).toBeGreaterThan(Date.now() + 200_000);
	expect([states(orders), finished]).toEqual([['accepted', 'accepted'], []]);
});

test('the run sends no more requests per second than it may, in each execution that goes on with it', async () => {
	const { advance, sent } = world();
	const batch = batchOf({ requestsPerSecond: 1, name: 'slow' });
	for (const item of [0, 2]) await untilDone(advance([plannedOrder(item), plannedOrder(item + 1)], { batch }));
	const times = sent.map(({ atMs }) => atMs);
	expect(times.length).toBeGreaterThan(7);
	expect(Math.min(...times.slice(1).map((atMs, index) => atMs - Number(times[index])))).toBeGreaterThan(950);
});

test('a stop ends the work, and leaves the orders to others', async () => {
	const { advance, sent } = world();
	const stop = new AbortController();
	const orders = [acceptedOrder(0), plannedOrder(1)];
	const work = advance(orders, { signal: stop.signal, batch: batchOf({ places: 1 }) });
	stop.abort();
	expect(await untilDone(work)).toBeUndefined();
	expect([states(orders), sent]).toEqual([['accepted', 'planned'], []]);
});

test('the purchase log gets a row before each request and for each answer, and the ends of all that were not over', async () => {
	const rows: string[] = [];
	const end = jest.fn(async () => await Promise.resolve());
	const purchases = {
		begin: async ({ item }: Order) => await Promise.resolve(void rows.push(`begin ${item}`)),
		note: ({ item }: Order, state: string) => rows.push(`${state} ${item}`),
		end,
		ports: { columns: { retry: false } },
	} as unknown as PurchaseLog;
	const { advance } = world();
	const orders = [ended(0), plannedOrder(1)];
	await untilDone(advance(orders, { purchases }));
	expect(rows).toEqual(['begin 1', 'accepted 1']);
	expect(end.mock.calls).toEqual([[[orders[1]]]]);
});
