/** The rows that a run writes into the purchase log, and the waits for them. */
import { modelsOf } from '../../core/account/runCredits';
import { GatewayError, gatewayError } from '../../core/errors';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { accept, beginSubmitting, endBadly, endWell, makeOrder } from '../../core/orders/states';
import type { LogPorts } from '../../core/purchases/purchaseTable';
import { PurchaseLog } from '../../core/purchases/purchaseLog';
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { sharedClock } from './support';
import { columns } from './purchaseWorld';

const order = (item: number, model?: string): Order =>
	makeOrder({
		...{ item, model, thing: 'task', kind: 'image', then: 'poll' },
		wait: { plan: { kind: 'automatic' }, timeoutMs: 1000 },
		request: { body: {}, hash: 'hash' },
	});

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
	rememberGap.mockRestore();
	await log.begin(order(1));
	expect(gaps).toEqual(['gap']);
	await clock.run(log.ports.table.flush());
	expect(rows).toMatchObject([{ item: 0, state: 'not_accepted', code: 'submission_not_recorded' }]);
});

describe('a retry', () => {
	const row = { id: 1, time: '2026-11-23T12:00:00.000Z', state: 'accepted', attempt: '6-a-0', item: 0, task_id: 't' };
	const stored = { ...columns, ...row, execution: '6', thing: 'task', model: 'm', request_hash: 'hash' };

	async function retry(
		options: Parameters<typeof makeLog>[0] = {},
		rows: () => Promise<unknown[]> = async () => [stored],
	) {
		const { log, told, table } = makeLog({ retry: true, ...options });
		table.rowsOfRun = rows as never;
		const ledger = new OrderLedger({ store: {}, executionId: '7', runIndex: 0 });
		const [mine, other] = [order(0), order(1)];
		await log.continueEarlierTries([mine, other], ledger);
		return { log, told, ledger, mine, other };
	}

	const full = async () => await Promise.reject(new Error('full'));
	const isTrue = async () => await Promise.resolve(true);

	test.each<[string, Parameters<typeof makeLog>[0], string[], (() => Promise<unknown[]>) | undefined]>([
		['n8n keeps no log', { obstacle: 'n8n is too old' }, [], undefined],
		['rows may be missing', { hasGap: isTrue }, [], undefined],
		['it is not known whether rows are missing', { hasGap: full }, ['full'], undefined],
		['the rows cannot be read', {}, ['full'], full],
	])('a retry learns nothing from rows where %s', async (_, options, words, rows) => {
		const { ledger, mine, told } = await retry(options, rows);
		expect([ledger.find(0, 'hash'), mine.purchase, told]).toEqual([undefined, undefined, words]);
	});

	test('a later try of a retry looks from where the first one has looked, whatever it can read', async () => {
		const ledger = new OrderLedger({ store: {}, executionId: '7', runIndex: 0 });
		const lastSeen = async (rows: () => Promise<unknown[]>) => {
			const { log, table } = makeLog({ retry: true });
			table.rowsOfRun = rows as never;
			await log.continueEarlierTries([order(5)], ledger);
			return log.lastSeenRow;
		};
		expect(await lastSeen(async () => [stored])).toBe(1);
		expect(await lastSeen(async () => [stored, { ...stored, id: 9 }])).toBe(1);
		expect(await lastSeen(full)).toBe(1);
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
		await clock.run(log.end([bought]));
		const tookMs = clock.now() - startedAtMs;
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
		['is a token', { thing: 'token', then: 'nothing', output: {} }, ['completed'], true],
		['has failed', { error: failure() }, ['failed task_failed'], true],
		['has failed for good', { error: failure(true) }, ['failed_permanently task_failed'], true],
		['could not be polled', { error: gatewayError('keyRefused', {}) }, [], false],
		['was bought before, and has its result', { reused: true, output: { status: 'completed' } }, [], true],
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
	async function endRun(writeMs: number) {
		const { log, rows, clock } = makeLog({ writeMs });
		const bought = order(0);
		await log.begin(bought);
		log.note(bought, 'accepted', { taskId: 't' });
		beginSubmitting(bought);
		accept(bought, { taskId: 't', elapsedMs: 0 }, 0);
		endWell(bought, { json: { status: 'completed' } });
		const startedAtMs = clock.now();
		await clock.run(log.end([bought]));
		return { tookMs: clock.now() - startedAtMs, states: rows.map(({ state }) => state), rows, clock };
	}

	test('the end of a run waits for IDs that are not in the table yet, and not for ends', async () => {
		const { tookMs, states, rows, clock } = await endRun(200);
		expect([tookMs, states[0]]).toEqual([200, 'accepted']);
		await clock.run(clock.sleep(200));
		expect(rows.map(({ state }) => state)).toEqual(['accepted', 'completed']);
	});

	test('the end of a run comes after 5 seconds, whatever n8n does', async () => {
		const { tookMs } = await endRun(60_000);
		expect(tookMs).toBe(5000);
	});
});
