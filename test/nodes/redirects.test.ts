/** A redirect of the service is not followed: the request, and the key with it, would go to another host. */
import type { IDataObject } from 'n8n-workflow';
import { startHostile, text, TASK_ID, type Hostile } from '../support/hostile.mts';
import { hurry, pngField, quick, runGateway, testCredential, type Kind, type Sandbox } from '../support/nodes.mts';

let service: Hostile;
let elsewhere: Hostile;
beforeAll(async () => {
	[service, elsewhere] = await Promise.all([startHostile(), startHostile()]);
});
afterAll(async () => await Promise.all([service.close(), elsewhere.close()]));
afterEach(() => jest.restoreAllMocks());

const upload = { image: [{ source: 'binary', binaryPropertyName: 'data' }] };

describe.each([301, 302, 303, 307, 308])('a redirect with %i', (status) => {
	beforeEach(() => {
		const moved = text('', { location: `${elsewhere.baseUrl}/v1/elsewhere` }, status);
		Object.assign(service.answers, { create: moved, poll: moved, balance: moved });
		elsewhere.reset();
		hurry(200);
	});

	test.each<[string, Kind, IDataObject]>([
		['a creation', 'image', { operation: 'generate', prompt: 'a', options: quick }],
		['an upload', 'image', { operation: 'generate', prompt: 'a', images: upload, options: quick }],
		['a read of a task', 'image', { operation: 'getTask', taskId: TASK_ID }],
		['a read of the balance', 'balance', { operation: 'getAccountBalance' }],
	])('a redirect of %s is not followed: it is an error', async (_, kind, parameters) => {
		const items = [{ json: {}, binary: { data: pngField() } }];
		const { error } = await runGateway(kind, service as unknown as Sandbox, parameters, { items });
		expect(error).toBeDefined();
		expect(elsewhere.requests).toEqual([]);
	});

	test('a redirect of the test of the credential is not followed', async () => {
		const { status: outcome, message } = await testCredential(service);
		expect([outcome, message]).toEqual(['Error', expect.stringContaining(new URL(elsewhere.baseUrl).host)]);
		expect(elsewhere.requests).toEqual([]);
	});
});
