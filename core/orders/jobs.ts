import pLimit from 'p-limit';
import { onAbort } from '../abort';
import { asGatewayError, endsSubmitting, stoppedError, type GatewayError } from '../errors';
import { SubmissionGate, UPLOADS } from './submissionGate';

/**
 * How many jobs deliver in parallel, whatever `concurrency` is. Measured with 2 to 16: memory hardly depends on it. Where
 * the file host paces each connection, twice the number takes half the time; where it does not, 2 are as fast as 16.
 */
export const DELIVERIES_IN_PARALLEL = 6;

/**
 * Runs many jobs at once, in input order, with at most `concurrency` in flight: N tasks take about as long as
 * the slowest one. What a job is made of (submit, wait, download) is the caller's; this file only decides what
 * starts, and what happens to the others when one ends badly.
 */
export interface Job<T> {
	/**
	 * Runs one task from submission to result. `signal` aborts on a stop and when the batch gives up; the job
	 * then ends at once, except that a submission in flight may finish first (`submitting`).
	 */
	run: (controls: JobControls) => Promise<T>;
	/** What a key may be limited to, e.g. "the model beta-v3": a 403 holds back only jobs of the same scope. */
	scope?: string;
}

export interface JobControls {
	signal: AbortSignal;
	/**
	 * Wraps a creating request: the batch never gives up between its sending and its answer, so that no id is
	 * lost. Refuses when nothing may be submitted any more.
	 */
	submitting: <R>(submit: (stopRetrying: AbortSignal) => Promise<R>) => Promise<R>;
	/** Wraps an upload. Refuses when nothing may be submitted or uploaded any more. */
	uploading: <R>(upload: () => Promise<R>) => Promise<R>;
	/**
	 * Wraps what is left to do once the task has ended, such as the download of its files. The job is not in flight
	 * any more, so the next one begins; only a few deliveries run in parallel, in the order in which tasks end.
	 */
	delivering: <R>(deliver: () => Promise<R>) => Promise<R>;
}

export type JobOutcome<T> = { ok: true; value: T } | { ok: false; error: GatewayError };

export interface BatchOptions {
	concurrency: number;
	/** True: the other tasks go on when one ends badly. False: the batch gives up at once. */
	continueOnError: boolean;
	/** Aborts when the user stops the execution. */
	signal?: AbortSignal;
}

/** Resolves with one outcome per job, in the order of the jobs. Never rejects. */
export async function runJobs<T>(jobs: ReadonlyArray<Job<T>>, options: BatchOptions): Promise<Array<JobOutcome<T>>> {
	const outcomes: Array<Promise<JobOutcome<T>>> = [];
	const gate = new SubmissionGate();
	const giveUp = new AbortController();
	const submissions = new Set<Promise<unknown>>();
	/** Errors whose effect on the other jobs has been seen to. */
	const noticed = new WeakSet<GatewayError>();
	/** All workers share it: each takes the next one. */
	const queue = jobs.entries();
	const limitDeliveries = pLimit(DELIVERIES_IN_PARALLEL);

	const gaveUp = whenAborted(giveUp.signal);
	gaveUp.catch(() => {}); // may never be raced against
	const stop = () => {
		gate.stop();
		giveUp.abort();
	};
	const forget = onAbort(options.signal, stop);

	/** What a request ended with, and what it holds back. */
	const notice = (thrown: unknown, scope?: string): GatewayError => {
		const error = asGatewayError(thrown);
		if (noticed.has(error)) return error;
		noticed.add(error);
		if (endsSubmitting(error)) gate.close(error);
		if (error.kind === 'permission') gate.close(error, scope);
		return error;
	};

	const submitting = async <R>(
		submit: (stopRetrying: AbortSignal) => Promise<R>,
		scope: string | undefined,
	): Promise<R> => {
		gate.assertOpen(giveUp.signal.aborted, scope);
		const submission = submit(gate.signalOf(scope));
		submissions.add(submission);
		try {
			return await submission;
		} catch (thrown) {
			const error = notice(thrown, scope);
			const heldBack = error.kind === 'stopped' && !options.signal?.aborted ? gate.reasonFor(scope) : undefined;
			throw heldBack ?? error;
		} finally {
			submissions.delete(submission);
		}
	};

	const uploading = async <R>(upload: () => Promise<R>, scope: string | undefined): Promise<R> => {
		gate.assertOpen(giveUp.signal.aborted, scope, UPLOADS);
		try {
			return await upload();
		} catch (thrown) {
			throw notice(thrown, UPLOADS);
		}
	};

	const delivering = async <R>(deliver: () => Promise<R>): Promise<R> =>
		await limitDeliveries(async () => {
			// Its turn may come after the end of the batch.
			if (giveUp.signal.aborted) throw stoppedError();
			return await deliver();
		});

	const runOne = async ({ run, scope }: Job<T>, taskEnded: () => void): Promise<JobOutcome<T>> => {
		// Once the batch has given up, no job begins.
		if (giveUp.signal.aborted)
			return { ok: false, error: (options.signal?.aborted ? undefined : gate.reasonFor()) ?? stoppedError() };
		try {
			const running = run({
				signal: giveUp.signal,
				submitting: async (submit) => await submitting(submit, scope),
				uploading: async (upload) => await uploading(upload, scope),
				delivering: async (deliver) => {
					taskEnded();
					return await delivering(deliver);
				},
			});
			// A job that is slow to notice must not hold up the rest: its late end is of no interest.
			return { ok: true, value: await Promise.race([running, gaveUp]) };
		} catch (thrown) {
			const error = notice(thrown, scope);
			if (!options.continueOnError && error.kind !== 'stopped' && error.kind !== 'notSubmitted') {
				gate.close(error);
				// Ids first: whatever is on its way to the service is let through before the rest ends. Only a stop by
				// the user does not wait for it: a late answer is then logged.
				await Promise.race([Promise.allSettled([...submissions]), gaveUp]).catch(() => {});
				stop();
			}
			return { ok: false, error };
		}
	};

	const worker = async () => {
		for (const [index, job] of queue) {
			await new Promise<void>((taskEnded) => (outcomes[index] = runOne(job, taskEnded).finally(taskEnded)));
		}
	};
	try {
		await Promise.all(Array.from({ length: Math.min(Math.max(1, options.concurrency), jobs.length) }, worker));
		return await Promise.all(outcomes);
	} finally {
		forget();
	}
}

async function whenAborted(signal: AbortSignal): Promise<never> {
	return await new Promise((_, reject) => {
		signal.addEventListener('abort', () => reject(stoppedError()));
	});
}
