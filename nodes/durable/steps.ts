import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { GatewayError, gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { endBadly, hasEnded } from '../../core/orders/states';
import { printable } from '../../core/text';
import { realClock } from '../connection/transport';
import { toNodeError } from '../errors/toNodeError';
import { listIds } from '../run/batchSummary';
import type { OnError } from '../run/toItem';
import { canceledError } from './canceledError';
import { outputResults } from './outputResults';
import { LiveOrders } from './liveOrders';
import { ParentExecutions, whileParentsWait } from './parentExecutions';
import {
	asCanceled,
	itemsOfStart,
	ordersOfStart,
	parseOrderItems,
	requireOrders,
	salvagedStart,
	salvageOrderItems,
	toOrderItems,
	type OrderItem,
} from './orderItems';
import { NOTE_ADDRESS, STEPS } from './storedNames';
import { pollWhenCalled } from './subWorkflow';
import { leftOf, resolveInterrupted, retried, takenOver } from './takeOver';
import { resumeUrlOf, wakeUp } from './wakeUp';

/** Each of them is a death of n8n in the middle of a poll: something is wrong with this n8n then. */
const MAX_ROUNDS = 50;
/** After so many deaths the next execution is not called: n8n wakes it a minute later, so that trouble of a minute ends no wait. */
const CALLED_ROUNDS = 3;
const PAUSE_AFTER_FAILURE_MS = 5_000;
/** Whatever a stored time says: waking up for nothing costs little. */
const MAX_SLEEP_MS = 86_400_000;

type Step = (context: IExecuteFunctions) => Promise<INodeExecutionData[]>;

/** The number of rounds. A value that somebody else has written counts as too many. */
const roundsSchema = z.number().int().min(0).default(0).catch(MAX_ROUNDS);

interface WaitMemory {
	rounds?: unknown;
	parents?: unknown;
	/** The execution that polls. */
	polledBy?: unknown;
	/** One in its place that has ended before it has slept: it has sent nothing, and knows nothing new. */
	parked?: unknown;
}

/** Runs the polling in an execution of its own, and again when that has died. Both sleep at once; the other one is woken. */
const keepWaiting: Step = async (context) => {
	const memory = context.getContext('flow') as WaitMemory;
	const rounds = roundsSchema.parse(memory.rounds);
	// Before anything else: whatever happens below, n8n goes round again.
	memory.rounds = rounds + 1;
	const input = context.getInputData();
	const passedOn = parseOrderItems(input);
	if (passedOn?.every(hasEnded)) return input;
	const left = await leftOf(context, memory.polledBy);
	const own = left.orders ?? passedOn;
	const known = own ?? (rounds > 0 ? salvagedStart(context) : ordersOfStart(context));
	const isRetry = context.getMode() === 'retry';
	const orders = isRetry ? retried(known, context.getExecutionId()) : known;
	if (orders.every(hasEnded)) return toOrderItems(orders);
	// Nobody waits for a retry.
	memory.parents = isRetry ? undefined : (left.parents ?? memory.parents);
	const isOver =
		left.wasStopped ||
		(await leftOf(context, memory.parked)).wasStopped ||
		rounds >= MAX_ROUNDS ||
		(rounds > 0 && (await new ParentExecutions(context, memory, orders).isGone()));
	if (isOver) return endAll(context, await resolveInterrupted(context, orders), left.why);
	// The very items that came in: n8n stores them once then.
	const items = rounds === 0 && own === orders ? input : toOrderItems(rounds > 0 ? orders.map(takenOver) : orders);
	const parentExecution = {
		executionId: context.getExecutionId(),
		workflowId: String(context.getWorkflow().id),
		shouldResume: true,
	};
	const code = pollWhenCalled(context.getNode());
	const asleep = await context
		.executeWorkflow({ code }, items, undefined, { parentExecution, returnLastRunOnly: true })
		.catch(async (thrown: unknown) => {
			// A person may have stopped it. In the first round, the node would go on in memory then.
			if (rounds > 0) {
				memory.parked = (thrown as { executionId?: unknown }).executionId;
				// The database may be away for a moment: all rounds would be over before it is back.
				await realClock.sleep(PAUSE_AFTER_FAILURE_MS, context.getExecutionCancelSignal());
			}
			throw thrown;
		});
	memory.polledBy = asleep.executionId;
	if (!asleep.waitTill) return asleep.data[0] ?? [];
	// Not awaited: the call comes when this execution has been saved as waiting.
	if (rounds < CALLED_ROUNDS) void wakeUp(context, asleep);
	return items;
};

/** The address by which this execution is woken. The orders themselves are in Start. */
const noteAddress: Step = async (context) => {
	requireOrders(context.getInputData());
	return await Promise.resolve([{ json: { details: { resume_url: resumeUrlOf(context) } } }]);
};

/** True when the items pass that n8n is to keep, before the execution sleeps. */
function hasNotSleptYet(context: IExecuteFunctions): boolean {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as { $: (node: string) => { isExecuted?: boolean } };
	try {
		return $(NOTE_ADDRESS).isExecuted === false;
	} catch {
		return false;
	}
}

interface PollMemory {
	/** The orders as they are saved. Their own place, once: whatever the node puts out is kept for each time that it has run. */
	rows?: unknown;
	/** True when all around have been seen asleep. */
	hasSlept?: unknown;
	/** True when nobody waits any more for what has not finished: the next run of the node ends the execution. */
	isCanceled?: unknown;
	parents?: unknown;
}

/**
 * Submits and polls until all have finished. It ends whenever n8n is to save the orders, and begins again at once. What it
 * puts out in between says how far it is, and no more.
 */
const pollTasks: Step = async (context) => {
	if (hasNotSleptYet(context)) return [];
	const memory = context.getContext('node') as PollMemory;
	if (memory.isCanceled === true) throw canceledError(context, requireOrders(context.getInputData()));
	const read = () => salvageOrderItems(memory.rows) ?? requireOrders(memory.rows ?? itemsOfStart(context));
	// Somebody has clicked Retry: Keep Waiting has started another execution in the place of this one, and nobody waits here.
	if (context.getMode() === 'retry') return cancel(context, memory, read().map(takenOver));
	const batch = LiveOrders.of(context, memory, read);
	const { orders } = batch;
	const parents = new ParentExecutions(context, memory, orders);
	const end = async () => {
		batch.stop();
		if (memory.hasSlept !== true) await parents.untilAsleep();
		return cancel(context, memory, orders);
	};
	let goesOn = false;
	try {
		// Nothing is bought for an execution that has been stopped.
		if (memory.rows !== undefined && (await parents.isGone({ now: batch.submitsNext }))) return await end();
		batch.saved();
		const work = async (signal: AbortSignal) => await batch.untilDue(signal);
		const { done: due, isOver } = await whileParentsWait(context, parents, work);
		if (isOver || due.kind === 'end' || (await parents.isGone())) return await end();
		memory.rows = toOrderItems(orders);
		goesOn = due.kind === 'save';
		if (due.kind === 'sleep') {
			memory.hasSlept = true;
			await context.putExecutionToWait(new Date(Math.min(due.untilMs, Date.now() + MAX_SLEEP_MS)));
		}
		return [{ json: batch.counts }];
	} finally {
		if (!goesOn) batch.stop();
	}
};

/**
 * The items at the end. Where some orders have not finished, the execution must not be listed as a success: the node puts out
 * their ends, and runs once more, for an error. A retry of the execution that has waited goes on with them as they were.
 */
function cancel(context: IExecuteFunctions, memory: PollMemory, orders: Order[]): OrderItem[] {
	const items = endAll(context, orders);
	delete memory.rows;
	if (orders.every(hasEnded)) return items;
	Object.assign(memory, { isCanceled: true, rows: toOrderItems(orders) });
	return items.map(asCanceled);
}

/** Nobody works on them any more: those that have not finished end, each with its ID. */
function endAll(context: IExecuteFunctions, orders: Order[], why?: string): OrderItem[] {
	const left: string[] = [];
	const { isTakenOver = false, inDoubt = 0 } = orders.find(({ batch }) => batch !== undefined)?.batch ?? {};
	let doubts = isTakenOver ? Infinity : inDoubt;
	// Copies: a request that is still under way tells its own order, and the log, what came of it.
	const ended = orders.map((order) => ({ ...order }));
	for (const order of ended) {
		const { task, thing, wait, request } = order;
		if (hasEnded(order)) continue;
		if (task === undefined) {
			const isUnsent = order.state === 'planned' && !request?.maybeSent && doubts-- <= 0;
			endBadly(order, gatewayError(isUnsent ? 'submissionStopped' : 'outcomeStillUnknown', { thing }));
			continue;
		}
		left.push(task.taskId);
		order.task = { ...task, elapsedMs: Date.now() - (wait?.startedAtMs ?? Date.now()) };
		endBadly(order, gatewayError('waitingInterrupted', { id: task.taskId, why }, { task: order.task }));
	}
	if (left.length > 0)
		context.logger.warn(
			`Generation Gateway: nobody waits any more, still running at the service: ${left.map(printable).join(', ')}`,
		);
	return toOrderItems(ended);
}

/** In the place of a step that another version of the package has: the execution ends, and says which tasks it had. */
const refuseOther: Step = async (context) => {
	const { rows } = context.getContext('node') as PollMemory;
	const orders = await Promise.resolve(rows === undefined ? ordersOfStart(context) : requireOrders(rows));
	const [first, ...rest] = orders.flatMap(({ task }) => task ?? []);
	const error = gatewayError('storedByOtherVersion', { id: first?.taskId });
	const withoutId = orders.filter(({ task }) => task === undefined).length;
	const last = `Without a task ID: ${withoutId} ${withoutId === 1 ? 'item' : 'items'}. If the other version has submitted them, n8n's log has their IDs.`;
	const others = { ...(rest.length > 0 && listIds(rest, 'Other tasks')), ...(first && withoutId > 0 && { last }) };
	const errorContext = { node: context.getNode(), itemIndex: 0, isItem: true };
	throw toNodeError(error, errorContext, others);
};

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
const steps = new Map<string, Step>([
	[STEPS.keepWaiting, keepWaiting],
	[STEPS.noteAddress, noteAddress],
	[STEPS.pollTasks, pollTasks],
	...(Object.entries(STEPS.results) as Array<[OnError, string]>).map(([onError, value]): [string, Step] => [
		value,
		async (context) => await outputResults(context, onError),
	]),
]);

/** The name of a step begins like this in every version: so each knows those of another one as steps. */
const PREFIX = 'durable';

/** The hidden operation of this value, which may be that of another version; undefined where it is none. */
export function stepOf(operation: string): Step | undefined {
	const step = steps.get(operation) ?? (operation.startsWith(PREFIX) ? refuseOther : undefined);
	return step && withNodeErrors(step);
}
