/** The rows of the purchase log, and what a retry after a crash makes of them. */
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { makeOrder } from '../../core/orders/states';
import { EarlierTries } from '../../core/purchases/earlierTries';
import { requestsUnderWay } from '../../core/purchases/otherRetries';
import { parseRow, parseRows, type PurchaseState } from '../../core/purchases/purchaseRow';

const TIME = '2026-11-23T12:00:00.000Z';

const written = {
	...{ time: TIME, state: 'submitting' as PurchaseState, thing: 'task', model: 'gamma-image-2', attempt: '7-a-0' },
	...{
		workflow: 'Test',
		workflow_id: 'w',
		node: 'Generate',
		node_id: 'n',
		execution: '7',
		run: '7.0',
		origin: 'established 1, run 0',
	},
	...{ retry: false, item: 0, account: 'c', base_url: 'https://gateway.example.com', request_hash: 'hash' },
};

const row = (changes: Partial<Record<keyof typeof written | 'id' | 'task_id' | 'key_hash', unknown>> = {}) => ({
	...written,
	...changes,
});

const order = (item: number): Order =>
	makeOrder({
		...{ item, thing: 'task', kind: 'image', then: 'nothing' },
		request: { body: {}, hash: 'hash' },
	});

const emptyLedger = () => new OrderLedger({ store: {}, executionId: '8', runIndex: 0 });

async function tell(rows: unknown[], orders = [order(0)], ledger = emptyLedger()) {
	const tries = EarlierTries.read(parseRows(rows));
	const goOn = await tries?.restoreLedger(ledger, orders, async () => {});
	return { ledger, tries, goOn: [...(goOn?.keys() ?? [])].map(({ item }) => item), entry: ledger.find(0, 'hash') };
}

test('a row without an ID is an unknown outcome, whatever the request is now', async () => {
	expect((await tell([row()])).entry).toEqual({
		...{ hash: 'hash', executionId: '8', acceptedAtMs: Date.parse(TIME), attempt: '7-a-0', run: '7.0', lost: true },
	});
	expect((await tell([row({ request_hash: 'other' })])).entry?.taskId).toBeUndefined();
	expect((await tell([row({ request_hash: 'other' })])).entry).toBeDefined();
});

describe('a node before returns other items in the retry', () => {
	const STATES: Record<string, PurchaseState> = { '?': 'unknown', '-': 'not_accepted' };

	/** Items and rows have a letter for each request. A row is item and request, "?" without an outcome, "-" refused. */
	const retried = async (items: string, rows: string, more: object = {}) => {
		const stored = rows.split(' ').map(([item, request_hash, sign = ''], id) => {
			const state = STATES[sign] ?? 'accepted';
			const task_id = state === 'accepted' ? `t${id}` : '';
			return row({ id, item: Number(item), request_hash, state, attempt: `7-a-${id}`, task_id, ...more });
		});
		const orders = [...items].map((hash, item) => ({
			...order(item),
			request: { body: {}, hash },
		}));
		const { ledger } = await tell(stored, orders);
		return orders.map(({ item, request: { hash } }) => {
			const entry = ledger.find(item, hash);
			if (entry === undefined) return 'submits';
			if (entry.taskId === undefined) return 'unknown';
			return entry.hash === hash ? entry.taskId : `left to the user: ${entry.taskId}`;
		});
	};

	test.each<[string, string, string, string[]]>([
		['a new first item', 'nabc', '0a 1b 2c', ['submits', 't0', 't1', 't2']],
		['another order', 'acb', '0a 1b', ['t0', 'submits', 't1']],
		['two that have changed places', 'ba', '0a 1b', ['t1', 't0']],
		['one that is gone', 'b', '0a 1b', ['t1']],
		['an unknown outcome that has moved', 'na', '0a?', ['submits', 'unknown']],
		['equal items: each purchase is of one of them', 'aaa', '1a', ['submits', 't0', 'submits']],
		['equal items of which one has moved', 'naa', '0a 1a', ['submits', 't1', 't0']],
		['an unknown outcome of its own, beside a purchase of an equal one', 'aa', '0a? 1a', ['unknown', 't1']],
		['a purchase before an unknown outcome', 'na', '5a? 6a', ['submits', 't1']],
		['a request that no item has now', 'n', '0a', ['left to the user: t0']],
		['its own unknown outcome, beside a purchase of an equal item that is gone', 'a', '0a? 5a', ['unknown']],
		['a second retry, beside what the first one has bought at its places', 'ba', '0a 0b', ['t1', 't0']],
		['a refused request at another place', 'na', '0a-', ['submits', 'submits']],
		['two purchases of one item', 'aba', '0a 0a 1b', ['t1', 't2', 'submits']],
	])('%s: items "%s" after the rows "%s"', async (_, items, rows, expected) => {
		expect(await retried(items, rows)).toEqual(expected);
	});

	test('what was bought with a Purchase Key at the same place goes on, whatever the key is now', async () => {
		const rows = [row({ state: 'accepted', task_id: 't', key_hash: 'k' })];
		expect((await tell(rows)).goOn).toEqual([0]);
	});

	test('what was bought with a Purchase Key is found by the key', async () => {
		expect(await retried('na', '0a', { key_hash: 'k' })).toEqual(['left to the user: t0', 'submits']);
		const [mine] = [{ ...order(1), request: { body: {}, hash: 'a', keyHash: 'k' } }];
		const { ledger } = await tell([row({ state: 'accepted', task_id: 't', request_hash: 'a' })], [mine]);
		expect(ledger.find(1, 'a')).toBeUndefined();
	});
});

test.each<[PurchaseState, 'submitted' | 'continued' | 'unknown']>([
	['submitting', 'unknown'],
	['unknown', 'unknown'],
	['not_accepted', 'submitted'],
	['accepted', 'continued'],
	['failed', 'submitted'],
	['failed_permanently', 'continued'],
	['completed', 'continued'],
])('a request with a row in the state %s is %s', async (state, expected) => {
	const { entry } = await tell([row(), row({ state, task_id: 't' })]);
	const became = entry === undefined ? 'submitted' : entry.taskId === undefined ? 'unknown' : 'continued';
	expect(became).toBe(expected);
});

const another = (changes: Parameters<typeof row>[0] = {}) =>
	row({ id: 1, state: 'accepted', task_id: 't', request_hash: 'other', ...changes });

test('the task of another request, of which the ledger knows nothing, is not bought again: only the user knows', async () => {
	const { entry, goOn } = await tell([another()]);
	expect(entry).toMatchObject({ taskId: 't', hash: 'other', lost: true });
	expect(goOn).toEqual([]);
	expect((await tell([another({ state: 'completed' })])).entry).toMatchObject({ taskId: 't', lost: true });
	expect((await tell([another({ state: 'failed' })])).entry).toBeUndefined();
});

test('where the ledger knows the task of another request, it is another purchase, but not what came after it', async () => {
	const knowing = () => {
		const ledger = emptyLedger();
		ledger.accepted(0, { taskId: 't', hash: 'other', acceptedAtMs: 1 });
		return new OrderLedger({ ...ledger.scope, executionId: '9' });
	};
	const before = another({ id: 0, attempt: '6-a-0', task_id: 'before' });
	// The end of the known one came last: its request did not.
	const end = another({ id: 9, state: 'completed' });
	expect((await tell([another(), before, end], [order(0)], knowing())).entry).toBeUndefined();
	const after = another({ id: 2, attempt: '8-a-0', task_id: 'after' });
	expect((await tell([another(), before, end, after], [order(0)], knowing())).entry).toMatchObject({
		taskId: 'after',
		lost: true,
	});
});

describe('requests that were submitted again', () => {
	const sent = (execution: string, state: PurchaseState, more: Parameters<typeof row>[0] = {}) =>
		row({
			id: Number(execution),
			execution,
			run: `${execution}.0`,
			retry: execution !== '7',
			attempt: execution,
			state,
			...more,
		});
	const lostIn = (execution: string, more: Parameters<typeof row>[0] = {}) => sent(execution, 'submitting', more);
	/** As the first execution has left it, in a retry. */
	const knowing = (isGivenUp = false) => {
		const first = new OrderLedger({ store: {}, executionId: '7', runIndex: 0 });
		const entry = { hash: 'hash', acceptedAtMs: 1, attempt: '7' };
		if (isGivenUp) first.accepted(0, { ...entry, taskId: 't7' });
		else first.outcomeUnknown(0, entry);
		first.givenUp(0);
		return new OrderLedger({ ...first.scope, executionId: '11' });
	};
	const accepted = (execution: string) => sent(execution, 'accepted', { task_id: `t${execution}` });

	test.each<[string, unknown[], OrderLedger | undefined, object]>([
		['after two crashes', [lostIn('7'), lostIn('8')], undefined, { run: '8.0' }],
		[
			'of another request',
			[lostIn('7', { request_hash: 'x' }), lostIn('8', { request_hash: 'y' })],
			undefined,
			{ run: '8.0' },
		],
		[
			'that have bought for another request',
			[lostIn('7', { request_hash: 'x' }), { ...accepted('8'), request_hash: 'y' }],
			undefined,
			{ run: '8.0', taskId: 't8' },
		],
		['at another place', [lostIn('7', { item: 5 }), lostIn('8', { item: 5 })], undefined, { run: '8.0' }],
		['by no other retry', [lostIn('7')], knowing(), { run: '7.0' }],
		['by another retry that has crashed', [lostIn('7'), lostIn('8')], knowing(), { run: '8.0' }],
		['by another retry', [lostIn('7'), accepted('8')], knowing(), { taskId: 't8' }],
		['by another retry that was refused', [lostIn('7'), sent('8', 'not_accepted')], knowing(), { run: '7.0' }],
		['by another retry, before the log was turned on', [accepted('8')], knowing(), { taskId: 't8' }],
		['in the place of a task that was given up', [accepted('7'), lostIn('8')], knowing(true), { run: '8.0' }],
		['in the place of no task that was given up', [accepted('7')], knowing(true), { run: '7.0', taskId: 't7' }],
	])('%s: the last one counts', async (_, rows, ledger, expected) => {
		const { entry } = await tell(rows, [order(0)], ledger);
		expect(entry).toMatchObject(expected);
		if (!('taskId' in expected)) expect(entry?.taskId).toBeUndefined();
	});
});

test('a task whose ID was lost is an unknown outcome; a token has none that is needed', async () => {
	const withoutId = row({ state: 'accepted' });
	expect((await tell([withoutId])).entry).toMatchObject({ lost: true });
	expect((await tell([withoutId])).entry?.taskId).toBeUndefined();
	const token = { ...order(0), thing: 'token' as const, kind: '' as const };
	const { entry, goOn } = await tell([row({ ...withoutId, thing: 'token' })], [token]);
	expect(entry).toMatchObject({ taskId: '' });
	expect(entry?.lost).toBeUndefined();
	expect(goOn).toEqual([0]);
});

test.each<[string, unknown[]]>([
	['there are none', []],
	['one cannot be read', [row(), row({ item: 1, state: 'bought' })]],
	['one has lost its attempt', [row(), row({ attempt: null })]],
	['two executions of the same millisecond have written them', [row(), row({ execution: '9' })]],
])('the rows tell nothing where %s', async (_, rows) => {
	expect((await tell(rows)).tries).toBeUndefined();
});

test.each<[string, 'is' | 'is not', Parameters<typeof row>[0][], number]>([
	['that has just been sent', 'is', [{}], 0],
	['that is nearly two minutes old', 'is', [{}], 119_999],
	['that is two minutes old', 'is not', [{}], 120_000],
	['that is written by a clock ahead of ours', 'is', [{}], -119_999],
	['that is written by a clock far ahead of ours', 'is not', [{}], -120_000],
	['that the first try has sent', 'is not', [{ retry: false }], 0],
	['that has its answer', 'is not', [{}, { state: 'accepted', task_id: 't' }], 0],
	['whose outcome is unknown', 'is not', [{ state: 'unknown' }], 0],
])('a request of another retry %s %s under way', async (_, is, rows, ageMs) => {
	const read = rows.map((changes) => parseRow(row({ id: 1, execution: '9', retry: true, ...changes })));
	const underWay = requestsUnderWay([undefined, ...read], Date.parse(TIME) + ageMs);
	expect(underWay.map(({ id }) => id)).toEqual(is === 'is' ? [1] : []);
});
