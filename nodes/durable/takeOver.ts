import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import { getPath } from '../../core/json';
import type { Order } from '../../core/orders/order';
import { endBadly } from '../../core/orders/states';
import { WaveLog } from '../../core/orders/waveLog';
import { INTERRUPTED } from '../../core/orders/writeAheadLog';
import { printable } from '../../core/text';
import { realClock } from '../connection/transport';
import { readData } from './parentExecutions';
import { parseOrderItems, salvageOrderItems } from './orderItems';
import { POLL_TASKS } from './storedNames';
import { waveNames } from './waveNameStore';

/** The remains of an execution that has polled. */
interface Left {
	/** The orders as it has put them out at its end, or had saved them; as it had got them, where it had saved nothing yet. */
	orders?: Order[];
	/** A person has stopped it. */
	wasStopped: boolean;
	/** The message of the error of its node, if n8n has not died. */
	why?: string;
	/** The executions that waited for this one, as it knew: one that was deleted since cannot be found any more. */
	parents?: { around: unknown[] };
}

/** Reads what is left of an execution. */
export async function leftOf(context: IExecuteFunctions, executionId: unknown): Promise<Left> {
	const data = typeof executionId === 'string' ? await readData(context, executionId) : undefined;
	if (data === undefined) return { wasStopped: false };
	const { runData, error } = data.resultData;
	const memory = ['contextData', `node:${POLL_TASKS}`];
	const saved = getPath(data.executionData, [...memory, 'rows']);
	const around = getPath(data.executionData, [...memory, 'parents', 'around']);
	const orders =
		salvageOrderItems(saved) ??
		// Whoever has come to the end has no other place for them.
		salvageOrderItems(runData[POLL_TASKS]?.at(-1)?.data?.main?.[0]) ??
		parseOrderItems(runData.Start?.[0]?.data?.main?.[0]);
	// The error of an orderly end of n8n has another reason, or none.
	const { reason, name, message } = (error ?? {}) as IDataObject;
	const isOfNode = name === 'NodeOperationError' || name === 'NodeApiError';
	return {
		orders,
		wasStopped: reason === 'manual',
		...(Array.isArray(around) && { parents: { around: around.filter((id) => id !== context.getExecutionId()) } }),
		...(isOfNode && { why: printable(String(message).slice(0, 200)) }),
	};
}

/** The order for an execution that goes on in the place of one that has died. */
export function takenOver(order: Order): Order {
	return order.batch === undefined ? order : { ...order, batch: { ...order.batch, isTakenOver: true } };
}

/**
 * The orders for a person's retry of an execution that waits: the tasks that exist go on, and nothing is submitted. An earlier
 * retry may have submitted all that is left, and nothing tells of it: with its end, the names of its waves are gone.
 */
export function retried(orders: readonly Order[], executionId: string): Order[] {
	return orders.map(({ ...order }) => {
		// Nobody waits for the retry: the execution of the node may have ended with an error because this one was stopped.
		if (order.batch !== undefined) order.batch = { ...order.batch, retry: undefined, outermost: executionId };
		if (order.state === 'planned' || order.state === 'submitting')
			endBadly(order, gatewayError('outcomeStillUnknown', { thing: order.thing, what: INTERRUPTED }));
		return order;
	});
}

/**
 * Finds out which requests the dead execution may have sent, where nobody goes on. Where that fails, the orders stay as they
 * are, and all that is unsent is in doubt: an error here would let n8n go round and round.
 */
export async function resolveInterrupted(context: IExecuteFunctions, given: Order[]): Promise<Order[]> {
	const orders = given.map(takenOver);
	const first = orders.find((order) => order.batch !== undefined)?.batch;
	if (first === undefined) return given;
	const batch = { ...first };
	const known = orders.map((order) => (order.batch === undefined ? order : { ...order, batch }));
	const store = { save: async () => {}, changed: () => {}, ...waveNames(context, batch) };
	return await new WaveLog(store, realClock, batch).resolveInterrupted(known).then(
		() => known,
		() => orders,
	);
}
