import type { IExecuteFunctions } from 'n8n-workflow';
import type { LedgerScope } from '../../core/tasks/ledger';
import { storeOfToolCall } from './agentTools';

/**
 * Where the ledger of this run lives, as long as the tries of one purchase do, and what tells the run from others.
 * Separate calls of an agent are separate purchases.
 */
export function readLedgerScope(context: IExecuteFunctions): LedgerScope {
	const executionId = context.getExecutionId();
	const ofToolCall = storeOfToolCall(context);
	if (ofToolCall) return { store: ofToolCall, executionId, runIndex: 0 };
	const { $runIndex } = context.getWorkflowDataProxy(0) as { $runIndex?: number };
	return { store: context.getContext('node') as Record<string, unknown>, executionId, runIndex: $runIndex ?? 0 };
}
