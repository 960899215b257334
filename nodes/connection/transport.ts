import {
	sleep,
	type IAllExecuteFunctions,
	type IDataObject,
	type IExecuteFunctions,
	type IHttpRequestOptions,
	type IN8nHttpFullResponse,
	type IPollFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { linkSignal, onAbort } from '../../core/abort';
import type { Clock } from '../../core/clock';
import { ConnectionError, NotSentError, type HttpRequest, type HttpResponse, type Send } from '../../core/http/types';
import { postOutcomeOfConnection } from '../../core/http/retry';

export const CREDENTIAL = 'generationGatewayApi';

/** Where requests can be made from: a node that runs, one that polls, one that was called. */
export type GatewayContext = IExecuteFunctions | IPollFunctions | IWebhookFunctions;

/** Real time. A sleep ends early when the signal aborts. */
export const realClock: Clock = {
	now: () => Date.now(),
	random: () => Math.random(),
	sleep: async (delayMs, signal, atMostMs = Infinity) => {
		if (signal?.aborted || delayMs <= 0) return;
		const own = linkSignal(signal);
		const aborted = new Promise<void>((resolve) => onAbort(own.signal, resolve));
		// Newer versions of n8n end the timer itself on abort (by a rejection); older ones take no signal.
		await Promise.race([sleep(Math.min(delayMs, atMostMs), own.signal).catch(() => {}), aborted]);
		own.release();
	},
};

/** Sends through n8n's own helper, which adds the key, the proxy settings and the time limits of the instance. */
export function createSend(context: GatewayContext): Send {
	// n8n cuts off every authenticated request when the user stops the execution. A request whose answer may
	// carry a paid task's id is made with a `this` that has no cancel signal, so that it may finish.
	const detached = {
		helpers: context.helpers,
		logger: context.logger,
		getNode: () => context.getNode(),
		getCredentials: async (name: string) => await context.getCredentials(name),
	} as unknown as IAllExecuteFunctions;

	return async (request) => {
		const self = request.mustFinish ? detached : context;
		const n8nRequest = beforeSending(() => toN8nRequest(request));
		let response: IN8nHttpFullResponse;
		try {
			response = (await context.helpers.httpRequestWithAuthentication.call(self, CREDENTIAL, n8nRequest)) as IN8nHttpFullResponse;
		} catch (thrown) {
			throw asConnectionError(thrown);
		}
		return toResponse(response.statusCode, response.headers, response.body);
	};
}

/** Some services quote the key they refuse: it is taken out of every answer before anything else sees it. */
export function hidingKey(send: Send, apiKey: string): Send {
	if (apiKey.length < 8) return send;
	const key = new RegExp([...apiKey].map(waysToWrite).join(''), 'g');
	return async (request) => {
		const response = await send(request);
		return { ...response, text: response.text.replace(key, '[API key]') };
	};
}

/** A character as it is, and as JSON and addresses may escape it, as a regular expression. */
function waysToWrite(character: string): string {
	const literal = character.replace(/[^\w\s]/g, '\\$&');
	const inJson = [...Array(character.length).keys()].map((index) => `\\\\u${hex(character.charCodeAt(index), 4)}`).join('');
	const inAddress = [...new TextEncoder().encode(character)].map((byte) => `%${hex(byte, 2)}`).join('');
	const quoted = /["\\/]/.test(character) ? [`\\\\${literal}`] : [];
	return `(?:${[...quoted, literal, inJson, inAddress].join('|')})`;
}

function hex(code: number, length: number): string {
	return code.toString(16).padStart(length, '0').replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function toN8nRequest(request: HttpRequest): IHttpRequestOptions {
	// n8n leaves out an object without fields, but JSON is what the service expects.
	const isEmpty = request.body !== undefined && Object.keys(request.body).length === 0;
	return {
		method: request.method,
		url: request.url,
		qs: request.query,
		body: request.file ? toFormData(request.file) : isEmpty ? '{}' : (request.body as IDataObject | undefined),
		// JSON is read by the core: what comes is not always what it should be.
		encoding: 'text',
		headers: { Accept: 'application/json', ...(isEmpty ? { 'Content-Type': 'application/json' } : {}) },
		timeout: request.timeoutMs,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		// n8n would send the key along to another host.
		disableFollowRedirect: true,
	};
}

function toFormData(file: NonNullable<HttpRequest['file']>): FormData {
	const form = new FormData();
	form.append(file.field, new Blob([file.bytes], { type: file.mimeType }), file.fileName);
	return form;
}

export function toResponse(status: number, headers: object, body: unknown): HttpResponse {
	return {
		status,
		headers: Object.fromEntries(
			Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
		),
		text: typeof body === 'string' ? body : JSON.stringify(body ?? ''),
	};
}

/** What goes wrong here has sent nothing. */
function beforeSending<T>(prepare: () => T): T {
	try {
		return prepare();
	} catch (thrown) {
		throw NotSentError.from(thrown);
	}
}

export function asConnectionError(thrown: unknown): ConnectionError {
	return new ConnectionError(connectionCode(thrown));
}

/** Node's code of a connection that gave no answer. */
export function connectionCode(thrown: unknown): string {
	const errors = unwrapErrors(thrown);
	const codes = errors.flatMap(({ code, httpCode }) => [code, httpCode]);
	const code = codes.find((value): value is string => typeof value === 'string' && /^[A-Z][A-Z0-9_]+$/.test(value)) ?? 'UNKNOWN';
	const syscall = errors.map((error) => error.syscall).find((value) => value !== undefined);
	// A time-out while connecting means that nothing was ever sent.
	if (code === 'ETIMEDOUT' && syscall === 'connect') return 'EHOSTUNREACH';
	// A network that goes away has the same codes, but the request may have gone through before.
	const wasConnected = syscall === 'read' || syscall === 'write';
	return wasConnected && postOutcomeOfConnection(code) === 'tryAgain' ? 'ECONNRESET' : code;
}

/** The error and those inside it: n8n and its HTTP client wrap what Node reports in errors of their own. */
function unwrapErrors(thrown: unknown, depth = 0): Array<Record<string, unknown>> {
	if (typeof thrown !== 'object' || thrown === null || depth > 4) return [];
	const error = thrown as Record<string, unknown>;
	return [error, ...unwrapErrors(error.cause, depth + 1), ...unwrapErrors(error.errorResponse, depth + 1)];
}
