/** The slots of an account: as many tasks run at once as it can run, whoever submits them. */
import { AccountSlots } from '../../core/account/accountSlots';
import type { Slot, RunSlots } from '../../core/account/runSlots';
import { gatewayError, GatewayError, stoppedError, type GatewayErrorDetails } from '../../core/errors';
import type { AttemptHooks } from '../../core/http/types';
import { REPEAT_FOR_MS } from '../../core/limits';
import { createInSlot } from '../../core/orders/createInSlot';
import type { PurchaseSteps } from '../../core/orders/product';
import { seeded } from '../support/simulation';
import { created, deferred, json, scriptedClient, flushPromises, sharedClock } from './support';

const HOUR_MS = 3_600_000;

/** A service with so many slots, and runs that submit to it. */
function world(slotsAt: (nowMs: number) => number, { tasksAtOnce = Infinity, latencyMs = 5 } = {}) {
	const clock = sharedClock();
	const startMs = clock.at;
	const slots = new AccountSlots(clock);
	slots.most = tasksAtOnce;
	const seen = { atOnce: 0, most: 0, refused: 0, tasks: 0 };
	/** Submits one task, and waits for its end. */
	const buy = async (run: RunSlots, taskMs: number, timeoutMs = HOUR_MS) => {
		const order = { thing: 'task', then: 'poll', wait: { timeoutMs } } as never;
		const create = async (tries: AttemptHooks) => {
			await tries.sending?.();
			await clock.sleep(latencyMs);
			if (tries.signal?.aborted) throw gatewayError('rateLimited', {});
			if (seen.atOnce >= slotsAt(clock.at - startMs)) {
				seen.refused++;
				const error = gatewayError('rateLimited', {}, { httpStatus: 429 });
				if (tries.givesWay?.() === true) throw error;
				await clock.sleep(1_000);
				throw error;
			}
			seen.most = Math.max(seen.most, ++seen.atOnce);
			return { id: `task ${seen.tasks++}` };
		};
		const { id } = await createInSlot(order, { slots: run }, {}, { create });
		const leave = run.occupy(id);
		await clock.sleep(taskMs);
		seen.atOnce--;
		leave();
	};
	return { clock, slots, seen, buy, elapsedMs: () => clock.at - startMs };
}

describe('a wait for a slot', () => {
	const full = async () => {
		const clock = sharedClock();
		const slots = new AccountSlots(clock);
		slots.most = 1;
		const run = slots.ofRun();
		const first = await run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() });
		return { clock, slots, run, first };
	};

	test('a wait for a slot ends with a reason when it takes too long, counted from the first request', async () => {
		const { clock, run } = await full();
		const beganMs = run.nowMs();
		const waiting = run.take({ timeoutMs: 120_000, sinceMs: beganMs - 20_000 });
		await expect(clock.run(waiting)).rejects.toMatchObject({
			kind: 'rateLimited',
			message: 'No place for another task became free within 2 min',
		});
		expect(run.nowMs() - beganMs).toBe(100_000);
	});

	test('a wait for a slot ends at once on a stop', async () => {
		const { clock, run } = await full();
		const stop = new AbortController();
		const waiting = run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs(), signal: stop.signal });
		stop.abort();
		await expect(waiting).rejects.toMatchObject({ kind: 'stopped' });
		await expect(run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs(), signal: stop.signal })).rejects.toMatchObject({
			kind: 'stopped',
		});
		expect(clock.at).toBe(1_000_000);
	});

	test('a wait for a slot is told, so that others need not wait for it', async () => {
		const { run, first } = await full();
		const onWait = jest.fn();
		const waiting = run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs(), onWait });
		expect(onWait).toHaveBeenCalledTimes(1);
		first.free();
		await waiting;
		expect(onWait).toHaveBeenCalledTimes(1);
	});

	test('the end of a wait for a slot is told in the very moment in which the slot is there, or in which it is given up', async () => {
		const { run, first } = await full();
		const over = jest.fn();
		const waiting = run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs(), onWait: () => over });
		expect(over).not.toHaveBeenCalled();
		first.free();
		// Another task may decide now whether the execution sleeps.
		expect(over).toHaveBeenCalledTimes(1);
		await waiting;
		const stop = new AbortController();
		const given = { timeoutMs: HOUR_MS, sinceMs: run.nowMs(), signal: stop.signal, onWait: () => over };
		const stopped = run.take(given);
		stop.abort();
		expect(over).toHaveBeenCalledTimes(2);
		await expect(stopped).rejects.toMatchObject({ kind: 'stopped' });
		expect(over).toHaveBeenCalledTimes(2);
	});

	test('a wait for a slot is not told of where a slot is free, or where no time is left', async () => {
		const { run, first } = await full();
		const onWait = jest.fn();
		const wish = { timeoutMs: 0, sinceMs: run.nowMs(), onWait };
		await expect(run.take(wish)).rejects.toMatchObject({ details: { reason: { name: 'noFreePlace' } } });
		first.free();
		await run.take(wish);
		expect(onWait).not.toHaveBeenCalled();
	});

	test('a wait for a slot sets no timer without an end: where nothing but an event can end it, nobody looks', async () => {
		const { clock, run, first } = await full();
		const sleep = jest.spyOn(clock, 'sleep');
		first.accepted('task', 60_000);
		run.occupy('task');
		const waiting = run.take({ timeoutMs: 120_000, sinceMs: run.nowMs() });
		await expect(clock.run(waiting)).rejects.toMatchObject({ kind: 'rateLimited' });
		expect(Math.max(...sleep.mock.calls.map(([delayMs]) => delayMs))).toBe(120_000);
	});

	test('nobody looks for slots where nobody waits for one', async () => {
		const { clock, run, first } = await full();
		const sleep = jest.spyOn(clock, 'sleep');
		first.accepted('task', 60_000);
		run.occupy('task')(60_000);
		await flushPromises();
		expect(sleep).not.toHaveBeenCalled();
	});

	test('a wait for a slot goes on when it is told twice that somebody else does not wait for a task any more', async () => {
		const { slots, run, first } = await full();
		first.accepted('task', 60_000);
		const leave = run.occupy('task');
		leave();
		leave();
		const stay = slots.ofRun().occupy('task');
		leave();
		const taken = jest.fn();
		void run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() }).then(taken);
		await flushPromises();
		expect(taken).not.toHaveBeenCalled();
		stay();
		await flushPromises();
		expect(taken).toHaveBeenCalledTimes(1);
	});

	test('a wait for a slot is not disturbed by who tells again of a task that is long forgotten', async () => {
		const { run, first } = await full();
		first.accepted('task', 60_000);
		const leave = run.occupy('task');
		leave();
		expect(run.isBusy()).toBe(false);
		leave();
		await run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() });
	});

	test('as many orders of a run get ready for a slot as are free: neither running tasks nor requests under way have these', async () => {
		const { clock, slots } = world(() => 30, { tasksAtOnce: 30 });
		const [other, run] = [slots.ofRun(), slots.ofRun()];
		const wish = { timeoutMs: HOUR_MS, sinceMs: clock.at };
		for (let task = 0; task < 4; task++) other.occupy(`task ${task}`);
		for (let request = 0; request < 3; request++) await other.take(wish);
		let ready = 0;
		for (let order = 0; order < 40; order++) void run.ready(wish).then(() => ready++);
		await flushPromises();
		expect(ready).toBe(30 - 4 - 3);
	});

	test('a wait for a slot ends first for the run with the fewest slots, and among equals for the one that has waited longest', async () => {
		const clock = sharedClock();
		const slots = new AccountSlots(clock);
		slots.most = 5;
		const [long, short, alike] = [slots.ofRun(), slots.ofRun(), slots.ofRun()];
		const wish = () => ({ timeoutMs: HOUR_MS, sinceMs: clock.at });
		const taken = await Promise.all([long, long, long, short, alike].map(async (run) => await run.take(wish())));
		const begun: string[] = [];
		for (const [name, run] of Object.entries({ long, short, alike, 'long again': long }))
			void run.take(wish()).then(() => begun.push(name));
		for (const slot of taken.slice(0, 2)) {
			slot.free();
			await flushPromises();
		}
		expect(begun).toEqual(['short', 'long']);
	});

	test('a wait for a slot ends when a task is not seen any more, after the time for which it may go on unseen', async () => {
		const { clock, run, first } = await full();
		first.accepted('task', 60_000);
		const leave = run.occupy('task');
		leave(30_000);
		await clock.run(run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() }));
		expect(clock.at).toBe(1_030_000);
	});

	test('a wait for a slot ends when the last one who waits for a task has seen its end', async () => {
		const { run, first } = await full();
		first.accepted('task', 60_000);
		const [one, other] = [run.occupy('task'), run.occupy('task')];
		const taken = jest.fn();
		void run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() }).then(taken);
		one();
		await flushPromises();
		expect(taken).not.toHaveBeenCalled();
		other();
		await flushPromises();
		expect(taken).toHaveBeenCalledTimes(1);
	});

	test('a run is alone with its tasks, also those of an execution that goes on in it', async () => {
		const { clock, slots } = world(() => 1);
		const [submitted, goesOn, other] = [slots.ofRun(), slots.ofRun(), slots.ofRun()];
		(await submitted.take({ timeoutMs: HOUR_MS, sinceMs: clock.at })).accepted('task', 60_000);
		expect([goesOn.isAlone(), submitted.isAlone()]).toEqual([false, true]);
		const leave = goesOn.occupy('task');
		expect([goesOn.isAlone(), submitted.isAlone()]).toEqual([true, false]);
		const otherLeaves = other.occupy('task');
		expect([goesOn.isAlone(), other.isAlone()]).toEqual([true, true]);
		leave(60_000);
		expect([goesOn.isAlone(), other.isAlone()]).toEqual([false, true]);
		otherLeaves(60_000);
		goesOn.occupy('task');
		expect([goesOn.isAlone(), other.isAlone()]).toEqual([true, false]);
		other.occupy('another task');
		expect([goesOn.isAlone(), other.isAlone()]).toEqual([false, false]);
	});

	test('a task whose end was seen is forgotten at once, also where nobody ever asks for a slot', () => {
		const { slots } = world(() => 1);
		const [one, other] = [slots.ofRun(), slots.ofRun()];
		const leave = one.occupy('task');
		expect(other.isAlone()).toBe(false);
		leave();
		expect(other.isAlone()).toBe(true);
	});

	test('a wait for a slot begins again where the account turns out to have fewer slots, unless the request has left', async () => {
		const { clock, slots } = world(() => 1);
		const run = slots.ofRun();
		const take = async (): Promise<Slot> => await run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() });
		const [first, second, third, fourth] = [await take(), await take(), await take(), await take()];
		first.accepted('task', HOUR_MS);
		second.leaves();
		third.leaves();
		expect(second.refused()).toBe(true);
		expect([third.taken.aborted, fourth.taken.aborted]).toEqual([false, true]);
		expect(clock.at).toBe(1_000_000);
	});
});

test('a request that tries if there is a slot more, and loses its slot before it leaves, is followed by another one', async () => {
	const { clock, slots } = world(() => 1);
	const run = slots.ofRun();
	const take = async () => await run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() });
	const [first, second, third] = [await take(), await take(), await take()];
	first.accepted('first', HOUR_MS);
	for (const slot of [second, third]) slot.leaves();
	third.refused();
	const probe = await clock.run(take());
	second.refused();
	expect(probe.taken.aborted).toBe(true);
	await clock.run(take());
	expect(clock.at).toBeLessThan(1_010_000);
});

test('a request that was under way at a 429, and is accepted, shows that there are more slots', async () => {
	const { slots } = world(() => 1);
	const run = slots.ofRun();
	const take = async () => await run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() });
	const [first, second, third] = [await take(), await take(), await take()];
	first.accepted('first', HOUR_MS);
	for (const slot of [second, third]) slot.leaves();
	expect(third.refused()).toBe(true);
	second.accepted('second', HOUR_MS);
	run.occupy('second')();
	await take();
});

describe('of an account whose slots were learned', () => {
	/** It answers 429 when two tasks run. */
	const learned = async () => {
		const clock = sharedClock();
		const slots = new AccountSlots(clock);
		const run = slots.ofRun();
		const take = async () => await run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() });
		const [first, second, third] = [await take(), await take(), await take()];
		for (const slot of [first, second, third]) slot.leaves();
		first.accepted('first', HOUR_MS);
		second.accepted('second', HOUR_MS);
		expect(third.refused()).toBe(true);
		const begun: Array<{ atMs: number; slot: Slot }> = [];
		const startMs = clock.at;
		const begin = () => void take().then((slot) => begun.push({ atMs: clock.at - startMs, slot }));
		const times = () => begun.map(({ atMs }) => atMs);
		const pass = async (ms: number) => await clock.run(clock.sleep(ms));
		return { run, begun, begin, times, pass };
	};

	test('of learned slots one more is tried after a second, by one task only, however long it takes', async () => {
		const { begin, times, pass } = await learned();
		for (let task = 0; task < 3; task++) begin();
		await pass(999);
		expect(times()).toEqual([]);
		await pass(60_000);
		expect(times()).toEqual([1_000]);
	});

	test('a task that takes the slot of one that has ended is no try of one more slot', async () => {
		const { run, begun, begin, times, pass } = await learned();
		run.occupy('first')();
		for (let task = 0; task < 2; task++) begin();
		await pass(10);
		begun[0]?.slot.accepted('third', HOUR_MS);
		await pass(980);
		expect(times()).toEqual([0]);
		await pass(20);
		expect(times()).toEqual([0, 1_000]);
	});

	test('after a try that has fitted one more task begins at once, and the next try comes soon', async () => {
		const { begun, begin, times, pass } = await learned();
		for (let task = 0; task < 4; task++) begin();
		await pass(1_000);
		begun[0]?.slot.accepted('third', HOUR_MS);
		await pass(1_000);
		expect(times()).toEqual([1_000, 1_000, 1_100]);
	});

	test('a try of one more slot that was given up is followed by another one, and one at a time', async () => {
		const { run, begun, begin, times, pass } = await learned();
		for (let task = 0; task < 3; task++) begin();
		await pass(1_000);
		begun[0]?.slot.free();
		await pass(10);
		expect(times()).toEqual([1_000, 1_000]);
		// Another one comes and goes beside it.
		run.occupy('first')();
		await pass(10);
		begun[2]?.slot.free();
		run.occupy('x');
		begin();
		await pass(10);
		expect(times()).toEqual([1_000, 1_000]);
	});

	test('429 where no task runs teaches nothing about slots', async () => {
		const slots = new AccountSlots(sharedClock());
		const run = slots.ofRun();
		const take = async () => await run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() });
		expect((await take()).refused()).toBe(false);
		await Promise.all([take(), take()]);
	});
});

describe('a creating request', () => {
	const order = (then = 'poll', thing = 'task') => ({ thing, then, wait: { timeoutMs: HOUR_MS } }) as never;
	const refusal = () => gatewayError('rateLimited', {}, { httpStatus: 429 });

	test('a creating request is not repeated here where no task of the account runs: the service asks for a slower pace', async () => {
		const { slots } = world(() => 1);
		const create = jest.fn().mockRejectedValue(refusal());
		await expect(createInSlot(order(), { slots: slots.ofRun() }, {}, { create })).rejects.toMatchObject({
			kind: 'rateLimited',
		});
		expect(create).toHaveBeenCalledTimes(1);
	});

	test.each<[string, GatewayErrorDetails, number]>([
		['no word about it', {}, 0],
		['a limit of tasks', { serviceMessage: 'Too many concurrent tasks', retryAfterMs: 9_000 }, 0],
		['a pause', { retryAfterMs: 9_000 }, 9_000],
		['a pause of an hour', { retryAfterMs: 3_600_000 }, 60_000],
		['a limit of requests and a pause', { serviceCode: 'rpm_exceeded', retryAfterMs: 9_000 }, 9_000],
		['a limit of requests', { serviceMessage: 'At most 10 requests per minute' }, 1_000],
	])(
		'a creating request is repeated where a task of the account runs, when that has ended, and the pause, too: %s',
		async (_, details, pauseMs) => {
			const { clock, slots } = world(() => 1);
			const run = slots.ofRun();
			const leave = run.occupy('task');
			const error = gatewayError('rateLimited', {}, { httpStatus: 429, ...details });
			const create = jest.fn().mockRejectedValueOnce(error).mockResolvedValue({ id: 'next' });
			const created = createInSlot(order(), { slots: run }, {}, { create });
			await flushPromises();
			expect(create).toHaveBeenCalledTimes(1);
			leave();
			expect(await clock.run(created)).toEqual({ id: 'next' });
			expect(clock.at).toBe(1_000_000 + pauseMs);
		},
	);

	test('of a limit of requests, no number of tasks is learned', async () => {
		const { clock, slots } = world(() => 1);
		const run = slots.ofRun();
		run.occupy('task');
		const take = async () => await run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() });
		expect((await take()).refused({ limit: 'requests', askedMs: 5_000 })).toBe(true);
		await clock.run(Promise.all([take(), take(), take()]));
		expect(clock.at).toBe(1_005_000);
	});

	test('pauses after a limit of requests that names none get longer, until a request fits', async () => {
		const { clock, slots } = world(() => 1);
		const run = slots.ofRun();
		run.occupy('task');
		const take = async () => await clock.run(run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() }));
		const pauses: number[] = [];
		for (let tries = 0; tries < 9; tries++) {
			const fromMs = clock.at;
			const [slot, another] = [await take(), await take()];
			pauses.push(clock.at - fromMs);
			if (tries === 7) slot.accepted('another', HOUR_MS);
			else slot.refused({ limit: 'requests' });
			another.refused({ limit: 'requests' });
		}
		expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 1].map((seconds) => seconds * 1000));
	});

	test.each([
		['outcomeUnknown', 500],
		['outcomeUnknown', 429],
		['balance', 402],
		['balance', 429],
		['unavailable', 503],
		['rateLimited', 503],
	] as const)('a creating request is not repeated after %s with status %i', async (kind, httpStatus) => {
		const { slots } = world(() => 1);
		const run = slots.ofRun();
		run.occupy('task');
		const create = jest.fn().mockRejectedValue(new GatewayError(kind, 'x', { httpStatus }));
		await expect(createInSlot(order(), { slots: run }, {}, { create })).rejects.toMatchObject({ kind });
		expect(create).toHaveBeenCalledTimes(1);
	});

	test.each([
		[{ success: false, message: '生成令牌失败' }, 'outcomeUnknown'],
		[{ success: false, message: 'Failed to get used quota' }, 'outcomeUnknown'],
		[{ error: { code: 'insufficient_quota' } }, 'balance'],
	])('beside a running task, a creating request that is answered 429 with %j is sent once', async (body, kind) => {
		const { clock, slots } = world(() => 1);
		const run = slots.ofRun();
		const leave = run.occupy('task');
		const { client, sent } = scriptedClient([json(429, body), created]);
		const create = async (tries: AttemptHooks) => await client.createTask('video', { model: 'm' }, tries);
		const outcome = createInSlot(order(), { slots: run }, {}, { create }).catch((error: GatewayError) => error.kind);
		await flushPromises();
		leave();
		expect(await clock.run(outcome)).toBe(kind);
		expect(sent).toHaveLength(1);
	});

	test('a creating request of something that is no task needs no slot', async () => {
		const { slots } = world(() => 1, { tasksAtOnce: 1 });
		slots.ofRun().occupy('task');
		const create = async () => ({ id: 'token' });
		expect(await createInSlot(order('nothing', 'token'), { slots: slots.ofRun() }, {}, { create })).toEqual({
			id: 'token',
		});
	});

	test('a creating request of a task that is not waited for leaves no slot taken', async () => {
		const { slots } = world(() => 1, { tasksAtOnce: 1 });
		const run = slots.ofRun();
		await createInSlot(order('nothing'), { slots: run }, {}, { create: async () => ({ id: 'task' }) });
		expect(run.isBusy()).toBe(false);
		await run.take({ timeoutMs: 0, sinceMs: run.nowMs() });
	});

	test('a creating request that was refused gives its slot to the next one', async () => {
		const slots = new AccountSlots(sharedClock());
		slots.most = 1;
		const create = async () => await Promise.reject(gatewayError('requestRejected', {}));
		await expect(createInSlot(order(), { slots: slots.ofRun() }, {}, { create })).rejects.toMatchObject({
			kind: 'rejected',
		});
		expect(await createInSlot(order(), { slots: slots.ofRun() }, {}, { create: async () => ({ id: 'task' }) })).toEqual(
			{ id: 'task' },
		);
	});

	test('a creating request of an account of which nothing is known needs no slot', async () => {
		const record = jest.fn(async (steps: PurchaseSteps<{ id: string }>) => await steps.create());
		const creation = { create: async () => ({ id: 'task' }), record };
		expect(await createInSlot(order(), {}, {}, creation)).toEqual({ id: 'task' });
		expect(record.mock.calls[0]?.[0].timeLeftMs()).toBe(Infinity);
	});

	test.each([
		['of an account with limits', true],
		['of an account of which nothing is known', false],
	])('a creating request that waits for another order first is put off, once: one %s', async (_, isKnown) => {
		const { slots } = world(() => 1, { tasksAtOnce: 1 });
		const putOff = jest.fn();
		const record = async ({ waits, create }: PurchaseSteps<{ id: string }>) => {
			expect(putOff).not.toHaveBeenCalled();
			waits();
			expect(putOff).toHaveBeenCalledTimes(1);
			waits();
			return await create();
		};
		const creation = { create: async () => ({ id: 'task' }), record };
		const ports = isKnown ? { slots: slots.ofRun() } : {};
		await createInSlot(order(), ports, { putOff }, creation);
		const alone = async ({ waits, create }: PurchaseSteps<{ id: string }>) => (waits(), await create());
		expect(await createInSlot(order(), {}, {}, { ...creation, record: alone })).toEqual({ id: 'task' });
		expect(putOff.mock.calls).toEqual([[Infinity]]);
	});

	test('a creating request that nobody waits for gives up its wait for a slot as other requests are given up', async () => {
		const { clock, slots } = world(() => 1, { tasksAtOnce: 1 });
		slots.ofRun().occupy('task');
		const unwaited = { thing: 'task', then: 'nothing' } as never;
		const created = createInSlot(unwaited, { slots: slots.ofRun() }, {}, { create: jest.fn() });
		const beganMs = clock.at;
		await expect(clock.run(created)).rejects.toMatchObject({ details: { reason: { name: 'noFreePlace' } } });
		expect(clock.at - beganMs).toBe(REPEAT_FOR_MS);
	});

	test('a creating request is put off while it waits for a slot', async () => {
		const { slots } = world(() => 1, { tasksAtOnce: 1 });
		const run = slots.ofRun();
		const leave = run.occupy('task');
		const putOff = jest.fn();
		const created = createInSlot(order(), { slots: run }, { putOff }, { create: async () => ({ id: 'next' }) });
		await flushPromises();
		expect(putOff.mock.calls).toEqual([[Infinity]]);
		leave();
		expect(await created).toEqual({ id: 'next' });
	});

	/** Two requests: the second has not left when the first is answered with 429. */
	const losingItsPlace = (stop?: AbortController, more: AttemptHooks = {}) => {
		const { clock, slots } = world(() => 1);
		const run = slots.ofRun();
		const leave = run.occupy('task');
		const begun: Array<string | undefined> = [];
		const first = deferred<never>();
		const other = createInSlot(
			order(),
			{ slots: run },
			{ signal: stop?.signal },
			{ create: async ({ sending }) => (await sending?.(), await first.promise) },
		);
		const create = async ({ signal, sending }: AttemptHooks) => {
			begun.push('begun');
			if (begun.length > 1) return await Promise.resolve(sending?.()).then(() => ({ id: 'next' }));
			return await new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(stoppedError())));
		};
		const created = createInSlot(order(), { slots: run }, { signal: stop?.signal, ...more }, { create });
		return { clock, leave, begun, refuse: () => first.reject(refusal()), created, other };
	};

	test('a creating request that has not left begins again where the account turns out to have fewer slots', async () => {
		const [putOff, sending] = [jest.fn(), jest.fn(async () => await Promise.resolve())];
		const { leave, begun, refuse, created, other } = losingItsPlace(new AbortController(), { putOff, sending });
		other.catch(() => {});
		await flushPromises();
		refuse();
		await flushPromises();
		expect([begun.length, putOff.mock.calls]).toEqual([1, [[0], [Infinity]]]);
		leave();
		expect(await created).toEqual({ id: 'next' });
		expect(sending).toHaveBeenCalledTimes(1);
	});

	test('a creating request begins again also where nobody notes its tries', async () => {
		const { leave, begun, refuse, created, other } = losingItsPlace();
		other.catch(() => {});
		await flushPromises();
		refuse();
		await flushPromises();
		leave();
		expect(await created).toEqual({ id: 'next' });
		expect(begun).toHaveLength(2);
	});

	/** A request whose record is written when a slot is near. */
	const recorded = (write: () => Promise<void>) => {
		const near = deferred<() => void>();
		const [goOn, leave] = [jest.fn(), jest.fn()];
		const run: RunSlots = {
			...world(() => 1).slots.ofRun(),
			ready: async ({ onWait }) => {
				const over = onWait?.();
				return await near.promise.finally(over);
			},
		};
		const sleep = { signal: new AbortController().signal, waitsForSlot: () => goOn } as never;
		const record = async ({ ready, create }: PurchaseSteps<{ id: string }>) => {
			await ready();
			await write();
			return await create();
		};
		const create = async () => await Promise.resolve({ id: 'task' });
		const created = createInSlot(order(), { slots: run, sleep }, {}, { create, record });
		return { goOn, leave, created, comeNear: () => near.resolve(leave) };
	};

	test('a creating request lets the execution sleep only until its slot is near, and makes room for the next one once', async () => {
		const written = deferred<void>();
		const { goOn, leave, created, comeNear } = recorded(async () => await written.promise);
		await flushPromises();
		expect(goOn).not.toHaveBeenCalled();
		comeNear();
		await flushPromises();
		expect([goOn.mock.calls.length, leave.mock.calls.length]).toEqual([1, 0]);
		written.resolve();
		expect(await created).toEqual({ id: 'task' });
		expect(leave).toHaveBeenCalledTimes(1);
	});

	test('what takes no slot is near at once, and not near any more at once', async () => {
		const record = async ({ ready, create }: PurchaseSteps<{ id: string }>) => {
			(await ready())();
			return await create();
		};
		const create = async () => await Promise.resolve({ id: 'token' });
		expect(await createInSlot(order('nothing', 'token'), {}, {}, { create, record })).toEqual({ id: 'token' });
	});

	test('a creating request that is not near any more makes room at once, and once, and gets near again', async () => {
		const [leave, again] = [jest.fn(), jest.fn()];
		const leaves = [leave, again];
		const run: RunSlots = {
			...world(() => 1).slots.ofRun(),
			ready: async () => await Promise.resolve(leaves.shift() as () => void),
		};
		const record = async ({ ready, create }: PurchaseSteps<{ id: string }>) => {
			const notReady = await ready();
			notReady();
			expect([leave.mock.calls.length, again.mock.calls.length]).toEqual([1, 0]);
			await ready();
			return await create();
		};
		const create = async () => await Promise.resolve({ id: 'task' });
		expect(await createInSlot(order(), { slots: run }, {}, { create, record })).toEqual({ id: 'task' });
		expect([leave.mock.calls.length, again.mock.calls.length]).toEqual([1, 1]);
	});

	test('a creating request that cannot be recorded makes room for the next one', async () => {
		const { leave, created, comeNear } = recorded(async () => await Promise.reject(new Error('no disk')));
		comeNear();
		await expect(created).rejects.toThrow('no disk');
		expect(leave).toHaveBeenCalledTimes(1);
	});

	test('a creating request ends at a stop before it has left', async () => {
		const stop = new AbortController();
		const { begun, created, other } = losingItsPlace(stop);
		other.catch(() => {});
		await flushPromises();
		stop.abort();
		await expect(created).rejects.toMatchObject({ kind: 'stopped' });
		expect(begun).toHaveLength(1);
	});

	test('a creating request keeps its slot once it has left, whatever others are answered', async () => {
		const { slots } = world(() => 1);
		const run = slots.ofRun();
		run.occupy('task');
		const answer = deferred<{ id: string }>();
		let taken: AbortSignal | undefined;
		const create = async ({ sending, signal }: AttemptHooks) => {
			await sending?.();
			taken = signal;
			return await answer.promise;
		};
		const created = createInSlot(order(), { slots: run }, {}, { create });
		await flushPromises();
		const other = createInSlot(order(), { slots: run }, {}, { create: jest.fn().mockRejectedValue(refusal()) });
		other.catch(() => {});
		await flushPromises();
		expect(taken?.aborted).toBe(false);
		answer.resolve({ id: 'next' });
		expect(await created).toEqual({ id: 'next' });
	});
});

test('Tasks at Once is never exceeded, and no slot stays empty', async () => {
	const { clock, slots, seen, buy, elapsedMs } = world(() => 20, { tasksAtOnce: 20 });
	const runs = Array.from({ length: 10 }, () => slots.ofRun());
	await clock.run(Promise.all(runs.flatMap((run) => Array.from({ length: 20 }, async () => await buy(run, 2_000)))));
	expect(seen).toMatchObject({ tasks: 200, most: 20, refused: 0 });
	expect(elapsedMs()).toBeLessThan(20_500);
});

test.each([
	['one slot', 1, 10],
	['twenty slots', 20, 100],
	['more slots than tasks', 500, 100],
])('%s are learned with few answers of 429, and hardly any time is lost', async (_, count, tasks) => {
	const { clock, slots, seen, buy, elapsedMs } = world(() => count);
	await clock.run(
		(async () => {
			const first = buy(slots.ofRun(), 2_000);
			await clock.sleep(10);
			const runs = Array.from({ length: tasks }, async () => await buy(slots.ofRun(), 2_000));
			await Promise.all([first, ...runs]);
		})(),
	);
	expect(seen.tasks).toBe(tasks + 1);
	expect(elapsedMs()).toBeLessThan((Math.ceil((tasks + 1) / count) * 2_000 + 10) * 1.1);
	// Those that were on their way already, and one now and then.
	expect(seen.refused).toBeLessThan(count < tasks ? tasks + 12 : 1);
});

test('slots that come back are found, and used before long', async () => {
	const { clock, slots, seen, buy, elapsedMs } = world((nowMs) => (nowMs < 30_000 ? 2 : 400));
	const run = slots.ofRun();
	await clock.run(Promise.all(Array.from({ length: 800 }, async () => await buy(run, 5_000))));
	expect(seen.tasks).toBe(800);
	expect(seen.most).toBeGreaterThan(350);
	// 12 of them in the first half minute; the others take 10 s when 400 run at once.
	expect(elapsedMs()).toBeLessThan(30_000 + 17_000);
});

test('slots that others take are given up', async () => {
	const { clock, slots, seen, buy } = world((nowMs) => (nowMs < 10_000 ? 20 : 3), { tasksAtOnce: 20 });
	const run = slots.ofRun();
	await clock.run(Promise.all(Array.from({ length: 80 }, async () => await buy(run, 2_000))));
	expect(seen.tasks).toBe(80);
	expect(seen.refused).toBeLessThan(30);
});

test('the run with the fewest slots comes next: a short one does not wait for a long one', async () => {
	const { clock, slots, buy, elapsedMs } = world(() => 10, { tasksAtOnce: 10 });
	const long = slots.ofRun();
	const ends: number[] = [];
	await clock.run(
		(async () => {
			const many = Array.from({ length: 500 }, async () => await buy(long, 3_000));
			await clock.sleep(1_000);
			const few = Array.from({ length: 10 }, async () => {
				await buy(slots.ofRun(), 3_000);
				ends.push(elapsedMs());
			});
			await Promise.all([...many, ...few]);
		})(),
	);
	expect(Math.max(...ends)).toBeLessThan(6_100);
});

test('whatever the service, the tasks and the runs are like: all are bought once, and no slot is lost', async () => {
	for (let seed = 1; seed <= 60; seed++) {
		const random = seeded(seed);
		const upTo = (most: number) => 1 + Math.floor(random() * most);
		const bounds = [upTo(30), upTo(30), upTo(30)];
		const tasksAtOnce = random() < 0.3 ? upTo(40) : Infinity;
		const latencyMs = upTo(500);
		const slotsAt = (nowMs: number) => bounds[Math.floor(nowMs / 20_000) % 3] as number;
		const { clock, slots, seen, buy } = world(slotsAt, { tasksAtOnce, latencyMs });
		const runs = Array.from({ length: upTo(8) }, () => slots.ofRun());
		const first = slots.ofRun();
		const wanted = runs.flatMap((run) => Array.from({ length: upTo(20) }, () => ({ run, taskMs: upTo(10_000) })));
		const work = (async () => {
			const begun = buy(first, 15_000);
			await clock.sleep(latencyMs + 1);
			await Promise.all([begun, ...wanted.map(async ({ run, taskMs }) => await buyOnceMore(run, taskMs))]);
		})();
		/** A node that is refused while nothing of the account runs is run again. */
		const buyOnceMore = async (run: RunSlots, taskMs: number): Promise<void> =>
			await buy(run, taskMs).catch(async (error: GatewayError) => {
				expect([seed, error.kind]).toEqual([seed, 'rateLimited']);
				await buyOnceMore(run, taskMs);
			});
		await clock.run(work);
		expect([seed, seen.tasks]).toEqual([seed, wanted.length + 1]);
		expect(seen.most).toBeLessThanOrEqual(Math.min(tasksAtOnce, Math.max(...bounds)));
		expect(first.isBusy()).toBe(false);
	}
}, 60_000);
