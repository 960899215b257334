import { SharedNap, SHORTEST_SLEEP_MS, type Span } from '../../core/tasks/sharedNap';
import type { Clock } from '../../core/clock';
import { settle } from './support';

/** Time that passes as soon as nobody has anything else to do. */
function simulatedClock() {
	let nowMs = 0;
	const sleepers = new Set<{ atMs: number; wake: () => void }>();
	const clock: Clock = {
		now: () => nowMs,
		random: () => 0.25,
		sleep: async (delayMs, signal) =>
			await new Promise<void>((resolve) => {
				const sleeper = { atMs: nowMs + delayMs, wake: resolve };
				sleepers.add(sleeper);
				signal?.addEventListener('abort', () => sleepers.delete(sleeper) && resolve());
				if (signal?.aborted) resolve();
			}),
	};
	const run = async (untilMs: number) => {
		for (;;) {
			await settle();
			const next = [...sleepers].sort((a, b) => a.atMs - b.atMs)[0];
			if (next === undefined || next.atMs > untilMs) return;
			nowMs = next.atMs;
			sleepers.delete(next);
			next.wake();
		}
	};
	return { clock, run };
}

const span = (more: Partial<Span> = {}): Span => ({ startedAtMs: 0, deadlineMs: 1e9, isFixed: false, ...more });

test('what is near is waited for in memory; a nap begins when the last task has nothing near', async () => {
	const { clock, run } = simulatedClock();
	const nap = new SharedNap(clock, 2, Infinity);
	const [a, b] = [nap.clockOf(span()), nap.clockOf(span())];
	void a.sleep(100_000, nap.signal);
	await run(0);
	expect(nap.until).toBeUndefined(); // b is being checked
	void b.sleep(30_000, nap.signal).then(async () => await b.sleep(90_000, nap.signal));
	await run(29_000);
	expect(nap.until).toBeUndefined();
	await run(30_000);
	expect(nap.until).toBe(100_000);
});

test('it is never shorter than n8n can wake up from, and begins early where memory ends soon', async () => {
	const { clock, run } = simulatedClock();
	const nap = new SharedNap(clock, 1, 60_000);
	const mine = span();
	const own = nap.clockOf(mine);
	const first = own.sleep(59_000, nap.signal);
	await run(59_000);
	await first;
	expect(nap.until).toBeUndefined();
	void own.sleep(10_000, nap.signal);
	await run(59_000);
	expect(nap.until).toBe(59_000 + SHORTEST_SLEEP_MS);
	expect(mine.dueAtMs).toBe(69_000);
});

test('a check that a nap has put off comes first, and only once', async () => {
	const { clock, run } = simulatedClock();
	const mine = span({ dueAtMs: -5_000 });
	const own = new SharedNap(clock, 1, Infinity).clockOf(mine);
	await Promise.all([run(0), own.sleep(10_000)]);
	expect(clock.now()).toBe(0);
	await Promise.all([run(10_000), own.sleep(10_000)]);
	expect(clock.now()).toBe(10_000);
});

test('a task that has ended keeps nobody awake', async () => {
	const { clock, run } = simulatedClock();
	const nap = new SharedNap(clock, 2, Infinity);
	void nap.clockOf(span()).sleep(70_000, nap.signal);
	await run(0);
	expect(nap.until).toBeUndefined();
	nap.finished();
	expect(nap.until).toBe(70_000);
});

test.each([
	['a young one as planned', 600_000, {}, 10_000],
	['an old one within 5 % of its age', 2_000_000, {}, 100_000],
	['as soon as that is worth a sleep', 1_320_000, {}, 66_000],
	['not before', 1_319_999, {}, 10_000],
	['its age is that of the wait', 2_100_000, { startedAtMs: 100_000 }, 100_000],
	['a very old one within half an hour', 1e9 / 2, {}, 1_800_000],
	['none later than its timeout', 2_000_000, { deadlineMs: 2_080_000 }, 80_000],
	['one whose timeout is over as planned', 2_000_000, { deadlineMs: 1_000 }, 10_000],
	['an interval that the user has set is kept', 2_000_000, { isFixed: true }, 10_000],
])('long waits sleep longer: %s', async (_, nowMs, more, expectedMs) => {
	const { clock, run } = simulatedClock();
	await Promise.all([run(nowMs), clock.sleep(nowMs)]);
	const mine = span(more);
	void new SharedNap(clock, 2, Infinity).clockOf(mine).sleep(10_000);
	await run(nowMs);
	expect((mine.dueAtMs ?? 0) - nowMs).toBe(expectedMs);
});

test.each([
	['as long as n8n needs to wake up', 66_000, Infinity, 66_000],
	['less than that', 65_999, Infinity, undefined],
	['less, but memory ends with the check', 10_000, 10_000, 66_000],
	['less, and memory ends behind the check', 10_000, 10_001, undefined],
	['longer than that', 90_000, 80_000, 90_000],
])('a single task that sleeps %s', async (_, delayMs, untilMs, expectedMs) => {
	const { clock, run } = simulatedClock();
	const nap = new SharedNap(clock, 1, untilMs);
	void nap.clockOf(span()).sleep(delayMs, nap.signal);
	await run(0);
	expect([nap.until, nap.signal.aborted]).toEqual([expectedMs, expectedMs !== undefined]);
});

test('what is due now is checked now: nobody lies down, however old the task is and wherever memory ends', async () => {
	const { clock, run } = simulatedClock();
	await Promise.all([run(2_000_000), clock.sleep(2_000_000)]);
	const nap = new SharedNap(clock, 1, 0);
	for (const delayMs of [0, -5_000]) {
		await Promise.all([run(2_000_000), nap.clockOf(span()).sleep(delayMs, nap.signal)]);
		expect([clock.now(), nap.until]).toEqual([2_000_000, undefined]);
	}
	void nap.clockOf(span()).sleep(1, nap.signal);
	expect(nap.until).toBeGreaterThan(2_000_000);
});

test('a long plan is longer than the patience', async () => {
	const { clock, run } = simulatedClock();
	await Promise.all([run(2_000_000), clock.sleep(2_000_000)]);
	const mine = span();
	void new SharedNap(clock, 2, Infinity).clockOf(mine).sleep(200_000);
	expect(mine.dueAtMs).toBe(2_200_000);
});

test('when all lie down, it stays at that: whoever ends later changes nothing', async () => {
	const { clock, run } = simulatedClock();
	const nap = new SharedNap(clock, 2, Infinity);
	for (const delayMs of [100_000, 200_000]) void nap.clockOf(span()).sleep(delayMs);
	expect(nap.until).toBe(100_000);
	await Promise.all([run(50_000), clock.sleep(50_000)]);
	nap.finished();
	expect(nap.until).toBe(100_000);
});

test('when all have ended, nobody is left to lie down', () => {
	const nap = new SharedNap(simulatedClock().clock, 1, Infinity);
	nap.finished();
	expect([nap.until, nap.signal.aborted]).toEqual([undefined, false]);
});

test('who wants to see each second whether to sleep on is awake in between, and keeps what is due', async () => {
	const { clock, run } = simulatedClock();
	const nap = new SharedNap(clock, 2, Infinity);
	const [mine, other] = [span(), span()];
	const own = nap.clockOf(mine);
	await Promise.all([run(1_000), own.sleep(100_000, nap.signal, 1_000)]);
	expect([clock.now(), mine.dueAtMs]).toEqual([1_000, 100_000]);
	void nap.clockOf(other).sleep(100_000, nap.signal);
	expect(nap.until).toBeUndefined();
	// A later plan does not put off what is due; an earlier one brings it forward.
	void own.sleep(150_000, undefined, 0);
	expect(mine.dueAtMs).toBe(100_000);
	void own.sleep(70_000, undefined, 0);
	expect(mine.dueAtMs).toBe(71_000);
});

test('a check that a stop has met at its moment is still due', async () => {
	const stop = new AbortController();
	const { clock } = simulatedClock();
	let nowMs = 0;
	const mine = span();
	const sleep = async () => {
		nowMs = 10_000;
		stop.abort();
	};
	await new SharedNap({ ...clock, now: () => nowMs, sleep }, 2, Infinity).clockOf(mine).sleep(10_000, stop.signal);
	expect(mine.dueAtMs).toBe(10_000);
});

test('its clock is otherwise that of the process', () => {
	const { clock } = simulatedClock();
	const own = new SharedNap(clock, 1, Infinity).clockOf(span());
	expect([own.now(), own.random()]).toEqual([0, 0.25]);
});

test('more tasks than a function takes as arguments lie down, too', async () => {
	const count = 200_000;
	const nap = new SharedNap({ now: () => 0, random: () => 0.25, sleep: async () => {} }, count, Infinity);
	for (let index = 0; index < count; index++) void nap.clockOf(span()).sleep(100_000 + index, nap.signal);
	expect(nap.until).toBe(100_000);
	await settle();
});
