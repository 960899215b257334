import { MIN_SLEEP_MS, SleepCoordinator } from '../../core/engine/sleepCoordinator';
import type { OrderWait } from '../../core/orders/order';
import { gatewayError } from '../../core/errors';
import { makeWorld, planned } from './journalWorld';
import { sharedClock } from './support';

const simulatedClock = () => sharedClock(() => 0.25, 0);

/** An order that was accepted at this time, and is polled from the first moment on. */
const order = ({ acceptedAtMs = 0, ...more }: Partial<OrderWait> & { acceptedAtMs?: number } = {}) => {
	const wait: OrderWait = { plan: { kind: 'automatic' }, startedAtMs: 0, timeoutMs: 1e9, ...more };
	return { acceptedAtMs, wait };
};

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

describe('an order that waits for another one, for a place or for the purchase under its key', () => {
	/** Two orders: one that is polled at this time, and one that waits for others from the beginning. */
	const begin = (pollAtMs: number, clock = simulatedClock()) => {
		const coordinator = new SleepCoordinator(clock, 2);
		const waiter = {};
		coordinator.began();
		coordinator.began();
		void coordinator
			.clockOf(order({ plan: { kind: 'fixed', intervalMs: 10_000 } }))
			.sleep(pollAtMs, coordinator.signal);
		const goesOn = coordinator.waitsForOther(waiter);
		return { clock, coordinator, waiter, goesOn };
	};

	test.each([
		['for as short a time as is possible, to ask again', 300_000, 5_000 + MIN_SLEEP_MS],
		['until a poll that comes before', MIN_SLEEP_MS + 5_000, MIN_SLEEP_MS + 5_000],
		['not at all before a poll that is near', MIN_SLEEP_MS, undefined],
	])('keeps the execution awake for five seconds, which sleeps then: %s', async (_, pollAtMs, untilMs) => {
		const { clock, coordinator } = begin(pollAtMs);
		await clock.runUntil(4_999);
		expect(coordinator.signal.aborted).toBe(false);
		await clock.runUntil(5_000);
		expect(coordinator.until).toBe(untilMs);
	});

	test('keeps it awake no longer where a timer ends a little early', async () => {
		const clock = simulatedClock();
		const early = { ...clock, sleep: async (ms: number, signal?: AbortSignal) => await clock.sleep(ms - 0.5, signal) };
		const { coordinator } = begin(300_000, early);
		await clock.runUntil(5_000);
		expect(coordinator.signal.aborted).toBe(true);
	});

	test('is patient once in an awakening, however often it waits', async () => {
		const { clock, coordinator, waiter, goesOn } = begin(300_000);
		void clock.sleep(3_000).then(() => {
			goesOn();
			coordinator.waitsForOther(waiter);
		});
		await clock.runUntil(5_000);
		expect(coordinator.until).toBe(5_000 + MIN_SLEEP_MS);
	});

	test('does not keep others from sleeping, nor does the execution sleep, once it works again', async () => {
		const { clock, coordinator, goesOn } = begin(300_000);
		goesOn();
		await clock.runUntil(200_000);
		expect(coordinator.until).toBeUndefined();
		coordinator.finished();
		expect(coordinator.until).toBe(300_000);
	});
});

test('orders whose rows wait because the account is full let the execution sleep, and one of them asks at each awakening', async () => {
	const world = makeWorld();
	const poller = world.start();
	let asked = 0;
	const how = async () => {
		asked++;
		return await Promise.reject<string>(gatewayError('rateLimited', {}, { httpStatus: 429, again: {} }));
	};
	const orders = Array.from({ length: 5 }, (_, item) => planned(item));
	const askedIn: number[] = [];
	for (let awakening = 0; awakening < 4; awakening++) {
		const sleep = new SleepCoordinator(world.clock, orders.length);
		const beganMs = world.clock.at;
		const ends = orders.map(async (each) => {
			sleep.began();
			return await poller.buy(each, { how, sleep, timeoutMs: 24 * 3_600_000 }).catch((error: Error) => error.message);
		});
		expect(new Set(await world.run(Promise.all(ends)))).toEqual(new Set(['The execution was stopped']));
		expect(world.clock.at - beganMs).toBeLessThan(10_000);
		await world.run(world.clock.sleep(MIN_SLEEP_MS));
		askedIn.push(asked);
		asked = 0;
	}
	// Those that leave together before the first answer, and one more after a second, and after three.
	expect(askedIn).toEqual([7, 1, 1, 1]);
});
