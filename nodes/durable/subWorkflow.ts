import type { IExecuteWorkflowInfo, INode, INodeParameters } from 'n8n-workflow';
import type { OnError } from '../run/toItem';

/** The hidden operations of our nodes, in the sub-workflows below. They are saved with sleeping executions: never rename them. */
export const STEPS = {
	keepWaiting: 'durableKeepWaiting',
	keepWaitingAsleep: 'durableKeepWaitingAsleep',
	checkTasks: 'durableCheckTasks',
	handOut: {
		stopWorkflow: 'durableHandOutOrStop',
		continueRegularOutput: 'durableHandOut',
		continueErrorOutput: 'durableHandOutToErrors',
	},
	results: 'durableResults',
} as const;

/**
 * What the node runs to wait in n8n's database. Nobody waits awake but the innermost execution:
 *
 *     the node ─▶ Start ─▶ Hand Out ─▶ All Finished?
 *                             ▲         no │
 *                             └── Keep Waiting
 *                                    │
 *                 Start ─▶ All Finished?
 *                            no │  ▲
 *                           Check Tasks
 *
 * Check Tasks waits in memory for what is near and sleeps in the database until the rest is near. While it works, the
 * execution around it sleeps: when n8n dies during a check or a download, n8n resumes that one with what the dead one
 * had saved last, some of it unfinished, and Keep Waiting starts another one. So normally there are two executions.
 *
 * Every node has run before the first sleep: for one that has not, n8n makes up an output when it dies before it has saved
 * the real one, and that would be all that is left. So Hand Out comes first, and hands out nothing until all have finished.
 */
export const waitAndHandOut = (worker: INode, onError: OnError) =>
	subWorkflow('Survive Restarts', worker, ['Keep Waiting', STEPS.keepWaiting], {
		before: ours(worker, 'Hand Out', STEPS.handOut[onError]),
	});

export const waitForTasks = (worker: INode) =>
	subWorkflow('Survive Restarts: Check Tasks', worker, ['Check Tasks', STEPS.checkTasks]);

/**
 * The same for a node that has returned already: Results has the output that the node would have had, and n8n's own node
 * hands it on. When that fails, this execution does, with the results in it: a retry of it hands them on again.
 */
export const waitAndStart = (worker: INode, workflowId: string, errorWorkflow?: string) =>
	subWorkflow('In the Background', worker, ['Keep Waiting', STEPS.keepWaitingAsleep], {
		then: [ours(worker, 'Results', STEPS.results), { name: 'Start Workflow', ...startWorkflow(workflowId) }],
		errorWorkflow,
	});

/** The same, to see whether n8n would start it: for no items. It leaves nothing in the list. */
export function tryWaitAndStart(worker: INode, workflowId: string): IExecuteWorkflowInfo['code'] {
	const code = waitAndStart(worker, workflowId);
	return (
		code && {
			...code,
			settings: { ...code.settings, saveDataSuccessExecution: 'none', saveDataErrorExecution: 'none' },
		}
	);
}

type Step = readonly [name: string, operation: string];
type Part = Pick<INode, 'name' | 'type' | 'typeVersion' | 'parameters'> & Partial<INode>;

/** With the credential of the node that it works for, and of its type: of a tool, that of the node behind it. */
const ours = (
	{ type, typeVersion, credentials }: INode,
	name: string,
	operation: string,
	more: Partial<INode> = {},
): Part => ({
	name,
	...{ type: type.replace(/Tool$/, ''), typeVersion, credentials, parameters: { operation } },
	...more,
});

const startWorkflow = (workflowId: string): Omit<Part, 'name'> => ({
	type: 'n8n-nodes-base.executeWorkflow',
	typeVersion: 1.2,
	parameters: {
		source: 'database',
		workflowId: { __rl: true, mode: 'id', value: workflowId },
		mode: 'once',
		options: { waitForSubWorkflow: true },
	},
});

/** Start, then the step again and again until everything has finished, then the others one after the other. `before` is what asks. */
function subWorkflow(
	name: string,
	worker: INode,
	[step, operation]: Step,
	{ before, then = [], errorWorkflow }: { before?: Part; then?: Part[]; errorWorkflow?: string } = {},
): IExecuteWorkflowInfo['code'] {
	const isOuter = before !== undefined || then.length > 0;
	// Whatever a dead execution leaves, an error or nothing, is no reason to end.
	const repeated = ours(
		worker,
		step,
		operation,
		isOuter ? { onError: 'continueRegularOutput', alwaysOutputData: true } : {},
	);
	const parts: Part[] = [
		{
			name: 'Start',
			type: 'n8n-nodes-base.executeWorkflowTrigger',
			typeVersion: 1.1,
			parameters: { inputSource: 'passthrough' },
		},
		repeated,
		...(before ? [before] : []),
		{
			name: 'All Finished?',
			type: 'n8n-nodes-base.if',
			typeVersion: 2.2,
			parameters: allTrue(before ? IS_HANDED_OUT : HAS_ENDED),
		},
		...then,
	];
	return {
		id: '', // n8n takes the ID of the workflow that it is run for
		name,
		active: false,
		isArchived: false,
		createdAt: new Date(0),
		updatedAt: new Date(0),
		activeVersionId: null,
		nodes: parts.map((part, column) => ({
			id: `00000000-0000-4000-8000-00000000000${column}`,
			position: [220 * column, 0],
			...part,
		})),
		connections: {
			Start: to(before?.name ?? 'All Finished?'),
			[step]: to(before?.name ?? 'All Finished?'),
			...(before ? { [before.name]: to('All Finished?') } : {}),
			'All Finished?': { main: [then.slice(0, 1).map(target), [target(repeated)]] },
			...Object.fromEntries(then.slice(1).map((part, index) => [then[index]?.name, to(part.name)])),
		},
		settings: {
			executionOrder: 'v1',
			// Task IDs and files live here, also where the workflow saves nothing.
			saveDataSuccessExecution: 'all',
			saveDataErrorExecution: 'all',
			// The input with the IDs can be seen at once, and after a crash. Of the checks only what they sleep with may be left.
			saveExecutionProgress: isOuter,
			// A time limit of the instance is for work, not for sleep.
			executionTimeout: -1,
			callerPolicy: 'workflowsFromSameOwner',
			...(errorWorkflow ? { errorWorkflow } : {}),
		},
	};
}

const target = ({ name }: Pick<INode, 'name'>) => ({ node: name, type: 'main' as const, index: 0 });
const to = (name: string) => ({ main: [[target({ name })]] });

const HAS_ENDED = "item.json.details?.gateway_order?.state === 'ended'";
/** An item that was handed out has no order; one of the user's may have one, but no error beside it. */
const IS_HANDED_OUT = `!(item.json.error && item.json.details?.gateway_order) || ${HAS_ENDED}`;

/** The same answer for each item, so that they stay together. */
const allTrue = (isTrue: string): INodeParameters => ({
	conditions: {
		combinator: 'and',
		options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
		conditions: [
			{
				id: '00000000-0000-4000-8000-000000000010',
				leftValue: `={{ $input.all().every((item) => ${isTrue}) }}`,
				rightValue: '',
				operator: { type: 'boolean', operation: 'true', singleValue: true },
			},
		],
	},
	options: {},
});
