import type { RequestContext } from '../../core/http/requests';
import { GatewayClient } from '../../core/client';
import { DEFAULT_REQUESTS_PER_SECOND, RequestLimiter } from '../../core/http/requestLimiter';
import { readApiKey, readSettings } from './settings';
import { createSend, CREDENTIAL, hidingKey, realClock, type GatewayContext } from './transport';

interface ClientOptions {
	requestsPerSecond?: number;
	/** Aborts when nothing may be sent any more. */
	signal?: AbortSignal;
	/** Gets to know that a request is sent again after a pause. */
	onRetry?: RequestContext['onRetry'];
}

/** The client of one run of a node: all its requests share one limiter. */
export async function createClient(
	context: GatewayContext,
	{ requestsPerSecond = DEFAULT_REQUESTS_PER_SECOND, signal, onRetry }: ClientOptions = {},
): Promise<GatewayClient> {
	const credential = await context.getCredentials(CREDENTIAL);
	const settings = readSettings(credential);
	return new GatewayClient({
		send: hidingKey(createSend(context), readApiKey(credential.apiKey)),
		clock: realClock,
		limiter: new RequestLimiter(requestsPerSecond, realClock),
		settings,
		signal,
		onRetry,
	});
}
