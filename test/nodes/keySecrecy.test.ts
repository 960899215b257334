/** The key of the credential is in nothing that a run leaves. Every test in n8n's engine looks for it: these show that it is found. */
import { ExecuteContext } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { assertNoKeyIsLeft } from '../support/keySecrecy.mts';
import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';
import { poll } from '../support/triggers.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const run = async (parameters: IDataObject, more: IDataObject = {}) =>
	await runGateway('image', sandbox, parameters, { items: [{ json: { key: sandbox.apiKey } }], ...more });
const returned = { operation: 'generate', prompt: 'a', wait: 'dontWait' };

test.each<[string, string, () => Promise<unknown>]>([
	['an item', 'the data of the execution', async () => await run({ ...returned, prompt: '={{ $json.key }}' })],
	[
		'an error',
		'the data of the execution',
		async () => await run({ operation: 'getResult', wait: 'dontWait', result: 'urlOnly', taskId: '={{ $json.key }}' }),
	],
	[
		'a line of the log',
		"n8n's log",
		async () => (await run(returned, { items: [] }), ExecuteContext.prototype.logger.warn(sandbox.apiKey)),
	],
	[
		'static data',
		'static data',
		async () =>
			await poll('balanceTrigger', sandbox, { threshold: 1 }, { staticData: { global: { key: sandbox.apiKey } } }),
	],
	[
		'a request to another host',
		'a request to another host',
		async () => await fetch(`${sandbox.filesUrl}/a.png`, { headers: { authorization: `Bearer ${sandbox.apiKey}` } }),
	],
])('the key is found in %s', async (_, place, leave) => {
	await leave();
	expect(assertNoKeyIsLeft).toThrow(new RegExp(`^The key of the credential is in .*${place}`));
	sandbox.reset();
});
