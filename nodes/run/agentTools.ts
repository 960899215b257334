import type { IExecuteFunctions, INode } from 'n8n-workflow';

/**
 * Whether the node runs for an agent, which can do nothing with files and sees no hints. n8n makes a second node
 * type of each node that an agent can use.
 */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/**
 * Memory of tool calls that n8n makes as functions (older agents, the MCP Server Trigger). Retry On Fail gives each
 * try a run index of its own there, but the arguments are one object for all tries of a call, and another one for
 * the next call, even with the same words. Where the engine runs a tool, it is a node as any other.
 */
const storesOfCalls = new WeakMap<object, Record<string, unknown>>();

/** Undefined when this is no such call. */
export function storeOfToolCall(context: IExecuteFunctions): Record<string, unknown> | undefined {
	if (!isToolCall(context)) return undefined;
	const call = context.getInputData()[0]?.json ?? {};
	const store = storesOfCalls.get(call) ?? {};
	storesOfCalls.set(call, store);
	return store;
}

/** Whether an agent calls the node, in whichever of the two ways. */
export function isToolRun(context: IExecuteFunctions): boolean {
	return isTool(context.getNode()) || isToolCall(context);
}

/** Whether n8n makes the call as a function. Older versions, such as 2.0, do not say it, but the context of such a call knows what it is connected to. */
export function isToolCall(context: IExecuteFunctions): boolean {
	return context.isToolExecution?.() ?? (context as { connectionType?: string }).connectionType === 'ai_tool';
}
