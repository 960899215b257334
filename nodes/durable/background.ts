import type { IExecuteFunctions, IExecuteWorkflowInfo, INodeExecutionData, IRunExecutionData } from 'n8n-workflow';
import { gatewayError, invalidInput, type GatewayError, type TaskReference } from '../../core/errors';
import { isPlainObject } from '../../core/json';
import { startableWorkflows } from '../../core/processMemory';
import type { HandOver } from '../../core/orders/handOver';
import type { Order } from '../../core/orders/order';
import { endBadly, endsWell, errorOf, hasEnded, promptOf } from '../../core/orders/states';
import { credentialIdOf } from '../connection/transport';
import { toNodeError, listIds, type BatchSummary } from '../errors/toNodeError';
import { FieldReader, toText } from '../form/fieldReader';
import { workflowField } from '../form/fields';
import { isTool, isInN8nAgents, supportsDurableWait } from '../run/whereItRuns';
import { HINTS } from '../run/hints';
import { withoutEmpty, itemsOf, onErrorOf, outcomeOf } from '../run/toItem';
import { readLedgerScope } from '../run/runMemory';
import { parentOf } from '../connection/subExecution';
import { executionOf, keyInBackground, type Background, type Run } from '../run/nodeRun';
import { salvageOrderItems, toOrderItems, withHandOver, type OrderItem } from './orderItems';
import { hasFailed, readData } from './parentExecutions';
import { missingNode, NEEDED_TO_START, tryWaitAndStart, waitAndStart, workerOf } from './subWorkflow';

const TRIGGER = 'n8n-nodes-base.executeWorkflowTrigger';

/** A workflow that n8n would have started is not asked for again for so long, and for so many workflows. */
const STARTABLE_FOR_MS = 3_600_000;
const MOST_STARTABLE = 1_000;

/** Reads the workflow to start from the first item, and checks it as far as n8n lets a node do. */
export async function readBackground(context: IExecuteFunctions): Promise<Background> {
	const form = new FieldReader((name) => context.getNodeParameter(name, 0, null), context.getNode().parameters);
	if (isInN8nAgents(context))
		throw invalidInput(
			'Wait cannot be In Another Workflow in n8n Agents: n8n runs this tool without an execution that could wait',
			'Set Wait of this tool to Don’t Wait, and add a tool for Get Result.',
		);
	const missing = missingNode(context, NEEDED_TO_START);
	if (!supportsDurableWait(context) || missing !== undefined) throw gatewayError('backgroundNotPossible', { missing });
	const chosen = form.value(workflowField);
	const { value, cachedResultName } = isPlainObject(chosen) ? chosen : { value: chosen };
	const workflowId = toText(value, workflowField.displayName);
	if (workflowId === '')
		throw form.nothingIn(workflowField, 'Choose the workflow to start when the tasks have finished.');
	if (form.isExpression(workflowField.name)) assertOneWorkflow(context, workflowId);
	const name = typeof cachedResultName === 'string' && cachedResultName !== '' ? cachedResultName : workflowId;
	assertNoLoop(context, workflowId);
	await assertStartable(context, workflowId, name);
	const store = readLedgerScope(context).store as { handedOver?: Record<string, string> };
	return { workflowId, name, executions: (store.handedOver ??= {}) };
}

/** Throws where items name other workflows: one is started with all results, and it would get those of others. */
function assertOneWorkflow(context: IExecuteFunctions, workflowId: string): void {
	const { displayName: label } = workflowField;
	for (const item of context.getInputData().keys()) {
		const form = new FieldReader((parameter) => context.getNodeParameter(parameter, item, null));
		const chosen = form.value(workflowField);
		const value = isPlainObject(chosen) ? chosen.value : chosen;
		if (toText(value, label) === workflowId) continue;
		throw invalidInput(
			`${label} differs between item 0 and item ${item}, but only one workflow is started, with all results`,
			'Put Loop Over Items with a Batch Size of 1 before this node.',
		);
	}
}

/**
 * Finds the execution that an earlier try has handed the orders to before a crash: n8n has not saved its ID with the node. As long as
 * that execution works, the orders that it was given are its own: otherwise the other workflow would get the results twice. The others,
 * because a node before returns other items now, are not submitted: that would stop it.
 */
export async function findHandedOver(run: Run, orders: Order[]): Promise<void> {
	const { context, background, journal } = run;
	if (background === undefined || journal === undefined || context.getMode() !== 'retry') return;
	const { execution, sends, gap } = (await journal.findSupervisor()) ?? {};
	if (execution === undefined || execution === context.getExecutionId()) return;
	const data = await readData(context, execution);
	if (data === undefined || hasFailed(data)) return;
	const given = new Map<string, number>();
	for (const hash of gap === undefined ? await hashesGivenTo(data) : []) given.set(hash, (given.get(hash) ?? 0) + 1);
	/** Each is that of one order. */
	const claim = ({ request }: Order): boolean => {
		const hash = request?.hash ?? '';
		const left = given.get(hash) ?? 0;
		given.set(hash, left - 1);
		return left > 0;
	};
	const isKnown = (order: Order) => executionOf(run, order) !== undefined;
	const open = orders.filter((order) => !isKnown(order));
	orders.filter(isKnown).forEach(claim);
	for (const order of open) {
		if (claim(order)) background.executions[keyInBackground(run, order)] = execution;
		// What is submitted here would stop what it still sends.
		else if (order.state !== 'planned' || (gap === undefined && !sends)) continue;
		else if (gap === undefined) endBadly(order, gatewayError('submittedByOtherRetry', { execution }));
		// Where a person decides, the rows say which runs there are.
		else if (order.request?.submitAgainFor === undefined)
			endBadly(order, gatewayError('outcomeStillUnknown', { thing: order.thing, what: gap }));
	}
}

/** The requests of the orders that an execution was given. One that has just begun is saved with what it is to run. */
async function hashesGivenTo({ resultData, executionData }: IRunExecutionData): Promise<string[]> {
	const { main } = resultData.runData.Start?.at(-1)?.data ?? executionData?.nodeExecutionStack[0]?.data ?? {};
	const orders = (await salvageOrderItems(main?.[0])) ?? [];
	return orders.flatMap(({ request, purchase }) => request?.hash ?? purchase?.hash ?? []);
}

/** A workflow that starts this node again with its own results would buy without end. */
function assertNoLoop(context: IExecuteFunctions, workflowId: string): void {
	if (workflowId !== String(context.getWorkflow().id)) return;
	const node = context.getNode();
	// The nodes before a tool are those before its agent, which n8n does not always name.
	const { $prevNode } = context.getWorkflowDataProxy(0) as { $prevNode?: { name?: string } };
	const before = context.getParentNodes((isTool(node) ? $prevNode?.name : node.name) ?? '');
	const isUnclear = isTool(node) && before.length === 0;
	if (isUnclear || before.some(({ type, disabled }) => type === TRIGGER && !disabled))
		throw invalidInput(
			'The workflow could start this node again with its own results, and pay each time',
			'Choose a different workflow. To stay in this one, connect its trigger When Executed by Another Workflow to nodes that do not lead back here.',
		);
}

/**
 * No node can read another workflow, nor what a person may use. But n8n checks a workflow before it starts it, and starts
 * none of its nodes when there are no items: what remains is an empty execution in the list of the chosen one. The
 * execution that is to wait is tried in the same way, because n8n asks there whether the person who runs this workflow may
 * use the credential. What was possible is taken for possible for some time.
 */
async function assertStartable(context: IExecuteFunctions, workflowId: string, name: string): Promise<void> {
	// Each check is an entry in the list of the chosen workflow.
	const node = context.getNode();
	const checked = [context.getWorkflow().id, node.id, workflowId, credentialIdOf(node)].join(' ');
	const isManual = context.getMode() === 'manual';
	if (!isManual && Date.now() - (startableWorkflows.get(checked) ?? 0) < STARTABLE_FOR_MS) return;
	await tryToStart(context, { code: tryWaitAndStart(node, workflowId) }, (words) =>
		invalidInput(
			'n8n cannot start the execution that waits for the tasks',
			`n8n says: "${words}". If it is about the credential, ask its owner to share it with you, or ask a person who can use it to run the workflow.`,
		),
	);
	await tryToStart(context, { id: workflowId }, (words) => {
		// It says the same of a workflow that has been deleted.
		if (/not active|does not exist/i.test(words))
			return invalidInput(
				`"${name}" is not published or no longer exists, so n8n could not start it with the results`,
				'Publish that workflow. If it has been deleted or comes from another n8n, choose a different one.',
			);
		if (/Missing node to start/i.test(words))
			return invalidInput(
				`"${name}" cannot be started by another workflow`,
				'Add the trigger When Executed by Another Workflow to it, and publish it.',
			);
		return invalidInput(
			`n8n cannot start "${name}"`,
			`n8n says: "${words}". Check the settings of that workflow, especially which workflows can call it, and the credentials of its nodes.`,
		);
	});
	// In a manual run, n8n looks at what that person may use: it says nothing about other runs.
	if (isManual) return;
	if (startableWorkflows.size >= MOST_STARTABLE) startableWorkflows.clear();
	startableWorkflows.set(checked, Date.now());
}

async function tryToStart(
	context: IExecuteFunctions,
	workflow: IExecuteWorkflowInfo,
	toError: (words: string) => GatewayError,
): Promise<void> {
	try {
		await context.executeWorkflow(workflow, [], undefined, {
			parentExecution: parentOf(context, { shouldResume: false }),
		});
	} catch (thrown) {
		const { message, description } = thrown as { message?: string; description?: string | null };
		const said = [message, description]
			.filter(Boolean)
			.join('. ')
			.replace(/<[^>]*>/g, '');
		throw toError(said);
	}
}

/** The answer to an agent: it must neither wait nor ask again. */
const STARTED =
	'Started. The result is not part of this answer: it is sent when it is ready. Do not call this tool again for it.';

/** Hands the tasks to a sub-execution that it does not wait for, and names it. A retry hands over what is left. */
export async function startInBackground(
	run: Run,
	{ workflowId, name, executions }: Background,
	orders: Order[],
	facts: HandOver,
): Promise<INodeExecutionData[]> {
	const { context } = run;
	const onError = onErrorOf(context);
	const node = context.getNode();
	const errorContext = { node, operation: 'generate', isTool: isTool(node) };
	const { store } = run.ledger.scope;
	const startedIn = (order: Order) => (goesOn(order) ? executionOf(run, order) : undefined);
	const left = orders.filter((order) => goesOn(order) && startedIn(order) === undefined);
	const start = async () => {
		if (left.every(hasEnded)) return;
		const executionId = await startOne(context, withHandOver(await toOrderItems(left), facts), workflowId);
		for (const order of left) executions[keyInBackground(run, order)] = executionId;
		run.ledger.handedOver(left);
	};
	const failure: unknown = await start().catch((thrown: unknown) => thrown);
	const words = failure instanceof Error ? failure.message : String(failure);
	const toOutput = (order: Order, index: number): INodeExecutionData[] => {
		const { task } = order;
		const executionId = startedIn(order);
		if (executionId !== undefined) return [startedItem(context, order, executionId)];
		const error = hasEnded(order) ? errorOf(order) : gatewayError('waitingNotStarted', { id: task?.taskId, words });
		if (error !== undefined && onError === 'stopWorkflow')
			throw toNodeError(error, { ...errorContext, itemIndex: index }, othersOf(task, orders));
		return itemsOf({ ...outcomeOf(order), error }, index, onError, errorContext);
	};
	const items = orders.flatMap(toOutput);
	if (orders.some((order) => startedIn(order) !== undefined)) run.hints.add(HINTS.inBackground({ name }));
	const fails = (order: Order) => startedIn(order) === undefined && errorOf(order) !== undefined;
	if (failure === undefined && !orders.some(fails)) {
		run.ledger.clearRun();
		delete store.handedOver;
	}
	return items;
}

/**
 * True for an order that the other execution goes on with: with Retry On Fail, with one that has ended badly, too. If the node returned
 * its error, n8n would run the node again, beside the execution that has the others.
 */
const goesOn = (order: Order) => !hasEnded(order) || (order.isRetried === true && !endsWell(order));

async function startOne(context: IExecuteFunctions, items: OrderItem[], workflowId: string): Promise<string> {
	const { errorWorkflow } = context.getWorkflowSettings();
	const { executionId } = await context.executeWorkflow(
		{ code: waitAndStart(workerOf(context), workflowId, errorWorkflow) },
		items,
		undefined,
		{ doNotWaitToFinish: true, parentExecution: parentOf(context, { shouldResume: false }) },
	);
	return executionId;
}

function startedItem(context: IExecuteFunctions, order: Order, executionId: string): INodeExecutionData {
	const { item, task } = order;
	const prompt = withoutEmpty({ prompt: promptOf(order) });
	const message = isTool(context.getNode()) ? { message: STARTED } : {};
	const unsent = { status: hasEnded(order) ? 'ended' : 'to be submitted' };
	const known = task === undefined ? unsent : { task_id: task.taskId, status: task.status };
	return {
		json: { ...prompt, ...known, execution_id: executionId, ...message },
		pairedItem: { item },
		metadata: { subExecution: { executionId, workflowId: String(context.getWorkflow().id) } },
	};
}

/** The other tasks, for an error that names only one: no ID may be lost. */
function othersOf(named: TaskReference | undefined, orders: Order[]): BatchSummary {
	const others = orders.flatMap(({ task }) => (task && task.taskId !== named?.taskId ? [task] : []));
	return others.length === 0 ? {} : listIds(others, 'Other tasks');
}
