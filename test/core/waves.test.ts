/**
 * Waves: n8n drops an execution, with or without what it had saved, and another one goes on, although the first may be
 * alive. Nothing is bought twice. With the purchase log, what was accepted is in no doubt.
 */
import fc from 'fast-check';
import { readPropertySettings } from '../support/propertySettings.mts';
import { asGatewayError, gatewayError } from '../../core/errors';
import type { Batch } from '../../core/orders/batch';
import type { Order } from '../../core/orders/order';
import { accept, endBadly, makeOrder } from '../../core/orders/states';
import { WaveLog, type WaveStore } from '../../core/orders/waveLog';
import { PurchaseLog } from '../../core/purchases/purchaseLog';
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { deferred, fakeClock, flushPromises } from './support';

const { seed, runs = 150, path } = readPropertySettings('waves');
const ITEMS = 8;
const PLACES = 3;

const columns = {
	...{ workflow: 'Test', workflow_id: 'w', node: 'Generate', node_id: 'n', execution: '7', run: 'r', retry: false },
	...{ account: 'a', base_url: 'https://gateway.example.com' },
};
const batchOf = (): Batch => ({
	...{ name: 'execution 7', places: PLACES, requestsPerSecond: 60, stopsAtError: false, waves: 0, log: columns },
});

const plan = (item: number, submitAgain = false) =>
	makeOrder({
		...{ item, thing: 'task', kind: 'image', then: 'poll' },
		request: { body: {}, hash: 'h', submitAgain },
		wait: { plan: { kind: 'automatic' }, timeoutMs: 600_000, onTimeout: 'error' },
	});

/** The steps between the plan of an order and its answer, at each of which a worker may fall silent. */
type Step = 'row' | 'wave' | 'name' | 'request' | 'answer';

interface Worker {
	orders: Order[];
	batch: Batch;
	resolveInterrupted: () => Promise<void>;
	submit: (order: Order) => Promise<void>;
}

/** n8n's database with its purchase log, and what the service has accepted. */
class LoggedWorld {
	readonly names = new Set<string>();

	readonly rows: Array<PurchaseRow & { id: number }> = [];

	/** The items of all requests, in their sequence. */
	readonly sent: number[] = [];

	/** The items whose rows have an ID. */
	readonly answered = new Set<number>();

	private ids = 0;

	/** As the node has handed them over: it has submitted the first ones itself. */
	constructor(readonly first: number) {
		for (const { item } of this.start().slice(0, first)) {
			this.write({ ...this.row(item), attempt: `7-a-${item}`, task_id: `t${item}`, state: 'accepted' });
			this.sent.push(item);
		}
	}

	start(): Order[] {
		return Array.from({ length: ITEMS }, (_, item) => {
			const order = plan(item);
			if (item >= this.first) return order;
			order.purchase = { attempt: `7-a-${item}`, hash: 'h' };
			accept(order, { taskId: `t${item}`, elapsedMs: 0 }, 1);
			return order;
		});
	}

	/** An execution that works on the orders as the node has handed them over. */
	begin(
		executionId: string,
		at: (step: Step) => Promise<void> = async () => {},
		failsToWrite: (item: number) => 'never' | 'before' | 'after' = () => 'never',
	): Worker {
		const orders = this.start();
		const batch = batchOf();
		const record = (names: string[]) => {
			const known = names.filter((name) => this.names.has(name));
			for (const name of names) this.names.add(name);
			return known;
		};
		const waves = new WaveLog(
			{
				save: async () => await Promise.resolve(),
				changed: () => {},
				record: async (wanted) => await Promise.resolve(record(wanted.map(String)).map(Number)),
				isComplete: async () => await Promise.resolve(true),
				forget: async (wanted) => await Promise.resolve(wanted.forEach((wave) => this.names.delete(String(wave)))),
			},
			fakeClock(),
			batch,
		);
		const log = new PurchaseLog({
			...{ columns, executionId, clock: fakeClock(), tell: () => {} },
			rememberGap: async () => void (await Promise.resolve(record(['gap']))),
			hasGap: async () => await Promise.resolve(this.names.has('gap')),
			table: {
				insert: async (row) => {
					await Promise.resolve();
					const fails = failsToWrite(row.item);
					if (fails !== 'before') this.write(row);
					if (fails !== 'never') throw new Error('no database');
				},
				insertLater: (row) => this.write(row),
				flush: async () => await Promise.resolve(),
				rowsOfRun: async () => await Promise.resolve(structuredClone(this.rows)),
				rowsOfOthers: async () => await Promise.resolve([]),
				rowsOfKey: async () => await Promise.resolve([]),
			},
		});
		const submit = async (order: Order) =>
			await waves
				.guard(order, async ({ begin, sending }) => {
					await at('row');
					await log.begin(order);
					await at('wave');
					await begin();
					await at('name');
					await sending();
					await at('request');
					this.sent.push(order.item);
					await at('answer');
					log.note(order, 'accepted', { taskId: `t${order.item}` });
					this.answered.add(order.item);
					accept(order, { taskId: `t${order.item}`, elapsedMs: 0 }, 1);
				})
				.catch((thrown: unknown) => void endBadly(order, asGatewayError(thrown)));
		return { orders, batch, submit, resolveInterrupted: async () => await waves.resolveInterrupted(orders, log) };
	}

	/** The one that goes on in its place. */
	takeOver(): Worker {
		const worker = this.begin('10');
		worker.batch.isTakenOver = true;
		return worker;
	}

	private row(item: number): PurchaseRow {
		return {
			...{ ...columns, time: '2026-11-23T12:00:00.000Z', thing: 'task', model: 'm', item, code: '', credits: null },
			...{ state: 'submitting', attempt: '', task_id: '', request_hash: 'h', key_hash: '' },
		};
	}

	private write(row: PurchaseRow): void {
		this.rows.push({ ...row, id: ++this.ids });
	}
}

const planned = ({ orders }: Pick<Worker, 'orders'>) => orders.filter(({ state }) => state === 'planned');

/** Submits the orders one after the other, as many at once as may be. */
async function submitAll(worker: Pick<Worker, 'orders' | 'submit'>, orders = planned(worker)): Promise<void> {
	for (let next = 0; next < orders.length; next += PLACES)
		await Promise.all(orders.slice(next, next + PLACES).map(worker.submit));
}

/** The lost worker falls silent at this step of the order with this number. */
function silentAt(step: Step, number: number) {
	const wakes = deferred<void>();
	let steps = 0;
	let isSilent = false;
	return {
		wakes,
		at: async (each: Step) => {
			if (each === step && ++steps === number) isSilent = true;
			if (isSilent) await wakes.promise;
		},
	};
}

const fates = ({ orders }: Worker) => orders.map(({ task, end }) => task?.taskId ?? end?.error?.details.reason?.name);

test('only the requests of a lost worker whose answers are not in the purchase log are in doubt, with the time at which they were sent', async () => {
	const world = new LoggedWorld(2);
	const { at } = silentAt('answer', 3);
	const lost = world.begin('9', at);
	void submitAll(lost);
	await flushPromises();
	const worker = world.takeOver();
	await worker.resolveInterrupted();
	await submitAll(worker);
	expect(fates(worker)).toEqual(['t0', 't1', 't2', 't3', 'outcomeStillUnknown', 't5', 't6', 't7']);
	expect(worker.orders[4]?.end?.error?.details.reason?.data).toMatchObject({ atMs: expect.any(Number) as number });
});

test('whenever a worker falls silent, is taken for dead and goes on, and whichever rows n8n cannot write: nothing is bought twice', async () => {
	const step = fc.constantFrom<Step>('row', 'wave', 'name', 'request', 'answer');
	const fault = fc.constantFrom<string>('never', 'never', 'never', 'before', 'after');
	// The first wave of the second worker has two numbers: the lost one has taken the first of them before.
	const skipping: [number, Step, number, string[], string] = [
		...([0, 'name', 2, Array.from({ length: ITEMS }, (_, item) => (item === 2 ? 'after' : 'never'))] as const),
		'before',
	];
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 0, max: 3 }),
			step,
			fc.integer({ min: 1, max: ITEMS }),
			fc.array(fault, { minLength: ITEMS, maxLength: ITEMS }),
			fc.constantFrom<string>('before', 'in the middle', 'after', 'never'),
			async (first, at, number, faults, goesOn) => {
				const world = new LoggedWorld(first);
				const silent = silentAt(at, number);
				const lost = world.begin('9', silent.at, (item) => faults[item] as 'never');
				const working = submitAll(lost);
				await flushPromises();
				await flushPromises();
				const kept = [...world.answered];
				const worker = world.takeOver();
				const settling = worker.resolveInterrupted();
				for (let turns = 0; goesOn === 'before' && turns < number; turns++) await Promise.resolve();
				if (goesOn === 'before') silent.wakes.resolve();
				await settling;
				const isWhole = faults.every((each) => each === 'never') && first > 0;
				if (isWhole) for (const item of kept) expect(worker.orders[item]?.task?.taskId).toBe(`t${item}`);
				if (goesOn === 'in the middle') silent.wakes.resolve();
				await submitAll(worker);
				silent.wakes.resolve();
				if (goesOn !== 'never') await working;
				expect(world.sent).toEqual([...new Set(world.sent)]);
			},
		),
		{ seed, path, numRuns: runs, examples: [skipping] },
	);
});

/** n8n's database without a purchase log. */
class World {
	/** The names of waves. */
	readonly names = new Set<number>();

	readonly sent: number[] = [];

	saved: Order[] = [];

	savings = 0;

	cannotSave = false;

	private batch: { waves: number; inDoubt?: number } = { waves: 0 };

	private lives = 0;

	constructor(private readonly count: number) {
		this.loseAll();
	}

	/** n8n throws away all that it has saved of the execution. */
	loseAll(): void {
		this.saved = Array.from({ length: this.count }, (_, item) => plan(item, item % 7 === 3));
		this.batch = { waves: 0 };
	}

	/** One life of the execution that submits, until `die`. */
	begin(requestsPerSecond = 60) {
		const orders = structuredClone(this.saved);
		const batch = { places: PLACES, requestsPerSecond, ...this.batch, isTakenOver: this.lives++ > 0 };
		let isDead = false;
		const save = () => {
			if (this.cannotSave || isDead) return;
			this.saved = structuredClone(orders);
			this.batch = { waves: batch.waves, inDoubt: batch.inDoubt };
		};
		const store: WaveStore = {
			save: async () => {
				this.savings++;
				await Promise.resolve();
				save();
			},
			changed: () => {},
			record: async (waves) => {
				await Promise.resolve();
				const known = waves.filter((wave) => this.names.has(wave));
				for (const wave of waves) this.names.add(wave);
				return known;
			},
			isComplete: async () => await Promise.resolve(true),
			forget: async (waves) => await Promise.resolve(waves.forEach((wave) => this.names.delete(wave))),
		};
		const log = new WaveLog(store, fakeClock(), batch);
		const submit = async (order: Order) =>
			await log
				.guard(order, async ({ begin, sending }) => {
					await begin();
					await sending();
					this.sent.push(order.item);
					order.state = 'accepted';
					order.task = { taskId: `t${order.item}`, elapsedMs: 0 };
				})
				.catch((thrown: unknown) => void endBadly(order, asGatewayError(thrown)));
		return { orders, log, submit, save, die: () => (isDead = true) };
	}
}

test('orders that want to be submitted together are one wave: saved first, then named, then sent', async () => {
	const world = new World(3);
	const { orders, submit } = world.begin();
	await Promise.all(orders.map(submit));
	expect([world.savings, [...world.names], world.sent]).toEqual([1, [0], [0, 1, 2]]);
	expect(world.saved.map(({ state, request }) => [state, request?.wave])).toEqual([0, 1, 2].map(() => ['planned', 0]));
});

test('whatever dies when, and whichever savings fail: nothing is sent twice', async () => {
	const COUNT = 12;
	const life = fc.record({
		submits: fc.integer({ min: 0, max: 5 }),
		/** The orders that end before they are submitted, as one whose upload fails. */
		gone: fc.uniqueArray(fc.nat({ max: COUNT - 1 }), { maxLength: 4 }),
		isReversed: fc.boolean(),
		saves: fc.boolean(),
		cannotSave: fc.boolean(),
		losesAll: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(life, { maxLength: 6 }), fc.constantFrom(2, 4, 60), async (lives, pace) => {
			const world = new World(COUNT);
			for (const { submits, gone, isReversed, saves, cannotSave, losesAll } of lives) {
				world.cannotSave = cannotSave;
				const execution = world.begin(pace);
				await execution.log.resolveInterrupted(execution.orders);
				execution.save();
				const wanted = planned(execution).slice(0, submits);
				for (const order of wanted)
					if (gone.includes(order.item)) endBadly(order, gatewayError('submissionStopped', { thing: 'task' }));
				const left = wanted.filter(({ state }) => state === 'planned');
				await submitAll(execution, isReversed ? left.reverse() : left);
				if (saves) execution.save();
				execution.die();
				if (losesAll) world.loseAll();
			}
			world.cannotSave = false;
			const last = world.begin(pace);
			await last.log.resolveInterrupted(last.orders);
			await submitAll(last);
			expect(world.sent).toEqual([...new Set(world.sent)]);
		}),
		{ seed, path, numRuns: runs },
	);
});
