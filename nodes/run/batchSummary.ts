import { retryContinues, type GatewayError, type TaskReference } from '../../core/errors';
import { toRanges } from '../../core/text';
import type { BatchSummary, ErrorContext } from '../errors/toNodeError';
import { advisesRetry, endsTheSame } from '../../core/errors/kinds';
import { retryRest, retryRestPastError, retryRestWithChanges } from '../../core/errors/recovery';
import type { RestOfBatch } from '../../core/errors/entry';
import type { Purchase } from '../../core/orders/order';
import { isReplacedByRetry, retryOf } from '../../core/orders/states';

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
	{
		operation,
		isTool,
		items,
		...errorContext
	}: Pick<ErrorContext, 'operation' | 'isTool' | 'subExecution'> & { items: number },
): BatchSummary {
	const { others, failed, reusing } = othersOf(orders, acceptedIds, error.task?.taskId);
	const isTask = operation === 'generate';
	const isUnknown = error.kind === 'outcomeUnknown';
	const unclear = orders.filter(isUnclear);
	// The error is that of the first one.
	if (isUnknown) unclear.shift();
	const rest = {
		others: others.length,
		unsubmitted: items - others.length - reusing - unclear.length - (error.task || isUnknown ? 1 : 0),
		...(unclear.length > 0 && { unclear: unclear.length }),
	};
	const notContinued = [
		failed.length > 0 && `Also failed: ${failed.map(toLine).join(', ')}`,
		unclear.length > 0 &&
			`Also of unknown outcome, by the index of the item: ${toRanges(unclear.map(({ item }) => item))}`,
	].filter(Boolean);
	if (others.length === 0)
		return {
			...((isTask && retryContinues(error)) || rest.unclear ? { rest } : {}),
			details: notContinued.join('. ') || undefined,
		};
	// An agent has no Executions list.
	if (isTool)
		return {
			last: `Other requests of this call were accepted and are not lost. Their IDs: ${others.map(toLine).join(', ')}.`,
		};
	const situation = { operation, ...errorContext, ...rest };
	const advice = namesRetry(error) ? '' : recoveryOfRest(error)(situation);
	const { ids, details } = listIds(others, isTask ? 'Other tasks' : 'Other IDs');
	return { rest, last: advice, ids, details: [details, ...notContinued].join('. ') };
}

/** An API key that cannot be read again was created nevertheless. */
const isUnclear = ({ acceptedAtMs, end }: Purchase) => acceptedAtMs === undefined && end?.as === 'outcomeUnknown';

/**
 * The accepted tasks of a run without one: those that a retry continues, and those that have failed. `reusing` is the number of
 * items that share a task with another one (Purchase Key).
 */
function othersOf(
	orders: Purchase[],
	acceptedIds: string[],
	without?: string,
): Record<'others' | 'failed', Accepted[]> & { reusing: number } {
	const others = new Map(acceptedIds.map((taskId): [string, Accepted] => [taskId, { taskId, status: 'in_progress' }]));
	const failed: Accepted[] = [];
	const continued = new Set<string>();
	let reusing = 0;
	for (const order of orders) {
		const { task, acceptedAtMs } = order;
		if (!task || task.taskId === '' || acceptedAtMs === undefined) continue;
		if (isReplacedByRetry(order)) {
			failed.push(task);
			continue;
		}
		if (continued.has(task.taskId)) reusing++;
		continued.add(task.taskId);
		others.set(task.taskId, task);
	}
	const isOther = ({ taskId }: Accepted) => taskId !== without;
	return { others: [...others.values()].filter(isOther), failed: failed.filter(isOther), reusing };
}

/** True for a failed task in whose place a retry creates a new one. */
const startsAgain = (error: GatewayError) => retryOf({ as: 'failed', error }) === 'submits';

/** The words for a retry, where the advice of the reason has none. */
function recoveryOfRest(error: GatewayError): (situation: RestOfBatch) => string {
	if (endsTheSame(error)) return retryRestPastError;
	// Other mistakes in the form are found before anything is sent.
	return error.kind === 'badInput' ? retryRestWithChanges : retryRest;
}

/** True where the advice of the reason is a retry. */
const namesRetry = (error: GatewayError) => retryContinues(error) || startsAgain(error) || advisesRetry(error);

/** For the text in the panel, as far as there is room, and with the status of each for Error details. */
export function listIds(tasks: Accepted[], label: string): BatchSummary {
	return {
		ids: { label, ids: tasks.map(({ taskId }) => taskId) },
		details: `All other IDs of this run: ${tasks.map(toLine).join(', ')}`,
	};
}

/** An ID and its status. */
const toLine = ({ taskId, status }: Accepted) => (status === undefined ? taskId : `${taskId} (${status})`);
