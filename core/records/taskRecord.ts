import { z } from 'zod';
import { findResultUrls } from './resultUrls';
import { parseJson } from '../http/retry';
import { readRefusal, type ServiceRefusal } from '../http/serviceErrors';

/**
 * What the service answers: strict about what we need (an id, a status word), tolerant of everything else,
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
	/** The service asks to be looked at no sooner than this, in milliseconds. */
	retryAfterMs?: number;
	urls: string[];
	/** Why a failed task failed, in the service's words. */
	refusal: ServiceRefusal;
	/** The record as it came, unwrapped. */
	raw: Record<string, unknown>;
}

/** Status words seen beyond the contract's four (3.1). An unknown word is not final. */
const STATES: Record<string, TaskState> = {
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
	cancelled: 'failed',
	canceled: 'failed',
	error: 'failed',
	expired: 'failed',
};

const plainObject = z.record(z.unknown());
export const looseNumber = z.preprocess(
	(value) => (typeof value === 'string' && value.trim() !== '' ? Number(value.replace(/%$/, '')) : value),
	z.number().finite().optional().catch(undefined),
);
export const looseText = z.preprocess(
	(value) => (typeof value === 'number' ? String(value) : value),
	z.string().trim().min(1).optional().catch(undefined),
);
const taskFields = z.object({
	id: looseText,
	task_id: looseText,
	status: looseText,
	model: looseText,
	progress: looseNumber,
	created_at: looseNumber,
	expires_at: looseNumber,
});

/** The record inside `{"success": true, "data": {…}}`, or the answer itself. Undefined when it is no object. */
function unwrap(answer: unknown): Record<string, unknown> | undefined {
	const outer = plainObject.safeParse(answer);
	if (!outer.success) return undefined;
	const inner = plainObject.safeParse(outer.data.data);
	const isRecord = (value: Record<string, unknown>) =>
		'status' in value || 'id' in value || 'task_id' in value;
	return inner.success && !isRecord(outer.data) ? inner.data : outer.data;
}

/** Both levels of an answer that is flat or wrapped in `data` (field notes), the inner one first. */
export function flatten(answer: unknown): Record<string, unknown> | undefined {
	const outer = plainObject.safeParse(answer);
	if (!outer.success) return undefined;
	const inner = plainObject.safeParse(outer.data.data);
	return inner.success ? { ...outer.data, ...inner.data } : outer.data;
}

/** Reads a generation task (contract 2.3). Undefined when the answer has neither an id nor a status. */
export function readTaskRecord(answer: unknown): TaskRecord | undefined {
	const raw = unwrap(answer);
	const fields = taskFields.safeParse(raw);
	if (!raw || !fields.success) return undefined;
	const { id, task_id: taskId, status = '', model, progress, created_at, expires_at } = fields.data;
	if (!id && !taskId && !status) return undefined;
	const word = status.toLowerCase().replace(/[\s-]+/g, '_');
	return {
		id: id ?? taskId,
		state: STATES[word] ?? 'in_progress',
		status,
		model,
		progress: progress === undefined ? undefined : Math.min(100, Math.max(0, progress)),
		createdAt: created_at,
		expiresAt: expires_at ?? readExpiry(raw),
		urls: findResultUrls(raw),
		refusal: readRefusal(raw),
		raw,
	};
}

/** Some services put `expires_at` next to the result instead of at the top. */
function readExpiry(raw: Record<string, unknown>): number | undefined {
	for (const key of ['result', 'metadata']) {
		const nested = z.object({ expires_at: looseNumber }).safeParse(raw[key]);
		if (nested.success && nested.data.expires_at !== undefined) return nested.data.expires_at;
	}
	return undefined;
}

/**
 * An id in an answer whose end was cut off: what was paid for must not be lost to a broken bracket. `keys` are the
 * names that it may have, as alternatives of a regular expression.
 */
export function salvageId(text: string, keys: string): string | undefined {
	if (!/^\s*\{/.test(text)) return undefined;
	const whole = plainObject.safeParse(parseJson(text));
	// What is whole may hold the ID of something else, such as that of the error itself.
	const searched = whole.success ? JSON.stringify({ ...whole.data, error: undefined }) : text;
	const found = new RegExp(`"(?:${keys})"\\s*:\\s*(?:("(?:[^"\\\\]|\\\\.)+")|(\\d+)\\s*[,}])`).exec(searched);
	const id = parseJson(found?.[1] ?? '');
	return typeof id === 'string' ? id : found?.[2];
}

/** An ID that came as a number: one of 16 digits and more has lost its last ones in JSON, and is taken from the text. */
export function exactId(id: string | undefined, text: string): string | undefined {
	if (id === undefined || !/^\d{16,}$/.test(id)) return id;
	return new RegExp(`\\b${id.slice(0, 15)}\\d{${id.length - 15}}\\b`).exec(text)?.[0] ?? id;
}

/** The URL in the answer of an image upload: `{"success": true, "data": {"url": "https://…"}}` or flat. */
export function readUploadUrl(answer: unknown): string | undefined {
	const withUrl = z.object({ url: z.string().url() });
	const wrapped = z.object({ data: withUrl }).safeParse(answer);
	if (wrapped.success) return wrapped.data.data.url;
	const flat = withUrl.safeParse(answer);
	return flat.success ? flat.data.url : undefined;
}

const balanceNumber = z.number().nullish();

/** The user balance (contract 2.1). Every field is passed on as it comes. */
export const userBalanceSchema = z
	.object({
		success: z.boolean().nullish(),
		remain_balance: balanceNumber,
		used_balance: balanceNumber,
		remain_credits: balanceNumber,
		used_credits: balanceNumber,
		credits_per_usd: balanceNumber,
		unlimited_quota: z.boolean().nullish(),
	})
	.passthrough()
	.refine((body) => body.remain_credits !== undefined || body.remain_balance !== undefined);
