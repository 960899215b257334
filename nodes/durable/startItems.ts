import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { parseNewerRows, parseRows, salvageOrder, salvageOrders } from './rows';

/** The items that the execution began with. */
export function itemsOfStart(context: IExecuteFunctions): INodeExecutionData[] {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as {
		$: (node: string) => { all: () => INodeExecutionData[] };
	};
	try {
		return $('Start').all();
	} catch {
		// There is no such node: then this is no sub-workflow of ours.
		return context.getInputData();
	}
}

/** All orders, as they were passed to the sub-workflow. */
export function ordersOfStart(context: IExecuteFunctions): Order[] {
	const orders = salvageOrders(itemsOfStart(context));
	if (orders === undefined) throw gatewayError('operationNotForWorkflows', {});
	return orders;
}

/** The same in a later round, which has to end: items that are no orders count as damaged ones, at least one. */
export function salvagedStart(context: IExecuteFunctions): Order[] {
	const items = itemsOfStart(context);
	return salvageOrders(items) ?? (items.length > 0 ? items : [{ json: {} }]).map(salvageOrder);
}

export function requireOrders(rows: unknown): Order[] {
	const orders = parseRows(rows) ?? parseNewerRows(rows);
	if (orders === undefined) throw gatewayError('operationNotForWorkflows', {});
	return orders;
}
