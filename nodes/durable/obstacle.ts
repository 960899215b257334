import type { IExecuteFunctions, IRunExecutionData } from 'n8n-workflow';
import { isInEngine2 } from '../run/engine2';
import { HINTS } from '../run/hints';
import { answerAwaited } from './answerAwaited';
import { hasFailed, parentIdOf, readData, waitingFor } from './parentExecutions';
import { missingNode } from './subWorkflow';
import { supportsDurableWait } from './supportsDurableWait';

/** The reason why the node has to wait in memory, as a hint; undefined where it need not. */
export async function obstacle(context: IExecuteFunctions): Promise<string | undefined> {
	if (!supportsDurableWait(context)) return HINTS.awake();
	if (isInEngine2(context)) return HINTS.awakeInEngine2();
	const missing = missingNode(context);
	if (missing !== undefined) return HINTS.awakeWithoutNode({ node: missing });
	if (context.getMode() === 'evaluation') return HINTS.awakeInEvaluation();
	if (await wouldWakeCaller(context)) return HINTS.awakeForCaller();
	const node = answerAwaited(context);
	if (node !== undefined) return HINTS.awakeForAnswer({ node });
	return (await isOnlyOneCalled(context)) ? undefined : HINTS.awakeAmongOthers();
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

const MOST_AROUND = 100;

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
