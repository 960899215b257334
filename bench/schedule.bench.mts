/** The poll schedule against fixed intervals, on simulated tasks: how late a result is seen, and after how many requests. */
import type { PollPlan } from '../core/tasks/pollSchedule';
import { DURATIONS_S, every, goalFor, measure, meets, SHAPES, type Measured, type Shape } from '../test/support/simulation';
import { report } from './rows.mts';

const TASKS = 2_000;
const PLANS: Array<[string, PollPlan]> = [
	['planned', { kind: 'automatic' }],
	...[2, 5, 10].map((seconds): [string, PollPlan] => [`every ${seconds} s`, every(seconds)]),
];
const verdicts: boolean[] = [];

const print = ({ meanLagS, p95LagS, requests }: Measured) =>
	`${meanLagS.toFixed(1)} s (95 %: ${p95LagS.toFixed(1)} s), ${requests.toFixed(1)} requests`;

describe.each(Object.entries(SHAPES) as Array<[keyof typeof SHAPES, Record<string, Shape>]>)('%s progress', (kind, shapes) => {
	describe.each(Object.entries(shapes))('%s', (name, shape) => {
		test.each(DURATIONS_S)('tasks of %i s', (seconds) => {
			const measured = PLANS.map(([, plan]) => measure(seconds, shape, plan, TASKS));
			const [planned, , every5, every10] = measured;
			const goal = goalFor(kind, seconds, every5, every10);
			const met = meets(planned, goal);
			verdicts.push(met);
			report({
				what: `Result seen late by, tasks of ${seconds} s ±20 %, ${name} (${kind})`,
				measured: PLANS.map(([plan], index) => `${plan}: ${print(measured[index])}`).join(' · '),
				goal: `${goal.meanLagS.toFixed(1)} s, ${goal.requests.toFixed(1)} requests: ${met ? 'met' : 'MISSED'}`,
			});
		});
	});
});

afterAll(() => {
	const met = verdicts.filter(Boolean).length;
	report({ what: `Goals of the poll schedule (${TASKS} tasks each)`, measured: `${met} of ${verdicts.length} met`, goal: 'all' });
});
