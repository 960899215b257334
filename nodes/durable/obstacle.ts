import {
	CHAT_TRIGGER_NODE_TYPE,
	FORM_NODE_TYPE,
	FORM_TRIGGER_NODE_TYPE,
	type IExecuteFunctions,
	type IRunExecutionData,
	type NodeTypeAndVersion,
	RESPOND_TO_WEBHOOK_NODE_TYPE,
	WAIT_NODE_TYPE,
} from 'n8n-workflow';
import { isInEngine2, supportsDurableWait } from '../run/whereItRuns';
import { HINTS } from '../run/hints';
import { hasFailed, MOST_AROUND, parentIdOf, readData, waitingFor } from './parentExecutions';
import { missingNode } from './subWorkflow';

/** The reason why the node has to wait in memory, as a hint; undefined where it need not. */
export async function obstacle(context: IExecuteFunctions): Promise<string | undefined> {
	if (!supportsDurableWait(context))
		return HINTS.awake({
			why: 'this n8n cannot wait in its database for a sub-execution',
			advice: 'Use n8n 2.41 or later and a saved workflow.',
		});
	if (isInEngine2(context))
		return HINTS.awake({
			why: 'in n8n’s engine 2.0, no execution can wait in the database',
			advice: 'To survive restarts, set Wait to Don’t Wait, and get the results later with Get Result.',
		});
	const missing = missingNode(context);
	if (missing !== undefined)
		return HINTS.awake({ why: `this n8n excludes the node "${missing}"`, advice: 'Remove it from NODES_EXCLUDE.' });
	if (context.getMode() === 'evaluation') return HINTS.awake({ why: 'this is an evaluation' });
	if (await wouldWakeCaller(context))
		return HINTS.awake({ why: 'this is a retry, and the calling workflow has gone on', advice: 'Nothing to do.' });
	const node = answerAwaited(context);
	if (node !== undefined)
		return HINTS.awake({
			why: `"${node}" waits for the answer of this workflow, and n8n would answer before the results are ready`,
			advice: `To survive restarts, let "${node}" respond immediately, or set Wait of Generate to In Another Workflow.`,
		});
	if (await isOnlyOneCalled(context)) return undefined;
	return HINTS.awake({
		why: 'n8n could lose results if this workflow is called once per item',
		advice: 'Call it once with all items, and turn on Save execution progress in the calling workflow.',
	});
}

/**
 * True in a retry whose caller has gone on and sleeps for something else: n8n hands the results of an execution that has
 * slept to the execution that called it, and wakes it.
 */
async function wouldWakeCaller(context: IExecuteFunctions): Promise<boolean> {
	const callerId = context.getMode() === 'retry' ? parentIdOf(context) : undefined;
	const caller = callerId === undefined ? undefined : await readData(context, callerId);
	return Boolean(caller?.waitTill) && !hasFailed(caller);
}

/**
 * True when no execution around this one waits for others, too. n8n wakes an execution that waits for several (Execute
 * Sub-workflow, Run Once for Each Item) by the first one that ends, and loses the results of the others. n8n does not
 * tell the called workflow the mode of the call. But a call for each item gives one item only, and where the caller
 * saves its progress, n8n's database has the node that it is at.
 */
async function isOnlyOneCalled(context: IExecuteFunctions): Promise<boolean> {
	// n8n hands the result of a retry to no parent.
	if (parentIdOf(context) === undefined || context.getMode() === 'retry') return true;
	let data = await readData(context, context.getExecutionId());
	// Of this one n8n has saved what it began with.
	if (data === undefined) return false;
	for (let around = 0; around < MOST_AROUND; around++) {
		const parentId: string | undefined = waitingFor(data);
		if (parentId === undefined) return true;
		const parent = await readData(context, parentId);
		if (hasFailed(parent)) return true;
		if (itemsGiven(data) <= 1 && !callsOnce(parent)) return false;
		// Not saved yet: a manual execution, around which there is none.
		if (parent === undefined) return true;
		data = parent;
	}
	return false;
}

/** The number of items that the execution began with; 0 where that cannot be seen. */
function itemsGiven({ executionData, resultData: { runData } }: IRunExecutionData): number {
	const first = Object.values(runData)
		.flat()
		.find(({ executionIndex }) => executionIndex === 0);
	const given = first ? first.data : executionData?.nodeExecutionStack[0]?.data;
	return given?.main?.[0]?.length ?? 0;
}

/** True when the saved execution is at a node that calls another workflow once. */
function callsOnce(data: IRunExecutionData | undefined): boolean {
	const next = data?.executionData?.nodeExecutionStack[0];
	if (next?.node.type !== 'n8n-nodes-base.executeWorkflow') return false;
	// It has slept, and was saved then: by now it is further on.
	if (next.metadata?.waitingChildExecutionIds?.length) return false;
	return next.node.parameters.mode !== 'each' || next.data.main?.[0]?.length === 1;
}

/**
 * The name of the node whose caller waits for what this workflow answers, such as the webhook that started it. n8n
 * answers, or closes the stream, as soon as an execution sleeps; before a Respond to Webhook node only in queue mode,
 * which cannot be seen from here. Nor can the caller of another workflow that calls this one.
 */
function answerAwaited(context: IExecuteFunctions): string | undefined {
	// The caller has had an answer long ago.
	if (context.getMode() === 'retry') return undefined;
	const { $ } = context.getWorkflowDataProxy(0) as unknown as { $: (node: string) => { isExecuted: boolean } };
	const hasRun = ({ name, disabled }: NodeTypeAndVersion) => !disabled && $(name).isExecuted;
	const all = { includeNodeParameters: true };
	const isAwaited = (node: NodeTypeAndVersion) => {
		const mode = responseModeOf(node);
		const following = context.getChildNodes(node.name, all);
		if (node.type === FORM_TRIGGER_NODE_TYPE && following.some(isFormPage)) return false;
		if (mode === 'responseNode' && following.some((next) => next.type === RESPOND_TO_WEBHOOK_NODE_TYPE && hasRun(next)))
			return false;
		return mode !== 'onReceived';
	};
	return context.getParentNodes(context.getNode().name, all).find((node) => hasRun(node) && isAwaited(node))?.name;
}

/** A chat always waits: n8n cancels a sleeping execution when its chat is closed. */
function responseModeOf({ type, parameters }: NodeTypeAndVersion): unknown {
	if (type !== CHAT_TRIGGER_NODE_TYPE) return parameters?.responseMode ?? 'onReceived';
	return (parameters?.options as { responseMode?: string } | undefined)?.responseMode;
}

/** The browser waits for such a page by asking n8n again and again, however long the execution sleeps. */
function isFormPage({ type, disabled, parameters }: NodeTypeAndVersion): boolean {
	return !disabled && (type === FORM_NODE_TYPE || (type === WAIT_NODE_TYPE && parameters?.resume === 'form'));
}
