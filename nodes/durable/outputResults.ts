import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { HandOver } from '../../core/orders/handOver';
import type { Order } from '../../core/orders/order';
import { hasEnded } from '../../core/orders/states';
import { plain } from '../errors/plain';
import { hintsFor } from '../run/hints';
import { reportCredits } from '../run/runCredits';
import { TaskLog } from '../run/taskLog';
import type { OnError } from '../run/toItem';
import { canceledError, hasFinished } from './canceledError';
import { journalOfReader } from './handedOver';
import { ParentExecutions } from './parentExecutions';
import { handOverOf, itemsOfStart, ordersOfStart, parseOrderItems, toOrderItems } from './orderItems';
import { operationOf, toNodeOutput } from './toNodeOutput';

/** The output of the node, or its error, once all have finished; until then the items with the orders. */
export async function outputResults(context: IExecuteFunctions, onError: OnError): Promise<INodeExecutionData[]> {
	const input = context.getInputData();
	const own = await parseOrderItems(input);
	// A dead execution may leave anything.
	const orders = own ?? (await ordersOfStart(context));
	// The very items that came in: n8n stores them once then.
	if (!orders.every(hasEnded)) return own ? input : await toOrderItems(orders);
	const handOver = readHandOver(context);
	if (await isCanceled(context, orders, handOver)) throw canceledError(context, orders);
	const items = toNodeOutput(context, orders, onError);
	const hints = new Set(orders.flatMap(({ end }) => end?.hints ?? []));
	if (handOver?.credits !== undefined) {
		const { credits, run } = handOver;
		const journal = run && journalOfReader(context, { ...handOver, run }).journal;
		await reportCredits({ context, hints, log: new TaskLog(context), credits, journal }, orders);
	}
	const [operation = ''] = orders.map(operationOf);
	for (const message of [...hintsFor(items, 'task', { buysAgain: operation === 'generate' }), ...hints])
		context.addExecutionHints?.({ message: plain(message), location: 'outputPane' });
	return items;
}

/** A dead execution may leave anything. */
function readHandOver(context: IExecuteFunctions): HandOver | undefined {
	try {
		return handOverOf(itemsOfStart(context));
	} catch {
		return undefined;
	}
}

/** True where a person has stopped the execution of the node, or n8n has lost it, before all orders have finished. */
async function isCanceled(context: IExecuteFunctions, orders: Order[], handOver?: HandOver): Promise<boolean> {
	if (orders.every(hasFinished)) return false;
	return await new ParentExecutions(context, {}, handOver?.outermost).isGone();
}
