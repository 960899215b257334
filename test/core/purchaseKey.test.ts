/** One purchase for each Purchase Key, in whatever sequence the database shows the rows of those that ask. */
import fc from 'fast-check';
import { keysUnderWay } from '../../core/processMemory';
import { GatewayError, gatewayError, stoppedError } from '../../core/errors';
import { claimOthers } from '../../core/journal/purchaseKey';
import { journalRow } from '../../core/journal/row';
import { unknownOutcome } from '../../core/http/answers';
import { readPropertySettings } from '../support/propertySettings.mts';
import { SleepCoordinator } from '../../core/engine/sleepCoordinator';
import { endOf, makeWorld as makeJournalWorld, nameOfError, planned, type Start, type Stored } from './journalWorld';

afterEach(() => keysUnderWay.clear());

const { seed, runs = 60, path } = readPropertySettings('purchase key');

const DAY_MS = 24 * 60 * 60 * 1000;

const orderOf = (changes: Record<string, unknown> = {}) =>
	planned(0, { request: { body: {}, hash: 'hash', keyHash: 'key', ...changes } });

/** Executions of different runs that share a table. */
function makeWorld(delays?: () => number) {
	const world = makeJournalWorld({ delays });
	const process = (name: string, troubles: Start['troubles'] = {}, memory?: Start['memory']) => {
		const run = world.start({ executionId: name, identity: { workflowId: name }, troubles, memory });
		const buy = async (
			order = orderOf(),
			how?: () => Promise<string>,
			signal?: AbortSignal,
			timeoutMs?: number,
		): Promise<string | undefined> => await run.buy(order, { how, signal, timeoutMs });
		return { ...run, buy };
	};
	return { ...world, process };
}

const codeOf = async (work: Promise<unknown>) => await work.then(() => 'bought', nameOfError);

const reasonOf = async (work: Promise<unknown>) =>
	await work.then(
		() => undefined,
		(error: GatewayError) => error.details.reason,
	);

test('however many ask at the same time, in one process and in others, one buys and all get its task', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.record({ process: fc.integer({ min: 0, max: 3 }), startsAtMs: fc.nat(1500) }), {
				minLength: 2,
				maxLength: 8,
			}),
			fc.infiniteStream(fc.integer({ min: 1, max: 900 })),
			async (buyers, delays) => {
				const world = makeWorld(() => delays.next().value as number);
				const processes = [0, 1, 2, 3].map((name) => world.process(`p${name}`));
				const ids = await world.run(
					Promise.all(
						buyers.map(async ({ process, startsAtMs }) => {
							await world.clock.sleep(startsAtMs);
							return await processes[process]?.buy(orderOf());
						}),
					),
				);
				expect(world.bought).toHaveLength(1);
				expect(new Set(ids)).toEqual(new Set(['task 1']));
			},
		),
		{ seed, path, numRuns: runs },
	);
});

test('a process that dies at any moment leads to no second purchase: the others get the task, or are told that the outcome is unknown', async () => {
	await fc.assert(
		fc.asyncProperty(fc.nat(3000), fc.infiniteStream(fc.integer({ min: 1, max: 500 })), async (killedAtMs, delays) => {
			const world = makeWorld(() => delays.next().value as number);
			const [dying, other] = [world.process('dying'), world.process('other')];
			void dying.buy(orderOf()).catch(() => {});
			void world.clock.sleep(killedAtMs).then(dying.kill);
			const outcome = await world.run(codeOf(other.buy(orderOf())));
			expect(world.bought.length).toBeLessThanOrEqual(1);
			expect(['bought', 'purchaseKeyUnclear']).toContain(outcome);
		}),
		{ seed, path, numRuns: runs },
	);
});

test('another request under the key is refused, and names the purchase; nothing is sent', async () => {
	const world = makeWorld();
	const [one, two] = [world.process('one'), world.process('two')];
	await world.run(one.buy(orderOf()));
	await world.run(world.clock.sleep(1000));
	await expect(world.run(two.buy(orderOf({ hash: 'other' })))).rejects.toMatchObject({
		message: 'Execution one has used this Purchase Key for a different request',
		details: { reason: { data: { id: 'task 1' } } },
	});
	const sameProcess = { ...orderOf({ hash: 'other' }), item: 1 };
	expect(await world.run(codeOf(one.buy(sameProcess)))).toBe('purchaseKeyConflict');
	expect(world.bought).toHaveLength(1);
});

test('of two different requests under a key at the same moment, one buys', async () => {
	const world = makeWorld();
	const [one, two] = [world.process('one'), world.process('two')];
	const codes = await world.run(Promise.all([codeOf(one.buy(orderOf())), codeOf(two.buy(orderOf({ hash: 'other' })))]));
	expect(codes.sort()).toEqual(['bought', 'purchaseKeyConflict']);
	expect(world.bought).toHaveLength(1);
});

test.each([
	['is refused', true, 'bought'],
	['is bought', false, 'purchaseKeyConflict'],
])(
	'another request of another process that is under way has not used the key yet: once it %s',
	async (_, isRefused, end) => {
		const world = makeWorld();
		const startedAtMs = world.clock.now();
		const send = async () => {
			await world.clock.sleep(5000);
			if (isRefused) throw gatewayError('noFreePlace', { time: '5 s' });
			return 'slow';
		};
		const first = codeOf(world.process('one').buy(orderOf(), send));
		const second = world.clock
			.sleep(1000)
			.then(
				async () => await codeOf(world.process('two').buy(orderOf({ hash: 'other' }), undefined, undefined, 60_000)),
			);
		expect(await world.run(first)).toBe(isRefused ? 'noFreePlace' : 'bought');
		expect(await world.run(second)).toBe(end);
		expect(world.clock.now() - startedAtMs).toBeGreaterThan(5000);
	},
);

const refused = async () => await Promise.reject(gatewayError('keyRefused', {}));
const lost = async () => await Promise.reject(unknownOutcome('task', 'The connection was lost'));

test('a refusal frees the key; those who waited for it in the same process get the same refusal', async () => {
	const world = makeWorld();
	const one = world.process('one');
	const both = [one.buy(orderOf(), refused), one.buy(orderOf())].map(codeOf);
	expect(await world.run(Promise.all(both))).toEqual(['keyRefused', 'keyRefused']);
	await world.run(world.clock.sleep(1000));
	expect(await world.run(world.process('two').buy(orderOf()))).toBe('task 1');
});

test('after an unknown outcome nothing is bought, unless a person names its run, and then once', async () => {
	const world = makeWorld();
	const one = world.process('one');
	const waiting = [one.buy(orderOf(), lost), one.buy(orderOf())].map(codeOf);
	expect(await world.run(Promise.all(waiting))).toEqual(['outcomeUnknown', 'purchaseKeyUnclear']);
	await world.run(world.clock.sleep(1000));
	expect(await world.run(codeOf(world.process('two').buy(orderOf())))).toBe('purchaseKeyUnclear');
	const named = (submitAgainFor: string) => orderOf({ submitAgainFor });
	expect(await world.run(codeOf(world.process('two').buy(named('two.0'))))).toBe('purchaseKeyUnclear');
	const again = ['three', 'four'].map(async (name) => await world.process(name).buy(named('one.0')));
	const bought = await world.run(Promise.all(again));
	expect(bought).toEqual(['task 1', 'task 1']);
	expect(await world.run(world.process('five').buy(named('one.0')))).toBe('task 1');
	expect(world.bought).toHaveLength(1);
});

test('the name of a run allows one purchase in its place: what that leaves has another name', async () => {
	const world = makeWorld();
	const buy = async (process: string, submitAgainFor?: string, work: () => Promise<string> = lost) => {
		const error = await world.run(
			world
				.process(process)
				.buy(orderOf({ submitAgainFor }), work)
				.catch((thrown: unknown) => thrown as GatewayError),
		);
		await world.run(world.clock.sleep(1000));
		const { reason } = error instanceof GatewayError ? error.details : {};
		return reason?.name === 'purchaseKeyUnclear' ? reason.data : (reason?.name ?? 'bought');
	};
	expect(await buy('one')).toBe('outcomeUnknown');
	// No person can have seen its error: as with an expression that gives the own run.
	expect(await buy('one', 'one.0')).toMatchObject({ run: 'one.0' });
	expect(await buy('two', 'one.0')).toBe('outcomeUnknown');
	expect(await buy('three', 'one.0')).toMatchObject({ run: 'two.0', otherRun: 'one.0' });
	expect(await buy('three', 'two.0', async () => await Promise.resolve('task'))).toBe('bought');
});

test.each([
	['again', undefined, 'task 2'],
	['never again, because its request would fail again', { permanent: true }, 'task 1'],
])('a task that has failed is bought %s', async (_, details, expected) => {
	const world = makeWorld();
	const order = orderOf();
	const one = world.process('one');
	await world.run(one.buy(order));
	one.journal.note(order, 'failed', { error: new GatewayError('taskFailed', 'It has failed', details) });
	await world.run(world.clock.sleep(1000));
	expect(await world.run(world.process('two').buy())).toBe(expected);
});

test('a row of a key that cannot be read stops the orders of this key only', async () => {
	const world = makeWorld();
	const one = world.process('one');
	const other = planned(1);
	const sold = { id: 1, key_hash: 'key', state: 'sold' } as unknown as Stored;
	void world.clock.sleep(15).then(() => world.visible.push(sold));
	const ends = [codeOf(one.buy()), codeOf(one.buy(other))];
	expect(await world.run(Promise.all(ends))).toEqual(['purchaseLogUnavailable', 'bought']);
});

test('a row that cannot be read is never free', async () => {
	const world = makeWorld();
	world.visible.push({ id: 1, key_hash: 'key', state: 'sold' } as unknown as Stored);
	await expect(world.run(world.process('one').buy(orderOf()))).rejects.toMatchObject({
		details: {
			reason: {
				name: 'purchaseLogUnavailable',
				data: {
					why: 'a row of this key cannot be read: it was changed, or another version of this package has written it',
				},
			},
		},
	});
	expect(world.bought).toEqual([]);
});

test('a log that is away for half a minute holds an item up, and a stop ends that', async () => {
	const world = makeWorld();
	const ports: Start['troubles'] = { broken: 'the database is restarted' };
	void world.clock.sleep(30_000).then(() => delete ports.broken);
	expect(await world.run(codeOf(world.process('one', ports).buy(orderOf())))).toBe('bought');
	const stop = new AbortController();
	void world.clock.sleep(1_000).then(() => stop.abort());
	const stopped = world.process('two', { broken: 'it is away' }).buy(orderOf(), undefined, stop.signal);
	expect(await world.run(codeOf(stopped))).toBe('executionStopped');
	expect(world.bought).toHaveLength(1);
});

test('where the log cannot be read, nothing is bought, before the row and after it', async () => {
	const world = makeWorld();
	const ports: Start['troubles'] = { broken: 'the database is full' };
	const one = world.process('one', ports);
	await expect(world.run(one.buy(orderOf()))).rejects.toMatchObject({
		message: 'This item has a Purchase Key, but the purchase log cannot be used',
		details: { reason: { data: { why: 'the database is full' } } },
	});
	delete ports.broken;
	void world.clock.sleep(30).then(() => (ports.broken = 'it is locked'));
	expect(await world.run(codeOf(one.buy(orderOf())))).toBe('submissionNotRecorded');
	delete ports.broken;
	await world.run(world.clock.sleep(1000));
	expect(world.bought).toEqual([]);
	expect(await world.run(one.buy(orderOf()))).toBe('task 1');
});

test('a key is free again after 30 days', async () => {
	const world = makeWorld();
	await world.run(world.process('one').buy(orderOf()));
	await world.run(world.clock.sleep(30 * DAY_MS - 60_000));
	expect(await world.run(world.process('two').buy(orderOf()))).toBe('task 1');
	await world.run(world.clock.sleep(120_000));
	expect(await world.run(world.process('three').buy(orderOf()))).toBe('task 2');
});

test('a request is under way at a worker whose clock is behind: it is waited for, also where its run is named', async () => {
	const world = makeWorld();
	const slow = async () => await world.clock.sleep(20_000).then(() => 'slow');
	const first = world.process('behind', { clockIsBehindMs: 5 * 60_000 }).buy(orderOf(), slow);
	const second = world.clock.sleep(5000).then(async () => {
		return await world.process('two').buy(orderOf({ submitAgainFor: 'behind.0' }));
	});
	expect(await world.run(Promise.all([first, second]))).toEqual(['slow', 'slow']);
	expect(world.bought).toEqual([]);
});

test('a request that was cut off more than ten minutes ago is not waited for', async () => {
	const world = makeWorld();
	const cutOff = world.process('cut off');
	void cutOff.buy(orderOf(), async () => await new Promise<never>(() => {}));
	await world.run(world.clock.sleep(200));
	cutOff.kill();
	await world.run(world.clock.sleep(11 * 60_000));
	const startedAtMs = world.clock.now();
	expect(await world.run(codeOf(world.process('two').buy(orderOf())))).toBe('purchaseKeyUnclear');
	expect(world.clock.now() - startedAtMs).toBeLessThan(1000);
});

test('an execution that sleeps again and again waits no longer for the row of a dead one than one that is awake', async () => {
	const world = makeWorld();
	const dead = world.process('dead');
	void dead.buy(orderOf(), async () => await new Promise(() => {}));
	await world.run(world.clock.sleep(1_000));
	dead.kill();
	const memory = {};
	const outcomes: string[] = [];
	const beganAtMs = world.clock.now();
	while (outcomes.at(-1) !== 'purchaseKeyUnclear' && world.clock.now() - beganAtMs < 15 * 60_000) {
		const awake = world.process('sleeping', {}, memory);
		const asleep = new AbortController();
		const outcome = codeOf(awake.buy(orderOf(), undefined, asleep.signal));
		await world.run(world.clock.sleep(20_000));
		asleep.abort();
		outcomes.push(await world.run(outcome));
		awake.kill();
	}
	expect(outcomes.at(-1)).toBe('purchaseKeyUnclear');
	expect(world.clock.now() - beganAtMs).toBeLessThan(200_000);
	expect(world.bought).toEqual([]);
});

test('a stop while it waits for another process ends it at once, and withdraws nothing that is not its own', async () => {
	const world = makeWorld();
	const slow = async () => await world.clock.sleep(60_000).then(() => 'slow');
	const first = world.process('one').buy(orderOf(), slow);
	const stop = new AbortController();
	void world.clock.sleep(5000).then(() => stop.abort());
	const waiting = world.clock.sleep(100).then(async () => {
		const code = await codeOf(world.process('two').buy(orderOf(), undefined, stop.signal));
		return { code, atMs: world.clock.now() };
	});
	const startedAtMs = world.clock.now();
	const { code, atMs } = await world.run(waiting);
	expect(code).toBe('executionStopped');
	expect(atMs - startedAtMs).toBeLessThan(6000);
	expect(await world.run(first)).toBe('slow');
});

test('an order that loses its place while it waits for another row of its key has not given way: its next error is its own', async () => {
	const world = makeWorld();
	const { keys } = world.process('one').journal;
	const order = orderOf();
	const purchase = { attempt: 'own', hash: 'hash', keyHash: 'key' };
	Object.assign(order, { purchase });
	keys.own.set(order, new Set(['own']));
	const createdAt = new Date(world.clock.now()).toISOString();
	const row = {
		run: '1.0 n two',
		first: '2',
		execution: '2',
		state: 'submitting',
		request_hash: 'hash',
		key_hash: 'key',
	};
	for (const [id, attempt] of ['own', 'other'].entries())
		world.visible.push({ ...journalRow.parse({ ...row, attempt }), id: id + 1, createdAt });
	const place = new AbortController();
	const beganMs = world.clock.at;
	const end = claimOthers(keys, order, world.visible, place.signal).catch((error: GatewayError) => error.kind);
	await world.clock.runUntil(beganMs + 100);
	place.abort();
	expect(await world.run(end)).toBe('stopped');
	expect(keys.gaveWay.has(order)).toBe(false);
	expect(world.clock.at - beganMs).toBeLessThan(200);
});

test.each([
	['another process', 60_000],
	['the same process', 600_000],
])(
	'an order waits for one of %s that has its key no longer than its own Timeout of %i ms, and buys nothing',
	async (where, timeoutMs) => {
		const world = makeWorld();
		const one = world.process('one');
		const slowly = async () => await world.clock.sleep(3_600_000).then(() => 'slow');
		const first = one.buy(orderOf(), slowly);
		const second = world.clock.sleep(5000).then(async () => {
			const buyer = where === 'the same process' ? one : world.process('two');
			const code = await codeOf(buyer.buy(orderOf(), undefined, undefined, timeoutMs));
			return { code, atMs: world.clock.now() };
		});
		const startedAtMs = world.clock.now();
		const { code, atMs } = await world.run(second);
		expect(code).toBe('noFreePlace');
		expect(atMs - startedAtMs).toBeGreaterThanOrEqual(5_000 + timeoutMs);
		expect(atMs - startedAtMs).toBeLessThan(7_000 + timeoutMs);
		expect([await world.run(first), world.bought]).toEqual(['slow', []]);
	},
);

test.each<[string, Start['troubles'], string]>([
	['cannot be written', { always: 'never' }, 'submissionNotRecorded'],
	['has no table', { always: 'noTable' }, 'purchaseLogUnavailable'],
	['is gone at once', { always: 'gone' }, 'submissionNotRecorded'],
])('an order whose row %s buys nothing, and says why', async (_, troubles, reason) => {
	const world = makeWorld();
	const order = orderOf();
	expect(await world.run(codeOf(world.process('one', troubles).buy(order)))).toBe(reason);
	await world.run(world.clock.sleep(1000));
	expect([world.bought, order.purchase]).toEqual([[], undefined]);
});

test('a run without rows buys nothing under a Purchase Key, whichever of its orders has found out', async () => {
	const world = makeWorld();
	const one = world.process('one', { inserts: ['noTable'] });
	expect(await world.run(one.buy(planned(1)))).toBe('task 1');
	expect(await world.run(reasonOf(one.buy()))).toEqual({
		name: 'purchaseLogUnavailable',
		data: { why: 'the data tables are full' },
	});
	expect(world.bought).toEqual([1]);
});

test.each([
	['was stopped', stoppedError()],
	['was not submitted', gatewayError('notSubmitted', { because: 'the item before failed' })],
	['found no free place', gatewayError('noFreePlace', { time: '5 s' })],
])('an order whose predecessor %s buys its task itself', async (_, error) => {
	const world = makeWorld();
	const one = world.process('one');
	const first = codeOf(one.buy(orderOf(), async () => await Promise.reject(error)));
	const second = one.buy(orderOf());
	const third = one.buy(orderOf());
	expect(await world.run(first)).not.toBe('bought');
	expect(await world.run(second)).toBe('task 1');
	expect(await world.run(third)).toBe('task 1');
	expect(world.bought).toHaveLength(1);
});

test.each([
	['of the same process', 'one'],
	['of another process', 'two'],
])(
	'in n8n’s database, an order sleeps that waits for the purchase of another order under its key, %s',
	async (_, name) => {
		const world = makeWorld();
		const slow = async () => await world.clock.sleep(100_000).then(() => 'slow');
		const first = world.process('one').buy(orderOf(), slow);
		await world.run(world.clock.sleep(1_000));
		const order = { ...orderOf(), item: 1 };
		const awake = async () => {
			const sleep = new SleepCoordinator(world.clock, 1);
			sleep.began();
			const run = world.start({ executionId: 'S', identity: { workflowId: name } });
			return { end: await world.run(endOf(run.buy(order, { sleep }))), isAsleep: sleep.signal.aborted };
		};
		const beganMs = world.clock.now();
		expect(await awake()).toEqual({ end: 'executionStopped', isAsleep: true });
		expect(world.clock.now() - beganMs).toBeLessThan(10_000);
		expect(order.state).toBe('planned');
		expect(await world.run(first)).toBe('slow');
		await world.run(world.clock.sleep(1_000));
		expect(await awake()).toEqual({ end: 'slow', isAsleep: false });
	},
);
