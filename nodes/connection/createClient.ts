import type { RequestContext } from '../../core/http/requests';
import { GatewayClient } from '../../core/client';
import { DEFAULT_REQUESTS_PER_SECOND, RequestLimiter } from '../../core/http/requestLimiter';
import { readApiKey, readSettings } from './settings';
import { createSend, CREDENTIAL, hidingKey, realClock, type GatewayContext } from './transport';

interface ClientOptions extends Pick<RequestContext, 'signal' | 'onRetry' | 'readTries' | 'readTimeoutMs'> {
	requestsPerSecond?: number;
}

/** The client of one run of a node: all its requests share one limiter. */
export async function createClient(
	context: GatewayContext,
	{ requestsPerSecond = DEFAULT_REQUESTS_PER_SECOND, ...options }: ClientOptions = {},
): Promise<GatewayClient> {
	const credential = await context.getCredentials(CREDENTIAL);
	const settings = readSettings(credential);
	return new GatewayClient({
		send: hidingKey(createSend(context), readApiKey(credential.apiKey)),
		clock: realClock,
		limiter: new RequestLimiter(requestsPerSecond, realClock),
		settings,
		...options,
	});
}
