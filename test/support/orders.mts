/** Orders in the rows that the node hands to a sub-execution. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { GatewayErrorKind } from '../../core/errors';
import type { Order } from '../../core/orders/order';

export const detailsOf = ({ json }: INodeExecutionData) => json.details as IDataObject;

export const orderOf = (item: INodeExecutionData) => detailsOf(item).gateway_order as unknown as Order;

/** The row with something else in the place of its order. */
export function withOrder(item: INodeExecutionData, order: unknown): INodeExecutionData {
	return { json: { ...item.json, details: { ...detailsOf(item), gateway_order: order } as IDataObject } };
}

/** The row when its order has ended: with this output, or with an error of these words. */
export function endedRow(item: INodeExecutionData, end: IDataObject | string): INodeExecutionData {
	const error = { kind: 'taskFailed' satisfies GatewayErrorKind, message: String(end), details: {} };
	const as = typeof end === 'string' ? { as: 'failed', error } : { as: 'done', output: { json: end } };
	return withOrder(item, { ...orderOf(item), wait: undefined, state: 'ended', end: as });
}
