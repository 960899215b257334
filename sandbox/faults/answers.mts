import { ERROR_SHAPES, type ErrorShape } from '../http/refusal.mts';
import { parseDurationMs } from './duration.mts';

/**
 * The small language for answers that go wrong, shared by prompt directives and the control endpoint:
 *
 *     name[:argument][~shape][!after][*times]     and several in a row with commas
 *
 * `503:2!after*3` is three times a 503 with `Retry-After: 2`, each after the task was accepted.
 */

/** The fault of one request. Without `status` the ordinary answer is given, changed as said. */
export interface FaultAction {
	/** `after`: the service has done its work (a task exists) before this happens. Default: before, and the work is not done. */
	when?: 'before' | 'after';
	/** Wait, then go on. */
	delayMs?: number;
	/** Break the connection without any answer. */
	reset?: boolean;
	status?: number;
	headers?: Record<string, string>;
	/** An object is sent as JSON, a string as it is. Without it, the usual words for the status. */
	body?: unknown;
	/** The usual words for the status as a proxy's HTML page. */
	html?: boolean;
	/** The error body, of the four that carry the usual words. */
	shape?: ErrorShape;
	/** Sent as `Retry-After` in seconds. */
	retryAfterSeconds?: number;
	/** Sent as `Retry-After` as an HTTP date, this many seconds from now. */
	retryAfterDateSeconds?: number;
	/** Sent as `x-ratelimit-reset` in Unix seconds, this many seconds from now. */
	resetSeconds?: number;
	/** `text`: half of the body as if it were whole. `connection`: the connection breaks in the middle. */
	truncate?: 'text' | 'connection';
	/** Merged into the ordinary JSON answer. */
	merge?: Record<string, unknown>;
	/** Names of headers that the ordinary answer loses. */
	dropHeaders?: string[];
	/** Files only: redirect to the same file under another host name. */
	redirect?: boolean;
}

export interface PlannedAnswer {
	action: FaultAction;
	times: number;
}

const STATUS_ANSWER = /^([1-5]\d\d)(json|html)?$/;
/** A proxy in front of the service answers these; their default is its HTML page. */
const PROXY_STATUSES = [502, 504];

const NAMED: Record<string, FaultAction> = {
	ok: {},
	reset: { reset: true },
	html: { status: 200, html: true },
	empty: { status: 200, body: '' },
	success_false: {
		status: 200,
		body: { success: false, message: 'The service could not do that' },
	},
	/** Contract section 7, word for word; the status is not shown there. */
	no_user: { status: 400, body: { success: false, message: 'Failed to get user quota' } },
	query_error: { status: 500, body: { success: false, message: 'Failed to get used quota' } },
	token_failed: { status: 200, body: { success: false, message: '生成令牌失败' } },
	/** Pages and JSON of what stands in front of a service (field notes, In front of the service). */
	'404text': { status: 404, body: '404 page not found' },
	'403proxy': { status: 403, body: { message: 'Forbidden' } },
	no_key_text: { status: 401, body: 'No Authorization header' },
	moved: { status: 308, headers: { location: 'https://moved.example/v1' } },
	/** 200 with an error inside, without an ID (field notes, In front of the service). */
	status_error: { status: 200, body: { status: 'error', message: 'Database is locked, try again' } },
	error_200: { status: 200, body: { error: { code: 'upstream_error', message: 'The upstream is away' } } },
	code_msg: { status: 200, body: { code: 500, msg: 'The channel is busy' } },
	/** The record of another task: a mix-up of a cache. */
	failed_other: {
		merge: { id: 'task_of_another', status: 'failed', error: { code: 'generation_failed', message: 'Not yours' } },
	},
	done_other: { merge: { id: 'task_of_another', status: 'completed', url: 'http://127.0.0.1:9/not-yours.png' } },
	/** A service of this family puts its own codes beside statuses of others (field notes). */
	no_model: { status: 503, body: { error: { code: 'model_not_found', message: 'No channel for this model' } } },
	no_quota: { status: 403, body: { code: 'quota_not_enough', message: 'The quota of the user is not enough' } },
	many_tasks: {
		status: 429,
		retryAfterSeconds: 5,
		body: { error: { code: 'concurrency_limit', message: 'Too many tasks run at once' } },
	},
	truncated: { truncate: 'text' },
	cut: { truncate: 'connection' },
	redirect: { redirect: true },
	no_type: { dropHeaders: ['content-type'] },
};

/** Reads a list such as `503:1*2,reset!after`; throws an Error that says what is wrong with it. */
export function parseAnswers(text: string): PlannedAnswer[] {
	return text.split(',').map(parseAnswer);
}

function parseAnswer(text: string): PlannedAnswer {
	const match = /^([a-z0-9_]+)(?::([a-z0-9.]+))?(?:~([a-z_]+))?(!after)?(?:\*(\d+|all))?$/.exec(text);
	if (!match) throw new Error(`"${text}" is not an answer of the sandbox`);
	const [, name = '', argument, shapeName, after, times = '1'] = match;
	const action: FaultAction = { ...actionNamed(name, argument, text) };
	if (after) action.when = 'after';
	if (shapeName !== undefined) action.shape = shapeNamed(shapeName);
	return { action, times: times === 'all' ? Infinity : Number(times) };
}

function actionNamed(name: string, argument: string | undefined, text: string): FaultAction {
	if (name === 'slow') {
		const delayMs = parseDurationMs(argument ?? '');
		if (delayMs === undefined) throw new Error(`"${text}" needs a time, as in slow:3s`);
		return { delayMs };
	}
	const named = NAMED[name];
	if (named) return named;
	const [, digits, form] = STATUS_ANSWER.exec(name) ?? [];
	if (digits === undefined) throw new Error(`"${text}" is not an answer of the sandbox`);
	const status = Number(digits);
	const html = form === 'html' || (form === undefined && PROXY_STATUSES.includes(status));
	return { status, html, ...retryAfter(argument, text) };
}

/**
 * `5` is five seconds, `date5` is the HTTP date five seconds from now, `ms5` five milliseconds; `after5` and `reset5` tell the
 * end of the limit, as the seconds until then or as Unix seconds.
 */
function retryAfter(argument: string | undefined, text: string): FaultAction {
	if (argument === undefined) return {};
	const [, form = '', digits] = /^(date|ms|after|reset)?(\d+)$/.exec(argument) ?? [];
	if (digits === undefined) throw new Error(`"${text}": after the colon come seconds, as in 429:5 or 429:date5`);
	const count = Number(digits);
	switch (form) {
		case 'date':
			return { retryAfterDateSeconds: count };
		case 'ms':
			return { headers: { 'retry-after-ms': digits } };
		case 'after':
			return { headers: { 'x-ratelimit-reset-after': digits } };
		case 'reset':
			return { resetSeconds: count };
		default:
			return { retryAfterSeconds: count };
	}
}

export function shapeNamed(name: string): ErrorShape {
	const shape = ERROR_SHAPES.find((known) => known === name);
	if (!shape) throw new Error(`error shape "${name}" is not one of ${ERROR_SHAPES.join(', ')}`);
	return shape;
}

/** The answer for use number `use` (from 0) of a sequence; undefined once it is used up. */
export function answerAt(sequence: PlannedAnswer[], use: number): FaultAction | undefined {
	let before = 0;
	for (const { action, times } of sequence) {
		if (use < before + times) return action;
		before += times;
	}
	return undefined;
}
