import { z } from 'zod';
import { isPlainObject } from '../json';
import { rowOf, type PlainReason } from '../errors/catalogue';
import type { Created } from '../errors/row';
import { beginningOf } from '../text';

/** The words of a refusal: every error body that the contract (section 7) and the field notes know. */
export interface ServiceRefusal {
	code?: string;
	message?: string;
}

const errorObject = z
	.object({
		code: z.union([z.string(), z.number()]).nullish(),
		message: z.string().nullish(),
		type: z.string().nullish(),
	})
	.passthrough();

const refusalBody = z
	.object({
		success: z.boolean().nullish(),
		message: z.string().nullish(),
		code: z.union([z.string(), z.number()]).nullish(),
		fail_reason: z.string().nullish(),
		error: z.union([errorObject, z.string()]).nullish(),
	})
	.passthrough();

/** The service's words in an answer: `{message}`, `{error: "…"}` or `{error: {code, message, type}}`. */
export function parseRefusal(body: unknown): ServiceRefusal {
	const parsed = refusalBody.safeParse(body);
	if (!parsed.success) return {};
	const { error: given, message, code, fail_reason: failReason } = parsed.data;
	const error: z.infer<typeof errorObject> | null | undefined = typeof given === 'string' ? { message: given } : given;
	const words = error?.message || failReason || message || undefined;
	return {
		// `type` says more than a numeric code such as 401
		code:
			[error?.code, error?.type, code].map(toText).find((text) => text && !/^\d+$/.test(text)) ??
			toText(error?.code ?? code),
		message: words && beginningOf(words.replace(API_KEY, 'sk-…'), LONGEST_MESSAGE),
	};
}

/** Errors and orders keep these words: an answer may have megabytes of them. */
const LONGEST_MESSAGE = 2000;
const LONGEST_CODE = 100;

/** Services quote the key they refuse (`sk-` and 48 characters, contract 5); it must not be shown or logged. */
const API_KEY = /\bsk-[\w-]{8,}/g;

/** True for a 2xx answer whose body says that the request did not succeed. */
export function saysNoSuccess(body: unknown): boolean {
	return isPlainObject(body) && body.success === false;
}

function toText(value: string | number | null | undefined): string | undefined {
	return value === null || value === undefined ? undefined : beginningOf(String(value), LONGEST_CODE);
}

interface Meaning {
	reason: PlainReason;
	code?: RegExp;
	/** A message of the contract (5.3, 5.4, 7). */
	words?: string;
	status?: number;
}

/** In order: the first row that the code, the message or the status fits decides. */
const MEANINGS: Meaning[] = [
	{ words: 'No Authorization header', reason: 'noKeySent' },
	{
		words: 'Authentication failed',
		code: /^(unauthorized|authentication_error|invalid_api_key)$/i,
		status: 401,
		reason: 'keyRefused',
	},
	{ code: /insufficient_(quota|balance|credits)|quota_exceeded/i, status: 402, reason: 'balanceTooLow' },
	{ code: /content_policy|moderation|safety/i, reason: 'contentDeclined' },
	{ words: '令牌名称过长', reason: 'tokenNameRefused' },
	{ words: '生成令牌失败', reason: 'tokenNotCreated' },
	{ words: 'Failed to get user quota', reason: 'userUnknown' },
	{ words: 'Failed to get used quota', reason: 'usedBalanceUnknown' },
	{ code: /task_not_found/i, status: 404, reason: 'notFound' },
	{ code: /rate_limit/i, status: 429, reason: 'rateLimited' },
	{ status: 403, reason: 'keyNotAllowed' },
	{ status: 413, reason: 'uploadTooLarge' },
	{ code: /^invalid_request/i, status: 400, reason: 'requestRejected' },
	{ code: /internal_error|generation_failed/i, reason: 'requestNotProcessed' },
];

/** The reason that a refusal gives; the same for answers and for a task's own error (contract 3.1 `failed`). */
export function reasonOf(refusal: ServiceRefusal, status?: number): PlainReason | undefined {
	const said = refusal.message?.trim().toLowerCase();
	const fits = ({ code, words }: Meaning) =>
		(code !== undefined && refusal.code !== undefined && code.test(refusal.code)) ||
		(words !== undefined && words.toLowerCase() === said);
	const ofStatus = () => MEANINGS.find((meaning) => status !== undefined && meaning.status === status);
	return (MEANINGS.find(fits) ?? ofStatus())?.reason;
}

/**
 * Says if a creating request has created nothing, or may have, where the body of a refusal says so in the very words of
 * the contract. It has to refuse outright, by `success: false` or an `error`: anything else is any text. The contract shows
 * no status codes, so the words count whatever the status.
 */
export function whatWasCreated(body: unknown): Created | undefined {
	if (!isPlainObject(body)) return undefined;
	const { error } = body;
	const saysNo = isPlainObject(error) || (typeof error === 'string' && error !== '') || saysNoSuccess(body);
	const said = saysNo ? parseRefusal(body).message : undefined;
	return rowOf(MEANINGS.find(({ words }) => words !== undefined && words === said)?.reason)?.created;
}
