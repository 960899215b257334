import { parseRefusal, type ServiceRefusal } from './refusals';
import { getPath, isPlainObject, type JsonObject } from '../json';
import { beginningOf } from '../text';
import { looseExpiry, looseProgress, looseText, looseTime } from './loose';

/**
 * The service's record of a task: strict about what we need (an ID, a status word), tolerant of everything else,
 * because most of a completed record is not shown in the contract (2.3).
 */
export type TaskState = 'queued' | 'in_progress' | 'completed' | 'failed';

export interface TaskRecord {
	id?: string;
	/** The contract's word for the status, also where the service used another one. */
	state: TaskState;
	/** The status word as it came; empty when none came. */
	status: string;
	model?: string;
	/** 0 to 100, where the service reports it. */
	progress?: number;
	/** Unix seconds. */
	createdAt?: number;
	/** Unix seconds: until when the result files can be fetched. */
	expiresAt?: number;
	/** The service asks for a pause before the next poll. Milliseconds. */
	retryAfterMs?: number;
	/** The reason of a failed task, in the service's words. */
	refusal: ServiceRefusal;
	/** The record as it came, unwrapped. */
	raw: JsonObject;
}

/** A task that was accepted and has not been polled yet (contract 3.1). */
export const NEW_TASK: TaskRecord = { state: 'queued', status: 'queued', progress: 0, refusal: {}, raw: {} };

/** Status words seen beyond the contract's four (3.1). An unknown word is not final. */
const STATES = new Map<string, TaskState>(
	Object.entries<TaskState>({
		queued: 'queued',
		submitted: 'queued',
		pending: 'queued',
		in_progress: 'in_progress',
		processing: 'in_progress',
		running: 'in_progress',
		completed: 'completed',
		succeeded: 'completed',
		success: 'completed',
		failed: 'failed',
		failure: 'failed',
		cancelled: 'failed',
		canceled: 'failed',
		error: 'failed',
		expired: 'failed',
	}),
);

/** The contract's word for a status word. */
export const stateOf = (status: string): TaskState => STATES.get(status.toLowerCase()) ?? 'in_progress';

/**
 * The record inside `{"success": true, "data": {…}}`, or the answer itself. Undefined when it is no object. The status of an
 * answer without an ID is that of the request, such as `success`, where its data has one of its own.
 */
function unwrap(answer: unknown): JsonObject | undefined {
	if (!isPlainObject(answer)) return undefined;
	const { data } = answer;
	if (!isPlainObject(data) || 'id' in answer || 'task_id' in answer) return answer;
	return 'status' in answer && !('status' in data) ? answer : data;
}

/** Errors and orders keep these words. */
export const LONGEST_WORD = 200;

/** A generation task (contract 2.3). Undefined when the answer has neither an id nor a status. */
export function parseTaskRecord(answer: unknown): TaskRecord | undefined {
	const raw = unwrap(answer);
	if (!raw) return undefined;
	const id = looseText(raw.id) ?? looseText(raw.task_id);
	const status = beginningOf(looseText(raw.status) ?? '', LONGEST_WORD);
	if (id === undefined && status === '') return undefined;
	const model = looseText(raw.model);
	const state = stateOf(status);
	return {
		id,
		state,
		status,
		model: model && beginningOf(model, LONGEST_WORD),
		progress: looseProgress(raw.progress),
		createdAt: looseTime(raw.created_at),
		expiresAt: parseExpiry(raw),
		refusal: state === 'failed' ? parseRefusal(raw) : {},
		raw,
	};
}

/** Some services put `expires_at` next to the result instead of at the top. */
function parseExpiry(raw: JsonObject): number | undefined {
	return ['expires_at', 'result.expires_at', 'metadata.expires_at']
		.map((path) => looseExpiry(getPath(raw, path)))
		.find((time) => time !== undefined);
}
