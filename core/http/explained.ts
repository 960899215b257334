import { asGatewayError, GatewayError } from '../errors';

/** What kinds of refusals mean for one request. */
interface Explanation {
	notFound?: string;
	permission?: string;
	rejected?: string;
	advice?: string;
}

/** Says what a refusal means for this very request; what the service said stays in the description. */
export async function explained<T>(request: Promise<T>, explanation: Explanation): Promise<T> {
	try {
		return await request;
	} catch (thrown) {
		const error = asGatewayError(thrown);
		const { kind, details } = error;
		const message = kind === 'notFound' || kind === 'permission' || kind === 'rejected' ? explanation[kind] : undefined;
		if (message === undefined) throw error;
		const said = details.serviceMessage ? `The service says: "${details.serviceMessage}".` : undefined;
		const advice = explanation.advice ?? 'Check the ID, and that the credential is the one of the account that created it.';
		// What is permanent is not asked again by a wait; an unknown id may only be new.
		const permanent = kind === 'rejected' ? true : details.permanent;
		throw asGatewayError(new GatewayError(kind, message, { ...details, permanent, description: [advice, said].filter(Boolean).join(' ') }));
	}
}
