import { SharedNap, SHORTEST_SLEEP_MS, type Span } from '../../core/tasks/sharedNap';
import type { Clock } from '../../core/clock';
import { settle } from './support';

/** Time that passes as soon as nobody has anything else to do. */
function simulatedClock() {
	let nowMs = 0;
	const sleepers = new Set<{ atMs: number; wake: () => void }>();
	const clock: Clock = {
		now: () => nowMs,
		random: () => 0,
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
	['a very old one within half an hour', 1e9 / 2, {}, 1_800_000],
	['none later than its timeout', 2_000_000, { deadlineMs: 2_080_000 }, 80_000],
	['an interval that the user has set is kept', 2_000_000, { isFixed: true }, 10_000],
])('long waits sleep longer: %s', async (_, nowMs, more, expectedMs) => {
	const { clock, run } = simulatedClock();
	await Promise.all([run(nowMs), clock.sleep(nowMs)]);
	const mine = span(more);
	void new SharedNap(clock, 2, Infinity).clockOf(mine).sleep(10_000);
	await run(nowMs);
	expect((mine.dueAtMs ?? 0) - nowMs).toBe(expectedMs);
});
