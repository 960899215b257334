/** The client that a credential makes, for a run and for n8n's test of the credential, without n8n. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { accounts } from '../../core/processMemory';
import { createClient, type ClientOptions } from '../../nodes/connection/createClient';
import { generationGatewayApiTest, MESSAGES } from '../../nodes/connection/credentialTest';
import { CREDENTIAL, HEADERS, type GatewayContext } from '../../nodes/connection/transport';

const CREDENTIALS = { baseUrl: 'https://g.example/base', apiKey: 'Bearer sk-12345678' };
const BALANCE = { success: true, remain_balance: 1, used_balance: 1, remain_credits: 200, used_credits: 200 };

type Answer = (options: { url?: string; uri?: string }) => unknown;
const refusal = (statusCode: number, message: string) => () => ({
	...{ statusCode, headers: {}, body: JSON.stringify({ success: false, message }) },
});
const balance: Answer = () => ({ statusCode: 200, headers: {}, body: JSON.stringify(BALANCE) });

async function client(credential: object = {}, options?: ClientOptions, answer = balance) {
	const sent: IHttpRequestOptions[] = [];
	const asked: string[] = [];
	const context = {
		getNode: () => ({}),
		getCredentials: async (name: string) =>
			await Promise.resolve((asked.push(name), { ...CREDENTIALS, ...credential })),
		helpers: {
			httpRequestWithAuthentication: async (_: string, request: IHttpRequestOptions) =>
				await Promise.resolve((sent.push(request), answer(request))),
		},
	};
	return { client: await createClient(context as unknown as GatewayContext, options), sent, asked };
}

test('the client of a run sends to the address of the credential', async () => {
	const { client: own, sent, asked } = await client();
	await own.getUserBalance();
	expect([asked, sent.map(({ url }) => url)]).toEqual([[CREDENTIAL], ['https://g.example/base/v1/user/balance']]);
});

test('runs with the same address and key share an account, whose name does not tell the key', async () => {
	const { client: first } = await client({ requestsPerSecond: 30 });
	await client({ apiKey: 'sk-12345678', requestsPerSecond: 20 });
	expect(accounts.size).toBe(1);
	expect(first.requestsPerSecond).toBe(20);
	await client({ apiKey: 'sk-87654321' });
	await client({ baseUrl: 'https://other.example' });
	expect(accounts.size).toBe(3);
	for (const name of accounts.keys()) expect(name).toMatch(/^[\w+/]{43}=$/);
	expect(first.requestsPerSecond).toBe(20);
});

test('a run can be slower than its account, and has slots of it', async () => {
	const { client: slow } = await client({ tasksAtOnce: 1 }, { requestsPerSecond: 5 });
	expect([slow.requestsPerSecond, slow.slots?.isBusy()]).toEqual([5, false]);
});

test('a run reads as often as it says', async () => {
	const { client: own, sent } = await client({}, { readTries: 1 }, refusal(500, 'out of order'));
	await expect(own.getUserBalance()).rejects.toMatchObject({ kind: 'unavailable' });
	expect(sent).toHaveLength(1);
});

test('no run sees its key in an answer', async () => {
	const { client: own } = await client({}, {}, refusal(401, 'bad key sk-12345678'));
	await expect(own.getUserBalance()).rejects.toMatchObject({ details: { serviceMessage: 'bad key [API key]' } });
});

/** The test of the credential. */
async function tested(data: object | undefined, answer: Answer = balance) {
	const sent: object[] = [];
	const request = async (options: { uri: string }) => await Promise.resolve((sent.push(options), answer(options)));
	const result = await generationGatewayApiTest.call({ helpers: { request } } as never, { data } as never);
	return { ...result, sent };
}

test('the test of the credential reads the balance once, with the key, and follows no redirect', async () => {
	const { status, message, sent } = await tested(CREDENTIALS);
	expect([status, message]).toEqual(['OK', 'The service answered and accepted the API key']);
	expect(sent).toEqual([
		{
			uri: 'https://g.example/base/v1/user/balance',
			headers: { ...HEADERS, Authorization: 'Bearer sk-12345678' },
			timeout: 15_000,
			simple: false,
			resolveWithFullResponse: true,
			followRedirect: false,
			useStream: true,
		},
	]);
});

test.each<[string, object | undefined, string]>([
	['nothing', undefined, 'Base URL in the credential is empty. Enter the address of the service, '],
	['no key', { ...CREDENTIALS, apiKey: ' ' }, MESSAGES.noKey],
	['a key that no header can hold', { ...CREDENTIALS, apiKey: 'sk–1' }, 'API Key in the credential has "–"'],
	['a limit that is none', { ...CREDENTIALS, tasksAtOnce: 'x' }, 'Tasks at Once in the credential is "x"'],
	['a switch', { ...CREDENTIALS, allowPrivateAddresses: 7 }, 'Allow Private Addresses in the credential is 7'],
	['another switch', { ...CREDENTIALS, purchaseLog: 7 }, 'Purchase Log in the credential is 7'],
])('the test of a credential with %s says so, and sends nothing', async (_, data, words) => {
	const { status, message, sent } = await tested(data);
	expect([status, sent]).toEqual(['Error', []]);
	expect(message).toMatch(/^\w/);
	expect(message?.startsWith(words)).toBe(true);
});

test('the test of the credential says in one try what is wrong, without the key, and as text', async () => {
	const { status, message, sent } = await tested(CREDENTIALS, refusal(500, '<b>out</b> sk-12345678'));
	expect([status, sent.length]).toEqual(['Error', 1]);
	expect(message).toMatch(/^The service .* later\. The service says: "‹b›out‹\/b› \[API key\]" \(HTTP 500\)\.$/);
});

test('the test of the credential ends after 15 seconds without an answer', async () => {
	const timeout = AbortSignal.timeout.bind(AbortSignal);
	const deadline = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(10));
	const { message } = await tested(CREDENTIALS, async () => await new Promise(() => {}));
	expect(message).toMatch(/^The service at g\.example could not be reached\. No answer came in time\. /);
	expect(deadline.mock.calls).toContainEqual([15_000]);
	jest.restoreAllMocks();
});
