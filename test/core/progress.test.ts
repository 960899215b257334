/** The belief about the end of a task that follows from its progress, beside services that report in these ways. */
import fc from 'fast-check';
import { afterReading, NO_READING, type ProgressBelief, type Reading, type Window } from '../../core/polling/progress';

interface Service {
	curve: 'slowing' | 'growing' | 'waiting';
	k: readonly [number, number];
	/** In percent. */
	step: number;
	toStep: (value: number) => number;
	weight: number;
}

/** The ways of reporting that are believed in, in their order, and how much each counts at first. */
const SERVICES: Service[] = [
	{ curve: 'slowing', k: [1, 1], step: 1, toStep: Math.floor, weight: 0.5 },
	{ curve: 'slowing', k: [1, 1], step: 10, toStep: Math.floor, weight: 0.15 },
	{ curve: 'slowing', k: [1, 1], step: 25, toStep: Math.floor, weight: 0.15 },
	{ curve: 'slowing', k: [1, 1], step: 1, toStep: Math.round, weight: 0.05 },
	{ curve: 'slowing', k: [1, 1], step: 10, toStep: Math.round, weight: 0.02 },
	{ curve: 'slowing', k: [1, 1.5], step: 1, toStep: Math.floor, weight: 0.005 },
	{ curve: 'slowing', k: [1.5, 2.5], step: 1, toStep: Math.floor, weight: 0.01 },
	{ curve: 'slowing', k: [2.5, 4], step: 1, toStep: Math.floor, weight: 0.01 },
	{ curve: 'growing', k: [1, 2.5], step: 1, toStep: Math.floor, weight: 0.001 },
	{ curve: 'waiting', k: [1, 1], step: 1, toStep: Math.floor, weight: 0.005 },
];
const MUTE = SERVICES.length;
const named = SERVICES.map((service, index): [string, number, Service] => [
	`${service.curve}, k from ${service.k.join(' to ')}, ${service.toStep === Math.round ? 'rounded to ' : ''}steps of ${service.step}`,
	index,
	service,
]);
const onCurve = named.filter(([, , { curve }]) => curve !== 'waiting');

/**
 * The progress that such a service reports of a task of this age that ends at this age; a task that waits has begun at
 * `startMs`.
 */
function report({ curve, step, toStep }: Service, k: number, ageMs: number, endMs: number, startMs = 0): number {
	if (ageMs <= startMs) return 0;
	const share = (ageMs - startMs) / (endMs - startMs);
	const percent = 100 * (curve === 'growing' ? share ** k : 1 - (1 - share) ** k);
	return Math.min(100, step * toStep(percent / step));
}

const read = (...readings: Reading[]) => readings.reduce<ProgressBelief>(afterReading, NO_READING);
const toleranceMs = (ageMs: number) => 100 + 0.002 * ageMs;

test('before anything was read, a task may end at any time', () => {
	expect(NO_READING).toEqual({
		windows: [...SERVICES.map(({ weight }) => weight), 0.1].map((weight) => ({ fromMs: 0, toMs: Infinity, weight })),
		originMs: 0,
	});
});

describe('a progress that begins again', () => {
	const first = { atMs: 20_000, progress: 60 };
	const since = ({ atMs, progress }: Reading) => {
		const { windows, ...rest } = read({ atMs: atMs - 20_000, progress });
		const later = windows.map(({ fromMs, toMs, weight }) => ({ fromMs: fromMs + 20_000, toMs: toMs + 20_000, weight }));
		return { ...rest, windows: later };
	};

	test.each([0, 1, 29])('what was read before %i %% is forgotten, and the rules count from there', (progress) => {
		const second = { atMs: 25_000, progress };
		const { windows, originMs, last } = read({ atMs: 5_000, progress: 20 }, first, second);
		const wider = toleranceMs(25_000) - toleranceMs(5_000);
		const expected = since(second).windows;
		expect([originMs, last]).toEqual([20_000, second]);
		for (const [index, { fromMs, toMs, weight: left }] of windows.entries()) {
			// The open window of a progress that says nothing is no age, and `waiting` counts from the last reading at 0.
			if (index === MUTE || SERVICES[index]?.curve === 'waiting') continue;
			expect(fromMs).toBeCloseTo((expected[index]?.fromMs ?? NaN) - wider, 6);
			expect(toMs).toBeCloseTo((expected[index]?.toMs ?? NaN) + wider, 6);
			expect(left).toBe(expected[index]?.weight);
		}
	});

	test.each([
		['by less than half', first, { atMs: 25_000, progress: 30 }],
		['by ten percent at most', { atMs: 20_000, progress: 11 }, { atMs: 25_000, progress: 1 }],
		['at the same moment', first, { atMs: 20_000, progress: 0 }],
	])('one that falls %s is only inexact', (_, one, other) => {
		expect(read(one, other).originMs).toBe(0);
	});

	test('one that falls by more than ten percent has begun again', () => {
		expect(read({ atMs: 20_000, progress: 11 }, { atMs: 25_000, progress: 0 }).originMs).toBe(20_000);
	});
});

describe('the end of a task lies in the window, and nothing speaks against it', () => {
	const share = fc.double({ min: 0.01, max: 0.99, noNaN: true });
	test.each(named)('the end of a task lies in the window, and nothing speaks against it: %s', (_, index, service) => {
		fc.assert(
			fc.property(
				fc.array(share, { minLength: 1, maxLength: 6 }),
				share,
				fc.double({ min: 0, max: 1, noNaN: true }),
				fc.double({ min: 5_000, max: 900_000, noNaN: true }),
				(shares, start, ofK, endMs) => {
					const k = service.k[0] + ofK * (service.k[1] - service.k[0]);
					const startMs = service.curve === 'waiting' ? start * endMs : 0;
					// One that has waited counts as begun from its first percent on.
					const isUnclear = (ageMs: number) => startMs < ageMs && ageMs < startMs + 0.01 * (endMs - startMs);
					const ages = shares
						.map((each) => each * endMs)
						.filter((ageMs) => startMs === 0 || !isUnclear(ageMs))
						.sort((one, other) => one - other);
					const window = read(...ages.map((atMs) => ({ atMs, progress: report(service, k, atMs, endMs, startMs) })))
						.windows[index];
					expect(window.fromMs).toBeLessThanOrEqual(endMs);
					expect(window.toMs).toBeGreaterThanOrEqual(endMs);
					expect(window.weight).toBe(service.weight);
				},
			),
			{ numRuns: 40, seed: 77, endOnFailure: true },
		);
	});
});

describe('the window is no wider than the readings allow', () => {
	test.each(onCurve)('the window is no wider than the readings allow: %s', (_, index, service) => {
		const ks = Array.from({ length: 21 }, (__, part) => service.k[0] + (part / 20) * (service.k[1] - service.k[0]));
		const atMs = 40_000;
		const reported = (endMs: number, progress: number) =>
			endMs > atMs && ks.some((k) => report(service, k, atMs, endMs) === progress);
		for (let progress = 0; progress < 100; progress += service.step) {
			const { fromMs, toMs } = read({ atMs, progress }).windows[index];
			const [firstMs, lastMs] = [fromMs + toleranceMs(atMs), toMs - toleranceMs(atMs)];
			expect({ progress, first: reported(firstMs + 2, progress), earlier: reported(firstMs - 2, progress) }).toEqual({
				progress,
				first: true,
				earlier: false,
			});
			const isOpen = (progress === 0 && service.curve === 'slowing') || lastMs === Infinity;
			if (isOpen) expect(reported(1e12, progress)).toBe(true);
			else
				expect({ progress, last: reported(lastMs - 2, progress), later: reported(lastMs + 2, progress) }).toEqual({
					progress,
					last: true,
					later: false,
				});
		}
	});

	test('the window does not begin before now where nothing has moved', () => {
		const { fromMs, toMs } = read({ atMs: 40_000, progress: 0 }).windows[9];
		expect([fromMs, toMs]).toEqual([40_000 - toleranceMs(40_000), Infinity]);
	});

	test.each<[string, Reading[], number, number]>([
		['nobody knows when it began', [{ atMs: 40_000, progress: 20 }], 40_000, 200_000],
		[
			'it had not begun at 30 s',
			[
				{ atMs: 30_000, progress: 0 },
				{ atMs: 40_000, progress: 20 },
			],
			40_000,
			80_000,
		],
		[
			'the speed is known',
			[
				{ atMs: 30_000, progress: 0 },
				{ atMs: 40_000, progress: 20 },
				{ atMs: 50_000, progress: 49 },
			],
			50_000 + (10_000 * 50) / 30,
			50_000 + (10_000 * 51) / 28,
		],
		[
			'it has hardly moved',
			[
				{ atMs: 1_000, progress: 1 },
				{ atMs: 2_000, progress: 2 },
			],
			2_000 + (1_000 * 97) / 2,
			100_000,
		],
		[
			'it has stopped',
			[
				{ atMs: 1_000, progress: 1 },
				{ atMs: 2_000, progress: 1 },
			],
			2_000 + 1_000 * 98,
			100_000,
		],
		[
			'it is all but done',
			[
				{ atMs: 40_000, progress: 20 },
				{ atMs: 60_000, progress: 99 },
			],
			60_000,
			60_000 + (20_000 * 1) / 78,
		],
		[
			'it says that it is done',
			[
				{ atMs: 40_000, progress: 20 },
				{ atMs: 60_000, progress: 100 },
			],
			60_000,
			60_000,
		],
	])('the window of a task that has waited is no wider than the readings allow: %s', (_, readings, firstMs, lastMs) => {
		const { fromMs, toMs } = read(...readings).windows[9];
		expect(Math.abs(fromMs - firstMs)).toBeLessThanOrEqual(toleranceMs(60_000));
		expect(Math.abs(toMs - lastMs)).toBeLessThanOrEqual(toleranceMs(60_000));
	});

	test('the last percent of a task that has waited is no speed', () => {
		const { fromMs, toMs, weight } = read({ atMs: 1_000, progress: 99 }, { atMs: 1_050, progress: 100 }).windows[9];
		expect([fromMs, toMs, weight]).toEqual([
			expect.closeTo(1_050 - toleranceMs(1_050), 6),
			expect.closeTo(1_000 / 0.99 + toleranceMs(1_000), 6),
			0.005,
		]);
	});

	test('all readings count for the window, and one that fits adds no doubt', () => {
		const readings = [
			{ atMs: 20_000, progress: 20 },
			{ atMs: 50_000, progress: 50 },
			{ atMs: 70_000, progress: 70 },
		];
		const alone = readings.map((reading) => read(reading).windows);
		for (const [index, window] of read(...readings)
			.windows.slice(0, 9)
			.entries()) {
			if (index === 2 || index > 5) continue; // they do not fit
			expect(window).toEqual({
				fromMs: Math.max(...alone.map((windows) => windows[index].fromMs)),
				toMs: Math.min(...alone.map((windows) => windows[index].toMs)),
				weight: SERVICES[index].weight,
			});
		}
	});
});

describe('doubt', () => {
	const weight = (index: number, ...readings: Reading[]) =>
		read(...readings).windows[index].weight / [...SERVICES, { weight: 0.1 }][index].weight;

	test('a reading that is no step of the service adds doubt, unless the task is all but done', () => {
		expect([30, 37, 99, 100].map((progress) => weight(1, { atMs: 5_000, progress }))).toEqual([1, 0.05, 1, 1]);
		expect([25, 30, 98, 99, 100].map((progress) => weight(2, { atMs: 5_000, progress }))).toEqual([
			1, 0.05, 0.05, 1, 1,
		]);
	});

	test('a reading that comes too late or too early adds doubt: the window begins anew from it', () => {
		const first = { atMs: 20_000, progress: 20 };
		for (const second of [
			{ atMs: 50_000, progress: 20 },
			{ atMs: 50_000, progress: 90 },
		]) {
			const alone: Window = read(second).windows[0];
			expect(read(first, second).windows[0]).toEqual({ ...alone, weight: expect.closeTo(0.5 * 0.05, 12) });
		}
		expect(weight(1, first, { atMs: 50_000, progress: 93 })).toBeCloseTo(0.05 * 0.05, 12);
	});

	test('windows that only touch do not fit together', () => {
		const first = read({ atMs: 20_000, progress: 20 });
		const { fromMs, toMs } = first.windows[0];
		const second = { atMs: 20_000, progress: 20 };
		const allowed = read(second).windows[0];
		const touching = (window: Window): ProgressBelief => ({ ...first, windows: [window, ...first.windows.slice(1)] });
		expect(
			afterReading(touching({ fromMs: allowed.toMs, toMs: allowed.toMs + 5, weight: 1 }), second).windows[0],
		).toEqual({ fromMs, toMs, weight: 0.05 });
		expect(afterReading(touching({ fromMs: 5, toMs: allowed.fromMs, weight: 1 }), second).windows[0]).toEqual({
			fromMs,
			toMs,
			weight: 0.05,
		});
		expect(afterReading(touching({ fromMs: 5, toMs: allowed.fromMs + 1, weight: 1 }), second).windows[0]).toEqual({
			fromMs,
			toMs: fromMs + 1,
			weight: 1,
		});
	});

	test.each<[string, number[], number]>([
		['that is 0', [0, 0, 0], 1],
		['that rests', [37, 37], 0.02],
		['that moves', [10, 20], 0.02 * 0.02],
		['that goes back', [20, 10], 0.02 * 0.02],
		['that goes back to 0, where it has begun again', [20, 0], 1],
		['that goes back to 1, where it has begun again', [20, 1], 0.02],
		['that jumps to 99', [0, 99], 0.05],
		['that begins with 99', [99], 0.05],
		['that begins with 100', [100, 100], 0.05],
		['that jumps to 98', [0, 98], 0.02],
		['that comes to 99', [50, 99], 0.02 * 0.02],
	])('there is doubt that a progress %s says nothing', (_, progress, left) => {
		expect(
			weight(MUTE, ...progress.map((percent, index) => ({ atMs: 1_000 * (index + 1), progress: percent }))),
		).toBeCloseTo(left, 12);
	});

	test('the window of a progress that says nothing stays open', () => {
		expect(read({ atMs: 5_000, progress: 40 }).windows[MUTE]).toMatchObject({ fromMs: 0, toMs: Infinity });
	});
});

test.each([
	[140, 100],
	[-5, 0],
	[37.9, 37],
])('a progress of %d is one of %d', (progress, meant) => {
	expect(read({ atMs: 5_000, progress })).toEqual(read({ atMs: 5_000, progress: meant }));
});

test('of all readings of a progress, the last one, the last at 0 and the first above are remembered', () => {
	const belief = read(
		{ atMs: 1_000, progress: 0 },
		{ atMs: 2_000, progress: 0 },
		{ atMs: 3_000, progress: 7 },
		{ atMs: 4_000, progress: 12 },
	);
	expect(belief).toMatchObject({
		last: { atMs: 4_000, progress: 12 },
		lastAtZeroMs: 2_000,
		firstMoved: { atMs: 3_000, progress: 7 },
	});
	expect(read({ atMs: 1_000, progress: 0 }).firstMoved).toBeUndefined();
});
