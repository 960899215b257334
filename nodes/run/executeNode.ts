import type { IExecuteFunctions } from 'n8n-workflow';
import { roughDuration } from '../../core/text';

/** n8n ends the node by then, with what is left: a poll that was under way, and the rows of what was bought. */
const END_BEFORE_MS = 4_000;
/** Until then the answer to a creating request may come: an ID that arrives later is in n8n's log only. */
const SUBMIT_BEFORE_MS = 10_000;
/** The timeout of a poll there: one that hangs must not use up the time. */
export const READ_TIMEOUT_ALONE_MS = 5_000;

/** The time of a node that n8n runs alone. */
export interface TimeAlone {
	/** In words, e.g. "30 s". */
	time: string;
	/** Aborts when nothing more is to be submitted. */
	submitUntil: AbortSignal;
	/** Aborts when the node has to answer. */
	end: AbortSignal;
}

/**
 * True when n8n runs this node alone, for its AI Assistant ("execute node"): in a workflow of its own, which it deletes with all its
 * executions 30 to 60 seconds later, whatever sleeps in them.
 */
export function runsAlone(context: IExecuteFunctions): boolean {
	return context.getMode() === 'manual' && context.getWorkflow().name === `Execute node ${context.getNode().type}`;
}

/** The time that n8n gives a node that it runs alone; undefined for any other. */
export function timeAlone(context: IExecuteFunctions): TimeAlone | undefined {
	if (!runsAlone(context)) return undefined;
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	if (executionTimeout <= 0) return undefined;
	const wholeMs = executionTimeout * 1000;
	const { establishedAt = Date.now() } = context.getExecutionContext?.() ?? {};
	const leftMs = Math.max(0, Math.min(wholeMs, Number(establishedAt) + wholeMs - Date.now()));
	// A node that n8n gives a few seconds only needs at least half of them.
	const before = (ms: number) => AbortSignal.timeout(Math.round(Math.max(leftMs / 2, leftMs - ms)));
	return {
		time: roughDuration(wholeMs),
		submitUntil: before(SUBMIT_BEFORE_MS),
		end: before(END_BEFORE_MS),
	};
}
