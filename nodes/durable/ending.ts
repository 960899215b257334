import type { IExecuteFunctions } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { endBadly, hasEnded } from '../../core/orders/states';
import { printable } from '../../core/text';
import { toNodeError, listIds } from '../errors/toNodeError';

interface Ending {
	/** True for an order without an ID whose request was surely not sent. */
	isUnsent: (order: Order) => boolean;
	/** The reason of the end, for messages. */
	why?: string;
}

/** Ends the orders that have not ended, each with its ID: no execution goes on with them. */
export function endAll(context: IExecuteFunctions, orders: readonly Order[], { isUnsent, why }: Ending): Order[] {
	const left: string[] = [];
	// Copies: a request that is still under way tells its own order, and the log, what came of it.
	const ended = orders.map((order) => ({ ...order }));
	for (const order of ended) {
		const { task, thing, wait } = order;
		if (hasEnded(order)) continue;
		if (task === undefined) {
			endBadly(order, gatewayError(isUnsent(order) ? 'submissionStopped' : 'outcomeStillUnknown', { thing }));
			continue;
		}
		left.push(task.taskId);
		order.task = { ...task, elapsedMs: Date.now() - (wait?.startedAtMs ?? Date.now()) };
		endBadly(order, gatewayError('waitingInterrupted', { id: task.taskId, why }, { task: order.task }));
	}
	if (left.length > 0)
		context.logger.warn(
			`Generation Gateway: no execution waits any more, still running at the service: ${left.map(printable).join(', ')}`,
		);
	return ended;
}

/** True where the order has ended by itself, well or badly. */
export const hasFinished = ({ end }: Order): boolean =>
	end !== undefined && !['stopped', 'notSubmitted', 'outcomeUnknown'].includes(end.as);

/**
 * The error of an execution that no other waits for any more. n8n lists it as canceled, because the message says so. The node
 * has all ends in its input.
 */
export function canceledError(context: IExecuteFunctions, orders: Order[]) {
	const left = orders.flatMap((order) => (order.task && !hasFinished(order) ? order.task : []));
	const errorContext = { node: context.getNode(), itemIndex: 0 };
	return toNodeError(gatewayError('waitingCanceled', {}), errorContext, left.length > 0 ? listIds(left, 'Tasks') : {});
}
