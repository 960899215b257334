/** The rows of the purchase log, and what a retry after a crash makes of them. */
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { makeOrder } from '../../core/orders/states';
import { EarlierTries, lastOfAttempts } from '../../core/purchases/earlierTries';
import { requestsUnderWay } from '../../core/purchases/otherRetries';
import { parseRow, parseRows, purchaseRow, type PurchaseState, type StoredRow } from '../../core/purchases/purchaseRow';

const TIME = '2026-11-23T12:00:00.000Z';

const written = {
	...{ time: TIME, state: 'submitting' as PurchaseState, thing: 'task', model: 'gamma-image-2', attempt: '7-a-0' },
	...{
		workflow: 'Test',
		workflow_id: 'w',
		node: 'Generate',
		node_id: 'n',
		execution: '7',
		run: 'established 1, run 0',
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
		request: { body: {}, hash: 'hash', submitAgain: false },
	});

const emptyLedger = () => new OrderLedger({ store: {}, executionId: '8', runIndex: 0 });

async function tell(rows: unknown[], orders = [order(0)], ledger = emptyLedger()) {
	const tries = EarlierTries.read(parseRows(rows));
	const goOn = await tries?.restoreLedger(ledger, orders, async () => {});
	return { ledger, tries, goOn: [...(goOn?.keys() ?? [])].map(({ item }) => item), entry: ledger.find(0, 'hash') };
}

test('a row without an ID is an unknown outcome, whatever the request is now', async () => {
	expect((await tell([row()])).entry).toEqual({
		...{ hash: 'hash', executionId: '8', acceptedAtMs: Date.parse(TIME), attempt: '7-a-0', lost: true },
	});
	expect((await tell([row({ request_hash: 'other' })])).entry?.taskId).toBeUndefined();
	expect((await tell([row({ request_hash: 'other' })])).entry).toBeDefined();
});

test('a row with an ID is a task that goes on', async () => {
	const { entry, goOn } = await tell([row(), row({ state: 'accepted', task_id: 't' })]);
	expect(entry).toMatchObject({ taskId: 't', hash: 'hash', acceptedAtMs: Date.parse(TIME) });
	expect(goOn).toEqual([0]);
});

test('the row about the whole run is not about a purchase', async () => {
	const ofRun = row({ state: 'run', attempt: '', request_hash: '' });
	expect((await tell([ofRun, row(), row({ state: 'accepted', task_id: 't' })])).goOn).toEqual([0]);
	expect((await tell([ofRun])).tries).toBeUndefined();
});

test('an item without a row may be submitted', async () => {
	expect((await tell([row({ item: 1, request_hash: 'other' })])).entry).toBeUndefined();
	expect((await tell([row({ item: 1, request_hash: 'other' })])).tries).toBeDefined();
});

describe('a node before returns other items in the retry', () => {
	/** One letter for each request. Rows: the item, its request, and whether its ID is known. */
	const retried = async (items: string, rows: Array<[number, string, PurchaseState?]>, more: object = {}) => {
		const stored = rows.map(([item, request_hash, state = 'accepted'], id) =>
			row({
				id,
				item,
				request_hash,
				state,
				attempt: `7-a-${id}`,
				task_id: state === 'accepted' ? `t${id}` : '',
				...more,
			}),
		);
		const orders = [...items].map((hash, item) => ({
			...order(item),
			request: { body: {}, hash, submitAgain: false },
		}));
		const { ledger, goOn } = await tell(stored, orders);
		const became = orders.map(({ item, request: { hash } }) => {
			const entry = ledger.find(item, hash);
			if (entry === undefined) return 'submits';
			return entry.taskId === undefined
				? 'unknown'
				: entry.hash === hash
					? entry.taskId
					: `left to the user: ${entry.taskId}`;
		});
		return { became, goOn };
	};

	test('a new first item: the others go on with what they have bought at another place, and only the new one is submitted', async () => {
		const { became, goOn } = await retried('nabc', [
			[0, 'a'],
			[1, 'b'],
			[2, 'c'],
		]);
		expect(became).toEqual(['submits', 't0', 't1', 't2']);
		expect(goOn.sort()).toEqual([1, 2, 3]);
	});

	test.each<[string, string, Parameters<typeof retried>[1], string[]]>([
		[
			'another order',
			'acb',
			[
				[0, 'a'],
				[1, 'b'],
			],
			['t0', 'submits', 't1'],
		],
		[
			'two that have changed places',
			'ba',
			[
				[0, 'a'],
				[1, 'b'],
			],
			['t1', 't0'],
		],
		[
			'one that is gone',
			'b',
			[
				[0, 'a'],
				[1, 'b'],
			],
			['t1'],
		],
		['an unknown outcome that has moved', 'na', [[0, 'a', 'submitting']], ['submits', 'unknown']],
		['equal items: each purchase is of one of them', 'aaa', [[1, 'a']], ['submits', 't0', 'submits']],
		[
			'equal items of which one has moved',
			'naa',
			[
				[0, 'a'],
				[1, 'a'],
			],
			['submits', 't1', 't0'],
		],
		[
			'an unknown outcome of its own, beside a purchase of an equal one',
			'aa',
			[
				[0, 'a', 'unknown'],
				[1, 'a'],
			],
			['unknown', 't1'],
		],
		[
			'a purchase before an unknown outcome',
			'na',
			[
				[5, 'a', 'unknown'],
				[6, 'a'],
			],
			['submits', 't1'],
		],
		['a request that nobody has now', 'n', [[0, 'a']], ['left to the user: t0']],
		[
			'its own unknown outcome, beside a purchase of an equal item that is gone',
			'a',
			[
				[0, 'a', 'unknown'],
				[5, 'a'],
			],
			['unknown'],
		],
		[
			'a second retry, beside what the first one has bought at its places',
			'ba',
			[
				[0, 'a'],
				[0, 'b'],
			],
			['t1', 't0'],
		],
		['what was refused, at another place', 'na', [[0, 'a', 'not_accepted']], ['submits', 'submits']],
		[
			'what an item has bought twice',
			'aba',
			[
				[0, 'a'],
				[0, 'a'],
				[1, 'b'],
			],
			['t1', 't2', 'submits'],
		],
	])('%s: %s', async (_, items, rows, expected) => {
		expect((await retried(items, rows)).became).toEqual(expected);
	});

	test('what was bought with a Purchase Key at the same place goes on, whatever the key is now', async () => {
		const rows = [row({ state: 'accepted', task_id: 't', key_hash: 'k' })];
		expect((await tell(rows)).goOn).toEqual([0]);
	});

	test('what was bought with a Purchase Key is found by the key', async () => {
		expect((await retried('na', [[0, 'a']], { key_hash: 'k' })).became).toEqual(['left to the user: t0', 'submits']);
		const [mine] = [{ ...order(1), request: { body: {}, hash: 'a', submitAgain: false, keyHash: 'k' } }];
		const { ledger } = await tell([row({ state: 'accepted', task_id: 't', request_hash: 'a' })], [mine]);
		expect(ledger.find(1, 'a')).toBeUndefined();
	});

	test('a row that an order has found at another item is still its own in the next try', async () => {
		const ledger = emptyLedger();
		const rows = [row({ state: 'accepted', task_id: 't', request_hash: 'a' })];
		const orders = ['b', 'a'].map((hash, item) => ({
			...order(item),
			request: { body: {}, hash, submitAgain: false },
		}));
		for (let tries = 0; tries < 2; tries++) {
			await tell(rows, orders, ledger);
			expect([ledger.find(0, 'b'), ledger.find(1, 'a')?.taskId]).toEqual([undefined, 't']);
		}
		const unsaved = emptyLedger();
		unsaved.accepted(1, { taskId: 't', hash: 'a', acceptedAtMs: 1 });
		await tell(rows, orders, unsaved);
		expect(unsaved.find(0, 'b')).toBeUndefined();
	});

	describe('rows that the ledger explains', () => {
		const asked = (...hashes: string[]) =>
			hashes.map((hash, item) => ({ ...order(item), request: { body: {}, hash, submitAgain: false } }));
		const of = (item: number, hash: string, attempt: string, state: PurchaseState = 'accepted') =>
			row({ item, request_hash: hash, attempt, state, task_id: state === 'accepted' ? `task of ${attempt}` : '' });

		test('rows of an attempt that the ledger knows belong to its item, also where the ID is unknown, and no others', async () => {
			const ledger = emptyLedger();
			ledger.lost(1, { hash: 'a', attempt: '7-a-0', acceptedAtMs: 1 });
			await tell([of(0, 'a', '7-a-0', 'unknown'), of(2, 'z', '7-a-1')], asked('b', 'a', 'c'), ledger);
			expect([ledger.find(0, 'b'), ledger.find(2, 'c')]).toMatchObject([undefined, { hash: 'z', lost: true }]);
		});

		test('rows without an ID do not belong to a token without one', async () => {
			const ledger = emptyLedger();
			ledger.accepted(1, { taskId: '', hash: 'z', acceptedAtMs: 1 });
			await tell([of(0, 'a', '7-a-0', 'unknown')], asked('a', 'z'), ledger);
			expect(ledger.find(0, 'a')).toMatchObject({ lost: true });
		});

		test('rows of a request whose outcome the ledger does not know belong to its item: an equal one may be submitted', async () => {
			const ledger = emptyLedger();
			ledger.outcomeUnknown(0, 'a', 1);
			await tell([of(0, 'a', '7-a-0', 'unknown')], asked('a', 'a'), ledger);
			expect(ledger.find(1, 'a')).toBeUndefined();
		});

		test('rows of the same request at another place, and of another one at the same, are found by others', async () => {
			const ledger = emptyLedger();
			ledger.outcomeUnknown(0, 'a', 1);
			const { goOn } = await tell([of(0, 'b', '7-a-0'), of(5, 'a', '7-a-1')], asked('a', 'b', 'a'), ledger);
			expect(goOn.sort()).toEqual([1, 2]);
			expect(ledger.find(2, 'a')?.taskId).toBe('task of 7-a-1');
		});

		test('rows beside those that the ledger explains change nothing of what it knows', async () => {
			const ledger = emptyLedger();
			ledger.accepted(0, { taskId: 'task of 7-a-0', hash: 'a', acceptedAtMs: 1 });
			await tell([of(0, 'a', '7-a-0'), of(0, 'b', '7-a-1')], asked('a'), ledger);
			expect(ledger.find(0, 'a')).toMatchObject({ taskId: 'task of 7-a-0', hash: 'a' });
		});

		test('rows of another request leave an item with a Purchase Key to the user, too', async () => {
			const [mine] = asked('a');
			const keyed = { ...(mine as Order), request: { body: {}, hash: 'a', submitAgain: false, keyHash: 'k' } };
			const { ledger } = await tell([of(0, 'b', '7-a-0')], [keyed]);
			expect(ledger.find(0, 'a')).toMatchObject({ hash: 'b', lost: true });
		});
	});

	test('what the ledger knows of an item is not found by another one', async () => {
		const ledger = emptyLedger();
		ledger.accepted(0, { taskId: 't', hash: 'hash', acceptedAtMs: 1 });
		const { goOn } = await tell([row({ state: 'accepted', task_id: 't' })], [order(0), order(1)], ledger);
		expect([goOn, ledger.find(1, 'hash')]).toEqual([[], undefined]);
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

test('a request that was not accepted has no ID, and is submitted', async () => {
	const { entry, tries } = await tell([row(), row({ state: 'not_accepted' })]);
	expect([entry, tries !== undefined]).toEqual([undefined, true]);
});

test('of two rows of the same state the one that was written later counts', async () => {
	const rows = [2, 1, 3].map((id) => row({ id, state: 'completed', task_id: `t${id}` }));
	expect(lastOfAttempts(rows as unknown as StoredRow[]).get('7-a-0')).toMatchObject({ id: 3, task_id: 't3' });
	expect(lastOfAttempts(rows.slice(0, 2) as unknown as StoredRow[]).get('7-a-0')).toMatchObject({ id: 2 });
});

test('the sequence in which rows were written, and their times, do not matter', async () => {
	const late = '2026-11-23T13:00:00.000Z';
	const rows = [row({ state: 'failed', task_id: 't' }), row({ state: 'accepted', task_id: 't', time: late }), row()];
	expect((await tell(rows)).entry).toBeUndefined();
});

test('a request of an unknown outcome counts although an earlier one was refused, and one with an ID although another is unknown', async () => {
	const second = { attempt: '7-a-1' };
	expect((await tell([row({ ...second }), row({ state: 'not_accepted' })])).entry).toBeDefined();
	const bought = row({ ...second, state: 'accepted', task_id: 't' });
	expect((await tell([bought, row({ state: 'unknown' })])).entry?.taskId).toBe('t');
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

test('a retry of a retry that was left to the user is left to the user, whatever its request is', async () => {
	const { store } = (await tell([another()])).ledger.scope;
	const next = new OrderLedger({ store, executionId: '10', runIndex: 0 });
	expect((await tell([another()], [order(0)], next)).goOn).toEqual([]);
	expect(next.find(0, 'a third one')).toMatchObject({ taskId: 't', lost: true });
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

test('there is a break between two of many orders, whatever becomes of them', async () => {
	const rows = [row({ item: 1 }), row({ item: 2, request_hash: 'other', attempt: '7-a-1' })];
	let breaks = 0;
	const orders = [0, 1, 2].map(order);
	await EarlierTries.read(parseRows(rows))?.restoreLedger(emptyLedger(), orders, async () => {
		await Promise.resolve(breaks++);
	});
	// Before all; three are open, two of them are not found by their items, one of these by none, and is left or not.
	expect(breaks).toBe(1 + 3 + 3 + 2 + 2);
});

test('what the ledger knows stays as it is', async () => {
	const ledger = new OrderLedger({ store: {}, executionId: '8', runIndex: 0 });
	ledger.accepted(0, { taskId: 'mine', hash: 'hash', acceptedAtMs: 1 });
	for (const rows of [[row()], [row(), row({ state: 'accepted', task_id: 't' })]]) {
		expect((await tell(rows, [order(0)], ledger)).goOn).toEqual([]);
		expect(ledger.find(0, 'hash')?.taskId).toBe('mine');
	}
});

test.each(['accepted', 'ended'] as const)('an order that is %s is not told of the earlier tries', async (state) => {
	const { goOn, entry } = await tell([row(), row({ state: 'accepted', task_id: 't' })], [{ ...order(0), state }]);
	expect([goOn, entry]).toEqual([[], undefined]);
});

test.each<[string, unknown[]]>([
	['there are none', []],
	['one cannot be read', [row(), row({ item: 1, state: 'bought' })]],
	['one has lost its attempt', [row(), row({ attempt: null })]],
	['two executions of the same millisecond have written them', [row(), row({ execution: '9' })]],
])('the rows tell nothing where %s', async (_, rows) => {
	expect((await tell(rows)).tries).toBeUndefined();
});

test('the rows of a retry belong to the same run', async () => {
	expect((await tell([row(), row({ execution: '9', retry: 1, item: 1 })])).tries).toBeDefined();
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

test('names are cut off when a row is written, IDs and hashes never are', async () => {
	const long = 'a'.repeat(5000);
	expect(purchaseRow.parse(row({ workflow: long, node: long, model: long }))).toMatchObject({
		workflow: 'a'.repeat(200),
		node: 'a'.repeat(200),
		model: 'a'.repeat(200),
		task_id: '',
		key_hash: '',
	});
	for (const column of ['task_id', 'run', 'request_hash', 'attempt'])
		expect(purchaseRow.safeParse(row({ [column]: long })).success).toBe(false);
});

test('a row of the purchase log holds nothing but its columns', async () => {
	expect(purchaseRow.parse({ ...row(), prompt: 'secret' })).not.toHaveProperty('prompt');
});
