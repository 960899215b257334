import { z } from 'zod';
import { asGatewayError, gatewayError, GatewayError, stoppedError, isTransient } from '../errors';
import type { CreatedThing, TaskReference } from '../errors';
import { refusesAccess } from '../errors/kinds';
import { isPlainObject } from '../json';
import { isAhead, steady, unixMs, type Clock } from '../clock';
import { formatDuration } from '../text';
import { keepPoll, MAX_POLLS, PollSchedule, type Poll, type PollPlan, type TimeLeft } from './planner';
import type { SurvivalTable } from './survivalTable';

/**
 * Milliseconds after which a wait is planned again: other tasks may have taught that an earlier poll pays. Twice: batches
 * are seen up to a second later; half: twice the work while waiting.
 */
const PLAN_AGAIN_MS = 1_000;

/** A task that claims to be older is not believed: services keep results for about a day. */
const LONGEST_AGE_MS = 86_400_000;

/** The time for which refusals are ridden out of a task that nothing was seen of: it may be new. Milliseconds. */
export const NEW_TASK_GRACE_MS = 30_000;

/** The time for one whose status was seen: a share of its age within these bounds. */
const SEEN_TASK_GRACE_MS = [120_000, 600_000] as const;
const SEEN_TASK_GRACE_OF_AGE = 0.25;

/** The same answer ends a wait after this time, and so many polls. */
const SAME_ANSWER_MS = 180_000;
const SAME_ANSWER_POLLS = 5;

/** Characters of what tells one answer from another. */
const MAX_SIGNATURE_LENGTH = 300;

/**
 * Waits until a task has ended: the only waiter of the package. Trouble that may pass does not end the wait before the
 * deadline; every error names the task, its last status and the time elapsed.
 */
export async function waitForTask<R>(target: PollTarget<R>, options: WaitOptions): Promise<Waited<R>> {
	return await new Wait(target, options).untilEnded();
}

/** Something to wait for. */
export interface PollTarget<R> {
	thing: CreatedThing;
	/** Named in every error. The wait keeps status, progress and time up to date. */
	task: TaskReference;
	/**
	 * One poll; throws a GatewayError otherwise.
	 *
	 * @param beforeSend called when it leaves: the pace of the account may hold it back for a minute
	 */
	fetch: (beforeSend?: () => void) => Promise<R>;
	statusOf(record: R): PollStatus;
	/** The error of a failed record. */
	toFailure(record: R): GatewayError;
	/**
	 * Says what the error of a poll means for this kind of thing: `passing` to go on, an error to end the wait with.
	 * Undefined: the general rule decides. Times are those of this poll and of the first one, by the clock of the wait.
	 */
	classifyError?: (
		error: GatewayError,
		poll: { atMs: number; firstAtMs: number },
	) => 'passing' | GatewayError | undefined;
}

/** The part of a record that counts for waiting, whatever kind of thing is waited for. */
export interface PollStatus {
	state: 'pending' | 'done' | 'failed';
	/** The status word, for messages. */
	status: string;
	/** 0 to 100. */
	progress?: number;
	/** The model, where the caller does not know it: how long a task takes depends on it. */
	model?: string;
	/** The time of creation, by the service's own clock. Unix milliseconds. */
	createdAtMs?: number;
	/** The service asks for a pause before the next poll. */
	retryAfterMs?: number;
}

export interface WaitOptions {
	plan: PollPlan;
	/** Earlier durations of such tasks. `model` is the one of the first answer, where `acceptedAtMs` is absent. */
	survivalTable: (model?: string) => SurvivalTable;
	/** The timeout counts from here. Milliseconds. */
	startedAtMs: number;
	/** The plan counts from here. Absent where it is not known: then the first poll comes at once. */
	acceptedAtMs?: number;
	timeoutMs: number;
	/** Milliseconds that a request would now wait for its turn. */
	backlogMs: () => number;
	/** Outlives the sleeps of the execution, which part a wait. */
	kept?: KeptWait;
	/** Of `kept`. */
	wallClock?: Pick<Clock, 'now'>;
	watcher?: WaitWatcher;
	clock: Clock;
	/** Aborts on a stop by the user, or when the rest of the batch gives up. */
	signal?: AbortSignal;
}

/** Gets to know how a wait goes while it lasts, to tell the user. */
export interface WaitWatcher {
	/** The polls of a task begin. The function estimates, at any time, how long it still takes. */
	begun(timeLeft: () => TimeLeft): void;
	/** A poll got no answer. */
	retrying(error: GatewayError, waitMs: number): void;
}

export interface Waited<R> {
	/** Of the last poll. */
	record?: R;
	waitedMs: number;
}

class Wait<R> {
	private readonly clock: Clock;

	private readonly deadlineMs: number;

	private readonly kept: KeptWait;

	private readonly gracePeriod: GracePeriod;

	private readonly polls: Poll[];

	/** Absent until it is known when the task began. */
	private schedule?: PollSchedule;

	/** Times of polls count from here. */
	private acceptedAtMs: number;

	/** The service asks for a pause until then. */
	private askedUntilMs: number;

	private firstAtMs?: number;

	private record?: R;

	/** The reason why the last poll got no answer. */
	private trouble?: GatewayError;

	constructor(
		private readonly target: PollTarget<R>,
		private readonly options: WaitOptions,
	) {
		const { clock, startedAtMs, timeoutMs, acceptedAtMs, kept = {}, wallClock = clock } = options;
		this.clock = steady(clock);
		this.deadlineMs = startedAtMs + timeoutMs;
		this.acceptedAtMs = acceptedAtMs ?? 0;
		this.kept = kept;
		const wallAheadMs = wallClock.now() - this.clock.now();
		this.askedUntilMs = (kept.notBeforeMs ?? -Infinity) - wallAheadMs;
		// Where the time of the acceptance is not known, only an answer has given the task a status.
		const isKnown = acceptedAtMs === undefined && target.task.status !== undefined;
		this.gracePeriod = new GracePeriod(kept, wallAheadMs, isKnown || kept.polls?.some(({ failed }) => !failed));
		this.polls = kept.polls ??= [];
		// Without a time of acceptance that can be, those of earlier polls mean nothing.
		if (acceptedAtMs === undefined || isAhead(acceptedAtMs, this.clock.now())) this.polls.length = 0;
		else this.begin(acceptedAtMs);
	}

	async untilEnded(): Promise<Waited<R>> {
		const { clock, deadlineMs, options } = this;
		try {
			for (;;) {
				this.record = withoutRaw(this.record);
				await this.sleepUntilDue();
				if (await this.poll()) return { record: this.record, waitedMs: clock.now() - options.startedAtMs };
				if (clock.now() >= deadlineMs) throw this.timeOut(this.timedOut());
			}
		} finally {
			this.schedule?.end();
		}
	}

	private async sleepUntilDue(): Promise<void> {
		const { plan, signal } = this.options;
		let waitMs = this.dueInMs();
		do {
			await this.clock.sleep(Math.max(0, waitMs), signal, plan.kind === 'automatic' ? PLAN_AGAIN_MS : undefined);
			if (signal?.aborted) throw stoppedError(this.target.task);
			waitMs = this.dueInMs();
		} while (waitMs >= 1);
	}

	/** Without a schedule at once. One poll is always made at the deadline itself, whatever pause the service asks for. */
	private dueInMs(): number {
		const plannedMs =
			this.schedule === undefined ? 0 : this.acceptedAtMs + this.schedule.nextPollAtMs(this.options.backlogMs());
		const dueMs = Math.max(this.askedUntilMs, Math.min(plannedMs, this.gracePeriod.endsAtMs));
		return Math.min(this.deadlineMs, dueMs) - this.clock.now();
	}

	/** Returns true when the task is done. Throws when it has failed, and for trouble that does not pass. */
	private async poll(): Promise<boolean> {
		const { target, options } = this;
		let atMs = 0;
		// Counted from when it was due, a task that ends while its poll is held back would teach that it has ended before.
		const leaves = () => {
			atMs = this.clock.now();
			target.task.elapsedMs = atMs - options.startedAtMs;
		};
		leaves();
		try {
			const answer = await target.fetch(leaves);
			if (options.signal?.aborted) throw stoppedError(target.task);
			return this.noteAnswer(answer, atMs);
		} catch (thrown) {
			this.noteError(asGatewayError(thrown), atMs);
			return false;
		}
	}

	private noteAnswer(answer: R, atMs: number): boolean {
		const { target } = this;
		this.record = answer;
		this.firstAtMs ??= atMs;
		const { state, status, progress, model, createdAtMs, retryAfterMs } = target.statusOf(answer);
		this.leaveAloneFor(retryAfterMs);
		Object.assign(target.task, { status, progress });
		this.trouble = undefined;
		this.gracePeriod.reset();
		if (state !== 'pending') this.schedule?.finished(atMs - this.acceptedAtMs);
		if (state === 'done') return true;
		if (state === 'failed') throw target.toFailure(answer).withTask(target.task);
		// The clock of the service may be off, so it is believed within reason only.
		const ageMs = atMs - (createdAtMs ?? atMs);
		const beganAtMs = ageMs > 0 && ageMs < LONGEST_AGE_MS ? atMs - ageMs : atMs;
		this.notePoll(this.schedule ?? this.begin(beganAtMs, model), { atMs: atMs - this.acceptedAtMs, progress });
		return false;
	}

	/** The acceptance, or the beginning of the wait where that is not known and nothing was answered yet. */
	private get sinceMs(): number {
		return this.schedule === undefined ? this.options.startedAtMs : this.acceptedAtMs;
	}

	/** Throws where the trouble does not pass, or the wait was stopped. */
	private noteError(error: GatewayError, atMs: number): void {
		const { target, options } = this;
		const firstAtMs = (this.firstAtMs ??= atMs);
		const { task } = target;
		if (options.signal?.aborted || error.kind === 'stopped') throw stoppedError(task);
		if (error.task) throw error;
		const verdict = target.classifyError?.(error, { atMs, firstAtMs });
		this.trouble = error;
		if (verdict instanceof GatewayError) throw this.timeOut(verdict.withTask(task));
		// There is a status where the service has accepted it here, or has answered before.
		const isAccepted = options.acceptedAtMs !== undefined || task.status !== undefined;
		const trouble = verdict === 'passing' ? 'passes' : troubleOf(error, isAccepted);
		if (trouble === 'passes') this.gracePeriod.reset();
		else if (trouble === 'final' || !this.gracePeriod.covers(error, trouble, atMs, atMs - this.sinceMs))
			throw error.withTask(task);
		const { retryAfterMs } = error.details;
		this.leaveAloneFor(retryAfterMs && Math.min(retryAfterMs, this.gracePeriod.endsAtMs - atMs));
		// `passing` is an answer, too: it has not finished.
		const failed = verdict !== 'passing';
		this.notePoll(this.schedule ?? this.begin(options.startedAtMs), { atMs: atMs - this.acceptedAtMs, failed });
		// A task that has just been accepted is often not known yet: that is no news.
		if (failed && error.kind !== 'notFound') options.watcher?.retrying(error, this.dueInMs());
	}

	private leaveAloneFor(askedMs: number | undefined): void {
		const { clock, wallClock = clock } = this.options;
		this.askedUntilMs = this.clock.now() + (askedMs ?? -Infinity);
		if (askedMs === undefined) delete this.kept.notBeforeMs;
		else this.kept.notBeforeMs = wallClock.now() + askedMs;
	}

	/** It is known when the task began. */
	private begin(acceptedAtMs: number, model?: string): PollSchedule {
		const { options, clock, polls } = this;
		this.acceptedAtMs = acceptedAtMs;
		const schedule = new PollSchedule(options.plan, {
			table: options.survivalTable(model),
			random: clock.random,
			ageAtStartMs: clock.now() - acceptedAtMs,
			polls,
		});
		this.schedule = schedule;
		options.watcher?.begun(() => schedule.timeLeft(clock.now() - acceptedAtMs));
		return schedule;
	}

	private notePoll(schedule: PollSchedule, poll: Poll): void {
		schedule.polled(poll);
		keepPoll(this.polls, poll);
	}

	/** The error at the deadline. */
	private timedOut(): GatewayError {
		const { thing, task } = this.target;
		const { taskId: id, status, progress } = task;
		const { message, details: { serviceMessage, serviceCode } = {} } = this.trouble ?? {};
		const after = formatDuration(this.options.timeoutMs);
		const data = { thing, id, after, status, progress, trouble: message };
		return gatewayError('timedOut', data, { task: { ...task }, serviceMessage, serviceCode });
	}

	/** The error, or the refusal of the last poll: the deadline came first, but that is what has happened. */
	private timeOut(error: GatewayError): GatewayError {
		const { trouble, gracePeriod, target } = this;
		const isDoubted = gracePeriod.endsAtMs < Infinity;
		return trouble !== undefined && isDoubted && refusesAccess(trouble) ? trouble.withTask(target.task) : error;
	}
}

/** A record without what it was read from: thousands of waits would keep one each, of up to a megabyte. */
function withoutRaw<R>(record: R | undefined): R | undefined {
	return isPlainObject(record) && 'raw' in record ? { ...record, raw: {} } : record;
}

/**
 * The meaning of the error of a poll for the wait:
 *
 * - `passes`: the service, or what is in front of it, cannot answer now. It ends with the deadline only.
 * - `refusal`: an answer of the service that contradicts the acceptance of the task. It may be new, one server may not know it
 *   yet, or another part of the service refuses one request.
 * - `same`: an answer that cannot get better, such as a redirect or a page. It passes only where another one comes.
 * - `final`: it does not pass.
 */
type Trouble = 'passes' | 'refusal' | 'same' | 'final';

/** @param isAccepted the task is known from an earlier answer: otherwise a refusal is told at once */
function troubleOf(error: GatewayError, isAccepted: boolean): Trouble {
	const { httpStatus } = error.details;
	if (isTransient(error))
		return httpStatus !== undefined && httpStatus < 400 && MAY_STAY.has(error.kind) ? 'same' : 'passes';
	if (error.kind === 'notFound') return 'refusal';
	if (httpStatus === undefined) return 'final';
	return isAccepted || OF_A_TASK_THAT_IS_THERE.has(httpStatus) ? 'refusal' : 'final';
}

/** Statuses of a task that is there, and just being changed. */
const OF_A_TASK_THAT_IS_THERE = new Set([409, 410, 423, 425]);

const MAY_STAY = new Set<GatewayError['kind']>(['unavailable', 'unexpectedAnswer', 'rejected']);

/** Results are kept by the service for less. */
export const MAX_TIMEOUT_MS = 30 * 86_400_000;

/** The part of a wait that its later parts go by, after a sleep of the execution: it is stored. */
export const keptWait = z.object({
	/** The latest polls, for the plan. Times count from the acceptance. */
	polls: z
		.array(z.object({ atMs: z.number(), progress: z.number().optional(), failed: z.boolean().optional() }))
		.max(MAX_POLLS)
		.optional()
		.catch(undefined),
	/** The service has asked for a pause until then. */
	notBeforeMs: unixMs.optional().catch(undefined),
	/** All answers since then contradict the acceptance. */
	contradictedSinceMs: unixMs.optional().catch(undefined),
	/** The wait goes on for so long since then. */
	graceMs: z.number().min(0).max(MAX_TIMEOUT_MS).optional().catch(undefined),
	/** The same answer, which cannot get better, has come since then. */
	sameAnswer: z
		.object({ sinceMs: unixMs, polls: z.number().int().min(0), words: z.string().max(MAX_SIGNATURE_LENGTH) })
		.optional()
		.catch(undefined),
});

export type KeptWait = z.infer<typeof keptWait>;

/** Answers that a wait rides out for a while, also where it sleeps meanwhile. Milliseconds. */
class GracePeriod {
	/**
	 * @param wallAheadMs Unix milliseconds minus those of the clock of the wait
	 * @param wasSeen the task was found before a sleep, whether or not its polls are kept
	 */
	constructor(
		private readonly kept: KeptWait,
		private readonly wallAheadMs: number,
		private readonly wasSeen = false,
	) {}

	/** Infinity where the last answer was another one. */
	get endsAtMs(): number {
		const { contradictedSinceMs = Infinity, graceMs = NEW_TASK_GRACE_MS, sameAnswer } = this.kept;
		const hasEnough = sameAnswer !== undefined && sameAnswer.polls >= SAME_ANSWER_POLLS - 1;
		const sameUntilMs = hasEnough ? sameAnswer.sinceMs + SAME_ANSWER_MS : Infinity;
		return Math.min(contradictedSinceMs + graceMs, sameUntilMs) - this.wallAheadMs;
	}

	/** Starts it where it has not started, and where the clock was set back since. True until it is over. */
	covers(error: GatewayError, trouble: Trouble, atMs: number, ageMs: number): boolean {
		const { kept } = this;
		const nowMs = atMs + this.wallAheadMs;
		if (trouble === 'refusal') {
			delete kept.sameAnswer;
			if (kept.contradictedSinceMs === undefined) kept.graceMs = this.graceMs(ageMs);
			kept.contradictedSinceMs = Math.min(kept.contradictedSinceMs ?? Infinity, nowMs);
			return atMs < this.endsAtMs;
		}
		const words = signatureOf(error);
		const before = kept.sameAnswer?.words === words ? kept.sameAnswer : { sinceMs: nowMs, polls: 0, words };
		this.reset();
		kept.sameAnswer = { ...before, sinceMs: Math.min(before.sinceMs, nowMs), polls: before.polls + 1 };
		return kept.sameAnswer.polls < SAME_ANSWER_POLLS || atMs < this.endsAtMs;
	}

	/** There was another answer. */
	reset(): void {
		delete this.kept.contradictedSinceMs;
		delete this.kept.graceMs;
		delete this.kept.sameAnswer;
	}

	private graceMs(ageMs: number): number {
		const [shortestMs, longestMs] = SEEN_TASK_GRACE_MS;
		if (!this.wasSeen && !this.kept.polls?.some(({ failed }) => !failed)) return NEW_TASK_GRACE_MS;
		return Math.min(longestMs, Math.max(shortestMs, ageMs * SEEN_TASK_GRACE_OF_AGE));
	}
}

/** The answer in short, without what differs each time: numbers, times, IDs of requests. */
function signatureOf({ details }: GatewayError): string {
	const { httpStatus, reason, serviceCode, serviceMessage, serviceAnswer } = details;
	const words = (serviceMessage ?? serviceAnswer)?.slice(0, MAX_SIGNATURE_LENGTH);
	const said = [httpStatus, reason?.name, serviceCode, words].join(' ');
	return said.replace(/[\w-]*\d[\w-]*|[\w-]{20,}/g, '#').slice(0, MAX_SIGNATURE_LENGTH);
}
