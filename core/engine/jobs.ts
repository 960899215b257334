/**
 * Runs many jobs at once, in input order, with at most `concurrency` in flight: N tasks take about as long as
 * the slowest one. What a job is made of (submit, wait, download) is the caller's; this file only decides what
 * starts, and what happens to the others when one ends badly.
 */
import pLimit from 'p-limit';
import { onAbort } from '../abort';
import { asGatewayError, endsScope, stoppedError, gatewayError, type GatewayError } from '../errors';
import { endsSubmitting, isOwn, sparesBatch } from '../errors/kinds';

/**
 * The number of jobs that deliver in parallel, whatever `concurrency` is. Measured with 2 to 16: memory hardly depends on it. Where
 * the file host paces each connection, twice the number takes half the time; where it does not, 2 are as fast as 16.
 */
export const DELIVERIES_IN_PARALLEL = 6;

/** The number of uploads in parallel: each holds its whole file in memory, twice while it is sent. */
const UPLOADS_IN_PARALLEL = 6;

/** The scope of uploads. No model or group has this name. */
const UPLOADS = 'uploads';

/** Resolves with one outcome per job, in the order of the jobs. Never rejects. */
export async function runJobs<T>(jobs: ReadonlyArray<Job<T>>, options: JobsOptions): Promise<Array<JobOutcome<T>>> {
	const batch = new RunningJobs(options);
	const outcomes: Array<Promise<JobOutcome<T>>> = [];
	/** All workers share it: each takes the next one. */
	const queue = jobs.entries();
	const concurrency = Math.max(1, options.concurrency);
	let workers = Math.min(Math.max(concurrency, options.inFlight ?? 0), jobs.length);
	const worker = async () => {
		for (const [index, job] of queue) {
			await new Promise<void>((taskEnded) => (outcomes[index] = batch.run(job, taskEnded).finally(taskEnded)));
			if (workers > concurrency) break;
		}
		workers--;
	};
	const forget = onAbort(options.signal, () => batch.stop());
	const forgetSubmitting = onAbort(options.submitUntil, () => batch.stopSubmitting());
	try {
		await Promise.all(Array.from({ length: workers }, worker));
		return await Promise.all(outcomes);
	} finally {
		forget();
		forgetSubmitting();
	}
}

/** One of the batch. */
export interface Job<T> {
	/**
	 * Runs one task from submission to result. `signal` aborts on a stop and when the batch ends early; the job
	 * then ends at once, except that a submission in flight may finish first (`submitting`).
	 */
	run: (controls: JobControls) => Promise<T>;
	/** The thing that a key may be limited to, e.g. "the model beta-v3": a 403, or a model that is not known, holds back only jobs of the same scope. */
	scope?: string;
}

export interface JobControls {
	signal: AbortSignal;
	/**
	 * Wraps a creating request: the batch never ends between its sending and its answer, so that no id is lost. Refuses
	 * when nothing may be submitted any more. `failed` holds back the others before this job ends.
	 */
	submitting: <R>(submit: Submission<R>) => Promise<R>;
	/** The error of a job that another one holds back; undefined while nothing does. */
	heldBack: () => GatewayError | undefined;
	/** Wraps the reading and upload of a file: only a few run in parallel. Refuses when nothing may be sent any more. */
	uploading: <R>(upload: () => Promise<R>) => Promise<R>;
	/**
	 * Wraps the work after the end of the task, such as the download of its files. The job is not in flight any more, so
	 * the next one begins; only a few deliveries run in parallel, in the order in which tasks end.
	 */
	delivering: <R>(deliver: () => Promise<R>) => Promise<R>;
}

type Submission<R> = (stopRetrying: AbortSignal, failed?: (error: GatewayError) => void) => Promise<R>;

export interface JobsOptions {
	concurrency: number;
	/** The first jobs that are in flight already: they begin at once, however many they are. */
	inFlight?: number;
	/** True: the other tasks go on when one ends badly. False: the batch ends at once. */
	continueOnError: boolean;
	/** True: when one ends badly, nothing more is submitted; what was accepted goes on. */
	stopsSubmitting?: boolean;
	/** Aborts when nothing more is to be submitted here: jobs that have not begun, or wait before a request, end as stopped. */
	submitUntil?: AbortSignal;
	/** The gate of jobs that ran before these, where what they have heard holds for these, too. */
	gate?: SubmissionGate;
	/** Aborts when the user stops the execution. */
	signal?: AbortSignal;
}

export type JobOutcome<T> = { ok: true; value: T } | { ok: false; error: GatewayError };

/** The state that the jobs of a batch share, and the rules for all when one ends badly. */
class RunningJobs {
	private readonly gate: SubmissionGate;

	private readonly end = new AbortController();

	private whenEnded?: Promise<never>;

	/** Creating requests between their sending and their answer. */
	private readonly submissions = new Set<Promise<unknown>>();

	/** Errors that have closed the gate already, where they do. */
	private readonly noticed = new WeakSet<GatewayError>();

	private readonly limitDeliveries = pLimit(DELIVERIES_IN_PARALLEL);

	private readonly limitUploads = pLimit(UPLOADS_IN_PARALLEL);

	constructor(private readonly options: JobsOptions) {
		this.gate = options.gate ?? new SubmissionGate();
	}

	/** Rejects when the batch ends. Made when something is raced against it: a rejection that is not awaited would end n8n. */
	private get ended(): Promise<never> {
		return (this.whenEnded ??= whenAborted(this.end.signal));
	}

	stop(): void {
		this.gate.stop();
		this.end.abort();
	}

	stopSubmitting(): void {
		this.gate.stop();
	}

	/** @param taskEnded called when the job is not in flight any more, though it may still deliver */
	async run<T>({ run, scope }: Job<T>, taskEnded: () => void): Promise<JobOutcome<T>> {
		const { signal } = this.end;
		// Once the batch has ended, no job begins.
		if (signal.aborted) return { ok: false, error: this.heldBack() ?? stoppedError() };
		try {
			const running = run({
				signal,
				heldBack: () => this.heldBack(scope),
				submitting: async (submit) => await this.submit(submit, scope),
				uploading: async (upload) => await this.upload(upload, scope),
				delivering: async (deliver) => {
					taskEnded();
					return await this.deliver(deliver);
				},
			});
			// A job that is slow to notice must not hold up the rest: its late end is of no interest.
			return { ok: true, value: await Promise.race([running, this.ended]) };
		} catch (thrown) {
			const error = this.holdBack(thrown, scope);
			if (!this.options.continueOnError && endsBatch(error)) await this.endOnceAnswered();
			return { ok: false, error };
		}
	}

	private async submit<R>(submit: Submission<R>, scope?: string): Promise<R> {
		this.gate.assertOpen(scope);
		const submission = submit(this.gate.signalOf(scope), (error) => this.holdBack(error, scope));
		this.submissions.add(submission);
		try {
			return await submission;
		} catch (thrown) {
			const error = this.notice(thrown, scope);
			throw (error.kind === 'stopped' ? this.heldBack(scope) : undefined) ?? error;
		} finally {
			this.submissions.delete(submission);
		}
	}

	private async upload<R>(upload: () => Promise<R>, scope?: string): Promise<R> {
		return await this.limitUploads(async () => {
			// Its turn may come after another one was refused.
			this.gate.assertOpen(scope, UPLOADS);
			try {
				return await upload();
			} catch (thrown) {
				throw this.notice(thrown, UPLOADS);
			}
		});
	}

	private async deliver<R>(deliver: () => Promise<R>): Promise<R> {
		return await this.limitDeliveries(async () => {
			// Its turn may come after the end of the batch.
			if (this.end.signal.aborted) throw stoppedError();
			return await deliver();
		});
	}

	/** The error of a job that another one holds back; undefined where the user has stopped the execution. */
	private heldBack(scope?: string): GatewayError | undefined {
		return this.options.signal?.aborted ? undefined : this.gate.reasonFor(scope);
	}

	/** Returns the error of a job, after it has closed the gate for those that must not be submitted because of it. */
	private holdBack(thrown: unknown, scope?: string): GatewayError {
		const error = this.notice(thrown, scope);
		const { continueOnError, stopsSubmitting } = this.options;
		if (endsBatch(error) && (!continueOnError || stopsSubmitting)) this.gate.close(error);
		return error;
	}

	/** Returns the error, after it has closed the gate for the jobs that would meet it, too. */
	private notice(thrown: unknown, scope?: string): GatewayError {
		const error = asGatewayError(thrown);
		if (this.noticed.has(error)) return error;
		this.noticed.add(error);
		if (endsSubmitting(error)) this.gate.close(error);
		if (endsScope(error)) this.gate.close(error, scope);
		return error;
	}

	/**
	 * Ids first: whatever is on its way to the service is let through before the rest ends. Only a stop by the user does
	 * not wait for it: a late answer is then logged.
	 */
	private async endOnceAnswered(): Promise<void> {
		await Promise.race([Promise.allSettled([...this.submissions]), this.ended]).catch(() => {});
		this.stop();
	}
}

const endsBatch = (error: GatewayError) => isOwn(error) && !sparesBatch(error);

async function whenAborted(signal: AbortSignal): Promise<never> {
	return await new Promise((_, reject) => onAbort(signal, () => reject(stoppedError())));
}

/**
 * Decides if a job may still submit or upload. An error closes the gate for all jobs that would meet it, too: a 401 or
 * 402 for everything, a 403 for its scope only (a model, a group, uploads), because a key may be limited to some of
 * them; a model that the service does not know for that model. Without a scope: everything.
 */
export class SubmissionGate {
	private readonly closedBy = new Map<string | undefined, GatewayError>();

	private readonly controllers = new Map<string | undefined, AbortController>();

	private isOver = false;

	/** Aborts when the scope is closed: a request that waits for another try is then not sent again. */
	signalOf(scope?: string): AbortSignal {
		const controller = this.controllers.get(scope) ?? new AbortController();
		this.controllers.set(scope, controller);
		if (this.reasonFor(scope) !== undefined) controller.abort();
		return controller.signal;
	}

	close(because: GatewayError, scope?: string): void {
		if (!this.closedBy.has(scope)) this.closedBy.set(scope, because);
		for (const [name, controller] of this.controllers) if (scope === undefined || scope === name) controller.abort();
	}

	/** Nothing may be submitted any more, and no request is the reason: the batch has ended, or the user has stopped it. */
	stop(): void {
		this.isOver = true;
		for (const controller of this.controllers.values()) controller.abort();
	}

	/** The error of an item that is not sent because of another; undefined while its scope is open. */
	reasonFor(...scopes: Array<string | undefined>): GatewayError | undefined {
		for (const scope of [undefined, ...scopes]) {
			const because = this.closedBy.get(scope);
			if (because !== undefined) return gatewayError('notSubmitted', { because: because.message, scope });
		}
		return undefined;
	}

	assertOpen(...scopes: Array<string | undefined>): void {
		const heldBack = this.reasonFor(...scopes);
		if (heldBack !== undefined) throw heldBack;
		if (this.isOver) throw stoppedError();
	}
}
