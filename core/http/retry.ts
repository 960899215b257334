import { parseDate } from '../records/loose';
import { refusesOutright, whatWasCreated } from '../records/refusals';
import type { HttpResponse } from './types';

/**
 * The rule about sending creating requests again, as pure functions on one page.
 *
 * A creating POST is sent again only when the service surely did not accept it. Everything else that leaves the outcome
 * open (a timeout, a reset, 303, 408, 500, 502, 504, a 503 that a proxy wrote) is reported as unknown.
 */
export type PostOutcome =
	| 'answered' // 2xx: look into the body
	| 'refused' // surely not accepted, and the same request would be refused again
	| 'tryAgain' // surely not accepted, and worth another try
	| 'unknown';

/** The connection was never made, so nothing can have been accepted. */
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN']);

/** Code of an address to which n8n does not let nodes send requests (`N8N_SSRF_PROTECTION_ENABLED`). */
export const BLOCKED_BY_N8N = 'ERR_BLOCKED_BY_N8N';

/**
 * The two sides did not agree on a secure connection, or Node or n8n refused the URL or a header, before anything was sent:
 * never accepted, and it will not get better by itself. Other codes that begin with ERR_SSL also end a connection that has carried the request.
 */
const NOT_SECURED =
	/^(CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ERR_SSL_(WRONG_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS|HTTP_REQUEST|\w*ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE)|\w*UNRECOGNIZED_NAME)|ERR_INVALID_URL|ERR_INVALID_CHAR$|ERR_BLOCKED_BY_N8N$)/;

export function postOutcomeOfConnection(code: string): Exclude<PostOutcome, 'answered'> {
	if (NEVER_CONNECTED.has(code)) return 'tryAgain';
	return NOT_SECURED.test(code) ? 'refused' : 'unknown';
}

/** Of a creating request only. A read is repeated after each `isTransientStatus`, and polls go on (`waitForTask.ts`). */
export function postOutcomeOfAnswer(response: HttpResponse): PostOutcome {
	const { status, headers, body } = response;
	if (status >= 200 && status < 300) return 'answered';
	const created = whatWasCreated(body);
	if (created === 'nothing') return 'refused';
	// Something went wrong inside, which does not say that nothing was created; below 500 the status says that.
	const isOpen = created === 'maybe';
	if (status === 429) return isOpen ? 'unknown' : 'tryAgain';
	// A 503 that refuses in the form of the service was written by it, and one that only asks to come back. A proxy, which
	// writes a page or JSON of its own, may have passed the request on before, and given up waiting.
	if (status === 503) {
		const isByService = refusesOutright(body) || (headers['retry-after'] !== undefined && !isPage(response));
		return isByService && !isOpen ? 'tryAgain' : 'unknown';
	}
	// 303 leads to what came of a request, so there may have come something of it.
	if (status === 303 || status === 408 || status >= 500 || status < 200) return 'unknown';
	return 'refused'; // 3xx and 4xx
}

function isPage({ headers, text }: HttpResponse): boolean {
	return /html/i.test(String(headers['content-type'])) || /^\s*</.test(text);
}

/** No wait lasts longer: what a service asks for beyond that is the same. A year. */
const LONGEST_RETRY_AFTER_MS = 365 * 86_400_000;

/**
 * `Retry-After` in milliseconds from now: seconds, or an HTTP date by the clock of the service, which the answer may tell;
 * undefined when absent or unreadable.
 */
export function retryAfterMs({ headers }: Pick<HttpResponse, 'headers'>, nowMs: number): number | undefined {
	const value = headers['retry-after']?.trim();
	if (!value) return undefined;
	const serviceNowMs = parseDate(headers.date ?? '');
	const askedMs = /^\d+(\.\d+)?$/.test(value)
		? Number(value) * 1000
		: parseDate(value) - (Number.isNaN(serviceNowMs) ? nowMs : serviceNowMs);
	return Number.isNaN(askedMs) ? undefined : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, askedMs));
}

const LONGEST_PAUSE_MS = 30_000;

/** Exponential with full jitter in the upper half: attempt 1 waits 0.5 to 1 s, then doubling up to the longest. */
export function backoffMs(attempt: number, random: () => number): number {
	const ceiling = Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** (attempt - 1));
	return ceiling * (0.5 + random() / 2);
}
