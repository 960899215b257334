import { retryContinues, type GatewayError, type TaskReference } from '../../core/errors';
import { toRanges } from '../../core/text';
import type { BatchSummary, ErrorContext } from '../errors/toNodeError';
import type { Order } from '../../core/orders/order';

/** IDs in a message: more cannot be taken in at a glance. */
const IDS_SHOWN = 10;

type Accepted = Pick<TaskReference, 'taskId' | 'status'>;

/** Names the other items with mistakes. */
export function listOtherMistakes(indexes: number[]): string | undefined {
	if (indexes.length === 0) return undefined;
	return `${indexes.length === 1 ? 'Item' : 'Items'} ${toRanges(indexes)} also ${indexes.length === 1 ? 'has' : 'have'} values that are not allowed. n8n counts items from 0.`;
}

/**
 * Tells what the service has accepted of a run that ends with the error of one item (tasks, tokens, groups, assets):
 * how to get it without paying again, and every ID. n8n keeps no output of a node that ends so, but a retry continues.
 */
export function summarizeAccepted(
	orders: Order[],
	acceptedIds: string[],
	error: GatewayError,
	{ operation, isTool, items }: Pick<ErrorContext, 'operation' | 'isTool'> & { items: number },
): BatchSummary {
	const tasks = new Map(acceptedIds.map((taskId): [string, Accepted] => [taskId, { taskId, status: 'in_progress' }]));
	for (const { task, acceptedAtMs } of orders) {
		if (task && task.taskId !== '' && acceptedAtMs !== undefined) tasks.set(task.taskId, task);
	}
	const accepted = [...tasks.values()];
	const others = accepted.filter(({ taskId }) => taskId !== error.task?.taskId);
	const left = items - accepted.length;
	const isTask = operation === 'generate';
	const alsoSubmits =
		left > 0
			? `The retry also submits the ${left === 1 ? 'item that was' : `${left} items that were`} not accepted.`
			: undefined;
	if (others.length === 0) return isTask && retryContinues(error) ? { last: alsoSubmits, submitsMore: left > 0 } : {};
	const ids = listIds(others, isTask ? 'Other tasks' : 'Other IDs');
	const details = others.length > IDS_SHOWN ? `All IDs of this run: ${accepted.map(toLine).join(', ')}` : undefined;
	// An agent has no Executions list.
	if (isTool) return { last: `Other requests of this call were accepted and are not lost. ${ids}` };
	const [thing, again] = isTask ? ['task', 'buys'] : ['request', 'sends'];
	const [were, are] = others.length === 1 ? [' of this run was', 'is'] : ['s of this run were', 'are'];
	const notLost = `${others.length} other ${thing}${were} accepted and ${are} not lost`;
	if (retryContinues(error)) {
		const last = `${notLost}: the retry continues ${others.length === 1 ? 'it' : 'them'}, too.`;
		return { last: [last, alsoSubmits, ids].filter(Boolean).join(' '), details, submitsMore: left > 0 };
	}
	return {
		first: [
			`${notLost}.`,
			`To get ${others.length === 1 ? 'its result' : 'their results'} without paying again: in the settings of this node, set On Error to Continue (using error output), save, and in the Executions list choose Retry with currently saved workflow.`,
			error.kind === 'taskFailed' && isTask && 'The retry also buys a new task for the item of this message.',
			alsoSubmits,
			`Running this node again ${again} every item again.`,
		]
			.filter(Boolean)
			.join(' '),
		last: ids,
		details,
	};
}

/** Lists the first IDs, and says where to find the others. */
export function listIds(tasks: Accepted[], label = 'Task IDs'): string {
	const more = tasks.length - IDS_SHOWN;
	const list = tasks.slice(0, IDS_SHOWN).map(toLine).join(', ');
	return more > 0
		? `${label}: ${list} and ${more} more. All of them are under Error details and in n8n's log.`
		: `${label}: ${list}.`;
}

/** An ID and its status. */
export const toLine = ({ taskId, status }: Accepted) => (status === undefined ? taskId : `${taskId} (${status})`);
