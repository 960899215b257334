import type { Limit } from '../account/places';
import type { GatewayErrorDetails } from '../errors';
import { entryOf } from '../errors/catalogue';
import { refusesAccess } from '../errors/kinds';
import { isPlainObject } from '../json';
import { parseDate } from '../records/loose';
import { toPlainCode, parseRefusal, reasonOf, refusesOutright, whatWasCreated } from '../records/refusals';
import type { ServiceRefusal } from '../records/refusals';
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
	/^(CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DEC)|ERROR_IN_CERT|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|HOSTNAME_MISMATCH$|ERR_SSL_(WRONG_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS|HTTP_REQUEST|\w*ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE)|\w*UNRECOGNIZED_NAME)|ERR_INVALID_URL|ERR_INVALID_CHAR$|ERR_BLOCKED_BY_N8N$)/;

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
	if (created === undefined && refusesByCode(parseRefusal(body), status)) return 'refused';
	// Something went wrong inside, which does not say that nothing was created; below 500 the status says that.
	const isOpen = created === 'maybe';
	if (status === 429) return isOpen ? 'unknown' : 'tryAgain';
	// A 503 that refuses in the form of the service was written by it, and one that only asks to come back. A proxy, which
	// writes a page or JSON of its own, may have passed the request on before, and given up waiting.
	if (status === 503) {
		const isByService = refusesOutright(body) || (headers['retry-after'] !== undefined && !isPage(response));
		return isByService && !isOpen && !isPassedOn(response) ? 'tryAgain' : 'unknown';
	}
	// 303 leads to what came of a request, so there may have come something of it.
	if (status === 303 || status === 408 || status >= 500 || status < 200) return 'unknown';
	return 'refused'; // 3xx and 4xx
}

/**
 * The code of a refusal says more than its status: some services answer 503 where they do not know the model, of which no
 * task can be made whatever the status. Other codes beside 500 may be those of a task that was accepted.
 */
function refusesByCode({ code }: ServiceRefusal, status: number): boolean {
	const reason = reasonOf({ code }, status);
	const { kind, permanent, ofScope = false } = entryOf(reason) ?? {};
	if (status !== 429 && status !== 503) return ofScope;
	// This one comes with a code that some services send with every status.
	if (kind === undefined || reason === 'requestRejected') return false;
	return refusesAccess({ kind }) || permanent === true;
}

/** Words of what has passed a request on, and got no answer to it: of proxies, and of gateways in Node and Go. */
const PASSED_ON = [
	/time(d)?[ _-]?out|超时|deadline[ _-]?exceeded|context cancell?ed|no response|do[ _]request[ _]failed/i,
	/disconnect|terminat(ed|ion)|broken pipe|socket hang up|other side closed|reset (reason|by|before)|premature/i,
	/(connection|stream)[ _-](was )?(reset|closed|aborted|lost)|(closed|lost) ((the|network) )?connection/i,
	/\b(ECONNRESET|ECONNABORTED|EPIPE|EOF)\b/i,
];

/** True for a no in such words: a service behind may have got the request, and a second one would be paid, too. */
export function isPassedOn(response: HttpResponse): boolean {
	const words = wordsOf(response);
	return PASSED_ON.some((each) => each.test(words));
}

function wordsOf({ body, text }: HttpResponse): string {
	const { code = '', message = '' } = parseRefusal(body);
	return isPlainObject(body) ? `${code} ${message}` : text.slice(0, 1_000);
}

function isPage({ headers, text }: HttpResponse): boolean {
	return /html/i.test(String(headers['content-type'])) || /^\s*</.test(text);
}

/** No wait lasts longer: what a service asks for beyond that is the same. A year. */
const LONGEST_RETRY_AFTER_MS = 365 * 86_400_000;

/**
 * The headers of a limit, which services send with every answer: when it ends, and what is left of it. A suffix tells one
 * limit from another: `x-ratelimit-reset-requests`, `x-ratelimit-remaining-requests`.
 */
const RESET = /^(x-)?rate-?limit-reset(-after)?/;
const resetToLeft = (name: string) => name.replace(RESET, (found) => found.replace(/reset(-after)?$/, 'remaining'));

/** A limit that ends later is not the one of a pause: that of a day may be told beside that of a minute. */
const LATEST_RESET_MS = 3_600_000;

/** The pause that an answer asks for, from now: `Retry-After`, or the end of the limit reached. Undefined: none. */
export function retryAfterMs(
	{ status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
	nowMs: number,
): number | undefined {
	const dateMs = parseDate(headers.date ?? '');
	const serviceNowMs = Number.isNaN(dateMs) ? nowMs : dateMs;
	const read = (name: string) => pauseMs(headers[name]?.trim() ?? '', serviceNowMs);
	const exactMs = /^\s*\d+(\.\d+)?\s*$/.test(headers['retry-after-ms'] ?? '') ? Number(headers['retry-after-ms']) : NaN;
	const [askedMs] = [exactMs, read('retry-after')].filter((ms) => !Number.isNaN(ms));
	if (askedMs !== undefined) return Math.min(LONGEST_RETRY_AFTER_MS, askedMs);
	// A limit of which something is left is not the one that was reached.
	const reached = Object.keys(headers).filter((name) => RESET.test(name) && !(Number(headers[resetToLeft(name)]) > 0));
	const pauses = (names: string[]) => names.map(read).filter((ms) => ms <= LATEST_RESET_MS);
	// A pause is clearer than a time.
	const [after] = pauses(reached.filter((name) => name.includes('reset-after')));
	const resets = after === undefined ? pauses(reached) : [after];
	return status !== 429 || resets.length === 0 ? undefined : Math.max(...resets);
}

/** More seconds than this are a time in Unix seconds, and more than that one in milliseconds: no pause takes 30 years. */
const [FIRST_UNIX_SECONDS, FIRST_UNIX_MS] = [1e9, 1e11];
const SECONDS_IN: Record<string, number> = { h: 3_600, m: 60, s: 1, ms: 0.001 };

/** A pause as headers write it: seconds, a span such as `1m30s`, or its end by the service's clock. NaN for others. */
function pauseMs(value: string, serviceNowMs: number): number {
	if (/^(\d+(\.\d+)?(ms|[hms]))+$/.test(value)) {
		const parts = [...value.matchAll(/([\d.]+)([a-z]+)/g)];
		return parts.reduce((ms, [, count, unit = '']) => ms + Number(count) * (SECONDS_IN[unit] ?? 0) * 1000, 0);
	}
	const isNumber = /^\d+(\.\d+)?$/.test(value);
	const number = Number(value);
	if (isNumber && number < FIRST_UNIX_SECONDS) return number * 1000;
	const endMs = isNumber ? number * (number < FIRST_UNIX_MS ? 1000 : 1) : parseDate(value);
	return Math.max(0, endMs - serviceNowMs);
}

const AT_ONCE =
	/concurren|parallel|simultan|at (once|the same time|a time)|in[ _-]?flight|(running|active|unfinished|pending|ongoing|queued)[ _-](task|job|generation|request)|queue (is )?full|queue_full|并发|同时|排队/i;
const IN_A_TIME =
	/(per|a|each|every|one)[ _-](second|sec|minute|min|hour|day)|short (time|period)|\/ ?(s|sec|second|m|min|minute|h|hour)\b|(^|[^a-z])(rpm|rps|rph|rpd|qps|qpm|tpm)([^a-z]|$)|frequen|request[ _-]rate|too (fast|quickly|often)|每(秒|分|小时|天)|频率|频繁/i;
const TASKS =
	/(too many|maximum|max|limit|number)[ _-]((number|amount|limit)[ _-])?(of[ _-])?(\d+[ _-])?(task|job|generation)|(task|job|generation)s?[ _-](limit|count)|(task|job|generation)s? (\w+ )?(running|active|in progress|in the queue)|任务数|进行中/i;

/** The limit that the code or the words of a 429 name; undefined where they say no more than that there is too much. */
export function limitOf(details: Pick<GatewayErrorDetails, 'serviceCode' | 'serviceMessage'>): Limit | undefined {
	const { serviceCode = '', serviceMessage = '' } = details;
	const said = `${toPlainCode(serviceCode)} ${serviceMessage}`;
	if (AT_ONCE.test(said)) return 'tasks';
	if (IN_A_TIME.test(said)) return 'requests';
	return TASKS.test(said) ? 'tasks' : undefined;
}

const LONGEST_PAUSE_MS = 30_000;

/** Exponential with full jitter in the upper half: attempt 1 waits 0.5 to 1 s, then doubling up to the longest. */
export function backoffMs(attempt: number, random: () => number): number {
	const ceiling = Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** (attempt - 1));
	return ceiling * (0.5 + random() / 2);
}
