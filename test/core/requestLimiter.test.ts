import { RequestLimiter } from '../../core/http/requestLimiter';
import { fakeClock, sharedClock } from './support';

describe('RequestLimiter', () => {
	test('a hold lasts a minute at most, so that the tasks behind it meet their deadlines', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(10, clock);
		limiter.holdBack(3_600_000);
		await limiter.acquire();
		expect(clock.at).toBe(1_060_000);
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

	test.each<[string, number, number, boolean]>([
		['comes before it waits', 0, 30_000, false],
		['comes while it waits', 100, 30_000, false],
		['is shorter than that', 0, 400, true],
	])(
		'a request that may wait half a second gives up its turn where a pause %s',
		async (_, afterMs, pauseMs, isTurn) => {
			const clock = sharedClock();
			const limiter = new RequestLimiter(1, clock);
			await limiter.acquire();
			if (afterMs === 0) limiter.holdBack(pauseMs);
			else void clock.sleep(afterMs).then(() => limiter.holdBack(pauseMs));
			const beganMs = clock.at;
			expect(await clock.run(limiter.acquire(undefined, 500))).toBe(isTurn);
			if (!isTurn) expect(clock.at - beganMs).toBe(afterMs);
		},
	);

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
			(limiter) => (limiter.lane().holdBack(10), limiter.lane().recover(), limiter.lane().recover()),
			200 * 0.95 ** 2,
		],
		['the usual one in the end', 10, (limiter) => (limiter.holdBack(10), times(15, () => limiter.recover())), 50],
	])('the pace of a limiter follows the answers: %s', async (_, perSecond, during, gapMs) => {
		expect(await gapAfter(perSecond, during)).toBeCloseTo(gapMs, 6);
	});

	describe('a stop', () => {
		test('a stop lets no other request through before its turn', async () => {
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

	test.each([60, 10, 1])(
		'at %i per second no second ever sees more, and 95 %% of it is reached for as long as there is work',
		async (perSecond) => {
			const times = await pass(perSecond * 20, perSecond);
			expect(busiestSecond(times)).toBeLessThanOrEqual(perSecond);
			const sustained = (times.length - perSecond) / ((times.at(-1) as number) - (times[perSecond - 1] as number));
			expect(sustained * 1000).toBeGreaterThanOrEqual(0.95 * perSecond);
		},
	);

	test.each([1e9, Infinity])(
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

	describe('runs that share it', () => {
		const shared = (perSecond: number, counts: number[]) => {
			const clock = sharedClock();
			const limiter = new RequestLimiter(perSecond, clock);
			const leftAtMs = counts.map((): number[] => []);
			const passing = counts.map(async (count, run) => {
				const lane = limiter.lane();
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
			const { leftAtMs, passed } = shared(10, [200, 5, 5]);
			await passed;
			expect(leftAtMs[1]?.at(-1)).toBeLessThan(2_500);
			expect(leftAtMs[2]?.at(-1)).toBeLessThan(2_500);
			expect(busiestSecond(leftAtMs.flat())).toBeLessThanOrEqual(10);
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
});
