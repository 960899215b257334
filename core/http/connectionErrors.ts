import { GatewayError } from '../errors';
import type { ConnectionError } from './types';

/** No connection was made, or a read got no answer. */
export function unreachable(connection: ConnectionError, url: string): GatewayError {
	const { host } = new URL(url);
	return new GatewayError('unreachable', `The service at ${host} could not be reached`, {
		description: `${REASONS[connection.code] ?? `The connection ended without an answer (${connection.code}).`} Check the Base URL in the credential and the network of the n8n host, then try again.`,
	});
}

const REASONS: Record<string, string> = {
	ECONNREFUSED: 'Nothing accepts connections at this address.',
	ENOTFOUND: 'The host name does not exist.',
	EAI_AGAIN: 'The host name could not be looked up.',
	ECONNABORTED: 'No answer came in time.',
	ETIMEDOUT: 'No answer came in time.',
};

/** What a creating request creates, in words for messages. */
export type CreatedThing = 'task' | 'token' | 'verification' | 'group' | 'asset';

/**
 * A creating request may or may not have been accepted. It is not sent again on its own: the user decides
 * with Submit Again, after a look at the account.
 */
export function unknownOutcome(thing: CreatedThing, what: string, refusal?: GatewayError): GatewayError {
	return new GatewayError('outcomeUnknown', `It is not known whether the service accepted this ${thing}`, {
		httpStatus: refusal?.details.httpStatus,
		serviceMessage: refusal?.details.serviceMessage,
		serviceCode: refusal?.details.serviceCode,
		description: [
			`The request was sent, and then ${what}. It is not submitted again on its own, because ${TWICE[thing]}.`,
			decideYourself(thing),
			refusal?.details.serviceMessage ? `The service says: "${refusal.details.serviceMessage}".` : '',
		]
			.filter(Boolean)
			.join(' '),
	});
}

/** The same, met again by a retry. */
export function stillUnknown(thing: CreatedThing): GatewayError {
	return new GatewayError(
		'outcomeUnknown',
		`It is not known whether the service accepted this ${thing} in an earlier try`,
		{ description: `It was not submitted again, because ${TWICE[thing]}. ${decideYourself(thing)}` },
	);
}

const TWICE: Record<CreatedThing, string> = {
	task: 'the task might be paid for twice',
	token: 'there might be two tokens then',
	verification: 'there might be two verifications then',
	group: 'there might be two groups then',
	asset: 'the asset might be uploaded twice',
};

function decideYourself(thing: CreatedThing): string {
	return `Look into your account: if no ${thing} was created, turn on Submit Again in the options, save, and retry this execution with the currently saved workflow. (A new execution would submit every item anew.)`;
}
