import { isPlainObject, type JsonObject } from '../json';
import { entryOf, type PlainReason } from '../errors/catalogue';
import type { Created } from '../errors/catalogueEntry';
import { beginningOf, toOutline } from '../text';
import { isHttpUrl, LONGEST_URL } from '../urls';
import { looseText } from './loose';

/** The words of a refusal: every error body that the contract (section 7) and the field notes know. */
export interface ServiceRefusal {
	code?: string;
	message?: string;
}

/** The same as errors have it. */
export const saidIn = ({ message, code }: ServiceRefusal) => ({ serviceMessage: message, serviceCode: code });

/** Names of a reason in words. The first that has any counts. */
const WORDS = [
	...['message', 'msg', 'error_message', 'error_msg', 'fail_reason', 'reason', 'detail'],
	...['errors', 'description', 'errmsg', 'status_msg', 'task_status_msg'],
];
/** Names that only an error has, whatever is beside it. */
const ERROR_WORDS = [
	...['error', 'fail_reason', 'error_message', 'error_msg', 'failReason', 'failure_reason', 'failureReason'],
	...['fail_msg', 'failMsg', 'errorMessage', 'errorMsg'],
];
/** An outer `message` is often that of the request, such as "ok", so the reasons of a task come before it. */
const OUTER_WORDS = [...ERROR_WORDS, ...WORDS];
/** `type` says more than a numeric code such as 401. */
const CODES = ['code', 'error_code', 'errorCode', 'type'];
/** Refusals are nested at most so deep: `{errors: [{detail: {msg}}]}`. */
const MOST_LEVELS = 4;

/** The service's words in an answer: `{message}`, `{error: "…"}`, `{error: {code, message, type}}`, `{detail: [{msg}]}` and the like. */
export function parseRefusal(body: unknown): ServiceRefusal {
	const said = isPlainObject(body) ? wordsIn(body, OUTER_WORDS) : undefined;
	const codes = codesIn(body).filter((text) => !SUCCESS.test(text));
	const first = codes.find((text) => !/^\d+$/.test(text)) ?? codes[0];
	const isVague = first !== undefined && SAYS_NOTHING.test(toPlainCode(first));
	return {
		code: (isVague ? codes.find(isCodeOfContent) : undefined) ?? first,
		message: said && beginningOf(withoutKeys(said), LONGEST_MESSAGE),
	};
}

/** A short view of an answer that has no words of its own; undefined where there is nothing to show, or a page. */
export function outlineOf(body: unknown, text: string): string | undefined {
	if (body === undefined)
		return /^\s*(<|$)/.test(text) ? undefined : withoutKeys(beginningOf(text.trim(), LONGEST_OUTLINE));
	const isEmpty = typeof body !== 'object' || body === null || Object.keys(body).length === 0;
	return isEmpty ? undefined : withoutKeys(toOutline(body));
}

/** The words of the wrappers of a record, the innermost first. Those of a request that went well are none. */
export function refusalAround(wrappers: JsonObject[]): ServiceRefusal {
	const refusals = wrappers.map(parseRefusal);
	return (
		refusals.find(({ message, code }) => (message ?? code) !== undefined && !SAYS_IT_WENT_WELL.test(message ?? '')) ??
		{}
	);
}

const SAYS_IT_WENT_WELL = /\b(success|successful|successfully|succeeded|retrieved|ok)\b|成功/i;

/** To read a longer one takes n8n too long. */
const isAddress = (value: unknown): boolean =>
	typeof value === 'string' && value.length > LONGEST_URL ? /^https?:\/\//i.test(value) : isHttpUrl(value);

/** The error that a record has beside its status: an object or a text that says something. Empty ones and the code 0 are none. */
export function errorBeside(record: JsonObject): ServiceRefusal | undefined {
	const said = ['errors', 'error_code', 'errorCode', ...ERROR_WORDS].map((name) => [name, record[name]]);
	// Some services have the URL of the result in the field of the reason.
	const refusal = parseRefusal(Object.fromEntries(said.filter(([, value]) => !isAddress(value))));
	return refusal.message === undefined && refusal.code === undefined ? undefined : refusal;
}

/** The error in a part of a failed record, where the record itself says nothing. */
export function errorWithin(record: JsonObject): ServiceRefusal | undefined {
	const parts = ['data', 'result', 'output', 'response', 'metadata', 'task_result'].map((name) => record[name]);
	return parts.filter(isPlainObject).map(errorBeside).find(Boolean);
}

/** A value of another type counts as absent: the other words of the same body stay. */
function wordsIn(value: unknown, names: readonly string[], levels = MOST_LEVELS): string | undefined {
	if (typeof value === 'string') return SUCCESS.test(value.trim()) || NOTHING.test(value.trim()) ? undefined : value;
	if (typeof value !== 'object' || value === null || levels === 0) return undefined;
	const inner = Array.isArray(value)
		? value.slice(0, MOST_ENTRIES)
		: names.map((name) => (value as Record<string, unknown>)[name]);
	for (const each of inner) {
		const words = wordsIn(each, WORDS, levels - 1);
		if (words !== undefined) return words;
	}
	return undefined;
}

/** The codes of an answer, the innermost error first. */
function codesIn(body: unknown): string[] {
	if (!isPlainObject(body)) return [];
	const { errors, error, detail } = body;
	const deeper = isPlainObject(error) ? error.error : undefined;
	const inner = [deeper, error, Array.isArray(errors) ? errors[0] : errors, Array.isArray(detail) ? detail[0] : detail];
	// The `type` of the answer itself is the kind of its result.
	const outer = [body.code, body.error_code, body.errorCode];
	return [...inner.filter(isPlainObject).flatMap((each) => CODES.map((name) => each[name])), ...outer]
		.map((value) => beginningOf(withoutKeys(looseText(value) ?? ''), LONGEST_CODE))
		.filter((text) => !NOTHING.test(text));
}

const MOST_ENTRIES = 3;

/** The words of an envelope around a failure: the request itself has succeeded. */
const SUCCESS = /^(success|succeeded|succeed|ok|0|200)$/i;
/** The words of no error, as some languages write an empty value as text. */
const NOTHING = /^(|null|nil|none|undefined|false|no error|n\/a|-|\{\}|\[\])$/i;

/** Errors and orders keep these words: an answer may have megabytes of them. */
const LONGEST_MESSAGE = 2000;
const LONGEST_CODE = 100;
const LONGEST_OUTLINE = 400;

/** Services quote the key they refuse (`sk-` and 48 characters, contract 5); it must not be shown or logged. */
const API_KEY = /(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]|%[0-9A-Fa-f]{2}))sk-[\w-]{8,}/g;

export const withoutKeys = (text: string) => text.replace(API_KEY, 'sk-…');

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

/**
 * True for a refusal in one of the service's own forms (contract 7, field notes): it refuses outright, or has words
 * that are more than the name of a status, or a known code. Anything else may be a proxy's, and says nothing.
 */
export function isOfService(body: unknown): boolean {
	if (refusesOutright(body)) return true;
	if (!isPlainObject(body)) return false;
	const { message, msg, detail, error_message: errorMessage, title } = body;
	// Proxies write a `detail` below a `title` (RFC 9457).
	const words = title === undefined ? [message, msg, detail, errorMessage] : [message];
	const isSaid = words.some((each) => !STATUS_NAME.test(wordsIn(each, WORDS)?.trim() ?? ''));
	return isSaid || codesIn(body).some((code) => reasonOf({ code }) !== undefined);
}

/** Names of HTTP statuses, as proxies put them into a field, or nothing. */
const STATUS_NAME =
	/^(bad request|unauthorized|forbidden|access denied|not found|method not allowed|(internal )?server error|bad gateway|service (temporarily )?unavailable|gateway time-?out|missing authentication token|no route matched.*|cannot (get|post) .*)?$/i;

interface Meaning {
	reason: PlainReason;
	/** Of a code in the notation `of_words`. */
	code?: RegExp;
	/** A message of the contract (5.3, 5.4, 7). */
	words?: string;
	/** Decides about words, and about a code that no pattern can tell. */
	isSaidBy?: (refusal: ServiceRefusal) => boolean;
	status?: number;
	/** With these statuses, code and words mean something else. */
	notWith?: readonly number[];
	/** The code says no more than that something is wrong: some services send it with every status. */
	isGeneric?: true;
}

/**
 * In order: the first row that the code or the message fits decides, and the status where none does or its code is generic. A new
 * row with an exact code stands before `declinesContent`, which would take the code for one about content otherwise.
 */
const MEANINGS: Meaning[] = [
	{ words: 'No Authorization header', reason: 'noKeySent' },
	{
		words: 'Authentication failed',
		code: /^(unauthorized|unauthenticated|authentication_(error|failed)|(invalid|incorrect|expired)_(api_)?key|(api_)?key_(invalid|expired))$/,
		status: 401,
		reason: 'keyRefused',
	},
	{
		code: /(insufficient|not_enough|low|no|out_of)_((user|account|token)_)?(quota|balance|credits?|funds)|(quota|balance|credits?|funds)_(is_|are_)?(too_low|low|not_enough|insufficient|exhausted|depleted|used_up)|pre_consume_token_quota_failed|payment_required|billing_(hard_)?limit|arrears|arrearage|(account|bill|payment)_(is_)?overdue/,
		status: 402,
		reason: 'balanceTooLow',
	},
	// With a 429 it is the quota of a minute.
	{
		code: /quota_exceeded|exceeded_quota/,
		isSaidBy: ({ message = '' }) => EMPTY_IN_WORDS.test(message),
		notWith: [429],
		reason: 'balanceTooLow',
	},
	{
		code: /(^|_)model_(is_)?(not_(found|exists?|supported)|does_not_exist|unknown)(_|$)|(^|_)model_(is_)?(unsupported|invalid)$|(^|_)(unknown|unsupported|no_such)_model(_|$)|(^|_)invalid_model(_(id|name))?$|no_available_channel/,
		reason: 'modelNotFound',
	},
	// With these, they are about the account.
	{ isSaidBy: declinesContent, notWith: [401, 402], reason: 'contentDeclined' },
	{ words: '令牌名称过长', reason: 'tokenNameRefused' },
	{ words: '生成令牌失败', reason: 'tokenNotCreated' },
	{ words: 'Failed to get user quota', reason: 'userUnknown' },
	{ words: 'Failed to get used quota', reason: 'usedBalanceUnknown' },
	{ code: /task_(is_)?not_(found|exists?)/, status: 404, reason: 'notFound' },
	{ code: /rate_limit|too_many_requests/, status: 429, reason: 'rateLimited' },
	{ status: 403, reason: 'keyNotAllowed' },
	{ status: 413, reason: 'requestTooLarge' },
	{ code: /^invalid_request/, status: 400, reason: 'requestRejected', isGeneric: true },
	{ code: /internal_error|generation_failed/, reason: 'requestNotProcessed', isGeneric: true },
];

/** Services have no code for an empty account, or one of their own. */
const EMPTY_IN_WORDS = /额度(已用尽|不足)|余额不足|\binsufficient (balance|quota|credits?)\b/i;

/** Words of codes that decline the content of a request. */
const OF_CONTENT =
	/^(sensitive|moderat(ions?|ed)|safety|unsafe|polic(y|ies)|inspection|filter(s|ed|ing)?|nsfw|prohibited|inappropriate|harmful|censor(ed|ship)?|flagged|guardrails?|violence|nudity|copyright(ed)?)$/;
/** Words that decline it beside `content`. */
const DECLINED = /^(blocked|declined|violat(ion|ions|es|ed)|rejected|refused|illegal|restricted|risk)$/;
/** Beside them, the code is about the check or about access, and the same request may go well later. */
const NOT_OF_CONTENT =
	/^(timeout|timed|unavailable|busy|overload(ed)?|internal|server|service|rate|limit(s|ed)?|quota|retry|access|auth|authentication|key|network|ip|cors|iam|bucket|cache|retention|case)$/;
/** `content_type` and the like are about the form of a request. */
const OF_FORM = /^(type|length|size|encoding)$/;
/** The same in words. */
const DECLINED_IN_WORDS =
	/\b(content|usage|safety|community) (polic(y|ies)|guidelines?|filters?|moderation)\b|\bsafety (system|checks?|reasons?|guardrails?)\b|\bviolat\w+ (of )?(our|the|its|their) (\w+ )?(polic(y|ies)|guidelines|terms)\b|\bsensitive (words?|content|information)\b|\brisk control\b|\b(inappropriate|prohibited|harmful|unsafe|explicit) (content|material|words?)\b|\bflagged (as|by|for)\b|\bmoderation\b|\bdata inspection\b|\bnsfw\b|敏感|违规|違規|违禁|不合规|(不|未)(能)?(通过|通過)(内容)?[审審]核|[审審]核(不|未)?(通过|通過|失败|失敗)(?<![审審]核(通过|通過))/i;
const PASSES_IN_WORDS =
	/\b(time(d )?-?out|unavailable|busy|overloaded|try again|retry|queue|connect(ion)?|internal error|service (error|failure|failed)|5\d\d)\b/i;

/** True where the service has declined the content: the same request is declined again, and each try may cost. */
function declinesContent({ code = '', message = '' }: ServiceRefusal): boolean {
	if (isCodeOfContent(code)) return true;
	if (!SAYS_NOTHING.test(toPlainCode(code))) return false;
	// The words may be a code alone, or begin with one.
	const [codeInWords = ''] = /^[\w.-]+(?=\s*(:|$))/.exec(message.trim()) ?? [];
	if (isCodeOfContent(codeInWords)) return true;
	// Gateways pass on the answer of the service behind them as text.
	if ([...message.matchAll(CODE_IN_JSON)].some(([, inner = '']) => isCodeOfContent(inner))) return true;
	return DECLINED_IN_WORDS.test(message) && !PASSES_IN_WORDS.test(message);
}

const CODE_IN_JSON = /"(?:code|error_code|type|status|reason)"\s*:\s*"([^"]+)"/g;

function isCodeOfContent(code: string): boolean {
	const words = toPlainCode(code.replace(/\d+/g, '_')).split('_');
	if (words.some((word) => NOT_OF_CONTENT.test(word))) return false;
	if (words.some((word) => OF_CONTENT.test(word))) return true;
	const isOfContent = words.includes('content') && !words.some((word) => OF_FORM.test(word));
	return isOfContent && words.some((word) => DECLINED.test(word));
}

/** Codes that leave the reason to the words. */
const SAYS_NOTHING =
	/^(\d*|((task|generation|request|upstream|server|api|internal|bad)_)*(failed|failure|fail|error|request|response)(_status_code)?|invalid_request(_error)?|unknown(_error)?)$/;

/** A code in one notation: `DataInspectionFailed`, `data-inspection.failed` and `DATA_INSPECTION_FAILED` mean the same. */
export const toPlainCode = (code: string) =>
	code
		.replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3_$2')
		.replace(/[^\p{L}\p{N}]+/gu, '_')
		.toLowerCase();

/** The reason that a refusal gives; the same for answers and for a task's own error (contract 3.1 `failed`). */
export function reasonOf(refusal: ServiceRefusal, status?: number): PlainReason | undefined {
	const said = refusal.message?.trim().toLowerCase();
	const code = refusal.code === undefined ? undefined : toPlainCode(refusal.code);
	const fits = ({ code: codes, words, isSaidBy, notWith = [] }: Meaning) =>
		!notWith.includes(status ?? NaN) &&
		((codes !== undefined && code !== undefined && codes.test(code)) ||
			(words !== undefined && words.toLowerCase() === said) ||
			isSaidBy?.(refusal) === true);
	const isOfStatus = (meaning: Meaning) => status !== undefined && meaning.status === status;
	const exact = MEANINGS.filter((row) => !row.isGeneric);
	return (exact.find(fits) ?? exact.find(isOfStatus) ?? MEANINGS.find(fits) ?? MEANINGS.find(isOfStatus))?.reason;
}

/** The reason of the contract's own words, where an answer consists of them: they count in any body, also in plain text. */
export function reasonOfText(text: string): PlainReason | undefined {
	if (text.length > LONGEST_MESSAGE) return undefined;
	const said = text
		.replace(/<[^>]*>/g, ' ')
		.trim()
		.replace(/[.!]$/, '')
		.toLowerCase();
	return MEANINGS.find(({ words }) => words?.toLowerCase() === said)?.reason;
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
