import { onAbort } from '../abort';
import { asGatewayError, endsSubmitting, gatewayError, stoppedError, type GatewayError } from '../errors';

/**
 * Runs many jobs at once, in input order, with at most `concurrency` in flight: N tasks take about as long as
 * the slowest one. What a job is made of (submit, wait, download) is the caller's; this file only decides what
 * starts, and what happens to the others when one ends badly.
 */
export interface TaskJob<T> {
	/**
	 * Runs one task from submission to result. `signal` aborts on a stop and when the batch gives up; the job
	 * then ends at once, except that a submission in flight may finish first (`submitting`).
	 */
	run: (controls: JobControls) => Promise<T>;
}

export interface JobControls {
	signal: AbortSignal;
	/**
	 * Wraps a creating request: the batch never gives up between its sending and its answer, so that no id is
	 * lost. Refuses when nothing may be submitted any more.
	 */
	submitting: <R>(submit: (noRepeat: AbortSignal) => Promise<R>) => Promise<R>;
	/** Throws when nothing may be submitted any more: to be called before what only prepares a submission. */
	assertMaySubmit: () => void;
}

export type TaskOutcome<T> = { ok: true; value: T } | { ok: false; error: GatewayError };

export interface RunOptions {
	concurrency: number;
	/** True: the other tasks go on when one ends badly. False: the batch gives up at once. */
	continueOnError: boolean;
	/** Aborts when the user stops the execution. */
	signal?: AbortSignal;
}

/** Resolves with one outcome per job, in the order of the jobs. Never rejects. */
export async function runTasks<T>(
	jobs: ReadonlyArray<TaskJob<T>>,
	options: RunOptions,
): Promise<Array<TaskOutcome<T>>> {
	const outcomes = new Array<TaskOutcome<T>>(jobs.length);
	const giveUp = new AbortController();
	/** Aborts a little earlier: submissions under way may be answered, but are not repeated any more. */
	const noRepeat = new AbortController();
	const submissions = new Set<Promise<unknown>>();
	let submittingEndedBy: GatewayError | undefined;
	/** All workers share it: each takes the next one. */
	const queue = jobs.entries();

	const gaveUp = whenAborted(giveUp.signal);
	gaveUp.catch(() => {}); // may never be raced against
	const stop = () => {
		noRepeat.abort();
		giveUp.abort();
	};
	const forget = onAbort(options.signal, stop);

	/** Nothing new is submitted from here on, and what waits for another try is not sent again. */
	const endSubmitting = (because: GatewayError) => {
		submittingEndedBy ??= because;
		noRepeat.abort();
	};

	const assertMaySubmit = () => {
		if (submittingEndedBy !== undefined) throw notSubmitted(submittingEndedBy);
		if (giveUp.signal.aborted) throw stoppedError();
	};

	const submitting: JobControls['submitting'] = async (submit) => {
		assertMaySubmit();
		const submission = submit(noRepeat.signal);
		submissions.add(submission);
		try {
			return await submission;
		} catch (thrown) {
			const error = asGatewayError(thrown);
			if (endsSubmitting(error)) endSubmitting(error);
			const heldBack = error.kind === 'stopped' && submittingEndedBy !== undefined && !options.signal?.aborted;
			throw heldBack ? notSubmitted(submittingEndedBy as GatewayError) : error;
		} finally {
			submissions.delete(submission);
		}
	};

	const runOne = async (job: TaskJob<T>): Promise<TaskOutcome<T>> => {
		try {
			const running = job.run({ signal: giveUp.signal, submitting, assertMaySubmit });
			// A job that is slow to notice must not hold up the rest: its late end is of no interest.
			return { ok: true, value: await Promise.race([running, gaveUp]) };
		} catch (thrown) {
			const error = asGatewayError(thrown);
			if (endsSubmitting(error)) endSubmitting(error);
			if (!options.continueOnError && error.kind !== 'stopped' && error.kind !== 'notSubmitted') {
				endSubmitting(error);
				// Ids first: whatever is on its way to the service is let through before the rest ends. Only a stop by
				// the user does not wait for it: a late answer is then logged.
				await Promise.race([Promise.allSettled([...submissions]), gaveUp]).catch(() => {});
				stop();
			}
			return { ok: false, error };
		}
	};

	const worker = async () => {
		for (const [index, job] of queue) outcomes[index] = await runOne(job);
	};
	try {
		await Promise.all(
			Array.from({ length: Math.min(Math.max(1, options.concurrency), jobs.length) }, worker),
		);
	} finally {
		forget();
	}
	return outcomes;
}

async function whenAborted(signal: AbortSignal): Promise<never> {
	return await new Promise((_, reject) => {
		onAbort(signal, () => reject(stoppedError()));
	});
}

function notSubmitted(because: GatewayError): GatewayError {
	return gatewayError('notSubmitted', { because: because.message });
}
