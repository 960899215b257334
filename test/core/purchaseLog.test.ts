/** The rows that a run writes into the purchase log, and the waits for them. */
import { modelsOf } from '../../core/account/runCredits';
import { GatewayError, gatewayError } from '../../core/errors';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { accept, beginSubmitting, endBadly, endWell, makeOrder } from '../../core/orders/states';
import { logPurchases } from '../../core/purchases/logPurchases';
import type { LogPorts } from '../../core/purchases/purchaseTable';
import { PurchaseLog } from '../../core/purchases/purchaseLog';
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { sharedClock } from './support';

const order = (item: number, model?: string): Order =>
	makeOrder({
		...{ item, model, thing: 'task', kind: 'image', then: 'poll' },
		wait: { plan: { kind: 'automatic' }, timeoutMs: 1000, onTimeout: 'error' },
		request: { body: {}, hash: 'hash', submitAgain: false },
	});

const columns = {
	...{ workflow: 'Test', workflow_id: 'w', node: 'Generate', node_id: 'n', execution: '7', run: 'r', retry: false },
	...{ account: 'a', base_url: 'https://gateway.example.com' },
};

/** A log whose rows take `writeMs`, and what it has written. */
function makeLog({
	writeMs = 0,
	obstacle,
	retry = false,
	...broken
}: { writeMs?: number; obstacle?: string; retry?: boolean } & Partial<Pick<LogPorts, 'hasGap' | 'lastSeenRow'>> = {}) {
	const rows: PurchaseRow[] = [];
	const gaps: string[] = [];
	const told: string[] = [];
	const clock = sharedClock();
	const nothing = async () => await Promise.resolve();
	const none = async () => await Promise.resolve([]);
	let later: PurchaseRow[] = [];
	const table = {
		...{ insert: nothing, rowsOfRun: none, rowsOfOthers: none, rowsOfKey: none },
		insertLater: (row: PurchaseRow) => void later.push(row),
		flush: async () => {
			if (later.length === 0) return;
			const written = later;
			later = [];
			await clock.sleep(writeMs);
			rows.push(...written);
		},
	};
	const log = new PurchaseLog({
		...{ columns: { ...columns, retry }, table, clock, obstacle, executionId: '7' },
		tell: (why) => void told.push(why),
		...{ rememberGap: async () => void gaps.push('gap'), hasGap: async () => await Promise.resolve(false), ...broken },
	});
	return { rows, gaps, told, clock, log, table };
}

test('the attempt of an order that a dead execution has not sent is withdrawn, and no other', async () => {
	const { log, rows, clock, table } = makeLog();
	const [unsent, without, accepted] = [order(0), order(1), order(2)];
	for (const each of [unsent, accepted]) each.purchase = { attempt: `of ${each.item}`, hash: 'hash' };
	accept(accepted, { taskId: 't', elapsedMs: 0 }, 1);
	log.withdrawUnsent([unsent, without, accepted]);
	await clock.run(table.flush());
	expect(rows).toMatchObject([{ item: 0, attempt: 'of 0', state: 'not_accepted' }]);
	expect([unsent.purchase, accepted.purchase?.attempt]).toEqual([undefined, 'of 2']);
});

test('the row of a run says what the account has used, and for which models, and nothing that a purchase has', async () => {
	const { log, rows, clock } = makeLog();
	log.noteRun(12.5, modelsOf([order(0, 'b'), order(1, 'a'), order(2, 'b'), order(3)]));
	await clock.run(clock.sleep(1));
	expect(rows).toEqual([
		{
			...columns,
			...{ time: '1970-01-01T00:16:40.000Z', state: 'run', thing: 'run', model: 'a, b', credits: 12.5 },
			...{ item: 0, attempt: '', request_hash: '', task_id: '', code: '', key_hash: '' },
		},
	]);
});

test('where n8n can keep no log, a run leaves no row', async () => {
	const { log, rows, clock } = makeLog({ obstacle: 'n8n is too old' });
	log.noteRun(12.5, '');
	await clock.run(clock.sleep(1));
	expect(rows).toEqual([]);
});

test('a sum of credits that is no number is no row', async () => {
	const { log, table } = makeLog();
	const insertLater = jest.spyOn(table, 'insertLater');
	log.noteRun(NaN, '');
	expect(insertLater).not.toHaveBeenCalled();
});

describe('a row before a request', () => {
	test('a row before a request says what is to be bought, and each attempt has a name of its own', async () => {
		const { log, table } = makeLog();
		const insert = jest.spyOn(table, 'insert');
		const [one, other] = [order(0, 'm'), order(1)];
		Object.assign(other.request as object, { keyHash: 'key' });
		await Promise.all([log.begin(one), log.begin(other)]);
		expect(insert.mock.calls.map(([row]: unknown[]) => row)).toEqual([
			{
				...columns,
				...{ time: '1970-01-01T00:16:40.000Z', state: 'submitting', thing: 'task', model: 'm', item: 0, credits: null },
				...{ attempt: '7-lfls-0', request_hash: 'hash', task_id: '', code: '', key_hash: '' },
			},
			expect.objectContaining({ item: 1, attempt: '7-lfls-1', key_hash: 'key' }),
		]);
		expect(one.purchase).toStrictEqual({ attempt: '7-lfls-0', hash: 'hash' });
		expect(other.purchase).toEqual({ attempt: '7-lfls-1', hash: 'hash', keyHash: 'key' });
	});

	test.each<[string, unknown, string]>([
		['an error', new Error('no disk'), 'no disk'],
		['no error', 'full', 'full'],
		['many words', new Error('x'.repeat(300)), 'x'.repeat(200)],
	])(
		'a row that cannot be written before a request is a gap, which is told and remembered once: %s',
		async (_, why, words) => {
			const { log, gaps, told, table } = makeLog();
			table.insert = async () => await Promise.reject(why);
			await log.begin(order(0));
			await log.begin(order(1));
			await log.markGap();
			expect([gaps, told]).toEqual([['gap'], [words, words]]);
		},
	);

	test('a missing row is a gap where n8n can keep no log', async () => {
		const { log, gaps, told } = makeLog({ obstacle: 'n8n is too old' });
		await log.begin(order(0));
		expect([gaps, told]).toEqual([['gap'], ['n8n is too old']]);
	});

	test('a row that can be neither written nor missed stops the request, and the next one tries again', async () => {
		const away = async () => await Promise.reject(new Error('no database'));
		const { log, gaps, table, rows, clock } = makeLog();
		table.insert = away;
		const rememberGap = jest.spyOn(log.ports, 'rememberGap').mockImplementation(away);
		const refused = order(0);
		const begun = log.begin(refused).catch((error: unknown) => error);
		expect(await clock.run(begun)).toMatchObject({
			details: { reason: { name: 'submissionNotRecorded', data: { words: 'no database' } } },
		});
		expect(refused.purchase).toBeUndefined();
		const tries = rememberGap.mock.calls.length;
		expect(tries).toBe(7);
		rememberGap.mockRestore();
		await log.begin(order(1));
		expect(gaps).toEqual(['gap']);
		await clock.run(log.ports.table.flush());
		expect(rows).toMatchObject([{ item: 0, state: 'not_accepted', code: 'submission_not_recorded' }]);
	});

	test('n8n’s database may be away for a minute: a request waits for it', async () => {
		const { log, gaps, table, clock } = makeLog();
		const backAtMs = clock.now() + 50_000;
		const away = async () => {
			if (clock.now() < backAtMs) throw new Error('no database');
			gaps.push('gap');
			await Promise.resolve();
		};
		table.insert = async () => await Promise.reject(new Error('no database'));
		log.ports.rememberGap = away;
		await clock.run(log.begin(order(0)));
		expect([gaps, clock.now() <= backAtMs + 15_000]).toEqual([['gap'], true]);
	});

	test('a row before a request is a must where there is a Purchase Key', async () => {
		const { log, gaps, table } = makeLog({ obstacle: 'n8n is too old' });
		await expect(log.claim(order(0))).rejects.toThrow('n8n is too old');
		expect(gaps).toEqual([]);
		table.insert = async () => await Promise.reject(new Error('no disk'));
		delete (log.ports as LogPorts).obstacle;
		await expect(log.claim(order(0))).rejects.toThrow('no disk');
	});

	test('a missing row is a gap, too, where another execution is to submit', async () => {
		const { log, gaps } = makeLog();
		await Promise.all([log.markGap(), log.markGap()]);
		expect(gaps).toEqual(['gap']);
	});
});

describe('what has come of an order', () => {
	test('what has come of an order is noted with its ID or the code of its error', async () => {
		const { log, rows, clock } = makeLog();
		const bought = order(0);
		await log.begin(bought);
		log.note(bought, 'accepted', { taskId: 't' });
		log.note(bought, 'not_accepted', { error: gatewayError('noFreePlace', { time: '2 min' }) });
		bought.task = { taskId: 'known', elapsedMs: 0 };
		log.note(bought, 'failed');
		await clock.run(log.ports.table.flush());
		expect(rows.map(({ state, task_id: id, code }) => [state, id, code])).toEqual([
			['accepted', 't', ''],
			['not_accepted', '', 'no_free_place'],
			['failed', 'known', ''],
		]);
	});

	test('what has come of an order is not noted where the log was turned off meanwhile', async () => {
		const { log, rows, clock } = makeLog({ obstacle: 'Purchase Log is turned off' });
		const continued = { ...order(0), purchase: { attempt: '6-a-0', hash: 'hash' } };
		log.note(continued, 'failed');
		await clock.run(log.ports.table.flush());
		expect(rows).toEqual([]);
	});

	test('what has come of an order is not noted where no row was begun, or where it would be no row', async () => {
		const { log, table } = makeLog();
		const insertLater = jest.spyOn(table, 'insertLater');
		const bought = order(0);
		log.note(bought, 'accepted', { taskId: 't' });
		await log.begin(bought);
		log.note(bought, 'accepted', { taskId: 't'.repeat(3_000) });
		expect(insertLater).not.toHaveBeenCalled();
	});
});

describe('a request', () => {
	async function record(create: () => Promise<{ id: string }>, signal?: AbortSignal) {
		const { log, rows, clock } = makeLog();
		const product = { status: 'queued', create, output: () => ({ json: {} }) };
		const ready = async () => await Promise.resolve(() => {});
		const waits = () => {};
		const recorded = logPurchases(product, log).record(order(0), {
			ready,
			create,
			waits,
			timeLeftMs: () => Infinity,
			signal,
		});
		const outcome = await recorded.catch(
			(error: GatewayError) => `${error.kind}: ${JSON.stringify(error.details.reason?.data ?? error.message)}`,
		);
		await clock.run(log.ports.table.flush());
		return { outcome, states: rows.map(({ state, code }) => `${state} ${code}`.trim()) };
	}
	const failing = (error: unknown) => async () => await Promise.reject(error);

	test('a request that was accepted has a row with its ID', async () => {
		const { outcome, states } = await record(async () => await Promise.resolve({ id: 't' }));
		expect([outcome, states]).toEqual([{ id: 't' }, ['accepted']]);
	});

	test('a request that was stopped while its row was written is not sent', async () => {
		const create = jest.fn();
		const { outcome, states } = await record(create, AbortSignal.abort());
		expect([outcome, states]).toEqual([expect.stringMatching(/^stopped: /), ['not_accepted execution_stopped']]);
		expect(create).not.toHaveBeenCalled();
	});

	test.each<[string, unknown, string, string]>([
		['was refused', gatewayError('keyRefused', {}), 'authentication: ', 'not_accepted key_refused'],
		[
			'has an unknown outcome',
			new GatewayError('outcomeUnknown', 'x'),
			'outcomeUnknown: "x"',
			'unknown outcome_unknown',
		],
		[
			'has an answer that we fail to read',
			new TypeError('undefined is not an object'),
			'The service answered, but the answer could not be read',
			'unknown outcome_unknown',
		],
	])('a request that %s says so in its row', async (_, thrown, outcome, state) => {
		expect(await record(failing(thrown))).toEqual({ outcome: expect.stringContaining(outcome), states: [state] });
	});
});

describe('a retry', () => {
	const row = { id: 1, time: '2026-11-23T12:00:00.000Z', state: 'accepted', attempt: '6-a-0', item: 0, task_id: 't' };
	const stored = { ...columns, ...row, execution: '6', thing: 'task', model: 'm', request_hash: 'hash' };

	async function retry(
		options: Parameters<typeof makeLog>[0] = {},
		rows: () => Promise<unknown[]> = async () => [stored],
	) {
		const { log, told, table } = makeLog({ retry: true, ...options });
		table.rowsOfRun = jest.fn(rows) as never;
		const ledger = new OrderLedger({ store: {}, executionId: '7', runIndex: 0 });
		const [mine, other] = [order(0), order(1)];
		await log.continueEarlierTries([mine, other, { ...order(2), state: 'accepted', request: undefined }], ledger);
		return { log, told, ledger, mine, other, reads: jest.mocked(table.rowsOfRun).mock.calls };
	}

	test('a retry goes on with what the earlier tries have created, in their rows', async () => {
		const { ledger, mine, other, reads, log } = await retry();
		expect(ledger.find(0, 'hash')).toMatchObject({ taskId: 't' });
		expect([mine.purchase, other.purchase]).toEqual([{ attempt: '6-a-0', hash: 'hash' }, undefined]);
		await log.readEarlierTries();
		expect(reads).toEqual([[{ ...columns, retry: true }]]);
	});

	const full = async () => await Promise.reject(new Error('full'));
	const isTrue = async () => await Promise.resolve(true);

	test.each<[string, Parameters<typeof makeLog>[0], string[], (() => Promise<unknown[]>) | undefined]>([
		['n8n keeps no log', { obstacle: 'n8n is too old' }, [], undefined],
		['rows may be missing', { hasGap: isTrue }, [], undefined],
		['nobody knows whether rows are missing', { hasGap: full }, ['full'], undefined],
		['the rows cannot be read', {}, ['full'], full],
		['it is no retry', { retry: false }, [], undefined],
	])('a retry learns nothing from rows where %s', async (_, options, words, rows) => {
		const { ledger, mine, told } = await retry(options, rows);
		expect([ledger.find(0, 'hash'), mine.purchase, told]).toEqual([undefined, undefined, words]);
	});

	test('a retry learns nothing where one of the rows cannot be read, and looks from the others on', async () => {
		const underWay = { ...stored, id: 2, attempt: '8-a-1', item: 1, execution: '8', state: 'submitting', task_id: '' };
		const sent = { ...underWay, retry: true, time: '1970-01-01T00:15:00.000Z' };
		const rows = [stored, sent, { ...stored, id: 3, attempt: null }];
		const { ledger, log, told } = await retry({}, async () => await Promise.resolve(rows));
		expect([ledger.find(0, 'hash'), log.lastSeenRow, told]).toEqual([undefined, 1, []]);
	});

	test('a later try of a retry looks from where the first one has looked, whatever it can read', async () => {
		const ledger = new OrderLedger({ store: {}, executionId: '7', runIndex: 0 });
		const lastSeen = async (rows: () => Promise<unknown[]>, of = ledger) => {
			const { log, table } = makeLog({ retry: true });
			table.rowsOfRun = rows as never;
			await log.continueEarlierTries([order(5)], of);
			return log.lastSeenRow;
		};
		expect(await lastSeen(full)).toBeUndefined();
		expect(await lastSeen(async () => [stored])).toBe(1);
		expect(await lastSeen(async () => [stored, { ...stored, id: 9 }])).toBe(1);
		expect(await lastSeen(full)).toBe(1);
		const ofRetry = new OrderLedger({ ...ledger.scope, executionId: '8' });
		expect(await lastSeen(async () => [stored, { ...stored, id: 9 }], ofRetry)).toBe(9);
		expect(await lastSeen(full, new OrderLedger({ ...ledger.scope, runIndex: 1 }))).toBeUndefined();
		ofRetry.clearRun();
		expect(ofRetry.scope.store).toEqual({});
	});

	test.each([
		['just now', { retry: true, time: '1970-01-01T00:16:38.001Z' }, 1],
		['a moment ago, by another clock', { retry: true, time: '1970-01-01T00:16:41.999Z' }, 1],
		['two seconds ago', { retry: true, time: '1970-01-01T00:16:38.000Z' }, 9],
		['just now, by the execution that both retry', { retry: false, time: '1970-01-01T00:16:39.000Z' }, 9],
	])('a retry looks also for rows that could not be read before one that was written %s', async (_, values, since) => {
		const late = { ...stored, id: 8, execution: '8', attempt: '8-a-0', item: 1, retry: true, state: 'submitting' };
		const shown = { ...stored, id: 9, attempt: '8-a-1', item: 4, ...values };
		const { log, other } = await retry({}, async () => await Promise.resolve([stored, shown]));
		expect(log.lastSeenRow).toBe(since);
		log.ports.table.rowsOfOthers = async (__, after) =>
			await Promise.resolve([late, shown].filter(({ id }) => id > after));
		const end = await log.begin(other).catch((error: GatewayError) => error.details.reason?.name);
		expect(end).toBe(since === 1 ? 'submittedByOtherRetry' : undefined);
	});

	describe('beside another one of the same execution', () => {
		const row2 = { ...stored, id: 2, execution: '8', attempt: '8-a-0', item: 1, state: 'submitting', task_id: '' };

		async function beside(values: unknown[]) {
			const { log, other, ...rest } = await retry();
			const rowsOfOthers = jest.fn(async () => await Promise.resolve(values));
			log.ports.table.rowsOfOthers = rowsOfOthers;
			const end = await log.begin(other).catch((error: GatewayError) => error.details.reason);
			return { ...rest, log, other, end, rowsOfOthers };
		}

		test('a retry asks for what others have written since it began, and submits what nobody else does', async () => {
			const { end, log, other, rowsOfOthers } = await beside([
				{ ...row2, item: 0, attempt: '8-b-0' },
				{ ...row2, state: 'not_accepted' },
			]);
			expect([end, log.lastSeenRow]).toEqual([undefined, 1]);
			expect(other.purchase).toBeDefined();
			expect(rowsOfOthers.mock.calls).toEqual([[{ ...columns, retry: true }, 1]]);
		});

		test.each<[string, boolean, object[], object | undefined, string[]]>([
			['another retry has its item', true, [{ ...row2, item: 5, retry: true }], { name: 'submittedByOtherRetry' }, []],
			['the execution that it retries had its item', true, [{ ...row2, item: 5, retry: false }], undefined, []],
			['a row cannot be read', true, [{ ...row2, item: 'x', retry: true }], undefined, ['gap']],
			['it is no retry', false, [{ ...row2, item: 5, retry: true }], undefined, []],
		])(
			'a run that knows no last row looks for other retries, where it is one: %s',
			async (_, isRetry, values, end, left) => {
				const { log, table, gaps } = makeLog({ retry: isRetry });
				const rowsOfOthers = jest.fn(async () => await Promise.resolve(values));
				Object.assign(table, { rowsOfOthers });
				const ended = await log.begin(order(5)).catch((error: GatewayError) => error.details.reason);
				if (end === undefined) expect(ended).toBeUndefined();
				else expect(ended).toMatchObject(end);
				expect(gaps).toEqual(left);
				expect(rowsOfOthers.mock.calls).toEqual(isRetry ? [[{ ...columns, retry: true }, 0]] : []);
			},
		);

		test('a retry leaves a request to the other one that has it at another place, but not where that place has it here, too', async () => {
			const elsewhere = { ...row2, item: 4 };
			expect((await beside([elsewhere])).end).toMatchObject({ name: 'submittedByOtherRetry' });
			expect((await beside([{ ...elsewhere, state: 'not_accepted' }])).end).toBeUndefined();
			expect((await beside([{ ...elsewhere, request_hash: 'other' }])).end).toBeUndefined();
			expect((await beside([{ ...elsewhere, item: 0 }])).end).toBeUndefined();
			expect((await beside([{ ...elsewhere, item: 2 }])).end).toMatchObject({ name: 'submittedByOtherRetry' });
		});

		test('a run that goes on elsewhere knows what it has submitted for another item before', async () => {
			const begin = async (knows: boolean) => {
				const { log, table } = makeLog({ retry: true, lastSeenRow: 1 });
				Object.assign(table, { rowsOfOthers: async () => await Promise.resolve([{ ...row2, item: 0, retry: true }]) });
				const [accepted, open] = [order(0), order(1)];
				accepted.purchase = { attempt: 'a', hash: 'hash' };
				delete accepted.request;
				if (knows) log.know([accepted, open]);
				return await log.begin(open).catch((error: GatewayError) => error.details.reason?.name);
			};
			expect(await begin(true)).toBeUndefined();
			expect(await begin(false)).toBe('submittedByOtherRetry');
		});

		test('a retry submits beside the row of a run, which is about no purchase', async () => {
			const ofRun = { ...row2, state: 'run', thing: 'run', attempt: '', request_hash: '', credits: 5 };
			expect((await beside([ofRun])).end).toBeUndefined();
			expect((await beside([ofRun, row2])).end).toMatchObject({ name: 'submittedByOtherRetry' });
		});

		test.each([
			['submits', 'submitting', ''],
			['has bought', 'accepted', 'img_9'],
			['may have bought', 'unknown', ''],
		])('a retry does not submit what the other one %s', async (_, state, id) => {
			const { end, other } = await beside([{ ...row2, state, task_id: id }]);
			expect(end).toEqual({ name: 'submittedByOtherRetry', data: { execution: '8' } });
			expect(other.purchase).toBeUndefined();
		});

		test.each([
			['has sent just now', { retry: true, time: '1970-01-01T00:15:00.000Z' }, 1, undefined, 'submittedByOtherRetry'],
			['has sent long ago', { retry: true, time: '1970-01-01T00:14:00.000Z' }, 2, { lost: true }, undefined],
			['has sent before a crash', { time: '1970-01-01T00:16:40.000Z' }, 2, { lost: true }, undefined],
		])('a retry leaves a request without an outcome, which it %s, to the other one or to the user', async (...row) => {
			const [, values, lastSeenRow, known, refused] = row;
			// The first try has the execution 6.
			const sent = { ...row2, ...('retry' in values ? {} : { execution: '6' }), ...values };
			const { log, other, ledger } = await retry({}, async () => await Promise.resolve([stored, sent]));
			expect(log.lastSeenRow).toBe(lastSeenRow);
			if (known === undefined) expect(ledger.find(1, 'hash')).toBeUndefined();
			else expect(ledger.find(1, 'hash')).toMatchObject(known);
			log.ports.table.rowsOfOthers = async (_, since) =>
				await Promise.resolve([stored, sent].filter(({ id }) => id > since));
			const end = await log.begin(other).catch((error: GatewayError) => error.details.reason?.name);
			expect(end).toBe(refused);
		});

		test('a retry leaves all requests of the other one that are under way to it, however many there are', async () => {
			const sent = { ...row2, retry: true, time: '1970-01-01T00:15:00.000Z' };
			const rows = [stored, sent, { ...sent, id: 3, item: 0, attempt: '8-b-0' }];
			const { log, ledger } = await retry({}, async () => await Promise.resolve(rows));
			expect([ledger.find(1, 'hash'), log.lastSeenRow]).toEqual([undefined, 1]);
			expect(ledger.find(0, 'hash')).toMatchObject({ taskId: 't' });
		});

		test('a retry leaves a request that has told several times that it is under way to the other one', async () => {
			const sent = { ...row2, retry: true, time: '1970-01-01T00:15:00.000Z' };
			const rows = [stored, { ...sent, time: '1970-01-01T00:10:00.000Z' }, { ...sent, id: 3 }];
			const { log, ledger } = await retry({}, async () => await Promise.resolve(rows));
			expect([ledger.find(1, 'hash'), log.lastSeenRow]).toEqual([undefined, 2]);
		});

		test.each([
			[true, ['submitting', 'submitting', 'accepted']],
			[false, ['accepted']],
		])(
			'a request that waits for minutes tells the other one that it is under way (retry: %s)',
			async (isRetry, states) => {
				const { log, rows, clock, table } = makeLog({ retry: isRetry });
				const create = async () => await clock.sleep(125_000).then(() => ({ id: 't' }));
				const product = logPurchases({ status: 'queued', create, output: () => ({ json: {} }) }, log);
				const ready = async () => await Promise.resolve(() => {});
				const steps = { create, ready, waits: () => {}, timeLeftMs: () => Infinity };
				await clock.run(product.record(order(0), steps).then(async () => await clock.sleep(90_000)));
				await clock.run(table.flush());
				expect(rows.map(({ state }) => state)).toEqual(states);
			},
		);

		test('a retry submits nothing where a row cannot be read', async () => {
			for (const readable of [[], [{ ...row2, state: 'not_accepted' }]]) {
				const { end } = await beside([...readable, { ...row2, attempt: null }]);
				expect(end).toMatchObject({
					name: 'submissionNotRecorded',
					data: { words: 'a row of this run cannot be read' },
				});
			}
		});

		test('a retry submits nothing where the rows cannot be read, or its own cannot be written', async () => {
			const { log, other } = await retry();
			log.ports.table.rowsOfOthers = full;
			await expect(log.begin(other)).rejects.toMatchObject({ details: { reason: { data: { words: 'full' } } } });
			log.ports.table.insert = async () => await Promise.reject(new Error('locked'));
			await expect(log.begin(other)).rejects.toMatchObject({ details: { reason: { data: { words: 'locked' } } } });
		});
	});

	test('a retry reads no rows where nothing is to be submitted', async () => {
		const { log, table } = makeLog({ retry: true });
		table.rowsOfRun = jest.fn();
		const running: Order = { ...order(0), state: 'accepted' };
		await log.continueEarlierTries([running], new OrderLedger({ store: {}, executionId: '7', runIndex: 0 }));
		expect(table.rowsOfRun).not.toHaveBeenCalled();
	});
});

describe('the end of an order', () => {
	type Ended = Partial<Order> & { error?: GatewayError; output?: Record<string, unknown> };
	const failure = (permanent?: boolean) => new GatewayError('taskFailed', 'It has failed', { permanent });

	async function endOrder({ error, output, ...changes }: Ended, keyHash?: string) {
		const { log, rows, clock } = makeLog({ writeMs: 200 });
		const bought: Order = { ...order(0), ...changes };
		if (keyHash !== undefined) Object.assign(bought.request as object, { keyHash });
		await log.begin(bought);
		beginSubmitting(bought);
		accept(bought, { taskId: 't', elapsedMs: 0 }, 0);
		if (error !== undefined) endBadly(bought, error);
		else if (output !== undefined) endWell(bought, { json: output as never });
		const startedAtMs = clock.now();
		const withoutRow = { ...structuredClone(bought), purchase: undefined };
		const sleep = jest.spyOn(clock, 'sleep');
		await clock.run(log.end([withoutRow, bought]));
		const tookMs = clock.now() - startedAtMs;
		expect(sleep.mock.calls.filter(([delayMs, signal]) => delayMs === 5_000 && !signal?.aborted)).toEqual([]);
		await clock.run(clock.sleep(1_000));
		return {
			states: rows.map(({ state, code }) => `${state} ${code}`.trim()),
			tookMs,
			isNoted: bought.purchase === undefined,
		};
	}

	test.each<[string, Ended, string[], boolean]>([
		['has its result', { output: { status: 'completed' } }, ['completed'], true],
		['has timed out, and goes on', { output: { status: 'in_progress' } }, [], false],
		['is not waited for', { then: 'nothing', output: { status: 'completed' } }, [], false],
		['is an asset', { thing: 'asset', output: { status: 'active' } }, ['completed'], true],
		['is an asset that is processed for too long', { thing: 'asset', output: { timed_out: true } }, [], false],
		['is a token', { thing: 'token', then: 'nothing', output: {} }, ['completed'], true],
		['has failed', { error: failure() }, ['failed task_failed'], true],
		['has failed for good', { error: failure(true) }, ['failed_permanently task_failed'], true],
		['could not be polled', { error: gatewayError('keyRefused', {}) }, [], false],
		['runs', {}, [], false],
		['was bought before, and has its result', { reused: true, output: { status: 'completed' } }, [], true],
		['was bought before, and has failed', { reused: true, error: failure() }, ['failed task_failed'], true],
	])('the end of an order is noted once where it %s', async (_, ended, states, isNoted) => {
		expect(await endOrder(ended)).toEqual({ states, isNoted, tookMs: 0 });
	});

	test.each<[string, Ended, number]>([
		['a failure, which frees the key', { error: failure() }, 200],
		['a failure for good', { error: failure(true) }, 0],
		['a result', { output: { status: 'completed' } }, 0],
	])(
		'the end of an order is waited for under a Purchase Key where others look for it: %s',
		async (_, ended, tookMs) => {
			expect(await endOrder(ended, 'key')).toMatchObject({ tookMs });
		},
	);
});

describe('the end of a run', () => {
	/** An order that was bought and has ended well, and the time that the end of its run takes. */
	async function endRun(writeMs: number, { acceptedRow }: { acceptedRow: 'written' | 'outstanding' }) {
		const { log, rows, clock } = makeLog({ writeMs });
		const bought = order(0);
		await log.begin(bought);
		log.note(bought, 'accepted', { taskId: 't' });
		beginSubmitting(bought);
		accept(bought, { taskId: 't', elapsedMs: 0 }, 0);
		if (acceptedRow === 'written') await clock.run(log.ports.table.flush());
		endWell(bought, { json: { status: 'completed' } });
		const startedAtMs = clock.now();
		await clock.run(log.end([bought]));
		return { tookMs: clock.now() - startedAtMs, states: rows.map(({ state }) => state), rows, clock };
	}

	test('the end of a run waits for IDs that are not in the table yet, and not for ends', async () => {
		const { tookMs, states, rows, clock } = await endRun(200, { acceptedRow: 'outstanding' });
		expect([tookMs, states[0]]).toEqual([200, 'accepted']);
		await clock.run(clock.sleep(200));
		expect(rows.map(({ state }) => state)).toEqual(['accepted', 'completed']);
	});

	test('the end of a run takes no time where the IDs are in the table', async () => {
		const { tookMs, states } = await endRun(200, { acceptedRow: 'written' });
		expect([tookMs, states]).toEqual([0, ['accepted']]);
	});

	test('the end of a run comes after 5 seconds, whatever n8n does', async () => {
		const { tookMs } = await endRun(60_000, { acceptedRow: 'outstanding' });
		expect(tookMs).toBe(5000);
	});
});

describe('the purchase log of a run that goes on after its execution was lost', () => {
	const shared = { ...columns, thing: 'task', model: 'm', request_hash: 'hash', task_id: '' };
	const row = (changes: Record<string, unknown>) => ({
		...{ ...shared, id: 1, time: '2026-11-23T12:00:00.000Z', state: 'submitting', ...changes },
	});
	const rows = [
		row({ item: 0, attempt: '7-a-0' }),
		row({ item: 1, attempt: '9-a-0', id: 2 }),
		row({ item: 2, attempt: '9-a-1', id: 3, state: 'accepted', task_id: 't' }),
	];
	const planned = () => [
		{ ...order(0), state: 'accepted' as const, purchase: { attempt: '7-a-0', hash: 'hash' } },
		...[order(1), order(2), order(3)],
	];

	async function recover(
		given: Partial<Pick<LogPorts, 'hasGap'>> = {},
		read = async () => await Promise.resolve(rows),
	) {
		const { log, clock, told } = makeLog(given);
		log.ports.table.rowsOfRun = read as never;
		const orders = planned();
		const sent = await clock.run(log.recover(orders));
		const inDoubt = sent?.areAll ? [...sent.inDoubt] : undefined;
		return { ids: orders.map(({ task }) => task?.taskId), inDoubt, orders, told };
	}

	test('the purchase log tells which orders of a lost execution go on, which may have been sent, and when', async () => {
		const { ids, inDoubt, orders } = await recover();
		expect(ids).toEqual([undefined, undefined, 't', undefined]);
		expect(inDoubt).toEqual([[orders[1], Date.parse('2026-11-23T12:00:00.000Z')]]);
	});

	test.each<[string, LogPorts['hasGap']]>([
		['something was sent without a row', async () => await Promise.resolve(true)],
		['n8n cannot say whether it was', async () => await Promise.reject(new Error('no database'))],
	])('it tells IDs, but not which orders may have been sent, where %s', async (_, hasGap) => {
		const { ids, inDoubt } = await recover({ hasGap });
		expect([ids[2], inDoubt]).toEqual(['t', undefined]);
	});

	test('the purchase log tells IDs, but not which orders may have been sent, where rows are missing', async () => {
		const { ids, inDoubt } = await recover({}, async () => await Promise.resolve(rows.slice(1)));
		expect([ids[2], inDoubt]).toEqual(['t', undefined]);
	});

	test.each<[string, () => Promise<never>, string[]]>([
		['it cannot be read', async () => await Promise.reject(new Error('no table')), ['no table']],
		['a row of it cannot be read', async () => await Promise.resolve([...rows, { state: 'sold' }] as never), []],
	])('it tells nothing where %s', async (_, read, told) => {
		const taken = await recover({}, read);
		expect([taken.inDoubt, taken.orders, taken.told]).toEqual([undefined, planned(), told]);
	});
});
