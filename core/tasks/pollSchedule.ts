/**
 * When to look at a task next: a pure function of what the looks so far have shown.
 *
 * - Fixed plan: always the same interval.
 * - Automatic plan: the first look after 8 s. While the progress says nothing (0, 99 at once, or missing), the
 *   second look follows at 9.6 s, and from 30 s on (20 s if no progress is reported at all) one comes every 10 s.
 *   Fewer looks would see a task of 8 s more than 1 s late, more would cost a task of 30 s more requests than a
 *   fixed interval of 10 s does.
 * - Progress between 1 and 98 says where the end lies:
 *   - At constant speed, 40 % after 8 s means an end between 19.5 s (41 %) and 20 s; in steps of 25, 50 % means
 *     anything from 50 to 74. As long as all looks agree on such a span, the next look falls into it: where it is
 *     short, a look counts as much as 2 % of the time or 0.65 s of waiting; where it is long, the next look, 27 %
 *     past its beginning, finds the half of it that is right.
 *   - Looks that do not agree (fast, then slow) are put on the curve 1 - (1 - time / end) ^ k.
 *   Until a second look has confirmed the speed, gaps are 15 s or 12 % of the elapsed time at most, afterwards a
 *   minute. They are 0.7 s or 3 % of the elapsed time at least, and grow up to 10 s where progress rests.
 * - Jitter of up to 1 %, always later, keeps the tasks of a batch from looking all at once.
 *
 * `npm run bench -- schedule` measures it, test/core/pollSchedule.test.ts watches the goals. With progress, tasks
 * of 30 s are seen 0.2 to 0.9 s late after 3.0 to 3.8 requests (every 5 s: 2.5 s, 6.5 requests), longer ones
 * within 3 % of their duration. Without, they cost what a fixed interval of 10 s costs, in requests and in time.
 */
export type PollPlan = { kind: 'automatic' } | { kind: 'fixed'; intervalMs: number };

export interface Look {
	/** Milliseconds since the task was accepted. */
	atMs: number;
	/** 0 to 100; absent when the look got no answer or the service reports none. */
	progress?: number;
}

type Reading = Required<Look>;

const FIRST_LOOK_MS = 8_000;
const SECOND_LOOK_MS = 9_600;
const SILENT_GAP_MS = 10_000;
/** Still at 0 after 10 s is slow, if it says anything; no progress at all says nothing. */
const SILENT_FROM_MS = { stuck: 30_000, missing: 20_000 };
/** What jitter adds on average. */
const SILENT_EARLY_MS = 50;

/** Sizes of the steps in which services count. */
const STEPS = [25, 20, 10];
const LOOK_COST_MS = 650;
const LOOK_COST_OF_ELAPSED = 0.02;
/** A span is long when it is longer than both; then the next look comes at this share of its beginning. */
const LONG_SPAN_MS = 4_000;
const LONG_SPAN_OF_START = 0.3;
const LONG_SPAN_LOOK = 1.27;

const SHORTEST_GAP_MS = 700;
const SHORTEST_GAP_OF_ELAPSED = 0.03;
const SHORTEST_GAP_OF_REST = 0.2;
const LONGEST_GAP_MS = 60_000;
const UNCONFIRMED_GAP_MS = 15_000;
const UNCONFIRMED_GAP_OF_ELAPSED = 0.12;
/** At 99 % the end is near, whatever the curve says. */
const NEAR_END_GAP_OF_ELAPSED = 0.06;
const JITTER = 0.01;

/** Milliseconds from now (`elapsedMs` after acceptance) until the next look. */
export function nextLookDelayMs(
	looks: readonly Look[],
	elapsedMs: number,
	plan: PollPlan,
	random: () => number,
): number {
	if (plan.kind === 'fixed') return looks.length > 0 ? plan.intervalMs : Math.max(0, plan.intervalMs - elapsedMs);
	if (looks.length === 0 && elapsedMs >= FIRST_LOOK_MS) return 0;
	const readings = looks.filter((look): look is Reading => look.progress !== undefined && look.atMs > 0);
	const telling = readings.filter(({ progress }) => progress >= 1 && progress <= 98);
	const delayMs =
		telling.length === 0
			? silentLookAtMs(elapsedMs, readings.length > 0 ? 'stuck' : 'missing') - elapsedMs
			: toldGapMs(readings, telling, elapsedMs);
	return Math.max(0, delayMs) * (1 + random() * JITTER);
}

/** The plan while progress says nothing: whole tens of seconds, as the service asks. */
function silentLookAtMs(elapsedMs: number, how: keyof typeof SILENT_FROM_MS): number {
	if (elapsedMs < FIRST_LOOK_MS) return FIRST_LOOK_MS;
	if (elapsedMs < SECOND_LOOK_MS - SHORTEST_GAP_MS) return SECOND_LOOK_MS;
	const nextMs = Math.ceil(elapsedMs / SILENT_GAP_MS + 0.5) * SILENT_GAP_MS;
	return Math.max(SILENT_FROM_MS[how], nextMs) - SILENT_EARLY_MS;
}

function toldGapMs(readings: readonly Reading[], telling: readonly Reading[], elapsedMs: number): number {
	const { progress: latest } = last(readings);
	const resting = [...readings].reverse().findIndex(({ progress }) => progress !== latest);
	const restsSinceMs = readings[resting === -1 ? 0 : readings.length - resting]?.atMs ?? elapsedMs;
	const shortestMs = Math.max(
		SHORTEST_GAP_MS,
		SHORTEST_GAP_OF_ELAPSED * elapsedMs,
		Math.min(SILENT_GAP_MS, SHORTEST_GAP_OF_REST * (elapsedMs - restsSinceMs)),
	);
	let longestMs = Math.max(UNCONFIRMED_GAP_MS, UNCONFIRMED_GAP_OF_ELAPSED * elapsedMs);
	let lookAtMs: number;
	const { step, startMs, endMs } = spanOfEnd(readings, telling);
	if (endMs > Math.max(startMs, elapsedMs)) {
		if (step === 1 && telling.length > 1) longestMs = LONGEST_GAP_MS;
		lookAtMs = lookWithinMs(Math.max(startMs, elapsedMs), endMs);
	} else {
		if (latest > 98) longestMs = NEAR_END_GAP_OF_ELAPSED * elapsedMs;
		lookAtMs = endOfCurveMs(telling);
	}
	return Math.min(LONGEST_GAP_MS, longestMs, Math.max(shortestMs, lookAtMs - elapsedMs));
}

/** Where the end lies at constant speed, if all readings agree: otherwise it ends before it starts. */
function spanOfEnd(readings: readonly Reading[], telling: readonly Reading[]) {
	const step = STEPS.find((size) => telling.every(({ progress }) => progress % size === 0)) ?? 1;
	return {
		step,
		startMs: Math.max(...readings.map(({ atMs, progress }) => (100 * atMs) / (progress + step))),
		endMs: Math.min(...telling.map(({ atMs, progress }) => (100 * atMs) / progress)),
	};
}

/**
 * The end may be anywhere in the span. With k looks in it, gaps that shrink by the cost of a look are best: the
 * more of the span has passed, the fewer looks are likely to follow.
 */
function lookWithinMs(startMs: number, endMs: number): number {
	const spanMs = endMs - startMs;
	if (spanMs > Math.max(LONG_SPAN_MS, LONG_SPAN_OF_START * startMs)) return startMs * LONG_SPAN_LOOK;
	const costMs = Math.max(LOOK_COST_MS, LOOK_COST_OF_ELAPSED * startMs);
	const count = Math.floor((1 + Math.sqrt(1 + (8 * spanMs) / costMs)) / 2);
	return startMs + spanMs / count + ((count - 1) / 2) * costMs;
}

/** The end of the curve 1 - (1 - time / end) ^ k through the last two readings that differ. 0: not known. */
function endOfCurveMs(telling: readonly Reading[]): number {
	const b = last(telling);
	const a = telling.filter(({ progress }) => progress < b.progress).at(-1);
	if (a === undefined) return 0;
	// Both logarithms are k times those of the time that is left, so their ratio does not depend on k.
	const ratio = logOfRest(b.progress + 0.5, 100) / logOfRest(a.progress + 0.5, 100);
	if (ratio <= b.atMs / a.atMs) return Infinity;
	let [lowMs, highMs] = [b.atMs, b.atMs * 16];
	while (highMs - lowMs > 50) {
		const endMs = (lowMs + highMs) / 2;
		if (logOfRest(b.atMs, endMs) / logOfRest(a.atMs, endMs) > ratio) lowMs = endMs;
		else highMs = endMs;
	}
	return highMs;
}

function logOfRest(part: number, whole: number): number {
	return Math.log(1 - part / whole);
}

function last(readings: readonly Reading[]): Reading {
	return readings[readings.length - 1] as Reading; // asked of those that have one only
}
