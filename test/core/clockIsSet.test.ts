/** The clock of the computer is set while something waits: nothing waits longer for it, and nothing ends sooner. */
import fc from 'fast-check';
import { readPropertySettings } from '../support/propertySettings.mts';
import { steady, type Clock } from '../../core/clock';
import { AccountPace } from '../../core/account/pace';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { GatewayError } from '../../core/errors';
import { waitForTask, type Waited } from '../../core/polling/waitForTask';
import { realClock } from '../../nodes/connection/transport';
import { sharedClock } from './support';

/** Time passes as ever, and `set` moves what the clock of the computer shows. */
function settableClock() {
	const time = sharedClock();
	let offMs = 0;
	const wall: Clock = { now: () => time.at + offMs, elapsed: () => time.at, random: time.random, sleep: time.sleep };
	return { time, wall, set: (byMs: number) => (offMs += byMs) };
}

const { seed, runs = 8, path } = readPropertySettings('clock is set');
const HOUR_MS = 3_600_000;
const jumps = fc.integer({ min: -1_000 * HOUR_MS, max: 1_000 * HOUR_MS });

test('when the clock is set, the pace lets requests through as if nothing had happened', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(jumps, { maxLength: 5 }), async (byMs) => {
			const { time, wall, set } = settableClock();
			const pace = new AccountPace(10, wall).ofRun();
			const times: number[] = [];
			const setting = byMs.map(async (by, index) => await time.sleep(300 * index + 7).then(() => set(by)));
			const requests = Array.from({ length: 40 }, async () => await pace.acquire().then(() => times.push(time.at)));
			await time.run(Promise.all([...setting, ...requests]));
			expect(time.at - 1_000_000).toBeLessThan(4_200);
			for (const from of times)
				expect(times.filter((at) => at >= from && at < from + 1000).length).toBeLessThanOrEqual(10);
		}),
		{ seed, path, numRuns: runs },
	);
});

test.each([
	['automatic', { kind: 'automatic' } as const],
	['fixed', { kind: 'fixed', intervalMs: 10_000 } as const],
])('when the clock is set, a task is seen as soon, and its time is over as late: %s', async (_, plan) => {
	const outcome = async (byMs: number, endsAfterMs: number) => {
		const { time, wall, set } = settableClock();
		const table = new SurvivalTable();
		const startedAtMs = wall.now();
		const waiting = waitForTask(
			{
				thing: 'task' as const,
				task: { taskId: 't', status: 'queued', elapsedMs: 0 },
				fetch: async () =>
					await Promise.resolve(time.at - 1_000_000 >= endsAfterMs ? ('done' as const) : ('pending' as const)),
				statusOf: (state) => ({ state, status: state }),
				toFailure: () => {
					throw new Error('It does not fail');
				},
			},
			{
				survivalTable: () => table,
				backlogMs: () => 0,
				clock: wall,
				plan,
				startedAtMs,
				acceptedAtMs: startedAtMs,
				timeoutMs: 120_000,
			},
		);
		void time.sleep(5_000).then(() => set(byMs));
		const outcome = await time.run(waiting.catch((error: unknown) => error));
		const waitedMs = outcome instanceof GatewayError ? outcome.task?.elapsedMs : (outcome as Waited<string>).waitedMs;
		return { timedOut: outcome instanceof GatewayError, waitedMs, tookMs: time.at - 1_000_000 };
	};
	for (const endsAfterMs of [33_000, Infinity]) {
		const undisturbed = await outcome(0, endsAfterMs);
		await fc.assert(
			fc.asyncProperty(jumps, async (byMs) => expect(await outcome(byMs, endsAfterMs)).toEqual(undisturbed)),
			{ seed, path, numRuns: runs },
		);
	}
});

describe('real time', () => {
	afterEach(() => jest.restoreAllMocks());

	test.each([2 ** 31, 1e12, Infinity])(
		'a sleep of %d ms does not end at once, and ends when it is to end',
		async (delayMs) => {
			const stop = new AbortController();
			let ended = false;
			const sleeping = realClock.sleep(delayMs, stop.signal).then(() => (ended = true));
			await realClock.sleep(60);
			expect(ended).toBe(false);
			stop.abort();
			await sleeping;
		},
	);

	test('a sleep does not ask the clock of the computer', async () => {
		const startedAtMs = performance.now();
		jest.spyOn(Date, 'now').mockReturnValueOnce(5).mockReturnValue(-1e12);
		await realClock.sleep(50);
		const clock = steady(realClock);
		const before = clock.now();
		await realClock.sleep(20);
		expect(clock.now() - before).toBeGreaterThanOrEqual(18);
		expect(performance.now() - startedAtMs).toBeLessThan(2_000);
	});
});
