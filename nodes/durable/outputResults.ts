import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { HandOver } from '../../core/orders/handOver';
import type { Order } from '../../core/orders/order';
import { errorOf, hasEnded } from '../../core/orders/states';
import { hintsFor, showHints } from '../run/hints';
import { reportCredits } from '../run/runCredits';
import { TaskLog } from '../run/taskLog';
import { itemsOf, type OnError, outcomeOf } from '../run/toItem';
import {
	canceledError,
	hasFinished,
	handOverOf,
	inPieces,
	itemsOfStart,
	ordersOfStart,
	parseOrderItems,
	toOrderItems,
} from './orderItems';
import { journalOfReader } from './handedOver';
import { ParentExecutions } from './parentExecutions';
import { asGatewayError } from '../../core/errors';
import { isOwn } from '../../core/errors/kinds';
import { isUnsent, listIds, toNodeError, wereNotSent, type BatchSummary } from '../errors/toNodeError';

/** The output of the node, or its error, once all have finished; until then the items with the orders. */
export async function outputResults(context: IExecuteFunctions, onError: OnError): Promise<INodeExecutionData[]> {
	const input = context.getInputData();
	const own = await parseOrderItems(input);
	// A dead execution may leave anything.
	const orders = own ?? (await ordersOfStart(context));
	// The very items that came in: n8n stores them once then.
	if (!orders.every(hasEnded)) return own ? input : await toOrderItems(orders);
	const handOver = handOverOf(itemsOfStart(context));
	if (await isCanceled(context, orders, handOver)) throw canceledError(context, orders);
	const items = await toNodeOutput(context, orders, onError);
	const hints = new Set(orders.flatMap(({ end }) => end?.hints ?? []));
	if (handOver?.credits !== undefined) {
		const { credits, run } = handOver;
		const journal = run && journalOfReader(context, { ...handOver, run }).journal;
		await reportCredits({ context, hints, log: new TaskLog(context), credits, journal }, orders);
	}
	const [operation = ''] = orders.map(operationOf);
	showHints(context, [...hintsFor(items, { what: 'task', buysAgain: operation === 'generate' }), ...hints]);
	return items;
}

/** True where a person has stopped the execution of the node, or n8n has lost it, before all orders have finished. */
async function isCanceled(context: IExecuteFunctions, orders: Order[], handOver?: HandOver): Promise<boolean> {
	if (orders.every(hasFinished)) return false;
	return await new ParentExecutions(context, {}, handOver?.outermost).isGone();
}

/**
 * The output of the node: the items of the orders, in their sequence. Where the workflow is to stop, it throws what the
 * first order that has failed by itself has ended with, or else the first that was not sent because of another.
 */
async function toNodeOutput(
	context: IExecuteFunctions,
	orders: Order[],
	onError: OnError,
): Promise<INodeExecutionData[]> {
	if (onError === 'stopWorkflow') {
		const errors = await inPieces(orders, errorOf);
		const own = errors.findIndex((error) => error !== undefined && isOwn(error));
		const failed = orders[own === -1 ? errors.findIndex((error) => error !== undefined) : own];
		if (failed !== undefined) throw toError(context, failed, orders);
	}
	const items = await inPieces(orders, (order, index) =>
		itemsOf(outcomeOf(order), index, onError, { operation: operationOf(order) }),
	);
	// The further files come after all first items: what a node gets that has slept, n8n pairs with its input by the place
	// alone, and fails where it finds no item for the error of another one.
	return [...items.map(([first]) => first), ...items.flatMap(([, ...others]) => others)];
}

function toError(context: IExecuteFunctions, failed: Order, orders: Order[]) {
	const about = { node: context.getNode(), itemIndex: failed.item, operation: operationOf(failed), isItem: true };
	return toNodeError(asGatewayError(errorOf(failed)), about, summarizeKept(failed, orders, context.getExecutionId()));
}

/**
 * The error is stored, and a retry throws it again: so it says where the other results are, and how many items have none.
 *
 * @param keptIn the execution whose Results has got all orders, which n8n shows as its input
 */
function summarizeKept(failed: Order, orders: Order[], keptIn: string): BatchSummary {
	const others = orders.flatMap(({ task, earlierTaskIds = [] }) => [
		...(task === undefined || task === failed.task ? [] : [task]),
		...earlierTaskIds.map((taskId) => ({ taskId, status: 'failed' })),
	]);
	const hasResults = orders.some(({ end }) => end?.output !== undefined);
	const results = hasResults && `The other results are in execution ${keptIn} (input of Results).`;
	const unsent = orders.filter((order) => order !== failed && isUnsent(order)).length;
	return {
		last: [results, unsent > 0 && wereNotSent(unsent), 'A retry changes nothing.'].filter(Boolean).join(' '),
		...(others.length > 0 && listIds(others, 'Other tasks')),
	};
}

/** Of the node that waits for the task: what the advice depends on. */
function operationOf({ acceptedAtMs, state, task }: Order): string {
	return acceptedAtMs !== undefined || state === 'planned' || task === undefined ? 'generate' : 'getResult';
}
