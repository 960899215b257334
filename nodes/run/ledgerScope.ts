import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { LedgerScope } from '../../core/orders/ledger';
import { storeOfToolCall } from './agentTools';

/**
 * The store of this run's ledger, which lives as long as the tries of one purchase, and what tells the run from others.
 * Separate calls of an agent are separate purchases.
 */
export function readLedgerScope(context: IExecuteFunctions): LedgerScope {
	const executionId = context.getExecutionId();
	const ofToolCall = storeOfToolCall(context);
	if (ofToolCall) return { store: ofToolCall, executionId, runIndex: 0 };
	const { $runIndex } = context.getWorkflowDataProxy(0) as { $runIndex?: number };
	return {
		store: context.getContext('node') as Record<string, unknown>,
		executionId,
		runIndex: numberOfRun(context, $runIndex ?? 0),
	};
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
