/** Waves: whatever dies when, nothing is bought twice, and only what may have been sent is in doubt. */
import { SAME_IN_PIPELINES } from '../support/propertySettings.mts';
import fc from 'fast-check';
import { GatewayError, gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { accept, endBadly, errorOf, makeOrder } from '../../core/orders/states';
import type { SentRecord } from '../../core/orders/sentRecord';
import { WaveDoubts } from '../../core/orders/waveDoubts';
import { WaveLog, type WaveStore } from '../../core/orders/waveLog';
import { namesKept } from '../../core/orders/waveNames';
import { INTERRUPTED, UNREADABLE } from '../../core/orders/writeAheadLog';
import { deferred, fakeClock, flushPromises } from './support';

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

	/** The removals of names, each of so many. */
	readonly removals: number[] = [];

	/** The names that are written at once, each time. */
	readonly records: number[][] = [];

	/** As it is saved. */
	batch: { waves: number; inDoubt?: number } = { waves: 0 };

	/** The answers that n8n is to save soon. */
	changes = 0;

	savings = 0;

	private lives = 0;

	dead = false;

	/** n8n has dropped names of the run. */
	hasDropped = false;

	failing = { save: false, record: false };

	noDisk: unknown = new Error('no disk');

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
			changed: () => {
				this.changes++;
			},
			record: async (waves) => {
				await Promise.resolve();
				if (this.failing.record) throw this.noDisk;
				this.records.push(waves);
				const known = waves.filter((wave) => this.names.has(wave));
				for (const wave of waves) this.names.add(wave);
				return known;
			},
			isComplete: async () => await Promise.resolve(!this.hasDropped),
			forget: async (waves) => {
				await Promise.resolve();
				this.removals.push(waves.length);
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

/** An order that n8n has saved with this wave. */
const inWave = (wave: number, item = 0): Order => {
	const order = plan(item);
	Object.assign(order.request as object, { wave });
	return order;
};

const doubtOf = (order: Order) => errorOf(order)?.details.reason?.data;

/** A purchase log, and the orders that it was told of. */
function recordOf(recover: SentRecord['recover']) {
	const told: Record<'withdrawn' | 'ended', string[]> = { withdrawn: [], ended: [] };
	const statesOf = (orders: readonly Order[]) => orders.map(({ item, state }) => `${item} ${state}`);
	const withdrawUnsent = (orders: readonly Order[]) => void told.withdrawn.push(...statesOf(orders));
	const end = async (orders: readonly Order[]) => void (await Promise.resolve(told.ended.push(...statesOf(orders))));
	return { recover, withdrawUnsent, end, told };
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

test.each([
	['n8n says why', new Error('no disk'), 'no disk'],
	['it is no error', 'full', 'full'],
	['it has a cause', gatewayError('packageBug', { words: 'x' }, { cause: new Error('no disk') }), 'no disk'],
	['it has none', gatewayError('packageBug', { words: 'x' }), 'This node ran into something unexpected: x'],
])(
	'where the name cannot be written, nothing of the wave is sent, and the error says why: %s',
	async (_, thrown, words) => {
		const world = new World(2);
		world.failing.record = true;
		world.noDisk = thrown;
		const { orders, submit } = world.begin();
		expect(await Promise.all(orders.map(submit))).toEqual(['submissionNotRecorded', 'submissionNotRecorded']);
		expect(world.sent).toEqual([]);
		expect(orders.map(doubtOf)).toEqual([{ words }, { words }]);
	},
);

test('n8n’s database may be away for a minute: the wave waits for it, with all that come after', async () => {
	const world = new World(3);
	const { orders, submit } = world.begin(3, 4);
	let failures = 6;
	Object.defineProperty(world.failing, 'record', { get: () => failures-- > 0 });
	expect(await Promise.all(orders.map(submit))).toEqual([undefined, undefined, undefined]);
	expect([world.sent.sort(), orders.map(({ request }) => request?.wave)]).toEqual([
		[0, 1, 2],
		[0, 0, 1],
	]);
});

test.each([
	['has no wave', plan(0)],
	[
		'has no request',
		makeOrder({ item: 0, thing: 'task', kind: 'image', task: { taskId: 'x', elapsedMs: 0 }, then: 'poll' }),
	],
])('an order that %s is not sent', async (_, order) => {
	const { log } = new World(1).begin();
	const send = jest.fn();
	const guarded = log.guard(order, async ({ sending }) => {
		await sending();
		send();
	});
	await expect(guarded).rejects.toMatchObject({
		kind: 'ownMistake',
		message: expect.stringContaining('an order without a wave was submitted') as string,
	});
	expect(send).not.toHaveBeenCalled();
});

test.each(['is sent', 'is put off', 'is given up'])(
	'a wave begins when each order of the last one %s, and n8n is to save what came of it',
	async (leaves) => {
		const world = new World(2);
		const { orders, log, submit } = world.begin();
		const turn = deferred<void>();
		const first = log.guard(orders[0] as Order, async ({ begin, sending, putOff }) => {
			await begin();
			await turn.promise;
			if (leaves === 'is given up') throw new Error('the form is wrong');
			if (leaves === 'is put off') putOff(1_000);
			else await sending();
			await new Promise(() => {});
		});
		await flushPromises();
		const second = submit(orders[1] as Order);
		await flushPromises();
		expect(orders.map(({ request }) => request?.wave)).toEqual([0, undefined]);
		turn.resolve();
		if (leaves === 'is given up') await expect(first).rejects.toThrow('the form is wrong');
		expect(await second).toBeUndefined();
		expect(orders[1]?.request?.wave).toBe(1);
		expect(world.changes).toBe(leaves === 'is sent' ? 1 : 2);
	},
);

test('after a crash before the first request of a wave, all of it is submitted', async () => {
	const world = new World(2);
	const first = world.begin();
	for (const order of first.orders)
		void first.log.guard(order, async ({ begin }) => {
			await begin();
			await new Promise(() => {});
		});
	for (let round = 0; world.saved[0]?.request?.wave === undefined && round < 100; round++) await flushPromises();
	expect(world.saved[0]?.request?.wave).toBeDefined();
	expect(world.saved.map(({ request }) => request?.wave)).toEqual([0, 0]);
	const { orders, log, submit } = world.begin();
	await log.resolveInterrupted(orders);
	expect(due(orders)).toHaveLength(2);
	expect(await Promise.all(orders.map(submit))).toEqual([undefined, undefined]);
});

test('after a crash in a wave only its orders are in doubt, also with Submit Again', async () => {
	const world = new World(6);
	const first = world.begin();
	await Promise.all(first.orders.slice(2, 4).map(first.submit));
	const { orders, log, submit } = world.begin();
	await log.resolveInterrupted(orders);
	expect(orders.map(({ end }) => end?.as)).toEqual([
		...[undefined, undefined],
		...['outcomeUnknown', 'outcomeUnknown'],
		...[undefined, undefined],
	]);
	await Promise.all(due(orders).map(submit));
	expect(world.sent.sort()).toEqual([0, 1, 2, 3, 4, 5]);
});

test('an order that was being sent and has no wave, or of whose wave n8n cannot say, is in doubt', async () => {
	const world = new World(2);
	const { orders, log } = world.begin();
	Object.assign(orders[0] as Order, { state: 'submitting' });
	Object.assign(orders[1]?.request as object, { wave: 4 });
	world.failing.record = true;
	await log.resolveInterrupted(orders);
	expect(orders.map(({ end }) => end?.as)).toEqual(['outcomeUnknown', 'outcomeUnknown']);
	expect(orders.map(doubtOf)).toEqual([INTERRUPTED, UNREADABLE].map((what) => ({ thing: 'task', what })));
});

test('what runs or has ended is left as it is, whatever is known of its wave', async () => {
	const world = new World(0);
	world.names.add(4);
	const [running, failed] = [inWave(4), inWave(4, 1)];
	for (const order of [running, failed]) order.batch = { retry: {} } as never;
	accept(running, { taskId: 't', elapsedMs: 0 }, 1);
	Object.assign(running.request as object, { wave: 4 });
	endBadly(failed, gatewayError('noFreePlace', { time: '2 min' }));
	const before = structuredClone([running, failed]);
	await world.begin().log.resolveInterrupted([running, failed]);
	expect([running, failed]).toEqual(before);
});

test('where the orders know of more waves than the run, the next wave comes after them', async () => {
	const world = new World(1);
	world.saved.push(inWave(4, 1));
	const { orders, log, submit } = world.begin();
	await log.resolveInterrupted(orders);
	await submit(orders[0] as Order);
	expect(orders[0]?.request?.wave).toBe(5);
});

test('a run whose orders all run looks for no waves that were not saved', async () => {
	const world = new World(1);
	world.begin();
	const { orders, log } = world.begin();
	accept(orders[0] as Order, { taskId: 't', elapsedMs: 0 }, 1);
	await log.resolveInterrupted(orders);
	expect(world.names.size).toBe(0);
});

test.each([
	['an execution that nobody has worked on before does not ask', false, plan(0), 0],
	['an execution whose wave may have been sent asks', false, inWave(0), 1],
	['an execution that takes over asks', true, plan(0), 1],
])('%s the purchase log', async (_, isTakenOver, order, times) => {
	const world = new World(0);
	if (isTakenOver) world.begin();
	world.names.add(0);
	const recover = jest.fn(async () => await Promise.resolve(undefined));
	await world.begin().log.resolveInterrupted([order], recordOf(recover));
	expect(recover).toHaveBeenCalledTimes(times);
});

test('an order of a wave that was sent goes on with what the purchase log tells of it, and one of a wave that was not is sent', async () => {
	const world = new World(0);
	world.names.add(0);
	const [sent, notSent, beingSent] = [inWave(0, 0), inWave(1, 1), inWave(2, 2)];
	beingSent.state = 'submitting';
	const recover = async () => {
		accept(sent, { taskId: 't', elapsedMs: 0 }, 1);
		return await Promise.resolve({ inDoubt: new Map([[notSent, 7]]), areAll: true });
	};
	await world.begin().log.resolveInterrupted([sent, notSent, beingSent], recordOf(recover));
	expect([sent, notSent, beingSent].map(({ state }) => state)).toEqual(['accepted', 'planned', 'ended']);
});

test('whoever takes over asks the purchase log also where all orders run: a lost execution may have bought again what had failed', async () => {
	const world = new World(5);
	world.failing.save = true;
	await world.begin().submit(plan(0));
	world.failing.save = false;
	const { orders, log } = world.begin();
	for (const order of orders.slice(0, 2))
		Object.assign(order, { state: 'accepted', task: { taskId: 'failed', elapsedMs: 0 } });
	const recover = async ([order]: readonly Order[]) => {
		Object.assign(order as Order, { task: { taskId: 'again', elapsedMs: 0 } });
		return await Promise.resolve({ inDoubt: new Map(), areAll: false });
	};
	await log.resolveInterrupted(orders, recordOf(recover));
	expect(orders.slice(0, 2).map(({ task }) => task?.taskId)).toEqual(['again', 'failed']);
	expect(orders.slice(0, 2).map(({ request }) => request?.maybeSent)).toEqual([undefined, true]);
	// Two more could have left in the wave of which n8n has saved nothing.
	expect(orders.slice(2).map(({ end }) => end?.as)).toEqual(['outcomeUnknown', 'outcomeUnknown', undefined]);
});

test('what a lost execution may have sent again is marked also where nothing is left to be sent', async () => {
	const world = new World(1);
	world.failing.save = true;
	await world.begin(1).submit(plan(0));
	const { orders, log } = world.begin(1);
	Object.assign(orders[0] as Order, { state: 'accepted' });
	await log.resolveInterrupted(orders);
	expect(orders[0]).toMatchObject({ state: 'accepted', request: { maybeSent: true } });
});

test('what a lost execution may have sent again, and what the next one has sent, is in doubt once', async () => {
	const world = new World(2);
	world.names.add(0);
	const [again, known] = world.saved as [Order, Order];
	for (const order of [again, known]) {
		Object.assign(order, { batch: { retry: {} } });
		Object.assign(order.request as object, { maybeSent: true, wave: 0 });
	}
	world.begin();
	const { orders, log } = world.begin();
	const recover = async () => {
		accept(orders[1] as Order, { taskId: 't1', elapsedMs: 0 }, 1);
		return await Promise.resolve({ inDoubt: new Map(), areAll: true });
	};
	await log.resolveInterrupted(orders, recordOf(recover));
	expect(orders.map(({ state, end }) => end?.as ?? state)).toEqual(['outcomeUnknown', 'accepted']);
	for (const { request } of orders) expect(request).not.toHaveProperty('maybeSent');
	expect(orders[1]?.task?.taskId).toBe('t1');
});

test('what has been accepted meanwhile is in no doubt of open ones, nor what has ended', () => {
	const doubts = new WaveDoubts(3, 3);
	const orders = [plan(0), plan(1), plan(2)];
	doubts.know({ open: orders, others: [] });
	accept(orders[0] as Order, { taskId: 't0', elapsedMs: 0 }, 1);
	doubts.mark(1);
	expect(orders.map(({ request }) => request?.maybeSent)).toEqual([undefined, true, true]);
	const retried = [plan(0), plan(1)];
	for (const order of retried) Object.assign(order, { batch: { retry: {} } });
	doubts.know({ open: retried, others: [] });
	accept(retried[0] as Order, { taskId: 't0', elapsedMs: 0 }, 1);
	doubts.mark(1);
	expect(retried.map(({ request }) => request?.maybeSent)).toEqual([undefined, true]);
});

test('what the purchase log knows goes on, and may be sent again, also where the log does not know all', async () => {
	const world = new World(3);
	world.failing.save = true;
	const first = world.begin(2);
	await Promise.all(first.orders.slice(0, 2).map(first.submit));
	const { orders, log } = world.begin(2);
	const [known] = orders;
	Object.assign(known as Order, { batch: { retry: {} } });
	const recover = async () => {
		accept(known as Order, { taskId: 't0', elapsedMs: 0 }, 1);
		return await Promise.resolve({ inDoubt: new Map(), areAll: false });
	};
	await log.resolveInterrupted(orders, recordOf(recover));
	expect(orders.map(({ state }) => state)).toEqual(['accepted', 'ended', 'planned']);
	expect(known?.request).toBeDefined();
	expect(known?.request).not.toHaveProperty('maybeSent');
});

test('orders of a wave that n8n has saved do not take the doubt from those of the next one, which it has not', async () => {
	const world = new World(6);
	const first = world.begin(2);
	await Promise.all(first.orders.slice(0, 2).map(first.submit));
	world.failing.save = true;
	await Promise.all(first.orders.slice(2, 4).map(first.submit));
	world.failing.save = false;
	const { orders, log, submit } = world.begin(2);
	await log.resolveInterrupted(orders);
	for (const order of due(orders)) await submit(order);
	expect(orders.map(({ end }) => end?.as)).toEqual([
		...[0, 1, 2, 3].map(() => 'outcomeUnknown'),
		...[undefined, undefined],
	]);
	expect(world.sent).toEqual([0, 1, 2, 3, 4, 5]);
});

test('with the name of a wave those of the last ten are written again, and no others', async () => {
	const world = new World(15);
	const { orders, submit } = world.begin(1);
	for (const order of orders) await submit(order);
	expect(world.records.at(-1)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
});

test('what a lost execution may have sent again is not sent once more, and takes the doubt from no other order', async () => {
	const world = new World(3);
	world.failing.save = true;
	await world.begin(1).submit(plan(0));
	world.failing.save = false;
	const { orders, log, submit } = world.begin(1);
	Object.assign(orders[0] as Order, { state: 'accepted' });
	await log.resolveInterrupted(orders);
	// Its task has failed: Retry On Fail plans it again.
	const { request } = orders[0] as Order;
	const planAgain = () => Object.assign(orders[0] as Order, { state: 'planned', request });
	expect(due(orders)).toEqual(orders.slice(2));
	const outcomes: unknown[] = [];
	for (const order of [planAgain(), ...orders.slice(2)]) outcomes.push(await submit(order));
	expect(outcomes).toEqual(['outcomeStillUnknown', undefined]);
	// And once more, with Submit Again.
	expect(await submit(planAgain())).toBeUndefined();
});

test('a wave whose name is there already may have been sent: as many of the next orders as can be in flight are in doubt', async () => {
	const world = new World(4);
	world.names.add(0);
	const { orders, submit } = world.begin(2);
	for (const order of orders) await submit(order);
	expect(world.sent).toEqual([2, 3]);
	expect(orders.map(doubtOf)).toEqual([
		...[0, 1].map(() => ({ thing: 'task', what: INTERRUPTED })),
		...[undefined, undefined],
	]);
});

test('what a second crash leaves in doubt comes to what is left of the first one', async () => {
	const world = new World(8);
	world.failing.save = true;
	const first = world.begin(2);
	await first.submit(first.orders[0] as Order);
	world.failing.save = false;
	const second = world.begin(2);
	await second.log.resolveInterrupted(second.orders);
	expect(due(second.orders)).toEqual(second.orders.slice(2));
	await second.submit(second.orders[2] as Order);
	second.save();
	world.failing.save = true;
	await second.submit(second.orders[3] as Order);
	world.failing.save = false;
	const third = world.begin(2);
	await third.log.resolveInterrupted(third.orders);
	for (const order of due(third.orders)) await third.submit(order);
	expect(third.orders.filter(({ end }) => end?.as === 'outcomeUnknown')).toHaveLength(2 + 2);
	expect(world.sent).toEqual([0, 2, 3, 5, 6, 7]);
});

test('where n8n could not save, the next orders are in doubt, as many as a wave can have', async () => {
	const world = new World(5);
	world.failing.save = true;
	const first = world.begin(2);
	await Promise.all(first.orders.slice(0, 2).map(first.submit));
	world.failing.save = false;
	const { orders, log, submit } = world.begin(2);
	await log.resolveInterrupted(orders);
	expect(orders.map(doubtOf)).toEqual([
		...[0, 1].map(() => ({ thing: 'task', what: INTERRUPTED })),
		...[undefined, undefined, undefined],
	]);
	for (const order of due(orders)) expect(await submit(order)).toBeUndefined();
	expect(world.sent).toEqual([0, 1, 2, 3, 4]);
});

/** The execution that submits dies, and n8n throws away all that it had saved of it. */
const loseAll = (world: World, count: number) => {
	world.saved = Array.from({ length: count }, (_, item) => plan(item));
	world.batch = { waves: 0 };
};

test.each([
	['60 waves', 60, 0],
	['2,100 waves', 2_100, 0],
	['2,100 waves, the first five of which it has saved', 2_100, 5],
])('after %s of which n8n has thrown everything away, nothing is sent again', async (_, waves, saved) => {
	const count = waves + 10;
	const world = new World(count);
	const first = world.begin(1);
	for (const order of first.orders.slice(0, saved)) await first.submit(order);
	first.save();
	world.failing.save = true;
	for (const order of first.orders.slice(saved, waves)) await first.submit(order);
	expect([...world.names].sort((one, other) => one - other)).toEqual(namesKept(waves));
	expect(world.names.size).toBeLessThan(1_010);
	// Each is removed once.
	expect(world.removals).toEqual(Array.from({ length: waves - world.names.size }, () => 1));
	const { orders, log, submit } = world.begin(1);
	await log.resolveInterrupted(orders);
	for (const order of due(orders)) await submit(order);
	expect(world.sent).toEqual(Array.from({ length: count }, (_item, item) => item));
	expect(orders.filter(({ end }) => end?.as === 'outcomeUnknown')).toHaveLength(waves - saved);
});

test('an execution that goes on after many waves keeps the names of the same ones, also where one could not be written', async () => {
	const world = new World(20);
	for (const name of namesKept(2_100)) world.names.add(name);
	world.batch = { waves: 2_100 };
	const { orders, submit } = world.begin(1);
	for (const [index, order] of orders.entries()) {
		world.failing.record = index > 4 && index < 8;
		await submit(order);
	}
	expect(world.sent).toHaveLength(17);
	expect([...world.names].sort((one, other) => one - other)).toEqual(namesKept(2_120));
});

test('a name that another process has removed is written again before long', async () => {
	const world = new World(12);
	const { orders, submit } = world.begin(1);
	for (const [index, order] of orders.entries()) {
		await submit(order);
		if (index === 4) world.names.delete(2);
	}
	expect(world.names).toEqual(new Set(namesKept(12)));
});

test('a wave whose name the last execution could not write hides none of the next one', async () => {
	const world = new World(6);
	const first = world.begin(1);
	for (const [index, order] of first.orders.slice(0, 2).entries()) {
		world.failing.record = index === 1;
		await first.submit(order);
	}
	first.save();
	world.failing.record = false;
	const second = world.begin(1);
	await second.log.resolveInterrupted(second.orders);
	await second.submit(second.orders[2] as Order);
	expect(world.names).toEqual(new Set(namesKept(4)));
	loseAll(world, 6);
	const { orders, log, submit } = world.begin(1);
	await log.resolveInterrupted(orders);
	for (const order of due(orders)) await submit(order);
	expect(world.sent).toEqual([...new Set(world.sent)]);
});

test('after a crash, nothing is sent again where n8n has dropped names of the run: no name tells which waves were sent', async () => {
	const world = new World(6);
	world.failing.save = true;
	const first = world.begin(1);
	for (const order of first.orders.slice(0, 2)) await first.submit(order);
	world.failing.save = false;
	world.names.clear();
	world.hasDropped = true;
	Object.assign(world.saved[2]?.request as object, { wave: 0 });
	const { orders, log } = world.begin(1);
	await log.resolveInterrupted(orders);
	expect(doubtOf(orders[2] as Order)).toEqual({ thing: 'task', what: UNREADABLE });
	expect(orders.map(({ end }) => end?.as)).toEqual(orders.map(() => 'outcomeUnknown'));
	expect(world.sent).toEqual([0, 1]);
});

test('where no wave is missing, nothing is in doubt, also where more can be in flight than a wave has', async () => {
	const world = new World(4);
	const first = world.begin(10, 4);
	await first.submit(first.orders[0] as Order);
	first.save();
	const { orders, log, submit } = world.begin(10, 4);
	await log.resolveInterrupted(orders);
	for (const order of due(orders)) expect(await submit(order)).toBeUndefined();
	expect(world.sent).toEqual([0, 1, 2, 3]);
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
	await log.resolveInterrupted(orders);
	for (const order of due(orders)) await submit(order);
	expect(world.sent).toEqual([0, 2, 3, 4, 5]);
});

test('no more orders are in doubt than can have left in the waves that were begun, and those in flight beside them', async () => {
	const world = new World(40);
	const first = world.begin(10, 4);
	for (const order of first.orders.slice(0, 6)) await first.submit(order);
	loseAll(world, 40);
	const { orders, log, submit } = world.begin(10, 4);
	await log.resolveInterrupted(orders);
	for (const order of due(orders)) await submit(order);
	// Six waves of two requests at most: ten were in flight at the last one, and ten have left in the others.
	expect(orders.filter(({ end }) => end?.as === 'outcomeUnknown')).toHaveLength(10 + 5 * 2);
	expect(world.sent).toEqual([...new Set(world.sent)]);
});

test('a name that ends the search and that another process restores is no wave', async () => {
	const world = new World(5);
	world.begin();
	const { orders, log, submit } = world.begin(1);
	accept(orders[4] as Order, { taskId: 't4', elapsedMs: 0 }, 1);
	await log.resolveInterrupted(orders);
	// Another process has read the names before, and writes them afterwards.
	const restored = [...world.names, 0, 1000];
	for (const name of restored) world.names.add(name);
	for (const order of due(orders)) expect(await submit(order)).toBeUndefined();
	expect(world.sent).toEqual([0, 1, 2, 3]);
});

test('an execution that nobody has worked on before looks for no names', async () => {
	const world = new World(2);
	const { orders, log } = world.begin();
	await log.resolveInterrupted(orders);
	expect(world.names.size).toBe(0);
});

test('where the waves of a dead execution cannot be counted, nothing is sent until they can', async () => {
	const world = new World(3);
	const first = world.begin(1);
	for (const order of first.orders.slice(0, 2)) await first.submit(order);
	loseAll(world, 3);
	const { orders, log, submit } = world.begin(1);
	world.failing.record = true;
	await log.resolveInterrupted(orders);
	// It may have been sent: this is not the error of an order that was not.
	expect(await submit(orders[0] as Order)).toBe('outcomeStillUnknown');
	expect(doubtOf(orders[0] as Order)).toEqual({ thing: 'task', what: UNREADABLE });
	expect(world.savings).toBe(2);
	world.failing.record = false;
	for (const order of due(orders)) await submit(order);
	expect(world.sent).toEqual([0, 1, 2]);
	expect(orders.map(({ end }) => end?.as)).toEqual(['outcomeUnknown', 'outcomeUnknown', undefined]);
});

test('where the waves of a dead execution cannot be counted, what the purchase log has in doubt stays in doubt', async () => {
	const world = new World(2);
	world.begin();
	const { orders, log } = world.begin();
	world.failing.record = true;
	const recover = async () => await Promise.resolve({ inDoubt: new Map([[orders[0] as Order, 7]]), areAll: true });
	const record = recordOf(recover);
	await log.resolveInterrupted(orders, record);
	expect(orders.map(({ state }) => state)).toEqual(['ended', 'planned']);
	// What is planned may have been sent.
	expect(record.told).toEqual({ withdrawn: [], ended: ['0 ended'] });
});

test('the purchase log is told what was surely not sent, and how the others have ended, also where nothing is left to decide', async () => {
	const world = new World(2);
	await world.begin(1).submit(plan(0));
	loseAll(world, 2);
	const { orders, log } = world.begin(1);
	const record = recordOf(async () => await Promise.resolve(undefined));
	await log.resolveInterrupted(orders, record);
	expect(record.told).toEqual({ withdrawn: ['0 ended', '1 planned'], ended: ['0 ended'] });
	const again = recordOf(async () => await Promise.resolve(undefined));
	const [ended] = orders;
	delete ended?.request;
	await log.resolveInterrupted([ended as Order], again);
	expect(again.told).toEqual({ withdrawn: ['0 ended'], ended: ['0 ended'] });
});

test('the first orders are in doubt in whichever sequence they are submitted now: the uploads of one can take longer', async () => {
	const world = new World(4);
	const first = world.begin();
	await Promise.all(first.orders.slice(0, 3).map(first.submit));
	loseAll(world, 4);
	const { orders, log, submit } = world.begin();
	await log.resolveInterrupted(orders);
	for (const order of due(orders).reverse()) await submit(order);
	expect(orders.map(({ end }) => end?.as)).toEqual([0, 1, 2].map(() => 'outcomeUnknown').concat([undefined as never]));
	expect(world.sent).toEqual([0, 1, 2, 3]);
});

test.each([
	['one place', 1, 60, 2],
	['more places than a wave has requests', 4, 4, 9],
])('an order that ends without a wave lets another one begin, which is in doubt: %s', async (_, places, pace, gone) => {
	const world = new World(20);
	const first = world.begin(places, pace);
	await first.log.resolveInterrupted(first.orders);
	await first.submit(first.orders[0] as Order);
	for (const order of first.orders.slice(1, 1 + gone))
		endBadly(order, gatewayError('submissionStopped', { thing: 'task' }));
	await first.submit(first.orders[1 + gone] as Order);
	loseAll(world, 20);
	const { orders, log, submit } = world.begin(places, pace);
	await log.resolveInterrupted(orders);
	for (const order of due(orders)) await submit(order);
	expect(world.sent.filter((item) => item === 1 + gone)).toHaveLength(1);
	expect(orders.at(-1)?.state).toBe('accepted');
});

test('whatever dies when, and whichever savings fail: nothing is sent twice, and all that is left is sent', async () => {
	const PLACES = 3;
	const life = fc.record({
		submits: fc.integer({ min: 0, max: 5 }),
		/** The orders that end before they are submitted, as one whose upload fails. */
		gone: fc.uniqueArray(fc.nat({ max: 11 }), { maxLength: 4 }),
		isReversed: fc.boolean(),
		saves: fc.boolean(),
		fails: fc.boolean(),
		losesAll: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(life, { maxLength: 6 }), fc.constantFrom(2, 4, 60), async (lives, pace) => {
			const world = new World(12);
			for (const { submits, gone, isReversed, saves, fails, losesAll } of lives) {
				world.failing.save = fails;
				const { orders, log, submit, save } = world.begin(PLACES, pace);
				await log.resolveInterrupted(orders);
				if (!fails) save();
				const wanted = due(orders).slice(0, submits);
				for (const order of wanted)
					if (gone.includes(order.item)) endBadly(order, gatewayError('submissionStopped', { thing: 'task' }));
				const left = due(wanted);
				for (let next = 0; next < left.length; next += PLACES) {
					const inFlight = left.slice(next, next + PLACES);
					await Promise.all((isReversed ? inFlight.reverse() : inFlight).map(submit));
				}
				if (saves) save();
				world.dead = true;
				if (losesAll) loseAll(world, 12);
			}
			world.failing.save = false;
			const { orders, log, submit } = world.begin(PLACES, pace);
			await log.resolveInterrupted(orders);
			for (const order of due(orders)) await submit(order);
			expect(world.sent).toEqual([...new Set(world.sent)]);
		}),
		{ numRuns: 500, ...SAME_IN_PIPELINES },
	);
});
