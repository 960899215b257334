import type { IExecuteFunctions } from 'n8n-workflow';
import type { LedgerScope } from '../../core/tasks/ledger';

/**
 * A tool call that n8n makes by itself has no run of its own: a retry of it gets the same arguments object, and
 * the next call of the agent another one, even with the same words.
 */
const storesOfToolCalls = new WeakMap<object, Record<string, unknown>>();

/** Where the ledger of this run lives, and what tells the run from others. */
export function readLedgerScope(context: IExecuteFunctions): LedgerScope {
	const executionId = context.getExecutionId();
	if (isToolCall(context)) {
		const call = context.getInputData()[0]?.json ?? {};
		const store = storesOfToolCalls.get(call) ?? {};
		storesOfToolCalls.set(call, store);
		return { store, executionId, runIndex: 0 };
	}
	const { $runIndex } = context.getWorkflowDataProxy(0) as { $runIndex?: number };
	return { store: context.getContext('node') as Record<string, unknown>, executionId, runIndex: $runIndex ?? 0 };
}

/** Whether an agent asks, which can do nothing with files. n8n names the tool of a node after it. */
export function isForAgent(context: IExecuteFunctions): boolean {
	return isToolCall(context) || context.getNode().type.endsWith('Tool');
}

/** Older versions, such as 2.0, do not say it, but the context of such a call knows what it is connected to. */
function isToolCall(context: IExecuteFunctions): boolean {
	return context.isToolExecution?.() ?? (context as { connectionType?: string }).connectionType === 'ai_tool';
}
