import { gatewayError, type GatewayError, type TaskReference } from '../errors';
import { rowOf } from '../errors/catalogue';
import { reasonOf } from '../records/refusals';
import type { TaskRecord } from '../records/taskRecord';
import { toOutline } from '../text';
import type { PollTarget } from './pollTarget';

/** A generation task as a poll target (contract 3.1). */
export function generationTask(task: TaskReference, fetch: () => Promise<TaskRecord>): PollTarget<TaskRecord> {
	return {
		thing: 'task',
		task,
		fetch,
		statusOf: ({ state, status, progress, model, createdAt, retryAfterMs }) => ({
			state: state === 'completed' ? 'done' : state === 'failed' ? 'failed' : 'pending',
			status,
			progress,
			model,
			createdAtMs: createdAt === undefined ? undefined : createdAt * 1000,
			retryAfterMs,
		}),
		toFailure: (record) => failedTask(task.taskId, record),
	};
}

/** The error of a record with the state `failed` (contract 3.1). */
export function failedTask(taskId: string, { refusal, status }: TaskRecord): GatewayError {
	const reason = reasonOf(refusal);
	const permanent = rowOf(reason)?.permanent;
	return gatewayError(
		'taskFailed',
		{ id: taskId, status },
		{
			serviceReason: permanent && reason ? gatewayError(reason, {}).details.reason : undefined,
			serviceMessage: refusal.message,
			serviceCode: refusal.code,
			permanent,
		},
	);
}

/** Fields of every record (contract 2.3) that never hold the result, and that messages show elsewhere. */
const NO_RESULT = new Set(['id', 'object', 'model', 'status', 'progress', 'created_at']);

/**
 * The error of a completed task without a result URL (at the path that the user has entered). It is paid for, so the
 * record is shown.
 */
export function missingResult(
	id: string,
	{ status, progress, raw }: TaskRecord,
	elapsedMs: number,
	path = '',
): GatewayError {
	const details = { task: { taskId: id, status, progress, elapsedMs } };
	const unknown = Object.entries(raw).filter(([name]) => !NO_RESULT.has(name));
	const record = toOutline(unknown.length > 0 ? Object.fromEntries(unknown) : raw);
	return path === ''
		? gatewayError('noResultUrl', { id, record }, details)
		: gatewayError('noResultAtPath', { id, path, record }, details);
}
