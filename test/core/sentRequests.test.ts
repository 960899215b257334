/** The requests of a lost execution, as its rows in the purchase log tell. */
import { GatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { accept, endBadly, makeOrder } from '../../core/orders/states';
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

	test('a request of a lost execution that is still under way in its rows can be withdrawn; another one in doubt cannot', () => {
		const purchases = ['submitting', 'unknown'].map((state) => {
			const of = order();
			recover([row({ state })], of);
			return of.purchase;
		});
		expect(purchases).toEqual([{ attempt: '9-a-0', hash: 'hash' }, undefined]);
	});

	test('the URLs of the request of a lost execution are no result', () => {
		const of = order({ result: { requestUrls: [] } as never });
		Object.assign(of.request ?? {}, {
			body: { image: 'https://a.example/a.png' },
			uploads: ['https://b.example/b.png'],
		});
		recover([row({ state: 'accepted', task_id: 't' })], of);
		expect(of.result?.requestUrls).toEqual(['https://a.example/a.png', 'https://b.example/b.png']);
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

	test('the tasks that have failed before are known again, and their tries count', () => {
		const tries = { ...retry };
		const of = order({ batch: batch(tries), earlierTaskIds: ['s'] });
		const rows = ['s', 't', 'u'].map((id, index) =>
			row({ id: index, attempt: `9-a-${index}`, state: 'failed', task_id: id }),
		);
		recover(rows, of);
		expect([of.task?.taskId, of.earlierTaskIds, tries.tried]).toEqual(['u', ['s', 't'], 3]);
		const many = Array.from({ length: 7 }, (_, index) =>
			row({ id: index, attempt: `9-a-${index}`, state: 'failed', task_id: `t${index}` }),
		);
		const other = order({ batch: batch({ ...retry, tried: 9 }) });
		recover(many, other);
		expect([other.earlierTaskIds, other.batch?.retry?.tried]).toEqual([['t1', 't2', 't3', 't4', 't5'], 9]);
	});

	test('the task that the node has submitted itself counts as the first try of an order of a lost execution', () => {
		const tries = { ...retry };
		const first = order({ batch: batch(tries), purchase: { attempt: '7-a-0', hash: 'hash' } });
		accept(first, { taskId: 'a', elapsedMs: 0 }, 1);
		const again = row({ id: 2, state: 'failed', task_id: 'b' });
		recover(
			[
				row({ attempt: '7-a-0', state: 'failed', task_id: 'a' }),
				again,
				row({ ...second, id: 3, state: 'accepted', task_id: 'c' }),
			],
			first,
		);
		expect([first.task?.taskId, first.earlierTaskIds, tries.tried]).toEqual(['c', ['a', 'b'], 3]);
	});

	test('a task of a lost execution that has failed before is known again; a request without an ID is none', () => {
		const rows = [row(), row({ ...second, state: 'failed', task_id: 't' })];
		const third = row({ id: 3, attempt: '9-a-2', state: 'accepted', task_id: 'u' });
		const [one, other] = [order(), order()];
		recover(rows, one);
		recover([...rows, third], other);
		expect([one.task?.taskId, one.earlierTaskIds]).toEqual(['t', undefined]);
		expect(one.purchase).toStrictEqual({ attempt: '9-a-1', hash: 'hash' });
		expect([other.task?.taskId, other.earlierTaskIds]).toEqual(['u', ['t']]);
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

	test('an order that runs is left as it is where nothing else was sent for it', () => {
		const of = order({ batch: batch({ ...retry }) });
		accept(of, { taskId: 't', elapsedMs: 0 }, 1);
		const before = structuredClone(of);
		expect([recover([row({ state: 'accepted', task_id: 't' })], of), of]).toEqual([undefined, before]);
		expect([recover([ofNode], of), of]).toEqual([undefined, before]);
		const logged = { ...of, purchase: { attempt: '7-a-1', hash: 'hash' } };
		expect([recover([ofNode], logged), logged.state]).toEqual([undefined, 'accepted']);
	});

	test.each<[string, unknown[]]>([
		['of its own request', [row({ ...second })]],
		['of an earlier request', [row(), row({ ...second, state: 'accepted', task_id: 't' })]],
		[
			'of a request in doubt before it',
			[row({ state: 'unknown' }), row({ ...second, state: 'accepted', task_id: 't' })],
		],
	])('an order that runs is left as it is where only a row %s has no ID', (_, rows) => {
		const of = order({ batch: batch({ ...retry }), purchase: { attempt: '9-a-1', hash: 'hash' } });
		accept(of, { taskId: 't', elapsedMs: 0 }, 1);
		const before = structuredClone(of);
		expect([recover(rows, of), of]).toEqual([undefined, before]);
	});

	test('an order that has ended without an ID is left as it is where the row has none either', () => {
		const ended = () => {
			const of = order({ purchase: { attempt: '9-a-0', hash: 'hash' }, batch: batch(retry) });
			of.state = 'submitting';
			endBadly(of, new GatewayError('outcomeUnknown', 'It was cut off'));
			return of;
		};
		const of = ended();
		expect([recover([row({ state: 'unknown' })], of), of.end?.error?.message]).toEqual([undefined, 'It was cut off']);
		const late = ended();
		expect([recover([row({ state: 'accepted', task_id: 't' })], late), late.task?.taskId]).toEqual([undefined, 't']);
		const other = ended();
		expect(recover([row({ state: 'unknown' }), row({ ...second, state: 'unknown' })], other)).toMatchObject(second);
		const unlogged = Object.assign(ended(), { purchase: undefined });
		expect(recover([row({ state: 'unknown' })], unlogged)).toMatchObject({ id: 1 });
		const open = order({ purchase: { attempt: '9-a-0', hash: 'hash' } });
		expect(recover([row()], open)).toMatchObject({ id: 1 });
	});

	test('an order that has left its task behind does not go on with it', () => {
		const of = order({ earlierTaskIds: ['t'] });
		expect([recover([row({ state: 'accepted', task_id: 't' })], of), of.state]).toEqual([undefined, 'planned']);
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

	test('the rows of a lost execution are all there where one of them is of an order that was submitted again', () => {
		expect(areAll([ofNode, row({ item: 0 })])).toBe(true);
	});

	test('the rows of a lost execution are all there where an order shares the Purchase Key, and so the rows, of another one', () => {
		expect(areAll([ofNode, row()], [firstOrder(), firstOrder('6-a-0'), order()])).toBe(true);
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
