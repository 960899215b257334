/** The meaning of an answer, or of the lack of one: the error to throw and, for a creating request, whether it is sent again. */
import { asGatewayError, gatewayError, GatewayError, isTransientStatus } from '../errors';
import type { CreatedThing, GatewayErrorDetails } from '../errors';
import { endsSubmitting } from '../errors/kinds';
import { parseBeginning, type JsonObject } from '../json';
import {
	isOfService,
	outlineOf,
	parseRefusal,
	reasonOf,
	reasonOfText,
	saysNoSuccess,
	whatWasCreated,
} from '../records/refusals';
import { isUnderWay, LONGEST_ID, parseTaskRecord } from '../records/taskRecord';
import { printable, shorten, toOutline } from '../text';
import {
	isPassedOn,
	limitOf,
	postOutcomeOfAnswer,
	postOutcomeOfConnection,
	retryAfterMs,
	type PostOutcome,
} from './retry';
import { ConnectionError, NO_ROOM, TOO_LARGE, type CreateRequest, type HttpResponse } from './types';

export function isSuccess({ status }: HttpResponse): boolean {
	return status >= 200 && status < 300;
}

/** True for an answer that can be judged: of those that were cut off, only a 2xx, whose part may hold the ID. */
export function isUsable(answer: HttpResponse | ConnectionError): boolean {
	return !(answer instanceof ConnectionError) && (answer.cutOff === undefined || isSuccess(answer));
}

/** The error for a request without a connection, or a read without an answer. */
export function unreachable({ code }: ConnectionError, url: string): GatewayError {
	return gatewayError('serviceUnreachable', { host: new URL(url).host, code });
}

/** The error of an answer that is no success. `retryAfterMs`: the pause that the service asks for. */
export function refusalError(response: HttpResponse, retryAfterMs?: number): GatewayError {
	const { status, headers, text, body } = response;
	const { message: serviceMessage, code: serviceCode } = parseRefusal(body);
	const hasWords = serviceMessage !== undefined || serviceCode !== undefined;
	const serviceAnswer = hasWords ? undefined : outlineOf(body, text);
	const details = { httpStatus: status, serviceMessage, serviceCode, serviceAnswer, retryAfterMs };
	const said = reasonOfText(text);
	if (said === undefined && IN_BETWEEN.has(status) && !isOfService(body))
		return gatewayError('refusedInBetween', { status }, details);
	const reason = said ?? reasonOf({ message: serviceMessage, code: serviceCode }, statusOf(status, serviceCode));
	if (reason !== undefined) return gatewayError(reason, {}, details);
	const target = headers.location ? hostOf(headers.location) : undefined;
	if (status >= 300 && status < 400) return gatewayError('serviceRedirects', { target }, details);
	if (isTransientStatus(status)) return gatewayError('serviceUnavailable', {}, details);
	if (isSuccess(response) && body === undefined) return gatewayError('notTheService', {}, details);
	// A no without a reason: another answer may follow.
	return gatewayError('requestRejected', {}, { ...details, permanent: false });
}

/** Statuses of pages that a firewall, a bot check or a container that restarts shows in the place of the service. */
const IN_BETWEEN = new Set([401, 403, 404]);

/** The status that a refusal means: some services answer 200, and have it as the code. */
const statusOf = (status: number, code = '') => (status < 300 && /^[45]\d\d$/.test(code) ? Number(code) : status);

/** Only the host of a redirect is shown: its path and query may hold secrets of others. */
const hostOf = (location: string) => (URL.canParse(location) ? new URL(location).host : 'another path');

/**
 * The error of a 2xx answer without the thing that was asked for: what the service says, where it says something.
 *
 * @param what the thing, for the message: "an account balance"
 */
export function answerLacks(what: string, response: HttpResponse): GatewayError {
	const { status, body } = response;
	const { message, code } = parseRefusal(body);
	if (message !== undefined || code !== undefined) return refusalError(response);
	return gatewayError('answerLacks', { what }, { httpStatus: status, serviceAnswer: outlineOf(body, '') });
}

/** The parsed answer. Throws when it is a refusal, or no JSON at all. */
export function parseBody(response: HttpResponse): unknown {
	const { body } = response;
	if (body === undefined || saysNoSuccess(body)) throw refusalError(response);
	return body;
}

/** The meanings that refusals have for one request, in place of the general ones. Undefined keeps the general one. */
export type RefusalErrors = Partial<
	Record<
		'notFound' | 'noSuchPage' | 'permission' | 'rejected',
		(details: GatewayErrorDetails) => GatewayError | undefined
	>
>;

/** Replaces the general meaning of a refusal by the one for this request; the words of the service stay. */
export async function mapError<T>(request: Promise<T>, meanings: RefusalErrors): Promise<T> {
	try {
		return await request;
	} catch (thrown) {
		const error = asGatewayError(thrown);
		const { kind, details } = error;
		// A 404 that the service has not written, for a request whose address alone is in question.
		const isPage = details.reason?.name === 'refusedInBetween' && details.httpStatus === 404;
		if (isPage && meanings.noSuchPage !== undefined) throw meanings.noSuchPage(details) ?? error;
		const own = kind === 'notFound' || kind === 'permission' || kind === 'rejected' ? meanings[kind] : undefined;
		// A wait does not poll again after a permanent error; an unknown ID may only be new.
		throw own?.({ ...details, permanent: kind === 'rejected' ? true : details.permanent }) ?? error;
	}
}

/** The outcome of one try of a creating request: a 2xx answer, or the error to throw if it is not sent again. */
export type PostVerdict =
	| { outcome: 'answered'; response: HttpResponse }
	| {
			outcome: Exclude<PostOutcome, 'answered'>;
			error: GatewayError;
			/** The pause that the service asks for. */
			askedMs?: number;
	  };

/** Decides what the answer to a creating request, or the lack of one, means for sending it again (`retry.ts`). */
export function classifyPost(
	answer: HttpResponse | ConnectionError,
	{ thing, url, nowMs }: { thing: CreatedThing; url: string; nowMs: number },
): PostVerdict {
	if (answer instanceof ConnectionError) {
		const outcome = postOutcomeOfConnection(answer.code);
		if (outcome !== 'unknown') return { outcome, error: unreachable(answer, url) };
		return { outcome, error: unknownOutcome(thing, howItWasCutOff(answer.code), undefined, answer.cause) };
	}
	if (answer.cutOff !== undefined && !isSuccess(answer))
		return { outcome: 'unknown', error: unknownOutcome(thing, howItWasCutOff(answer.cutOff)) };
	const outcome = postOutcomeOfAnswer(answer);
	if (outcome === 'answered') return { outcome, response: answer };
	const askedMs = retryAfterMs(answer, nowMs);
	const refusal = refusalOf(answer, thing, askedMs);
	// One that blocks others is shown, too.
	const isOfOther = answer.status === 429 && limitOf(refusal.details) === 'tasks';
	const ofTask = isOfOther ? undefined : taskBeside(refusal, answer, thing);
	if (ofTask !== undefined) return { outcome: 'unknown', error: ofTask };
	// No pause brings credits, or another key.
	if (outcome === 'tryAgain' && endsSubmitting(refusal)) return { outcome: 'refused', error: refusal, askedMs };
	const error =
		outcome === 'unknown' ? unknownOutcome(thing, `The service answered with HTTP ${answer.status}`, refusal) : refusal;
	return { outcome, error, askedMs };
}

/**
 * The thing that a 2xx answer says was created. Throws `outcomeUnknown` where the service may have created it, but the answer
 * does not say so: also when a mistake of our own keeps it from being read, or when nothing can store its ID.
 */
export function parseCreated<T extends { id: string }>(
	response: HttpResponse,
	{ thing, parse, wanted }: Pick<CreateRequest<T>, 'thing' | 'parse' | 'wanted'>,
): T {
	try {
		const { body, text } = response;
		if (saysNoSuccess(body)) throw refusalOfCreation(response, thing);
		const parsed = parse(body ?? parseBeginning(text), response);
		if (parsed !== undefined && parsed.id.length > LONGEST_ID) throw idTooLong(thing, parsed.id);
		if (parsed !== undefined) return parsed;
	} catch (thrown) {
		throw asCreationError(thrown, thing);
	}
	// It may hold the ID in a place that nothing here knows.
	const said = { details: { httpStatus: response.status, serviceMessage: inShort(response, thing) } };
	if (response.cutOff !== undefined) throw unknownOutcome(thing, howItWasCutOff(response.cutOff), said);
	throw unknownOutcome(thing, `The service answered the request without ${wanted}`, said);
}

/** The error of a creating request that was sent: a mistake of our own says nothing about what the service did. */
export function asCreationError(thrown: unknown, thing: CreatedThing): GatewayError {
	if (thrown instanceof GatewayError) return thrown;
	return unknownOutcome(thing, 'The service answered, but the answer could not be read', undefined, thrown);
}

/**
 * The error for a creating request that may have been accepted. It is not sent again: the user decides, after a look.
 *
 * @param what happened after the request was sent, as a sentence: "The service answered with HTTP 504"
 */
export function unknownOutcome(
	thing: CreatedThing,
	what: string,
	refusal?: Pick<GatewayError, 'details'>,
	cause?: unknown,
): GatewayError {
	const { httpStatus, serviceMessage, serviceCode, serviceAnswer } = refusal?.details ?? {};
	const details = { httpStatus, serviceMessage, serviceCode, serviceAnswer, cause };
	return gatewayError('outcomeUnknown', { thing, what }, details);
}

/** The characters of an ID that is too long. No URL can be longer. */
const SHOWN_ID_LENGTH = 8_000;

/** The error for an accepted thing whose ID nothing can store: it says the ID, as nothing else does. */
function idTooLong(thing: CreatedThing, id: string): GatewayError {
	const what = `The service answered the request with an ID of ${id.length} characters, which n8n cannot keep`;
	const task = { taskId: id.slice(0, SHOWN_ID_LENGTH), elapsedMs: 0 };
	return gatewayError('outcomeUnknown', { thing, what }, { task });
}

/** Says how an answer ended before it was complete. */
function howItWasCutOff(code: string): string {
	return code === TOO_LARGE || code === NO_ROOM
		? 'The answer from the service was too large, and was cut off'
		: `The request was sent, but no complete answer came (${code})`;
}

const LONGEST_OUTLINE = 400;
/** A new key, wherever it stands: the name of its field is not known here. */
const NEW_KEY = /[\w-]{20,}/g;
/** The same, where nothing of the rest is needed. */
const MAY_BE_NEW_KEY = /[\w+/=.-]{16,}/g;

/** An answer in short. */
function inShort({ text, body: parsed }: HttpResponse, thing: CreatedThing): string | undefined {
	const body = text.length > LONGEST_OUTLINE ? (parsed ?? parseBeginning(text)) : undefined;
	const said = body === undefined ? printable(shorten(text, LONGEST_OUTLINE)) : toOutline(body, LONGEST_OUTLINE);
	return parseRefusal({ message: thing === 'token' ? said.replace(MAY_BE_NEW_KEY, '…') : said.trim() }).message;
}

/** Characters of the longest answer that is kept until the thing that it creates has ended: usual ones have a thousand. */
const LONGEST_KEPT = 2 ** 16;

/** The record of a creation, as far as it is kept: thousands of tasks may be waited for at the same time. */
export function toKeep({ text }: HttpResponse, raw: JsonObject): JsonObject {
	return text.length > LONGEST_KEPT ? {} : raw;
}

/** The error of a refusal, which may quote the key that was created. */
function refusalOf(response: HttpResponse, thing: CreatedThing, askedMs?: number): GatewayError {
	const error = refusalError(response, askedMs);
	if (thing !== 'token') return error;
	const { serviceMessage, serviceAnswer } = error.details;
	const [said, answer] = [serviceMessage, serviceAnswer].map((text) => text?.replace(NEW_KEY, '…'));
	return new GatewayError(error.kind, error.message, { ...error.details, serviceMessage: said, serviceAnswer: answer });
}

/** A refusal that came as a success: its words, or the record beside them, decide whether something may have been created. */
function refusalOfCreation(response: HttpResponse, thing: CreatedThing): GatewayError {
	const refusal = refusalOf(response, thing);
	const ofTask = taskBeside(refusal, response, thing);
	if (ofTask !== undefined) return ofTask;
	const isLost = !saysWhy(refusal) && !ABOUT_INPUT.test(refusal.details.serviceMessage ?? '') && isPassedOn(response);
	const mayBeCreated = whatWasCreated(response.body) === 'maybe' || isLost;
	if (!mayBeCreated || refusal.kind === 'outcomeUnknown') return refusal;
	return unknownOutcome(thing, `The service answered with HTTP ${response.status}`, refusal);
}

/** A connection to the host of an input broke, or it is the account that has ended: nothing was made. */
const ABOUT_INPUT = /download|fetch|account|subscription|图片下载/i;

/** False for a no without a reason, or whose reason is that something went wrong inside. */
const saysWhy = ({ kind, details }: GatewayError) => details.permanent !== false && kind !== 'unavailable';

/** The error of a refusal beside which the answer gives a task, whatever the status; undefined where it gives none. */
function taskBeside(refusal: GatewayError, { status: http, body }: HttpResponse, thing: CreatedThing) {
	const { id: taskId = '', status } = (thing === 'task' && parseTaskRecord(body)) || {};
	if (taskId === '' || taskId.length > LONGEST_ID || !isUnderWay(status)) return undefined;
	const what = `The service refused the request with HTTP ${http}, and gave a task`;
	return unknownOutcome('task', what, refusal).withTask({ taskId, status, elapsedMs: 0 });
}
