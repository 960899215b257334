import { GatewayError, type CreatedThing, type TaskReference } from '../errors';
import { endsSubmitting } from '../errors/kinds';
import type { Created } from '../errors/catalogueEntry';
import { parseBeginning, type JsonObject } from '../json';
import { parseRefusal, saysNoSuccess, whatWasCreated } from '../records/refusals';
import { isUnderWay, LONGEST_ID, parseTaskRecord } from '../records/taskRecord';
import { printable, shorten, toOutline } from '../text';
import { asCreationError, howItWasCutOff, unknownOutcome, unreachable } from './connectionErrors';
import { limitOf, postOutcomeOfAnswer, postOutcomeOfConnection, retryAfterMs, type PostOutcome } from './retry';
import { refusalError } from './serviceErrors';
import { ConnectionError, type CreateRequest, type HttpResponse } from './types';

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
		const unknown = outcome === 'unknown';
		const error = unknown
			? unknownOutcome(thing, howItWasCutOff(answer.code), undefined, answer.cause)
			: unreachable(answer, url);
		return { outcome, error };
	}
	if (answer.cutOff !== undefined && !isSuccess(answer))
		return { outcome: 'unknown', error: unknownOutcome(thing, howItWasCutOff(answer.cutOff)) };
	const outcome = postOutcomeOfAnswer(answer);
	if (outcome === 'answered') return { outcome, response: answer };
	const askedMs = retryAfterMs(answer, nowMs);
	const refusal = refusalOf(answer, thing, askedMs);
	// One that blocks others is shown, too.
	const isOfOther = answer.status === 429 && limitOf(refusal.details) === 'tasks';
	const task = thing === 'task' && !isOfOther ? taskUnderWay(answer) : undefined;
	if (task !== undefined) return { outcome: 'unknown', error: withTask(answer, refusal, task) };
	// No pause brings credits, or another key.
	if (outcome === 'tryAgain' && endsSubmitting(refusal)) return { outcome: 'refused', error: refusal, askedMs };
	const error =
		outcome === 'unknown' ? unknownOutcome(thing, `The service answered with HTTP ${answer.status}`, refusal) : refusal;
	return { outcome, error, askedMs };
}

/**
 * The thing that a 2xx answer says was created. Throws `outcomeUnknown` where the service may have created it, but the
 * answer does not say so: also when a mistake of our own keeps it from being read.
 */
export function parseCreated<T>(
	response: HttpResponse,
	{ thing, parse, wanted }: Pick<CreateRequest<T>, 'thing' | 'parse' | 'wanted'>,
): T {
	try {
		const { body } = response;
		if (saysNoSuccess(body)) throw refusalOfCreation(response, whatWasCreated(body), thing);
		const parsed = parse(response);
		if (parsed !== undefined) return parsed;
	} catch (thrown) {
		throw asCreationError(thrown, thing);
	}
	// It may hold the ID in a place that nothing here knows.
	const said = { details: { httpStatus: response.status, serviceMessage: inShort(response, thing) } };
	if (response.cutOff !== undefined) throw unknownOutcome(thing, howItWasCutOff(response.cutOff), said);
	throw unknownOutcome(thing, `The service answered the request without ${wanted}`, said);
}

const LONGEST_OUTLINE = 400;
/** A new key, wherever it stands: the name of its field is not known here. */
const NEW_KEY = /[\w-]{20,}/g;

/** An answer in short. */
function inShort({ text, body: parsed }: HttpResponse, thing: CreatedThing): string | undefined {
	const body = text.length > LONGEST_OUTLINE ? (parsed ?? parseBeginning(text)) : undefined;
	const said = body === undefined ? printable(shorten(text, LONGEST_OUTLINE)) : toOutline(body, LONGEST_OUTLINE);
	return parseRefusal({ message: thing === 'token' ? said.replace(NEW_KEY, '…') : said.trim() }).message;
}

/** Characters of the longest answer that is kept until the thing that it creates has ended: usual ones have a thousand. */
const LONGEST_KEPT = 2 ** 16;

/** The record of a creation, as far as it is kept: thousands of tasks may be waited for at the same time. */
export function toKeep({ text }: HttpResponse, raw: JsonObject): JsonObject {
	return text.length > LONGEST_KEPT ? {} : raw;
}

/** The task that an answer gives beside its refusal, whatever the status. */
function taskUnderWay({ body }: HttpResponse): TaskReference | undefined {
	const { id: taskId = '', status } = parseTaskRecord(body) ?? {};
	return taskId !== '' && taskId.length <= LONGEST_ID && isUnderWay(status)
		? { taskId, status, elapsedMs: 0 }
		: undefined;
}

const withTask = ({ status }: HttpResponse, refusal: GatewayError, task: TaskReference) =>
	unknownOutcome('task', `The service refused the request with HTTP ${status}, and gave a task`, refusal).withTask(
		task,
	);

/** The error of a refusal, which may quote the key that was created. */
function refusalOf(response: HttpResponse, thing: CreatedThing, askedMs?: number): GatewayError {
	const error = refusalError(response, askedMs);
	if (thing !== 'token') return error;
	const { serviceMessage, serviceAnswer } = error.details;
	const [said, answer] = [serviceMessage, serviceAnswer].map((text) => text?.replace(NEW_KEY, '…'));
	return new GatewayError(error.kind, error.message, { ...error.details, serviceMessage: said, serviceAnswer: answer });
}

/** A refusal that came as a success: its words, or the record beside them, decide whether something may have been created. */
function refusalOfCreation(response: HttpResponse, created: Created | undefined, thing: CreatedThing): GatewayError {
	const refusal = refusalOf(response, thing);
	const task = thing === 'task' ? taskUnderWay(response) : undefined;
	if (task !== undefined) return withTask(response, refusal, task);
	if (created !== 'maybe' || refusal.kind === 'outcomeUnknown') return refusal;
	return unknownOutcome(thing, `The service answered with HTTP ${response.status}`, refusal);
}

/**
 * True for an answer that can be judged. The part of a 2xx that has come may hold the ID; the part of any other answer may
 * mean anything.
 */
export function isUsable(answer: HttpResponse | ConnectionError): boolean {
	return !(answer instanceof ConnectionError) && (answer.cutOff === undefined || isSuccess(answer));
}

export function isSuccess({ status }: HttpResponse): boolean {
	return status >= 200 && status < 300;
}
