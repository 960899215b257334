/** Talks to n8n's editor API, as the editor does: a login cookie and the same browser id all the time. */
import { setTimeout as pause } from 'node:timers/promises';
import { ToolError } from '../report/step.mjs';

/** n8n accepts the login cookie only together with the browser id that it was given for. */
const browserId = 'generation-gateway-tools';
/** A retry is answered when it has ended, and a busy n8n takes its time. */
const requestTimeoutMs = 300_000;
const apiThereWithinMs = 300_000;
const answersWithinMs = 300_000;
/** The answer to a setup of the owner when there is one. */
const ALREADY_SET_UP = 400;

/** The owner of every n8n that the tools start; it listens on this machine only, so the password is no secret. */
export const owner = { email: 'owner@example.com', password: 'Sandbox-2026', firstName: 'Gateway', lastName: 'Owner' };

/** An answer of n8n other than 2xx. */
export class N8nRequestError extends ToolError {
	/**
	 * @param {string} request
	 * @param {number} status
	 * @param {Buffer} body
	 */
	constructor(request, status, body) {
		super(`n8n answered ${request} with ${status}: ${body.toString().slice(0, 500)}`);
		this.status = status;
	}
}

/** n8n has closed the connection instead of an answer: fetch had kept it from an earlier request. */
class ConnectionClosedError extends ToolError {}

const CLOSED = ['ECONNRESET', 'UND_ERR_SOCKET'];

/** @param {number} status */
const hasStatus = (status) => (/** @type {unknown} */ error) =>
	error instanceof N8nRequestError && error.status === status;

/**
 * Asks again as long as it fails in this way.
 *
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(error: unknown) => boolean} mayPass
 * @param {number} withinMs
 */
async function insist(ask, mayPass, withinMs) {
	const deadline = Date.now() + withinMs;
	for (;;) {
		try {
			return await ask();
		} catch (error) {
			if (!mayPass(error) || Date.now() > deadline) throw error;
			await pause(200);
		}
	}
}

/** n8n answers so before it does anything with a request. */
const isNotReady = (/** @type {unknown} */ error) =>
	error instanceof N8nRequestError && error.status === 503 && error.message.includes('Database is not ready');

/** Of a request that changes nothing. A busy n8n is without its database for moments. */
const isPassing = (/** @type {unknown} */ error) => hasStatus(503)(error) || error instanceof ConnectionClosedError;

/** @typedef {ReturnType<typeof createRestClient>} RestClient */

/** @param {string} url of the editor */
export function createRestClient(url) {
	let cookie = '';

	/**
	 * @param {string} method
	 * @param {string} path e.g. /rest/workflows
	 * @param {unknown} [body]
	 */
	async function send(method, path, body) {
		const response = await fetch(`${url}${path}`, {
			method,
			headers: {
				...{ 'browser-id': browserId, 'content-type': 'application/json' },
				...(cookie && { cookie }),
				// n8n may close a connection that was idle at the moment of a request, which cannot be sent again then.
				...(method !== 'GET' && { connection: 'close' }),
			},
			body: body === undefined ? undefined : JSON.stringify(body),
			signal: AbortSignal.timeout(requestTimeoutMs),
		}).catch((error) => {
			const AnswerError = CLOSED.includes(error.cause?.code) ? ConnectionClosedError : ToolError;
			throw new AnswerError(`n8n did not answer ${method} ${path}: ${error.cause ?? error}`);
		});
		const login = response.headers.getSetCookie().find((header) => header.startsWith('n8n-auth='));
		if (login) cookie = login.split(';')[0];
		const content = Buffer.from(await response.arrayBuffer());
		if (!response.ok) throw new N8nRequestError(`${method} ${path}`, response.status, content);
		return content;
	}

	/**
	 * @param {string} method
	 * @param {string} path
	 * @param {unknown} [body]
	 * @returns {Promise<any>} what n8n wraps in `data`
	 */
	async function request(method, path, body) {
		const ask = async () => (await send(method, path, body)).toString();
		const text = await insist(ask, method === 'GET' ? isPassing : isNotReady, answersWithinMs);
		const answer = text ? JSON.parse(text) : undefined;
		return answer && typeof answer === 'object' && 'data' in answer ? answer.data : answer;
	}

	return {
		request,

		/** Sets the owner account up if there is none yet, and logs in. */
		async login() {
			const setUp = () => request('POST', '/rest/owner/setup', owner);
			try {
				// Older versions, such as 2.0, say that they are ready a moment before this API is there.
				return await insist(setUp, hasStatus(404), apiThereWithinMs);
			} catch (error) {
				if (!(error instanceof N8nRequestError && error.status === ALREADY_SET_UP)) throw error;
				return await request('POST', '/rest/login', { emailOrLdapLoginId: owner.email, password: owner.password });
			}
		},

		/**
		 * The events of a request that n8n answers as a stream, such as a chat.
		 *
		 * @param {string} path
		 * @param {unknown} body
		 * @param {AbortSignal} [signal] leaves the chat
		 * @returns {Promise<any[]>}
		 */
		async events(path, body, signal) {
			const headers = { 'browser-id': browserId, 'content-type': 'application/json', cookie };
			const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body), signal });
			const text = await response.text();
			if (!response.ok) throw new N8nRequestError(`POST ${path}`, response.status, Buffer.from(text));
			return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
		},

		/** @param {string} id the `id` of a binary field, in filesystem mode */
		readBinary: (id) => send('GET', `/rest/binary-data?action=download&id=${encodeURIComponent(id)}`),
	};
}
