import {
	asGatewayError,
	gatewayError,
	GatewayError,
	isTransient,
	stoppedError,
	type CreatedThing,
	type TaskReference,
} from '../errors';
import { steady, type Clock } from '../clock';
import { formatDuration } from '../text';
import type { SurvivalTable } from './survivalTable';
import type { Poll } from './planner';
import { PollSchedule, type PollPlan } from './pollSchedule';

/** What the waiter needs to know of a record, whatever kind of thing is being waited for. */
export interface PollStatus {
	state: 'pending' | 'done' | 'failed';
	/** The status word, for messages. */
	status: string;
	/** 0 to 100. */
	progress?: number;
	/** What tells how long such a thing takes, where the caller does not know it: the model. */
	model?: string;
	/** When the service has created it, by its own clock. Unix milliseconds. */
	createdAtMs?: number;
	/** The service asks to be looked at no sooner than this. */
	retryAfterMs?: number;
}

/** What is waited for. */
export interface PollTarget<R> {
	thing: CreatedThing;
	/** What errors say of it by now. The waiter keeps it up to date. */
	task: TaskReference;
	/** One poll; throws a GatewayError otherwise. */
	fetch: () => Promise<R>;
	statusOf(record: R): PollStatus;
	/** The error that a failed record stands for. */
	toFailure(record: R): GatewayError;
	/**
	 * What a poll without an answer means, where it is not the same as for everything: that it passes, or the error
	 * that the wait ends with.
	 */
	classifyError?: (error: GatewayError, poll: PollTimes) => 'passing' | GatewayError | undefined;
}

/** Milliseconds, by the clock of the wait. */
export interface PollTimes {
	atMs: number;
	/** The first poll of this wait. */
	firstAtMs: number;
}

export interface WaitOptions {
	plan: PollPlan;
	/** What is known of how long such things take. `model` is what the first answer says, where the acceptance is not known. */
	survivalTable: (model?: string) => SurvivalTable;
	/** When waiting for the task began: what the timeout counts from. Milliseconds. */
	startedAtMs: number;
	/** When the task was accepted: what the plan counts from. Not known: the first poll comes at once. */
	acceptedAtMs?: number;
	timeoutMs: number;
	/** Whether a wait without an end is an error, or returns what was seen last. */
	onTimeout: 'error' | 'return';
	/** How long a request would wait for its turn now. Milliseconds. */
	backlogMs: () => number;
	/** What an earlier part of the same wait has seen. The checks of this one are added to it. */
	polls?: Poll[];
	clock: Clock;
	/** Aborts on a stop by the user, or when the rest of the batch gives up. */
	signal?: AbortSignal;
}

export interface Waited<R> {
	/** What was seen last; absent when no poll got an answer. */
	record?: R;
	/** Why the last poll got no answer. */
	trouble?: GatewayError;
	timedOut: boolean;
	waitedMs: number;
}

/** Right after creation a status read can answer 404 for a few seconds (field notes). */
const NOT_FOUND_GRACE_MS = 30_000;
/** Milliseconds after which a wait is planned anew: what other tasks have taught may bring the check forward. Twice: batches are seen up to a second later; half: twice the work while waiting. */
const PLAN_ANEW_MS = 1_000;
/** Results are kept for about as long. */
const LONGEST_AGE_MS = 86_400_000;

/**
 * Waits until a task has ended: the only waiter of the package. Passing trouble of the service is ridden out
 * until the deadline; every error that leaves here names the task, its last state and the time elapsed.
 */
export async function waitForTask<R>(target: PollTarget<R>, options: WaitOptions): Promise<Waited<R>> {
	const { thing, task } = target;
	const { plan, startedAtMs, timeoutMs, signal } = options;
	const clock = steady(options.clock);
	const deadlineMs = startedAtMs + timeoutMs;
	const polls = options.polls ?? [];
	let record: R | undefined;
	let trouble: GatewayError | undefined;
	/** The service asks to be left alone until then. */
	let askedUntilMs = 0;
	let firstAtMs: number | undefined;
	let { acceptedAtMs = 0 } = options;
	const beginSchedule = (model?: string) =>
		new PollSchedule(plan, options.survivalTable(model), clock.random, clock.now() - acceptedAtMs, polls);
	const note = (of: PollSchedule, poll: Poll) => {
		of.polled(poll);
		polls.push(poll);
	};
	let schedule = options.acceptedAtMs === undefined ? undefined : beginSchedule();

	/** `toldMs`: how long the service asks to be left alone, where that ends the waiting before its time. */
	const onTimeout = (toldMs?: number): Waited<R> => {
		if (options.onTimeout === 'error') {
			throw toldMs === undefined
				? timedOut(thing, task, timeoutMs, trouble)
				: toldToWait(thing, task, toldMs, deadlineMs - clock.now());
		}
		return { record, trouble, timedOut: true, waitedMs: clock.now() - startedAtMs };
	};

	/** Not known when it was accepted: the first check comes immediately. One check is always made at the deadline itself. */
	const dueInMs = () => {
		const plannedMs = schedule === undefined ? 0 : acceptedAtMs + schedule.nextPollAtMs(options.backlogMs());
		return Math.min(deadlineMs, Math.max(askedUntilMs, plannedMs)) - clock.now();
	};

	try {
		for (;;) {
			// What the service asks for wins, unless it lies past the deadline: then waiting on is in vain.
			if (askedUntilMs >= deadlineMs) return onTimeout(askedUntilMs - clock.now());
			let waitMs = dueInMs();
			do {
				await clock.sleep(Math.max(0, waitMs), signal, plan.kind === 'automatic' ? PLAN_ANEW_MS : undefined);
				if (signal?.aborted) throw stoppedError(task);
				waitMs = dueInMs();
			} while (waitMs >= 1);

			const lookedAtMs = clock.now();
			firstAtMs ??= lookedAtMs;
			task.elapsedMs = lookedAtMs - startedAtMs;
			try {
				const answer = await target.fetch();
				if (signal?.aborted) throw stoppedError(task);
				record = answer;
				const { state, status, progress, model, createdAtMs, retryAfterMs } = target.statusOf(answer);
				askedUntilMs = retryAfterMs === undefined ? 0 : clock.now() + retryAfterMs;
				Object.assign(task, { status, progress });
				trouble = undefined;
				if (state !== 'pending') schedule?.finished(lookedAtMs - acceptedAtMs);
				if (state === 'done') return { record, timedOut: false, waitedMs: clock.now() - startedAtMs };
				if (state === 'failed') throw target.toFailure(answer).withTask(task);
				if (schedule === undefined) {
					acceptedAtMs = plausibleStartMs(createdAtMs, lookedAtMs);
					schedule = beginSchedule(model);
				}
				note(schedule, { atMs: lookedAtMs - acceptedAtMs, progress });
			} catch (thrown) {
				const error = asGatewayError(thrown);
				if (signal?.aborted || error.kind === 'stopped') throw stoppedError(task);
				if (error.task) throw error;
				const verdict = target.classifyError?.(error, { atMs: lookedAtMs, firstAtMs });
				if (verdict instanceof GatewayError) throw verdict.withTask(task);
				const early = error.kind === 'notFound' && task.elapsedMs < NOT_FOUND_GRACE_MS;
				if (verdict !== 'passing' && !early && !isTransient(error)) throw error.withTask(task);
				trouble = error;
				askedUntilMs = error.details.retryAfterMs === undefined ? 0 : clock.now() + error.details.retryAfterMs;
				if (schedule === undefined) {
					acceptedAtMs = startedAtMs;
					schedule = beginSchedule();
				}
				// `passing` is an answer, too: it has not finished.
				note(schedule, { atMs: lookedAtMs - acceptedAtMs, failed: verdict !== 'passing' });
			}
			if (clock.now() >= deadlineMs) return onTimeout();
		}
	} finally {
		schedule?.end();
	}
}

/** The clock of the service may be off, so it is believed within reason only. */
function plausibleStartMs(createdAtMs: number | undefined, nowMs: number): number {
	const ageMs = nowMs - (createdAtMs ?? nowMs);
	return ageMs > 0 && ageMs < LONGEST_AGE_MS ? nowMs - ageMs : nowMs;
}

function timedOut(thing: CreatedThing, task: TaskReference, timeoutMs: number, trouble?: GatewayError): GatewayError {
	const { taskId: id, status, progress } = task;
	const { serviceMessage, serviceCode } = trouble?.details ?? {};
	const data = { thing, id, after: formatDuration(timeoutMs), status, progress, trouble: trouble?.message };
	return gatewayError('timedOut', data, { task: { ...task }, serviceMessage, serviceCode });
}

function toldToWait(thing: CreatedThing, task: TaskReference, askedMs: number, leftMs: number): GatewayError {
	return gatewayError(
		'timedOutEarly',
		{ thing, id: task.taskId, asked: formatDuration(askedMs), left: formatDuration(leftMs) },
		{ task: { ...task } },
	);
}
