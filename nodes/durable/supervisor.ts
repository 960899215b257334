import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { getPath } from '../../core/json';
import { leaseOfPoller } from '../../core/journal/row';
import type { HandOver } from '../../core/orders/handOver';
import type { Order } from '../../core/orders/order';
import { accept, endsWell, hasEnded, isOpen } from '../../core/orders/states';
import { printable } from '../../core/text';
import { realClock } from '../connection/transport';
import { parentOf } from '../connection/subExecution';
import {
	endAll,
	handOverOf,
	itemsOfStart,
	ordersOfStart,
	parseOrderItems,
	salvagedStart,
	salvageOrderItems,
	toOrderItems,
	withHandOver,
	type OrderItem,
} from './orderItems';
import { claimPoller, credentialOf, mayBuy, readAndContinue } from './handedOver';
import { ParentExecutions, readData } from './parentExecutions';
import { POLL_TASKS, pollWhenCalled, startsWorkflow } from './subWorkflow';
import { wakeUp } from './wakeUp';

/** Each is a poller that has failed, most often with n8n: something is wrong with this n8n then. */
const MAX_ROUNDS = 50;
/** After so many failures the next execution is not called: n8n wakes it a minute later, so that trouble of a minute ends no wait. */
const CALLED_ROUNDS = 3;
const PAUSE_AFTER_FAILURE_MS = 5_000;

/** The memory of a supervisor, which n8n saves when the execution sleeps. */
interface SupervisorMemory {
	rounds?: unknown;
	parents?: unknown;
	/** The execution that polls. */
	polledBy?: unknown;
	/** The lease of the last poller that was started. */
	lease?: string;
	/** True once the last poller has been started, when the time was over. */
	hasLooked?: unknown;
	/** One in its place that has ended before it has slept: it has sent nothing, and knows nothing new. */
	parked?: unknown;
}

/** The number of rounds. A value that something else has written counts as too many. */
const roundsSchema = z.number().int().min(0).default(0).catch(MAX_ROUNDS);

/**
 * Starts a poller, and another one when that has died. Both sleep at once; the poller is woken. What one has bought is in the rows of
 * the run: each poller has a lease, which is written here before it is started, and each replays the rows.
 */
export async function keepWaiting(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const memory = context.getContext('flow') as SupervisorMemory;
	const rounds = roundsSchema.parse(memory.rounds);
	// Before anything else: whatever happens below, n8n goes round again.
	memory.rounds = rounds + 1;
	const input = context.getInputData();
	const passedOn = await parseOrderItems(input);
	if (passedOn?.every(hasEnded)) return input;
	const isRetry = context.getMode() === 'retry';
	const given = await (rounds > 0 ? salvagedStart(context) : ordersOfStart(context));
	const left = await leftOf(context, memory.polledBy);
	const saved = left.orders ?? passedOn;
	const orders = given.map((order, index) => (rounds > 0 || isRetry ? withSaved(order, saved?.[index]) : order));
	if (orders.every(hasEnded)) return await toOrderItems(orders);
	const handOver = readHandOver(context, isRetry);
	// n8n hands the result of a retry to no parent.
	memory.parents = isRetry ? undefined : (left.parents ?? memory.parents);
	const round = { rounds, left, orders, handOver, memory };
	const why = handOver === undefined ? 'its data cannot be read' : await whyOver(context, round);
	if (why !== undefined || handOver === undefined) return await endHere(context, round, why);
	if ((isRetry && !startsWorkflow(context)) || isLate(handOver)) return await pollOnly(context, { ...round, handOver });
	const isSame = passedOn !== undefined && rounds === 0;
	return await startPoller(context, { ...round, handOver }, isSame ? input : undefined);
}

interface Round {
	rounds: number;
	left: Left;
	orders: Order[];
	handOver?: HandOver;
	memory: SupervisorMemory;
}

function readHandOver(context: IExecuteFunctions, isRetry: boolean): HandOver | undefined {
	const handOver = handOverOf(itemsOfStart(context));
	// The execution of the node may have ended with an error because this one was stopped.
	return handOver && isRetry ? { ...handOver, retry: undefined, outermost: context.getExecutionId() } : handOver;
}

/** The reason why no further poller is started; empty where an execution was stopped. Undefined where one is. */
async function whyOver(context: IExecuteFunctions, round: Round): Promise<string | undefined> {
	const { rounds, left, memory, handOver } = round;
	if (left.wasStoppedByHand || (await leftOf(context, memory.parked)).wasStoppedByHand) return '';
	if (rounds >= MAX_ROUNDS) return left.why ?? '';
	if (handOver !== undefined && isLate(handOver) && memory.hasLooked === true) return left.why ?? TIME_IS_OVER;
	const credential = rounds > 0 ? await credentialOf(context) : {};
	if (credential.deleted !== undefined) return credential.deleted;
	const parents = new ParentExecutions(context, memory, handOver?.outermost);
	return rounds > 0 && (await parents.isGone()) ? (left.why ?? '') : undefined;
}

const TIME_IS_OVER = 'the time for it is over';

const isLate = ({ deadlineMs }: HandOver) => Date.now() >= deadlineMs;

/**
 * Starts a poller that submits nothing: in a retry that gives its results to no workflow, or when the time was over before
 * any poller could end, because n8n was away for so long. Then it is the last one, and looks at each task once: what has finished
 * meanwhile is paid for.
 */
async function pollOnly(
	context: IExecuteFunctions,
	round: Round & { handOver: HandOver },
): Promise<INodeExecutionData[]> {
	const { handOver, memory } = round;
	const isUnsent = await readWhatWasSent(context, round);
	const why = isLate(handOver) ? TIME_IS_OVER : undefined;
	const orders = round.orders.flatMap((order) =>
		order.task === undefined ? endAll(context, [order], { isUnsent, why }) : [order],
	);
	for (const order of orders) {
		const { task, acceptedAtMs = Date.now() } = order;
		if (isOpen(order) && task !== undefined) accept(order, task, acceptedAtMs);
		if (isLate(handOver)) letTimeEnd(order);
	}
	if (orders.every(hasEnded)) return await toOrderItems(orders);
	const sleeping = await startPoller(context, {
		...{ ...round, orders },
		handOver: { ...handOver, run: undefined, retry: undefined },
	});
	if (isLate(handOver)) memory.hasLooked = true;
	return sleeping;
}

/** Such a wait makes one poll. */
function letTimeEnd(order: Order): void {
	const { wait, acceptedAtMs = Date.now() } = order;
	if (hasEnded(order) || wait === undefined) return;
	wait.startedAtMs = Math.min(wait.startedAtMs ?? acceptedAtMs, Date.now() - wait.timeoutMs);
	delete wait.notBeforeMs;
}

/** @param same the items that came in, where nothing has changed: n8n stores them once then */
async function startPoller(
	context: IExecuteFunctions,
	round: Round & { handOver: HandOver },
	same?: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	const { rounds, orders, handOver, memory } = round;
	const items = (same ?? (await toOrderItems(orders))) as OrderItem[];
	const claim = await claimNext(context, round);
	const parentExecution = parentOf(context, { shouldResume: true });
	const code = pollWhenCalled(context.getNode());
	const asleep = await context
		.executeWorkflow({ code }, withHandOver(items, { ...handOver, claim }), undefined, {
			parentExecution,
			returnLastRunOnly: true,
		})
		.catch(async (thrown: unknown) => {
			// A person may have stopped it. In the first round, the next one begins without a pause.
			if (rounds > 0) {
				memory.parked = (thrown as { executionId?: unknown }).executionId;
				// The database may be away for a moment: all rounds would be over before it is back.
				await realClock.sleep(PAUSE_AFTER_FAILURE_MS, context.getExecutionCancelSignal());
			}
			throw thrown;
		});
	memory.polledBy = asleep.executionId;
	if (claim?.error === undefined) memory.lease = claim?.lease ?? memory.lease;
	if (!asleep.waitTill) return asleep.data[0] ?? [];
	// Not awaited: the call comes when this execution has been saved as waiting.
	if (rounds < CALLED_ROUNDS) void wakeUp(context, asleep);
	return items;
}

/**
 * Undefined where nothing can be bought any more. One that starts another workflow has one in any case: a retry of the node finds it by
 * its lease, or that workflow would get the results twice.
 */
async function claimNext(
	context: IExecuteFunctions,
	{ rounds, orders, handOver, memory }: Round & { handOver: HandOver },
) {
	const { run } = handOver;
	const sends = mayBuy(handOver, orders);
	if (run === undefined || !(sends || startsWorkflow(context))) return undefined;
	const lease = leaseOfPoller(context.getExecutionId(), rounds, realClock.now());
	return await claimPoller(context, { ...handOver, run }, { lease, lastLease: memory.lease ?? run.lease, sends });
}

/** Ends the wait. The rows tell which orders were sent; where they cannot be read, all that have no ID are in doubt. */
async function endHere(context: IExecuteFunctions, round: Round, why?: string): Promise<OrderItem[]> {
	const isUnsent = await readWhatWasSent(context, round);
	return await toOrderItems(endAll(context, round.orders, { isUnsent, why: why === '' ? undefined : why }));
}

/** Gives the orders the IDs that the rows have. The function that it returns says of an order without one that it was surely not sent. */
async function readWhatWasSent(context: IExecuteFunctions, round: Round): Promise<(order: Order) => boolean> {
	const { orders, handOver } = round;
	if (handOver === undefined || !mayBuy(handOver, orders)) return () => false;
	// As for a poller: only the lease of the last one tells that the table was not cleared.
	const claiming = async () => await claimNext(context, { ...round, handOver });
	return await readAndContinue(context, orders, async () => ({ ...handOver, claim: await claiming() }));
}

/** The remains of an execution that has polled. */
interface Left {
	/** The orders as it has put them out at its end, or had saved them when it slept. */
	orders?: Order[];
	/** A person has stopped it. */
	wasStoppedByHand: boolean;
	/** The message of the error of its node, if n8n has not died. */
	why?: string;
	/** The executions that waited for this one, as it knew: one that was deleted since cannot be found any more. */
	parents?: { around: unknown[] };
}

/** Reads what is left of an execution. */
async function leftOf(context: IExecuteFunctions, executionId: unknown): Promise<Left> {
	const data = typeof executionId === 'string' ? await readData(context, executionId) : undefined;
	if (data === undefined) return { wasStoppedByHand: false };
	const { runData, error } = data.resultData;
	const memory = ['contextData', `node:${POLL_TASKS}`];
	const saved = getPath(data.executionData, [...memory, 'rows']);
	const around = getPath(data.executionData, [...memory, 'parents', 'around']);
	// A poller that has come to its end has no other place for them.
	const orders =
		(await salvageOrderItems(saved)) ?? (await salvageOrderItems(runData[POLL_TASKS]?.at(-1)?.data?.main?.[0]));
	// The error of an orderly end of n8n has another reason, or none.
	const { reason, name, message } = (error ?? {}) as IDataObject;
	const isOfNode = name === 'NodeOperationError' || name === 'NodeApiError';
	return {
		orders,
		wasStoppedByHand: reason === 'manual',
		...(Array.isArray(around) && { parents: { around: around.filter((id) => id !== context.getExecutionId()) } }),
		...(isOfNode && { why: printable(String(message).slice(0, 200)) }),
	};
}

/**
 * An order for the next poller: as it was handed over, with what the dead one had saved. With Retry On Fail the dead one may have
 * submitted it again since, so the rows are asked, and the ID that was saved counts only where they do not tell another one.
 */
function withSaved(given: Order, saved: Order | undefined): Order {
	if (given.isRetried !== true) {
		if (saved === undefined) return given;
		if (!isOpen(saved) || !isOpen(given)) return saved;
		return { ...given, wait: saved.wait ?? given.wait };
	}
	if (saved !== undefined && endsWell(saved)) return saved;
	if (given.request === undefined || given.state === 'ended') return saved ?? given;
	const { task, acceptedAtMs, earlierTaskIds, purchase, wait = given.wait } = saved ?? given;
	return { ...given, state: 'planned', task, acceptedAtMs, earlierTaskIds, purchase, wait };
}
