/** The purchase log and the slots of an account: a row is written before its request, but takes no slot meanwhile. */
import { AccountSlots } from '../../core/account/accountSlots';
import { GatewayError } from '../../core/errors';
import type { Ports } from '../../core/orders/advance';
import { advanceAll } from '../../core/orders/engine';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import { errorOf, makeOrder } from '../../core/orders/states';
import { WriteAheadLog } from '../../core/orders/writeAheadLog';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { logPurchases } from '../../core/purchases/logPurchases';
import { PurchaseLog } from '../../core/purchases/purchaseLog';
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { flushPromises, sharedClock } from './support';

/** n8n takes so long to write rows of its data table. */
const WRITE_MS = 300;
const TASK_MS = 2_000;

/** An account with so many tasks at once, and executions that submit to it with a purchase log. */
function world(tasksAtOnce: number, { requestMs = 50 } = {}) {
	const clock = sharedClock();
	const beganMs = clock.at;
	const slots = new AccountSlots(clock);
	slots.most = tasksAtOnce;
	const rows: Array<PurchaseRow & { id: number }> = [];
	const sent: Array<{ item: number; atMs: number }> = [];
	const endsAtMs = new Map<string, number>();
	const add = (row: PurchaseRow) => void rows.push({ ...row, id: rows.length + 1 });
	const table = {
		insert: async (row: PurchaseRow) => await clock.sleep(WRITE_MS).then(() => add(row)),
		insertLater: add,
		flush: async () => await Promise.resolve(),
		rowsOfRun: async () => await Promise.resolve([]),
		rowsOfOthers: async () => await Promise.resolve([]),
		rowsOfKey: async (key: string) =>
			await clock.sleep(WRITE_MS).then(() => rows.filter(({ key_hash: keyHash }) => keyHash === key)),
	};
	const product: Product<{ id: string }, boolean> = {
		status: 'queued',
		create: async ({ item }, _, { sending }) => {
			await sending?.();
			const id = `task ${sent.push({ item, atMs: clock.at - beganMs })}`;
			await clock.sleep(requestMs);
			endsAtMs.set(id, clock.at + TASK_MS);
			return { id };
		},
		target: (_, task) => ({
			thing: 'task',
			task,
			fetch: async () => await Promise.resolve(clock.at >= (endsAtMs.get(task.taskId) ?? 0)),
			statusOf: (hasEnded) =>
				hasEnded ? { state: 'done', status: 'completed' } : { state: 'pending', status: 'queued' },
			toFailure: () => new GatewayError('taskFailed', 'It has failed'),
			survivalTable: () => new SurvivalTable(),
		}),
		output: () => ({ json: { status: 'completed' } }),
	};
	let executions = 0;
	const run = async (
		orders: Order[],
		{ concurrency = 50, signal }: { concurrency?: number; signal?: AbortSignal } = {},
	) => {
		const executionId = String(++executions);
		const ledger = new OrderLedger({ store: {}, executionId, runIndex: 0 });
		const columns = {
			...{ workflow: 'Test', workflow_id: 'w', node: 'Generate', node_id: 'n', execution: executionId },
			...{ run: executionId, retry: false, account: 'a', base_url: 'https://gateway.example.com' },
		};
		const none = async () => await Promise.resolve();
		const log = new PurchaseLog({
			...{ columns, table, clock, executionId, rememberGap: none, tell: () => {} },
			hasGap: async () => await Promise.resolve(false),
		});
		const scope = { execution: executionId, isLasting: true, executionId, runIndex: 0, isRetry: false };
		const ports: Ports = {
			product: logPurchases(product, log),
			client: { backlogMs: 0, slots: slots.ofRun() },
			...{ clock, ledger, writeAhead: new WriteAheadLog(scope, ledger) },
			events: { accepted: () => {}, unclear: () => {}, continued: () => {}, finished: () => {} },
			filesOf: () => new Map(),
			uploadImage: async () => await Promise.resolve(''),
		};
		await advanceAll(orders, ports, { concurrency, continueOnError: true, signal });
		await log.end(orders);
	};
	const lastStates = () => new Map(rows.map(({ attempt, state, code }) => [attempt, `${state} ${code}`.trim()]));
	return { clock, sent, run, rows, lastStates, elapsedMs: () => clock.at - beganMs };
}

const orders = (count: number, { keyHash, timeoutMs = 3_600_000 }: { keyHash?: string; timeoutMs?: number } = {}) =>
	Array.from({ length: count }, (_, item) =>
		makeOrder({
			...{ item, thing: 'task', kind: 'image', then: 'poll' },
			wait: { plan: { kind: 'fixed', intervalMs: 1_000 }, timeoutMs, onTimeout: 'error' },
			request: { body: {}, hash: `hash ${keyHash ?? item}`, submitAgain: false, ...(keyHash ? { keyHash } : {}) },
		}),
	);

test('the rows of a long batch cost at most 3 % of its time', async () => {
	const { clock, sent, run, elapsedMs } = world(20);
	await clock.run(run(orders(600)));
	expect(sent).toHaveLength(600);
	const shortestMs = (600 / 20) * (TASK_MS + 50);
	expect(elapsedMs()).toBeLessThan(shortestMs * 1.03);
});

test('orders that wait for the purchase of another one with the same key take no slot', async () => {
	const { clock, sent, run } = world(20, { requestMs: 30_000 });
	const deliveries = Array.from({ length: 400 }, async () => await run(orders(1, { keyHash: 'order 7' })));
	const others = clock.sleep(5_000).then(async () => await run(orders(19)));
	await clock.run(Promise.all([...deliveries, others]));
	expect(sent).toHaveLength(20);
	expect(Math.max(...sent.map(({ atMs }) => atMs))).toBe(5_000 + WRITE_MS);
});

test('an order that is given up while it waits for its slot is noted as not accepted', async () => {
	const { clock, sent, run, lastStates } = world(1);
	const stop = new AbortController();
	const [first, late] = [orders(1), orders(2, { timeoutMs: 1_000 })];
	await clock.run(Promise.all([run(first), clock.sleep(10).then(async () => await run(late))]));
	expect(late.map((order) => errorOf(order)?.details.reason?.name)).toEqual(['noFreePlace', 'noFreePlace']);
	expect([...lastStates().values()]).toEqual(['completed', 'not_accepted no_free_place', 'not_accepted no_free_place']);

	const waiting = run(orders(2), { signal: stop.signal });
	await clock.run(clock.sleep(1_000));
	stop.abort();
	await waiting;
	await flushPromises();
	expect([...lastStates().values()].slice(3)).toEqual(['accepted', 'not_accepted execution_stopped']);
	expect(sent).toHaveLength(2);
});

test('a key is not held by an order that no slot became free for: the next one with the key buys', async () => {
	const { clock, sent, run } = world(1);
	const [hurried, patient] = [orders(1, { keyHash: 'key', timeoutMs: 1_000 }), orders(1, { keyHash: 'key' })];
	await clock.run(
		Promise.all([run(orders(1)), clock.sleep(400).then(async () => await Promise.all([run(hurried), run(patient)]))]),
	);
	expect(hurried.map((order) => errorOf(order)?.details.reason?.name)).toEqual(['noFreePlace']);
	expect(patient.map(({ end }) => end?.as)).toEqual(['done']);
	expect(sent).toHaveLength(2);
});
