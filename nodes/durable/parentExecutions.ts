import type { IExecuteFunctions, IRunExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { realClock } from '../connection/transport';
import { areAllUnderWay, isUnderWay, untilStopped } from './stops';

/** n8n reads all data of an execution to say whether it still waits, so asking takes at most a hundredth of the time … */
const PAUSE_OF_ASKING = 100;
/** … and comes at most once in this time. */
const SHORTEST_PAUSE_MS = 1_000;
/** Executions around one another: more are a circle that somebody has made. */
const MOST_AROUND = 100;

const memorySchema = z
	.object({
		/** The executions that wait for this one, the nearest first. */
		around: z.array(z.string()).max(MOST_AROUND).optional().catch(undefined),
		/** When it was asked, and how long n8n took to answer. Milliseconds. */
		atMs: z.number().catch(0),
		tookMs: z.number().min(0).catch(0),
	})
	.catch({ atMs: 0, tookMs: 0 });

/** A user, and n8n, can change it. Undefined where n8n cannot say: it has not saved a manual execution that is awake. */
export async function readData(
	context: IExecuteFunctions,
	executionId: string,
): Promise<IRunExecutionData | undefined> {
	return await context.getExecutionDataById(executionId).catch(() => undefined);
}

/** The execution that waits for this one. n8n takes those that do not say for waiting. */
export function waitingFor({ parentExecution }: IRunExecutionData): string | undefined {
	return parentExecution?.shouldResume === false ? undefined : parentExecution?.executionId;
}

/** Those who wait for what this execution does: they may be stopped, or have crashed, while it works or sleeps. */
export class ParentExecutions {
	/** @param store is kept while the execution sleeps */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly store: { parents?: unknown },
	) {}

	/** Whether nobody waits any more. Asks only when it is due; in between it is not known. */
	async isGone(): Promise<boolean> {
		const { around, atMs, tookMs } = memorySchema.parse(this.store.parents ?? {});
		const nowMs = realClock.now();
		const isEarly = nowMs >= atMs && nowMs < atMs + pauseMs(tookMs);
		if (isEarly || areAllUnderWay(this.context)) return false;
		const { isGone, around: found } = around ? await this.askAll(around) : await this.askAround();
		this.store.parents = { around: found, atMs: nowMs, tookMs: Math.max(0, realClock.now() - nowMs) };
		return isGone;
	}

	/** How long until it may be asked again. */
	get pauseMs(): number {
		return pauseMs(memorySchema.parse(this.store.parents ?? {}).tookMs);
	}

	private async askAll(around: string[]): Promise<Asked> {
		for (const id of around) {
			if (isUnderWay(id)) continue;
			const data = await readData(this.context, id);
			if (data?.resultData.error !== undefined) return { isGone: true, around };
		}
		return { isGone: false, around };
	}

	/** The first time: who waits for whom stays the same then. */
	private async askAround(): Promise<Asked> {
		const around: string[] = [];
		let id: string | undefined = this.context.getExecutionId();
		while (id !== undefined && around.length < MOST_AROUND) {
			const data = await readData(this.context, id);
			if (data === undefined) return { isGone: false };
			if (data.resultData.error !== undefined) return { isGone: true };
			id = waitingFor(data);
			if (id !== undefined) around.push(id);
		}
		return { isGone: false, around };
	}
}

interface Asked {
	isGone: boolean;
	/** Absent where it could not be found out. */
	around?: string[];
}

const pauseMs = (tookMs: number) => Math.max(SHORTEST_PAUSE_MS, tookMs * PAUSE_OF_ASKING);

/** Does the work, and asks now and then whether somebody still waits for it. `isOver` when the signal has aborted, because nobody does. */
export async function whileParentsWait<T>(
	context: IExecuteFunctions,
	parents: ParentExecutions,
	work: (signal: AbortSignal) => Promise<T>,
): Promise<{ done: T; isOver: boolean }> {
	return await untilStopped(context, async (over) => {
		const ended = new AbortController();
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
			ended.abort();
			await asking;
		}
	});
}
