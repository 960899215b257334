import { gatewayError, type GatewayError, type TaskReference } from '../errors';
import { meaningOf } from '../records/refusals';
import type { TaskRecord } from '../records/taskRecord';
import { shorten } from '../text';
import type { Waitable } from './waitForTask';

/** A generation task, as something to wait for (contract 3.1). */
export function generationTask(task: TaskReference, fetch: () => Promise<TaskRecord>): Waitable<TaskRecord> {
	return {
		thing: 'task',
		task,
		fetch,
		watch: ({ state, status, progress, createdAt, retryAfterMs }) => ({
			state: state === 'completed' ? 'done' : state === 'failed' ? 'failed' : 'pending',
			status,
			progress,
			createdAtMs: createdAt === undefined ? undefined : createdAt * 1000,
			retryAfterMs,
		}),
		toFailure: (record) => failedTask(task.taskId, record),
	};
}

/** The error that a record with the state `failed` stands for (contract 3.1). */
export function failedTask(taskId: string, { refusal, status }: TaskRecord): GatewayError {
	const { permanent, reason } = meaningOf(refusal) ?? {};
	return gatewayError('taskFailed', { id: taskId, status }, {
		because: permanent && reason ? gatewayError(reason, {}).details.happened : undefined,
		serviceMessage: refusal.message,
		serviceCode: refusal.code,
		permanent,
	});
}

/** `completed` without a URL anywhere: the service's fault, but paid for, so the raw record is shown. */
export function missingResult(taskId: string, { status, progress, raw }: TaskRecord, elapsedMs: number): GatewayError {
	return gatewayError('noResultUrl', { id: taskId, record: shorten(JSON.stringify(raw), 1500) }, {
		task: { taskId, status, progress, elapsedMs },
		permanent: true,
	});
}
