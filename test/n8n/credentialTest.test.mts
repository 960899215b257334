/** A credential in n8n: its test tells every outcome in plain words (all are in test/nodes/settings), and one with expressions buys for one account. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { sandboxKey } from './support/instance.mts';
import { joinN8n, logOf, type Joined } from './support/shared.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

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

test('an API key that an expression reads from the item: the items of a run have one account, or nothing is bought', async () => {
	const { rest, sandbox } = instance;
	const data = { ...instance.credential.data, apiKey: '={{ $json.key }}' };
	const { id } = await rest.request('POST', '/rest/credentials', { name: 'By item', type: credentialType, data });
	const signed = { rest, credential: { id: String(id), name: 'By item', data } };
	const runWith = async (wait: string, ...keys: string[]) => {
		const parameters = { prompt: 'one account', result: 'urlOnly', wait };
		const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
		const items = keys.map((key) => ({ prompt: '', key }));
		const execution = await startExecution(rest, await createWorkflow(signed, items, [node]), 'Start');
		return (await untilFinished(rest, execution)) as { status: string; error?: { message?: string } };
	};
	const other = await runWith('untilReady', sandboxKey, 'sk-other');
	assert.match(String(other.error?.message), /another API key, Base URL or setting for item 1 than for item 0/);
	const sleeping = await runWith('acrossRestarts', sandboxKey);
	assert.match(
		String(sleeping.error?.message),
		/^Wait cannot be Until Ready, Across Restarts here: the credential has/,
	);
	const bought = () => sandbox.tasks.filter(({ body }) => body.prompt === 'one account').length;
	assert.equal(bought(), 0);
	assert.equal((await runWith('untilReady', sandboxKey, sandboxKey)).status, 'success');
	assert.equal(bought(), 2);
});
