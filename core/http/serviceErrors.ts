import { z } from 'zod';
import { GatewayError, type GatewayErrorKind } from '../errors';
import type { HttpResponse } from './types';
import { isTransientStatus, parseJson } from './retry';

/**
 * Reads every error body that the contract (section 7) and gateways of this kind are known to send, and says
 * in plain English what it means and how to go on.
 */
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
export function readRefusal(body: unknown): ServiceRefusal {
	const parsed = refusalBody.safeParse(body);
	if (!parsed.success) return {};
	const { error: given, message, code, fail_reason: failReason } = parsed.data;
	const error: z.infer<typeof errorObject> | null | undefined = typeof given === 'string' ? { message: given } : given;
	const words = error?.message || failReason || message || undefined;
	return {
		// `type` says more than a numeric code such as 401
		code: [error?.code, error?.type, code].map(toText).find((text) => text && !/^\d+$/.test(text)) ?? toText(error?.code ?? code),
		message: words?.replace(API_KEY, 'sk-…'),
	};
}

/** Services quote the key they refuse (`sk-` and 48 characters, contract 5.2); it must not be shown or logged. */
const API_KEY = /\bsk-[\w-]{8,}/g;

/** True for a 2xx answer whose body says that the request did not succeed. */
export function saysNoSuccess(body: unknown): boolean {
	return z.object({ success: z.literal(false) }).safeParse(body).success;
}

function toText(value: string | number | null | undefined): string | undefined {
	return value === null || value === undefined ? undefined : String(value);
}

interface Explanation {
	kind: GatewayErrorKind;
	message: string;
	advice: string;
	permanent?: boolean;
}

/** In order: the first row that the code, the message or the status fits decides. */
const EXPLANATIONS: Array<{ code?: RegExp; words?: RegExp; status?: number } & Explanation> = [
	{
		words: /^No Authorization header$/i,
		kind: 'authentication',
		message: 'The request reached the service without an API key',
		advice: 'Enter the API Key in the Generation Gateway API credential that this node uses.',
	},
	{
		words: /^Authentication failed$/i,
		code: /^(unauthorized|authentication_error|invalid_api_key)$/i,
		status: 401,
		kind: 'authentication',
		message: 'The service did not accept the API key',
		advice: 'The key is wrong or has expired. Check the API Key in the Generation Gateway API credential.',
	},
	{
		code: /insufficient_(quota|balance|credits)|quota_exceeded/i,
		status: 402,
		kind: 'balance',
		message: 'The account has too few credits left for this request',
		advice: 'Add credits to the account, or use an API key with a higher limit, then run the workflow again.',
		permanent: true,
	},
	{
		code: /content_policy|moderation|safety/i,
		kind: 'contentPolicy',
		message: 'The service declined the content of this request',
		advice: 'Change the prompt or the images: the same request will be declined again.',
		permanent: true,
	},
	{
		words: /^令牌名称过长$/,
		kind: 'rejected',
		message: 'The token name is too long',
		advice: 'Use at most 50 characters.',
		permanent: true,
	},
	{
		words: /^生成令牌失败$/,
		// An internal fault while creating: whether there is a token now, nobody says.
		kind: 'outcomeUnknown',
		message: 'The service could not create the token',
		advice: 'Look into the list of tokens before you try again, so that no token is created twice.',
	},
	{
		words: /^Failed to get user quota$/i,
		kind: 'rejected',
		message: 'The service does not know the user of this API key',
		advice: 'Check that the account still exists and that the API key belongs to it.',
	},
	{
		words: /^Failed to get used quota$/i,
		kind: 'unavailable',
		message: 'The service could not read the used balance',
		advice: 'This is a passing condition of the service. Try again in a minute.',
	},
	{
		code: /task_not_found/i,
		status: 404,
		kind: 'notFound',
		message: 'The service does not know what was asked for',
		advice: 'Check the ID, and that the credential is the one of the account that created it. Results are kept for a limited time.',
	},
	{
		code: /rate_limit/i,
		status: 429,
		kind: 'rateLimited',
		message: 'The service is receiving too many requests',
		advice: 'Lower Requests per Second or Concurrent Tasks in the options, or run the workflow again later.',
	},
	{
		status: 403,
		kind: 'permission',
		message: 'The API key is not allowed to make this request',
		advice: 'The key may be limited to other models. Use a key that may use this model, or choose another model.',
	},
	{
		status: 413,
		kind: 'rejected',
		message: 'The file is larger than the service accepts',
		advice: 'Make the file smaller. A limit of 20 MiB per image is usual.',
		permanent: true,
	},
	{
		code: /^invalid_request/i,
		status: 400,
		kind: 'rejected',
		message: 'The service did not accept the request',
		advice: 'Compare the fields of this node with what the service says, and change what it names.',
		permanent: true,
	},
	{
		code: /internal_error|generation_failed/i,
		kind: 'unavailable',
		message: 'The service could not process the request',
		advice: 'This is usually a passing condition of the service. Try again later.',
	},
];

/** The error that a refusing answer stands for. `retryAfterMs`: how long the service asks to be left alone. */
export function explainRefusal(response: HttpResponse, retryAfterMs?: number): GatewayError {
	const body = parseJson(response.text);
	const refusal = readRefusal(body);
	const explanation = findExplanation(refusal, response.status) ?? explainStatus(response, body);
	return new GatewayError(explanation.kind, explanation.message, {
		description: [explanation.advice, quote(refusal, response)].filter(Boolean).join(' '),
		httpStatus: response.status,
		serviceMessage: refusal.message,
		serviceCode: refusal.code,
		permanent: explanation.permanent,
		retryAfterMs,
	});
}

/** What a task's own error (contract 3.1 `failed`) means: shared with refusals, so that it reads the same. */
export function findExplanation(refusal: ServiceRefusal, status?: number): Explanation | undefined {
	const fits = (row: (typeof EXPLANATIONS)[number]) =>
		(row.code !== undefined && refusal.code !== undefined && row.code.test(refusal.code)) ||
		(row.words !== undefined && refusal.message !== undefined && row.words.test(refusal.message.trim()));
	return (
		EXPLANATIONS.find(fits) ??
		(status === undefined ? undefined : EXPLANATIONS.find((row) => row.status === status))
	);
}

/** Quotes the service; the description is the only place where its words may stand. */
export function quote(refusal: ServiceRefusal, response?: HttpResponse): string {
	const status = response === undefined ? '' : ` (HTTP ${response.status})`;
	if (refusal.message) {
		const code = refusal.code ? `, code ${refusal.code}` : '';
		return `The service says: "${shorten(refusal.message)}"${code}${status}.`;
	}
	if (refusal.code) return `The service gives the code ${refusal.code}${status}.`;
	return response === undefined ? '' : `The service answered with HTTP ${response.status}.`;
}

function explainStatus(response: HttpResponse, body: unknown): Explanation {
	const { status, headers } = response;
	if (status >= 300 && status < 400) {
		const target = headers.location ? ` to ${safeHost(headers.location)}` : '';
		return {
			kind: 'unexpectedAnswer',
			message: `The service redirects requests${target}`,
			advice: 'Redirects are not followed, because the API key would travel along. Enter the final address as Base URL in the credential.',
		};
	}
	if (isTransientStatus(status)) {
		return {
			kind: 'unavailable',
			message: 'The service is not available at the moment',
			advice: 'This is usually a passing condition. Try again later.',
		};
	}
	if (status >= 200 && status < 300 && body === undefined) {
		return {
			kind: 'unexpectedAnswer',
			message: 'The answer does not come from the Generation Gateway service',
			advice: 'Check the Base URL in the credential: the address answered with something other than JSON.',
		};
	}
	return {
		kind: 'rejected',
		message: 'The service did not accept the request',
		advice: 'Compare the fields of this node with what the service says, and change what it names.',
	};
}

/** Only the host of a redirect is shown: its path and query may hold secrets of others. */
function safeHost(location: string): string {
	try {
		return new URL(location).host;
	} catch {
		return 'another path';
	}
}

export function shorten(text: string, length = 500): string {
	return text.length > length ? `${text.slice(0, length)}…` : text;
}
