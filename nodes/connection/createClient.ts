import { GatewayClient } from '../../core/client';
import { RequestLimiter } from '../../core/http/requestLimiter';
import { cleanApiKey } from '../../core/settings';
import { readSettings } from './settings';
import { requestsPerSecondOption } from '../form/options';
import { createSend, CREDENTIAL, hidingKey, realClock, type GatewayContext } from './transport';

/** The client of one run of a node: all its requests share one polite limiter. */
export async function createClient(
	context: GatewayContext,
	requestsPerSecond = Number(requestsPerSecondOption.default),
): Promise<GatewayClient> {
	const credential = await context.getCredentials(CREDENTIAL);
	const settings = readSettings(credential);
	return new GatewayClient({
		send: hidingKey(createSend(context), cleanApiKey(credential.apiKey)),
		clock: realClock,
		limiter: new RequestLimiter(requestsPerSecond, realClock),
		settings,
		signal: 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined,
	});
}
