/**
 * When to look at a task next: a pure function of what the looks so far have shown.
 *
 * - Fixed plan: always the same interval.
 * - Automatic plan: the first look after 5 s. Then
 *   - while the progress says something (it has been seen between 1 and 98), the remaining time is estimated from
 *     the latest speed. A first estimate is checked once on the way (at 60 % of it); when two speeds agree within
 *     a fifth, the next look falls just behind the expected end; otherwise it covers 70 % of the way. Progress in
 *     quarters is taken for what it is: the next look falls on the earliest possible end. Near the end, and where
 *     progress has come to rest, looks are 0.7 s or 5 % of the elapsed time apart, which keeps the mean lag
 *     below 3 % of the duration. Never more rarely than every minute.
 *   - while it says nothing (missing, 0, or 99 at once), the gaps are 2.5 s up to ten seconds and 10 s from there
 *     on: what the service itself asks for.
 * - Jitter of up to 4 %, always later, keeps the tasks of a batch from looking all at once.
 *
 * `npm run bench -- schedule` measures it. Tasks of 30 s and more with informative progress are seen on average
 * within 3 % of their duration or about a second; what says nothing is seen as with a fixed interval of 10 s,
 * plus two early looks.
 */
export type PollPlan = { kind: 'automatic' } | { kind: 'fixed'; intervalMs: number };

export interface Look {
	/** Milliseconds since the task was accepted. */
	atMs: number;
	/** 0 to 100; absent when the look got no answer or the service reports none. */
	progress?: number;
}

const FIRST_LOOK_MS = 5_000;
const EARLY_GAP_MS = 2_500;
const EARLY_UNTIL_MS = 10_000;
const UNINFORMED_GAP_MS = 10_000;
const SHORTEST_GAP_MS = 700;
const SHORTEST_GAP_OF_ELAPSED = 0.05;
const LONGEST_GAP_MS = 60_000;
const JITTER = 0.04;

/** Milliseconds from now (`elapsedMs` after acceptance) until the next look. */
export function nextLookDelayMs(
	looks: readonly Look[],
	elapsedMs: number,
	plan: PollPlan,
	random: () => number,
): number {
	if (plan.kind === 'fixed') return plan.intervalMs;
	const gapMs = looks.length === 0 ? FIRST_LOOK_MS - elapsedMs : nextGapMs(looks, elapsedMs);
	return Math.max(0, gapMs) * (1 + random() * JITTER);
}

function nextGapMs(looks: readonly Look[], elapsedMs: number): number {
	const informed = looks.filter((look): look is Required<Look> => look.progress !== undefined);
	if (!informed.some(({ progress }) => progress >= 1 && progress <= 98)) {
		return elapsedMs < EARLY_UNTIL_MS - SHORTEST_GAP_MS ? EARLY_GAP_MS : UNINFORMED_GAP_MS;
	}
	const shortestMs = Math.max(SHORTEST_GAP_MS, SHORTEST_GAP_OF_ELAPSED * elapsedMs);
	return Math.min(LONGEST_GAP_MS, Math.max(shortestMs, estimateGapMs(informed, elapsedMs)));
}

/** How far to go before the next look, by what the progress says. */
function estimateGapMs(looks: ReadonlyArray<Required<Look>>, elapsedMs: number): number {
	const last = looks[looks.length - 1];
	if (last.progress > 98) return 0;
	if (last.progress === 0) return EARLY_GAP_MS;
	// In quarters, 50 means anything from 50 to 74: the earliest end that fits all looks.
	if (looks.every(({ progress }) => progress % 25 === 0)) {
		const earliestEndMs = Math.max(...looks.map(({ atMs, progress }) => (atMs * 100) / (progress + 25)));
		return earliestEndMs - elapsedMs;
	}
	const averageMs = (last.atMs * (100 - last.progress)) / last.progress;
	const before = looks.filter((look) => look.progress < last.progress && look.progress > 0).at(-1);
	if (before === undefined) return averageMs * 0.6;
	const latestMs = ((last.atMs - before.atMs) * (100 - last.progress)) / (last.progress - before.progress);
	// Two readings of the same speed: expect the end where they point to, a little later to be sure.
	if (Math.abs(latestMs - averageMs) <= averageMs * 0.2) return Math.max(latestMs, averageMs) * 1.01 + 100;
	return latestMs * 0.7;
}
