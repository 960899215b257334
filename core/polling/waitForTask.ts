import { asGatewayError, GatewayError, stoppedError } from '../errors';
import { refusesAccess } from '../errors/kinds';
import { isPlainObject } from '../json';
import { steady, type Clock } from '../clock';
import { GracePeriod, troubleOf } from './gracePeriod';
import { timedOut, toldToWait } from './timeouts';
import type { SurvivalTable } from './survivalTable';
import { keepPoll, type KeptWait, type Poll } from './planner';
import { PollSchedule, type PollPlan } from './pollSchedule';
import { isAhead, plausibleStartMs } from './startTimes';
import type { PollTarget } from './pollTarget';
import type { WaitWatcher } from './waitWatcher';

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

export interface Waited<R> {
	/** Of the last poll. */
	record?: R;
	waitedMs: number;
}

/**
 * Milliseconds after which a wait is planned again: other tasks may have taught that an earlier poll pays. Twice: batches
 * are seen up to a second later; half: twice the work while waiting.
 */
const PLAN_AGAIN_MS = 1_000;

/**
 * Waits until a task has ended: the only waiter of the package. Trouble that may pass does not end the wait before the
 * deadline; every error names the task, its last status and the time elapsed.
 */
export async function waitForTask<R>(target: PollTarget<R>, options: WaitOptions): Promise<Waited<R>> {
	return await new Wait(target, options).untilEnded();
}

class Wait<R> {
	private readonly clock: Clock;

	private readonly deadlineMs: number;

	private readonly kept: KeptWait;

	/** The service asks for a pause until then. */
	private askedUntilMs: number;

	private readonly polls: Poll[];

	/** Absent until it is known when the task began. */
	private schedule?: PollSchedule;

	/** Times of polls count from here. */
	private acceptedAtMs: number;

	private record?: R;

	private trouble?: GatewayError;

	/** There is nothing more to wait for. */
	private verdict?: GatewayError;

	private firstAtMs?: number;

	private readonly gracePeriod: GracePeriod;

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
		this.gracePeriod = new GracePeriod(kept, wallAheadMs);
		this.polls = kept.polls ??= [];
		// Without a time of acceptance that can be, those of earlier polls mean nothing.
		if (acceptedAtMs === undefined || isAhead(acceptedAtMs, this.clock.now())) this.polls.length = 0;
		else this.schedule = this.beginSchedule();
	}

	async untilEnded(): Promise<Waited<R>> {
		const { clock, deadlineMs } = this;
		try {
			for (;;) {
				// The pause that the service asks for wins, unless it ends after the deadline: then waiting on is in vain.
				if (this.askedUntilMs >= deadlineMs) {
					const nowMs = clock.now();
					const pauses = { askedMs: this.askedUntilMs - nowMs, leftMs: deadlineMs - nowMs };
					throw this.timeOut(toldToWait(this.target, pauses));
				}
				this.record = withoutRaw(this.record);
				await this.sleepUntilDue();
				if (await this.poll()) return { record: this.record, waitedMs: this.waitedMs };
				if (this.verdict !== undefined) throw this.timeOut(this.verdict);
				if (clock.now() >= deadlineMs) throw this.timeOut(timedOut(this.target, this.options.timeoutMs, this.trouble));
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

	/** Without a schedule at once. One poll is always made at the deadline itself. */
	private dueInMs(): number {
		const plannedMs =
			this.schedule === undefined ? 0 : this.acceptedAtMs + this.schedule.nextPollAtMs(this.options.backlogMs());
		const dueMs = Math.max(this.askedUntilMs, Math.min(plannedMs, this.gracePeriod.endsAtMs));
		return Math.min(this.deadlineMs, dueMs) - this.clock.now();
	}

	/** Returns true when the task is done. Throws when it has failed, and for trouble that does not pass. */
	private async poll(): Promise<boolean> {
		const { target } = this;
		const { task } = target;
		const atMs = this.clock.now();
		this.firstAtMs ??= atMs;
		task.elapsedMs = atMs - this.options.startedAtMs;
		try {
			const answer = await target.fetch();
			if (this.options.signal?.aborted) throw stoppedError(task);
			return this.noteAnswer(answer, atMs);
		} catch (thrown) {
			this.noteError(asGatewayError(thrown), atMs, this.firstAtMs);
			return false;
		}
	}

	private noteAnswer(answer: R, atMs: number): boolean {
		const { target } = this;
		this.record = answer;
		const { state, status, progress, model, createdAtMs, retryAfterMs } = target.statusOf(answer);
		this.leaveAloneFor(retryAfterMs);
		Object.assign(target.task, { status, progress });
		this.trouble = undefined;
		this.gracePeriod.reset();
		if (state !== 'pending') this.schedule?.finished(atMs - this.acceptedAtMs);
		if (state === 'done') return true;
		if (state === 'failed') throw target.toFailure(answer).withTask(target.task);
		if (this.schedule === undefined) {
			this.acceptedAtMs = plausibleStartMs(createdAtMs, atMs);
			this.schedule = this.beginSchedule(model);
		}
		this.notePoll(this.schedule, { atMs: atMs - this.acceptedAtMs, progress });
		return false;
	}

	/** Throws where the trouble does not pass, or the wait was stopped. */
	private noteError(error: GatewayError, atMs: number, firstAtMs: number): void {
		const { target } = this;
		const { task } = target;
		if (this.options.signal?.aborted || error.kind === 'stopped') throw stoppedError(task);
		if (error.task) throw error;
		const verdict = target.classifyError?.(error, { atMs, firstAtMs });
		if (verdict instanceof GatewayError) {
			this.trouble = error;
			this.verdict = verdict.withTask(task);
			return;
		}
		// There is a status where the service has accepted it here, or has answered before.
		const isAccepted = this.options.acceptedAtMs !== undefined || task.status !== undefined;
		const trouble = verdict === 'passing' ? 'passes' : troubleOf(error, isAccepted);
		if (trouble === 'passes') this.gracePeriod.reset();
		else if (trouble === 'final' || !this.gracePeriod.covers(error, trouble, atMs, atMs - this.acceptedAtMs))
			throw error.withTask(task);
		this.trouble = error;
		const { retryAfterMs } = error.details;
		const graceMs = this.gracePeriod.endsAtMs - atMs;
		this.leaveAloneFor(retryAfterMs && Math.min(retryAfterMs, graceMs));
		if (this.schedule === undefined) {
			this.acceptedAtMs = this.options.startedAtMs;
			this.schedule = this.beginSchedule();
		}
		// `passing` is an answer, too: it has not finished.
		this.notePoll(this.schedule, { atMs: atMs - this.acceptedAtMs, failed: verdict !== 'passing' });
		// A task that has just been accepted is often not known yet: that is no news.
		const isNews = error.kind !== 'notFound';
		if (verdict !== 'passing' && isNews) this.options.watcher?.retrying(error, this.dueInMs());
	}

	private leaveAloneFor(askedMs: number | undefined): void {
		const { clock, wallClock = clock } = this.options;
		this.askedUntilMs = this.clock.now() + (askedMs ?? -Infinity);
		if (askedMs === undefined) delete this.kept.notBeforeMs;
		else this.kept.notBeforeMs = wallClock.now() + askedMs;
	}

	private beginSchedule(model?: string): PollSchedule {
		const { options, clock, polls } = this;
		const schedule = new PollSchedule(options.plan, {
			table: options.survivalTable(model),
			random: clock.random,
			ageAtStartMs: clock.now() - this.acceptedAtMs,
			polls,
		});
		options.watcher?.begun(() => schedule.timeLeft(clock.now() - this.acceptedAtMs));
		return schedule;
	}

	private notePoll(schedule: PollSchedule, poll: Poll): void {
		schedule.polled(poll);
		keepPoll(this.polls, poll);
	}

	private get waitedMs(): number {
		return this.clock.now() - this.options.startedAtMs;
	}

	private timeOut(error: GatewayError): GatewayError {
		// The deadline came first, but that is what has happened.
		const { trouble, gracePeriod, target } = this;
		const isDoubted = gracePeriod.endsAtMs < Infinity;
		if (trouble !== undefined && isDoubted && refusesAccess(trouble)) return trouble.withTask(target.task);
		return error;
	}
}

/** The same without the record as it came: thousands of waits would keep one each, of up to a megabyte. */
function withoutRaw<R>(record: R | undefined): R | undefined {
	return isPlainObject(record) && 'raw' in record ? { ...record, raw: {} } : record;
}
