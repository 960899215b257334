import type { IExecuteFunctions, IRunExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { onAbort } from '../../core/abort';
import { realClock } from '../connection/transport';

/**
 * n8n reads all data of an execution to say whether it still waits, so asking takes at most half a percent of the time of a poller that
 * sends nothing: with a fiftieth, it was a quarter of the processor time of 200 items …
 */
const PAUSE_OF_ASKING = 200;
/** … and comes at most once in this time … */
const SHORTEST_PAUSE_MS = 500;
/** … but a person who stops an execution sees it end. */
const LONGEST_PAUSE_MS = 10_000;
/** Before requests are sent, an answer counts that is at most so many times as old as it took: a twentieth of the time goes into asking. */
const PAUSE_BEFORE_SENDING = 20;
/** The time that n8n may take to save a large execution that falls asleep. */
const ASLEEP_WITHIN_MS = 30_000;
const ASK_AGAIN_AFTER_MS = 200;
/** Executions around one another: more are a circle that a person has made. */
export const MOST_AROUND = 100;

const memorySchema = z
	.object({
		/** The executions that wait for this one, the nearest first. */
		around: z.array(z.string()).max(MOST_AROUND).optional().catch(undefined),
		/** True when the nearest of them has been seen asleep for this one. */
		wasAwaited: z.boolean().catch(false),
		/** The time of the question, and the time that n8n took to answer. Milliseconds. */
		atMs: z.number().catch(0),
		tookMs: z.number().min(0).catch(0),
		/** Since when there is none of those that are said to wait, while it is not known yet who else does. Unix milliseconds. */
		missingSinceMs: z.number().optional().catch(undefined),
	})
	.catch({ wasAwaited: false, atMs: 0, tookMs: 0 });

type Memory = z.infer<typeof memorySchema>;

/** A user, and n8n, can change it. Undefined where n8n cannot say: it has not saved a manual execution that is awake. */
export async function readData(
	context: IExecuteFunctions,
	executionId: string,
): Promise<IRunExecutionData | undefined> {
	return (await readOrMiss(context, executionId)) ?? undefined;
}

/** The same; null where there is none: a person has deleted it, which n8n lets one do with those that wait. */
async function readOrMiss(
	context: IExecuteFunctions,
	executionId: string,
): Promise<IRunExecutionData | null | undefined> {
	const reading = context.getExecutionDataById(executionId);
	return await reading.then((data) => data ?? null).catch(() => undefined);
}

/** True where a person has deleted the execution. */
export async function isDeleted(context: IExecuteFunctions, executionId: string): Promise<boolean> {
	return (await readOrMiss(context, executionId)) === null;
}

/** The execution that has started this one. */
export function parentIdOf(context: IExecuteFunctions): string | undefined {
	// Nothing else of this context may be used: it holds credentials.
	return context.getExecutionContext?.()?.parentExecutionId;
}

/** The execution that waits for this one. n8n takes those that do not say for waiting. */
export function waitingFor({ parentExecution }: IRunExecutionData): string | undefined {
	return parentExecution?.shouldResume === false ? undefined : parentExecution?.executionId;
}

/** True for an execution that was stopped, or has ended with an error: it waits for nothing any more. */
export function hasFailed(data: IRunExecutionData | undefined): boolean {
	return data?.resultData.error !== undefined;
}

/** True where a person has stopped it, or its time was over. The error of an orderly end of n8n has another reason, or none. */
function wasStopped(data: IRunExecutionData | undefined): boolean {
	const { reason } = (data?.resultData.error ?? {}) as { reason?: unknown };
	return reason === 'manual' || reason === 'timeout';
}

/**
 * The outermost execution that waits for what this one does, where those around it have ended and wait no more: this one is
 * a retry, or one of those around it is. Undefined where all of them wait.
 */
export async function outermostOf(context: IExecuteFunctions): Promise<string | undefined> {
	let id = context.getExecutionId();
	if (context.getMode() === 'retry') return id;
	let parentId = parentIdOf(context);
	for (let around = 0; parentId !== undefined && around < MOST_AROUND; around++) {
		const parent = await readData(context, parentId);
		// One that was stopped still counts: a person who stops an execution stops what it has called.
		if (hasFailed(parent)) return wasStopped(parent) ? undefined : id;
		id = parentId;
		parentId = parent && waitingFor(parent);
	}
	return undefined;
}

/** True when the execution was saved as asleep for this sub-execution. `waitTill` alone may be left of an earlier sleep. */
function sleepsFor({ waitTill, executionData }: IRunExecutionData, childId: string): boolean {
	const { waitingChildExecutionIds = [] } = executionData?.nodeExecutionStack[0]?.metadata ?? {};
	return Boolean(waitTill) && waitingChildExecutionIds.includes(childId);
}

/** Those who wait for what this execution does: they may be stopped, or have crashed, while it works or sleeps. */
export class ParentExecutions {
	private wasGone = false;

	/**
	 * @param store is kept while the execution sleeps
	 * @param outermost see `outermostOf`
	 */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly store: { parents?: unknown },
		private readonly outermost?: string,
	) {}

	/**
	 * True when no execution waits any more. Asks only when it is due, and in between it is not known.
	 *
	 * @param pauseOf the age of an answer that still counts, for the time that n8n has taken for it
	 */
	async isGone(pauseOf = pauseMs): Promise<boolean> {
		const memory = memorySchema.parse(this.store.parents ?? {});
		const { atMs, tookMs } = memory;
		const nowMs = realClock.now();
		if (nowMs >= atMs && nowMs < atMs + pauseOf(tookMs)) return this.wasGone;
		const { isGone, ...found } = await this.ask(memory);
		this.store.parents = { ...found, atMs: nowMs, tookMs: Math.max(0, realClock.now() - nowMs) } satisfies Memory;
		this.wasGone = isGone;
		return isGone;
	}

	/** Waits until all of them sleep, or have ended: n8n hands no results to an execution that it is still saving. */
	async untilAsleep(): Promise<void> {
		const untilMs = realClock.now() + ASLEEP_WITHIN_MS;
		let childId = this.context.getExecutionId();
		let id = parentIdOf(this.context);
		while (id !== undefined && !this.wasGone && realClock.now() < untilMs) {
			const data = await readData(this.context, id);
			if (data !== undefined && (sleepsFor(data, childId) || hasFailed(data))) {
				childId = id;
				id = this.next(id, data);
			} else await realClock.sleep(ASK_AGAIN_AFTER_MS);
		}
	}

	private next(id: string, data: IRunExecutionData): string | undefined {
		return id === this.outermost ? undefined : waitingFor(data);
	}

	/** The time until the next question. */
	get pauseMs(): number {
		return pauseMs(memorySchema.parse(this.store.parents ?? {}).tookMs);
	}

	/**
	 * Asks each of them: a person may stop any, and n8n wakes the nearest for another execution when it takes this one for dead,
	 * as in queue mode after a pause. The parents stay the same, so they are found once.
	 */
	private async ask({ around, wasAwaited, missingSinceMs }: Memory): Promise<Asked> {
		const own = this.context.getExecutionId();
		const ids = around ?? [own];
		let isAwaited = wasAwaited;
		for (const id of ids) {
			const found = await readOrMiss(this.context, id);
			const data = found ?? undefined;
			// It was there when they were found out.
			const isDeleted = found === null && around !== undefined;
			if (isDeleted || hasFailed(data)) return { isGone: true, around, wasAwaited };
			if (data === undefined && around === undefined) {
				// One that falls asleep may not be saved yet; after a while a person has deleted it.
				const isMissing = found === null && id !== own;
				const sinceMs = isMissing ? Math.min(missingSinceMs ?? Infinity, realClock.now()) : undefined;
				const isGone = realClock.now() - (sinceMs ?? Infinity) >= ASLEEP_WITHIN_MS;
				return { isGone, around: isGone ? ids.slice(1) : undefined, wasAwaited, missingSinceMs: sinceMs };
			}
			if (data !== undefined && id === ids[around === undefined ? 1 : 0]) {
				isAwaited = sleepsFor(data, own);
				if (wasAwaited && !isAwaited) return { isGone: true, around, wasAwaited };
			}
			const next = around === undefined && data !== undefined ? this.next(id, data) : undefined;
			if (next !== undefined && ids.length <= MOST_AROUND) ids.push(next);
		}
		return { isGone: false, around: around ?? ids.slice(1), wasAwaited: isAwaited };
	}
}

interface Asked extends Pick<Memory, 'around' | 'wasAwaited' | 'missingSinceMs'> {
	isGone: boolean;
}

/** The same before requests are sent: what is bought for an execution that was stopped is bought in vain. */
export const pauseBeforeSendingMs = (tookMs: number) => tookMs * PAUSE_BEFORE_SENDING;

const pauseMs = (tookMs: number) => Math.min(Math.max(SHORTEST_PAUSE_MS, tookMs * PAUSE_OF_ASKING), LONGEST_PAUSE_MS);

/** Does the work, and asks now and then whether an execution still waits for it. `isOver` when the signal has aborted, because none does. */
export async function whileParentsWait<T>(
	context: IExecuteFunctions,
	parents: ParentExecutions,
	work: (signal: AbortSignal) => Promise<T>,
): Promise<{ done: T; isOver: boolean }> {
	const over = new AbortController();
	const ended = new AbortController();
	const forget = onAbort(context.getExecutionCancelSignal(), () => over.abort());
	const asking = (async () => {
		while (!ended.signal.aborted) {
			await realClock.sleep(parents.pauseMs, ended.signal);
			if (!ended.signal.aborted && (await parents.isGone())) over.abort();
		}
	})();
	try {
		const done = await work(over.signal);
		return { done, isOver: over.signal.aborted };
	} finally {
		forget();
		ended.abort();
		await asking;
	}
}
