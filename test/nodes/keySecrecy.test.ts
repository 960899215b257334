/** The key of the credential is in nothing that a run leaves. Every test in n8n's engine looks for it: these show that it is found. */
import { ExecuteContext } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { finished, startHostile, TASK_ID, text } from '../support/hostile.mts';
import { assertNoKeyIsLeft } from '../support/keySecrecy.mts';
import { hurry, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';
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

describe('a service that quotes the key in a header does not bring it into an item, an error or an address', () => {
	let hostile: Awaited<ReturnType<typeof startHostile>>;
	beforeAll(async () => {
		hostile = await startHostile();
	});
	afterAll(async () => await hostile.close());
	beforeEach(() => hurry(100));
	afterEach(() => jest.restoreAllMocks());

	/** The answer to a request without the key is 401. */
	const download = async (headers: Record<string, string>, status = 200) => {
		hostile.answers.poll = finished({ url: `${hostile.baseUrl}/files/a` });
		const answer = text('\0 file', { 'content-type': 'image/png', ...headers }, status);
		hostile.answers.file = (response, request) =>
			(request.headers.authorization === undefined ? text('', {}, 401) : answer)(response, request);
		const parameters = { operation: 'getResult', wait: 'dontWait', result: 'file', taskId: TASK_ID };
		return await runGateway('image', hostile as unknown as Sandbox, parameters);
	};

	test('in the address of a redirect', async () => {
		hostile.answers.balance = text('', { location: `https://${hostile.apiKey}.example.com/` }, 302);
		const { error } = await runGateway('balance', hostile as unknown as Sandbox, { operation: 'getAccountBalance' });
		expect(error?.message).toBe('The service redirects requests to another path');
	});

	test('in the name of a file', async () => {
		const { items } = await download({ 'content-disposition': `attachment; filename="of ${hostile.apiKey}.png"` });
		expect(items[0]?.binary?.data?.fileName).toMatch(/^of .*API key.*\.png$/);
	});

	test('in the name of a file that is given without the key', async () => {
		hostile.answers.poll = finished({ url: `${hostile.baseUrl}/files/a` });
		const disposition = `attachment; filename="of ${hostile.apiKey}.png"`;
		hostile.answers.file = text('\0 file', { 'content-type': 'image/png', 'content-disposition': disposition });
		const parameters = { operation: 'getResult', wait: 'dontWait', result: 'file', taskId: TASK_ID };
		const { items } = await runGateway('image', hostile as unknown as Sandbox, parameters);
		expect(items[0]?.binary?.data?.fileName).toMatch(/^of .*API key.*\.png$/);
	});

	test('in the address of a file on another host', async () => {
		const { error } = await download({ location: `${sandbox.filesUrl}/a.png?key=${hostile.apiKey}` }, 302);
		expect(error?.description).toContain('HTTP 404');
		expect(new Set(sandbox.fileRequests.map(({ path }) => path))).toEqual(new Set(['/a.png?key=[API%20key]']));
	});
});
