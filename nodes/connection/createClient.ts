import { createHash } from 'crypto';
import type { RequestContext } from '../../core/http/requests';
import { GatewayClient } from '../../core/client';
import { accountOf } from '../../core/account/accounts';
import { readApiKey, readLimits, readSettings } from './settings';
import { createSend, CREDENTIAL, hidingKey, realClock, type GatewayContext } from './transport';

type ClientOptions = Pick<RequestContext, 'signal' | 'onRetry' | 'readTries' | 'readTimeoutMs'>;

/** The client of one run of a node. All runs of a process with the same account share its limits. */
export async function createClient(context: GatewayContext, options: ClientOptions = {}): Promise<GatewayClient> {
	const credential = await context.getCredentials(CREDENTIAL);
	const settings = readSettings(credential);
	const apiKey = readApiKey(credential.apiKey);
	const account = createHash('sha256').update(`${settings.baseUrl} ${apiKey}`).digest('base64');
	const { pace, places, rows, reads, submissions } = accountOf(account, readLimits(credential), realClock);
	return new GatewayClient({
		send: hidingKey(createSend(context, credential), apiKey),
		clock: realClock,
		pace: pace.ofRun(),
		places: places.ofRun(),
		rows,
		reads,
		submissions,
		settings,
		...options,
	});
}
