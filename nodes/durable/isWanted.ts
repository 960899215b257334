import type { IExecuteFunctions } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { realClock } from '../connection/transport';

const ASK_EVERY_MS = 60_000;

/**
 * Whether the executions that wait for this one still do. n8n ends the execution that a user stops, but nothing that it
 * waits for; what a stopped or crashed one leaves behind can be seen.
 */
export async function isWanted(context: IExecuteFunctions, executionId = context.getExecutionId()): Promise<boolean> {
	// n8n has not saved anything of a manual execution that is still awake, or cannot read it just now.
	const data = await context.getExecutionDataById(executionId).catch(() => undefined);
	if (data?.resultData.error !== undefined) return false;
	const parent = data?.parentExecution;
	return parent?.shouldResume === true ? await isWanted(context, parent.executionId) : true;
}

/** Does the work, and asks now and then whether it is still wanted: the signal aborts when it is not. */
export async function whileWanted<T>(
	context: IExecuteFunctions,
	work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
	const over = new AbortController();
	const forget = onAbort(context.getExecutionCancelSignal(), () => over.abort());
	const asking = (async () => {
		for (;;) {
			await realClock.sleep(ASK_EVERY_MS, over.signal);
			if (over.signal.aborted) return;
			if (!(await isWanted(context))) over.abort();
		}
	})();
	try {
		return await work(over.signal);
	} finally {
		over.abort();
		forget();
		await asking;
	}
}
