import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Order } from '../../core/orders/order';
import { hasEnded } from '../../core/orders/states';
import { plain } from '../errors/plain';
import { hintsFor } from '../run/hints';
import { reportCredits } from '../run/runCredits';
import { TaskLog } from '../run/taskLog';
import type { OnError } from '../run/toItem';
import { canceledError, hasFinished } from './canceledError';
import { ParentExecutions } from './parentExecutions';
import { ordersOfStart, parseOrderItems, toOrderItems } from './orderItems';
import { operationOf, toNodeOutput } from './toNodeOutput';
import { forgetWaves } from './waveNameStore';

/** The output of the node, or its error, once all have finished; until then the items with the orders. */
export async function outputResults(context: IExecuteFunctions, onError: OnError): Promise<INodeExecutionData[]> {
	const input = context.getInputData();
	const own = parseOrderItems(input);
	// A dead execution may leave anything.
	const orders = own ?? ordersOfStart(context);
	// The very items that came in: n8n stores them once then.
	if (!orders.every(hasEnded)) return own ? input : toOrderItems(orders);
	// Where one that polled was lost, it may be alive, and go on some day: it sends no wave whose name is there.
	if (!isTakenOver(context)) await forgetWaves(context, orders);
	if (await isCanceled(context, orders)) throw canceledError(context, orders);
	const items = toNodeOutput(context, orders, onError, context.getExecutionId());
	const hints = new Set(orders.flatMap(({ end }) => end?.hints ?? []));
	await sayCredits(context, orders, hints);
	const [operation = ''] = orders.map(operationOf);
	for (const message of [...hintsFor(items, 'task', { buysAgain: operation === 'generate' }), ...hints])
		context.addExecutionHints?.({ message: plain(message), location: 'outputPane' });
	return items;
}

/** True where more than one execution has polled: the number of rounds is in `steps.ts`. */
function isTakenOver(context: IExecuteFunctions): boolean {
	return Number(context.getContext('flow').rounds) > 1;
}

/** True where a person has stopped the execution of the node, or n8n has lost it, before all orders have finished. */
async function isCanceled(context: IExecuteFunctions, orders: Order[]): Promise<boolean> {
	if (orders.every(hasFinished)) return false;
	return await new ParentExecutions(context, {}, orders).isGone();
}

/** Says what Report Credits is for. */
async function sayCredits(context: IExecuteFunctions, orders: Order[], hints: Set<string>): Promise<void> {
	const batch = orders.find((order) => order.batch !== undefined)?.batch;
	if (batch?.credits === undefined) return;
	await reportCredits({ context, hints, log: new TaskLog(context), credits: batch.credits }, orders);
}
