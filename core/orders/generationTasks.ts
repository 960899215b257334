import type { GatewayClient, MediaKind } from '../client';
import { gatewayError, type GatewayError, type TaskReference } from '../errors';
import { entryOf } from '../errors/catalogue';
import { MAX_ID_LENGTH, MAX_OTHER_IDS, type Order } from './order';
import type { Product } from './product';
import { reasonOf } from '../records/refusals';
import { judgeTask, type AskedFor } from '../polling/taskEnd';
import type { TaskRecord } from '../records/taskRecord';
import { MOST_FIELDS, toOutline } from '../text';
import type { PollStatus } from '../polling/pollTarget';

/** Generation tasks as the engine creates, reads and polls them (contract 3.1, 4.4, 4.5, 4.8). */
export function generationTasks(
	client: Pick<GatewayClient, 'service' | 'createTask' | 'getTask' | 'fetchTask' | 'survivalTable' | 'fileRules'>,
): Pick<Product<TaskRecord & { id: string }, TaskRecord>, 'status' | 'create' | 'read' | 'target'> {
	return {
		status: 'queued',
		create: async (order, body, attempt) => {
			const record = await client.createTask(order.kind as MediaKind, body, attempt);
			order.service = client.service;
			return record;
		},
		read: async (order, { taskId }) =>
			await client.getTask(order.kind as MediaKind, taskId, (record) =>
				judgeTask(record, askedFor(order, taskId, client)),
			),
		target: (order, task) => ({
			thing: 'task',
			task,
			fetch: async () => {
				const record = await client.fetchTask(order.kind as MediaKind, task.taskId);
				const judged = judgeTask(record, askedFor(order, task.taskId, client));
				const { wait } = order;
				if (wait !== undefined && isUnfinished(judged) && judged.ids.length > 0)
					wait.otherIds = otherIdsOf(judged, task);
				return judged;
			},
			statusOf: toPollStatus,
			toFailure: (record) => failedTask(task.taskId, record),
			survivalTable: (model) => client.survivalTable(order.kind as MediaKind, order.model ?? model),
		}),
	};
}

const isUnfinished = ({ state }: TaskRecord) => state === 'queued' || state === 'in_progress';

/** IDs by which the end of the task is known, too. Those of the last unfinished record: a stray one is soon forgotten. */
const otherIdsOf = ({ ids }: TaskRecord, { taskId }: TaskReference) =>
	ids.filter((id) => id !== taskId && id.length <= MAX_ID_LENGTH).slice(0, MAX_OTHER_IDS);

function askedFor(
	{ kind, wait, result }: Order,
	taskId: string,
	{ fileRules }: Pick<GatewayClient, 'fileRules'>,
): AskedFor {
	const { resultPath, requestUrls } = result ?? {};
	return {
		taskId,
		otherIds: wait?.otherIds,
		resultPath,
		requestUrls,
		baseUrl: fileRules.baseUrl,
		kind: kind as MediaKind,
	};
}

function toPollStatus({ state, status, progress, model, createdAt, retryAfterMs }: TaskRecord): PollStatus {
	return {
		state: state === 'completed' ? 'done' : state === 'failed' ? 'failed' : 'pending',
		status,
		progress,
		model,
		createdAtMs: createdAt === undefined ? undefined : createdAt * 1000,
		retryAfterMs,
	};
}

/** The error of a record with the state `failed` (contract 3.1). */
export function failedTask(taskId: string, { refusal, status }: TaskRecord): GatewayError {
	const reason = reasonOf(refusal);
	const { message: serviceMessage, code: serviceCode } = refusal;
	if (reason === 'contentDeclined')
		return gatewayError('taskDeclined', { id: taskId }, { serviceMessage, serviceCode });
	const { permanent, kind } = entryOf(reason) ?? {};
	// The reasons that somebody has to act on. Credits can be added, so a retry may go well then.
	const needsPerson = permanent || kind === 'balance';
	return gatewayError(
		'taskFailed',
		{ id: taskId, status: status === '' ? 'failed' : status },
		{
			serviceReason: needsPerson && reason ? gatewayError(reason, {}).details.reason : undefined,
			serviceMessage,
			serviceCode,
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
	const unknown = Object.keys(raw).filter((name) => !NO_RESULT.has(name));
	const shown = unknown.slice(0, MOST_FIELDS).map((name) => [name, raw[name]]);
	const record = toOutline(unknown.length > 0 ? Object.fromEntries(shown) : raw);
	return path === ''
		? gatewayError('noResultUrl', { id, record }, details)
		: gatewayError('noResultAtPath', { id, path, record }, details);
}
