import type { Order } from '../../core/orders/order';
import { accept, makeOrder } from '../../core/orders/states';
import { parseRows, type PurchaseState } from '../../core/purchases/purchaseRow';
import { SentRequests } from '../../core/purchases/sentRequests';

const TIME = '2026-11-23T12:00:00.000Z';

/** Of the execution that has polled for the node's execution 7. */
const row = (changes: Record<string, unknown> = {}) => ({
	...{ id: 1, time: TIME, state: 'submitting', task_id: '', execution: '7', retry: false, item: 3 },
	...{ attempt: '9-a-0', request_hash: 'hash', ...changes },
});
const ofNode = row({ item: 0, attempt: '7-a-0' });

const order = (changes: Partial<Order> = {}): Order => ({
	...makeOrder({
		...{ item: 3, thing: 'task', kind: 'image', then: 'poll' },
		wait: { plan: { kind: 'automatic' }, timeoutMs: 1000, onTimeout: 'error' },
		request: { body: {}, hash: 'hash', submitAgain: false },
	}),
	...changes,
});

const retry = { tries: 3, pauseMs: 0, tried: 1 };
const batch = (of: typeof retry): Order['batch'] => ({
	...{ name: 'n', places: 1, requestsPerSecond: 1, stopsAtError: false, waves: 0, retry: of },
});

/** The order that the node has submitted itself. */
function firstOrder(attempt = '7-a-0'): Order {
	const first = order({ item: 0, purchase: { attempt, hash: 'hash' } });
	accept(first, { taskId: 'first', elapsedMs: 0 }, 1);
	return first;
}

function recover(rows: unknown[], of = order()) {
	const requests = SentRequests.read(parseRows(rows), '7');
	if (requests === undefined) throw new Error('a row cannot be read');
	return requests.recover(of);
}

const second = { id: 2, attempt: '9-a-1' };

describe('the rows of a lost execution', () => {
	test.each<[PurchaseState, 'goes on' | 'is in doubt' | 'is submitted']>([
		['submitting', 'is in doubt'],
		['unknown', 'is in doubt'],
		['not_accepted', 'is submitted'],
		['accepted', 'goes on'],
		// Nobody has asked for another one: Retry On Fail decides when it is seen to have failed.
		['failed', 'goes on'],
		['failed_permanently', 'goes on'],
		['completed', 'goes on'],
	])('with a last row of the state %s, an order of a lost execution %s', (state, fate) => {
		const of = order();
		const id = ['submitting', 'unknown', 'not_accepted'].includes(state) ? '' : 't';
		const inDoubt = recover([row(), row({ id: 2, state, task_id: id })], of);
		expect(inDoubt !== undefined ? 'is in doubt' : of.state === 'planned' ? 'is submitted' : 'goes on').toBe(fate);
	});

	test('an order of a lost execution goes on with its task from the time of its row, and notes its end in the same rows', () => {
		const of = order({ request: { body: {}, hash: 'hash', submitAgain: false, keyHash: 'key' } });
		recover([row(), row({ id: 2, state: 'accepted', task_id: 't' })], of);
		expect(of).toMatchObject({ state: 'accepted', acceptedAtMs: Date.parse(TIME) });
		expect(of.task).toEqual({ taskId: 't', status: 'in_progress', elapsedMs: 0 });
		expect(of.purchase).toEqual({ attempt: '9-a-0', hash: 'hash', keyHash: 'key' });
		expect(of.request).toBeUndefined();
		expect(of.earlierTaskIds).toBeUndefined();
	});

	test.each<[string, unknown[]]>([
		['of another item', [row({ item: 2 })]],
		['of another execution of the same moment', [row({ execution: '8' })]],
		['of the node itself, which knew more when it handed the order over', [row({ attempt: '7-a-4' })]],
		['about what the whole run has cost', [row({ state: 'run' })]],
	])('rows %s say nothing about an order of a lost execution', (_, rows) => {
		const of = order();
		expect([recover(rows, of), of.state]).toEqual([undefined, 'planned']);
	});

	test.each<[string, Record<string, unknown>]>([
		['of another request', { request_hash: 'other' }],
		['without an ID', { task_id: '' }],
		['of an unknown outcome, whatever else it says,', { state: 'unknown' }],
	])('a row %s leaves an order of a lost execution in doubt', (_, changes) => {
		const of = order();
		const inDoubt = recover([row({ state: 'accepted', task_id: 't', ...changes })], of);
		expect([inDoubt?.time, of.state]).toEqual([TIME, 'planned']);
	});

	test('the last request of an order of a lost execution counts, but for those that were not accepted', () => {
		const failed = row({ state: 'failed', task_id: 't' });
		const states = (...rows: unknown[]) => {
			const of = order();
			return [recover(rows, of) !== undefined, of.task?.taskId];
		};
		expect(states({ ...failed, ...second, task_id: 'u' }, failed)).toEqual([false, 'u']);
		expect(states(failed, row(second))).toEqual([true, undefined]);
		expect(states(failed, row({ ...second, state: 'not_accepted' }))).toEqual([false, 't']);
	});

	test.each<[string, Record<string, unknown>, string | undefined]>([
		['goes on with the new task', { state: 'accepted', task_id: 'u' }, 'u'],
		['is in doubt where that has no ID', {}, undefined],
	])('an order that a lost execution has submitted again after its task had failed %s', (_, changes, id) => {
		const of = order({ batch: batch({ ...retry }) });
		accept(of, { taskId: 't', elapsedMs: 0 }, 1);
		const inDoubt = recover([row({ ...second, ...changes })], of);
		expect([inDoubt === undefined, of.task?.taskId, of.earlierTaskIds]).toEqual([id !== undefined, id, ['t']]);
	});

	test('a row that cannot be read may be any, so the rows of a lost execution say nothing then', () => {
		expect(SentRequests.read(parseRows([row(), row({ state: 'sold' })]), '7')).toBeUndefined();
	});
});

describe('the rows of a lost execution are all there', () => {
	const areAll = (rows: unknown[], orders = [firstOrder(), order()]) =>
		SentRequests.read(parseRows(rows), '7')?.areAll(orders);

	test('the rows of a lost execution are all there where those of the node are, and some of what was sent after them', () => {
		expect(areAll([ofNode, row()])).toBe(true);
		expect(areAll([ofNode, row({ state: 'not_accepted' })])).toBe(true);
	});

	test.each<[string, unknown[], Order[] | undefined]>([
		['nothing was sent after those of the node', [ofNode], undefined],
		['only the node has sent something for an order that is open', [ofNode, row({ attempt: '7-a-1' })], undefined],
		[
			'the only request has a row that its order knows of',
			[ofNode, row({ item: 0, state: 'accepted', task_id: 'first' })],
			undefined,
		],
		['those of the node are gone', [row()], undefined],
		['one of those of the node is gone', [ofNode, row()], [firstOrder(), firstOrder('7-a-1'), order()]],
		['the node has sent nothing itself', [row()], [order()]],
		[
			'its orders have rows of another execution, whose Purchase Key they share',
			[ofNode, row()],
			[firstOrder('6-a-0'), order()],
		],
	])('some rows of a lost execution may be missing where %s', (_, rows, orders) => {
		expect(areAll(rows, orders)).toBe(false);
	});
});
