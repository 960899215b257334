/**
 * Polling as a whole, and its worth: the rules themselves are in planner.test.ts. Shapes, durations and seeds are not
 * those of the bench.
 */
import fc from 'fast-check';
import { BINS, SurvivalTable } from '../../core/polling/survivalTable';
import { afterPoll, nextPollAtMs, NOT_POLLED, PollSchedule } from '../../core/polling/planner';
import { goalBetween } from '../support/pollingGoals';
import {
	AUTOMATIC,
	mean,
	measureOne,
	seeded,
	simulateBatch,
	simulateTask,
	slowing,
	steps,
	type Measured,
	type Shape,
} from '../support/simulation';
import { scriptedClient } from './support';

const linear: Shape = (share) => 100 * share;
const stuck: Shape = () => 37;

const sharesOf = (table: SurvivalTable) => BINS.map((_, index) => table.shareFinished(index));
const begun = (table: SurvivalTable, random = () => 0.5) =>
	new PollSchedule(AUTOMATIC, { table, random, ageAtStartMs: 0 });
/** A table that has seen so many tasks of this kind. */
function taught(durationMs: number, shape: Shape, tasks: number): SurvivalTable {
	const table = new SurvivalTable();
	for (let task = 0; task < tasks; task++) simulateTask(durationMs * (0.9 + (0.2 * task) / tasks), shape, table);
	return table;
}

describe('the goals, with a margin of a quarter', () => {
	const shapes: Array<[row: string, name: string, shape: Shape]> = [
		['linear', 'linear', linear],
		['steps of 10', 'steps of 10', steps(10)],
		['steps of 25', 'steps of 25', steps(25)],
		['fast then slow', 'k = 1.7', slowing(1.7)],
		['fast then slow', 'k = 2.4', slowing(2.4)],
		['mute', 'stuck at 37', stuck],
		['mute', '99 very early', (share) => (share < 0.04 ? 0 : 99)],
	];
	const cells = (durationsS: number[]) =>
		shapes.flatMap(([row, name, shape]) => durationsS.map((seconds) => ({ row, name, shape, seconds })));
	const exceeded = (measured: Measured, row: string, seconds: number, figures: Array<keyof Measured>) => {
		const goal = goalBetween(row, seconds);
		return figures
			.filter((figure) => measured[figure] > 1.25 * goal[figure])
			.map((figure) => ({ figure, measured: measured[figure], goal: goal[figure] }));
	};

	test.each(cells([2.6, 44, 170]))(
		'with nothing learned, tasks of $seconds s with the progress "$name" are seen within the goals',
		({ row, shape, seconds }) => {
			const measured = measureOne(seconds, shape, { warm: false, tasks: 20, seed: 4242 });
			expect(exceeded(measured, `cold, ${row}`, seconds, ['meanLagS', 'p95LagS', 'polls'])).toEqual([]);
		},
	);

	// The 95th percentile of so few tasks is an accident; the bench shows it.
	test.each(cells([10, 170]))(
		'with what was learned, tasks of $seconds s with the progress "$name" are seen within the goals',
		({ row, shape, seconds }) => {
			const measured = measureOne(seconds, shape, { warm: true, tasks: 8, seed: 2424 });
			expect(
				exceeded(measured, `warm, ${row.replace(/steps of .*/, 'steps of 10 and 25')}`, seconds, ['meanLagS', 'polls']),
			).toEqual([]);
		},
	);

	/** No goals: a mean lag as a share of the time. */
	const unplanned: Array<[name: string, within: number, shape: Shape]> = [
		['ends at 97', 0.06, (share) => 97 * share],
		['a percent behind', 0.06, (share) => Math.max(0, 100 * share - 1)],
		['queued for 60 % of the time', 0.06, (share) => Math.max(0, 250 * share - 150)],
		['two stages', 0.3, (share) => 100 * ((2 * share) % 1)],
		['a short stage, then a long one', 0.1, (share) => (share < 0.3 ? 333 * share : (100 * (share - 0.3)) / 0.7)],
		['99 in the queue, then from 0', 0.05, (share) => (share < 0.3 ? 99 : (100 * (share - 0.3)) / 0.7)],
		['halts at half', 0.25, (share) => (share < 0.5 ? 100 * share : share < 0.75 ? 50 : 100 * (2 * share - 1))],
	];
	test.each(unplanned)('other shapes are seen in time, with fewer polls than every 5 s: %s', (_, within, shape) => {
		for (const seconds of [44, 520]) {
			const { meanLagS, polls } = measureOne(seconds, shape, { warm: false, tasks: 12, seed: 99 });
			expect({ seconds, meanLagS, soon: meanLagS <= within * seconds }).toMatchObject({ soon: true });
			expect({ seconds, polls, few: polls <= Math.max(10, seconds / 5) }).toMatchObject({ few: true });
		}
	});
});

describe('what was learned wrongly', () => {
	test.each([
		[90, 30],
		[160, 480],
	])(
		'what was learned from tasks of %i s is corrected by 8 tasks of %i s, and none is seen later than the larger of the two',
		(taughtS, seconds) => {
			const random = seeded(31);
			const tables = Array.from({ length: 6 }, () => taught(taughtS * 1000, stuck, 8));
			const lags = Array.from({ length: 14 }, () =>
				tables.map((table) => simulateTask(seconds * 1000 * (0.8 + 0.4 * random()), stuck, table).lagS),
			);
			expect(Math.max(...lags.flat())).toBeLessThan(0.8 * Math.max(seconds, taughtS));
			expect(mean(lags.slice(8).flat())).toBeLessThan(1.25 * goalBetween('warm, mute', seconds).meanLagS);
		},
	);
});

describe('the time between two polls', () => {
	const random = seeded(7);
	const odd: Record<string, Shape> = {
		backwards: (share) => (share < 0.5 ? 120 * share : 20 + 60 * share),
		'frozen in the middle': (share) => (share < 0.2 ? 200 * share : 40),
		'frozen from the start': stuck,
		'missing now and then': (share) => (random() < 0.4 ? undefined : 100 * share),
		'0, then 100': (share) => (share < 0.5 ? 0 : 100),
		'queued for long, then fast': (share) => (share < 0.9 ? 0 : 1000 * (share - 0.9)),
		'halfway at once': (share) => 50 + 48 * share,
		'99 after a ramp': (share) => Math.min(99, 1000 * share),
		random: () => 101 * random(),
		'above 100': (share) => 300 * share,
		'below 0': (share) => -50 * share,
		fractions: (share) => share,
		none: () => undefined,
	};
	test.each(Object.entries(odd))(
		'the time between two polls is at least half a second, at most a minute or the age, never more than ten minutes: %s',
		(_, shape) => {
			const table = new SurvivalTable();
			for (const seconds of [1, 20, 300, 2000]) {
				const { pollsAtMs } = simulateTask(seconds * 1000, shape, table);
				for (const [index, atMs] of pollsAtMs.entries()) {
					const beforeMs = pollsAtMs[index - 1] ?? 0;
					expect(atMs - beforeMs).toBeGreaterThan(499.99);
					expect(atMs - beforeMs).toBeLessThan(Math.min(600_000, Math.max(60_000, beforeMs)) + 0.01);
				}
			}
		},
	);

	test('progress that rests is not polled more and more', () => {
		expect(simulateTask(600_000, odd['frozen in the middle']).pollsAtMs.length).toBeLessThan(60);
	});

	test('whatever is read, in whatever order, the next poll is a moment', () => {
		const polls = fc.array(
			fc.record({
				atMs: fc.double({ min: -1e4, max: 1e8, noNaN: true }),
				progress: fc.option(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { nil: undefined }),
				failed: fc.boolean(),
			}),
		);
		fc.assert(
			fc.property(polls, (all) => {
				const state = all.reduce(afterPoll, NOT_POLLED);
				const nextMs = nextPollAtMs(state, new SurvivalTable(), 1, 0);
				expect(nextMs).toBeGreaterThan(state.failures > 0 ? state.lastAtMs : state.answeredAtMs);
				expect(nextMs).toBeLessThan(Infinity);
			}),
			{ numRuns: 100, seed: 12, endOnFailure: true },
		);
	});
});

describe('tasks of a batch', () => {
	const firstPollsMs = (tasks: number, random: () => number) => {
		const table = taught(40_000, stuck, 10);
		const schedules = Array.from({ length: tasks }, () => begun(table, random));
		for (const schedule of schedules) schedule.polled({ atMs: 100, progress: 0 });
		return schedules.map((schedule) => schedule.nextPollAtMs(0));
	};

	test('tasks of a batch are not polled in step', () => {
		const pollsMs = firstPollsMs(30, seeded(5));
		expect(new Set(pollsMs.map((atMs) => Math.round(atMs / 10))).size).toBeGreaterThan(20);
		expect(Math.max(...pollsMs) - Math.min(...pollsMs)).toBeGreaterThan(2_000);
	});

	test('tasks are polled later while requests wait for their turn', () => {
		const table = taught(40_000, stuck, 10);
		const schedule = begun(table);
		expect(schedule.nextPollAtMs(3_000)).toBeGreaterThan(schedule.nextPollAtMs(0) + 3_000);
		expect(nextPollAtMs(NOT_POLLED, table, 1, 3_000)).toBeGreaterThan(nextPollAtMs(NOT_POLLED, table, 1, 0));
	});

	test('tasks of a batch that still run teach the others', () => {
		const table = taught(10_000, stuck, 10);
		const beforeMs = nextPollAtMs(NOT_POLLED, table, 1, 0);
		for (let task = 0; task < 40; task++) begun(table).polled({ atMs: 30_000 });
		expect(nextPollAtMs(NOT_POLLED, table, 1, 0)).toBeGreaterThan(beforeMs + 3_000);
	});

	const batches: Array<[tasks: number, seconds: number, name: string, shape: Shape, times: number]> = [
		[8, 14, 'stuck', stuck, 1.4],
		[40, 7, 'stuck', stuck, 1.4],
		[8, 14, 'linear', linear, 1.15],
		[150, 14, 'linear', linear, 1.15],
		[40, 14, 'k = 2.4', slowing(2.4), 1.25],
	];
	test.each(batches)(
		'the tasks of a batch, %i of %i s with the progress "%s", are seen in time with few polls',
		async (tasks, seconds, _, shape, times) => {
			const runs = [];
			for (const seed of tasks > 100 ? [61] : [61, 62]) runs.push(await simulateBatch({ tasks, seconds, shape, seed }));
			expect(mean(runs.map((run) => run.times))).toBeLessThan(times);
			expect(mean(runs.map((run) => run.polls))).toBeLessThan(4);
		},
	);

	test('a second batch of the same tasks is seen sooner than the first', async () => {
		const table = new SurvivalTable();
		const batch = { tasks: 12, seconds: 17, shape: stuck, table };
		const first = await simulateBatch({ ...batch, seed: 71 });
		const second = await simulateBatch({ ...batch, seed: 72 });
		expect(second.meanLagS).toBeLessThan(0.6 * first.meanLagS);
		expect(second.wallS).toBeLessThan(first.wallS);
	});
});

describe('the survival table', () => {
	test('a task that is given up is taken out again, also when others have finished meanwhile', () => {
		const [table, other] = [new SurvivalTable(), new SurvivalTable()];
		const life = begun(table);
		life.polled({ atMs: 120_000 });
		for (const each of [table, other]) {
			const finishing = begun(each);
			finishing.polled({ atMs: 10_050 });
			finishing.finished(10_100);
		}
		life.end();
		expect(sharesOf(table)).toEqual(sharesOf(other).map((share) => expect.closeTo(share, 9)));
	});

	test('the interval between the last two polls is learned: lateness does not feed on itself', () => {
		const table = new SurvivalTable();
		const lags = Array.from({ length: 200 }, () => simulateTask(10_000, stuck, table).lagS);
		expect(mean(lags.slice(150))).toBeLessThan(1);
		expect(mean(lags.slice(150))).toBeLessThan(1.2 * mean(lags.slice(10, 60)));
	});

	test('there is one table for each service, kind and model, and 200 at most', () => {
		const tableOf = (host: string, kind: 'image' | 'video', model: string) =>
			scriptedClient([], { baseUrl: `https://${host}.example` }).client.survivalTable(kind, model);
		const first = tableOf('a', 'video', 'm');
		const used = tableOf('a', 'image', 'm');
		expect(tableOf('a', 'video', 'm')).toBe(first);
		expect(tableOf('b', 'video', 'm')).not.toBe(first);
		expect(tableOf('a', 'image', 'm')).not.toBe(first);
		expect(tableOf('a', 'video', 'n')).not.toBe(first);
		const others = Array.from({ length: 199 }, (_, other) => {
			expect(tableOf('a', 'image', 'm')).toBe(used);
			return tableOf('c', 'image', String(other));
		});
		// The one that was not used for longest has made room, and no other.
		expect(tableOf('a', 'image', 'm')).toBe(used);
		expect(others.filter((table, other) => tableOf('c', 'image', String(other)) !== table)).toEqual([]);
		expect(tableOf('a', 'video', 'm')).not.toBe(first);
	});
});
