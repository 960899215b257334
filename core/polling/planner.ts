import { BINS, type SurvivalTable } from './survivalTable';
import { afterReading, hasBegunAgain, NO_READING, type Reading, type ProgressBelief, type Window } from './progress';

/**
 * Plans the next poll of a task.
 *
 * A poll in vain has a price, and so has every moment in which a finished task waits to be seen. The next poll comes at
 * the first moment t at which the time that is probably lost since the last answered poll, at s, equals the price of a
 * poll in vain:
 *
 *     ∫ (t − x) f(x) dx from s to t  =  price × ∫ f(x) dx from t on
 *
 * where f is the belief about the end of the task. On the left, a task that ended at x has waited t − x. On the right,
 * the price is paid if the task ends after t. Earlier, the price outweighs what can be lost; later, it is the other way
 * round. Nothing has to be normalised, because both sides grow alike.
 *
 * f is a product of two things: the survival table of such tasks (`survivalTable.ts`), and the belief from the progress
 * of this one (`progress.ts`). Both are constant within a bin or a window, so every piece of the equation is a
 * quadratic.
 *
 * Measured by `npm run bench -- polling`.
 */

/** One poll, answered or not. */
export interface Poll {
	/** Milliseconds since the task was accepted. */
	atMs: number;
	/** 0 to 100; absent when the service reports none. */
	progress?: number;
	/** No answer, or one that says nothing of the task. */
	failed?: boolean;
}

/** The latest polls, by which a wait goes on after a sleep: about all that the plan needs. */
export const MAX_POLLS = 12;

/** The part of a wait that its later parts go by. */
export interface KeptWait {
	/** The latest polls. Times count from the acceptance. */
	polls?: Poll[];
	/** The service has asked for a pause until then. Unix milliseconds. */
	notBeforeMs?: number;
	/** All answers since then contradict the acceptance. Unix milliseconds. */
	contradictedSinceMs?: number;
	/** The wait goes on for so long since then. */
	graceMs?: number;
	/** The same answer, which cannot get better, has come since then. Unix milliseconds. */
	sameAnswer?: { sinceMs: number; polls: number; words: string };
}

/**
 * Adds a poll, and drops the oldest one where there are too many: not those two that show that the progress has begun again,
 * because all that comes later counts from there.
 */
export function keepPoll(polls: Poll[], poll: Poll): void {
	polls.push(poll);
	if (polls.length <= MAX_POLLS) return;
	let last: [index: number, reading: Reading] | undefined;
	let beginning: { from?: number; to?: number } = {};
	for (const [index, each] of polls.entries()) {
		if (!isReading(each)) continue;
		if (hasBegunAgain(each, last?.[1])) beginning = { from: last?.[0], to: index };
		last = [index, each];
	}
	const { from, to } = beginning;
	polls.splice(from === 0 ? (to === 1 ? 2 : 1) : 0, 1);
}

const isReading = (poll: Poll): poll is Poll & Reading => poll.progress !== undefined;

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

/** The price of a poll in vain, in milliseconds. Twice: about 1.4 times as late, after 0.7 times as many polls. */
const PRICE_MS = 500;
/**
 * The price of a poll in vain, as a share of the time that a request would wait for its turn: about half of the waiting
 * tasks have finished. Twice: at the limit of the service, capacity stays unused; half: it goes to polls in vain.
 */
const PRICE_OF_BACKLOG = 0.5;
/**
 * The shortest time between two polls. Twice: short tasks are seen later; half: the end of a linear task costs more
 * polls.
 */
export const SHORTEST_GAP_MS = 500;
/**
 * The longest time between two polls, where the task is younger than that. Half: tasks of minutes cost more polls;
 * twice: a wrong belief about a young task lasts longer.
 */
export const LONG_GAP_MS = 60_000;
/**
 * The longest time between two polls, however old the task is. Half: tasks of hours cost twice the polls; twice: a late
 * one is seen up to 20 minutes late.
 */
export const LONGEST_GAP_MS = 600_000;
/**
 * The time to the next poll after one that has failed, then twice as long each time, up to the second value or that
 * share of the age. Half of each: trouble is over sooner for the task, and a service in trouble gets twice the
 * requests.
 */
const FAILED_GAP_MS = 500;
const FAILED_LONG_GAP_MS = 4_000;
const FAILED_GAP_OF_AGE = 0.1;

export const NOT_POLLED: PollState = { belief: NO_READING, answeredAtMs: 0, lastAtMs: 0, failures: 0 };

/** The state after one more poll. */
export function afterPoll(state: PollState, { atMs, progress, failed = false }: Poll): PollState {
	if (failed) return { ...state, lastAtMs: atMs, failures: state.failures + 1 };
	const belief = progress === undefined || atMs <= 0 ? state.belief : afterReading(state.belief, { atMs, progress });
	return { belief, answeredAtMs: Math.max(atMs, state.answeredAtMs), lastAtMs: atMs, failures: 0 };
}

/**
 * The age at which to poll next, in milliseconds. May lie in the past: then now.
 *
 * @param turn from 0 to 2: the share of the price that this poll pays. Tasks of a batch draw it, so that they do not
 * poll in step and the first end is soon seen; a single task pays 1.
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
	const gapMs =
		balancedAtMs(beliefFrom(answeredAtMs, belief.windows, table), PRICE_MS * turn + PRICE_OF_BACKLOG * backlogMs) -
		answeredAtMs;
	return answeredAtMs + Math.min(longestMs, Math.max(SHORTEST_GAP_MS, gapMs));
}

/** A part of f with a constant density. */
export interface Piece {
	fromMs: number;
	toMs: number;
	/** Per millisecond. */
	density: number;
}

/** f from an age on, in pieces within which it is constant. */
export function beliefFrom(startMs: number, windows: readonly Window[], table: SurvivalTable): Piece[] {
	const edges = windows.flatMap(({ fromMs, toMs }) => [fromMs, toMs]).sort((one, other) => one - other);
	const pieces: Piece[] = [];
	let edge = 0;
	let alive = 1;
	for (const [index, bin] of BINS.entries()) {
		if (bin.toMs <= startMs) continue;
		const finished = alive * table.shareFinished(index);
		alive -= finished;
		const density = finished / (bin.toMs - bin.fromMs);
		for (let fromMs = Math.max(bin.fromMs, startMs); fromMs < bin.toMs; ) {
			while ((edges[edge] ?? Infinity) <= fromMs) edge++;
			const toMs = Math.min(bin.toMs, edges[edge] ?? Infinity);
			pieces.push({ fromMs, toMs, density: density * weightAt((fromMs + toMs) / 2, windows) });
			fromMs = toMs;
		}
	}
	return pieces;
}

function weightAt(ageMs: number, windows: readonly Window[]): number {
	let sum = 0;
	for (const { fromMs, toMs, weight } of windows) if (fromMs < ageMs && ageMs < toMs) sum += weight;
	return sum;
}

/** The first moment at which the time probably lost equals the price of a poll in vain. */
function balancedAtMs(pieces: readonly Piece[], priceMs: number): number {
	let running = pieces.reduce((sum, { fromMs, toMs, density }) => sum + density * (toMs - fromMs), 0);
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
