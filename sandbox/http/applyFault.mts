import type { FaultAction } from '../faults/answers.mts';
import { bytesAnswer, cutInTheMiddle, htmlPage, jsonAnswer, textAnswer, type Answer } from './answer.mts';
import { errorBody, wordsFor, type ErrorShape } from './refusal.mts';

/** Applies a fault to an answer; the pipeline does `reset` and delays. */

/** True when the fault answers by itself, so that the ordinary answer is not needed. */
export function answersItself(action: FaultAction): boolean {
	return action.reset === true || action.status !== undefined || action.body !== undefined || action.redirect === true;
}

/** The answer that replaces the ordinary one. `mirrorUrl` is the same path under another host name. */
export function replacement(
	action: FaultAction,
	defaultShape: ErrorShape | undefined,
	now: number,
	mirrorUrl: string,
): Answer {
	if (action.redirect) return textAnswer('', action.status ?? 302, { location: mirrorUrl });
	const status = action.status ?? 200;
	const answer = withoutExtras(action, status, defaultShape);
	return {
		...answer,
		headers: { ...answer.headers, ...retryAfter(action, now), ...action.headers },
	};
}

function withoutExtras(action: FaultAction, status: number, defaultShape: ErrorShape | undefined): Answer {
	const { message, code } = wordsFor(status);
	if (action.html) return htmlPage(status, status === 200 ? 'Welcome' : message);
	if (typeof action.body === 'string') {
		const isText = /^\w/.test(action.body);
		const type = isText ? 'text/plain' : action.body.startsWith('<') ? 'text/html' : 'application/json';
		return textAnswer(action.body, status, { 'content-type': type });
	}
	if (action.body !== undefined) return jsonAnswer(action.body, status);
	// The contract shows the whole body of a 401, and it has no code.
	const shownCode = status === 401 ? undefined : code;
	return jsonAnswer(errorBody(status, message, shownCode, action.shape ?? defaultShape), status);
}

function retryAfter(action: FaultAction, now: number): Record<string, string> {
	if (action.retryAfterSeconds !== undefined) return { 'retry-after': String(action.retryAfterSeconds) };
	if (action.resetSeconds !== undefined)
		return { 'x-ratelimit-reset': String(Math.ceil(now / 1_000 + action.resetSeconds)) };
	if (action.retryAfterDateSeconds === undefined) return {};
	return { 'retry-after': new Date(now + action.retryAfterDateSeconds * 1_000).toUTCString() };
}

/** The ordinary answer, changed. */
export function distort(answer: Answer, action: FaultAction): Answer {
	let changed = answer;
	if (action.merge && Buffer.isBuffer(changed.body)) {
		const ordinary: unknown = JSON.parse(changed.body.toString('utf8'));
		changed = jsonAnswer(Object.assign({}, ordinary, action.merge), changed.status, changed.headers);
	}
	if (action.dropHeaders) {
		const dropped = action.dropHeaders.map((name) => name.toLowerCase());
		const kept = Object.entries(changed.headers).filter(([name]) => !dropped.includes(name));
		changed = { ...changed, headers: Object.fromEntries(kept) };
	}
	if (action.truncate === 'text' && Buffer.isBuffer(changed.body)) {
		changed = bytesAnswer(changed.body.subarray(0, Math.floor(changed.length / 2)), changed.headers, changed.status);
	}
	return action.truncate === 'connection' ? cutInTheMiddle(changed) : changed;
}
