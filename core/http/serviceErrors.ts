import {
	asGatewayError,
	gatewayError,
	isTransientStatus,
	type GatewayError,
	type GatewayErrorDetails,
} from '../errors';
import { parseRefusal, reasonOf } from '../records/refusals';
import type { HttpResponse } from './types';

/** The error of an answer that is no success. `retryAfterMs`: the pause that the service asks for. */
export function refusalError(response: HttpResponse, retryAfterMs?: number): GatewayError {
	const { body } = response;
	const { message: serviceMessage, code: serviceCode } = parseRefusal(body);
	const details = { httpStatus: response.status, serviceMessage, serviceCode, retryAfterMs };
	const reason = reasonOf({ message: serviceMessage, code: serviceCode }, response.status);
	if (reason !== undefined) return gatewayError(reason, {}, details);
	const { status, headers } = response;
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
	Record<'notFound' | 'permission' | 'rejected', (details: GatewayErrorDetails) => GatewayError | undefined>
>;

/** Replaces the general meaning of a refusal by the one for this request; the words of the service stay. */
export async function mapError<T>(request: Promise<T>, meanings: RefusalErrors): Promise<T> {
	try {
		return await request;
	} catch (thrown) {
		const error = asGatewayError(thrown);
		const { kind, details } = error;
		const own = kind === 'notFound' || kind === 'permission' || kind === 'rejected' ? meanings[kind] : undefined;
		// A wait does not poll again after a permanent error; an unknown ID may only be new.
		throw own?.({ ...details, permanent: kind === 'rejected' ? true : details.permanent }) ?? error;
	}
}
