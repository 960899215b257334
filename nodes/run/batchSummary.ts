import type { GatewayError, TaskReference } from '../../core/errors';
import { toRanges } from '../../core/text';
import type { BatchSummary, ErrorContext } from '../errors/toNodeError';
import type { Purchase } from '../../core/orders/order';
import { isReplacedByRetry } from '../../core/orders/states';

type Accepted = Pick<TaskReference, 'taskId' | 'status'>;

/** Names the other items with mistakes. */
export function listOtherMistakes(indexes: number[]): string | undefined {
	if (indexes.length === 0) return undefined;
	return `${indexes.length === 1 ? 'Item' : 'Items'} ${toRanges(indexes)} also ${indexes.length === 1 ? 'has' : 'have'} values that are not allowed. n8n counts items from 0.`;
}

/**
 * Tells what the service has accepted of a run that ends with the error of one item (tasks, tokens, groups, assets): how
 * to get it without paying again, and the IDs. n8n keeps no output of a node that ends so, but a retry continues.
 */
export function summarizeAccepted(
	orders: Purchase[],
	acceptedIds: string[],
	error: GatewayError,
	{ operation, isTool }: Pick<ErrorContext, 'operation' | 'isTool'>,
): BatchSummary {
	const { others, failed } = othersOf(orders, acceptedIds, error.task?.taskId);
	const unclear = orders.filter(isUnclear);
	// The error is that of the first one.
	if (error.kind === 'outcomeUnknown') unclear.shift();
	// An agent has no Executions list.
	if (isTool && others.length > 0)
		return {
			last: `Other requests of this call were accepted and are not lost. Their IDs: ${others.map(toLine).join(', ')}.`,
		};
	const { ids, details } = listIds(others, operation === 'generate' ? 'Other tasks' : 'Other IDs');
	const shown = [
		others.length > 0 && details,
		failed.length > 0 && `Also failed: ${failed.map(toLine).join(', ')}`,
		unclear.length > 0 &&
			`Also of unknown outcome, by the index of the item: ${toRanges(unclear.map(({ item }) => item))}`,
	].filter(Boolean);
	return {
		...(!isTool && { rest: { others: others.length + unclear.length, unsent: orders.filter(isUnsent).length } }),
		...(others.length > 0 && { ids }),
		details: shown.join('. ') || undefined,
	};
}

/** Held back, because of another item or of a stop. */
const isUnsent = ({ state, end }: Purchase) => state === 'planned' || end?.as === 'notSubmitted';

/** An API key that cannot be read again was created nevertheless. */
const isUnclear = ({ acceptedAtMs, end }: Purchase) => acceptedAtMs === undefined && end?.as === 'outcomeUnknown';

/** The accepted tasks of a run without one: those that a retry continues, and those that have failed. */
function othersOf(
	orders: Purchase[],
	acceptedIds: string[],
	without?: string,
): Record<'others' | 'failed', Accepted[]> {
	const others = new Map(acceptedIds.map((taskId): [string, Accepted] => [taskId, { taskId, status: 'in_progress' }]));
	const failed: Accepted[] = [];
	for (const order of orders) {
		const { task, acceptedAtMs } = order;
		if (!task || task.taskId === '' || acceptedAtMs === undefined) continue;
		if (isReplacedByRetry(order)) failed.push(task);
		else others.set(task.taskId, task);
	}
	const isOther = ({ taskId }: Accepted) => taskId !== without;
	return { others: [...others.values()].filter(isOther), failed: failed.filter(isOther) };
}

/** For the text in the panel, as far as there is room, and with the status of each for Error details. */
export function listIds(tasks: Accepted[], label: string): BatchSummary {
	return {
		ids: { label, ids: tasks.map(({ taskId }) => taskId) },
		details: `${label} of this run: ${tasks.map(toLine).join(', ')}`,
	};
}

/** An ID and its status. */
const toLine = ({ taskId, status }: Accepted) => (status === undefined ? taskId : `${taskId} (${status})`);
