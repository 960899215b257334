/** The test of the credential, as a person sees it: every outcome is told in plain words. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { sandboxKey, startInstance, type Instance } from './support/instance.mts';

let instance: Instance;
let strangers: Server;
let strangersUrl: string;

before(async () => {
	instance = await startInstance();
	strangers = createServer((request, response) => {
		if (request.url?.startsWith('/page')) {
			response.setHeader('content-type', 'text/html').end('<!doctype html><title>Welcome</title>');
		} else if (request.url?.startsWith('/other')) {
			response.writeHead(404).end('Cannot GET');
		} else {
			response
				.setHeader('content-type', 'application/json')
				.end('{"success":false,"message":"Failed to get user quota"}');
		}
	});
	await new Promise<void>((resolve) => strangers.listen(0, '127.0.0.1', resolve));
	strangersUrl = `http://127.0.0.1:${(strangers.address() as AddressInfo).port}`;
});

after(async () => {
	strangers.closeAllConnections();
	strangers.close();
	await instance.close();
});

/** The message that n8n shows after it has tested the credential. */
async function pressTestButton(data: Record<string, unknown>): Promise<{ status: 'OK' | 'Error'; message: string }> {
	const { id, name } = instance.credential;
	return await instance.rest.request('POST', '/rest/credentials/test', {
		credentials: { id, name, type: credentialType, data },
	});
}

test('a right key passes, however the base URL is written', async () => {
	for (const end of ['', '/', '/v1', '/v1/']) {
		const answer = await pressTestButton({ baseUrl: `${instance.sandbox.baseUrl}${end}`, apiKey: sandboxKey });
		assert.equal(answer.status, 'OK', `with "${end}" at the end: ${answer.message}`);
	}
});

test('a key that was pasted with "Bearer" or spaces passes', async () => {
	for (const apiKey of [`Bearer ${sandboxKey}`, `  ${sandboxKey}\n`]) {
		const answer = await pressTestButton({ baseUrl: instance.sandbox.baseUrl, apiKey });
		assert.equal(answer.status, 'OK', `with ${JSON.stringify(apiKey)}: ${answer.message}`);
	}
});

const refusals: Array<{ title: string; data: () => Record<string, unknown>; message: RegExp }> = [
	{
		title: 'a wrong key',
		data: () => ({ baseUrl: instance.sandbox.baseUrl, apiKey: 'sk-wrong' }),
		message: /API key/i,
	},
	{
		title: 'a host that does not answer',
		data: () => ({ baseUrl: 'http://127.0.0.1:9', apiKey: sandboxKey }),
		message: /reach/i,
	},
	{
		title: 'a web page in place of the service',
		data: () => ({ baseUrl: `${strangersUrl}/page`, apiKey: sandboxKey }),
		message: /Base URL|not .*gateway/i,
	},
	{
		title: 'a program that knows no balance in place of the service',
		data: () => ({ baseUrl: `${strangersUrl}/other`, apiKey: sandboxKey }),
		message: /^This address is not a Generation Gateway service\. Check the Base URL/,
	},
	{
		title: 'a 200 that says success: false',
		data: () => ({ baseUrl: strangersUrl, apiKey: sandboxKey }),
		message: /Failed to get user quota|not .*gateway|refused/i,
	},
	{
		title: 'plain http to another machine',
		data: () => ({ baseUrl: 'http://gateway.example', apiKey: sandboxKey }),
		message: /https.*|Allow Plain HTTP/i,
	},
];

for (const { title, data, message } of refusals) {
	test(`${title} is refused in plain words`, async () => {
		const answer = await pressTestButton(data());
		assert.equal(answer.status, 'Error', answer.message);
		assert.match(answer.message, message);
		assert.doesNotMatch(answer.message, /undefined|\[object|status code|ECONN|<!doctype/i);
	});
}

test('the key is in no message and not in the log', async () => {
	const apiKey = 'sk-must-never-be-seen';
	const answers = [
		await pressTestButton({ baseUrl: instance.sandbox.baseUrl, apiKey }),
		await pressTestButton({ baseUrl: 'http://127.0.0.1:9', apiKey }),
	];
	assert.ok(!JSON.stringify(answers).includes(apiKey));
	assert.ok(!instance.n8n.server.lastLines(10_000).includes(apiKey));
});
