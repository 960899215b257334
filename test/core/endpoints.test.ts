/** Each endpoint: where it is, what it wants of the answer, and what its refusals mean. */
import type { RunSlots } from '../../core/account/runSlots';
import { SharedReads } from '../../core/account/sharedReads';
import type { GatewayClient, MediaKind } from '../../core/client';
import { isTransient, type GatewayError } from '../../core/errors';
import type { HttpRequest, HttpResponse } from '../../core/http/types';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { created, deferred, HTML, json, scriptedClient, flushPromises } from './support';

/** The requests of a call, and its result: the value, or the reason of its error. */
const call = async (use: (client: GatewayClient) => Promise<unknown>, ...answers: Array<HttpResponse | string>) => {
	const scripted = scriptedClient(answers);
	const outcome = await use(scripted.client).then(
		(value) => ({ value, error: undefined }),
		(error: GatewayError) => ({ value: undefined, error }),
	);
	return { ...scripted, ...outcome, reason: outcome.error?.details.reason };
};
const URL_OF = 'https://gateway.example';
const file = { fileName: 'a.png', mimeType: 'image/png', bytes: new Uint8Array([1]) };

test('the rules for files are those of the credential', () => {
	expect(scriptedClient([]).client.fileRules).toMatchObject({ baseUrl: URL_OF, allowPrivateAddresses: false });
});

describe('create a task', () => {
	test.each<[MediaKind, string]>([
		['image', '/v1/images/generations'],
		['video', '/v1/videos/generations'],
	])('a new task of the kind %s is posted to %s', async (kind, path) => {
		const { sent, value } = await call(async (client) => await client.createTask(kind, { model: 'm' }), created);
		expect(sent.map(({ method, url, body }) => [method, url, body])).toEqual([
			['POST', `${URL_OF}${path}`, { model: 'm' }],
		]);
		expect(value).toMatchObject({ id: 'task-1', state: 'queued', status: 'queued' });
	});

	test('a new task has the status of the answer that names it', async () => {
		const { value } = await call(
			async (client) => await client.createTask('image', {}),
			json(200, { id: 'task-2', status: 'running', progress: 7 }),
		);
		expect(value).toMatchObject({ id: 'task-2', state: 'in_progress', status: 'running', progress: 7 });
	});

	test('an answer without an ID is not known to be accepted', async () => {
		const { reason } = await call(
			async (client) => await client.createTask('video', {}),
			json(200, { status: 'queued' }),
		);
		expect(reason).toEqual({
			name: 'outcomeUnknown',
			data: { thing: 'task', what: 'The service answered the request without a task ID' },
		});
	});

	test('a new task whose ID is too long to be stored is not taken, and its ID is named', async () => {
		const answerWith = (length: number) => json(200, { id: 'x'.repeat(length), status: 'queued' });
		const create = async (client: GatewayClient) => await client.createTask('video', {});
		expect((await call(create, answerWith(1_000))).value).toMatchObject({ id: 'x'.repeat(1_000) });
		const { error, reason, sent } = await call(create, answerWith(1_001));
		expect(reason).toMatchObject({ name: 'outcomeUnknown', data: { thing: 'task' } });
		expect(sent).toHaveLength(1);
		expect(error?.details.task?.taskId).toBe('x'.repeat(1_001));
	});

	test('an ID in what cannot be read is that of a new task', async () => {
		const { value } = await call(
			async (client) => await client.createTask('video', {}),
			json(200, '{"task_id":"task-9","sta'),
		);
		expect(value).toMatchObject({ id: 'task-9', state: 'queued', status: 'queued', progress: 0, refusal: {} });
		expect(value).toMatchObject({ raw: { task_id: 'task-9' } });
	});

	test.each([404, 400])('a model that the service does not know, with %d, is named', async (status) => {
		const create = async (client: GatewayClient) => await client.createTask('video', { model: 'beta-v9' });
		for (const code of ['model_not_found', 'MODEL_NOT_FOUND']) {
			const { reason, error } = await call(create, json(status, { error: { code, message: 'w' } }));
			expect(reason).toEqual({ name: 'modelNotFound', data: { model: 'beta-v9' } });
			expect(error?.details).toMatchObject({ permanent: true, serviceMessage: 'w' });
		}
		for (const code of ['submodel_not_found', 'model_not_founded', undefined]) {
			const { reason } = await call(create, json(status, { error: { code, message: 'w' } }));
			expect(reason?.name).toBe(status === 404 ? 'endpointNotFound' : 'requestRejected');
		}
	});
});

describe('read a task', () => {
	const fetch = async (client: GatewayClient) => await client.fetchTask('video', 'task-1');

	test.each<[MediaKind, string]>([
		['image', '/v1/images/generations'],
		['video', '/v1/videos/generations'],
	])('a task of the kind %s is read below %s, by its encoded ID', async (kind, path) => {
		const { sent } = await call(
			async (client) => await client.fetchTask(kind, 'a/b $&'),
			json(200, { id: 'a/b $&', status: 'queued' }),
		);
		expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${URL_OF}${path}/a%2Fb%20%24%26`]);
	});

	test('a task that is read comes with how long the service asks to be left alone', async () => {
		const { value } = await call(fetch, json(200, { id: 'task-1', status: 'running' }, { 'retry-after': '7' }));
		expect(value).toMatchObject({ state: 'in_progress', retryAfterMs: 7_000 });
	});

	test.each<[string, HttpResponse, object]>([
		['an ID that it does not know', json(404, { message: 'w' }), { name: 'taskUnknown', data: { id: 'task-1' } }],
		['nothing', json(200, '{}'), { name: 'noTaskStatus', data: {} }],
		['a page', json(200, HTML), { name: 'notTheService', data: {} }],
		[
			'a no, and not that the task has failed',
			json(200, { success: false, id: 'task-1', status: 'running' }),
			{ name: 'requestRejected', data: {} },
		],
		[
			'a no about another task',
			json(200, { success: false, id: 'task-2', status: 'failed' }),
			{ name: 'requestRejected', data: {} },
		],
	])('the answer to a read that has %s is no task', async (_, answer, reason) => {
		const { error } = await call(fetch, answer);
		expect(error?.details).toMatchObject({ reason, httpStatus: answer.status });
	});

	test('the answer to a read that says no because this task has failed is a failed task', async () => {
		expect((await call(fetch, json(200, { success: false, id: 'task-1', status: 'failed' }))).value).toMatchObject({
			state: 'failed',
		});
	});
});

test('who reads the same task at the same moment shares one request, and only then', async () => {
	const reads = new SharedReads();
	const answer = deferred<HttpResponse>();
	const sent: string[] = [];
	const send = async ({ url }: HttpRequest) => {
		sent.push(url.replace(/.*v1/, ''));
		return await answer.promise;
	};
	const [one, other] = [1, 2].map(() => scriptedClient([], {}, { reads, send }).client) as [
		GatewayClient,
		GatewayClient,
	];
	const all = [
		one.fetchTask('video', 'a'),
		other.fetchTask('video', 'a'),
		other.fetchTask('video', 'b'),
		other.fetchTask('image', 'a'),
	];
	await flushPromises();
	answer.resolve(json(200, { id: 'a', status: 'running' }));
	expect((await Promise.all(all)).map(({ state }) => state)).toEqual(Array(4).fill('in_progress'));
	expect(sent).toEqual(['/videos/generations/a', '/videos/generations/b', '/images/generations/a']);
});

describe('upload an image', () => {
	const upload = async (client: GatewayClient) => await client.uploadImage(file);

	test('an upload may take a quarter of an hour', async () => {
		const { sent, value } = await call(upload, json(200, { url: 'https://files.example/a.png' }));
		expect(sent).toEqual([
			{ method: 'POST', url: `${URL_OF}/v1/uploads/images`, file: { field: 'file', ...file }, timeoutMs: 900_000 },
		]);
		expect(value).toBe('https://files.example/a.png');
	});

	test('an upload waits as long as a creating request for its turn', async () => {
		const later = json(503, {}, { 'retry-after': '100' });
		const { sent, value } = await call(upload, later, json(200, { url: 'https://files.example/a.png' }));
		expect([sent.length, value]).toEqual([2, 'https://files.example/a.png']);
	});

	test.each<[string, HttpResponse, string]>([
		['is not there', json(404, {}), 'uploadEndpointNotFound'],
		['gives no URL', json(200, { ok: 1 }), 'noUploadUrl'],
		['says no', json(200, { success: false, url: 'https://files.example/a.png' }), 'requestRejected'],
		['takes no file that is so large', json(413, HTML), 'uploadTooLarge'],
		['takes no such file', json(415, HTML), 'requestRejected'],
	])('an upload endpoint that %s is an error with a reason', async (_, answer, reason) => {
		expect((await call(upload, answer)).reason?.name).toBe(reason);
	});
});

describe('balances', () => {
	const ofUser = async (client: GatewayClient) => await client.getUserBalance();
	const ofToken = async (client: GatewayClient) => await client.getTokenBalance();

	test('the balance of the account has every field as it came', async () => {
		const balance = { success: true, remain_credits: 5, other: 'x' };
		const { sent, value } = await call(ofUser, json(502, HTML), json(200, balance));
		expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
			`GET ${URL_OF}/v1/user/balance`,
			`GET ${URL_OF}/v1/user/balance`,
		]);
		expect(value).toEqual(balance);
	});

	test.each<[string, HttpResponse, string]>([
		['is not there', json(404, {}), 'balanceNotFound'],
		['says something else', json(200, { ok: 1 }), 'notAnAccountBalance'],
		['says no', json(200, { success: false, remain_credits: 5 }), 'requestRejected'],
	])('a balance endpoint that %s is an error with a reason', async (_, answer, reason) => {
		expect((await call(ofUser, answer)).reason?.name).toBe(reason);
	});

	test.each([
		[{ remain_credits: 5 }, { remain_credits: 5 }],
		[[1], { balance: [1] }],
		[7, { balance: 7 }],
	])('the balance of a token is put out, whatever comes: %j', async (body, value) => {
		const used = await call(ofToken, json(200, body));
		expect(used.sent[0].url).toBe(`${URL_OF}/v1/balance`);
		expect(used.value).toEqual(value);
		expect((await call(ofToken, json(404, {}))).reason?.name).toBe('balanceNotFound');
	});
});

describe('create a token', () => {
	const create = async (client: GatewayClient) => await client.createToken({ name: 'n' });

	test('the key of a new token is in the answer', async () => {
		const { sent, value } = await call(create, json(200, { success: true, data: { id: 5, key: 'abc' } }));
		expect(sent[0]).toMatchObject({
			method: 'POST',
			url: `${URL_OF}/v1/tokens`,
			body: { name: 'n' },
			mustFinish: true,
		});
		expect(value).toMatchObject({ id: '5', apiKey: 'sk-abc' });
	});

	test('of an answer without a key nobody knows whether there is a token', async () => {
		expect((await call(create, json(200, { success: true }))).reason).toEqual({
			name: 'outcomeUnknown',
			data: { thing: 'token', what: 'The service answered the request without the API key' },
		});
	});

	test('a stop before a token is created sends nothing', async () => {
		const stop = new AbortController();
		stop.abort();
		const { sent, error } = await call(
			async (client) => await client.createToken({}, { signal: stop.signal }),
			json(200, {}),
		);
		expect([sent.length, error?.kind]).toEqual([0, 'stopped']);
	});
});

test('a client says what it has sent, how long the line is, and what it has learned', async () => {
	const { client } = scriptedClient([json(502, HTML), json(200, { id: 'x', status: 'queued' })]);
	await client.getTask('video', 'x');
	expect([client.requestsSent, client.backlogMs, client.requestsPerSecond]).toEqual([2, 0, 1000]);
	expect(client.slots).toBeUndefined();
	const slots = {} as RunSlots;
	expect(scriptedClient([], {}, { slots }).client.slots).toBe(slots);
	const table = client.survivalTable('video', 'm');
	expect(table).toBeInstanceOf(SurvivalTable);
	expect(scriptedClient([]).client.survivalTable('video', 'm')).toBe(table);
	expect(client.survivalTable('verification')).toBe(client.survivalTable('verification', ''));
	const others = [
		client.survivalTable('image', 'm'),
		client.survivalTable('video'),
		scriptedClient([], { baseUrl: 'https://other.example' }).client.survivalTable('video', 'm'),
	];
	expect(others.filter((other) => other === table)).toEqual([]);
});

test.each([200, 400, 403])(
	'a no (%s) instead of the result of a verification stays one: no wait asks again',
	async (status) => {
		const keys = { taskId: 'rav_1', vendorToken: 'vt_1' };
		const no = json(status, { success: false, message: 'w' });
		const { error, reason } = await call(async (client) => await client.avatars.getVerificationResult(keys), no);
		expect(reason).toEqual({ name: 'verificationResultNotGiven', data: { id: 'rav_1', httpStatus: status } });
		expect(error?.details).toMatchObject({ permanent: true, httpStatus: status, serviceMessage: 'w' });
		expect(error && isTransient(error)).toBe(false);
	},
);
