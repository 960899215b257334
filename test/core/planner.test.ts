/** The time of the next poll, beside the rule at the head of planner.ts and the multiples of an interval. */
import fc from 'fast-check';
import { BINS, SurvivalTable } from '../../core/polling/survivalTable';
import {
	afterPoll,
	keepPoll,
	MAX_POLLS,
	nextPollAtMs,
	NOT_POLLED,
	type Poll,
	type PollState,
} from '../../core/polling/planner';
import { PollSchedule } from '../../core/polling/pollSchedule';

const sharesOf = (table: SurvivalTable) => BINS.map((_, index) => table.shareFinished(index));

/** The belief about the end: pieces with the same likelihood in every millisecond. */
function piecesOf({ belief, answeredAtMs }: PollState, table: SurvivalTable) {
	const edges = [
		answeredAtMs,
		...BINS.map(({ toMs }) => toMs),
		...belief.windows.flatMap(({ fromMs, toMs }) => [fromMs, toMs]),
	];
	const ages = [...new Set(edges)]
		.filter((ageMs) => ageMs >= answeredAtMs && ageMs <= BINS[BINS.length - 1].toMs)
		.sort((one, other) => one - other);
	let alive = 1;
	const ofBins = BINS.map(({ fromMs, toMs }, index) => {
		const finished = alive * table.shareFinished(index);
		alive -= finished;
		return finished / (toMs - fromMs);
	});
	return ages.slice(1).map((toMs, index) => {
		const fromMs = ages[index];
		const middleMs = (fromMs + toMs) / 2;
		const weight = belief.windows.reduce(
			(sum, window) => sum + (window.fromMs < middleMs && middleMs < window.toMs ? window.weight : 0),
			0,
		);
		return { fromMs, toMs, density: weight * ofBins[BINS.findIndex((bin) => middleMs < bin.toMs)] };
	});
}

/** The first moment at which what is probably lost is worth the price: searched for, not calculated. */
function balancedAtMs(state: PollState, table: SurvivalTable, priceMs: number): number {
	const pieces = piecesOf(state, table);
	const isDue = (atMs: number) => {
		let [lostMs, later] = [0, 0];
		for (const { fromMs, toMs, density } of pieces) {
			const pastMs = Math.max(0, Math.min(toMs, atMs) - fromMs);
			lostMs += density * pastMs * (atMs - fromMs - pastMs / 2);
			later += density * (toMs - fromMs - pastMs);
		}
		return lostMs > 0 && lostMs >= priceMs * later;
	};
	let [lowMs, highMs] = [state.answeredAtMs, BINS[BINS.length - 1].toMs];
	if (!isDue(highMs)) return Infinity;
	for (let step = 0; step < 40; step++) {
		const middleMs = (lowMs + highMs) / 2;
		if (isDue(middleMs)) highMs = middleMs;
		else lowMs = middleMs;
	}
	return highMs;
}

const life = fc.record({
	pendingMs: fc.double({ min: 100, max: 400_000, noNaN: true }),
	gapMs: fc.double({ min: 200, max: 60_000, noNaN: true }),
	ends: fc.boolean(),
});
const somePoll = fc.record({
	gapMs: fc.double({ min: 500, max: 90_000, noNaN: true }),
	progress: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
});

function tableOf(lives: Array<{ pendingMs: number; gapMs: number; ends: boolean }>): SurvivalTable {
	const table = new SurvivalTable();
	for (const { pendingMs, gapMs, ends } of lives) {
		const one = table.begin();
		one.pending(pendingMs);
		if (ends) one.finished(pendingMs + gapMs);
	}
	return table;
}

test('the next poll comes when the time that is probably lost is worth a poll in vain', () => {
	let free = 0;
	const lives = fc.array(life, { maxLength: 12 });
	const polls = fc.array(somePoll, { maxLength: 6 });
	fc.assert(
		fc.property(
			lives,
			polls,
			fc.constantFrom(0, 0.05, 0.5, 1, 2),
			fc.constantFrom(0, 0, 2_000),
			(ofTable, ofTask, turn, backlogMs) => {
				const table = tableOf(ofTable);
				let state = NOT_POLLED;
				for (const { gapMs, progress } of ofTask) state = afterPoll(state, { atMs: state.lastAtMs + gapMs, progress });
				const { answeredAtMs } = state;
				const balancedMs = balancedAtMs(state, table, 500 * turn + 0.5 * backlogMs) - answeredAtMs;
				const longestMs = Math.min(600_000, Math.max(60_000, answeredAtMs));
				if (balancedMs > 500 && balancedMs < longestMs) free++;
				const expectedMs = answeredAtMs + Math.min(longestMs, Math.max(500, balancedMs));
				const atMs = nextPollAtMs(state, table, turn, backlogMs);
				expect(Math.abs(atMs - expectedMs)).toBeLessThan(1e-5 * expectedMs);
			},
		),
		{ numRuns: 60, seed: 8, endOnFailure: true },
	);
	expect(free).toBeGreaterThan(30);
});

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

describe('what a poll leaves behind', () => {
	test('a clock that was set back does not make the task younger', () => {
		const first = afterPoll(NOT_POLLED, { atMs: 5_000, progress: 20 });
		expect(afterPoll(first, { atMs: 4_000, progress: 20 })).toMatchObject({ answeredAtMs: 5_000, lastAtMs: 4_000 });
	});

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

	test('a poll without an answer leaves behind only that it failed, until one comes', () => {
		const first = afterPoll(NOT_POLLED, { atMs: 5_000, progress: 20 });
		const second = afterPoll(afterPoll(first, { atMs: 8_000, failed: true }), {
			atMs: 9_000,
			progress: 3,
			failed: true,
		});
		expect(second).toEqual({ ...first, lastAtMs: 9_000, failures: 2 });
		expect(second.belief).toBe(first.belief);
		const third = { atMs: 12_000, progress: 48 };
		expect(afterPoll(second, third)).toEqual(afterPoll(first, third));
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
		{ table = new SurvivalTable(), random = (): number => 0.5, ageAtStartMs = 0, polls = [] as Poll[] } = {},
	) => new PollSchedule(plan, { table, random, ageAtStartMs, polls });
	const AUTOMATIC = { kind: 'automatic' } as const;
	/** With nothing learned, the first poll of a task comes after about this time. */
	const firstPollMs = nextPollAtMs(NOT_POLLED, new SurvivalTable(), 1, 0);

	test.each([
		['at first', undefined, 10_000],
		['at first, however early the first poll was', -3_000, 10_000],
		['behind a poll', 10_000, 20_000],
		['behind one that came late', 27_300, 30_000],
		['behind one that a timer has made a little early', 19_950, 30_000],
		['not behind one that came too early for that', 19_850, 20_000],
	])('a schedule with an interval is its next multiple: %s', (_, atMs, nextMs) => {
		const fixed = schedule({ kind: 'fixed', intervalMs: 10_000 }, { polls: atMs === undefined ? [] : [{ atMs }] });
		expect(fixed.nextPollAtMs(0)).toBe(nextMs);
		expect(fixed.nextPollAtMs(5_000)).toBe(nextMs);
	});

	test('a single task pays the price of a poll; those of a batch draw up to twice as much for each poll', () => {
		const table = tableOf([{ pendingMs: 20_000, gapMs: 3_000, ends: true }]);
		let draws = 0;
		const random = () => [0.9, 0.2, 0.7][draws++];
		const first = schedule(AUTOMATIC, { table, random });
		expect(first.nextPollAtMs(0)).toBe(nextPollAtMs(NOT_POLLED, table, 1, 0));
		expect(draws).toBe(0);
		const second = schedule(AUTOMATIC, { table, random });
		expect(second.nextPollAtMs(0)).toBe(nextPollAtMs(NOT_POLLED, table, 1.8, 0));
		const poll = { atMs: 4_000 };
		second.polled(poll);
		expect(second.nextPollAtMs(0)).toBe(nextPollAtMs(afterPoll(NOT_POLLED, poll), table, 0.4, 0));
		second.end();
		first.polled(poll);
		expect(first.nextPollAtMs(0)).toBe(nextPollAtMs(afterPoll(NOT_POLLED, poll), table, 1, 0));
	});

	test('a schedule tells the time that is left from the polls of its task: one at half after a minute has about another', () => {
		const polled = schedule(AUTOMATIC, { polls: [{ atMs: 60_000, progress: 50 }] });
		const { aboutMs, fromMs, toMs } = polled.timeLeft(60_000);
		expect([Math.round(aboutMs / 30_000), fromMs < aboutMs, aboutMs < toMs]).toEqual([2, true, true]);
		expect(polled.timeLeft(70_000).aboutMs).toBeLessThan(aboutMs);
	});

	test('a task that is abandoned takes back what it has taught', () => {
		const table = new SurvivalTable();
		const one = schedule(AUTOMATIC, { table });
		one.polled({ atMs: 40_000 });
		expect(sharesOf(table)).not.toEqual(sharesOf(new SurvivalTable()));
		one.end();
		expect(sharesOf(table)).toEqual(sharesOf(new SurvivalTable()).map((share) => expect.closeTo(share, 9)));
		expect(table.running).toBe(0);
	});

	test.each([
		['had finished before the waiting began, nobody knows when: nothing', firstPollMs + 1, [], false],
		['was taken up before its first poll would have come: something', firstPollMs - 1, [], true],
		['was taken up just then: something', firstPollMs, [], true],
		['was seen running before it was found finished: something', 300_000, [{ atMs: 300_001 }], true],
	])('a schedule teaches what it may of a task that %s', (_, ageAtStartMs, polls, teaches) => {
		const table = new SurvivalTable();
		const one = schedule(AUTOMATIC, { table, ageAtStartMs, polls });
		one.finished(ageAtStartMs + 20_000);
		expect(table.running).toBe(0);
		const learned = sharesOf(table).some(
			(share, index) => Math.abs(share - new SurvivalTable().shareFinished(index)) > 1e-9,
		);
		expect(learned).toBe(teaches);
	});
});

test('of all polls, the latest are kept, and those between which the progress has begun again', () => {
	const keptOf = (...begin: Array<number | undefined>) => {
		const polls: Poll[] = [];
		const rising = Array.from({ length: MAX_POLLS }, (_, index) => 40 + index);
		for (const [index, progress] of [...begin, ...rising].entries()) keepPoll(polls, { atMs: 1_000 * index, progress });
		expect(polls).toHaveLength(MAX_POLLS);
		return polls.slice(0, 4).map(({ progress }) => progress);
	};
	expect(keptOf()).toEqual([40, 41, 42, 43]);
	expect(keptOf(10, 20)).toEqual([40, 41, 42, 43]);
	expect(keptOf(90, 5)).toEqual([90, 5, 42, 43]);
	expect(keptOf(50, 90, 5)).toEqual([90, 5, 42, 43]);
	// The last beginning counts.
	expect(keptOf(90, 5, 99, 1)).toEqual([99, 1, 42, 43]);
	// What says nothing may lie between them.
	expect(keptOf(90, undefined, undefined, 5)).toEqual([90, 5, 42, 43]);
	expect(keptOf(60, undefined)).toEqual([40, 41, 42, 43]);
	expect(keptOf(undefined, 5)).toEqual([40, 41, 42, 43]);
});
