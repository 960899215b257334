import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asGatewayError } from '../../core/errors';
import { isOwn } from '../../core/errors/kinds';
import type { Order } from '../../core/orders/order';
import { errorOf } from '../../core/orders/states';
import { toNodeError, type BatchSummary } from '../errors/toNodeError';
import { listIds } from '../run/batchSummary';
import { itemsOf, outcomeOf, type Items, type OnError } from '../run/toItem';

/**
 * The output of the node: the items of the orders, in their sequence. Where the workflow is to stop, it throws what the
 * first order that has failed by itself has ended with, or else the first that was not sent because of another.
 */
export function toNodeOutput(context: IExecuteFunctions, orders: Order[], onError: OnError): INodeExecutionData[] {
	const failures = orders.flatMap((order) => {
		const error = errorOf(order);
		return error === undefined ? [] : [{ order, error }];
	});
	const { order: failed } = failures.find(({ error }) => isOwn(error)) ?? failures[0] ?? {};
	if (failed !== undefined && onError === 'stopWorkflow') throw toError(context, failed, orders);
	const items = orders.map((order, index) =>
		itemsOf(outcomeOf(order), index, onError, { operation: operationOf(order) }),
	);
	return inPlace(items);
}

/**
 * The first item of each order at the place of the order, and the further files after all of them: what a node gets that has
 * slept, n8n pairs with its input by the place alone, and fails where it finds no item for the error of another one.
 */
const inPlace = (items: Items[]): INodeExecutionData[] => [
	...items.map(([first]) => first),
	...items.flatMap(([, ...others]) => others),
];

function toError(context: IExecuteFunctions, failed: Order, orders: Order[]) {
	const about = { node: context.getNode(), itemIndex: failed.item, operation: operationOf(failed), isItem: true };
	return toNodeError(asGatewayError(errorOf(failed)), about, summarizeKept(failed, orders, context.getExecutionId()));
}

/**
 * The error is stored, and a retry throws it again: so it says where the other results are.
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
	return {
		last: [results, 'A retry changes nothing.'].filter(Boolean).join(' '),
		...(others.length > 0 && listIds(others, 'Other tasks')),
	};
}

/** Of the node that waits for the task: what the advice depends on. */
export function operationOf({ acceptedAtMs, state, task }: Order): string {
	return acceptedAtMs !== undefined || state === 'planned' || task === undefined ? 'generate' : 'getResult';
}
