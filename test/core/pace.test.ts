/** The pace of an account: no second sees more requests than the limit, whichever runs send them. */
import { AccountPace, type Pace } from '../../core/account/pace';
import { fakeClock, sharedClock } from './support';

type SharedClock = ReturnType<typeof sharedClock>;

const START_MS = 1_000_000;
const busiest = (times: number[], withinMs = 1000) =>
	Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + withinMs).length));

/** The moments, in milliseconds, at which the requests of runs that all want to go at once may go. */
async function pass(
	counts: number[],
	perSecond: number,
	during: (account: AccountPace, clock: SharedClock) => Promise<void> | void = () => {},
) {
	const clock = sharedClock();
	const account = new AccountPace(perSecond, clock);
	const leave = async (count: number) => {
		const pace = account.ofRun();
		const times: number[] = [];
		const acquire = async () => await pace.acquire().then(() => times.push(clock.at - START_MS));
		await Promise.all(Array.from({ length: count }, acquire));
		return times;
	};
	const ended = during(account, clock);
	const all = Promise.all(counts.map(leave));
	await clock.run(Promise.all([all, ended]));
	return await all;
}

describe('a limit of requests per second', () => {
	test.each([60, 10, 1])(
		'at %i per second no second ever sees more, and 95 %% of it is reached for as long as there is work',
		async (perSecond) => {
			const [times = []] = await pass([perSecond * 20], perSecond);
			expect(busiest(times)).toBeLessThanOrEqual(perSecond);
			const sustained = (times.length - perSecond) / ((times.at(-1) as number) - (times[perSecond - 1] as number));
			expect(sustained * 1000).toBeGreaterThanOrEqual(0.95 * perSecond);
		},
	);

	test('requests leave evenly spaced, and 50 of them within 0.87 s', async () => {
		const [times = []] = await pass([50], 60);
		expect(times.at(-1)).toBeLessThan(870);
		expect(busiest(times, 100)).toBeLessThanOrEqual(10);
		expect(busiest(times.slice(4), 100)).toBeLessThanOrEqual(7);
	});

	test.each([1e9, Infinity])(
		'a limit of %d per second takes no memory for each: a thousand in any second are the most',
		async (perSecond) => {
			const [times = []] = await pass([3_000], perSecond);
			expect(busiest(times)).toBeLessThanOrEqual(1_000);
			expect(times.at(-1)).toBeLessThan(3_500);
		},
	);

	test.each([NaN, 0, -5, -Infinity])('a limit of %d per second is one', async (perSecond) => {
		expect(busiest((await pass([4], perSecond)).flat())).toBe(1);
	});

	test('however long nothing was sent, or n8n was busy, few requests leave at once, and no second sees more', async () => {
		const [times = []] = await pass([200], 60, async (_, clock) => {
			for (const busyMs of [20, 45, 300, 2_000, 10]) await clock.sleep(150).then(() => (clock.at += busyMs));
		});
		expect(busiest(times)).toBeLessThanOrEqual(60);
		expect(busiest(times, 1)).toBe(4);
		// Delays that are shorter than three requests cost nothing.
		expect(times.at(-1)).toBeLessThan(2_300 + (200 / 60) * 1_030);
	});

	test('the limit can change while requests wait, and what has left counts for the new one', async () => {
		const [times = []] = await pass([300], 5, async (account, clock) => {
			await clock.sleep(2_500);
			account.limitTo(50);
			await clock.sleep(2_000);
			account.limitTo(10);
		});
		expect(times.filter((at) => at < 2_500).length).toBeLessThanOrEqual(15);
		expect(times.filter((at) => at >= 2_500 && at < 3_500).length).toBeGreaterThan(40);
		expect(times.filter((at) => at > 4_500 && at < 5_300)).toEqual([]);
		expect(busiest(times)).toBe(50);
		expect(busiest(times.filter((at) => at > 5_500))).toBe(10);
	});

	test('more polls than can leave do not keep a submission of their run, or of another one, away', async () => {
		const clock = sharedClock();
		const account = new AccountPace(10, clock);
		const [pace, other] = [account.ofRun(), account.ofRun()];
		for (let poll = 0; poll < 100; poll++) void pace.acquire();
		expect(pace.turnInMs).toBeLessThan(500);
		expect(await clock.run(Promise.all([pace, other].map(async (each) => await each.acquire(undefined, 500))))).toEqual(
			[true, true],
		);
		expect(clock.at - START_MS).toBeLessThan(2_000);
	});

	test('polls of forty other runs do not keep a submission away, whose row is there', async () => {
		const clock = sharedClock();
		const account = new AccountPace(1, clock);
		for (let run = 0; run < 40; run++) void account.ofRun().acquire();
		const pace = account.ofRun();
		await clock.runUntil(clock.at + 5_000);
		const beganMs = clock.at;
		expect(await clock.run(pace.acquire(undefined, 500))).toBe(true);
		expect(clock.at - beganMs).toBeLessThanOrEqual(2 * 1_030);
	});

	test('runs take turns: a short one does not wait for all requests of a long one', async () => {
		const [long, ...short] = await pass([200, 5, 5], 10);
		expect(Math.max(...short.flat())).toBeLessThan(2_500);
		expect(busiest([...(long as number[]), ...short.flat()])).toBeLessThanOrEqual(10);
	});
});

describe('a 429', () => {
	test.each([
		['as long as the service asks', 30_000, 30_000],
		['a minute at most, so that the tasks behind it meet their deadlines', 3_600_000, 60_000],
	])('a 429 holds back all runs, %s, and what follows goes at half the pace', async (_, askedMs, heldMs) => {
		const times = await pass([2, 1], 10, (account) => account.ofRun().holdBack(askedMs));
		expect(times.flat().sort((a, b) => a - b)).toEqual([heldMs, heldMs + 200, heldMs + 400]);
	});

	test.each<[string, number, number, boolean]>([
		['comes before it waits', 0, 30_000, false],
		['comes while it waits', 100, 30_000, false],
		['is shorter than that', 0, 400, true],
	])(
		'a request that may wait half a second gives up its turn where a pause %s',
		async (_, afterMs, pauseMs, isTurn) => {
			const clock = sharedClock();
			const pace = new AccountPace(1, clock).ofRun();
			await pace.acquire();
			if (afterMs === 0) pace.holdBack(pauseMs);
			else void clock.sleep(afterMs).then(() => pace.holdBack(pauseMs));
			const beganMs = clock.at;
			expect(await clock.run(pace.acquire(undefined, 500))).toBe(isTurn);
			if (!isTurn) expect(clock.at - beganMs).toBe(afterMs);
		},
	);

	test('of requests that may wait half a second, those give up whose turns a pause moves further away', async () => {
		const clock = sharedClock();
		const account = new AccountPace(10, clock);
		const [pace, other] = [account.ofRun(), account.ofRun()];
		for (let request = 0; request < 4; request++) await pace.acquire();
		const waits = [500, 500, 500, undefined].map(async (withinMs) => await pace.acquire(undefined, withinMs));
		waits.push(other.acquire(undefined, 500));
		pace.holdBack(300);
		expect(await clock.run(Promise.all(waits))).toEqual([true, true, false, true, false]);
	});

	const times = (count: number, work: () => void) => Array.from({ length: count }, work);

	test.each<[string, number, (pace: Pace) => void, number]>([
		['half of it after one 429', 10, (pace) => pace.holdBack(10), 200],
		['a quarter after two', 10, (pace) => times(2, () => pace.holdBack(10)), 400],
		['one a second after many', 10, (pace) => times(20, () => pace.holdBack(10)), 1_000],
		['half of one a second where that is the usual one', 1, (pace) => times(20, () => pace.holdBack(10)), 2_000],
		['a twentieth more after a good answer', 10, (pace) => (pace.holdBack(10), pace.recover()), 190],
		['more with each', 10, (pace) => (pace.holdBack(10), times(13, () => pace.recover())), 200 * 0.95 ** 13],
		['the usual one in the end', 10, (pace) => (pace.holdBack(10), times(15, () => pace.recover())), 100],
	])('the pace follows the answers: %s', async (_, perSecond, during, spacingMs) => {
		const clock = fakeClock();
		const pace = new AccountPace(perSecond, clock).ofRun();
		during(pace);
		await pace.acquire();
		const firstAtMs = clock.at;
		for (let request = 0; request < 5; request++) await pace.acquire();
		expect(pace.spacingMs).toBeCloseTo(spacingMs, 6);
		expect(clock.at - firstAtMs).toBeCloseTo(5 * spacingMs, 6);
	});

	test('a stop ends the wait of its request, and lets no other one leave before its turn', async () => {
		const clock = sharedClock();
		const pace = new AccountPace(10, clock).ofRun();
		pace.holdBack(30_000);
		const stop = new AbortController();
		const stopped = pace.acquire(stop.signal);
		const other = pace.acquire();
		stop.abort();
		expect(await stopped).toBe(true);
		await clock.run(other);
		expect(clock.at - START_MS).toBe(30_000);
	});
});

test('a run is told when its next request may leave: after those before it, and after a pause', async () => {
	const clock = sharedClock();
	const account = new AccountPace(10, clock);
	const [pace, other] = [account.ofRun(), account.ofRun()];
	const told = () => [pace.backlogMs, pace.turnInMs];
	expect(told()).toEqual([0, 0]);
	for (let request = 0; request < 8; request++) void pace.acquire();
	expect(told()).toEqual([400, 100]);
	void other.acquire();
	expect(told()).toEqual([800, 100]);
	for (let submission = 0; submission < 3; submission++) void pace.acquire(undefined, 10_000);
	expect(told()).toEqual([1_600, 600]);
	pace.holdBack(10_000);
	expect(told()).toEqual([3_200, 10_000]);
});
