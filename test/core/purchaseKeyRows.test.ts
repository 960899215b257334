/** The rows by which processes agree on who buys for a Purchase Key. */
import { unknownOutcome } from '../../core/http/connectionErrors';
import { codeOf, makeWorld, orderOf, type Stored } from './purchaseWorld';

const lost = async () => await Promise.reject(unknownOutcome('task', 'The connection was lost'));

/**
 * Two processes that meet: both write their rows before they see the other's (of the first at 30 ms, of the second at 35),
 * and read both rows at 40 and 45 ms.
 */
function meet(world: ReturnType<typeof makeWorld>, signal?: AbortSignal, timeoutMs?: number) {
	const first = world.process('first').buy(orderOf(), undefined, signal, timeoutMs);
	const second = world.clock.sleep(5).then(async () => await world.process('second').buy(orderOf()));
	return { first, second };
}

const statesOf = (rows: Stored[], name: string) =>
	rows.filter(({ execution }) => execution === name).map(({ state, code }) => (code ? `${state}: ${code}` : state));

test('of two processes that meet, the one with the earlier row buys, and the other one withdraws its row', async () => {
	const world = makeWorld();
	const { first, second } = meet(world);
	expect(await world.run(first)).toEqual({ id: 'task 1' });
	expect(await world.run(second)).toMatchObject({ id: 'task 1' });
	await world.run(world.clock.sleep(1000));
	expect(statesOf(world.visible, 'first')).toEqual(['submitting', 'accepted']);
	expect(statesOf(world.visible, 'second')).toEqual(['submitting', 'not_accepted']);
	expect([...world.near]).toEqual(['first']);
});

test('of three processes that meet, the first one buys after one pause: both others withdraw at once', async () => {
	const world = makeWorld();
	const startedAtMs = world.clock.now();
	const buyers = ['one', 'two', 'three'].map(async (name, index) => {
		await world.clock.sleep(3 * index);
		return await world.process(name).buy(orderOf());
	});
	expect(await world.run(buyers[0] as Promise<unknown>)).toEqual({ id: 'task 1' });
	expect(world.clock.now() - startedAtMs).toBeLessThan(700);
	expect((await world.run(Promise.all(buyers))).map(({ id }) => id)).toEqual(['task 1', 'task 1', 'task 1']);
});

test.each([
	['is stopped', 'executionStopped', 'execution_stopped', 100, Infinity],
	['reaches its Timeout', 'noFreePlace', 'no_free_place', Infinity, 300],
])(
	'an order that %s while it waits for another one to withdraw buys nothing and withdraws its own row: the other one buys',
	async (_, reason, code, stopsAtMs, timeoutMs) => {
		const world = makeWorld();
		const stop = new AbortController();
		const { first, second } = meet(world, stop.signal, timeoutMs);
		void world.clock.sleep(stopsAtMs).then(() => stop.abort());
		expect(await world.run(codeOf(first))).toBe(reason);
		expect(await world.run(second)).toEqual({ id: 'task 1' });
		expect(world.created).toHaveLength(1);
		expect(statesOf(world.visible, 'first')).toEqual(['submitting', `not_accepted: ${code}`]);
	},
);

test.each([
	['cannot be written', { full: 'the disk is full' }, 'the disk is full'],
	['is gone at once', { cleared: true }, 'the row of this item is not there'],
])('an order whose row %s buys nothing, and says why', async (_, failures, why) => {
	const world = makeWorld();
	const order = orderOf();
	await expect(world.run(world.process('one', failures).buy(order))).rejects.toMatchObject({
		details: { reason: { name: 'purchaseLogUnavailable', data: { why } } },
	});
	await world.run(world.clock.sleep(1000));
	expect([world.created, order.purchase]).toEqual([[], undefined]);
	expect(statesOf(world.visible, 'one')).toEqual(['not_accepted: purchase_log_unavailable']);
});

test('where a task was bought after an unknown outcome, an order without Submit Again goes on with it', async () => {
	const world = makeWorld();
	await world.run(codeOf(world.process('one').buy(orderOf(), lost)));
	await world.run(world.clock.sleep(1000));
	await world.run(world.process('two').buy(orderOf({ submitAgain: true })));
	await world.run(world.clock.sleep(1000));
	expect(await world.run(world.process('three').buy(orderOf()))).toMatchObject({ id: 'task 1' });
	expect(world.created).toHaveLength(1);
});

test('an order that goes on with an earlier task notes its failure in the rows of the purchase, which frees the key', async () => {
	const world = makeWorld();
	await world.run(world.process('one').buy(orderOf()));
	await world.run(world.clock.sleep(1000));
	const two = world.process('two');
	const order = orderOf();
	await world.run(two.buy(order));
	two.log.note(order, 'failed');
	await world.run(world.clock.sleep(1000));
	const [bought, failed] = world.visible.slice(-2);
	expect(failed).toMatchObject({ execution: 'two', state: 'failed', attempt: bought?.attempt, request_hash: 'hash' });
	expect(await world.run(world.process('three').buy(orderOf()))).toEqual({ id: 'task 2' });
});

test.each([
	[0, 300, 3000],
	[0.25, 450, 4500],
	[0.75, 750, 7500],
])(
	'the rows of a key are read again after 0.3 to 0.9 s, by chance, and ever less often (%s: %s ms, then up to %s ms)',
	async (random, firstMs, longestMs) => {
		const world = makeWorld(undefined, () => random);
		const slow = async () => await world.clock.sleep(90_000).then(() => 'slow');
		const first = world.process('one').buy(orderOf(), slow);
		const second = world.clock.sleep(100).then(async () => await world.process('two').buy(orderOf()));
		await world.run(first);
		const [, , ...readAtMs] = world.readAtMs;
		// A reading takes 20 ms.
		const pausesMs = readAtMs.slice(1).map((atMs, index) => atMs - (readAtMs[index] ?? 0) - 20);
		expect(pausesMs.slice(0, 3)).toEqual([firstMs, firstMs * 1.5, firstMs * 2.25]);
		expect(Math.max(...pausesMs)).toBe(longestMs);
		expect(await world.run(second)).toMatchObject({ id: 'slow' });
	},
);
