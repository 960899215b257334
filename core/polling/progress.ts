/**
 * The belief about the end of a task that follows from its progress.
 *
 * Nobody knows what a service means by its progress, so there are several hypotheses, each with a weight. Under each,
 * every reading leaves a window in which the task ends, and the windows of all readings overlap. A reading that does
 * not fit makes the hypothesis much less likely, and its window starts again from that reading.
 */

/** The task ends between these ages. Milliseconds. */
export interface Window {
	readonly fromMs: number;
	readonly toMs: number;
	/** The weight of this hypothesis beside the others. */
	readonly weight: number;
}

/** Progress in percent at an age. Only readings with a progress are readings. */
export interface Reading {
	atMs: number;
	progress: number;
}

/** A rule that the progress of a task may follow. */
interface Hypothesis {
	/**
	 * `slowing`: progress = 1 - (1 - age / end) ^ k; services that are fast first have k of 1.5 to 4, at constant speed it
	 * is 1. `growing`: progress = (age / end) ^ k. `waiting`: at constant speed since the first reading above 0.
	 */
	curve: 'slowing' | 'growing' | 'waiting';
	/** The range of k. */
	k: readonly [number, number];
	/** The progress comes in steps of so many percent. */
	step: number;
	/** True: rounded to the nearest step; otherwise down. */
	rounded?: true;
	/** The weight before the first reading: small for a rule with wide windows, because almost every reading fits it. */
	weight: number;
}

/**
 * The rules that services were seen to follow. Half or twice a weight changes the result by less than a tenth; a rule
 * that is missing makes its services much slower.
 */
const HYPOTHESES: readonly Hypothesis[] = [
	{ curve: 'slowing', k: [1, 1], step: 1, weight: 0.5 },
	{ curve: 'slowing', k: [1, 1], step: 10, weight: 0.15 },
	{ curve: 'slowing', k: [1, 1], step: 25, weight: 0.15 },
	{ curve: 'slowing', k: [1, 1], step: 1, rounded: true, weight: 0.05 },
	{ curve: 'slowing', k: [1, 1], step: 10, rounded: true, weight: 0.02 },
	{ curve: 'slowing', k: [1, 1.5], step: 1, weight: 0.005 },
	{ curve: 'slowing', k: [1.5, 2.5], step: 1, weight: 0.01 },
	{ curve: 'slowing', k: [2.5, 4], step: 1, weight: 0.01 },
	{ curve: 'growing', k: [1, 2.5], step: 1, weight: 0.001 },
	{ curve: 'waiting', k: [1, 1], step: 1, weight: 0.005 },
];
/**
 * The weight of the hypothesis that the progress says nothing: stuck at 0, missing, or 99 early. Twice as much polls
 * silent tasks earlier, others more often.
 */
const MUTE_WEIGHT = 0.1;
/**
 * The share of its weight that a hypothesis keeps when a reading contradicts it. Ten times as much clings to what is
 * wrong.
 */
const CONTRADICTED = 0.05;
/** The share that "it says nothing" keeps when the progress moves; a jump from 0 to 99 says little. */
const MOVED = 0.02;
const JUMPED = 0.05;
/** The least fall, in percent, that is more than a service that counts inexactly. */
const LEAST_FALL = 10;
/**
 * The error of an age, in milliseconds: a reading is a little older than its answer, and a task a little younger than
 * its acceptance. Half misses ends.
 */
const TOLERANCE_MS = 100;
const TOLERANCE_OF_AGE = 0.002;

/** The belief after the readings so far: small, whatever their number. */
export interface ProgressBelief {
	/** One per hypothesis, in their order; the last belongs to "it says nothing". */
	readonly windows: readonly Window[];
	readonly last?: Reading;
	/** The age at which the progress began to count: later than 0 where it has begun again. */
	readonly originMs: number;
	/** The age of the last reading at 0. */
	readonly lastAtZeroMs?: number;
	readonly firstMoved?: Reading;
}

export const NO_READING: ProgressBelief = {
	windows: [...HYPOTHESES, { weight: MUTE_WEIGHT }].map(({ weight }) => ({ fromMs: 0, toMs: Infinity, weight })),
	originMs: 0,
};

export function afterReading(before: ProgressBelief, { atMs, progress }: Reading): ProgressBelief {
	const reading = { atMs, progress: Math.min(100, Math.max(0, Math.floor(progress))) };
	const belief = hasBegunAgain(reading, before.last) ? begunAgain(before.last) : before;
	const { originMs } = belief;
	const lastAtZeroMs = reading.progress === 0 ? atMs : belief.lastAtZeroMs;
	const firstMoved = belief.firstMoved ?? (reading.progress > 0 ? reading : undefined);
	const toleranceMs = TOLERANCE_MS + TOLERANCE_OF_AGE * atMs;
	const windows = HYPOTHESES.map((hypothesis, index) => {
		const window = belief.windows[index] as Window;
		const allowed =
			hypothesis.curve === 'waiting'
				? spanSinceMoved(reading, firstMoved, lastAtZeroMs)
				: spanOnCurve(reading, hypothesis, originMs);
		const fitsStep = reading.progress % hypothesis.step === 0 || reading.progress >= 99;
		return narrowed(window, allowed, fitsStep ? 1 : CONTRADICTED, toleranceMs);
	});
	const mute = belief.windows[HYPOTHESES.length] as Window;
	return {
		windows: [...windows, { ...mute, weight: mute.weight * muteFactor(reading, belief.last) }],
		last: reading,
		originMs,
		lastAtZeroMs,
		firstMoved,
	};
}

/** True where the progress falls so far that it counts another stage of the task, or another try. */
export function hasBegunAgain({ atMs, progress }: Reading, last: Reading | undefined): last is Reading {
	if (last === undefined || atMs <= last.atMs) return false;
	return last.progress - progress > LEAST_FALL && progress < last.progress / 2;
}

/** Forgets what was read before, which says nothing of the end: the rules count from the last reading on. */
function begunAgain({ atMs }: Reading): ProgressBelief {
	return { ...NO_READING, originMs: atMs, lastAtZeroMs: atMs };
}

interface Span {
	fromMs: number;
	toMs: number;
}

function narrowed({ fromMs, toMs, weight }: Window, allowed: Span, factor: number, toleranceMs: number): Window {
	const [lowMs, highMs] = [allowed.fromMs - toleranceMs, allowed.toMs + toleranceMs];
	if (lowMs < toMs && highMs > fromMs)
		return { fromMs: Math.max(fromMs, lowMs), toMs: Math.min(toMs, highMs), weight: weight * factor };
	return { fromMs: lowMs, toMs: highMs, weight: weight * factor * CONTRADICTED };
}

function spanOnCurve(
	{ atMs, progress }: Reading,
	{ curve, step, rounded, k: [low, high] }: Hypothesis,
	originMs: number,
): Span {
	const least = Math.max(0, rounded ? progress - step / 2 : progress);
	const most = rounded ? progress + step / 2 : progress + step;
	const ageMs = atMs - originMs;
	const [first, last] =
		curve === 'growing'
			? [shareOfGrowing(most, high), shareOfGrowing(least, low)]
			: [shareOfSlowing(most, low), shareOfSlowing(least, high)];
	return { fromMs: originMs + ageMs / first, toMs: originMs + ageMs / last };
}

/** The share of its duration that a task has behind it at this progress. */
function shareOfSlowing(progress: number, k: number): number {
	return 1 - (1 - Math.min(1, progress / 100)) ** (1 / k);
}

function shareOfGrowing(progress: number, k: number): number {
	return Math.min(1, progress / 100) ** (1 / k);
}

function spanSinceMoved({ atMs, progress }: Reading, firstMoved: Reading | undefined, lastAtZeroMs = 0): Span {
	if (firstMoved === undefined) return { fromMs: atMs, toMs: Infinity };
	if (firstMoved.atMs === atMs) return { fromMs: atMs, toMs: lastAtZeroMs + (100 * (atMs - lastAtZeroMs)) / progress };
	const passedMs = atMs - firstMoved.atMs;
	const moved = progress - firstMoved.progress;
	return {
		fromMs: atMs + (passedMs * Math.max(0, 99 - progress)) / Math.max(1, moved + 1),
		toMs: moved > 1 ? atMs + (passedMs * (100 - progress)) / (moved - 1) : Infinity,
	};
}

function muteFactor({ progress }: Reading, last: Reading | undefined): number {
	if (progress === 0 || progress === last?.progress) return 1;
	return progress >= 99 && (last?.progress ?? 0) === 0 ? JUMPED : MOVED;
}
