/**
 * The belief about the end of a task: what its progress allows, times what the survival table expects of such tasks.
 *
 * No contract says what a service means by its progress, so there are several hypotheses, each with a weight. Under
 * each, every reading leaves a window in which the task ends, and the windows of all readings overlap. A reading that
 * does not fit makes the hypothesis much less likely, and its window starts again from that reading.
 */
import { BINS, type Bin, type SurvivalTable } from './survivalTable';

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

/** The rule progress = 1 - (1 - age / end) ^ k, in steps. */
interface Hypothesis {
	/** The range of k: 1 is a constant speed; services that are fast first have 1.5 to 4. */
	k: readonly [number, number];
	/** The rule is progress = (age / end) ^ k: slow first. */
	growing?: true;
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
	{ k: [1, 1], step: 1, weight: 0.5 },
	{ k: [1, 1], step: 10, weight: 0.15 },
	{ k: [1, 1], step: 25, weight: 0.15 },
	{ k: [1, 1], step: 1, rounded: true, weight: 0.05 },
	{ k: [1, 1], step: 10, rounded: true, weight: 0.02 },
	{ k: [1, 1.5], step: 1, weight: 0.005 },
	{ k: [1.5, 2.5], step: 1, weight: 0.01 },
	{ k: [2.5, 4], step: 1, weight: 0.01 },
	{ k: [1, 2.5], growing: true, step: 1, weight: 0.001 },
];
/** The weight of the hypothesis that the task has waited first, and the progress counts from there at constant speed. */
const WAITED_WEIGHT = 0.005;
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
/** The share that "it says nothing" keeps when the progress moves. */
const MOVED = 0.02;
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
	/** One per hypothesis, in their order; then those of "it has waited first" and "it says nothing". */
	readonly windows: readonly Window[];
	readonly last?: Reading;
	/** The first reading above 0. */
	readonly moved?: Reading;
	/** The age at which the progress began to count: later than 0 where it has begun again. */
	readonly originMs: number;
}

export const NO_READING: ProgressBelief = {
	windows: [...HYPOTHESES.map(({ weight }) => weight), WAITED_WEIGHT, MUTE_WEIGHT].map((weight) => ({
		fromMs: 0,
		toMs: Infinity,
		weight,
	})),
	originMs: 0,
};

export function afterReading(before: ProgressBelief, { atMs, progress }: Reading): ProgressBelief {
	const reading = { atMs, progress: Math.min(100, Math.max(0, Math.floor(progress))) };
	// What was read before it has begun again says nothing of the end.
	const isNew = hasBegunAgain(reading, before.last);
	const { windows, originMs, last, moved } = isNew ? { ...NO_READING, originMs: before.last.atMs } : before;
	const first = moved ?? (reading.progress > 0 ? reading : undefined);
	const toleranceMs = TOLERANCE_MS + TOLERANCE_OF_AGE * atMs;
	const allowed = [
		...HYPOTHESES.map((rule) => spanOf(rule, reading, originMs)),
		spanSince(first, reading, last?.atMs ?? originMs),
	];
	return {
		windows: windows.map((window, index) => {
			const span = allowed[index];
			if (span === undefined) return { ...window, weight: window.weight * muteFactor(reading, last) };
			const { step = 1 } = HYPOTHESES[index] ?? {};
			const fits = reading.progress % step === 0 || reading.progress >= 99;
			return narrowed({ ...window, weight: window.weight * (fits ? 1 : CONTRADICTED) }, span, toleranceMs);
		}),
		last: reading,
		moved: first,
		originMs,
	};
}

/** True where the progress falls so far that it counts another stage of the task, or another try. */
export function hasBegunAgain({ atMs, progress }: Reading, last: Reading | undefined): last is Reading {
	if (last === undefined || atMs <= last.atMs) return false;
	return last.progress - progress > LEAST_FALL && progress < last.progress / 2;
}

type Span = [fromMs: number, toMs: number];

function narrowed({ fromMs, toMs, weight }: Window, [earliestMs, latestMs]: Span, toleranceMs: number): Window {
	const [lowMs, highMs] = [earliestMs - toleranceMs, latestMs + toleranceMs];
	if (lowMs < toMs && highMs > fromMs) return { fromMs: Math.max(fromMs, lowMs), toMs: Math.min(toMs, highMs), weight };
	return { fromMs: lowMs, toMs: highMs, weight: weight * CONTRADICTED };
}

/** The ends that a rule allows after a reading. */
function spanOf(rule: Hypothesis, { atMs, progress }: Reading, originMs: number): Span {
	const [low, high] = rule.growing ? [rule.k[1], rule.k[0]] : rule.k;
	const endAt = (percent: number, k: number) => {
		const done = Math.min(1, Math.max(0, percent / 100));
		return originMs + (atMs - originMs) / (rule.growing ? done ** (1 / k) : 1 - (1 - done) ** (1 / k));
	};
	const least = rule.rounded ? progress - rule.step / 2 : progress;
	return [endAt(least + rule.step, low), endAt(least, high)];
}

/**
 * The ends that a constant speed since the first reading above 0 allows.
 *
 * @param beforeMs the age of the reading before this one: the first one above 0 lies behind the beginning
 */
function spanSince(first: Reading | undefined, { atMs, progress }: Reading, beforeMs: number): Span {
	if (first === undefined) return [atMs, Infinity];
	if (first.atMs === atMs) return [atMs, beforeMs + (100 * (atMs - beforeMs)) / progress];
	const passedMs = atMs - first.atMs;
	const moved = progress - first.progress;
	return [
		atMs + (passedMs * Math.max(0, 99 - progress)) / Math.max(1, moved + 1),
		moved > 1 ? atMs + (passedMs * (100 - progress)) / (moved - 1) : Infinity,
	];
}

function muteFactor({ progress }: Reading, last: Reading | undefined): number {
	return progress === 0 || progress === last?.progress ? 1 : MOVED;
}

const LAST_MS = (BINS.at(-1) as Bin).toMs;

/** A part of f with a constant density. */
export interface Piece {
	fromMs: number;
	toMs: number;
	/** Per millisecond. */
	density: number;
}

/** f from an age on, in pieces within which it is constant. */
export function beliefFrom(startMs: number, windows: readonly Window[], table: SurvivalTable): Piece[] {
	const edges = [startMs, ...BINS.map(({ toMs }) => toMs), ...windows.flatMap(({ fromMs, toMs }) => [fromMs, toMs])]
		.filter((edgeMs) => edgeMs >= startMs && edgeMs <= LAST_MS)
		.sort((one, other) => one - other);
	const densities = table.densities();
	let bin = 0;
	return edges.slice(1).map((toMs, index) => {
		const fromMs = edges[index] as number;
		while ((BINS[bin] as Bin).toMs < toMs) bin++;
		return { fromMs, toMs, density: (densities[bin] as number) * weightAt((fromMs + toMs) / 2, windows) };
	});
}

function weightAt(ageMs: number, windows: readonly Window[]): number {
	let sum = 0;
	for (const { fromMs, toMs, weight } of windows) if (fromMs < ageMs && ageMs < toMs) sum += weight;
	return sum;
}

/** The time that a task probably still takes, in milliseconds. */
export interface TimeLeft {
	/** As likely more as less. */
	aboutMs: number;
	/** Of 100 tasks, 80 end between these. */
	fromMs: number;
	toMs: number;
}

/**
 * The share of the belief that lies before the interval, and after it. A tenth each would be right if the belief were:
 * it is a little too sure of itself.
 */
const OUTSIDE = 0.07;

/** The belief from an age on, as an estimate of the time that is left. */
export function timeLeft(windows: readonly Window[], table: SurvivalTable, ageMs: number): TimeLeft {
	const pieces = beliefFrom(ageMs, windows, table);
	const whole = pieces.reduce((sum, { fromMs, toMs, density }) => sum + density * (toMs - fromMs), 0);
	const leftAt = (share: number) => {
		let before = share * whole;
		for (const { fromMs, toMs, density } of pieces) {
			const mass = density * (toMs - fromMs);
			if (mass > 0 && mass >= before) return fromMs + (before / mass) * (toMs - fromMs) - ageMs;
			before -= mass;
		}
		return Infinity;
	};
	return { aboutMs: leftAt(0.5), fromMs: leftAt(OUTSIDE), toMs: leftAt(1 - OUTSIDE) };
}

/** Milliseconds that a task of this kind usually takes; undefined until one has been seen to end. */
export function usualMs(table: SurvivalTable): number | undefined {
	return table.learned === 0 ? undefined : timeLeft(NO_READING.windows, table, 0).aboutMs;
}
