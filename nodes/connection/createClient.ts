import { createHash } from 'crypto';
import type { RequestContext } from '../../core/http/requests';
import { GatewayClient } from '../../core/client';
import { accountOf } from '../../core/account/accounts';
import { readApiKey, readLimits, readSettings } from './settings';
import { createSend, CREDENTIAL, hidingKey, realClock, type GatewayContext } from './transport';

export interface ClientOptions extends Pick<RequestContext, 'signal' | 'onRetry' | 'readTries' | 'readTimeoutMs'> {
	/** The limit of this run, where it is lower than that of the account. */
	requestsPerSecond?: number;
	/** The name of the run, where it goes on in another execution. */
	run?: string;
}

/** The client of one run of a node. All runs of a process with the same account share its limits. */
export async function createClient(
	context: GatewayContext,
	{ requestsPerSecond, run, ...options }: ClientOptions = {},
): Promise<GatewayClient> {
	const credential = await context.getCredentials(CREDENTIAL);
	const settings = readSettings(credential);
	const apiKey = readApiKey(credential.apiKey);
	const account = createHash('sha256').update(`${settings.baseUrl} ${apiKey}`).digest('base64');
	const { limiter, slots, reads, submissions } = accountOf(account, readLimits(credential), realClock);
	return new GatewayClient({
		send: hidingKey(createSend(context, credential), apiKey),
		clock: realClock,
		limiter: limiter.lane(requestsPerSecond, run),
		slots: slots.ofRun(),
		reads,
		submissions,
		settings,
		...options,
	});
}
