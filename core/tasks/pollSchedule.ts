/**
 * When to look at a task next: a pure function of what the looks so far have shown.
 *
 * - Fixed plan: always the same interval.
 * - Automatic plan: the first look after 5 s. Then
 *   - while the progress says something (it lies between 1 and 98 and moves), the remaining time is estimated
 *     from the latest speed, so that slowing down is noticed. A first estimate is checked once on the way (at
 *     60 % of it); when two speeds agree within a tenth, the next look falls just behind the expected end;
 *     otherwise it covers 70 % of the way. Never more often than every second or 3 % of the elapsed time,
 *     which bounds the lag to about 3 %; never more rarely than every minute.
 *   - while it says nothing (missing, 0, or 99 and more), the gaps are 2.5 s up to ten seconds and 10 s from
 *     there on: what the service itself asks for.
 * - Jitter of up to 4 %, always later, keeps the tasks of a batch from looking all at once.
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
const SHORTEST_GAP_MS = 1_000;
const SHORTEST_GAP_OF_ELAPSED = 0.03;
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
	const estimate = estimateRemaining(looks.filter((look) => look.progress !== undefined) as Informed[]);
	if (estimate === undefined) {
		return elapsedMs < EARLY_UNTIL_MS - SHORTEST_GAP_MS ? EARLY_GAP_MS : UNINFORMED_GAP_MS;
	}
	const shortestMs = Math.max(SHORTEST_GAP_MS, SHORTEST_GAP_OF_ELAPSED * elapsedMs);
	return Math.min(LONGEST_GAP_MS, Math.max(shortestMs, estimate));
}

type Informed = Required<Look>;

/** How far to go before the next look, or undefined when the progress says nothing. */
function estimateRemaining(looks: readonly Informed[]): number | undefined {
	const last = looks.at(-1);
	if (last === undefined || last.progress < 1 || last.progress > 98) return undefined;
	const averageMs = (last.atMs * (100 - last.progress)) / last.progress;
	const before = looks.filter((look) => look.progress < last.progress).at(-1);
	if (before === undefined) return averageMs * 0.6;
	const latestMs =
		((last.atMs - before.atMs) * (100 - last.progress)) / (last.progress - before.progress);
	// Two readings of the same speed: expect the end where they point to, a little later to be sure.
	if (Math.abs(latestMs - averageMs) <= averageMs * 0.1) {
		return Math.max(latestMs, averageMs) * 1.01 + 100;
	}
	return latestMs * 0.7;
}
