/**
 * Plans the next poll of a task.
 *
 * A poll in vain has a price, and so has every moment in which a finished task waits to be seen. The next poll comes at
 * the first moment t at which the time that is probably lost since the last answered poll, at s, equals the price of a
 * poll in vain:
 *
 *     ∫ (t − x) f(x) dx from s to t  =  price × ∫ f(x) dx from t on
 *
 * On the left, a task that ended at x has waited t − x. On the right, the price is paid if the task ends after t.
 * Earlier, the price outweighs what can be lost; later, it is the other way round. Nothing has to be normalised, because
 * both sides grow alike.
 *
 * f is the belief about the end of the task: what its progress allows, times what the survival table expects of such
 * tasks. No contract says what a service means by its progress, so there are several hypotheses, each with a weight.
 * Under each, every reading leaves a window in which the task ends, and the windows of all readings overlap. A reading
 * that does not fit makes the hypothesis much less likely, and its window starts again from that reading. f is constant
 * within a piece, so every piece of the equation is a quadratic.
 *
 * Measured by `npm run bench -- polling`.
 */
import { BINS, type Bin, type SurvivalTable } from './survivalTable';

/** The price of a poll in vain, in milliseconds. Twice: about 1.4 times as late, after 0.7 times as many polls. */
const PRICE_MS = 500;
/**
 * The same, as a share of the time that a request would wait for its turn: about half of the waiting tasks have finished.
 * Twice: at the limit of the service, capacity stays unused; half: it goes to polls in vain.
 */
const PRICE_OF_BACKLOG = 0.5;
/** The shortest time between two polls. Twice: short tasks are seen later; half: the end of a linear task costs more. */
export const SHORTEST_GAP_MS = 500;
/**
 * The longest time between two polls, where the task is younger than that. Half: tasks of minutes cost more polls;
 * twice: a wrong belief about a young task lasts longer.
 */
export const LONG_GAP_MS = 60_000;
/** The same for any task. Half: tasks of hours cost twice the polls; twice: a late one is seen up to 20 minutes late. */
export const LONGEST_GAP_MS = 600_000;
/**
 * The time to the next poll after one that has failed, then twice as long each time, up to the second value or that share
 * of the age. Half of each: trouble is over sooner for the task, and a service in trouble gets twice the requests.
 */
const FAILED_GAP_MS = 500;
const FAILED_LONG_GAP_MS = 4_000;
const FAILED_GAP_OF_AGE = 0.1;

/** Clocks and timers may be early by this share of an interval. Less, and an early timer polls twice; more, and a late poll skips one. */
const EARLY = 0.01;

/** Poll at every multiple of an interval after the acceptance, or when a poll is likely to pay. */
export type PollPlan = { kind: 'automatic' } | { kind: 'fixed'; intervalMs: number };

/** One poll, answered or not. */
export interface Poll {
	/** Milliseconds since the task was accepted. */
	atMs: number;
	/** 0 to 100; absent when the service reports none. */
	progress?: number;
	/** No answer, or one that says nothing of the task. */
	failed?: boolean;
}

export interface ScheduledTask {
	/** Earlier durations of such tasks. It learns from this one. */
	table: SurvivalTable;
	/** A number in [0, 1). */
	random: () => number;
	/** The age of the task when the wait began: it may have finished before. */
	ageAtStartMs: number;
	/** The polls of earlier parts of the same wait. */
	polls?: readonly Poll[];
}

/** Plans the polls of one task, and teaches its table. Ages are milliseconds since the acceptance. */
export class PollSchedule {
	private state = NOT_POLLED;

	/** The share of a poll's price that the next one pays. */
	private turn = 1;

	private isOver = false;

	constructor(
		private readonly plan: PollPlan,
		private readonly task: ScheduledTask,
	) {
		task.table.running++;
		this.drawTurn();
		for (const poll of task.polls ?? []) this.polled(poll);
	}

	/**
	 * The age at which to poll next; may lie in the past.
	 *
	 * @param backlogMs the time that a request would wait for its turn. A poll is put off by it instead of standing in
	 *   line: meanwhile the polls of other tasks may show that it is too early.
	 */
	nextPollAtMs(backlogMs: number): number {
		const { state, plan } = this;
		if (plan.kind === 'automatic') return nextPollAtMs(state, this.task.table, this.turn, backlogMs) + backlogMs;
		return plan.intervalMs * Math.max(1, Math.floor(state.lastAtMs / plan.intervalMs + EARLY) + 1);
	}

	/** A poll has found the task unfinished, or got no answer. */
	polled(poll: Poll): void {
		const { answeredAtMs } = this.state;
		this.state = afterPoll(this.state, poll);
		this.task.table.seenRunning(answeredAtMs, this.state.answeredAtMs);
		this.drawTurn();
	}

	timeLeft(ageMs: number): TimeLeft {
		const { belief, answeredAtMs } = this.state;
		return timeLeft(belief.windows, this.task.table, Math.max(answeredAtMs, ageMs));
	}

	/**
	 * A poll has found the task finished. It teaches nothing where the wait began so late that an earlier poll would have
	 * come before: the task may have finished at any time since then.
	 */
	finished(ageMs: number): void {
		if (this.isOver) return;
		this.end();
		const { table, ageAtStartMs } = this.task;
		const { answeredAtMs } = this.state;
		const isInTime = answeredAtMs > 0 || ageAtStartMs <= nextPollAtMs(NOT_POLLED, table, 1, 0);
		if (isInTime && ageMs > answeredAtMs) table.learn(answeredAtMs, ageMs);
	}

	/** The wait is over, however it ended. */
	end(): void {
		if (this.isOver) return;
		this.isOver = true;
		this.task.table.running--;
		this.task.table.seenRunning(this.state.answeredAtMs, 0);
	}

	/** 1 for a single task; random in a batch, so that its tasks do not poll in step and the first end is soon seen. */
	private drawTurn(): void {
		this.turn = this.task.table.running > 1 ? 2 * this.task.random() : 1;
	}
}

/** The latest polls, by which a wait goes on after a sleep: about all that the plan needs. */
export const MAX_POLLS = 12;

/** Adds a poll. Of too many it drops one behind the first two: these may show that the progress has begun again. */
export function keepPoll(polls: Poll[], poll: Poll): void {
	const last = polls.filter(isReading).at(-1);
	polls.push(poll);
	if (isReading(poll) && hasBegunAgain(poll, last)) polls.splice(0, polls.length, last, poll);
	if (polls.length > MAX_POLLS) polls.splice(2, 1);
}

/** A poll with a progress, in percent. */
type Reading = Poll & { progress: number };

const isReading = (poll: Poll): poll is Reading => poll.progress !== undefined;

/** All that counts of the polls so far: small, whatever their number. */
export interface PollState {
	readonly belief: ProgressBelief;
	/** The last poll that got an answer. Milliseconds since the task was accepted. */
	readonly answeredAtMs: number;
	/** The last poll, answered or not. */
	readonly lastAtMs: number;
	/** Failed polls since the last answer. */
	readonly failures: number;
}

/** The state after one more poll. */
export function afterPoll(state: PollState, { atMs, progress, failed = false }: Poll): PollState {
	if (failed) return { ...state, lastAtMs: atMs, failures: state.failures + 1 };
	const belief = progress === undefined || atMs <= 0 ? state.belief : afterReading(state.belief, { atMs, progress });
	return { belief, answeredAtMs: Math.max(atMs, state.answeredAtMs), lastAtMs: atMs, failures: 0 };
}

/**
 * The age at which to poll next, in milliseconds. May lie in the past: then now.
 *
 * @param turn from 0 to 2: the share of the price that this poll pays
 * @param backlogMs the time that a request would wait for its turn: a poll in vain delays those that wait, too
 */
export function nextPollAtMs(
	{ belief, answeredAtMs, lastAtMs, failures }: PollState,
	table: SurvivalTable,
	turn: number,
	backlogMs: number,
): number {
	if (failures > 0) {
		const longestMs = Math.min(LONG_GAP_MS, Math.max(FAILED_LONG_GAP_MS, FAILED_GAP_OF_AGE * lastAtMs));
		return lastAtMs + Math.min(longestMs, FAILED_GAP_MS * 2 ** (failures - 1));
	}
	const longestMs = Math.min(LONGEST_GAP_MS, Math.max(LONG_GAP_MS, answeredAtMs));
	const priceMs = PRICE_MS * turn + PRICE_OF_BACKLOG * backlogMs;
	const gapMs = balancedAtMs(beliefFrom(answeredAtMs, belief.windows, table), priceMs) - answeredAtMs;
	return answeredAtMs + Math.min(longestMs, Math.max(SHORTEST_GAP_MS, gapMs));
}

/** The first moment at which the time probably lost equals the price of a poll in vain. */
function balancedAtMs(pieces: readonly Piece[], priceMs: number): number {
	let running = wholeOf(pieces);
	let finished = 0;
	let lostMs = 0;
	for (const { fromMs, toMs, density } of pieces) {
		const gapMs = toMs - fromMs;
		const lostAtEndMs = lostMs + finished * gapMs + (density * gapMs * gapMs) / 2;
		const runningAtEnd = running - density * gapMs;
		if (lostAtEndMs >= priceMs * runningAtEnd && lostAtEndMs > 0) {
			// density / 2 × τ² + (finished + price × density) × τ = price × running − lost, for τ after the piece begins.
			const linear = finished + priceMs * density;
			const open = Math.max(0, priceMs * running - lostMs);
			if (open === 0) return fromMs;
			return fromMs + (2 * open) / (linear + Math.sqrt(linear * linear + 2 * density * open));
		}
		lostMs = lostAtEndMs;
		finished += density * gapMs;
		running = runningAtEnd;
	}
	return Infinity;
}

/** The time that a task probably still takes, in milliseconds. */
export interface TimeLeft {
	/** As likely more as less. */
	aboutMs: number;
	/** Of 100 tasks, 80 end between these. */
	fromMs: number;
	toMs: number;
}

/** The share of the belief before the interval, and after it: not a tenth, because it is a little too sure of itself. */
const OUTSIDE = 0.07;

/** The belief from an age on, as an estimate of the time that is left. */
function timeLeft(windows: readonly Window[], table: SurvivalTable, ageMs: number): TimeLeft {
	const pieces = beliefFrom(ageMs, windows, table);
	const whole = wholeOf(pieces);
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

const LAST_MS = (BINS.at(-1) as Bin).toMs;

/** A part of f with a constant density. */
interface Piece {
	fromMs: number;
	toMs: number;
	/** Per millisecond. */
	density: number;
}

/** f from an age on. */
function beliefFrom(startMs: number, windows: readonly Window[], table: SurvivalTable): Piece[] {
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

const wholeOf = (pieces: readonly Piece[]) =>
	pieces.reduce((sum, { fromMs, toMs, density }) => sum + density * (toMs - fromMs), 0);

/** The task ends between these ages, in milliseconds. The weight is that of the hypothesis beside the others. */
interface Window {
	readonly fromMs: number;
	readonly toMs: number;
	readonly weight: number;
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
 * The weight of "it says nothing": stuck at 0, missing, 99 early. Twice: silent tasks are polled earlier, others more.
 */
const MUTE_WEIGHT = 0.1;
/** The share of its weight that a hypothesis keeps when a reading contradicts it. Ten times: it clings to what is wrong. */
const CONTRADICTED = 0.05;
/** The share that "it says nothing" keeps when the progress moves. */
const MOVED = 0.02;
/** The least fall, in percent, that is more than a service that counts inexactly. */
const LEAST_FALL = 10;
/** The error of an age: a reading is older than its answer, a task younger than its acceptance. Half misses ends. */
const TOLERANCE_MS = 100;
const TOLERANCE_OF_AGE = 0.002;

/** The belief about the end that the progress so far allows: small, whatever the number of readings. */
interface ProgressBelief {
	/** One per hypothesis, in their order; then those of "it has waited first" and "it says nothing". */
	readonly windows: readonly Window[];
	readonly last?: Reading;
	/** The first reading above 0. */
	readonly moved?: Reading;
	/** The age at which the progress began to count: later than 0 where it has begun again. */
	readonly originMs: number;
}

const NO_READING: ProgressBelief = {
	windows: [...HYPOTHESES, { weight: WAITED_WEIGHT }, { weight: MUTE_WEIGHT }].map(({ weight }) => ({
		fromMs: 0,
		toMs: Infinity,
		weight,
	})),
	originMs: 0,
};

export const NOT_POLLED: PollState = { belief: NO_READING, answeredAtMs: 0, lastAtMs: 0, failures: 0 };

function afterReading(before: ProgressBelief, { atMs, progress }: Reading): ProgressBelief {
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
function hasBegunAgain({ atMs, progress }: Reading, last: Reading | undefined): last is Reading {
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
