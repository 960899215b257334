/** Rows are what n8n saves of orders, at a moment of its own. */
import type { Order } from '../../core/orders/order';
import { accept, beginSubmitting, makeOrder, putOff } from '../../core/orders/states';
import { parseRows, toRows } from '../../nodes/durable/rows';

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
	const rows = toRows([order]);
	const before = structuredClone(rows);
	change(order);
	expect(rows).toEqual(before);
	expect(parseRows(rows)).toHaveLength(1);
});

test('what orders have in common is one object in their rows, which n8n stores once', () => {
	const shared = { ...batch };
	const [first, second] = toRows([inWave(0, shared as never), inWave(1, shared as never)]).map(
		({ json }) => json.details.gateway_order,
	);
	expect(first?.batch).toBe(second?.batch);
	expect(first?.result).toBe(second?.result);
	expect(first?.wait?.plan).toBe(second?.wait?.plan);
});
