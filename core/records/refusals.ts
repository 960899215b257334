import { z } from 'zod';
import { isPlainObject } from '../json';
import { entryOf, type PlainReason } from '../errors/catalogue';
import type { Created } from '../errors/entry';
import { beginningOf } from '../text';

/** The words of a refusal: every error body that the contract (section 7) and the field notes know. */
export interface ServiceRefusal {
	code?: string;
	message?: string;
}

/** A value of another type counts as absent: the other words of the same body stay. */
const words = z.string().optional().catch(undefined);
const code = z.union([z.string(), z.number()]).optional().catch(undefined);

const errorObject = z.object({ code, message: words, type: words });

const refusalBody = z.object({
	message: words,
	code,
	fail_reason: words,
	error: z.preprocess(
		(error) => (typeof error === 'string' ? { message: error } : error),
		errorObject.optional().catch(undefined),
	),
});

/** The service's words in an answer: `{message}`, `{error: "…"}` or `{error: {code, message, type}}`. */
export function parseRefusal(body: unknown): ServiceRefusal {
	const { error, message, code: outerCode, fail_reason: failReason } = refusalBody.safeParse(body).data ?? {};
	const said = [error?.message, failReason, message].find((text) => text && !SUCCESS.test(text));
	const codes = [error?.code, error?.type, outerCode].map(toText).filter((text) => text !== '' && !SUCCESS.test(text));
	return {
		// `type` says more than a numeric code such as 401
		code: codes.find((text) => !/^\d+$/.test(text)) ?? codes[0],
		message: said && beginningOf(said.replace(API_KEY, 'sk-…'), LONGEST_MESSAGE),
	};
}

/** The words of an envelope around a failure: the request itself has succeeded. */
const SUCCESS = /^(success|succeeded|ok|0|200)$/i;

/** Errors and orders keep these words: an answer may have megabytes of them. */
const LONGEST_MESSAGE = 2000;
const LONGEST_CODE = 100;

/** Services quote the key they refuse (`sk-` and 48 characters, contract 5); it must not be shown or logged. */
const API_KEY = /\bsk-[\w-]{8,}/g;

/** True for a 2xx answer whose body says that the request did not succeed. */
export function saysNoSuccess(body: unknown): boolean {
	return isPlainObject(body) && body.success === false;
}

/** True for the answer of a service that says no. Proxies write JSON, too, such as `{message}`, or the name of a status. */
export function refusesOutright(body: unknown): boolean {
	if (!isPlainObject(body)) return false;
	const { error } = body;
	const isSaid = typeof error === 'string' && !STATUS_NAME.test(error);
	return isPlainObject(error) || isSaid || saysNoSuccess(body);
}

/** The name of HTTP 503, as proxies put it into a field, or nothing. */
const STATUS_NAME = /^(service (temporarily )?unavailable)?$/i;

function toText(value: string | number = ''): string {
	return beginningOf(String(value).trim(), LONGEST_CODE);
}

interface Meaning {
	reason: PlainReason;
	code?: RegExp;
	/** A message of the contract (5.3, 5.4, 7). */
	words?: string;
	status?: number;
	/** With this status the code means something else. */
	notWith?: number;
	/** The code says no more than that something is wrong: some services send it with every status. */
	isGeneric?: true;
}

/** In order: the first row that the code or the message fits decides, and the status where none does or its code is generic. */
const MEANINGS: Meaning[] = [
	{ words: 'No Authorization header', reason: 'noKeySent' },
	{
		words: 'Authentication failed',
		code: /^(unauthorized|authentication_error|invalid_api_key)$/i,
		status: 401,
		reason: 'keyRefused',
	},
	{
		code: /insufficient_(user_)?(quota|balance|credits)|pre_consume_token_quota_failed/i,
		status: 402,
		reason: 'balanceTooLow',
	},
	// With a 429 it is the quota of a minute.
	{ code: /quota_exceeded/i, notWith: 429, reason: 'balanceTooLow' },
	{ code: /(quota|balance|credits?)_(is_)?not_enough/i, reason: 'balanceTooLow' },
	{
		code: /^(model_(does_)?not_(found|exists?|available)|unknown_model|no_available_channel)$/i,
		reason: 'modelNotFound',
	},
	{ code: /content_policy|moderation|safety/i, reason: 'contentDeclined' },
	{ words: '令牌名称过长', reason: 'tokenNameRefused' },
	{ words: '生成令牌失败', reason: 'tokenNotCreated' },
	{ words: 'Failed to get user quota', reason: 'userUnknown' },
	{ words: 'Failed to get used quota', reason: 'usedBalanceUnknown' },
	{ code: /task_not_(found|exist)/i, status: 404, reason: 'notFound' },
	{ code: /rate_limit/i, status: 429, reason: 'rateLimited' },
	{ status: 403, reason: 'keyNotAllowed' },
	{ status: 413, reason: 'requestTooLarge' },
	{ code: /^invalid_request/i, status: 400, reason: 'requestRejected', isGeneric: true },
	{ code: /internal_error|generation_failed/i, reason: 'requestNotProcessed', isGeneric: true },
];

/** The reason that a refusal gives; the same for answers and for a task's own error (contract 3.1 `failed`). */
export function reasonOf(refusal: ServiceRefusal, status?: number): PlainReason | undefined {
	const said = refusal.message?.trim().toLowerCase();
	const fits = ({ code, words, notWith = NaN }: Meaning) =>
		(code !== undefined && refusal.code !== undefined && code.test(refusal.code) && status !== notWith) ||
		(words !== undefined && words.toLowerCase() === said);
	const isOfStatus = (meaning: Meaning) => status !== undefined && meaning.status === status;
	const exact = MEANINGS.filter((row) => !row.isGeneric);
	return (exact.find(fits) ?? exact.find(isOfStatus) ?? MEANINGS.find(fits) ?? MEANINGS.find(isOfStatus))?.reason;
}

/**
 * Says if a creating request has created nothing, or may have, where the body of a refusal says so in the very words of
 * the contract. It has to refuse outright, by `success: false` or an `error`: anything else is any text. The contract shows
 * no status codes, so the words count whatever the status.
 */
export function whatWasCreated(body: unknown): Created | undefined {
	const said = refusesOutright(body) ? parseRefusal(body).message : undefined;
	return entryOf(MEANINGS.find(({ words }) => words !== undefined && words === said)?.reason)?.created;
}
