import { gatewayError, GatewayError, type CreatedThing } from '../errors';
import { NO_ROOM, TOO_LARGE, type ConnectionError } from './types';

/** The error for a request without a connection, or a read without an answer. */
export function unreachable({ code }: ConnectionError, url: string): GatewayError {
	return gatewayError('serviceUnreachable', { host: new URL(url).host, code });
}

/**
 * The error for a creating request that may or may not have been accepted. It is not sent again: the user decides,
 * after a check of the account.
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

/**
 * The error of a creating request that may have been answered: what is none of our errors is a mistake of our own, and says
 * nothing about what the service did.
 */
export function asCreationError(thrown: unknown, thing: CreatedThing): GatewayError {
	if (thrown instanceof GatewayError) return thrown;
	return unknownOutcome(thing, 'The service answered, but the answer could not be read', undefined, thrown);
}

/** The characters of an ID that is too long. No URL can be longer. */
const SHOWN_ID_LENGTH = 8_000;

/** The error for an accepted thing whose ID nothing can store: it says the ID, as nothing else does. */
export function idTooLong(thing: CreatedThing, id: string): GatewayError {
	const what = `The service answered the request with an ID of ${id.length} characters, which n8n cannot keep`;
	const task = { taskId: id.slice(0, SHOWN_ID_LENGTH), elapsedMs: 0 };
	return gatewayError('outcomeUnknown', { thing, what }, { task });
}

/** Says how an answer ended before it was complete. */
export function howItWasCutOff(code: string): string {
	return code === TOO_LARGE || code === NO_ROOM
		? 'The answer from the service was too large, and was cut off'
		: `The request was sent, but no complete answer came (${code})`;
}
