import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IN8nHttpFullResponse,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { GatewayClient } from '../../core/client';
import { asGatewayError } from '../../core/errors';
import type { Send } from '../../core/http/types';
import { AccountPace } from '../../core/account/pace';
import { describe } from '../../core/errors/describe';
import { plain } from '../errors/toNodeError';
import { hasPurchaseLog, readApiKey, readLimits, readSettings } from './settings';
import { answerWithin, HEADERS, hidingKey, realClock } from './transport';

/** The messages of the test itself; all others are those of errors. */
export const MESSAGES = {
	passed: 'The service answered and accepted the API key',
	noKey: 'API Key is empty. Enter the key of your account.',
};

const TIMEOUT_MS = 15_000;

/** n8n's test of the credential: reads the balance (contract 4.1) and says in plain words what is wrong. */
export async function generationGatewayApiTest(
	this: ICredentialTestFunctions,
	credential: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const data = credential.data ?? {};
	try {
		const apiKey = readApiKey(data.apiKey);
		const client = new GatewayClient({
			settings: readSettings(data),
			clock: realClock,
			pace: new AccountPace(10, realClock).ofRun(),
			readTries: 1,
			send: hidingKey(createTestSend(this.helpers, apiKey), apiKey),
		});
		// What else no node could run with.
		readLimits(data);
		hasPurchaseLog(data);
		if (apiKey === '') return { status: 'Error', message: MESSAGES.noKey };
		await client.getUserBalance();
		return { status: 'OK', message: MESSAGES.passed };
	} catch (thrown) {
		const error = asGatewayError(thrown);
		return { status: 'Error', message: plain(`${error.message}. ${describe(error)}`) };
	}
}

/** `request` is the only helper that n8n gives to the test of a credential; the key is added here. */
function createTestSend(helpers: ICredentialTestFunctions['helpers'], apiKey: string): Send {
	return async ({ url }) =>
		await answerWithin({ timeoutMs: TIMEOUT_MS }, async (signal) => {
			const request = helpers.request({
				uri: url,
				headers: { ...HEADERS, Authorization: `Bearer ${apiKey}` },
				timeout: TIMEOUT_MS,
				simple: false,
				resolveWithFullResponse: true,
				followRedirect: false,
				useStream: true,
			}) as Promise<IN8nHttpFullResponse>;
			// This helper takes no signal. `answerWithin` knows why it aborts.
			const aborted = new Promise<never>((_, reject) => onAbort(signal, reject));
			return await Promise.race([request, aborted]);
		});
}
