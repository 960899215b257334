import type { IExecuteWorkflowInfo, INode, INodeParameters } from 'n8n-workflow';

/** What the node does with what did not succeed: its setting On Error. */
export type OnError = 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';

/** The hidden operations of our nodes, in the sub-workflows below. They are saved with sleeping executions: never rename them. */
export const STEPS = {
	keepWaiting: 'durableKeepWaiting',
	checkTasks: 'durableCheckTasks',
	handOut: { stopWorkflow: 'durableHandOutOrStop', continueRegularOutput: 'durableHandOut', continueErrorOutput: 'durableHandOutToErrors' },
} as const;

/**
 * What the node runs to wait in n8n's database. Nobody waits awake but the innermost execution:
 *
 *     the node ─▶ Start ─▶ All Finished? ─▶ Hand Out
 *                            no │  ▲
 *                          Keep Waiting
 *                               │
 *                 Start ─▶ All Finished?
 *                            no │  ▲
 *                           Check Tasks
 *
 * Check Tasks waits in memory for what is near and sleeps in the database until the rest is near. While it works, the
 * execution around it sleeps: when n8n dies during a check or a download, n8n resumes that one with what the dead one
 * had saved last, some of it unfinished, and Keep Waiting starts another one. So normally there are two executions.
 *
 * All Finished? comes first, so that it has run before the first sleep: n8n makes up an output for a node that has not,
 * and that would be all that is left of a dead execution.
 */
export const waitAndHandOut = (worker: INode, onError: OnError) =>
	subWorkflow('Survive Restarts', worker, ['Keep Waiting', STEPS.keepWaiting], ['Hand Out', STEPS.handOut[onError]]);

export const waitForTasks = (worker: INode) => subWorkflow('Survive Restarts: Check Tasks', worker, ['Check Tasks', STEPS.checkTasks]);

type Step = readonly [name: string, operation: string];

/** Start, then the step again and again until everything has finished, then the last one. */
function subWorkflow(name: string, { type, typeVersion, credentials }: INode, [step, operation]: Step, [last, lastOperation]: Partial<Step> = []): IExecuteWorkflowInfo['code'] {
	// With the credential of the node that they work for. Whatever a dead execution leaves, an error or nothing, is no reason to end.
	const ours = (label: string, column: number, value: string, more: Partial<INode> = {}) =>
		node(label, column, { type, typeVersion, credentials, parameters: { operation: value }, ...more });
	return {
		id: '', // n8n takes the ID of the workflow that it is run for
		name,
		active: false,
		isArchived: false,
		createdAt: new Date(0),
		updatedAt: new Date(0),
		activeVersionId: null,
		nodes: [
			node('Start', 0, { type: 'n8n-nodes-base.executeWorkflowTrigger', typeVersion: 1.1, parameters: { inputSource: 'passthrough' } }),
			ours(step, 1, operation, operation === STEPS.keepWaiting ? { onError: 'continueRegularOutput', alwaysOutputData: true } : {}),
			node('All Finished?', 2, { type: 'n8n-nodes-base.if', typeVersion: 2.2, parameters: allFinished }),
			...(last && lastOperation ? [ours(last, 3, lastOperation)] : []),
		],
		connections: {
			Start: to('All Finished?'),
			[step]: to('All Finished?'),
			'All Finished?': { main: [last ? [target(last)] : [], [target(step)]] },
		},
		settings: {
			executionOrder: 'v1',
			// Task IDs and files live here, also where the workflow saves nothing.
			saveDataSuccessExecution: 'all',
			saveDataErrorExecution: 'all',
			// The input with the IDs can be seen at once, and after a crash. Of the checks only what they sleep with may be left.
			saveExecutionProgress: last !== undefined,
			// A time limit of the instance is for work, not for sleep.
			executionTimeout: -1,
			callerPolicy: 'workflowsFromSameOwner',
		},
	};
}

const target = (node: string) => ({ node, type: 'main' as const, index: 0 });
const to = (name: string) => ({ main: [[target(name)]] });

function node(name: string, column: number, what: Pick<INode, 'type' | 'typeVersion' | 'parameters'> & Partial<INode>): INode {
	return { id: `00000000-0000-4000-8000-00000000000${column}`, name, position: [220 * column, 0], ...what };
}

/** The same answer for each item, so that they stay together. */
const allFinished: INodeParameters = {
	conditions: {
		combinator: 'and',
		options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
		conditions: [
			{
				id: '00000000-0000-4000-8000-000000000010',
				leftValue: '={{ $input.all().every((item) => item.json.details?.outcome) }}',
				rightValue: '',
				operator: { type: 'boolean', operation: 'true', singleValue: true },
			},
		],
	},
	options: {},
};
