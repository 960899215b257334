import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asGatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { errorOf } from '../../core/orders/states';
import { listIds } from '../run/batchSummary';
import { toNodeError } from '../errors/toNodeError';
import { outcomeOf, toItem, type OnError } from '../run/toItem';

/**
 * The output of the node: one item for each order, in their sequence. Where the workflow is to stop, it throws what the
 * first order that did not succeed has ended with.
 *
 * @param keptIn the execution whose Keep Waiting puts out all rows
 */
export function toNodeOutput(
	context: IExecuteFunctions,
	orders: Order[],
	onError: OnError,
	keptIn?: string,
): INodeExecutionData[] {
	const failed = orders.find((order) => errorOf(order) !== undefined);
	if (failed !== undefined && onError === 'stopWorkflow') throw toError(context, failed, orders, keptIn);
	return orders.map((order, index) => toItem(outcomeOf(order), index, onError, { operation: operationOf(order) }));
}

/** It is stored, and a retry throws it again: so it says where the results are. */
function toError(context: IExecuteFunctions, failed: Order, orders: Order[], keptIn?: string) {
	const others = orders.flatMap(({ task, earlierTaskIds = [] }) => [
		...(task === undefined || task === failed.task ? [] : [task]),
		...earlierTaskIds.map((taskId) => ({ taskId, status: 'failed' })),
	]);
	const first = [
		others.length > 0 && `The results of the other tasks of this run (${others.length}) are not lost.`,
		keptIn &&
			orders.some(({ end }) => end?.output !== undefined) &&
			`All results and files are in execution ${keptIn} of this workflow, in the output of the node Keep Waiting.`,
		'Retrying this execution buys nothing and leads to the same result. To get the result of a task, create a new workflow: a trigger, and behind it Wait for Task with its ID.',
	];
	const place = { node: context.getNode(), itemIndex: failed.item, operation: operationOf(failed), isItem: true };
	return toNodeError(asGatewayError(errorOf(failed)), place, {
		first: first.filter(Boolean).join(' '),
		...(others.length > 0 && listIds(others, 'Other tasks')),
	});
}

/** Of the node that waits for the task: what the advice depends on. */
export function operationOf({ acceptedAtMs, state, task }: Order): string {
	return acceptedAtMs !== undefined || state === 'planned' || task === undefined ? 'generate' : 'waitForTask';
}
