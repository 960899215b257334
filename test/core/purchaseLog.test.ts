/** The rows that a run writes into the purchase log, and the waits for them. */
import type { Order } from '../../core/orders/order';
import { accept, beginSubmitting, endWell, makeOrder } from '../../core/orders/states';
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
function makeLog({ writeMs = 0, obstacle }: { writeMs?: number; obstacle?: string } = {}) {
	const rows: PurchaseRow[] = [];
	const gaps: string[] = [];
	const clock = sharedClock();
	const nothing = async () => await Promise.resolve();
	const none = async () => await Promise.resolve([]);
	let later: PurchaseRow[] = [];
	const table = {
		...{ insert: nothing, rowsOfRun: none, rowsOfKey: none },
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
		...{ columns, table, clock, obstacle, executionId: '7', tell: () => {} },
		...{ rememberGap: async () => void gaps.push('gap'), hasGap: async () => await Promise.resolve(false) },
	});
	return { rows, gaps, clock, log };
}

test('the row of a run says what the account has used, and for which models, and nothing that a purchase has', async () => {
	const { log, rows, clock } = makeLog();
	log.noteRun(12.5, [order(0, 'b'), order(1, 'a'), order(2, 'b'), order(3)]);
	await clock.run(clock.sleep(1));
	expect(rows).toEqual([
		{
			...columns,
			...{ time: '1970-01-01T00:16:40.000Z', state: 'run', thing: 'run', model: 'a, b', credits: 12.5 },
			...{ item: 0, attempt: '', request_hash: '', task_id: '', code: '', key_hash: '' },
		},
	]);
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

	test('waits for IDs that are not in the table yet, and not for ends', async () => {
		const { tookMs, states, rows, clock } = await endRun(200, { acceptedRow: 'outstanding' });
		expect([tookMs, states[0]]).toEqual([200, 'accepted']);
		await clock.run(clock.sleep(200));
		expect(rows.map(({ state }) => state)).toEqual(['accepted', 'completed']);
	});

	test('takes no time where the IDs are in the table', async () => {
		const { tookMs, states } = await endRun(200, { acceptedRow: 'written' });
		expect([tookMs, states]).toEqual([0, ['accepted']]);
	});

	test('comes after 5 seconds, whatever n8n does', async () => {
		const { tookMs } = await endRun(60_000, { acceptedRow: 'outstanding' });
		expect(tookMs).toBe(5000);
	});
});

describe('orders of waves that a crash has interrupted', () => {
	const interrupted = (changes: Partial<Order> = {}): Order => {
		const { request, ...more } = order(3);
		return { ...more, request: { ...request, body: {}, hash: 'hash', submitAgain: false, wave: 0 }, ...changes };
	};
	const submitting = { id: 1, time: '2026-11-23T12:00:00.000Z', state: 'submitting', attempt: '7-a-0', item: 3 };
	const shared = { ...columns, thing: 'task', model: 'm', request_hash: 'hash', task_id: '' };
	const accepted = { ...shared, ...submitting, id: 2, state: 'accepted', task_id: 't' };

	async function takeUp(of: Order, rows: unknown[]) {
		const { log, clock } = makeLog();
		log.ports.table.rowsOfRun = jest.fn(async () => await Promise.resolve(rows));
		await clock.run(log.takeUp([of]));
		return { order: of, read: log.ports.table.rowsOfRun };
	}

	test('go on with the ID that is in the rows, and note their end there', async () => {
		const { order: of } = await takeUp(interrupted(), [{ ...shared, ...submitting }, accepted]);
		expect(of).toMatchObject({ state: 'accepted', task: { taskId: 't' }, acceptedAtMs: Date.parse(submitting.time) });
		expect(of.purchase).toEqual({ attempt: '7-a-0', hash: 'hash' });
		expect(of.request).toBeUndefined();
	});

	test.each<[string, Order, unknown[]]>([
		['has no ID there', interrupted(), [{ ...shared, ...submitting }]],
		['was created by another request', interrupted(), [{ ...accepted, request_hash: 'other' }]],
		['is of another item', interrupted(), [{ ...accepted, item: 2 }]],
		['has failed, and is created again', interrupted({ earlierTaskIds: ['t'] }), [accepted]],
		['has rows that cannot be read', interrupted(), [accepted, { ...accepted, state: 'sold' }]],
	])('stay as they are where the task %s', async (_, of, rows) => {
		const before = structuredClone(of);
		expect((await takeUp(of, rows)).order).toEqual(before);
	});

	test('nothing is read for orders that were not being submitted', async () => {
		const { read } = await takeUp(order(3), [accepted]);
		expect(read).not.toHaveBeenCalled();
	});
});
