import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayClient } from '../../core/client';
import { RequestLimiter } from '../../core/requestLimiter';
import { readSettings, type RawSettings } from '../../core/settings';
import { createSend, CREDENTIAL, realClock } from './transport';

export const DEFAULT_REQUESTS_PER_SECOND = 40;

/** The client of one node run: all its requests share one polite limiter. */
export async function createClient(
	context: IExecuteFunctions,
	requestsPerSecond = DEFAULT_REQUESTS_PER_SECOND,
): Promise<GatewayClient> {
	const settings = readSettings((await context.getCredentials(CREDENTIAL)) as RawSettings);
	return new GatewayClient({
		send: createSend(context),
		clock: realClock,
		limiter: new RequestLimiter(requestsPerSecond, realClock),
		settings,
		signal: context.getExecutionCancelSignal(),
	});
}
