/** Waves: whatever dies when, nothing is bought twice, and only what may have been sent is in doubt. */
import fc from 'fast-check';
import { GatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { endBadly, makeOrder } from '../../core/orders/states';
import { WaveLog, type WaveStore } from '../../core/orders/waveLog';
import { fakeClock, settle } from './support';

const plan = (item: number) =>
	makeOrder({
		item,
		thing: 'task',
		kind: 'image',
		request: { body: { prompt: 'a cat' }, hash: 'h', submitAgain: item % 7 === 3 },
		wait: { plan: { kind: 'automatic' }, timeoutMs: 600_000, onTimeout: 'error' },
		then: 'poll',
	});

/** n8n's database, and what the service has got. */
class World {
	readonly names = new Set<number>();

	readonly sent: number[] = [];

	saved: Order[];

	/** As it is saved. */
	batch = { waves: 0, inDoubt: 0 };

	savings = 0;

	private lives = 0;

	dead = false;

	failing = { save: false, record: false };

	constructor(count: number) {
		this.saved = Array.from({ length: count }, (_, item) => plan(item));
	}

	/** One life of the execution that submits. */
	begin(places = 3, requestsPerSecond = 60) {
		const orders = structuredClone(this.saved);
		const batch = { places, requestsPerSecond, ...this.batch, isTakenOver: this.lives++ > 0 };
		this.dead = false;
		const save = () => {
			if (this.failing.save) return;
			this.saved = structuredClone(orders);
			this.batch = { waves: batch.waves, inDoubt: batch.inDoubt };
		};
		const store: WaveStore = {
			save: async () => {
				this.savings++;
				await Promise.resolve();
				if (!this.dead) save();
			},
			changed: () => {},
			record: async (waves) => {
				await Promise.resolve();
				if (this.failing.record) throw new Error('no disk');
				const known = waves.filter((wave) => this.names.has(wave));
				for (const wave of waves) this.names.add(wave);
				return known;
			},
			forget: async (waves) => {
				await Promise.resolve();
				for (const wave of waves) this.names.delete(wave);
			},
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
				.then(
					() => undefined,
					(error: GatewayError) => endBadly(order, error).details.reason?.name,
				);
		return { orders, log, submit, save };
	}
}

const due = (orders: Order[]) => orders.filter(({ state }) => state === 'planned');

test('orders that want to be submitted together are one wave: saved first, then named, then sent', async () => {
	const world = new World(3);
	const { orders, submit } = world.begin();
	expect(await Promise.all(orders.map(submit))).toEqual([undefined, undefined, undefined]);
	expect([world.savings, [...world.names], world.sent]).toEqual([1, [0], [0, 1, 2]]);
	expect(world.saved.map(({ state, request }) => [state, request?.wave])).toEqual([0, 1, 2].map(() => ['planned', 0]));
});

test('a wave has no more requests than leave within half a second', async () => {
	const world = new World(5);
	const { orders, submit } = world.begin(5, 4);
	await Promise.all(orders.map(submit));
	expect(orders.map(({ request }) => request?.wave)).toEqual([0, 0, 1, 1, 2]);
});

test('where the name cannot be written, nothing of the wave is sent', async () => {
	const world = new World(2);
	world.failing.record = true;
	const { orders, submit } = world.begin();
	expect(await Promise.all(orders.map(submit))).toEqual(['submissionNotRecorded', 'submissionNotRecorded']);
	expect(world.sent).toEqual([]);
});

test('after a crash before the first request of a wave, all of it is submitted', async () => {
	const world = new World(2);
	const first = world.begin();
	void first.log.guard(first.orders[0] as Order, async ({ begin }) => {
		await begin();
		await new Promise(() => {});
	});
	while (world.saved[0]?.request?.wave === undefined) await settle();
	expect(world.saved[0]?.request?.wave).toBe(0);
	const { orders, log, submit } = world.begin();
	await log.settle(orders);
	expect(due(orders)).toHaveLength(2);
	expect(await Promise.all(orders.map(submit))).toEqual([undefined, undefined]);
});

test('after a crash in a wave only its orders are in doubt, also with Submit Again', async () => {
	const world = new World(6);
	const first = world.begin();
	await Promise.all(first.orders.slice(2, 4).map(first.submit));
	const { orders, log, submit } = world.begin();
	await log.settle(orders);
	expect(orders.map(({ end }) => end?.as)).toEqual([
		...[undefined, undefined],
		...['outcomeUnknown', 'outcomeUnknown'],
		...[undefined, undefined],
	]);
	await Promise.all(due(orders).map(submit));
	expect(world.sent.sort()).toEqual([0, 1, 2, 3, 4, 5]);
});

test('one that was being sent and has no wave, or of which n8n cannot say, is in doubt', async () => {
	const world = new World(2);
	const { orders, log } = world.begin();
	Object.assign(orders[0] as Order, { state: 'submitting' });
	Object.assign(orders[1]?.request as object, { wave: 4 });
	world.failing.record = true;
	await log.settle(orders);
	expect(orders.map(({ end }) => end?.as)).toEqual(['outcomeUnknown', 'outcomeUnknown']);
});

test('where n8n could not save, the next orders are in doubt, as many as a wave can have', async () => {
	const world = new World(5);
	world.failing.save = true;
	const first = world.begin(2);
	await Promise.all(first.orders.slice(0, 2).map(first.submit));
	world.failing.save = false;
	const { orders, log, submit } = world.begin(2);
	await log.settle(orders);
	const outcomes: unknown[] = [];
	for (const order of due(orders)) outcomes.push(await submit(order));
	expect(outcomes).toEqual(['outcomeStillUnknown', 'outcomeStillUnknown', undefined, undefined, undefined]);
	expect(world.sent).toEqual([0, 1, 2, 3, 4]);
});

/** The execution that submits dies, and n8n throws away all that it had saved of it. */
const loseAll = (world: World, count: number) => {
	world.saved = Array.from({ length: count }, (_, item) => plan(item));
	world.batch = { waves: 0, inDoubt: 0 };
};

test.each([
	['60 waves', 60],
	['2,100 waves', 2_100],
])('after %s of which n8n has thrown everything away, nothing is sent again', async (_, waves) => {
	const count = waves + 10;
	const world = new World(count);
	world.failing.save = true;
	const first = world.begin(1);
	for (const order of first.orders.slice(0, waves)) await first.submit(order);
	expect(world.names.size).toBeLessThan(1_010);
	const { orders, log, submit } = world.begin(1);
	await log.settle(orders);
	for (const order of due(orders)) await submit(order);
	expect(world.sent).toEqual(Array.from({ length: count }, (_item, item) => item));
	expect(orders.filter(({ end }) => end?.as === 'outcomeUnknown')).toHaveLength(waves);
});

test('a wave whose name could not be written hides none of those after it', async () => {
	const world = new World(6);
	const first = world.begin(1);
	for (const [index, order] of first.orders.slice(0, 4).entries()) {
		world.failing.record = index === 1;
		await first.submit(order);
	}
	expect(world.sent).toEqual([0, 2, 3]);
	loseAll(world, 6);
	const { orders, log, submit } = world.begin(1);
	await log.settle(orders);
	for (const order of due(orders)) await submit(order);
	expect(world.sent).toEqual([0, 2, 3, 4, 5]);
});

test('no more are in doubt than can have left in the waves that were begun, and those in flight beside them', async () => {
	const world = new World(40);
	const first = world.begin(10, 4);
	for (const order of first.orders.slice(0, 6)) await first.submit(order);
	loseAll(world, 40);
	const { orders, log, submit } = world.begin(10, 4);
	await log.settle(orders);
	for (const order of due(orders)) await submit(order);
	// Six waves of two requests at most: ten were in flight at the last one, and ten have left in the others.
	expect(orders.filter(({ end }) => end?.as === 'outcomeUnknown')).toHaveLength(10 + 5 * 2);
	expect(world.sent).toEqual([...new Set(world.sent)]);
});

test('a name that ends the search and that another process restores is no wave', async () => {
	const world = new World(4);
	world.begin();
	const { orders, log, submit } = world.begin(1);
	await log.settle(orders);
	// Another process has read the names before, and writes them afterwards.
	const restored = [...world.names, 0, 1000];
	for (const name of restored) world.names.add(name);
	for (const order of due(orders)) expect(await submit(order)).toBeUndefined();
	expect(world.sent).toEqual([0, 1, 2, 3]);
});

test('an execution that nobody has worked on before looks for no names', async () => {
	const world = new World(2);
	const { orders, log } = world.begin();
	await log.settle(orders);
	expect(world.names.size).toBe(0);
});

test('where the waves of a dead execution cannot be counted, nothing is sent until they can', async () => {
	const world = new World(3);
	const first = world.begin(1);
	for (const order of first.orders.slice(0, 2)) await first.submit(order);
	loseAll(world, 3);
	const { orders, log, submit } = world.begin(1);
	world.failing.record = true;
	await log.settle(orders);
	expect(await submit(orders[0] as Order)).toBe('submissionNotRecorded');
	world.failing.record = false;
	for (const order of due(orders)) await submit(order);
	expect(world.sent).toEqual([0, 1]);
	expect(orders.map(({ end }) => end?.as)).toEqual(['notSubmitted', 'outcomeUnknown', 'outcomeUnknown']);
});

test('whatever dies when, and whichever savings fail: nothing is sent twice, and all that is left is sent', async () => {
	const life = fc.record({
		places: fc.integer({ min: 1, max: 4 }),
		submits: fc.integer({ min: 0, max: 5 }),
		saves: fc.boolean(),
		fails: fc.boolean(),
		losesAll: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(life, { maxLength: 6 }), async (lives) => {
			const world = new World(12);
			for (const { submits, saves, fails, losesAll } of lives) {
				world.failing.save = fails;
				const { orders, log, submit, save } = world.begin();
				await log.settle(orders);
				if (!fails) save();
				const wanted = due(orders).slice(0, submits);
				for (let next = 0; next < wanted.length; next += 3) await Promise.all(wanted.slice(next, next + 3).map(submit));
				if (saves) save();
				world.dead = true;
				if (losesAll) loseAll(world, 12);
			}
			world.failing.save = false;
			const { orders, log, submit } = world.begin();
			await log.settle(orders);
			for (const order of due(orders)) await submit(order);
			expect(world.sent).toEqual([...new Set(world.sent)]);
		}),
		{ numRuns: 500 },
	);
});
