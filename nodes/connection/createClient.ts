import { createHash } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { Connection, RequestContext } from '../../core/http/requests';
import { GatewayClient } from '../../core/client';
import { accountOf } from '../../core/account/accounts';
import { invalidInput } from '../../core/errors';
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

/**
 * Throws where the credential has expressions that read the item, and an item has another account than the first: n8n reads them for
 * one item, and its account would pay for all.
 *
 * @param sleepsAs Wait, where executions go on that have other items: they could not read the key, and paid tasks would be lost
 */
export async function assertOneAccount(context: IExecuteFunctions, sleepsAs?: string): Promise<void> {
	const count = context.getInputData().length;
	if (count < 2 && sleepsAs === undefined) return;
	const signatureOf = async (item: number) => (await readCredential(context, item)).signature;
	const first = await signatureOf(0);
	// There is no such item: an expression that reads it has another value, or none.
	if ((await signatureOf(count).catch(() => undefined)) === first) return;
	if (sleepsAs !== undefined)
		throw invalidInput(
			`Wait cannot be ${sleepsAs} here: the credential has an expression that reads the item, which executions that wait do not have`,
			'Set Wait to Until Ready, or enter the API key and the Base URL without expressions.',
		);
	for (let item = 1; item < count; item++) {
		if ((await signatureOf(item)) === first) continue;
		throw invalidInput(
			`The credential has another API key, Base URL or setting for item ${item} than for item 0, but all items of a run use one account`,
			'Put Loop Over Items with a Batch Size of 1 before this node.',
		);
	}
}

type CredentialRead = Awaited<ReturnType<typeof readCredential>>;

/** @param item its values are those of the expressions in the credential */
async function readCredential(context: GatewayContext, item = 0) {
	const credential = await context.getCredentials(CREDENTIAL, item);
	const settings = readSettings(credential);
	const limits = readLimits(credential);
	const apiKey = readApiKey(credential.apiKey);
	// An expression, or a vault that is away: without it, the service would say that the key is wrong.
	if (apiKey === '')
		throw invalidInput(
			'API Key in the credential is empty',
			'Enter the key in the credential. If it is an expression, check that it returns the key.',
		);
	// All credentials with the same address and API key share the limits of the account.
	const account = createHash('sha256').update(`${settings.baseUrl} ${apiKey}`).digest('base64');
	return { credential, settings, limits, apiKey, account, signature: JSON.stringify([settings, account]) };
}

function connect(
	context: GatewayContext,
	{ credential, settings, limits, apiKey, account }: CredentialRead,
): Connection {
	const { pace, places, rows, reads, submissions } = accountOf(account, limits, realClock);
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
