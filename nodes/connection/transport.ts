import {
	sleep,
	type IAllExecuteFunctions,
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type IExecuteFunctions,
	type IHttpRequestOptions,
	type IN8nHttpFullResponse,
	type INode,
	type IPollFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import type { Clock } from '../../core/clock';
import { breakAfter, readAnswer } from '../../core/http/readAnswer';
import {
	ConnectionError,
	NotSentError,
	type AnswerText,
	type HttpAnswer,
	type HttpRequest,
	type Send,
} from '../../core/http/types';
import { BLOCKED_BY_N8N, postOutcomeOfConnection } from '../../core/http/retry';
import { name, version } from '../../package.json';

export const CREDENTIAL = 'generationGatewayApi';

/** The ID of the node's credential; empty where it has none. */
export const credentialIdOf = ({ credentials }: Pick<INode, 'credentials'>): string =>
	credentials?.[CREDENTIAL]?.id ?? '';

/** The contexts that can send requests: a node that runs, one that polls, one that was called. */
export type GatewayContext = IExecuteFunctions | IPollFunctions | IWebhookFunctions;

/**
 * The headers of every request to the service. Its operator sees which client sends it, in which version; file hosts do
 * not. The build leaves a small package.json in dist for it.
 */
export const HEADERS = { Accept: 'application/json', 'User-Agent': `${name}/${version}` };

/** The longest silence between two bytes, in milliseconds. */
const LONGEST_SILENCE_MS = 300_000;

/** The longest timer, in milliseconds. One of more than 24.8 days would end at once. */
const LONGEST_TIMER_MS = 60_000;

/** Real time. A sleep ends early when the signal aborts. */
export const realClock: Clock = {
	now: () => Date.now(),
	elapsed: () => performance.now(),
	random: () => Math.random(),
	sleep: async (delayMs, signal, atMostMs = Infinity) => {
		const own = new AbortController();
		let forget = () => {};
		const aborted = new Promise<void>((resolve) => {
			forget = onAbort(signal, () => {
				own.abort();
				resolve();
			});
		});
		// Newer versions of n8n end the timer itself on abort (by a rejection); older ones take no signal.
		const endsAtMs = performance.now() + Math.min(delayMs, atMostMs);
		for (let leftMs = endsAtMs - performance.now(); leftMs > 0 && !own.signal.aborted; ) {
			await Promise.race([sleep(Math.min(leftMs, LONGEST_TIMER_MS), own.signal).catch(() => {}), aborted]);
			// A timer may end a little early; what is left is not worth another one.
			leftMs = Math.floor(endsAtMs - performance.now());
		}
		forget();
	},
};

/**
 * Sends through n8n's own helper, which adds the key, the proxy settings and the time limits of the instance.
 *
 * @param credential as n8n has read it: it would read it from its database before each request, which takes time just when
 * the request has got its turn
 */
export function createSend(context: GatewayContext, credential: ICredentialDataDecryptedObject): Send {
	const stopped = 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;

	return async (request) => {
		let n8nRequest: IHttpRequestOptions;
		try {
			n8nRequest = toN8nRequest(request);
		} catch (thrown) {
			throw NotSentError.from(thrown);
		}
		const { mustFinish, timeoutMs } = request;
		return await answerWithin({ timeoutMs, stopped: mustFinish ? undefined : stopped }, async (abortSignal) => {
			return await requestWithKey(context, credential, { ...n8nRequest, abortSignal });
		});
	};
}

/** Sends one request with the key of this credential. Only for addresses at the origin of its Base URL. */
export async function requestWithKey(
	context: GatewayContext,
	credential: ICredentialDataDecryptedObject,
	options: IHttpRequestOptions,
): Promise<IN8nHttpFullResponse> {
	// n8n cuts off every authenticated request when the user stops the execution, by a signal that takes the place of
	// ours. A `this` that has none leaves it to us: a request whose answer may carry a paid task's id may finish.
	const detached = {
		helpers: context.helpers,
		logger: context.logger,
		getNode: () => context.getNode(),
		getCredentials: async () => credential,
	} as unknown as IAllExecuteFunctions;
	const send = context.helpers.httpRequestWithAuthentication;
	return (await send.call(detached, CREDENTIAL, options)) as IN8nHttpFullResponse;
}

/**
 * Reads the answer as a stream. It ends in time, also when it comes a byte at a time: n8n's own time limit is about
 * silence only. Throws a `ConnectionError` where there is no answer.
 *
 * @param send is given the signal that ends the request, and resolves as soon as the answer begins
 */
export async function answerWithin(
	{ timeoutMs, stopped }: Pick<HttpRequest, 'timeoutMs'> & { stopped?: AbortSignal },
	send: (abortSignal: AbortSignal) => Promise<Pick<IN8nHttpFullResponse, 'statusCode' | 'headers' | 'body'>>,
): Promise<HttpAnswer> {
	const own = new AbortController();
	const end = () => own.abort();
	const release = onAbort(stopped, end);
	const deadline = AbortSignal.timeout(timeoutMs);
	deadline.addEventListener('abort', end);
	const toCode = (thrown: unknown) => (deadline.aborted ? 'ETIMEDOUT' : connectionCode(thrown));
	const toError = (thrown: unknown) => new ConnectionError(toCode(thrown));
	try {
		const { statusCode, headers, body } = await send(own.signal);
		const answer = await toText(body, own.signal, async (stream) => await readAnswer(stream, toCode));
		await breakAfter(answer, realClock);
		// An answer that is not read to its end keeps the connection open, and the service sending: only the signal ends it.
		if (answer.cutOff !== undefined) end();
		return { status: statusCode, headers: toHeaders(headers), ...answer };
	} catch (thrown) {
		const error = toError(thrown);
		end();
		throw error;
	} finally {
		deadline.removeEventListener('abort', end);
		release();
	}
}

/** Removes the key from every answer before anything else sees it: some services quote the key that they refuse. */
export function hidingKey(send: Send, apiKey: string): Send {
	const hide = keyHider(apiKey);
	return async (request) => {
		const { headers, text, ...answer } = await send(request);
		return { ...answer, headers: toHeaders(headers, hide), text: hide(text) };
	};
}

/** A shorter one might be any word. */
const SHORTEST_KEY = 8;

/** Removes the key from a text of the service, also without its `sk-`, as services store it (contract 5.2). */
export function keyHider(apiKey: string): (text: string) => string {
	if (apiKey.length < SHORTEST_KEY) return (text) => text;
	const prefix = apiKey.startsWith('sk-') ? 'sk-' : '';
	const bare = apiKey.slice(prefix.length);
	const optional = bare.length < SHORTEST_KEY ? '' : '?';
	const key = new RegExp(`(?:${toPattern(prefix)})${optional}${toPattern(bare)}`, 'g');
	return (text) => text.replace(key, '[API key]');
}

const toPattern = (text: string) => [...text].map(waysToWrite).join('');

/** A regular expression for a character, plain or as JSON and addresses may escape it. */
function waysToWrite(character: string): string {
	const escape = /["\\/]/.test(character) ? '\\\\?' : '';
	const literal = `${escape}${character.replace(/[^\w\s]/g, '\\$&')}`;
	const inJson = [...Array(character.length).keys()]
		.map((index) => `\\\\u${hex(character.charCodeAt(index), 4)}`)
		.join('');
	const inAddress = [...new TextEncoder().encode(character)].map((byte) => `%${hex(byte, 2)}`).join('');
	return `(?:${[literal, inJson, inAddress].join('|')})`;
}

function hex(code: number, length: number): string {
	return code
		.toString(16)
		.padStart(length, '0')
		.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
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
		encoding: 'stream',
		headers: { ...HEADERS, ...(isEmpty ? { 'Content-Type': 'application/json' } : {}) },
		timeout: Math.min(request.timeoutMs, LONGEST_SILENCE_MS),
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		// n8n would send the key along to another host.
		disableFollowRedirect: true,
	};
}

function toFormData(file: NonNullable<HttpRequest['file']>): FormData {
	const form = new FormData();
	for (const [name, value] of Object.entries(file.fields ?? {})) form.append(name, value);
	form.append(file.field, new Blob([file.bytes], { type: file.mimeType }), file.fileName);
	return form;
}

/** The headers of an answer by their names in small letters. */
export function toHeaders(headers: object, hide = (text: string) => text): Record<string, string> {
	return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), hide(String(value))]));
}

type AnswerStream = AsyncIterable<Uint8Array> & { destroy?: (error: Error) => void };

async function toText(
	body: unknown,
	signal: AbortSignal,
	read: (stream: AnswerStream) => Promise<AnswerText>,
): Promise<AnswerText> {
	const isStream = typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
	if (!isStream) return { text: typeof body === 'string' ? body : JSON.stringify(body ?? '') };
	const stream = body as AnswerStream;
	const release = onAbort(signal, () => stream.destroy?.(new ConnectionError('ECONNABORTED')));
	try {
		return await read(stream);
	} finally {
		release();
	}
}

/** Node's code of a connection that gave no answer. */
export function connectionCode(thrown: unknown): string {
	const errors = unwrapErrors(thrown);
	if (errors.some(({ name }) => typeof name === 'string' && name.startsWith('SsrfBlocked'))) return BLOCKED_BY_N8N;
	const codes = errors.flatMap(({ code, httpCode }) => [code, httpCode]);
	const code =
		codes.find((value): value is string => typeof value === 'string' && /^[A-Z][A-Z0-9_]+$/.test(value)) ?? 'UNKNOWN';
	if (code === 'EPROTO') return tlsCode(errors) ?? code;
	const syscall = errors.map((error) => error.syscall).find((value) => value !== undefined);
	// A time-out while connecting means that nothing was ever sent.
	if (code === 'ETIMEDOUT' && syscall === 'connect') return 'EHOSTUNREACH';
	// A network that goes away has the same codes, but the request may have gone through before.
	const wasConnected = syscall === 'read' || syscall === 'write';
	return wasConnected && postOutcomeOfConnection(code) === 'tryAgain' ? 'ECONNRESET' : code;
}

/** The code that newer versions of Node have for what OpenSSL says; older ones have it in the message only. */
function tlsCode(errors: Array<Record<string, unknown>>): string | undefined {
	const reason = errors
		.map(({ message }) => /:SSL routines:[^:]*:([^:]+):/.exec(String(message))?.[1])
		.find((found) => found !== undefined);
	return reason && `ERR_SSL_${reason.toUpperCase().replace(/\W+/g, '_')}`;
}

const MOST_ADDRESSES = 10;

/** The error and those inside it: n8n and its HTTP client wrap what Node reports in errors of their own. */
function unwrapErrors(thrown: unknown, depth = 0): Array<Record<string, unknown>> {
	if (typeof thrown !== 'object' || thrown === null || depth > 4) return [];
	const error = thrown as Record<string, unknown>;
	// Node tries the addresses of a host in turn: each has an error of its own.
	const ofAddresses = Array.isArray(error.errors) ? error.errors.slice(0, MOST_ADDRESSES) : [];
	return [
		error,
		...[error.cause, error.errorResponse, ...ofAddresses].flatMap((each) => unwrapErrors(each, depth + 1)),
	];
}
