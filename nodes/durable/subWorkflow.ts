import type { IConnections, IExecuteFunctions, INode, IWorkflowSettings } from 'n8n-workflow';
import { MIN_SLEEP_MS } from '../../core/engine/sleepCoordinator';
import { printable, shorten } from '../../core/text';
import type { OnError } from '../run/toItem';
import { inlineWorkflow, type InlineWorkflow } from '../connection/subExecution';

/** The hidden operations of our nodes, in the sub-workflows. They are saved with sleeping executions. */
export const STEPS = {
	keepWaiting: 'durableKeepWaiting',
	noteAddress: 'durableNoteAddress',
	pollTasks: 'durablePollTasks',
	haveEnded: 'durableHaveEnded',
	areHandedOut: 'durableAreHandedOut',
	results: {
		stopWorkflow: 'durableHandOutOrStop',
		continueRegularOutput: 'durableHandOut',
		continueErrorOutput: 'durableHandOutToErrors',
	},
} as const;

/** The node that has the output, once all have finished. */
const RESULTS = 'Results';

/** The node that submits and polls: its memory is read when it has died. */
export const POLL_TASKS = 'Poll Tasks';

/**
 * The node that asks whether all orders have ended. n8n's If node would evaluate its condition for each item: thousands of items
 * would block n8n for seconds.
 */
const QUESTION = 'All Finished?';

/** The node that puts out the address by which the execution is woken, right before it sleeps. */
export const NOTE_ADDRESS = 'Note Address';

const TRIGGER = 'n8n-nodes-base.executeWorkflowTrigger';
const WAIT = 'n8n-nodes-base.wait';
const EXECUTE = 'n8n-nodes-base.executeWorkflow';
export const NOTE = 'n8n-nodes-base.stickyNote';

/**
 * The sub-workflow that waits in n8n's database. Only its innermost execution is awake at times:
 *
 *     the node ─▶ Start ─▶ Results ──▶ All Finished?
 *                             ▲         no │
 *                             └── Keep Waiting ─ ─ ─ ─ ─ ─ calls ─ ─ ┐
 *                                    │                               ▼
 *                                  Start ─▶ Note Address ─▶ Sleep Until Called ─▶ Poll Tasks ─▶ All Finished?
 *                                    └─ ─ ─ ─ passes ─ ─ ─ ─ ─ ─ ▲                    ▲         no │
 *                                                                                     └───────────┘
 *
 * The innermost one falls asleep at once, and with it all that wait for it: from then on everything is in the database.
 * Keep Waiting calls its address, and n8n wakes it alone. Poll Tasks submits what is left, waits in memory for what is near and
 * sleeps until the rest is. What it buys is in the rows of the run. When n8n dies meanwhile, it resumes the
 * execution around, and Keep Waiting starts another one with what was saved last. Nodes of ours that write names to n8n's
 * record have the ID of the user's node: one run has one name there, too.
 *
 * Of Results and Keep Waiting, which both have that ID, n8n's editor draws the last one: Results, with output and hints.
 *
 * Every node has run before the first sleep: for one that has not, n8n makes up an output when it dies before it has saved
 * the real one, and that would be all that is left. So Results comes first, and hands out nothing until all have finished.
 * And when the address is called, n8n takes back what Sleep Until Called has put out, until it has saved that again: a child
 * that dies in between has no output, and the execution that waits for it would wait forever. So the items pass through it once before.
 */
export function waitAndOutputResults(worker: INode, onError: OnError) {
	const before = [ours(worker, RESULTS, STEPS.results[onError], { id: worker.id })];
	const question = ours(worker, QUESTION, STEPS.areHandedOut);
	const note = noteOf(worker, NOTES.waits);
	return subWorkflow('Wait Across Restarts', { before, question, again: keepWaiting(worker), note });
}

export function pollWhenCalled(worker: INode) {
	const again = ours(worker, POLL_TASKS, STEPS.pollTasks, { id: worker.id });
	const before = [ours(worker, NOTE_ADDRESS, STEPS.noteAddress), SLEEP_UNTIL_CALLED, again];
	const question = ours(worker, QUESTION, STEPS.haveEnded);
	const note = noteOf(worker, NOTES.polls);
	return subWorkflow(
		'Wait Across Restarts: Poll Tasks',
		{ before, question, again, first: SLEEP_UNTIL_CALLED, note },
		// The execution around goes on with what was saved last.
		{ saveExecutionProgress: true },
	);
}

/**
 * The same for a node that has returned already: Results has the output that the node would have had, and n8n's own node
 * hands it on. When that fails, this execution does, with the results in it: a retry of it hands them on again.
 */
export function waitAndStart(worker: INode, workflowId: string, errorWorkflow?: string) {
	const before = [ours(worker, RESULTS, STEPS.results.continueRegularOutput, { id: worker.id })];
	const question = ours(worker, QUESTION, STEPS.areHandedOut);
	const then = { name: 'Start Workflow', ...startWorkflow(workflowId) };
	const note = noteOf(worker, NOTES.starts);
	return subWorkflow(
		'In the Background',
		{ before, question, again: keepWaiting(worker), then, note },
		errorWorkflow === undefined ? {} : { errorWorkflow },
	);
}

/** True in an execution that hands its results to another workflow by itself, a retry of it, too. */
export const startsWorkflow = (context: IExecuteFunctions): boolean =>
	context.getChildNodes(context.getNode().name).some(({ type }) => type === EXECUTE);

/** The same, to see whether n8n would start it: for no items. It leaves nothing in the list. */
export function tryWaitAndStart(worker: INode, workflowId: string): InlineWorkflow {
	const { settings, ...code } = waitAndStart(worker, workflowId);
	return { ...code, settings: { ...settings, saveDataSuccessExecution: 'none', saveDataErrorExecution: 'none' } };
}

/**
 * The user's node, as the sub-workflows take it. Its `notes` say in their sticky notes whose they are, because n8n lists
 * their executions among those of the user's workflow. n8n starts no workflow with a node that it does not know, so an n8n
 * that excludes sticky notes gets none.
 */
export function workerOf(context: IExecuteFunctions): INode {
	const node = context.getNode();
	const name = (text = '') => shorten(printable(text).replace(/[\\`*_[\]<>#|~]/g, '\\$&'), 100);
	const isKnown = context.getKnownNodeTypes()[NOTE] !== undefined;
	const whose = `**${name(node.name)}** of the workflow **${name(context.getWorkflow().name)}** (execution ${context.getExecutionId()})`;
	return { ...node, notes: isKnown ? whose : undefined };
}

/** The first of n8n's nodes that the sub-workflows need and the owner of this n8n has excluded. */
export function missingNode(context: IExecuteFunctions, needed = NEEDED_NODES): string | undefined {
	const known = context.getKnownNodeTypes();
	return Object.entries(needed).find(([type]) => known[type] === undefined)?.[1];
}

/** The nodes of n8n that the sub-workflows need, as n8n shows them. */
const NEEDED_NODES: Record<string, string> = {
	[TRIGGER]: 'Execute Workflow Trigger',
	[WAIT]: 'Wait',
};

/** The same, with the one that starts another workflow. */
export const NEEDED_TO_START: Record<string, string> = { ...NEEDED_NODES, [EXECUTE]: 'Execute Sub-workflow' };

/** Further down in the sticky notes, below whose they are. */
const NOTES = {
	waits: `This execution waits until all tasks have ended, and n8n hands their results to the node. Both go on by themselves, also after a restart of n8n.

Do not delete or retry this one: n8n hands the results of a retry to no node.`,
	polls: `This execution submits the tasks, asks how far they are, and sleeps in between. It goes on by itself. If n8n dies meanwhile, another execution takes its place.

Do not delete or retry this one: n8n hands the results of a retry to no node.`,
	starts: `This execution waits until all tasks have ended, and starts the other workflow with their results. It goes on by itself, also after a restart of n8n.

Do not delete it. Retry it only if it has crashed or **Start Workflow** has failed: it goes on, and nothing is bought twice.`,
};

const noteOf = ({ notes }: INode, text: string) => notes && `### For ${notes}\n\n${text}`;

const START: Part = {
	name: 'Start',
	type: TRIGGER,
	typeVersion: 1.1,
	parameters: { inputSource: 'passthrough' },
};

type Part = Pick<INode, 'name' | 'type' | 'typeVersion' | 'parameters'> & Partial<INode>;

/** With the credential of the node that it works for, and of its type: of a tool, that of its node. */
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

/** Whatever a dead execution leaves, an error or nothing, is no reason to end. */
const keepWaiting = (worker: INode) =>
	ours(worker, 'Keep Waiting', STEPS.keepWaiting, {
		id: worker.id,
		// For the sub-workflow that it starts.
		notes: worker.notes,
		onError: 'continueRegularOutput',
		alwaysOutputData: true,
	});

/** n8n's own Wait node, woken by a call of its address, or by itself. What comes first passes at once. */
const SLEEP_UNTIL_CALLED: Part = {
	name: 'Sleep Until Called',
	type: WAIT,
	typeVersion: 1.1,
	webhookId: '00000000-0000-4000-8000-000000000020',
	parameters: {
		resume: "={{ $runIndex === 0 ? 'timeInterval' : 'webhook' }}",
		amount: 0,
		unit: 'seconds',
		// Where Resume is an expression, n8n wants what other choices of it need, too.
		dateTime: '1970-01-01',
		formTitle: '-',
		limitWaitTime: true,
		limitType: 'afterTimeInterval',
		resumeAmount: MIN_SLEEP_MS / 1000,
		resumeUnit: 'seconds',
		options: {},
	},
};

const startWorkflow = (workflowId: string): Omit<Part, 'name'> => ({
	type: EXECUTE,
	typeVersion: 1.2,
	parameters: {
		source: 'database',
		workflowId: { __rl: true, mode: 'id', value: workflowId },
		mode: 'once',
		options: { waitForSubWorkflow: true },
	},
});

interface Shape {
	/** Gets what Start puts out, before the others do. */
	first?: Part;
	/** Between Start and the question. */
	before: Part[];
	/** Runs as long as not all have finished; then the last one before the question does, if that is another one. */
	again: Part;
	/** It puts out what has finished first, and the rest second. */
	question: Part;
	/** The node after the end of all tasks. */
	then?: Part;
	/** For a person who opens the execution. Markdown. */
	note?: string;
}

const SETTINGS: IWorkflowSettings = {
	executionOrder: 'v1',
	// Task IDs and files live here, also where the workflow saves nothing.
	saveDataSuccessExecution: 'all',
	saveDataErrorExecution: 'all',
	// With it, n8n saves a node that falls asleep without the way back to it, a moment before it saves the way, too: a retry of an
	// execution that has died in between would fail for ever. And what a dead execution has passed on would be saved: if this one died,
	// too, the workflow would go on with it.
	saveExecutionProgress: false,
	// A time limit of the instance is for work, not for sleep.
	executionTimeout: -1,
	callerPolicy: 'workflowsFromSameOwner',
};

function subWorkflow(
	name: string,
	{ first, before, question, again, then, note }: Shape,
	settings: IWorkflowSettings = {},
): InlineWorkflow {
	const last = then === undefined ? [] : [then];
	const parts = [...new Set([START, ...before, question, again, ...last])];
	const nodes = parts.map((part, column) => ({
		id: `00000000-0000-4000-8000-00000000000${column}`,
		// n8n runs the upper ones first.
		position: [220 * column, part === first ? -220 : 0] satisfies [number, number],
		...part,
	}));
	const isAgain = ({ name }: INode) => name === again.name;
	return inlineWorkflow({
		name,
		nodes: [...nodes.filter(isAgain), ...nodes.filter((node) => !isAgain(node)), ...stickyNote(note, first)],
		connections: {
			...chain(again, before.at(-1) ?? question),
			...chain(START, ...before, question),
			...(first === undefined ? {} : { [START.name]: { main: [[first, ...before.slice(0, 1)].map(target)] } }),
			[question.name]: { main: [last.map(target), [target(again)]] },
		},
		settings: { ...SETTINGS, ...settings },
	});
}

/** Above the nodes. None of them leads to it, so n8n never runs it. */
const stickyNote = (content?: string, upper?: Part): INode[] =>
	content === undefined
		? []
		: [
				{
					id: '00000000-0000-4000-8000-000000000030',
					...{ name: 'Note', type: NOTE, typeVersion: 1, position: [-20, upper === undefined ? -210 : -430] },
					parameters: { content, width: 640, height: 170, color: 7 },
				},
			];

const target = ({ name }: Pick<INode, 'name'>) => ({ node: name, type: 'main' as const, index: 0 });

/** One after the other. */
const chain = (...parts: Part[]): IConnections =>
	Object.fromEntries(parts.slice(1).map((next, index) => [parts[index]?.name, { main: [[target(next)]] }]));
