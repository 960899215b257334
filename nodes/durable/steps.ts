import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { GatewayError, gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { MIN_SLEEP_MS } from '../../core/orders/sleepCoordinator';
import { endBadly } from '../../core/orders/states';
import { formError } from '../errors/formErrors';
import { toNodeError } from '../errors/toNodeError';
import type { OnError } from '../run/toItem';
import { advanceOrders } from './advanceOrders';
import { toNodeOutput } from './toNodeOutput';
import { ParentExecutions, whileParentsWait } from './parentExecutions';
import { parseRows, salvageOrder, salvageOrders, toRows, type Row } from './rows';
import { untilStopped } from './stops';
import { STEPS, waitForTasks } from './subWorkflow';

/** How long to poll in memory before sleeping; until then a crash takes the executions around along. */
const FIRST_AWAKE_MS = 60_000;
/** Each of them is a death of n8n in the middle of a poll: something is wrong with this n8n then. */
const MAX_ROUNDS = 50;
/** Whatever a stored time says: waking up for nothing costs little. */
const MAX_SLEEP_MS = 86_400_000;

type Step = (context: IExecuteFunctions) => Promise<INodeExecutionData[]>;

/** What somebody else has written into it counts as too many. */
const roundsSchema = z.number().int().min(0).default(0).catch(MAX_ROUNDS);

/**
 * Runs the polling in an execution of its own, and again when that has died.
 *
 * @param firstAwakeMs how long the first one may wait in memory; with 0 it sleeps at once, and so does this execution
 */
const keepWaiting =
	(firstAwakeMs: number): Step =>
	async (context) => {
		const memory = context.getContext('flow') as { rounds?: unknown; slept?: boolean; parents?: unknown };
		const rounds = roundsSchema.parse(memory.rounds);
		// Before anything else: whatever happens below, n8n goes round again.
		memory.rounds = rounds + 1;
		const input = context.getInputData();
		const own = parseRows(input);
		const orders = own ?? ordersOfStart(context, rounds > 0);
		if (orders.every(hasEnded)) return toRows(orders);
		const isOver = rounds >= MAX_ROUNDS || (rounds > 0 && (await new ParentExecutions(context, memory).isGone()));
		if (isOver) return abandon(orders);
		// The very items that came in: n8n stores them once then.
		const rows = own ? input : toRows(orders);
		// In a later round the node is asleep, and this execution should be, too, before anything else happens.
		const given = { rows, awakeMs: rounds === 0 ? firstAwakeMs : 0 } as unknown as IDataObject;
		const startPolling = async () =>
			await context.executeWorkflow({ code: waitForTasks(context.getNode()) }, [{ json: given }], undefined, {
				parentExecution: {
					executionId: context.getExecutionId(),
					workflowId: String(context.getWorkflow().id),
					shouldResume: true,
				},
				returnLastRunOnly: true,
			});
		const polled = await untilStopped(context, startPolling);
		memory.slept ||= Boolean(polled.waitTill);
		return polled.waitTill ? rows : (polled.data[0] ?? []);
	};

const pollInput = z.object({ rows: z.unknown(), awakeMs: z.number().min(0).max(FIRST_AWAKE_MS) });

/** Polls the tasks of its input until all have finished. What it puts out before it sleeps is what is left when it dies. */
const pollUntilFinished: Step = async (context) => {
	const memory = context.getContext('node') as { rows?: unknown; parents?: unknown };
	const { rows: given, awakeMs } = pollInput.catch({ awakeMs: 0 }).parse(context.getInputData()[0]?.json);
	const isFirst = memory.rows === undefined;
	const orders = requireOrders(memory.rows ?? given);
	const parents = new ParentExecutions(context, memory);
	if (!isFirst && (await parents.isGone())) return abandon(orders);
	const memoryUntilMs = isFirst ? Date.now() + awakeMs : Infinity;
	const poll = async (signal: AbortSignal) => await advanceOrders(context, orders, { memoryUntilMs, signal });
	const { done: wakeAtMs, isOver } =
		isFirst && awakeMs === 0
			? { done: Date.now() + MIN_SLEEP_MS, isOver: false }
			: await whileParentsWait(context, parents, poll);
	if (orders.every(hasEnded)) {
		delete memory.rows;
		return toRows(orders);
	}
	if (isOver || wakeAtMs === undefined || (await parents.isGone())) return abandon(orders);
	const rows = toRows(orders);
	memory.rows = rows;
	await context.putExecutionToWait(new Date(Math.min(wakeAtMs, Date.now() + MAX_SLEEP_MS)));
	return rows;
};

/** The output of the node, or its error, once all have finished; until then the rows. A node that is still awake makes it itself. */
const finish =
	(onError: OnError): Step =>
	async (context) => {
		const { slept } = context.getContext('flow');
		const input = context.getInputData();
		const own = parseRows(input);
		// A dead execution may leave anything.
		const orders = own ?? ordersOfStart(context);
		if (slept === true && orders.every(hasEnded))
			return await Promise.resolve(toNodeOutput(context, orders, onError, context.getExecutionId()));
		// The very items that came in: n8n stores them once then.
		return own ? input : toRows(orders);
	};

/** The items that the node would have put out, for the workflow that is to be started. */
const results: Step = async (context) =>
	await Promise.resolve(toNodeOutput(context, requireOrders(context.getInputData()), 'continueRegularOutput'));

const hasEnded = ({ state }: Order) => state === 'ended';

/**
 * All orders, as they were handed over.
 *
 * @param isForced also where they are nothing like that: it goes round, and has to end
 */
function ordersOfStart(context: IExecuteFunctions, isForced = false): Order[] {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as {
		$: (node: string) => { all: () => INodeExecutionData[] };
	};
	let items = context.getInputData();
	try {
		items = $('Start').all();
	} catch {
		// There is no such node: then this is no sub-workflow of ours.
	}
	const orders = salvageOrders(items) ?? (isForced ? atLeastOne(items).map(salvageOrder) : undefined);
	if (orders === undefined) throw formError('operationNotForWorkflows', {});
	return orders;
}

/** No items would not end it. */
const atLeastOne = (items: INodeExecutionData[]) => (items.length > 0 ? items : [{ json: {} }]);

function requireOrders(value: unknown): Order[] {
	const orders = parseRows(value);
	if (orders === undefined) throw formError('operationNotForWorkflows', {});
	return orders;
}

/** Nobody waits for them any more: those that have not finished end, each with its ID. */
function abandon(orders: Order[]): Row[] {
	for (const order of orders) {
		const { task, wait } = order;
		if (hasEnded(order) || task === undefined) continue;
		task.elapsedMs = Date.now() - (wait?.startedAtMs ?? Date.now());
		endBadly(order, gatewayError('waitingInterrupted', { id: task.taskId }, { task }));
	}
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

/** What the hidden operations do, by their values. */
export const steps = new Map<string, Step>(
	[
		[STEPS.keepWaiting, keepWaiting(FIRST_AWAKE_MS)] as const,
		[STEPS.keepWaitingAsleep, keepWaiting(0)] as const,
		[STEPS.checkTasks, pollUntilFinished] as const,
		[STEPS.results, results] as const,
		...(Object.entries(STEPS.handOut) as Array<[OnError, string]>).map(
			([onError, value]) => [value, finish(onError)] as const,
		),
	].map(([value, step]) => [value, withNodeErrors(step)]),
);
