import { nextLookDelayMs, type Look } from '../../core/tasks/pollSchedule';
import { DURATIONS_S, every, goalFor, measure, meets, seeded, SHAPES, simulateTask, type Shape } from '../support/simulation';

/** Seconds until the next look, without jitter. Looks are given as [seconds, progress]. */
const next = (looks: Array<[number, number?]>, at = looks.at(-1)?.[0] ?? 0, random = 0) =>
	nextLookDelayMs(looks.map(([seconds, progress]) => ({ atMs: seconds * 1000, progress })), at * 1000, { kind: 'automatic' }, () => random) / 1000;

/** The moments of the first looks at a task that reports this. */
function moments(progress: number | undefined, count: number): number[] {
	const looks: Array<[number, number?]> = [];
	for (let at = 0; looks.length < count; looks.push([at, progress])) at += next(looks, at);
	return looks.map(([at]) => Math.round(at * 10) / 10);
}

describe('the goals', () => {
	const kinds = Object.entries(SHAPES) as Array<[keyof typeof SHAPES, Record<string, Shape>]>;
	const cells = kinds.flatMap(([kind, shapes]) => Object.entries(shapes).flatMap(([name, shape]) => DURATIONS_S.map((seconds) => ({ kind, name, shape, seconds }))));

	test.each(cells)('$seconds s, $name', ({ kind, shape, seconds }) => {
		const [planned, every5, every10] = [{ kind: 'automatic' } as const, every(5), every(10)].map((plan) => measure(seconds, shape, plan, 500));
		const goal = goalFor(kind, seconds, every5, every10);
		expect({ planned, goal, met: meets(planned, goal) }).toMatchObject({ met: true });
	});

	test.each([120, 300, 900])('%i s, half of the progress in a fifth of the time', (seconds) => {
		const [planned, every5] = [{ kind: 'automatic' } as const, every(5)].map((plan) => measure(seconds, (share) => 100 * (1 - (1 - share) ** 3), plan, 500));
		const goal = goalFor('informative', seconds, every5, every5);
		expect({ planned, goal, met: meets(planned, goal) }).toMatchObject({ met: true });
	});
});

describe('nextLookDelayMs', () => {
	test('a fixed plan is fixed', () => {
		const fixed = (looks: Look[], elapsedMs: number) => nextLookDelayMs(looks, elapsedMs, { kind: 'fixed', intervalMs: 7000 }, () => 1);
		expect(fixed([{ atMs: 5000, progress: 50 }], 5000)).toBe(7000);
		expect([fixed([], 0), fixed([], 5000), fixed([], 9000)]).toEqual([7000, 2000, 0]);
	});

	test('progress that says nothing: two early looks, and whole tens of seconds from 30 s on', () => {
		expect(moments(0, 5)).toEqual([8, 9.6, 30, 40, 50].map((at) => (at < 10 ? at : expect.closeTo(at, 0))));
		expect(moments(99, 4)).toEqual(moments(0, 4));
		expect(moments(100, 4)).toEqual(moments(0, 4));
	});

	test('no progress at all: every 10 s after the early looks', () => {
		expect(moments(undefined, 5)).toEqual([8, 9.6, 20, 30, 40].map((at) => (at < 10 ? at : expect.closeTo(at, 0))));
	});

	test('a task that is taken up again late is looked at at once', () => {
		expect(next([], 3600)).toBe(0);
	});

	test('a first estimate is checked within 15 s, a confirmed one is trusted', () => {
		expect(next([[10, 10]])).toBe(15);
		expect(next([[10, 10], [25, 25]])).toBe(60);
		expect(next([[10, 21], [25, 52]])).toBeCloseTo(22.9, 0);
	});

	test('in steps, the looks share out the time that is possible', () => {
		expect(next([[8, 25]])).toBeCloseTo(16 * 1.27 - 8, 1);
		const delay = next([[8, 25], [20, 50]]);
		expect(20 + delay).toBeGreaterThan(26.7);
		expect(20 + delay).toBeLessThan(32);
	});

	test('slowing progress moves the expected end back', () => {
		// 1 - (1 - t / 100)²
		expect(next([[30, 51], [40, 64], [52, 77]])).toBeCloseTo(15, 0);
		const [late] = [next([[60, 84], [80, 96]])];
		expect(80 + late).toBeGreaterThan(90);
	});

	test('progress that slows down more and more is looked at after 15 s at most', () => {
		expect(next([[31, 51], [41, 53], [52, 54]])).toBe(15);
	});

	test('jitter only delays, by at most 1 %', () => {
		const delays = [0, 0.5, 1].map((random) => next([[30]], 30, random));
		expect(delays[0]).toBeCloseTo(10, 0);
		expect(delays[1] / delays[0]).toBeCloseTo(1.005, 6);
		expect(delays[2] / delays[0]).toBeCloseTo(1.01, 6);
	});

	describe('whatever the service reports, looks are between 0.7 s and a minute apart', () => {
		const random = seeded(7);
		const odd: Record<string, Shape> = {
			backwards: (share) => (share < 0.5 ? 120 * share : 20 + 60 * share),
			'frozen in the middle': (share) => (share < 0.2 ? 200 * share : 40),
			'frozen from the start': () => 37,
			'missing now and then': (share) => (random() < 0.4 ? undefined : 100 * share),
			'0, then 100': (share) => (share < 0.5 ? 0 : 100),
			'queued for long, then fast': (share) => (share < 0.9 ? 0 : 1000 * (share - 0.9)),
			'halfway at once': (share) => 50 + 48 * share,
			'99 after a ramp': (share) => Math.min(99, 1000 * share),
			random: () => 101 * random(),
			'above 100': (share) => 300 * share,
			fractions: (share) => share,
			none: () => undefined,
		};
		test.each(Object.entries(odd))('%s', (_, shape) => {
			for (const seconds of [1, 8, 20, 65, 300, 2000, 10_000]) {
				const { looks } = simulateTask(seconds * 1000, shape, { kind: 'automatic' }, random);
				for (let index = 1; index < looks.length; index++) {
					const gapMs = looks[index].atMs - looks[index - 1].atMs;
					expect(gapMs).toBeGreaterThanOrEqual(700);
					expect(gapMs).toBeLessThanOrEqual(60_600);
				}
			}
		});

		test('a look that is answered late, or twice in one moment', () => {
			const looks: Look[] = [{ atMs: 8000, progress: 20 }, { atMs: 8000, progress: 40 }, { atMs: 0, progress: 10 }];
			const delayMs = nextLookDelayMs(looks, 50_000, { kind: 'automatic' }, () => 0.5);
			expect(delayMs).toBeGreaterThanOrEqual(700);
			expect(delayMs).toBeLessThanOrEqual(60_600);
		});

		test('progress that rests is not looked at more and more', () => {
			const { requests } = simulateTask(600_000, odd['frozen in the middle'], { kind: 'automatic' }, random);
			expect(requests).toBeLessThan(75);
		});
	});
});
