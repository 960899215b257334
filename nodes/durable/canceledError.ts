import type { IExecuteFunctions } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { toNodeError } from '../errors/toNodeError';
import { listIds } from '../run/batchSummary';

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
