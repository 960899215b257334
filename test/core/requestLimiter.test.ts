import { RequestLimiter } from '../../core/http/requestLimiter';
import { fakeClock, flushPromises, sharedClock } from './support';

describe('RequestLimiter', () => {
	test('a hold lasts a minute at most, so that the tasks behind it meet their deadlines', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(10, clock);
		limiter.holdBack(3_600_000);
		await limiter.acquire();
		expect(clock.at).toBe(1_060_000);
	});

	test('a stop ends the waiting for a turn', async () => {
		const clock = sharedClock();
		const stop = new AbortController();
		const limiter = new RequestLimiter(10, clock);
		limiter.holdBack(30_000);
		const waiting = limiter.acquire(stop.signal);
		stop.abort();
		await waiting;
		expect(clock.at).toBe(1_000_000);
	});

	test('good answers bring the pace back', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(10, clock);
		limiter.holdBack(10_000);
		for (let i = 0; i < 20; i++) limiter.recover();
		await limiter.acquire();
		await limiter.acquire();
		expect(clock.at).toBe(1_010_050);
	});

	test('a 429 holds back everything, and what follows goes at half the pace', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(10, clock);
		limiter.holdBack(30_000);
		await limiter.acquire();
		expect(clock.at).toBe(1_030_000);
		await limiter.acquire();
		expect(clock.at).toBe(1_030_200);
	});

	/** The time between two requests after this. */
	const gapAfter = async (perSecond: number, during: (limiter: RequestLimiter) => void) => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(perSecond, clock);
		during(limiter);
		await limiter.acquire();
		const firstAtMs = clock.at;
		await limiter.acquire();
		return clock.at - firstAtMs;
	};
	const times = (count: number, work: () => void) => Array.from({ length: count }, work);

	test.each<[string, number, (limiter: RequestLimiter) => void, number]>([
		['half of it after one 429', 10, (limiter) => limiter.holdBack(10), 200],
		['a quarter after two', 10, (limiter) => times(2, () => limiter.holdBack(10)), 400],
		['one a second after many', 10, (limiter) => times(20, () => limiter.holdBack(10)), 1_000],
		['half of one a second where that is the usual one', 1, (limiter) => times(20, () => limiter.holdBack(10)), 2_000],
		['a twentieth more after a good answer', 10, (limiter) => (limiter.holdBack(10), limiter.recover()), 190],
		[
			'a twentieth more after each good answer',
			10,
			(limiter) => (limiter.holdBack(10), times(13, () => limiter.recover())),
			200 * 0.95 ** 13,
		],
		[
			'also of a run',
			10,
			(limiter) => (limiter.lane().holdBack(10), limiter.lane().recover(), limiter.lane(5).recover()),
			200 * 0.95 ** 2,
		],
		['the usual one in the end', 10, (limiter) => (limiter.holdBack(10), times(15, () => limiter.recover())), 50],
	])('the pace of a limiter follows the answers: %s', async (_, perSecond, during, gapMs) => {
		expect(await gapAfter(perSecond, during)).toBeCloseTo(gapMs, 6);
	});

	test('a limiter says how long the line is, at the pace of the moment', async () => {
		const limiter = new RequestLimiter(10, sharedClock());
		expect(limiter.backlogMs).toBe(0);
		times(4, () => void limiter.acquire());
		expect(limiter.backlogMs).toBe(300);
		limiter.holdBack(1_000);
		expect(limiter.backlogMs).toBe(600);
	});

	test('five requests leave in a row, then there is a break of a millisecond', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(100_000, clock);
		const leftAtMs: number[] = [];
		for (let request = 0; request < 12; request++)
			await limiter.acquire().then(() => leftAtMs.push(clock.at - 1_000_000));
		expect(leftAtMs).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2]);
	});

	test('there is the same break where time goes on between two readings of the clock, as it does', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(1_000, { ...clock, now: () => (clock.at += 0.001) });
		for (let request = 0; request < 12; request++) await limiter.acquire();
		expect(clock.slept.map(Math.round)).toEqual([1, 1]);
	});

	test.each([1_030, 60_000])('requests that are %d ms apart are not in a row', async (apartMs) => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(100_000, clock);
		for (let request = 0; request < 12; request++) {
			await limiter.acquire();
			clock.at += apartMs;
		}
		expect(clock.slept).toEqual([]);
	});

	test('a run that begins during the break waits for its end, too', async () => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(100_000, clock);
		for (let request = 0; request < 6; request++) void limiter.acquire();
		await flushPromises();
		await clock.run(limiter.lane().acquire());
		expect(clock.at).toBe(1_000_001);
	});

	describe('a stop', () => {
		test('a request that is stopped before neither waits nor takes a turn', async () => {
			const clock = sharedClock();
			const limiter = new RequestLimiter(1, clock);
			const stop = new AbortController();
			stop.abort();
			await limiter.acquire(stop.signal);
			await clock.run(limiter.acquire());
			expect(clock.at).toBe(1_000_000);
			await limiter.acquire(stop.signal);
			expect(limiter.backlogMs).toBe(0);
		});

		test('a stop lets nobody else through before the turn', async () => {
			const clock = sharedClock();
			const limiter = new RequestLimiter(10, clock);
			limiter.holdBack(30_000);
			const stop = new AbortController();
			const stopped = limiter.acquire(stop.signal);
			const other = limiter.acquire();
			stop.abort();
			await stopped;
			expect(clock.at).toBe(1_000_000);
			await clock.run(other);
			expect(clock.at).toBe(1_030_000);
		});

		test('a stop of the last request leaves no timer behind, and the next one waits for its turn as well', async () => {
			const clock = sharedClock();
			const signals: Array<AbortSignal | undefined> = [];
			const { sleep } = clock;
			clock.sleep = async (ms, signal) => (signals.push(signal), await sleep(ms, signal));
			const limiter = new RequestLimiter(10, clock);
			limiter.holdBack(30_000);
			const stop = new AbortController();
			const waiting = limiter.acquire(stop.signal);
			stop.abort();
			await waiting;
			expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
			await flushPromises();
			await Promise.all([limiter.acquire(stop.signal), limiter.lane().acquire(stop.signal)]);
			const other = new AbortController();
			const both = [limiter.acquire(other.signal), limiter.lane().acquire(other.signal)];
			other.abort();
			await Promise.all(both);
			await flushPromises();
			expect(signals.filter((signal) => signal?.aborted !== true)).toEqual([]);
			await clock.run(limiter.acquire());
			expect(clock.at).toBe(1_030_000);
		});
	});

	test('however many requests may leave, there is a break after a few in a row: n8n has others to answer', async () => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(10_000, clock);
		const leftAtMs = new Map<number, number>();
		const requests = Array.from(
			{ length: 200 },
			async () => await limiter.acquire().then(() => leftAtMs.set(clock.at, (leftAtMs.get(clock.at) ?? 0) + 1)),
		);
		await clock.run(Promise.all(requests));
		expect(Math.max(...leftAtMs.values())).toBeLessThanOrEqual(10);
		expect(leftAtMs.size).toBeLessThanOrEqual(50);
	});

	/** The moments, in milliseconds, at which requests that all want to go at once may go. */
	const pass = async (
		count: number,
		perSecond: number,
		during: (limiter: RequestLimiter, clock: ReturnType<typeof sharedClock>) => Promise<void> = async () => {},
	) => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(perSecond, clock);
		const times: number[] = [];
		const requests = Array.from(
			{ length: count },
			async () => await limiter.acquire().then(() => times.push(clock.at - 1_000_000)),
		);
		await clock.run(Promise.all([...requests, during(limiter, clock)]));
		return times;
	};
	const busiestSecond = (times: number[]) =>
		Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));

	test.each([100, 60, 10, 3, 2, 1])(
		'at %i per second no second ever sees more, and 95 %% of it is reached for as long as there is work',
		async (perSecond) => {
			const times = await pass(perSecond * 20, perSecond);
			expect(busiestSecond(times)).toBeLessThanOrEqual(perSecond);
			const sustained = (times.length - perSecond) / ((times.at(-1) as number) - (times[perSecond - 1] as number));
			expect(sustained * 1000).toBeGreaterThanOrEqual(0.95 * perSecond);
		},
	);

	test.each([20_000_000, 1e9, 2 ** 32, Number.MAX_VALUE, Infinity])(
		'a limit of %d per second takes no memory for each: a thousand in any second are the most',
		async (perSecond) => {
			const times = await pass(3_000, perSecond);
			expect(busiestSecond(times)).toBeLessThanOrEqual(1_000);
			expect(times.at(-1)).toBeLessThan(3_500);
		},
	);

	test.each([NaN, 0, -5, -Infinity])('a limit of %d per second is one', async (perSecond) => {
		expect(busiestSecond(await pass(4, perSecond))).toBe(1);
	});

	test('half a request more than one per second is one: no second ever sees more than the option', async () => {
		expect(busiestSecond(await pass(10, 1.5))).toBe(1);
	});

	describe('runs that share it', () => {
		const shared = (perSecond: number, limits: Array<[count: number, perSecond?: number]>) => {
			const clock = sharedClock();
			const limiter = new RequestLimiter(perSecond, clock);
			const leftAtMs = limits.map((): number[] => []);
			const passing = limits.map(async ([count, own], run) => {
				const lane = limiter.lane(own);
				await Promise.all(
					Array.from(
						{ length: count },
						async () => await lane.acquire().then(() => leftAtMs[run]?.push(clock.at - 1_000_000)),
					),
				);
			});
			return { clock, limiter, leftAtMs, passed: clock.run(Promise.all(passing)) };
		};

		test('runs that share a limiter take turns: a short one does not wait for all requests of a long one', async () => {
			const { leftAtMs, passed } = shared(10, [[200], [5], [5]]);
			await passed;
			expect(leftAtMs[1]?.at(-1)).toBeLessThan(2_500);
			expect(leftAtMs[2]?.at(-1)).toBeLessThan(2_500);
			expect(busiestSecond(leftAtMs.flat())).toBeLessThanOrEqual(10);
		});

		test('runs can have lower limits of their own, which hold up nobody else', async () => {
			const { leftAtMs, passed } = shared(50, [[10, 2], [200], [20, 1_000]]);
			await passed;
			expect(busiestSecond(leftAtMs[0] ?? [])).toBe(2);
			expect(leftAtMs[1]?.at(-1)).toBeLessThan(5_000);
			expect(busiestSecond(leftAtMs.flat())).toBeLessThanOrEqual(50);
		});

		test('runs share the pause after a 429', async () => {
			const { limiter, leftAtMs, passed } = shared(10, [[2], [2]]);
			limiter.lane().holdBack(5_000);
			await passed;
			expect(leftAtMs.flat().filter((at) => at > 0 && at < 5_000)).toEqual([]);
		});

		test('a run that begins while another one waits for its own limit goes at once', async () => {
			const clock = sharedClock();
			const limiter = new RequestLimiter(50, clock);
			const slow = limiter.lane(1);
			const waiting = [slow.acquire(), slow.acquire()];
			await flushPromises();
			await clock.run(limiter.lane().acquire());
			expect(clock.at).toBeLessThan(1_000_050);
			await clock.run(Promise.all(waiting));
			expect(clock.at).toBeGreaterThanOrEqual(1_001_000);
		});

		test('of runs that wait for their own limits, the one that may go first goes first, and the first in line among equals', async () => {
			const clock = sharedClock();
			const limiter = new RequestLimiter(1_000, clock);
			const [slow, quick, one, other] = [limiter.lane(1), limiter.lane(4), limiter.lane(2), limiter.lane(2)];
			const left: string[] = [];
			const send = async (lane: typeof slow, name: string) =>
				await lane.acquire().then(() => left.push(`${name} ${clock.at - 1_000_000}`));
			const all = [slow, quick, one, other].map(async (lane) => await lane.acquire());
			await clock.run(Promise.all(all));
			left.length = 0;
			const again = [send(slow, 'slow'), send(one, 'one'), send(other, 'other'), send(quick, 'quick')];
			await clock.run(Promise.all(again));
			expect(left).toEqual(['quick 125', 'one 250', 'other 250', 'slow 1030']);
		});

		test('nothing is kept of a run whose last request is long gone', async () => {
			const clock = sharedClock();
			const limiter = new RequestLimiter(50, clock);
			const kept = () => Object.values(limiter).flatMap((value) => (value instanceof Map ? [...value.keys()] : []));
			await clock.run(limiter.lane(2, 'run').acquire());
			limiter.lane(2, 'other run');
			expect(kept()).toEqual(['run']);
			clock.at += 1_031;
			limiter.lane(2, 'other run');
			expect(kept()).toEqual([]);
		});

		test('runs that go on in another execution keep their own limit', async () => {
			const clock = sharedClock();
			const limiter = new RequestLimiter(50, clock);
			const leftAtMs: number[] = [];
			const send = async (run: string | undefined, count = 1) => {
				const lane = limiter.lane(2, run);
				for (let sent = 0; sent < count; sent++) await lane.acquire().then(() => leftAtMs.push(clock.at - 1_000_000));
			};
			await clock.run(send('run', 2));
			await clock.run(send('run'));
			expect(leftAtMs.at(-1)).toBeGreaterThanOrEqual(1_000);
			for (const other of ['other run', undefined, undefined]) await clock.run(send(other));
			expect(leftAtMs.at(-1)).toBeLessThan(1_100);
		});

		test('runs say how long their next request would wait', async () => {
			const limiter = new RequestLimiter(10, sharedClock());
			const [one, other, slow] = [limiter.lane(), limiter.lane(), limiter.lane(2)];
			limiter.holdBack(1);
			for (let waiting = 0; waiting < 3; waiting++) void one.acquire();
			void other.acquire();
			void slow.acquire();
			expect([one.backlogMs, other.backlogMs, slow.backlogMs]).toEqual([3 * 3 * 200, 3 * 200, 3 * 200]);
			const alone = new RequestLimiter(50, sharedClock()).lane(1);
			for (let waiting = 0; waiting < 3; waiting++) void alone.acquire();
			expect(alone.backlogMs).toBe(2 * 1_000);
			expect([one.requestsPerSecond, slow.requestsPerSecond, limiter.lane(99).requestsPerSecond]).toEqual([10, 2, 10]);
		});
	});

	test('the limit can change while requests wait, and what has left counts for the new one', async () => {
		const times = await pass(300, 5, async (limiter, clock) => {
			await clock.sleep(2_500);
			limiter.limitTo(50);
			await clock.sleep(2_000);
			limiter.limitTo(10);
		});
		expect(times.filter((at) => at < 2_500).length).toBeLessThanOrEqual(15);
		expect(times.filter((at) => at >= 2_500 && at < 3_500).length).toBeGreaterThan(40);
		expect(busiestSecond(times)).toBe(50);
		expect(busiestSecond(times.filter((at) => at > 5_500))).toBe(10);
	});

	test('the limit can change while nothing waits', () => {
		const limiter = new RequestLimiter(5, sharedClock());
		limiter.limitTo(50);
		expect(limiter.requestsPerSecond).toBe(50);
	});

	test('a limiter saves up no more than its limit while nothing is sent', async () => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(60, clock);
		clock.at += 3_600_000;
		const times: number[] = [];
		await clock.run(
			Promise.all(Array.from({ length: 100 }, async () => await limiter.acquire().then(() => times.push(clock.at)))),
		);
		expect(busiestSecond(times)).toBeLessThanOrEqual(60);
	});

	test('a hold stops also the requests that were waiting for their turn', async () => {
		const times = await pass(60, 10, async (limiter, clock) => {
			await clock.sleep(1000);
			limiter.holdBack(5000);
		});
		expect(times.filter((at) => at > 1000 && at < 6000)).toEqual([]);
		expect(times).toHaveLength(60);
		expect(busiestSecond(times)).toBeLessThanOrEqual(10);
	});
});
