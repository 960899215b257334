/**
 * Plans the next poll of a task.
 *
 * A poll in vain has a price, and so has every moment in which a finished task waits to be seen. The next poll comes at
 * the first moment t at which the time that is probably lost since the last answered poll, at s, equals the price of a
 * poll in vain:
 *
 *     ∫ (t − x) f(x) dx from s to t  =  price × ∫ f(x) dx from t on
 *
 * where f is the belief about the end of the task (`belief.ts`). On the left, a task that ended at x has waited t − x.
 * On the right, the price is paid if the task ends after t. Earlier, the price outweighs what can be lost; later, it is
 * the other way round. Nothing has to be normalised, because both sides grow alike. f is constant within a piece, so
 * every piece of the equation is a quadratic.
 *
 * Measured by `npm run bench -- polling`.
 */
import {
	afterReading,
	beliefFrom,
	hasBegunAgain,
	NO_READING,
	timeLeft,
	type Piece,
	type ProgressBelief,
	type Reading,
	type TimeLeft,
} from './belief';
import type { SurvivalTable } from './survivalTable';

/** One poll, answered or not. */
export interface Poll {
	/** Milliseconds since the task was accepted. */
	atMs: number;
	/** 0 to 100; absent when the service reports none. */
	progress?: number;
	/** No answer, or one that says nothing of the task. */
	failed?: boolean;
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

/** Poll at every multiple of an interval after the acceptance, or when a poll is likely to pay. */
export type PollPlan = { kind: 'automatic' } | { kind: 'fixed'; intervalMs: number };

/** Clocks and timers may be early by this share of an interval. Less, and an early timer polls twice; more, and a late poll skips one. */
const EARLY = 0.01;

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

const isReading = (poll: Poll): poll is Poll & Reading => poll.progress !== undefined;
