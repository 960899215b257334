/** Simulated tasks and batches: how late a result is seen, and after how many polls. No time passes. */
import { AccountPace } from '../../core/account/pace';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { PollSchedule, type PollPlan } from '../../core/polling/planner';
import { runJobs, type Job } from '../../core/engine/jobs';
import { waitForTask } from '../../core/polling/waitForTask';
import { sharedClock } from '../core/support';

/** Progress in percent by the share of the task's time that has passed. */
export type Shape = (share: number) => number | undefined;

/** Fast at first, and slower towards the end. */
export const slowing =
	(k: number): Shape =>
	(share) =>
		100 * (1 - (1 - share) ** k);

/** In steps of so many percent. */
export const steps =
	(percent: number): Shape =>
	(share) =>
		percent * Math.floor((100 * share) / percent);

export const AUTOMATIC: PollPlan = { kind: 'automatic' };
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

/** One task from its acceptance until it is seen to have finished. Polls take no time. */
export function simulateTask(durationMs: number, shape: Shape, table = new SurvivalTable(), plan = AUTOMATIC) {
	const schedule = new PollSchedule(plan, { table, random: () => 0.5, ageAtStartMs: 0 });
	const pollsAtMs: number[] = [];
	let atMs = 0;
	for (;;) {
		atMs = Math.max(atMs, schedule.nextPollAtMs(0));
		pollsAtMs.push(atMs);
		if (atMs >= durationMs) break;
		schedule.polled({ atMs, progress: whole(shape(atMs / durationMs)) });
	}
	schedule.finished(atMs);
	return { lagS: (atMs - durationMs) / 1000, pollsAtMs };
}

export interface Measured {
	meanLagS: number;
	/** 95 of 100 tasks are seen no later than this. */
	p95LagS: number;
	/** Per task. */
	polls: number;
}

/** The number of tasks of a kind that were seen before, when it is known (warm). */
const SEEN_BEFORE = 10;

export interface Measurement {
	warm: boolean;
	tasks: number;
	seed: number;
	plan?: PollPlan;
	/** The service refreshes what it shows only so often: the progress, and the end. */
	refreshS?: number;
}

/** Many tasks of about this duration (±20 %), each with a table of its own. */
export function measureOne(seconds: number, shape: Shape, how: Measurement): Measured {
	const { warm, tasks, seed, plan, refreshS = 0 } = how;
	const random = seeded(seed);
	const draw = (): [durationMs: number, shape: Shape] => {
		const durationMs = seconds * 1000 * (0.8 + 0.4 * random());
		if (refreshS === 0) return [durationMs, shape];
		return refreshed(durationMs, shape, { everyMs: refreshS * 1000, firstMs: refreshS * 1000 * random() });
	};
	const runs = Array.from({ length: tasks }, () => {
		const table = new SurvivalTable();
		for (let seen = 0; warm && seen < SEEN_BEFORE; seen++) simulateTask(...draw(), table, plan);
		return simulateTask(...draw(), table, plan);
	});
	const lags = runs.map(({ lagS }) => lagS).sort((a, b) => a - b);
	return {
		meanLagS: mean(lags),
		p95LagS: lags[Math.floor(lags.length * 0.95)],
		polls: mean(runs.map(({ pollsAtMs }) => pollsAtMs.length)),
	};
}

/** The task as a service shows it that refreshes its records only so often. */
function refreshed(
	durationMs: number,
	shape: Shape,
	{ everyMs, firstMs }: { everyMs: number; firstMs: number },
): [shownMs: number, shape: Shape] {
	const shownMs = firstMs + everyMs * Math.max(0, Math.ceil((durationMs - firstMs) / everyMs));
	return [
		shownMs,
		(share) => {
			const asOfMs = firstMs + everyMs * Math.floor((share * shownMs - firstMs) / everyMs);
			return shape(Math.min(1, Math.max(0, asOfMs) / durationMs));
		},
	];
}

/** The mean over durations and shapes. */
export function measure(durationsS: readonly number[], shapes: readonly Shape[], how: Measurement): Measured {
	const all = durationsS.flatMap((seconds) => shapes.map((shape) => measureOne(seconds, shape, how)));
	const meanOf = (figure: keyof Measured) => mean(all.map((measured) => measured[figure]));
	return { meanLagS: meanOf('meanLagS'), p95LagS: meanOf('p95LagS'), polls: meanOf('polls') };
}

export interface Batch {
	tasks: number;
	seconds: number;
	shape: Shape;
	seed: number;
	/** Durations differ by as much, up and down. 0: all tasks take equally long. */
	spread?: number;
	table?: SurvivalTable;
	/** Concurrent Tasks; all of them, if it is left out. */
	concurrency?: number;
}

const REQUESTS_PER_SECOND = 60;
/** There and back. */
const ROUND_TRIP_MS = 30;

/** Many tasks, all started immediately, with the parts that really run them, on a clock of their own. */
export async function simulateBatch(batch: Batch) {
	const { tasks, seconds, shape, seed, spread = 0, table = new SurvivalTable(), concurrency = tasks } = batch;
	const random = seeded(seed);
	const clock = sharedClock(seeded(seed + 1));
	const pace = new AccountPace(REQUESTS_PER_SECOND, clock).ofRun();
	const lagsMs: number[] = [];
	let polls = 0;
	/** A request that reads something when it arrives. */
	const request = async <T>(read: () => T) => {
		await pace.acquire();
		await clock.sleep(ROUND_TRIP_MS / 2);
		const answer = read();
		await clock.sleep(ROUND_TRIP_MS / 2);
		return answer;
	};
	const jobs = Array.from({ length: tasks }, (): Job<void> => {
		const durationMs = 1000 * seconds * (1 - spread + 2 * spread * random());
		return {
			run: async ({ signal }) => {
				const bornAtMs = await request(clock.now);
				const startedAtMs = clock.now();
				const poll = () => {
					polls++;
					const share = (clock.now() - bornAtMs) / durationMs;
					return share < 1
						? { state: 'pending' as const, status: 'in_progress', progress: whole(shape(share)) }
						: { state: 'done' as const, status: 'completed' };
				};
				const target = {
					thing: 'task' as const,
					task: { taskId: 'task-1', status: 'queued', elapsedMs: 0 },
					fetch: async () => await request(poll),
					statusOf: (record: ReturnType<typeof poll>) => record,
					toFailure: () => {
						throw new Error('No simulated task fails');
					},
				};
				await waitForTask(target, {
					plan: AUTOMATIC,
					survivalTable: () => table,
					backlogMs: () => pace.backlogMs,
					clock,
					signal,
					startedAtMs,
					acceptedAtMs: startedAtMs,
					timeoutMs: 3_600_000,
				});
				lagsMs.push(clock.now() - bornAtMs - durationMs);
			},
		};
	});
	const fromMs = clock.now();
	const outcomes = await clock.run(runJobs(jobs, { concurrency, continueOnError: true }), 1_000 * tasks);
	for (const outcome of outcomes) if (!outcome.ok) throw outcome.error;
	const wallS = (clock.now() - fromMs) / 1000;
	return { wallS, times: wallS / leastS(tasks, seconds), polls: polls / tasks, meanLagS: mean(lagsMs) / 1000 };
}

/** The least that a batch can take: every task is submitted and read once, and the last one that is submitted has to run. */
const leastS = (tasks: number, seconds: number) =>
	Math.max((2 * tasks) / REQUESTS_PER_SECOND, tasks / REQUESTS_PER_SECOND + seconds);

const whole = (progress: number | undefined) => (progress === undefined ? undefined : Math.floor(progress));

export function mean(values: number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}
