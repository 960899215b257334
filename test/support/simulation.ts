/** Simulated tasks for the poll schedule: how late a result is seen, and after how many requests. */
import { nextLookDelayMs, type Look, type PollPlan } from '../../core/tasks/pollSchedule';

/** Progress in percent by the share of the task's time that has passed. */
export type Shape = (share: number) => number | undefined;

export const DURATIONS_S = [8, 30, 120, 300, 900];

export const SHAPES: Record<'informative' | 'uninformative', Record<string, Shape>> = {
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

export const every = (seconds: number): PollPlan => ({ kind: 'fixed', intervalMs: seconds * 1000 });

/** A small generator with a seed (mulberry32), so that every run measures the same tasks. */
export function seeded(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** One task from acceptance until it is seen to have ended. Looks take no time. */
export function simulateTask(durationMs: number, shape: Shape, plan: PollPlan, random: () => number) {
	const looks: Look[] = [];
	let atMs = 0;
	for (;;) {
		atMs += nextLookDelayMs(looks, atMs, plan, random);
		if (atMs >= durationMs) return { lagS: (atMs - durationMs) / 1000, requests: looks.length + 1, looks };
		const progress = shape(atMs / durationMs);
		looks.push({ atMs, progress: progress === undefined ? undefined : Math.floor(progress) });
	}
}

export interface Measured {
	meanLagS: number;
	/** 95 of 100 tasks are seen no later than this. */
	p95LagS: number;
	/** Per task. */
	requests: number;
}

/** Many tasks of about this duration. Every plan meets the same durations. */
export function measure(seconds: number, shape: Shape, plan: PollPlan, tasks: number, seed = 42): Measured {
	const draw = seeded(seed);
	const jitter = seeded(seed + 1);
	const runs = Array.from({ length: tasks }, () => simulateTask(seconds * 1000 * (0.8 + 0.4 * draw()), shape, plan, jitter));
	const lags = runs.map(({ lagS }) => lagS).sort((a, b) => a - b);
	return {
		meanLagS: mean(lags),
		p95LagS: lags[Math.floor(lags.length * 0.95)],
		requests: mean(runs.map(({ requests }) => requests)),
	};
}

/** What the schedule must not exceed, on average. */
export function goalFor(kind: keyof typeof SHAPES, seconds: number, every5: Measured, every10: Measured) {
	if (seconds < 30) return { meanLagS: 1, requests: 4 };
	if (kind === 'informative') return { meanLagS: Math.max(1, 0.03 * seconds), requests: 0.6 * every5.requests };
	// "No more than every 10 s": what jitter moves to either side, half a percent at most, is no difference.
	return { meanLagS: every10.meanLagS * 1.005, requests: every10.requests * 1.005 };
}

export function meets(measured: Measured, goal: { meanLagS: number; requests: number }): boolean {
	return measured.meanLagS <= goal.meanLagS && measured.requests <= goal.requests;
}

function mean(values: number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}
