/**
 * Waves: n8n takes a worker for dead, drops what it had saved, and another one goes on, although the first may be alive.
 * Nothing is bought twice. The simulation has all other deaths.
 */
import fc from 'fast-check';
import { readPropertySettings } from '../support/propertySettings.mts';
import { asGatewayError } from '../../core/errors';
import type { Batch } from '../../core/orders/batch';
import type { Order } from '../../core/orders/order';
import { accept, endBadly, makeOrder } from '../../core/orders/states';
import { WaveLog } from '../../core/orders/waveLog';
import { deferred, fakeClock, flushPromises } from './support';

const { seed, runs = 150, path } = readPropertySettings('waves');
const ITEMS = 8;
const PLACES = 3;

const batchOf = (): Batch => ({
	...{ name: 'execution 7', places: PLACES, requestsPerSecond: 60, stopsAtError: false, waves: 0 },
});

const plan = (item: number) =>
	makeOrder({
		...{ item, thing: 'task', kind: 'image', then: 'poll' },
		request: { body: {}, hash: 'h' },
		wait: { plan: { kind: 'automatic' }, timeoutMs: 600_000 },
	});

/** The steps between the plan of an order and its answer, at each of which a worker may fall silent. */
type Step = 'wave' | 'name' | 'request' | 'answer';

interface Worker {
	orders: Order[];
	batch: Batch;
	resolveInterrupted: () => Promise<void>;
	submit: (order: Order) => Promise<void>;
}

/** n8n's database, and what the service has accepted. */
class World {
	readonly names = new Set<string>();

	/** The items of all requests, in their sequence. */
	readonly sent: number[] = [];

	/** The steps of waves. */
	readonly steps: string[] = [];

	/** As the node has handed them over: it has submitted the first ones itself. */
	constructor(readonly first: number) {
		for (const { item } of this.start().slice(0, first)) this.sent.push(item);
	}

	start(): Order[] {
		return Array.from({ length: ITEMS }, (_, item) => {
			const order = plan(item);
			if (item >= this.first) return order;
			accept(order, { taskId: `t${item}`, elapsedMs: 0 }, 1);
			return order;
		});
	}

	/** An execution that works on the orders as the node has handed them over. */
	begin(at: (step: Step) => Promise<void> = async () => {}): Worker {
		const orders = this.start();
		const batch = batchOf();
		const record = (names: string[]) => {
			const known = names.filter((name) => this.names.has(name));
			for (const name of names) this.names.add(name);
			return known;
		};
		const waves = new WaveLog(
			{
				save: async () => void (await Promise.resolve(this.steps.push('saved'))),
				changed: () => {},
				record: async (wanted) => {
					this.steps.push('named');
					return await Promise.resolve(record(wanted.map(String)).map(Number));
				},
				isComplete: async () => await Promise.resolve(true),
				forget: async (wanted) => await Promise.resolve(wanted.forEach((wave) => this.names.delete(String(wave)))),
			},
			fakeClock(),
			batch,
		);
		const submit = async (order: Order) =>
			await waves
				.guard(order, async ({ begin, sending }) => {
					await at('wave');
					await begin();
					await at('name');
					await sending();
					await at('request');
					this.sent.push(order.item);
					this.steps.push('sent');
					await at('answer');
					accept(order, { taskId: `t${order.item}`, elapsedMs: 0 }, 1);
				})
				.catch((thrown: unknown) => void endBadly(order, asGatewayError(thrown)));
		return { orders, batch, submit, resolveInterrupted: async () => await waves.resolveInterrupted(orders) };
	}

	/** The one that goes on in its place. */
	takeOver(): Worker {
		const worker = this.begin();
		worker.batch.isTakenOver = true;
		return worker;
	}
}

const planned = ({ orders }: Worker) => orders.filter(({ state }) => state === 'planned');

/** Submits the orders one after the other, as many at once as may be. */
async function submitAll(worker: Worker, orders = planned(worker)): Promise<void> {
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

test('whenever a worker falls silent, is taken for dead and goes on: nothing is bought twice', async () => {
	const step = fc.constantFrom<Step>('wave', 'name', 'request', 'answer');
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 0, max: 3 }),
			step,
			fc.integer({ min: 1, max: ITEMS }),
			fc.constantFrom<string>('before', 'in the middle', 'after', 'never'),
			async (first, at, number, goesOn) => {
				const world = new World(first);
				const silent = silentAt(at, number);
				const lost = world.begin(silent.at);
				const working = submitAll(lost);
				await flushPromises();
				await flushPromises();
				const worker = world.takeOver();
				const settling = worker.resolveInterrupted();
				for (let turns = 0; goesOn === 'before' && turns < number; turns++) await Promise.resolve();
				if (goesOn === 'before') silent.wakes.resolve();
				await settling;
				if (goesOn === 'in the middle') silent.wakes.resolve();
				await submitAll(worker);
				silent.wakes.resolve();
				if (goesOn !== 'never') await working;
				expect(world.sent).toEqual([...new Set(world.sent)]);
			},
		),
		{ seed, path, numRuns: runs },
	);
});

test('orders that want to be submitted together are one wave: saved first, then named, then sent', async () => {
	const world = new World(0);
	const worker = world.begin();
	await submitAll(worker, worker.orders.slice(0, PLACES));
	expect(world.steps).toEqual(['saved', 'named', 'sent', 'sent', 'sent']);
});

test('nothing that a lost worker has sent is sent again', async () => {
	const world = new World(2);
	const lost = world.begin();
	await submitAll(lost, planned(lost).slice(0, 3));
	const worker = world.takeOver();
	await worker.resolveInterrupted();
	await submitAll(worker);
	expect(world.sent).toEqual([...new Set(world.sent)]);
	expect(world.sent.slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
});
