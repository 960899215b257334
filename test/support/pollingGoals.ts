/** The goals for how soon single tasks are seen, measured by a prototype: what the bench compares with, and the tests bound. */
import type { Measured } from './simulation';

/** The task durations of the columns, in seconds. */
const COLUMNS_S = [2, 8, 37, 120, 300, 900];

/** Mean lag / 95th percentile / polls, in seconds, for the columns. Cold: nothing learned yet. Warm: ten such tasks were seen. */
const ROWS: Record<string, string> = {
	'cold, linear': '3.3/3.5/1 .5/.7/2.5 .6/1.3/3.5 .6/1.4/4.7 .8/1.7/6.5 1.1/2.3/11',
	'cold, steps of 10': '3.3/3.5/1 .8/1.8/2.9 .9/2.6/5.8 1.3/3.2/8.1 2.0/4.8/12 3.0/7.4/20',
	'cold, steps of 25': '3.3/3.5/1 .9/2.1/4.0 1.4/3.2/8.1 1.9/4.8/10 2.6/6.5/16 3.0/7.2/30',
	'cold, fast then slow': '3.3/3.5/1 .8/1.8/6.5 2.0/3.3/8.4 2.4/5.0/10 3.9/7.6/14 6.8/13/21',
	'cold, mute': '3.3/3.5/1 6.2/9/4.0 8.5/16.5/8.2 10.3/20/12.5 13/24.5/22 14/26.5/49',
	'warm, linear': '.3/.6/2.2 .3/.7/3.1 .4/.7/3.5 .5/1.0/4.1 .7/1.7/6.1 1.1/2.5/9.2',
	'warm, steps of 10 and 25': '.4/.7/2.2 .6/1.5/3.0 1.4/3.3/6.0 2.2/5.3/7.5 3.0/8.1/12 5.1/13/20',
	'warm, fast then slow': '.4/.6/2.4 .6/1.3/4.2 1.8/3.6/6.7 2.5/5.3/8.3 3.9/8.1/12 6.8/14/19',
	'warm, mute': '.5/1.0/2.4 1.1/2.2/3.8 2.5/5.7/7.0 3.7/8.1/9.6 5.7/13/15 9.2/21/28',
};

export const GOALS: Record<string, Measured[]> = Object.fromEntries(
	Object.entries(ROWS).map(([row, cells]) => [row, cells.split(' ').map(toMeasured)]),
);

function toMeasured(cell: string): Measured {
	const [meanLagS, p95LagS, polls] = cell.split('/').map(Number);
	return { meanLagS, p95LagS, polls };
}

/** The goal between two columns. */
export function goalBetween(row: string, seconds: number): Measured {
	const right = Math.min(
		COLUMNS_S.length - 1,
		Math.max(
			1,
			COLUMNS_S.findIndex((columnS) => columnS >= seconds),
		),
	);
	const share = Math.log(seconds / COLUMNS_S[right - 1]) / Math.log(COLUMNS_S[right] / COLUMNS_S[right - 1]);
	const between = (figure: keyof Measured) =>
		(1 - share) * GOALS[row][right - 1][figure] + share * GOALS[row][right][figure];
	return { meanLagS: between('meanLagS'), p95LagS: between('p95LagS'), polls: between('polls') };
}
