/**
 * Measures the polling: the delay of results and the number of polls, beside the goals and beside fixed intervals; and
 * the time of batches, with the parts that really run them on a clock of their own.
 *
 * The figures of the planner were chosen on tasks of 1.3 2.2 3.2 | 4.5 6.5 9 11 | 16 26 37 52 | 105 140 | 260 340 | 800 s,
 * records that are refreshed every 80 and 200 s, and other seeds. What is printed here chose nothing.
 */
import { GOALS } from '../test/support/pollingGoals';
import { every, mean, measure, simulateBatch, type Measured, type Shape } from '../test/support/simulation';
import { concurrentTasksOption } from '../nodes/form/options';
import { report } from './rows.mts';

const TASKS = 100;
const SEED = 20_261_121;
const COLUMNS: Array<[column: string, durationsS: number[]]> = [
	['up to 3 s', [1, 2, 3]],
	['5 to 12 s', [5, 8, 12]],
	['20 to 60 s', [20, 30, 45, 60]],
	['120 s', [120]],
	['300 s', [300]],
	['900 s', [900]],
];

const linear: Shape = (share) => 100 * share;
const steps =
	(count: number): Shape =>
	(share) =>
		Math.floor(share * count) * (100 / count);
const slowing =
	(k: number): Shape =>
	(share) =>
		100 * (1 - (1 - share) ** k);
const zero: Shape = () => 0;
const SHAPES: Record<string, Shape[]> = {
	linear: [linear],
	'steps of 10': [steps(10)],
	'steps of 25': [steps(4)],
	'steps of 10 and 25': [steps(10), steps(4)],
	'fast then slow': [slowing(2), slowing(3)],
	mute: [zero, () => undefined, (share) => (share < 0.1 ? 0 : 99)],
};
/** The factor by which a figure may be above its goal. */
const MARGIN = 1.1;
const cells = { all: 0, met: 0 };

const digits = (value: number) => (value < 9.95 ? value.toFixed(1) : value.toFixed(0));
const print = ({ meanLagS, p95LagS, polls }: Measured) => [meanLagS, p95LagS, polls].map(digits).join(' / ');

function printBeside(measured: Measured, goal: Measured): string {
	cells.all++;
	const over = (['meanLagS', 'p95LagS', 'polls'] as const).filter((figure) => measured[figure] > MARGIN * goal[figure]);
	if (over.length === 0) cells.met++;
	return `${print(goal)}${over.map((figure) => `, MISSED: ${figure} by ${Math.round(100 * (measured[figure] / goal[figure] - 1))} %`).join('')}`;
}

function printFixed(durationsS: number[], shapes: Shape[]): string {
	return [5, 10]
		.map(
			(seconds) =>
				`every ${seconds} s: ${print(measure(durationsS, shapes, { warm: false, tasks: TASKS, seed: SEED, plan: every(seconds) }))}`,
		)
		.join(' · ');
}

describe.each(Object.entries(GOALS))('%s', (row, goals) => {
	test.each(COLUMNS.map(([column, durationsS], index) => ({ column, durationsS, goal: goals[index] })))(
		'$column',
		({ column, durationsS, goal }) => {
			const [state, name] = row.split(', ');
			const measured = measure(durationsS, SHAPES[name], { warm: state === 'warm', tasks: TASKS, seed: SEED });
			report({
				what: `Seen late by, mean / 95 % / polls: ${row}, ${column}`,
				measured: `${print(measured)} · ${printFixed(durationsS, SHAPES[name])}`,
				goal: printBeside(measured, goal),
			});
		},
	);
});

/** A finished task is seen late by so much after the refresh that shows it. */
describe.each(['linear', 'fast then slow', 'mute'])('%s, refreshed every 60 to 300 s', (name) => {
	test.each(
		[false, true].flatMap((warm) =>
			COLUMNS.slice(2).map(([column, durationsS]) => ({ state: warm ? 'warm' : 'cold', column, durationsS, warm })),
		),
	)('$state, $column', ({ state, column, durationsS, warm }) => {
		const all = [60, 150, 300].map((refreshS) =>
			measure(durationsS, SHAPES[name], { warm, tasks: TASKS, seed: SEED, refreshS }),
		);
		const meanOf = (figure: keyof Measured) => mean(all.map((measured) => measured[figure]));
		const measured = { meanLagS: meanOf('meanLagS'), p95LagS: meanOf('p95LagS'), polls: meanOf('polls') };
		report({
			what: `Seen late by, mean / 95 % / polls: ${state}, ${name}, refreshed every 60 to 300 s, ${column}`,
			measured: print(measured),
			goal: '',
		});
	});
});

const BATCH_GOALS: Array<[tasks: number, mute: number, linear: number]> = [
	[10, 1.22, 1.08],
	[50, 1.2, 1.08],
	[200, 1.1, 1.04],
	[1_000, 1.12, 1.12],
];
const BATCHES = [
	...BATCH_GOALS.flatMap(([tasks, mute, straight]) =>
		[5, 10, 20, 60].flatMap((seconds) => [
			{ tasks, seconds, name: 'mute', shape: zero, goal: mute },
			{ tasks, seconds, name: 'linear', shape: linear, goal: straight },
		]),
	),
	{ tasks: 10, seconds: 45, name: 'mute', shape: zero, goal: 1.15 },
];

/** Small batches depend on the draw, large ones hardly. */
const roundsOf = (tasks: number) => (tasks <= 50 ? 12 : tasks <= 200 ? 4 : 1);

test.each(BATCHES)('$tasks tasks of $seconds s, $name', async ({ tasks, seconds, name, shape, goal }) => {
	const rounds = [];
	for (let round = 0; round < roundsOf(tasks); round++)
		rounds.push(await simulateBatch({ tasks, seconds, shape, seed: SEED + round }));
	const [times, polls] = [mean(rounds.map((round) => round.times)), mean(rounds.map((round) => round.polls))];
	cells.all++;
	if (times <= MARGIN * goal) cells.met++;
	report({
		what: `${tasks} tasks of ${seconds} s immediately, ${name}, cold: wall time as a multiple of the least`,
		measured: `${times.toFixed(2)}, ${polls.toFixed(1)} polls per task`,
		goal: `${goal}${times <= MARGIN * goal ? '' : ', MISSED'}`,
	});
});

test.each([
	{ name: 'mute', shape: zero },
	{ name: 'linear', shape: linear },
])('1,000 tasks of 20 s with Concurrent Tasks as it is by default, $name', async ({ name, shape }) => {
	const { default: concurrency } = concurrentTasksOption;
	const { wallS } = await simulateBatch({
		tasks: 1_000,
		seconds: 20,
		shape,
		seed: SEED,
		concurrency: Number(concurrency),
	});
	report({
		what: `1,000 tasks of 20 s, ${Number(concurrency)} at the same time, ${name}, cold: wall time in seconds`,
		measured: wallS.toFixed(0),
		goal: `${(1_000 / Number(concurrency)) * 20} is the least`,
	});
});

afterAll(() =>
	report({ what: 'Goals of the planner, met within 10 %', measured: `${cells.met} of ${cells.all}`, goal: 'all' }),
);
