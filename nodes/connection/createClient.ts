import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import type { Connection, RequestContext } from '../../core/http/requests';
import { GatewayClient } from '../../core/client';
import { accountOf } from '../../core/account/accounts';
import { readApiKey, readLimits, readSettings } from './settings';
import { createSend, CREDENTIAL, hidingKey, realClock, type GatewayContext } from './transport';

type ClientOptions = Pick<RequestContext, 'signal' | 'onRetry' | 'readTries' | 'readTimeoutMs'>;

/** The client of one run of a node. All runs of a process with the same account share its limits. */
export async function createClient(context: GatewayContext, options: ClientOptions = {}): Promise<GatewayClient> {
	let used = await readCredential(context);
	const renew = async () => {
		const read = await readCredential(context).catch(() => undefined);
		if (read === undefined || read.signature === used.signature) return undefined;
		used = read;
		return connect(context, read);
	};
	return new GatewayClient({ ...connect(context, used), clock: realClock, renew, ...options });
}

/** The account of a credential: all with the same address and API key share its limits. */
export function accountIn(credential: ICredentialDataDecryptedObject): string {
	const { baseUrl } = readSettings(credential);
	return createHash('sha256')
		.update(`${baseUrl} ${readApiKey(credential.apiKey)}`)
		.digest('base64');
}

type CredentialRead = Awaited<ReturnType<typeof readCredential>>;

async function readCredential(context: GatewayContext) {
	const credential = await context.getCredentials(CREDENTIAL);
	const settings = readSettings(credential);
	const apiKey = readApiKey(credential.apiKey);
	const account = accountIn(credential);
	return { credential, settings, apiKey, account, signature: JSON.stringify([settings, account]) };
}

function connect(context: GatewayContext, { credential, settings, apiKey, account }: CredentialRead): Connection {
	const { pace, places, rows, reads, submissions } = accountOf(account, readLimits(credential), realClock);
	return {
		send: hidingKey(createSend(context, credential), apiKey),
		pace: pace.ofRun(),
		places: places.ofRun(),
		rows,
		reads,
		submissions,
		settings,
		service: createHash('sha256').update(settings.baseUrl).digest('base64').slice(0, 16),
	};
}
