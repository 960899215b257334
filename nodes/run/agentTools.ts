import type { IExecuteFunctions, INode } from 'n8n-workflow';
import { toolCallStores } from '../../core/processMemory';

/**
 * True when the node runs for an agent, which can do nothing with files and sees no hints. n8n makes a second node type
 * of each node that an agent can use.
 */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/**
 * The memory of a tool call that n8n makes as a function (older agents, the MCP Server Trigger); undefined for any other
 * run. Retry On Fail gives each try a run index of its own there, but the arguments are one object for all tries of a
 * call, and another one for the next call, even with the same words.
 */
export function storeOfToolCall(context: IExecuteFunctions): Record<string, unknown> | undefined {
	if (!isToolCall(context)) return undefined;
	const call = context.getInputData()[0]?.json ?? {};
	const store = toolCallStores.get(call) ?? {};
	toolCallStores.set(call, store);
	return store;
}

/** True when an agent calls the node, as a node or as a function. */
export function isToolRun(context: IExecuteFunctions): boolean {
	return isTool(context.getNode()) || isToolCall(context);
}

/**
 * True when n8n makes the call as a function. Older versions, such as 2.0, do not say it, but the context of such a
 * call knows its connection type.
 */
export function isToolCall(context: IExecuteFunctions): boolean {
	return context.isToolExecution?.() ?? (context as { connectionType?: string }).connectionType === 'ai_tool';
}
