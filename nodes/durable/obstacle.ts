import type { IExecuteFunctions, IRunExecutionData } from 'n8n-workflow';
import { isInEngine2, supportsDurableWait } from '../run/whereItRuns';
import { HINTS } from '../run/hints';
import { answerAwaited } from './answerAwaited';
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
		advice: 'Call it once with all items, or turn on Save execution progress in the calling workflow.',
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
