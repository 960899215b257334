/** The orders of a Purchase Key in one process: each hears what has become of the one before it. */
import { gatewayError, stoppedError } from '../../core/errors';
import { unknownOutcome } from '../../core/http/connectionErrors';
import { makeOrder } from '../../core/orders/states';
import { codeOf, makeWorld, orderOf } from './purchaseWorld';

const reject = (error: Error) => async () => await Promise.reject(error);
const lost = reject(unknownOutcome('task', 'The connection was lost'));

test('an order that waits for another of its process gets the task at once, without the log, and leaves no timer', async () => {
	const world = makeWorld();
	const ports: { broken?: string } = {};
	const one = world.process('one', ports);
	const first = one.buy(orderOf());
	const second = one.buy(orderOf());
	const third = one.buy(orderOf());
	// From its row and its second reading on, the log is not needed.
	void world.clock.sleep(45).then(() => (ports.broken = 'the database is full'));
	expect(await world.run(first)).toEqual({ id: 'task 1' });
	const boughtAtMs = world.clock.now();
	expect(await world.run(Promise.all([second, third]))).toEqual([
		{ id: 'task 1', boughtAtMs },
		{ id: 'task 1', boughtAtMs },
	]);
	expect([world.readAtMs.length, world.clock.now(), world.timers.running]).toEqual([2, boughtAtMs, 0]);
});

test('an order that waits for one that goes on with an earlier task counts its time from the purchase', async () => {
	const world = makeWorld();
	await world.run(world.process('one').buy(orderOf()));
	await world.run(world.clock.sleep(3_600_000));
	const two = world.process('two');
	const [earlier, waiting] = await world.run(Promise.all([two.buy(orderOf()), two.buy(orderOf())]));
	expect(waiting).toEqual(earlier);
	expect((earlier as { boughtAtMs: number }).boughtAtMs).toBeLessThan(world.clock.now() - 3_500_000);
});

test('two different requests under one key at once: one is bought, the other is refused and names its execution', async () => {
	const world = makeWorld();
	const one = world.process('one');
	const first = one.buy(orderOf());
	const second = one.buy(orderOf({ hash: 'other' }));
	second.catch(() => {});
	expect(await world.run(first)).toEqual({ id: 'task 1' });
	await expect(world.run(second)).rejects.toMatchObject({
		details: { reason: { name: 'purchaseKeyConflict', data: { execution: 'one' } } },
	});
	expect(world.created).toEqual(['task 1']);
});

test.each([
	['was stopped', stoppedError()],
	['was not submitted', gatewayError('notSubmitted', { because: 'the item before failed' })],
	['found no free place', gatewayError('noFreePlace', { time: '5 s' })],
])('an order whose predecessor %s buys its task itself', async (_, error) => {
	const world = makeWorld();
	const one = world.process('one');
	const first = codeOf(one.buy(orderOf(), reject(error)));
	const second = one.buy(orderOf());
	const third = one.buy(orderOf());
	expect(await world.run(first)).not.toBe('bought');
	expect(await world.run(second)).toEqual({ id: 'task 1' });
	expect(await world.run(third)).toMatchObject({ id: 'task 1' });
	expect(world.created).toEqual(['task 1']);
});

test('an order whose predecessor has an unknown outcome names its execution and time, without reading the log again', async () => {
	const world = makeWorld();
	const one = world.process('one');
	const time = new Date(world.clock.now()).toISOString();
	const first = codeOf(one.buy(orderOf(), lost));
	const second = one.buy(orderOf());
	second.catch(() => {});
	expect(await world.run(first)).toBe('outcomeUnknown');
	await expect(world.run(second)).rejects.toMatchObject({
		message: 'The service may or may not have accepted the task that execution one submitted with this Purchase Key',
		details: { reason: { name: 'purchaseKeyUnclear', data: { execution: 'one', time } } },
	});
	expect([world.readAtMs.length, world.created]).toEqual([2, []]);
});

test('with Submit Again, an order whose predecessor has an unknown outcome buys once for all that wait', async () => {
	const world = makeWorld();
	const one = world.process('one');
	const again = { submitAgain: true };
	const first = codeOf(one.buy(orderOf(again), lost));
	const others = Promise.all([one.buy(orderOf(again)), one.buy(orderOf(again))]);
	expect(await world.run(first)).toBe('outcomeUnknown');
	expect((await world.run(others)).map(({ id }) => id)).toEqual(['task 1', 'task 1']);
	expect(world.created).toEqual(['task 1']);
});

test('with Submit Again, an order buys although one without it, before it, is told that nobody knows', async () => {
	const world = makeWorld();
	await world.run(codeOf(world.process('one').buy(orderOf(), lost)));
	await world.run(world.clock.sleep(1000));
	const two = world.process('two');
	const without = codeOf(two.buy(orderOf()));
	const submitAgain = two.buy(orderOf({ submitAgain: true }));
	submitAgain.catch(() => {});
	expect(await world.run(without)).toBe('purchaseKeyUnclear');
	expect(await world.run(submitAgain)).toEqual({ id: 'task 1' });
});

test('an order whose Timeout ends in the moment in which the other one has bought takes the task', async () => {
	const world = makeWorld();
	const one = world.process('one');
	// Row and readings take 50 ms, the request 950 ms.
	const first = one.buy(orderOf(), async () => await world.clock.sleep(950).then(() => 'slow'));
	const second = world.clock.sleep(60).then(async () => await one.buy(orderOf(), undefined, undefined, 940));
	const startedAtMs = world.clock.now();
	expect(await world.run(first)).toEqual({ id: 'slow' });
	expect(world.clock.now() - startedAtMs).toBe(1000);
	expect(await world.run(second)).toMatchObject({ id: 'slow' });
});

test.each([
	['its own Timeout', orderOf(), '1 s'],
	[
		'two minutes where it has none',
		makeOrder({
			...{ item: 0, thing: 'task', kind: 'image', then: 'nothing' },
			request: { body: {}, hash: 'hash', submitAgain: false, keyHash: 'key' },
		}),
		'2 min',
	],
])('an order that has waited in vain for another one says how long: %s', async (_, order, time) => {
	const world = makeWorld();
	const one = world.process('one');
	const first = one.buy(orderOf(), async () => await world.clock.sleep(600_000).then(() => 'slow'));
	const second = one.buy(order, undefined, undefined, 1000);
	second.catch(() => {});
	await expect(world.run(second)).rejects.toMatchObject({
		details: { reason: { name: 'noFreePlace', data: { time, sameKey: true } } },
	});
	expect(await world.run(first)).toEqual({ id: 'slow' });
});

test('the failure of a task that two orders of a process wait for frees the key, although the one that has bought it was stopped', async () => {
	const world = makeWorld();
	const one = world.process('one');
	const waiting = orderOf();
	await world.run(Promise.all([one.buy(orderOf()), one.buy(waiting)]));
	one.log.note(waiting, 'failed');
	await world.run(world.clock.sleep(1000));
	expect(await world.run(world.process('two').buy(orderOf()))).toEqual({ id: 'task 2' });
});
