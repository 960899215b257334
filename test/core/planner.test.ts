/** The time of the next poll, at its bounds: how well tasks are polled in between is shown by polling.test.ts. */
import { BINS, SurvivalTable } from '../../core/polling/survivalTable';
import {
	afterPoll,
	keepPoll,
	MAX_POLLS,
	nextPollAtMs,
	NOT_POLLED,
	PollSchedule,
	type Poll,
	type PollState,
} from '../../core/polling/planner';

test.each([
	['a young one: a minute at most', 10_000, 60_000],
	['an older one: as long as it has taken', 200_000, 200_000],
	['a very old one: ten minutes at most', 2_000_000, 600_000],
])('of a task whose end nobody can guess, %s', (_, ageMs, gapMs) => {
	// A day is over: beyond that, nothing is believed.
	const window = { fromMs: 1e9, toMs: 2e9, weight: 1 };
	const state: PollState = { ...afterPoll(NOT_POLLED, { atMs: ageMs }), belief: { windows: [window], originMs: 0 } };
	expect(nextPollAtMs(state, new SurvivalTable(), 1, 0)).toBe(ageMs + gapMs);
});

test('a task that ends at an age of which nothing is believed teaches nothing', () => {
	const table = new SurvivalTable();
	const before = nextPollAtMs(NOT_POLLED, table, 1, 0);
	table.learn(100_000_000, 101_000_000);
	expect([nextPollAtMs(NOT_POLLED, table, 1, 0), table.learned]).toEqual([before, 0]);
});

describe('a poll', () => {
	test('a progress that begins again counts from there: another attempt has begun at the service', () => {
		const until = (...polls: Poll[]) => polls.reduce(afterPoll, NOT_POLLED).belief.originMs;
		const [early, late] = [
			{ atMs: 5_000, progress: 20 },
			{ atMs: 20_000, progress: 60 },
		];
		expect(until(early, late, { atMs: 25_000, progress: 29 })).toBe(20_000);
		expect(until(early, late, { atMs: 25_000, progress: 30 })).toBe(0); // by half, and no more: only inexact
		expect(until({ atMs: 20_000, progress: 11 }, { atMs: 25_000, progress: 1 })).toBe(0);
	});

	test('of many polls so many are kept, with those that show that the progress has begun again', () => {
		const polls: Poll[] = [];
		for (const [index, progress] of [20, 40, 60, 5, ...Array.from({ length: 30 }, (_, poll) => 6 + poll)].entries())
			keepPoll(polls, { atMs: 1_000 * (index + 1), progress });
		expect(polls).toHaveLength(MAX_POLLS);
		expect(polls.at(-1)).toEqual({ atMs: 34_000, progress: 35 });
		expect(polls.reduce(afterPoll, NOT_POLLED).belief.originMs).toBe(3_000);
	});

	test('polls that fail are followed by one after half a second, and then twice as long each time, up to 4 s or a tenth of the age or a minute', () => {
		const gapsMs = (atMs: number) => {
			let state: PollState = NOT_POLLED;
			return Array.from({ length: 9 }, () => {
				state = afterPoll(state, { atMs, failed: true });
				const gapMs = nextPollAtMs(state, new SurvivalTable(), 1, 0) - atMs;
				atMs += gapMs;
				return gapMs;
			});
		};
		expect(gapsMs(1_000)).toEqual([500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000]);
		expect(gapsMs(100_000)).toEqual(
			[500, 1_000, 2_000, 4_000, 8_000, 11_550, 12_705, 13_975.5, 15_373.05].map((gapMs) => expect.closeTo(gapMs, 3)),
		);
		expect(gapsMs(3_000_000)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
	});
});

describe('a schedule', () => {
	const schedule = (
		plan: ConstructorParameters<typeof PollSchedule>[0],
		{ table = new SurvivalTable(), ageAtStartMs = 0, polls = [] as Poll[] },
	) => new PollSchedule(plan, { table, random: () => 0.5, ageAtStartMs, polls });
	/** With nothing learned, the first poll of a task comes after about this time. */
	const firstPollMs = nextPollAtMs(NOT_POLLED, new SurvivalTable(), 1, 0);

	test.each([
		['at first', undefined, 10_000],
		['behind a poll', 10_000, 20_000],
		['behind one that a timer has made a little early', 19_950, 30_000],
	])('a schedule with an interval is its next multiple: %s', (_, atMs, nextMs) => {
		const fixed = schedule({ kind: 'fixed', intervalMs: 10_000 }, { polls: atMs === undefined ? [] : [{ atMs }] });
		expect(fixed.nextPollAtMs(0)).toBe(nextMs);
		expect(fixed.nextPollAtMs(5_000)).toBe(nextMs);
	});

	test.each([
		['had finished before the waiting began, nobody knows when: nothing', firstPollMs + 1, [], false],
		['was taken up before its first poll would have come: something', firstPollMs - 1, [], true],
		['was taken up just then: something', firstPollMs, [], true],
		['was seen running before it was found finished: something', 300_000, [{ atMs: 300_001 }], true],
	])('a schedule teaches what it may of a task that %s', (_, ageAtStartMs, polls, teaches) => {
		const table = new SurvivalTable();
		const one = schedule({ kind: 'automatic' }, { table, ageAtStartMs, polls });
		one.finished(ageAtStartMs + 20_000);
		expect(table.running).toBe(0);
		const learned = BINS.some(
			(_bin, index) => Math.abs(table.shareFinished(index) - new SurvivalTable().shareFinished(index)) > 1e-9,
		);
		expect(learned).toBe(teaches);
	});
});
