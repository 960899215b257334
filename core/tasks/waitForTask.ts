import { asGatewayError, GatewayError, stoppedError, type TaskReference } from '../errors';
import type { Clock } from '../http/types';
import { isTransient } from '../http/requests';
import { nextLookDelayMs, type Look, type PollPlan } from './pollSchedule';

/** What the waiter needs to know of a record, whatever kind of thing is being waited for. */
export interface Watched {
	state: 'pending' | 'done' | 'failed';
	/** The status word, for messages. */
	status: string;
	/** 0 to 100. */
	progress?: number;
	/** When the service has created it, by its own clock. Unix milliseconds. */
	createdAtMs?: number;
	/** The service asks to be looked at no sooner than this. */
	retryAfterMs?: number;
}

export interface WaitOptions<R> {
	taskId: string;
	/** Reads the task once; throws a GatewayError otherwise. */
	read: () => Promise<R>;
	watch: (record: R) => Watched;
	/** The error that a failed record stands for. */
	explainFailure: (record: R) => GatewayError;
	plan: PollPlan;
	/** When waiting for the task began: what the timeout counts from. Milliseconds. */
	startedAtMs: number;
	/** When the task was accepted: what the plan counts from. Not known: the first look comes at once. */
	acceptedAtMs?: number;
	timeoutMs: number;
	clock: Clock;
	/** Aborts on a stop by the user, or when the rest of the batch gives up. */
	signal?: AbortSignal;
	/** What is waited for, and how to go on with it after a time-out. */
	words?: WaitWords;
}

export interface WaitWords {
	/** E.g. "Asset". */
	subject: string;
	continueWith: string;
}

const TASK_WORDS: WaitWords = {
	subject: 'Task',
	continueWith: 'It goes on in the service and is not lost: read it with the operation Wait for Task or Get Task and this ID, or raise Timeout in the options.',
};

/** Right after creation a status read can answer 404 for a few seconds (field notes). */
const NOT_FOUND_GRACE_MS = 30_000;
/** Results are kept for about as long. */
const LONGEST_AGE_MS = 86_400_000;

/**
 * Waits until a task has ended: the only waiter of the package. Passing trouble of the service is ridden out
 * until the deadline; every error that leaves here names the task, its last state and the time elapsed.
 */
export async function waitForTask<R>(options: WaitOptions<R>): Promise<R> {
	const { taskId, plan, startedAtMs, timeoutMs, clock, signal, words = TASK_WORDS } = options;
	const deadlineMs = startedAtMs + timeoutMs;
	const looks: Look[] = [];
	let task: TaskReference = { taskId, status: 'queued', elapsedMs: 0 };
	let trouble: GatewayError | undefined;
	let askedMs = 0;
	let { acceptedAtMs } = options;

	for (;;) {
		const now = clock.now();
		const planned = acceptedAtMs === undefined ? 0 : nextLookDelayMs(looks, now - acceptedAtMs, plan, clock.random);
		// What the service asks for wins, unless it lies past the deadline: then waiting on is in vain.
		if (askedMs > 0 && now + askedMs >= deadlineMs) throw timedOut(words, task, timeoutMs, trouble);
		// One look is always taken at the deadline itself.
		await clock.sleep(Math.max(0, Math.min(Math.max(planned, askedMs), deadlineMs - now)), signal);
		if (signal?.aborted) throw stoppedError(task);

		const lookedAtMs = clock.now();
		const elapsedMs = lookedAtMs - startedAtMs;
		try {
			const record = await options.read();
			if (signal?.aborted) throw stoppedError(task);
			const { state, status, progress, createdAtMs, retryAfterMs } = options.watch(record);
			askedMs = retryAfterMs ?? 0;
			task = { taskId, status, progress, elapsedMs };
			trouble = undefined;
			acceptedAtMs ??= plausibleStartMs(createdAtMs, lookedAtMs);
			looks.push({ atMs: lookedAtMs - acceptedAtMs, progress });
			if (state === 'done') return record;
			if (state === 'failed') throw options.explainFailure(record).withTask(task);
		} catch (thrown) {
			const error = asGatewayError(thrown);
			if (signal?.aborted || error.kind === 'stopped') throw stoppedError(task);
			if (error.task) throw error;
			const early = error.kind === 'notFound' && elapsedMs < NOT_FOUND_GRACE_MS;
			if (!early && !isTransient(error)) throw error.withTask({ ...task, elapsedMs });
			trouble = error;
			askedMs = error.details.retryAfterMs ?? 0;
			acceptedAtMs ??= startedAtMs;
			looks.push({ atMs: lookedAtMs - acceptedAtMs });
			task = { ...task, elapsedMs };
		}
		if (clock.now() >= deadlineMs) throw timedOut(words, task, timeoutMs, trouble);
	}
}

/** The clock of the service may be off, so it is believed within reason only. */
function plausibleStartMs(createdAtMs: number | undefined, nowMs: number): number {
	const ageMs = nowMs - (createdAtMs ?? nowMs);
	return ageMs > 0 && ageMs < LONGEST_AGE_MS ? nowMs - ageMs : nowMs;
}

function timedOut({ subject, continueWith }: WaitWords, task: TaskReference, timeoutMs: number, trouble?: GatewayError): GatewayError {
	const progress = task.progress === undefined ? '' : `, ${task.progress} %`;
	return new GatewayError(
		'taskTimedOut',
		`${subject} ${task.taskId} has not finished within ${formatDuration(timeoutMs)} (last status: ${task.status}${progress})`,
		{
			task,
			description: [
				continueWith,
				trouble ? `The last look got no state: ${trouble.message}.` : '',
			]
				.filter(Boolean)
				.join(' '),
		},
	);
}

function formatDuration(ms: number): string {
	if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
	const minutes = Math.floor(ms / 60_000);
	const seconds = Math.round((ms % 60_000) / 1000);
	return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
}
