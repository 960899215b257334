import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * The longest wait of a tool of n8n Agents, in minutes. When a chat is left, n8n tells the node nothing: longer, and it would poll for
 * a person who has gone.
 */
export const MOST_AGENT_MINUTES = 10;

/** The name that n8n gives the node of such a tool: it does not pass on the tool's own. */
const UNNAMED = 'Target Node';

/**
 * True for a tool of n8n Agents (module `agents`). n8n runs it without an execution, a workflow and a memory of the node: there is
 * no retry, no purchase log, nothing to sleep in, and no signal of a stop.
 */
export function isInN8nAgents(context: Pick<IExecuteFunctions, 'getMode' | 'getExecutionId'>): boolean {
	return context.getMode() === 'internal' && !context.getExecutionId();
}

/** What the node remembers between its tries. A tool of n8n Agents has one try. */
export function nodeMemory(context: IExecuteFunctions): Record<string, unknown> {
	return isInN8nAgents(context) ? {} : (context.getContext('node') as Record<string, unknown>);
}

/** The end of a line in n8n's log: the node, and its execution. */
export function sayWhere(context: IExecuteFunctions, item?: number): string {
	const { name, type } = context.getNode();
	const at = item === undefined ? '' : `, item ${item}`;
	if (!isInN8nAgents(context)) return `node "${name}"${at}, execution ${context.getExecutionId()}`;
	return `tool "${name === UNNAMED ? titleOf(type) : name}" of n8n Agents`;
}

/** E.g. "Gateway Image" for `n8n-nodes-generation-gateway.imageGenerationTool`. */
function titleOf(type: string): string {
	const word = type.replace(/^.*\.|(Generation)?(Tool)?$/g, '');
	return `Gateway ${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
