import { type IExecuteFunctions, type INode, WAIT_FOR_SUB_EXECUTION } from 'n8n-workflow';
import { toolCallStores } from '../../core/processMemory';
import { printable, roughDuration } from '../../core/text';

/** The longest wait of a tool of n8n Agents, in minutes: n8n does not tell the node that a person has left the chat. */
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
	const { name: given, type } = context.getNode();
	// n8n takes any name from an imported workflow.
	const name = printable(given);
	const at = item === undefined ? '' : `, item ${item}`;
	if (!isInN8nAgents(context)) return `node "${name}"${at}, execution ${context.getExecutionId()}`;
	return `tool "${name === UNNAMED ? titleOf(type) : name}" of n8n Agents`;
}

/** E.g. "Gateway Image" for `n8n-nodes-generation-gateway.imageGenerationTool`. */
function titleOf(type: string): string {
	const word = type.replace(/^.*\.|(Generation)?(Tool)?$/g, '');
	return `Gateway ${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** As n8n's engine 2.0 names its executions. */
const ENGINE_2_ID = /^[\da-f]{8}-/;

/**
 * True in n8n's engine 2.0. Its executions cannot sleep: after their sub-execution has begun, they go on without it. And
 * n8n's nodes do not write into data tables there.
 */
export const isInEngine2 = (context: IExecuteFunctions) => ENGINE_2_ID.test(context.getExecutionId());

/** True when the node runs for an agent, which sees no files or hints: n8n makes a second node type for that. */
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

/** True when n8n makes the call as a function. Versions such as 2.0 show it only by the connection type. */
export function isToolCall(context: IExecuteFunctions): boolean {
	return context.isToolExecution?.() ?? (context as { connectionType?: string }).connectionType === 'ai_tool';
}

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

/**
 * True when n8n resumes an execution whose sub-execution has slept, with its results and errors, and also when the
 * sub-execution has died. The versions that do mark such executions by a time of their own; older ones are not enough:
 * 1.123 passes no results on, 2.0 no errors, and neither looks after dead executions.
 */
export function supportsDurableWait(context: IExecuteFunctions): boolean {
	const marksThem: Date | undefined = WAIT_FOR_SUB_EXECUTION;
	return marksThem !== undefined && Boolean(context.getWorkflow().id) && Boolean(context.getExecutionId());
}
