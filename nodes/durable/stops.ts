import type { IExecuteFunctions } from 'n8n-workflow';
import { onAbort } from '../../core/abort';

interface UnderWay {
	/** Aborts when the user stops the execution, or in this process one that waits for it. */
	signal: AbortSignal;
	parentId?: string;
}

/** The executions of this process that wait for a sub-execution of ours, by their IDs. */
const underWay = new Map<string, UnderWay>();

/** The execution that has started this one. */
export function parentIdOf(context: IExecuteFunctions): string | undefined {
	// Nothing else of this context may be used: it holds credentials.
	return context.getExecutionContext?.()?.parentExecutionId;
}

/**
 * Does the work until the execution is stopped, or one around it that is awake in this process: n8n ends the one that a
 * user stops, but nothing that it waits for. The work may end it itself.
 */
export async function untilStopped<T>(
	context: IExecuteFunctions,
	work: (over: AbortController) => Promise<T>,
): Promise<T> {
	const id = context.getExecutionId();
	const parentId = parentIdOf(context);
	const over = new AbortController();
	const around = parentId === undefined ? undefined : underWay.get(parentId)?.signal;
	const forgets = [context.getExecutionCancelSignal(), around].map((signal) => onAbort(signal, () => over.abort()));
	const own = { signal: over.signal, parentId };
	underWay.set(id, own);
	try {
		return await work(over);
	} finally {
		for (const forget of forgets) forget();
		if (underWay.get(id) === own) underWay.delete(id);
	}
}

/** Whether the execution waits in this process for what it has started: it has not been stopped then. */
export function isUnderWay(executionId: string): boolean {
	return underWay.get(executionId)?.signal.aborted === false;
}

/** Whether all executions around this one are awake in this process: each stop is seen at once then. */
export function areAllUnderWay(context: IExecuteFunctions): boolean {
	let parentId = parentIdOf(context);
	if (parentId === undefined) return false;
	const seen = new Set<string>();
	while (parentId !== undefined && isUnderWay(parentId) && !seen.has(parentId)) {
		seen.add(parentId);
		parentId = underWay.get(parentId)?.parentId;
	}
	return parentId === undefined;
}
