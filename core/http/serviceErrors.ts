import {
	asGatewayError,
	gatewayError,
	isTransientStatus,
	type GatewayError,
	type GatewayErrorDetails,
} from '../errors';
import { isOfService, outlineOf, parseRefusal, reasonOf, reasonOfText } from '../records/refusals';
import type { HttpResponse } from './types';

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
	if (status >= 300 && status < 400) {
		return gatewayError(
			'serviceRedirects',
			{ target: headers.location ? hostOf(headers.location) : undefined },
			details,
		);
	}
	if (isTransientStatus(status)) return gatewayError('serviceUnavailable', {}, details);
	const isJson = body !== undefined;
	if (status < 300 && status >= 200 && !isJson) return gatewayError('notTheService', {}, details);
	// A no without a reason: another answer may follow.
	return gatewayError('requestRejected', {}, { ...details, permanent: false });
}

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

/** Statuses of pages that a firewall, a bot check or a container that restarts shows in the place of the service. */
const IN_BETWEEN = new Set([401, 403, 404]);

/** The status that a refusal means: some services answer 200, and have it as the code. */
const statusOf = (status: number, code = '') => (status < 300 && /^[45]\d\d$/.test(code) ? Number(code) : status);

/** Only the host of a redirect is shown: its path and query may hold secrets of others. */
function hostOf(location: string): string {
	try {
		return new URL(location).host;
	} catch {
		return 'another path';
	}
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
