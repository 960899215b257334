import { RequestLimiter } from '../../core/http/requestLimiter';
import { fakeClock, sharedClock } from './support';

describe('RequestLimiter', () => {
	test('however many may leave, there is a break after a few in a row: n8n has others to answer', async () => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(10_000, clock);
		const leftAtMs = new Map<number, number>();
		const requests = Array.from({ length: 200 }, async () => await limiter.acquire().then(() => leftAtMs.set(clock.at, (leftAtMs.get(clock.at) ?? 0) + 1)));
		await clock.run(Promise.all(requests));
		expect(Math.max(...leftAtMs.values())).toBeLessThanOrEqual(10);
		expect(leftAtMs.size).toBeLessThanOrEqual(50);
	});

	/** The moments, in milliseconds, at which requests that all want to go at once may go. */
	const pass = async (count: number, perSecond: number, during: (limiter: RequestLimiter, clock: ReturnType<typeof sharedClock>) => Promise<void> = async () => {}) => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(perSecond, clock);
		const times: number[] = [];
		const requests = Array.from({ length: count }, async () => await limiter.acquire().then(() => times.push(clock.at - 1_000_000)));
		await clock.run(Promise.all([...requests, during(limiter, clock)]));
		return times;
	};
	const busiestSecond = (times: number[]) => Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));

	test.each([100, 60, 10, 3, 2, 1])('at %i per second no second ever sees more, and 95 %% of it is reached for as long as there is work', async (perSecond) => {
		const times = await pass(perSecond * 20, perSecond);
		expect(busiestSecond(times)).toBeLessThanOrEqual(perSecond);
		const sustained = (times.length - perSecond) / ((times.at(-1) as number) - (times[perSecond - 1] as number));
		expect(sustained * 1000).toBeGreaterThanOrEqual(0.95 * perSecond);
	});

	test('half a request more than one is one: no second ever sees more than the option', async () => {
		expect(busiestSecond(await pass(10, 1.5))).toBe(1);
	});

	test('saves up no more than that while nothing is sent', async () => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(60, clock);
		clock.at += 3_600_000;
		const times: number[] = [];
		await clock.run(Promise.all(Array.from({ length: 100 }, async () => await limiter.acquire().then(() => times.push(clock.at)))));
		expect(busiestSecond(times)).toBeLessThanOrEqual(60);
	});

	test('a hold stops also those that were waiting for their turn', async () => {
		const times = await pass(60, 10, async (limiter, clock) => {
			await clock.sleep(1000);
			limiter.holdBack(5000);
		});
		expect(times.filter((at) => at > 1000 && at < 6000)).toEqual([]);
		expect(times).toHaveLength(60);
		expect(busiestSecond(times)).toBeLessThanOrEqual(10);
	});

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
});
