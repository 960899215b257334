import { parseRefusal, refusalAround, toPlainCode, type ServiceRefusal } from './refusals';
import { getPath, isPlainObject, type JsonObject } from '../json';
import { beginningOf } from '../text';
import { idsUnder, looseExpiry, looseProgress, looseText, looseTime } from './loose';

/**
 * The service's record of a task: strict about what we need (an ID, a status word), tolerant of everything else,
 * because most of a completed record is not shown in the contract (2.3).
 */
export type TaskState = 'queued' | 'in_progress' | 'completed' | 'failed';

export interface TaskRecord {
	id?: string;
	/** The IDs in the record and in its wrapper, as text: an answer counts for the task that it names. */
	ids: string[];
	/** False: nothing says whose record it is. The `id` of a wrapper may be the one of the request. */
	hasTaskId: boolean;
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
	/** Present where the word was unknown or missing, and the record has ended the task: see `core/polling/taskEnd.ts`. */
	endedBy?: 'record';
	/** The words of an error that a completed record has beside its result. */
	errorBeside?: ServiceRefusal;
	/** The reason of a failed task, in the service's words. */
	refusal: ServiceRefusal;
	/** The words of what is around the record, for one that has none of its own. */
	refusalAround?: ServiceRefusal;
	/** The record as it came, unwrapped. */
	raw: JsonObject;
}

/** A task that was accepted and has not been polled yet (contract 3.1). */
export const NEW_TASK: TaskRecord = {
	ids: [],
	hasTaskId: false,
	state: 'queued',
	status: 'queued',
	progress: 0,
	refusal: {},
	raw: {},
};

/** The contract's four status words (3.1), and those of the field notes. Under any other word the record decides: `core/polling/taskEnd.ts`. */
const WORDS: Record<TaskState, string[]> = {
	queued: ['queued', 'submitted', 'pending', 'waiting', 'in_queue', 'created', 'scheduled'],
	in_progress: [
		...['in_progress', 'processing', 'running', 'generating', 'rendering'],
		...['starting', 'started', 'preparing', 'uploading'],
	],
	completed: ['completed', 'complete', 'succeeded', 'succeed', 'success', 'done', 'finished'],
	failed: ['failed', 'fail', 'failure', 'cancelled', 'canceled', 'error', 'expired', 'timeout', 'rejected'],
};

const STATES = new Map(
	(Object.keys(WORDS) as TaskState[]).flatMap((state) => WORDS[state].map((word) => [word, state] as const)),
);

/** The contract's word for a status word that is known, in any spelling: `InProgress`, `in-progress` and `IN PROGRESS` are one. */
export const knownState = (status: string): TaskState | undefined =>
	status.length <= LONGEST_WORD ? STATES.get(toPlainCode(status)) : undefined;

/** The contract's word for a status word. An unknown one is not final. */
export const stateOf = (status: string): TaskState => knownState(status) ?? 'in_progress';

/** True for the status of a task that goes on, and not for that of a request that went well. */
export function isUnderWay(status = ''): boolean {
	const state = knownState(status);
	return state === 'queued' || state === 'in_progress';
}

/** Objects around a record that are looked through. */
const MOST_WRAPPERS = 3;
/** Besides `data`, these hold a record where it names the task. */
const WRAPPERS = ['task', 'result', 'output', 'response'];

/**
 * The record inside `{"success": true, "data": {…}}`, or the answer itself. Undefined when it is no object. Where both have
 * a status, the record is the one that has the ID: that of the other is the status or the ID of the request.
 *
 * @param taskId where it is known
 * @returns the record, and what is around it, the innermost first
 */
function unwrap(answer: unknown, taskId?: string): { raw: JsonObject; around: JsonObject[] } | undefined {
	if (!isPlainObject(answer)) return undefined;
	let raw = answer;
	const around: JsonObject[] = [];
	while (around.length < MOST_WRAPPERS) {
		const inner = innerOf(raw, taskId);
		// Within data that is a record, another `data` is the result, or the record of the next service.
		const isFound = around.length > 0 && (statusOf(raw) !== undefined || idsOf(raw).length > 0);
		if (isFound || inner === undefined || isRecordItself(raw, inner, taskId)) break;
		around.unshift(raw);
		raw = inner;
	}
	return { raw, around };
}

/** The object in an answer that may be the record. */
function innerOf(answer: JsonObject, taskId: string | undefined): JsonObject | undefined {
	const isNamed = (value: unknown): value is JsonObject =>
		isPlainObject(value) && taskId !== undefined && idsOf(value).includes(taskId);
	const { data } = answer;
	if (isPlainObject(data)) return data;
	const only: unknown = Array.isArray(data) && data.length === 1 ? data[0] : undefined;
	return [only, ...WRAPPERS.map((name) => answer[name])].find(isNamed);
}

/** True where the inner object belongs to the record, and is not the record. */
function isRecordItself(answer: JsonObject, inside: JsonObject, taskId: string | undefined): boolean {
	const levelOf = (object: JsonObject) => ({
		status: statusOf(object),
		hasId: idsOf(object).length > 0,
		// It has the ID of the task that was asked for.
		isNamed: taskId !== undefined && idsOf(object).includes(taskId),
	});
	const [outer, inner] = [levelOf(answer), levelOf(inside)];
	if (inner.isNamed && !outer.isNamed) return false;
	// It is the request that went well, and the task goes on or has failed.
	if (
		outer.status?.toLowerCase() === 'success' &&
		inner.status !== undefined &&
		(knownState(inner.status) ?? 'completed') !== 'completed'
	)
		return false;
	const [isOuter, isInner] = [outer, inner].map(({ status }) => status !== undefined);
	if (isOuter !== isInner) return isOuter === true;
	const isKnown = isOuter && taskId !== undefined;
	return isKnown ? outer.isNamed && !inner.isNamed : outer.hasId && !inner.hasId;
}

/** The status word; other services write it under another name. */
const statusOf = ({ status, task_status: ofTask, state }: JsonObject) =>
	[status, ofTask, state].map(looseText).find((word) => word !== undefined);

/** The longest ID that is one. What is longer stays a name that no task has, cut off: it is kept for each task that is waited for. */
export const LONGEST_ID = 1_000;
const MOST_IDS = 10;

/** The ID under `id` may be that of the request. */
const idsOf = (object: JsonObject) =>
	[...idsUnder(object, 'task_id'), ...idsUnder(object, 'id')]
		.slice(0, MOST_IDS)
		.map((id) => beginningOf(id, LONGEST_ID));

/** Errors and orders keep these words. */
export const LONGEST_WORD = 200;

/**
 * A generation task (contract 2.3). Undefined when the answer has neither an id nor a status.
 *
 * @param taskId the task that was asked for
 */
export function parseTaskRecord(answer: unknown, taskId?: string): TaskRecord | undefined {
	const { raw, around = [] } = unwrap(answer, taskId) ?? {};
	if (!raw) return undefined;
	const own = idsOf(raw);
	const [id] = own;
	const status = beginningOf(statusOf(raw) ?? '', LONGEST_WORD);
	if (id === undefined && status === '') return undefined;
	const model = looseText(raw.model);
	const state = stateOf(status);
	return {
		id,
		ids: [...new Set([...own, ...around.flatMap(idsOf)])].slice(0, MOST_IDS),
		hasTaskId: own.length > 0 || around.some((wrapper) => idsUnder(wrapper, 'task_id').length > 0),
		state,
		status,
		model: model && beginningOf(model, LONGEST_WORD),
		progress: looseProgress(raw.progress),
		createdAt: looseTime(raw.created_at),
		expiresAt: parseExpiry(raw),
		refusal: state === 'failed' ? parseRefusal(raw) : {},
		...(around.length > 0 ? { refusalAround: refusalAround(around) } : {}),
		raw,
	};
}

/** True for the record of this task, and no answer about its request, that says the task has failed. */
export function isRecordOfFailure(answer: unknown, taskId: string): boolean {
	const { state, raw = {} } = parseTaskRecord(answer, taskId) ?? {};
	if (state !== 'failed' || !idsUnder(raw, 'id').includes(taskId)) return false;
	return raw.object === 'generation.task' || isPlainObject(raw.error);
}

/** Some services put `expires_at` next to the result instead of at the top. */
function parseExpiry(raw: JsonObject): number | undefined {
	return ['expires_at', 'result.expires_at', 'metadata.expires_at']
		.map((path) => looseExpiry(getPath(raw, path)))
		.find((time) => time !== undefined);
}
