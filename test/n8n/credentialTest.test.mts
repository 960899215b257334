/** n8n's route for the test of a credential: every outcome is told in plain words. All outcomes are in test/nodes/settings. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { sandboxKey } from './support/instance.mts';
import { joinN8n, logOf, type Joined } from './support/shared.mts';

let instance: Joined;
let stranger: Server;

before(async () => {
	instance = await joinN8n();
	stranger = createServer((_, response) => void response.end('<!doctype html><title>Welcome</title>'));
	await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
});
after(async () => {
	stranger.close();
	await instance.close();
});

/** The message that n8n shows after it has tested the credential. */
async function pressTestButton(data: Record<string, unknown>): Promise<{ status: 'OK' | 'Error'; message: string }> {
	const { id, name } = instance.credential;
	const credentials = { id, name, type: credentialType, data };
	return await instance.rest.request('POST', '/rest/credentials/test', { credentials });
}

test('a right key passes, however it was pasted and the base URL is written', async () => {
	for (const [end, apiKey] of [
		['', sandboxKey],
		['/v1/', `Bearer ${sandboxKey}\n`],
	]) {
		const answer = await pressTestButton({ baseUrl: `${instance.sandbox.baseUrl}${end}`, apiKey });
		assert.deepEqual(answer, { status: 'OK', message: 'The service answered and accepted the API key' });
	}
});

test('a wrong key, a host that does not answer, and a web page are each told apart, without the key', async () => {
	const apiKey = 'sk-must-never-be-seen';
	const page = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
	const refusals: Array<[baseUrl: string, message: RegExp]> = [
		[instance.sandbox.baseUrl, /^The service did not accept the API key/],
		['http://127.0.0.1:9', /^The service at 127\.0\.0\.1:9 could not be reached/],
		[page, /^The answer does not come from the Generation Gateway service\. Check the Base URL/],
	];
	for (const [baseUrl, message] of refusals) {
		const answer = await pressTestButton({ baseUrl, apiKey });
		assert.equal(answer.status, 'Error');
		assert.match(answer.message, message);
		assert.ok(!answer.message.includes(apiKey));
	}
	assert.ok(!logOf(instance).includes(apiKey));
});
