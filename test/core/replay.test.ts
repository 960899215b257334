/** The rows of the earlier tries of a run, and what a retry makes of them. */
import { OrderLedger } from '../../core/orders/ledger';
import type { Order, Purchase } from '../../core/orders/order';
import { makeOrder } from '../../core/orders/states';
import { GAP_CODE, lastOfAttempts, readRun, replay, type Gap } from '../../core/journal/replay';
import { nameOfRun, parseRow, type AttemptRow, type AttemptState } from '../../core/journal/row';
import { RUN } from './journalWorld';

const TIME = '2026-11-23T12:00:00.000Z';

const written = {
	...{ createdAt: TIME, state: 'submitting' as string, attempt: '7-a-0', first: '7', number: null as number | null },
	...{ node: 'Generate', execution: '7', run: nameOfRun(RUN), item: 0, request_hash: 'hash', more: '' },
};

type Changes = Partial<Record<keyof typeof written | 'id' | 'task_id' | 'key_hash' | 'code', unknown>>;

const row = (changes: Changes = {}) => ({ ...written, ...changes });

const order = (item: number): Order =>
	makeOrder({
		...{ item, thing: 'task', kind: 'image', then: 'nothing' },
		request: { body: {}, hash: 'hash' },
	});

const emptyLedger = () => new OrderLedger({ store: {}, executionId: '8', runIndex: 0 });

async function tell(rows: Changes[], orders: Purchase[] = [order(0)], ledger = emptyLedger()) {
	const values = rows.map((each, index) => ({ id: index + 1, ...each }));
	const run = await readRun(values, { identity: RUN, node: 'Generate' }, async () => {});
	const { goOn, inDoubt } = await replay(run.attempts, ledger, orders, async () => {});
	const items = (from: Map<Purchase, AttemptRow>) => [...from.keys()].map(({ item }) => item);
	return { ...run, ledger, goOn: items(goOn), inDoubt: items(inDoubt), entry: ledger.find(0, 'hash') };
}

test('a row without an ID is an unknown outcome, whatever the request is now', async () => {
	expect((await tell([row()])).entry).toEqual({
		...{ hash: 'hash', executionId: '8', acceptedAtMs: Date.parse(TIME), attempt: '7-a-0', run: '7.0', lost: true },
	});
	expect((await tell([row({ request_hash: 'other' })])).entry?.taskId).toBeUndefined();
	expect((await tell([row({ request_hash: 'other' })])).entry).toBeDefined();
});

describe('a node before returns other items in the retry', () => {
	const STATES: Record<string, AttemptState> = { '?': 'unknown', '-': 'not_accepted' };

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
		const mine = { ...order(1), request: { body: {}, hash: 'a', keyHash: 'k' } };
		const { ledger } = await tell([row({ state: 'accepted', task_id: 't', request_hash: 'a' })], [mine]);
		expect(ledger.find(1, 'a')).toBeUndefined();
	});
});

test.each<[AttemptState, string, 'submitted' | 'continued' | 'unknown']>([
	['submitting', '', 'unknown'],
	['unknown', '', 'unknown'],
	['not_accepted', '', 'submitted'],
	['accepted', '', 'continued'],
	['accepted', '{"later":"version"}', 'continued'],
	['failed', '', 'submitted'],
	['failed', '{"later":["version"],"other":1}', 'submitted'],
	['failed', '{"permanent":false}', 'submitted'],
	['failed', 'no JSON', 'submitted'],
	['failed', '{"permanent":true}', 'continued'],
	['failed', '{"permanent":true,"later":"version"}', 'continued'],
])('a request with a row in the state %s and more %j is %s', async (state, more, expected) => {
	const { entry } = await tell([row(), row({ state, task_id: 't', more })]);
	const became = entry === undefined ? 'submitted' : entry.taskId === undefined ? 'unknown' : 'continued';
	expect(became).toBe(expected);
});

const another = (changes: Changes = {}) =>
	row({ id: 1, state: 'accepted', task_id: 't', request_hash: 'other', ...changes });

test('the task of another request, of which the ledger knows nothing, is not bought again: only the user knows', async () => {
	const { entry, goOn } = await tell([another()]);
	expect(entry).toMatchObject({ taskId: 't', hash: 'other', lost: true });
	expect(goOn).toEqual([]);
	expect((await tell([another({ state: 'failed', more: '{"permanent":true}' })])).entry).toMatchObject({ taskId: 't' });
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
	const end = another({ id: 9, state: 'failed', more: '{"permanent":true}' });
	expect((await tell([another(), before, end], [order(0)], knowing())).entry).toBeUndefined();
	const after = another({ id: 2, attempt: '8-a-0', task_id: 'after' });
	expect((await tell([another(), before, end, after], [order(0)], knowing())).entry).toMatchObject({
		taskId: 'after',
		lost: true,
	});
});

describe('requests that were submitted again', () => {
	const sent = (execution: string, state: AttemptState, more: Changes = {}) =>
		row({ id: Number(execution), execution, attempt: execution, state, ...more });
	const lostIn = (execution: string, more: Changes = {}) => sent(execution, 'submitting', more);
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
	/** The ledger of a retry whose order has another request than the one that a crash has left. */
	const knowingLost = () => {
		const ledger = emptyLedger();
		ledger.lost(0, { hash: 'before', acceptedAtMs: 1, attempt: '7', run: '7.0' });
		return new OrderLedger({ ...ledger.scope, executionId: '11' });
	};
	/** That of one whose Purchase Key a person has removed. */
	const knowingReused = () => {
		const ledger = emptyLedger();
		ledger.accepted(0, { hash: 'hash', taskId: 'of the key', acceptedAtMs: 1, reusedKey: 'k' });
		return new OrderLedger({ ...ledger.scope, executionId: '11' });
	};

	test.each<[string, Changes[], OrderLedger | undefined, object]>([
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
		['by no other retry, but accepted after all', [lostIn('7'), accepted('7')], knowing(), { taskId: 't7' }],
		['by another retry that was refused', [lostIn('7'), sent('8', 'not_accepted')], knowing(), { run: '7.0' }],
		['by another retry, before the journal was turned on', [accepted('8')], knowing(), { taskId: 't8' }],
		[
			'with another request, by a retry that has crashed',
			[lostIn('7', { request_hash: 'before' }), accepted('8')],
			knowingLost(),
			{ taskId: 't8' },
		],
		['in the place of what a key has reused', [accepted('8')], knowingReused(), { taskId: 't8' }],
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
	const token: Purchase = { ...order(0), thing: 'token' };
	const { entry, goOn } = await tell([withoutId], [token]);
	expect(entry).toMatchObject({ taskId: '' });
	expect(entry?.lost).toBeUndefined();
	expect(goOn).toEqual([0]);
});

describe('the states of an attempt count, not the sequence of its rows', () => {
	const STATES_AS_WRITTEN = ['failed', 'accepted', 'not_accepted', 'unknown', 'submitting'];

	test('an outcome overtakes an insert that was given up', async () => {
		const late = row({ id: 9 });
		expect((await tell([row({ id: 5, state: 'not_accepted' }), late])).entry).toBeUndefined();
		const accepted = row({ id: 5, state: 'accepted', task_id: 't' });
		expect((await tell([accepted, late])).entry).toMatchObject({ taskId: 't' });
		expect((await tell([accepted, row({ id: 6, state: 'not_accepted' })])).entry).toMatchObject({ taskId: 't' });
	});

	test('the last state of all counts, with the ID that one of the rows has', () => {
		const rows = STATES_AS_WRITTEN.map((state, index) =>
			parseRow(row({ id: index, state, task_id: state === 'accepted' ? 't' : '' })),
		);
		expect([...lastOfAttempts(rows as AttemptRow[]).values()]).toMatchObject([{ state: 'failed', task_id: 't' }]);
	});
});

test('equal requests of many items: each row is the purchase of one of them', async () => {
	const rows = [0, 1, 2].map((id) =>
		row({ id, item: id + 5, attempt: `7-a-${id}`, state: 'accepted', task_id: `t${id}` }),
	);
	const orders = [0, 1, 2, 3].map(order);
	const { ledger, goOn } = await tell(rows, orders);
	expect(goOn).toEqual([0, 1, 2]);
	expect(orders.map(({ item }) => ledger.find(item, 'hash')?.taskId)).toEqual(['t0', 't1', 't2', undefined]);
});

describe('rows tell that some of them are missing', () => {
	const start = (number: number | null, more: Changes = {}) =>
		row({ number, item: number ?? 0, attempt: `7-a-${number}`, ...more });
	const lease = (more: Changes = {}) => row({ state: 'lease', attempt: '7-lease', number: null, ...more });

	test.each<[string, Changes[], Gap | undefined]>([
		['none are there', [], undefined],
		['the numbers have none', [lease(), start(0), start(1), start(2)], undefined],
		[
			'a number is there twice: n8n did not say that the first row is there',
			[start(0), start(0, { attempt: 'b' })],
			undefined,
		],
		['the first number is missing', [start(1)], 'rowsRemoved'],
		['a number in the middle is missing', [start(0), start(2)], 'rowsRemoved'],
		['a start has lost its number', [start(0), start(null)], 'rowsRemoved'],
		['an outcome stands alone', [start(0), row({ attempt: 'b', state: 'accepted', task_id: 't' })], 'rowsRemoved'],
		['an unknown outcome stands alone', [row({ attempt: 'b', state: 'unknown' })], 'rowsRemoved'],
		[
			'a withdrawal stands alone: what it withdraws was not written',
			[start(0), row({ attempt: 'b', state: 'not_accepted' })],
			undefined,
		],
		[
			'a failure stands alone: another run has bought the task',
			[start(0), row({ attempt: 'b', state: 'failed' })],
			undefined,
		],
		[
			'two executions began in the same millisecond',
			[start(0), start(1, { first: '9', execution: '9' })],
			'twoFirstTries',
		],
		['a retry has found no first try', [start(0, { execution: '8', first: '' })], undefined],
		['a row has an unknown state', [start(0), row({ state: 'sold' })], 'unreadable'],
		['a row has lost its attempt', [start(0), row({ attempt: null })], 'unreadable'],
		[
			'a row is that of another node with this name',
			[start(0, { run: nameOfRun({ ...RUN, nodeId: 'o' }) })],
			'otherNode',
		],
		[
			'a row is that of another node with another name',
			[start(0), start(5, { run: nameOfRun({ ...RUN, nodeId: 'o' }), node: 'Other', first: '9' })],
			undefined,
		],
		['a lease tells of a gap', [start(0), lease({ code: GAP_CODE })], 'takenOverWithGap'],
		['the credits of a run are no purchase', [row({ state: 'run', attempt: 'r', number: null })], undefined],
	])('%s', async (_, rows, gap) => {
		expect((await tell(rows)).gap).toBe(gap);
	});

	test('the next number is behind the highest one, and the first try is the only one that rows name', async () => {
		const rows = [lease(), start(0), start(1), start(1, { attempt: 'b' })];
		expect(await tell(rows)).toMatchObject({ nextNumber: 2, first: '7' });
		expect(await tell([...rows, start(2, { first: '9' })])).toMatchObject({ nextNumber: 3, first: '' });
		expect(await tell([])).toMatchObject({ nextNumber: 0, first: '' });
	});

	test('rows of another node are not those of this one; under the name of this one, its IDs count', async () => {
		const accepted = { state: 'accepted', task_id: 't', run: nameOfRun({ ...RUN, nodeId: 'o' }) };
		expect((await tell([row(accepted)])).goOn).toEqual([0]);
		expect((await tell([row({ ...accepted, node: 'Other' })])).goOn).toEqual([]);
	});
});
