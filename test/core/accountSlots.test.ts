/** The slots of an account: as many tasks run at once as it can run, in whichever runs. */
import { AccountSlots } from '../../core/account/accountSlots';
import type { RunSlots } from '../../core/account/runSlots';
import { gatewayError, type GatewayError, type GatewayErrorDetails } from '../../core/errors';
import type { AttemptHooks } from '../../core/http/types';
import { REPEAT_FOR_MS } from '../../core/limits';
import { createInSlot } from '../../core/orders/createInSlot';
import { seeded } from '../support/simulation';
import { created, json, scriptedClient, flushPromises, sharedClock } from './support';

const HOUR_MS = 3_600_000;

/** A service with so many slots, and runs that submit to it. */
function world(slotsAt: (nowMs: number) => number, { concurrentTasks = Infinity, latencyMs = 5 } = {}) {
	const clock = sharedClock();
	const startMs = clock.at;
	const slots = new AccountSlots(clock);
	slots.most = concurrentTasks;
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
		const { id } = await createInSlot(order, { slots: run }, {}, create);
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

	test('a wait for a slot ends when a task is not seen any more, after the time for which it may go on unseen', async () => {
		const { clock, run, first } = await full();
		first.accepted('task', 60_000);
		const leave = run.occupy('task');
		leave(30_000);
		await clock.run(run.take({ timeoutMs: HOUR_MS, sinceMs: run.nowMs() }));
		expect(clock.at).toBe(1_030_000);
	});
});

describe('a creating request', () => {
	const order = () => ({ thing: 'task', then: 'poll', wait: { timeoutMs: HOUR_MS } }) as never;

	test('a creating request is not repeated here where no task of the account runs: the service asks for a slower pace', async () => {
		const { slots } = world(() => 1);
		const create = jest.fn().mockRejectedValue(gatewayError('rateLimited', {}, { httpStatus: 429 }));
		await expect(createInSlot(order(), { slots: slots.ofRun() }, {}, create)).rejects.toMatchObject({
			kind: 'rateLimited',
		});
		expect(create).toHaveBeenCalledTimes(1);
	});

	test.each<[string, GatewayErrorDetails, number]>([
		['no word about it', {}, 0],
		['a limit of tasks', { serviceMessage: 'Too many concurrent tasks', retryAfterMs: 9_000 }, 0],
		['a pause', { retryAfterMs: 9_000 }, 9_000],
		['a limit of requests', { serviceMessage: 'At most 10 requests per minute' }, 1_000],
	])(
		'a creating request is repeated where a task of the account runs, when that has ended, and the pause, too: %s',
		async (_, details, pauseMs) => {
			const { clock, slots } = world(() => 1);
			const run = slots.ofRun();
			const leave = run.occupy('task');
			const error = gatewayError('rateLimited', {}, { httpStatus: 429, ...details });
			const create = jest.fn().mockRejectedValueOnce(error).mockResolvedValue({ id: 'next' });
			const created = createInSlot(order(), { slots: run }, {}, create);
			await flushPromises();
			expect(create).toHaveBeenCalledTimes(1);
			leave();
			expect(await clock.run(created)).toEqual({ id: 'next' });
			expect(clock.at).toBe(1_000_000 + pauseMs);
		},
	);

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
		const outcome = createInSlot(order(), { slots: run }, {}, create).catch((error: GatewayError) => error.kind);
		await flushPromises();
		leave();
		expect(await clock.run(outcome)).toBe(kind);
		expect(sent).toHaveLength(1);
	});

	test('a creating request of a task that is not waited for gives up its wait for a slot as other requests are given up', async () => {
		const { clock, slots } = world(() => 1, { concurrentTasks: 1 });
		slots.ofRun().occupy('task');
		const unwaited = { thing: 'task', then: 'nothing' } as never;
		const created = createInSlot(unwaited, { slots: slots.ofRun() }, {}, jest.fn());
		const beganMs = clock.at;
		await expect(clock.run(created)).rejects.toMatchObject({ details: { reason: { name: 'noFreePlace' } } });
		expect(clock.at - beganMs).toBe(REPEAT_FOR_MS);
	});
});

test('Concurrent Tasks of the Account is never exceeded, and no slot stays empty', async () => {
	const { clock, slots, seen, buy, elapsedMs } = world(() => 20, { concurrentTasks: 20 });
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
	const { clock, slots, seen, buy, elapsedMs } = world((nowMs) => (nowMs < 30_000 ? 2 : 200));
	const run = slots.ofRun();
	await clock.run(Promise.all(Array.from({ length: 400 }, async () => await buy(run, 5_000))));
	expect(seen.tasks).toBe(400);
	expect(seen.most).toBeGreaterThan(175);
	// 12 of them in the first half minute; the others take 10 s when 200 run at once.
	expect(elapsedMs()).toBeLessThan(30_000 + 17_000);
});

test('the run with the fewest slots comes next: a short one does not wait for a long one', async () => {
	const { clock, slots, buy, elapsedMs } = world(() => 10, { concurrentTasks: 10 });
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
	for (let seed = 1; seed <= 12; seed++) {
		const random = seeded(seed);
		const upTo = (most: number) => 1 + Math.floor(random() * most);
		const bounds = [upTo(30), upTo(30), upTo(30)];
		const concurrentTasks = random() < 0.3 ? upTo(40) : Infinity;
		const latencyMs = upTo(500);
		const slotsAt = (nowMs: number) => bounds[Math.floor(nowMs / 20_000) % 3] as number;
		const { clock, slots, seen, buy } = world(slotsAt, { concurrentTasks, latencyMs });
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
		expect(seen.most).toBeLessThanOrEqual(Math.min(concurrentTasks, Math.max(...bounds)));
		expect(first.isBusy()).toBe(false);
	}
});
