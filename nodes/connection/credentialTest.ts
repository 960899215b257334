import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { GatewayClient } from '../../core/client';
import { asGatewayError } from '../../core/errors';
import type { Send } from '../../core/http/types';
import { RequestLimiter } from '../../core/http/requestLimiter';
import { describe } from '../errors/advice';
import { readApiKey, readSettings } from './settings';
import { asConnectionError, hidingKey, realClock, toResponse } from './transport';

/** What the test itself says; anything else is an error's. */
export const MESSAGES = {
	passed: 'The service answered and accepted the API key',
	noKey: 'API Key is empty. Enter the key of your account.',
};

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
			limiter: new RequestLimiter(10, realClock),
			readTries: 1,
			send: hidingKey(createTestSend(this.helpers, apiKey), apiKey),
		});
		if (apiKey === '') return { status: 'Error', message: MESSAGES.noKey };
		await client.getUserBalance();
		return { status: 'OK', message: MESSAGES.passed };
	} catch (thrown) {
		const error = asGatewayError(thrown);
		return { status: 'Error', message: [error.message, describe(error)].filter(Boolean).join('. ') };
	}
}

/** `request` is the only helper that n8n gives to the test of a credential; the key is added here. */
function createTestSend(helpers: ICredentialTestFunctions['helpers'], apiKey: string): Send {
	return async ({ url, timeoutMs }) => {
		try {
			const response = (await helpers.request({
				uri: url,
				headers: { Authorization: `Bearer ${apiKey}`, Accept: 'application/json' },
				timeout: Math.min(timeoutMs, 15_000),
				simple: false,
				resolveWithFullResponse: true,
				followRedirect: false,
			})) as { statusCode: number; headers: object; body: unknown };
			return toResponse(response.statusCode, response.headers, response.body);
		} catch (thrown) {
			throw asConnectionError(thrown);
		}
	};
}
