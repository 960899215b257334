/** The places of an account: as many tasks run at once as it can run, in whichever runs. */
import { AccountPace } from '../../core/account/pace';
import { AccountPlaces, type PlaceRefusal, type RunPlaces } from '../../core/account/places';
import { gatewayError, stoppedError, type GatewayError, type GatewayErrorDetails } from '../../core/errors';
import type { CreateAttempt } from '../../core/http/types';
import { REPEAT_FOR_MS } from '../../core/limits';
import { seeded } from '../support/simulation';
import { plannedOrder } from '../support/orders.mts';
import { buyWith, created, json, scriptedClient, flushPromises, sharedClock } from './support';
import { costOf } from '../support/hostile.mts';

const HOUR_MS = 3_600_000;
const refusal = (details: GatewayErrorDetails = {}) =>
	gatewayError('rateLimited', {}, { httpStatus: 429, again: {}, ...details });
const orderFor = (item = 0) => plannedOrder(item, { wait: { plan: { kind: 'automatic' }, timeoutMs: HOUR_MS } });
/** As the client does it. */
const sending = (create: () => Promise<{ id: string }>) => async (attempt: CreateAttempt) => {
	attempt.beforeSend?.();
	return await create();
};
const times = async (count: number, work: () => Promise<void>) =>
	await Promise.all(Array.from({ length: count }, work));

/** A service with so many places, and runs that submit to it at 60 requests per second. */
function world(placesAt: (nowMs: number) => number, { concurrentTasks = Infinity, latencyMs = 50 } = {}) {
	const clock = sharedClock();
	const startMs = clock.at;
	const places = new AccountPlaces(clock);
	places.most = concurrentTasks;
	const pace = new AccountPace(60, clock).ofRun();
	const seen = { atOnce: 0, most: 0, refused: 0, tasks: 0 };
	const send = async ({ signal, beforeSend }: CreateAttempt) => {
		await pace.acquire(signal);
		if (signal?.aborted) throw stoppedError();
		beforeSend?.();
		await clock.sleep(latencyMs);
	};
	/** Submits one task, and waits for its end. */
	const buy = async (run: RunPlaces, taskMs: number) => {
		const create = async (attempt: CreateAttempt) => {
			await send(attempt);
			if (seen.atOnce >= placesAt(clock.at - startMs)) {
				seen.refused++;
				throw refusal();
			}
			seen.most = Math.max(seen.most, ++seen.atOnce);
			return { id: `task ${seen.tasks++}` };
		};
		const { id } = (await buyWith(create, { order: orderFor(), clock, places: run })) ?? { id: '' };
		const leave = run.occupy(id);
		await clock.sleep(taskMs);
		seen.atOnce--;
		leave();
	};
	return { clock, places, seen, send, buy, elapsedMs: () => clock.at - startMs };
}

/** An account with one place, which is taken. */
async function full() {
	const clock = sharedClock();
	const places = new AccountPlaces(clock);
	places.most = 1;
	const run = places.ofRun();
	const take = async (timeoutMs = HOUR_MS, sinceMs = run.nowMs()) => await run.take({ timeoutMs, sinceMs });
	return { clock, places, run, take, first: await take() };
}

test('a wait for a place ends with a reason when it takes too long, counted from the first request', async () => {
	const { clock, run, take } = await full();
	const beganMs = run.nowMs();
	await expect(clock.run(take(120_000, beganMs - 20_000))).rejects.toMatchObject({
		kind: 'rateLimited',
		message: 'The account was busy for 2 min, so this item was not sent',
	});
	expect(run.nowMs() - beganMs).toBe(100_000);
});

test('those that wait for the same moment share one timer: thousands begin to wait at once', async () => {
	const { clock, take, first } = await full();
	first.accepted('task', 60_000);
	const sleep = jest.spyOn(clock, 'sleep');
	for (let order = 0; order < 100; order++) void take().catch(() => {});
	await flushPromises();
	// Each has one for its own time.
	expect(sleep).toHaveBeenCalledTimes(101);
});

test.each<[string, (run: RunPlaces) => void, number]>([
	['its wait begins too late', () => {}, 60_000],
	['it goes on unseen', (run) => run.occupy('task')(30_000), 30_000],
	['its wait has ended', (run) => run.occupy('task')(), 0],
	['another run waits for it', (run) => [run.occupy('task'), run.occupy('task')].at(0)?.(), HOUR_MS],
])('a task whose end no poll sees frees its place by time: %s', async (_, happens, afterMs) => {
	const { clock, run, take, first } = await full();
	first.accepted('task', 60_000);
	happens(run);
	await clock.run(take().catch(() => {}));
	expect(clock.at - 1_000_000).toBe(afterMs);
});

describe('a creating request', () => {
	test('a creating request is not repeated here where no task of the account runs: the service asks for a slower pace', async () => {
		const { clock, places } = await full();
		places.most = 2;
		const create = jest.fn().mockRejectedValue(refusal({ retryAfterMs: HOUR_MS }));
		const answer = buyWith(sending(create), { order: orderFor(), clock, places: places.ofRun() });
		await expect(clock.run(answer)).rejects.toMatchObject({ kind: 'rateLimited' });
		expect(create).toHaveBeenCalledTimes(1);
	});

	test.each<[string, GatewayErrorDetails, number]>([
		['no word about it', {}, 0],
		['a limit of tasks', { serviceMessage: 'Too many concurrent tasks', retryAfterMs: 9_000 }, 0],
		['a pause', { retryAfterMs: 9_000 }, 9_000],
		['a pause of hours', { retryAfterMs: 9 * HOUR_MS }, 60_000],
		['a limit of requests', { serviceMessage: 'At most 10 requests per minute' }, 1_000],
	])(
		'a creating request is repeated where a task of the account runs, when that has ended, and the pause, too: %s',
		async (_, details, pauseMs) => {
			const { clock, places } = world(() => 1);
			const run = places.ofRun();
			const leave = run.occupy('task');
			const create = jest.fn().mockRejectedValueOnce(refusal(details)).mockResolvedValue({ id: 'next' });
			const answer = buyWith(sending(create), { order: orderFor(), clock, places: run });
			await flushPromises();
			expect(create).toHaveBeenCalledTimes(1);
			leave();
			expect(await clock.run(answer)).toEqual({ id: 'next' });
			expect(clock.at).toBe(1_000_000 + pauseMs);
		},
	);

	test.each([
		[{ success: false, message: '生成令牌失败' }, 'outcomeUnknown'],
		[{ success: false, message: 'Failed to get used quota' }, 'outcomeUnknown'],
		[{ error: { code: 'insufficient_quota' } }, 'balance'],
	])('beside a running task, a creating request that is answered 429 with %j is sent once', async (body, kind) => {
		const { clock, places } = world(() => 1);
		const run = places.ofRun();
		const leave = run.occupy('task');
		const { client, sent } = scriptedClient([json(429, body), created]);
		const create = async (attempt: CreateAttempt) => await client.createTask('video', { model: 'm' }, attempt);
		const answer = buyWith(create, { order: orderFor(), clock, places: run });
		const outcome = answer.catch((error: GatewayError) => error.kind);
		await flushPromises();
		leave();
		expect(await clock.run(outcome)).toBe(kind);
		expect(sent).toHaveLength(1);
	});

	test('a creating request of a task that is not waited for gives up its wait for a place as other requests are given up', async () => {
		const { clock, places } = await full();
		const order = plannedOrder(0, { then: 'nothing', wait: undefined });
		const answer = buyWith(jest.fn(), { order, clock, places: places.ofRun() });
		await expect(clock.run(answer)).rejects.toMatchObject({ details: { reason: { name: 'noFreePlace' } } });
		expect(clock.at - 1_000_000).toBe(REPEAT_FOR_MS);
	});
});

test('pauses after a limit of requests grow until a task is accepted', async () => {
	const { clock, places, take } = await full();
	places.most = Infinity;
	const run = places.ofRun();
	run.occupy('task');
	const pauses: number[] = [];
	const answers: Array<PlaceRefusal | 'accepted'> = [{}, {}, 'accepted', {}, { askedMs: 5_000 }];
	for (const answer of answers) {
		const place = await clock.run(take());
		const fromMs = clock.at;
		if (answer === 'accepted') place.accepted('next', HOUR_MS);
		else place.refused({ limit: 'requests', ...answer });
		(await clock.run(take())).free();
		pauses.push(clock.at - fromMs);
	}
	expect(pauses).toEqual([1_000, 2_000, 0, 1_000, 5_000]);
});

test('Concurrent Tasks of the Account is never exceeded, and no place stays empty', async () => {
	const { clock, places, seen, buy, elapsedMs } = world(() => 20, { concurrentTasks: 20 });
	const runs = Array.from({ length: 10 }, () => places.ofRun());
	await clock.run(Promise.all(runs.map(async (run) => await times(20, async () => await buy(run, 2_000)))));
	expect(seen).toMatchObject({ tasks: 200, most: 20, refused: 0 });
	expect(elapsedMs()).toBeLessThan(21_000);
});

test.each([
	['one place', 1, 10, 12],
	['five places', 5, 100, 12],
	['twenty places', 20, 200, 15],
	['more places than tasks', 500, 100, 0],
])('%s are learned with few answers of 429, and hardly any time is lost', async (_, count, tasks, mostRefused) => {
	const { clock, places, seen, buy, elapsedMs } = world(() => count);
	await clock.run(times(tasks, async () => await buy(places.ofRun(), 2_000)));
	expect(seen.tasks).toBe(tasks);
	expect(elapsedMs()).toBeLessThan(Math.ceil(tasks / count) * 2_050 * 1.05 + 2_000);
	expect(seen.refused).toBeLessThanOrEqual(mostRefused);
});

test('places that come back are found, and used before long', async () => {
	const { clock, places, seen, buy, elapsedMs } = world((nowMs) => (nowMs < 30_000 ? 2 : 200));
	const run = places.ofRun();
	await clock.run(times(400, async () => await buy(run, 5_000)));
	expect(seen.most).toBe(200);
	// 12 of them in the first half minute; the others take 10 s when 200 run at once, and 6 s at the usual pace.
	expect(elapsedMs()).toBeLessThan(30_000 + 17_000);
});

test.each([10, 1])(
	'of %i places, the run with the fewest gets the next: a short one does not wait for a long one',
	async (most) => {
		const { clock, places, buy, elapsedMs } = world(() => most, { concurrentTasks: most });
		const long = places.ofRun();
		const ends: number[] = [];
		await clock.run(
			(async () => {
				const many = times(20 * most, async () => await buy(long, 3_000));
				await clock.sleep(1_000);
				const few = times(most, async () => await buy(places.ofRun(), 3_000).then(() => void ends.push(elapsedMs())));
				await Promise.all([many, few]);
			})(),
		);
		expect(Math.max(...ends)).toBeLessThan(6_500);
	},
);

test('a run whose model is always refused is tried now and then: the places are for the others', async () => {
	const { clock, places, seen, buy, elapsedMs } = world(() => 10);
	const [busy, refused] = [places.ofRun(), places.ofRun()];
	const refuse = async (attempt: CreateAttempt) => {
		if (attempt.signal?.aborted) throw stoppedError();
		attempt.beforeSend?.();
		await clock.sleep(50);
		throw refusal();
	};
	for (let item = 0; item < 3; item++)
		void buyWith(refuse, { order: orderFor(item), clock, places: refused }).catch(() => {});
	// Ten in a row, as with Concurrent Tasks, and a few that wait.
	await clock.run(
		times(60, async () => await buy(busy, 10_000)),
		200_000,
	);
	expect(seen.tasks).toBe(60);
	expect(elapsedMs()).toBeLessThan(90_000);
});

test('a model that is always refused does not hold back the other one of its run', async () => {
	const { clock, places, seen, send, buy, elapsedMs } = world(() => 100);
	const run = places.ofRun();
	const refuse = async (attempt: CreateAttempt) => {
		await send(attempt);
		throw refusal();
	};
	const pairs = times(20, async () => {
		const order = { ...orderFor(), scope: 'always refused' };
		void buyWith(refuse, { order, clock, places: run }).catch(() => {});
		await buy(run, 20_000);
	});
	await clock.run(pairs, 400_000);
	expect(seen.tasks).toBe(20);
	expect(elapsedMs()).toBeLessThan(25_000);
});

test('of two models of a run, that of the order comes next that has waited longest', async () => {
	const { clock, places, seen, send } = world(() => 100, { concurrentTasks: 5 });
	const run = places.ofRun();
	const waitedMs: number[] = [];
	let next = 0;
	// Fifty at a time, as with Concurrent Tasks; each tenth is of the other model.
	const buyAll = async (): Promise<void> => {
		for (let item = next++; item < 200; item = next++) {
			const beganMs = clock.at;
			const order = { ...orderFor(item), scope: item % 10 === 5 ? 'rare' : 'frequent' };
			const create = async (attempt: CreateAttempt) => {
				await send(attempt);
				return { id: `task ${seen.tasks++}` };
			};
			await buyWith(create, { order, clock, places: run });
			if (order.scope === 'rare') waitedMs.push(clock.at - beganMs);
			const leave = run.occupy(`task ${seen.tasks - 1}`);
			await clock.sleep(10_000);
			leave();
		}
	};
	await clock.run(times(50, buyAll), 1_000_000);
	expect([seen.tasks, waitedMs.length]).toEqual([200, 20]);
	// Those before it take ten rounds of 10 s.
	expect(Math.max(...waitedMs)).toBeLessThan(120_000);
});

test('the run that tries a place more does not come last when that is refused: it would try each time, and wait for ever', async () => {
	const { clock, places, seen, buy, elapsedMs } = world(() => 3);
	const [long, short] = [places.ofRun(), places.ofRun()];
	// Long tasks that end one after the other, so that the pause between trials has grown to a minute.
	const first = [100_000, 200_000, 300_000].map(async (ms) => await buy(long, ms));
	for (let item = 0; item < 30; item++) void buy(long, 300_000).catch(() => {});
	await clock.runUntil(clock.at + 770_000);
	const [beganMs, tasks] = [elapsedMs(), seen.tasks];
	await clock.run(buy(short, 1_000), 200_000);
	expect(elapsedMs() - beganMs).toBeLessThan(250_000);
	expect(seen.tasks).toBeGreaterThan(tasks);
	await Promise.all(first);
});

test('thousands that wait, of two runs, get their places within moments: each costs the same', async () => {
	const { clock, places, take, first } = await full();
	const other = places.ofRun();
	for (let order = 0; order < 10_000; order++)
		void (order % 2 ? take() : other.take({ timeoutMs: HOUR_MS, sinceMs: other.nowMs() }));
	places.most = Infinity;
	const { cpuSeconds } = await costOf(async () => await Promise.resolve(first.free()));
	// Far more than it takes, and a small part of what it took while each looked at all others.
	expect(cpuSeconds).toBeLessThan(2);
	expect(clock.at).toBe(1_000_000);
});

test('whatever the service, the tasks and the runs are like: all are bought once, and no place is lost', async () => {
	for (let seed = 1; seed <= 12; seed++) {
		const random = seeded(seed);
		const upTo = (most: number) => 1 + Math.floor(random() * most);
		const bounds = [upTo(30), upTo(30), upTo(30)];
		const concurrentTasks = random() < 0.3 ? upTo(40) : Infinity;
		const placesAt = (nowMs: number) => bounds[Math.floor(nowMs / 20_000) % 3] as number;
		const { clock, places, seen, buy } = world(placesAt, { concurrentTasks, latencyMs: upTo(500) });
		const runs = Array.from({ length: upTo(8) }, () => places.ofRun());
		const wanted = runs.flatMap((run) => Array.from({ length: upTo(20) }, () => ({ run, taskMs: upTo(10_000) })));
		/** A node that is refused while nothing of the account runs is run again. */
		const buyOnceMore = async (run: RunPlaces, taskMs: number): Promise<void> =>
			await buy(run, taskMs).catch(async (error: GatewayError) => {
				expect([seed, error.kind]).toEqual([seed, 'rateLimited']);
				await buyOnceMore(run, taskMs);
			});
		await clock.run(Promise.all(wanted.map(async ({ run, taskMs }) => await buyOnceMore(run, taskMs))));
		expect([seed, seen.tasks]).toEqual([seed, wanted.length]);
		expect(seen.most).toBeLessThanOrEqual(Math.min(concurrentTasks, Math.max(...bounds)));
		expect(places.isBusy()).toBe(false);
	}
});
