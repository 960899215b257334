import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import type { LedgerScope } from '../../core/orders/ledger';
import { isTool, storeOfToolCall, nodeMemory } from './whereItRuns';

/**
 * The store of this run's ledger, which lives as long as the tries of one purchase, and what tells the run from others.
 * Separate calls of an agent are separate purchases.
 */
export function readLedgerScope(context: IExecuteFunctions): LedgerScope {
	const executionId = context.getExecutionId();
	const ofToolCall = storeOfToolCall(context);
	if (ofToolCall) return { store: ofToolCall, executionId, runIndex: 0 };
	const { $runIndex = 0 } = context.getWorkflowDataProxy(0) as { $runIndex?: number };
	const store = nodeMemory(context);
	const runIndex = isTool(context.getNode())
		? numberOfToolRun(context, store, $runIndex)
		: numberOfRun(context, $runIndex);
	return { store, executionId, runIndex };
}

const lastToolRun = z.object({ runIndex: z.number(), number: z.number() }).optional().catch(undefined);

/**
 * The same for a node that an agent runs: n8n does not show its output, but keeps what is remembered here, except over a
 * crash. The tries of one run have one number.
 */
function numberOfToolRun(context: IExecuteFunctions, store: Record<string, unknown>, runIndex: number): number {
	const last = lastToolRun.parse(store.lastToolRun);
	const next = last === undefined || context.getMode() !== 'retry' ? numberOfRun(context, runIndex) : last.number + 1;
	const number = last?.runIndex === runIndex ? last.number : next;
	store.lastToolRun = { runIndex, number };
	return number;
}

/**
 * The number of the run before a crash. For a node that had begun and was not saved, n8n invents one run after a crash,
 * and a retry counts on from there.
 */
function numberOfRun(context: IExecuteFunctions, runIndex: number): number {
	return context.getMode() === 'retry' && runIndex > 0 && isFirstRunMadeUp(context) ? runIndex - 1 : runIndex;
}

function isFirstRunMadeUp(context: IExecuteFunctions): boolean {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as {
		$: (node: string) => { all: (output: number, run: number) => INodeExecutionData[] };
	};
	try {
		return $(context.getNode().name).all(0, 0)[0]?.json.isArtificialRecoveredEventItem === true;
	} catch {
		return true; // without any output: it is the run that the crash has ended
	}
}
