/** The poll schedule against fixed intervals, on simulated tasks: how late a result is seen, and after how many looks. */
import { nextLookDelayMs, type Look, type PollPlan } from '../core/tasks/pollSchedule';
import { report } from './rows.mts';

const DURATIONS_S = [8, 30, 120, 300, 900];
const DRAWS = 400;

/** Progress by the share of the time that has passed. */
const SHAPES: Record<string, Record<string, (share: number) => number>> = {
	informative: {
		linear: (share) => 100 * share,
		'fast, then slow': (share) => 100 * (1 - (1 - share) ** 2),
		'steps of 25': (share) => Math.floor(share * 4) * 25,
	},
	uninformative: {
		'0 until done': () => 0,
		'99 early': (share) => (share < 0.1 ? 0 : 99),
	},
};

const PLANS: Record<string, PollPlan> = {
	planned: { kind: 'automatic' },
	'every 2 s': { kind: 'fixed', intervalMs: 2_000 },
	'every 5 s': { kind: 'fixed', intervalMs: 5_000 },
	'every 10 s': { kind: 'fixed', intervalMs: 10_000 },
};

/** A small generator with a seed, so that every run measures the same tasks. */
function seeded(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
		return state / 2 ** 32;
	};
}

function simulate(durationMs: number, shape: (share: number) => number, plan: PollPlan, random: () => number) {
	const looks: Look[] = [];
	let atMs = 0;
	for (;;) {
		atMs += nextLookDelayMs(looks, atMs, plan, random);
		if (atMs >= durationMs) return { lagS: (atMs - durationMs) / 1000, looks: looks.length + 1 };
		looks.push({ atMs, progress: Math.floor(shape(atMs / durationMs)) });
	}
}

function measure(seconds: number, shape: (share: number) => number, plan: PollPlan) {
	const random = seeded(42);
	const runs = Array.from({ length: DRAWS }, () => simulate(seconds * 1000 * (0.8 + 0.4 * random()), shape, plan, random));
	const lags = runs.map(({ lagS }) => lagS).sort((a, b) => a - b);
	const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
	return { lag: mean(lags), p95: lags[Math.floor(lags.length * 0.95)] ?? 0, looks: mean(runs.map(({ looks }) => looks)) };
}

describe.each(Object.entries(SHAPES))('%s progress', (kind, shapes) => {
	test.each(DURATIONS_S)('tasks of %i s', (seconds) => {
		for (const [name, shape] of Object.entries(shapes)) {
			const cells = Object.entries(PLANS).map(([plan, how]) => {
				const { lag, p95, looks } = measure(seconds, shape, how);
				return `${plan}: ${lag.toFixed(1)} s (95 %: ${p95.toFixed(1)} s), ${looks.toFixed(1)} looks`;
			});
			report({ what: `Result seen late by, tasks of ${seconds} s ±20 %, ${kind}: ${name}`, measured: cells.join(' · '), goal: '' });
		}
	});
});
