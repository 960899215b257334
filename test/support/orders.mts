/** Orders, and the rows of them that the node hands to a sub-execution. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { GatewayErrorKind } from '../../core/errors';
import type { HandOver } from '../../core/orders/handOver';
import type { Order, OrderDraft } from '../../core/orders/order';
import { accept, beginSubmitting, makeOrder } from '../../core/orders/states';

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

/** The order of an image that is to be submitted, and then waited for. */
export function plannedOrder(item: number, more: Partial<OrderDraft> = {}): Order {
	return makeOrder({
		...{ item, thing: 'task', kind: 'image', then: 'poll' },
		request: { body: { model: 'gamma-image-2', prompt: `prompt ${item}` }, hash: `hash ${item}` },
		wait: { plan: { kind: 'automatic' }, timeoutMs: 600_000 },
		result: {
			...{ as: 'urlOnly' as const, outputField: 'data', fileName: '', simplify: true, split: false },
			...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] },
		},
		...more,
	});
}

/** The same when the service has accepted it. */
export function acceptedOrder(item: number, more: Partial<OrderDraft> = {}): Order {
	const order = plannedOrder(item, more);
	beginSubmitting(order);
	accept(order, { taskId: `known-${item}`, status: 'queued', elapsedMs: 0 }, Date.now());
	return order;
}

/** The facts about a run that goes on in another execution. */
export const handOver = (more: Partial<HandOver> = {}): HandOver => ({
	...{ concurrency: 10, stopsAtError: false, deadlineMs: Date.now() + 3_600_000 },
	...more,
});

/** Those that the first row has. */
export const handOverIn = ([first]: INodeExecutionData[]) =>
	first && (detailsOf(first).gateway_run as unknown as HandOver | undefined);
