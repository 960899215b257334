import { MIN_SLEEP_MS, SleepCoordinator } from '../../core/orders/sleepCoordinator';
import type { OrderWait } from '../../core/orders/order';
import { flushPromises, sharedClock } from './support';

const simulatedClock = () => sharedClock(() => 0.25, 0);

/** An order that was accepted at this time, and is polled from the first moment on. */
const order = ({ acceptedAtMs = 0, ...more }: Partial<OrderWait> & { acceptedAtMs?: number } = {}) => {
	const wait: OrderWait = { plan: { kind: 'automatic' }, startedAtMs: 0, timeoutMs: 1e9, onTimeout: 'error', ...more };
	return { acceptedAtMs, wait };
};

test('what is near is waited for in memory; a sleep begins when the last task has nothing near', async () => {
	const clock = simulatedClock();
	const coordinator = new SleepCoordinator(clock, 2);
	const [a, b] = [coordinator.clockOf(order()), coordinator.clockOf(order())];
	void a.sleep(100_000, coordinator.signal);
	await clock.runUntil(0);
	expect(coordinator.until).toBeUndefined(); // b is being polled
	void b.sleep(30_000, coordinator.signal).then(async () => await b.sleep(90_000, coordinator.signal));
	await clock.runUntil(29_000);
	expect(coordinator.until).toBeUndefined();
	await clock.runUntil(30_000);
	expect(coordinator.until).toBe(100_000);
});

test('a sleep is never shorter than n8n can wake up from', async () => {
	const clock = simulatedClock();
	const coordinator = new SleepCoordinator(clock, 1);
	const mine = order();
	const own = coordinator.clockOf(mine);
	const first = own.sleep(MIN_SLEEP_MS - 1, coordinator.signal);
	await clock.runUntil(MIN_SLEEP_MS - 1);
	await first;
	expect(coordinator.until).toBeUndefined();
	void own.sleep(MIN_SLEEP_MS, coordinator.signal);
	await clock.runUntil(MIN_SLEEP_MS);
	expect(coordinator.until).toBe(2 * MIN_SLEEP_MS - 1);
	expect(mine.wait.dueAtMs).toBe(2 * MIN_SLEEP_MS - 1);
});

test('a poll that a sleep has put off comes first, and only once', async () => {
	const clock = simulatedClock();
	const mine = order({ dueAtMs: -5_000 });
	const own = new SleepCoordinator(clock, 1).clockOf(mine);
	await Promise.all([clock.runUntil(0), own.sleep(10_000)]);
	expect(clock.now()).toBe(0);
	await Promise.all([clock.runUntil(10_000), own.sleep(10_000)]);
	expect(clock.now()).toBe(10_000);
});

test('a task that has ended keeps nobody awake', async () => {
	const clock = simulatedClock();
	const coordinator = new SleepCoordinator(clock, 2);
	void coordinator.clockOf(order()).sleep(70_000, coordinator.signal);
	await clock.runUntil(0);
	expect(coordinator.until).toBeUndefined();
	coordinator.finished();
	expect(coordinator.until).toBe(70_000);
});

test('an order that delivers keeps the execution awake, although another one has its place', async () => {
	const clock = simulatedClock();
	const coordinator = new SleepCoordinator(clock, 3, 1);
	coordinator.began();
	coordinator.began();
	void coordinator.clockOf(order()).sleep(100_000, coordinator.signal);
	await clock.runUntil(0);
	expect(coordinator.until).toBeUndefined();
	coordinator.finished();
	expect(coordinator.until).toBe(100_000);
});

test.each([
	['a young one as planned', 600_000, {}, 10_000],
	['an old one within 5 % of its age', 2_000_000, {}, 100_000],
	['as soon as that is worth a sleep', 1_320_000, {}, 66_000],
	['not before', 1_319_999, {}, 10_000],
	['its age is that of the wait', 2_100_000, { acceptedAtMs: 100_000 }, 100_000],
	['a very old one within half an hour', 1e9 / 2, {}, 1_800_000],
	['none later than its timeout', 2_000_000, { timeoutMs: 2_080_000 }, 80_000],
	['one whose timeout is over as planned', 2_000_000, { timeoutMs: 1_000 }, 10_000],
	[
		'an interval that the user has set is kept',
		2_000_000,
		{ plan: { kind: 'fixed' as const, intervalMs: 10_000 } },
		10_000,
	],
])('long waits sleep longer: %s', async (_, nowMs, more, expectedMs) => {
	const clock = simulatedClock();
	await Promise.all([clock.runUntil(nowMs), clock.sleep(nowMs)]);
	const mine = order(more);
	void new SleepCoordinator(clock, 2).clockOf(mine).sleep(10_000);
	await clock.runUntil(nowMs);
	expect((mine.wait.dueAtMs ?? 0) - nowMs).toBe(expectedMs);
});

test.each([
	['as long as n8n needs to wake up', 66_000, 66_000],
	['less than that', 65_999, undefined],
	['longer than that', 90_000, 90_000],
])('a single task sleeps only if that is long enough for n8n: %s', async (_, delayMs, expectedMs) => {
	const clock = simulatedClock();
	const coordinator = new SleepCoordinator(clock, 1);
	void coordinator.clockOf(order()).sleep(delayMs, coordinator.signal);
	await clock.runUntil(0);
	expect([coordinator.until, coordinator.signal.aborted]).toEqual([expectedMs, expectedMs !== undefined]);
});

test('what is due now is polled now: nothing sleeps, however old the task is', async () => {
	const clock = simulatedClock();
	await Promise.all([clock.runUntil(2_000_000), clock.sleep(2_000_000)]);
	const coordinator = new SleepCoordinator(clock, 1);
	for (const delayMs of [0, -5_000]) {
		await Promise.all([clock.runUntil(2_000_000), coordinator.clockOf(order()).sleep(delayMs, coordinator.signal)]);
		expect([clock.now(), coordinator.until]).toEqual([2_000_000, undefined]);
	}
	void coordinator.clockOf(order()).sleep(MIN_SLEEP_MS, coordinator.signal);
	expect(coordinator.until).toBeGreaterThan(2_000_000);
});

test('a plan of polls that is longer than the patience is kept', async () => {
	const clock = simulatedClock();
	await Promise.all([clock.runUntil(2_000_000), clock.sleep(2_000_000)]);
	const mine = order();
	void new SleepCoordinator(clock, 2).clockOf(mine).sleep(200_000);
	expect(mine.wait.dueAtMs).toBe(2_200_000);
});

test('when all lie down, it stays at that: whoever ends later changes nothing', async () => {
	const clock = simulatedClock();
	const coordinator = new SleepCoordinator(clock, 2);
	for (const delayMs of [100_000, 200_000]) void coordinator.clockOf(order()).sleep(delayMs);
	expect(coordinator.until).toBe(100_000);
	await Promise.all([clock.runUntil(50_000), clock.sleep(50_000)]);
	coordinator.finished();
	expect(coordinator.until).toBe(100_000);
});

test('when all have ended, nobody is left to lie down', () => {
	const coordinator = new SleepCoordinator(simulatedClock(), 1);
	coordinator.finished();
	expect([coordinator.until, coordinator.signal.aborted]).toEqual([undefined, false]);
});

test('who wants to see each second whether to sleep on is awake in between, and keeps what is due', async () => {
	const clock = simulatedClock();
	const coordinator = new SleepCoordinator(clock, 2);
	const [mine, other] = [order(), order()];
	const own = coordinator.clockOf(mine);
	await Promise.all([clock.runUntil(1_000), own.sleep(100_000, coordinator.signal, 1_000)]);
	expect([clock.now(), mine.wait.dueAtMs]).toEqual([1_000, 100_000]);
	void coordinator.clockOf(other).sleep(100_000, coordinator.signal);
	expect(coordinator.until).toBeUndefined();
	// A later plan does not put off what is due; an earlier one brings it forward.
	void own.sleep(150_000, undefined, 0);
	expect(mine.wait.dueAtMs).toBe(100_000);
	void own.sleep(70_000, undefined, 0);
	expect(mine.wait.dueAtMs).toBe(71_000);
});

test('a poll that a stop has met at its moment is still due', async () => {
	const stop = new AbortController();
	const clock = simulatedClock();
	let nowMs = 0;
	const mine = order();
	const sleep = async () => {
		nowMs = 10_000;
		stop.abort();
	};
	await new SleepCoordinator({ ...clock, now: () => nowMs, sleep }, 2).clockOf(mine).sleep(10_000, stop.signal);
	expect(mine.wait.dueAtMs).toBe(10_000);
});

test('the clock of an order is otherwise that of the process', () => {
	const clock = simulatedClock();
	const own = new SleepCoordinator(clock, 1).clockOf(order());
	expect([own.now(), own.random()]).toEqual([0, 0.25]);
});

test('more tasks than a function takes as arguments lie down, too', async () => {
	const count = 200_000;
	const coordinator = new SleepCoordinator({ now: () => 0, random: () => 0.25, sleep: async () => {} }, count);
	for (let index = 0; index < count; index++)
		void coordinator.clockOf(order()).sleep(100_000 + index, coordinator.signal);
	expect(coordinator.until).toBe(100_000);
	await flushPromises();
});

test('an order that waits for nothing is timed by the clock of all', () => {
	const { now } = new SleepCoordinator(sharedClock(), 1).clockOf({ acceptedAtMs: 1 });
	expect(now()).toBeGreaterThan(0);
});

test('an order without a slot keeps nobody awake; who could make room is asked only where somebody is to sleep', async () => {
	const clock = simulatedClock();
	const coordinator = new SleepCoordinator(clock, 2);
	const isAlone = jest.fn(() => true);
	const ends = coordinator.waitsForSlot(isAlone, 90_000);
	expect(isAlone).not.toHaveBeenCalled();
	void coordinator.clockOf(order()).sleep(100_000, coordinator.signal);
	await clock.runUntil(0);
	expect(coordinator.until).toBe(90_000);
	ends();
});

test.each([8 * 3_600_000, -3_600_000])(
	'ages and timeouts are those of the order, also where the clock of the computer was set (by %d ms)',
	(byMs) => {
		const time = simulatedClock();
		let offMs = 1e9;
		const { random, sleep } = time;
		const wall = { now: () => time.at + offMs, elapsed: () => time.at, random, sleep };
		const coordinator = new SleepCoordinator(wall, 2);
		offMs += byMs;
		const sleepsMs = (acceptedAgoMs: number | undefined, startedAgoMs: number, timeoutMs = 1e9) => {
			const { wait } = order({ startedAtMs: wall.now() - startedAgoMs, timeoutMs });
			const acceptedAtMs = acceptedAgoMs === undefined ? undefined : wall.now() - acceptedAgoMs;
			const own = coordinator.clockOf({ acceptedAtMs, wait });
			void own.sleep(10_000);
			return (wait.dueAtMs ?? 0) - own.now();
		};
		// 5 % of the age
		expect(sleepsMs(2_000_000, 10_000)).toBe(100_000);
		expect(sleepsMs(undefined, 2_000_000)).toBe(100_000);
		expect(sleepsMs(2_000_000, 10_000, 90_000)).toBe(80_000);
	},
);
