import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { GatewayError, gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { endBadly } from '../../core/orders/states';
import { printable } from '../../core/text';
import { toNodeError } from '../errors/toNodeError';
import type { OnError } from '../run/toItem';
import { advanceOrders } from './advanceOrders';
import { toNodeOutput } from './toNodeOutput';
import { ParentExecutions, whileParentsWait } from './parentExecutions';
import { parseRows, salvageOrder, salvageOrders, toPlaceholder, toRows, type Row } from './rows';
import { pollWhenCalled, STEPS } from './subWorkflow';
import { resumeUrlOf, wakeUp } from './wakeUp';

/** Each of them is a death of n8n in the middle of a poll: something is wrong with this n8n then. */
const MAX_ROUNDS = 50;
/** Whatever a stored time says: waking up for nothing costs little. */
const MAX_SLEEP_MS = 86_400_000;

type Step = (context: IExecuteFunctions) => Promise<INodeExecutionData[]>;

/** The number of rounds. A value that somebody else has written counts as too many. */
const roundsSchema = z.number().int().min(0).default(0).catch(MAX_ROUNDS);

/** Runs the polling in an execution of its own, and again when that has died. Both sleep at once; the other one is woken. */
const keepWaiting: Step = async (context) => {
	const memory = context.getContext('flow') as { rounds?: unknown; parents?: unknown };
	const rounds = roundsSchema.parse(memory.rounds);
	// Before anything else: whatever happens below, n8n goes round again.
	memory.rounds = rounds + 1;
	const input = context.getInputData();
	const own = parseRows(input);
	const orders = own ?? (rounds > 0 ? salvagedStart(context) : ordersOfStart(context));
	if (orders.every(hasEnded)) return toRows(orders);
	const isOver = rounds >= MAX_ROUNDS || (rounds > 0 && (await new ParentExecutions(context, memory).isGone()));
	if (isOver) return endAll(context, orders);
	// The very items that came in: n8n stores them once then.
	const rows = own ? input : toRows(orders);
	const asleep = await context.executeWorkflow({ code: pollWhenCalled(context.getNode()) }, rows, undefined, {
		parentExecution: {
			executionId: context.getExecutionId(),
			workflowId: String(context.getWorkflow().id),
			shouldResume: true,
		},
		returnLastRunOnly: true,
	});
	if (!asleep.waitTill) return asleep.data[0] ?? [];
	// Not awaited: the call comes when this execution has been saved as waiting.
	void wakeUp(context, asleep);
	return rows;
};

/** The first item notes the address by which this execution is woken. The rows themselves are in Start. */
const noteAddress: Step = async (context) => {
	const address = { resume_url: resumeUrlOf(context) };
	const orders = requireOrders(context.getInputData());
	return await Promise.resolve(orders.map((order, index) => toPlaceholder(order, index === 0 ? address : {})));
};

/** Polls the tasks until all have finished. What it puts out before it sleeps is what is left when it dies. */
const pollTasks: Step = async (context) => {
	const memory = context.getContext('node') as { rows?: unknown; parents?: unknown };
	const isFirst = memory.rows === undefined;
	const orders = requireOrders(memory.rows ?? itemsOfStart(context));
	const parents = new ParentExecutions(context, memory);
	if (!isFirst && (await parents.isGone())) return endAll(context, orders);
	const poll = async (signal: AbortSignal) => await advanceOrders(context, orders, signal);
	const { done: wakeAtMs, isOver } = await whileParentsWait(context, parents, poll);
	if (isOver || wakeAtMs === undefined || (await parents.isGone())) {
		if (isFirst) await parents.untilAsleep();
		delete memory.rows;
		return endAll(context, orders);
	}
	const rows = toRows(orders);
	memory.rows = rows;
	await context.putExecutionToWait(new Date(Math.min(wakeAtMs, Date.now() + MAX_SLEEP_MS)));
	return rows;
};

/** The output of the node, or its error, once all have finished; until then the rows. */
const handOut =
	(onError: OnError): Step =>
	async (context) => {
		const input = context.getInputData();
		const own = parseRows(input);
		// A dead execution may leave anything.
		const orders = own ?? ordersOfStart(context);
		if (orders.every(hasEnded))
			return await Promise.resolve(toNodeOutput(context, orders, onError, context.getExecutionId()));
		// The very items that came in: n8n stores them once then.
		return own ? input : toRows(orders);
	};

/** The items that the node would have put out, for the workflow that is to be started. */
const results: Step = async (context) =>
	await Promise.resolve(toNodeOutput(context, requireOrders(context.getInputData()), 'continueRegularOutput'));

const hasEnded = ({ state }: Order) => state === 'ended';

/** The items that the execution began with. */
function itemsOfStart(context: IExecuteFunctions): INodeExecutionData[] {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as {
		$: (node: string) => { all: () => INodeExecutionData[] };
	};
	try {
		return $('Start').all();
	} catch {
		// There is no such node: then this is no sub-workflow of ours.
		return context.getInputData();
	}
}

/** All orders, as they were passed to the sub-workflow. */
function ordersOfStart(context: IExecuteFunctions): Order[] {
	const orders = salvageOrders(itemsOfStart(context));
	if (orders === undefined) throw gatewayError('operationNotForWorkflows', {});
	return orders;
}

/** The same in a later round, which has to end: items that are no orders count as damaged ones, at least one. */
function salvagedStart(context: IExecuteFunctions): Order[] {
	const items = itemsOfStart(context);
	return salvageOrders(items) ?? (items.length > 0 ? items : [{ json: {} }]).map(salvageOrder);
}

function requireOrders(rows: unknown): Order[] {
	const orders = parseRows(rows);
	if (orders === undefined) throw gatewayError('operationNotForWorkflows', {});
	return orders;
}

/** Nobody polls them any more: those that have not finished end, each with its ID. */
function endAll(context: IExecuteFunctions, orders: Order[]): Row[] {
	const left: string[] = [];
	for (const order of orders) {
		const { task, wait } = order;
		if (hasEnded(order) || task === undefined) continue;
		left.push(task.taskId);
		task.elapsedMs = Date.now() - (wait?.startedAtMs ?? Date.now());
		endBadly(order, gatewayError('waitingInterrupted', { id: task.taskId }, { task }));
	}
	if (left.length > 0)
		context.logger.warn(
			`Generation Gateway: nobody waits any more, still running at the service: ${left.map(printable).join(', ')}`,
		);
	return toRows(orders);
}

const withNodeErrors =
	(step: Step): Step =>
	async (context) => {
		try {
			return await step(context);
		} catch (thrown) {
			throw thrown instanceof GatewayError ? toNodeError(thrown, { node: context.getNode(), itemIndex: 0 }) : thrown;
		}
	};

/** The hidden operations, by their values. */
export const steps = new Map<string, Step>(
	[
		[STEPS.keepWaiting, keepWaiting] as const,
		[STEPS.noteAddress, noteAddress] as const,
		[STEPS.pollTasks, pollTasks] as const,
		[STEPS.results, results] as const,
		...(Object.entries(STEPS.handOut) as Array<[OnError, string]>).map(
			([onError, value]) => [value, handOut(onError)] as const,
		),
	].map(([value, step]) => [value, withNodeErrors(step)]),
);
