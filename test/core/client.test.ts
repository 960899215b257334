/** The answers of the endpoints: what each is in the words of its request, and what is kept of one that names no ID. */
import type { GatewayClient } from '../../core/client';
import { isTransient, type GatewayError } from '../../core/errors';
import type { HttpResponse } from '../../core/http/types';
import { HTML, json, scriptedClient } from './support';

type Use = (client: GatewayClient) => Promise<unknown>;

const createTask: Use = async (client) => await client.createTask('video', { model: 'beta-v9' });
const createToken: Use = async (client) => await client.createToken({ name: 'a' });
const fetchTask: Use = async (client) => await client.fetchTask('video', 'task-1');
const file = { fileName: 'a.png', mimeType: 'image/png', bytes: new Uint8Array([1]) };
const upload: Use = async (client) => await client.uploadImage(file);
const userBalance: Use = async (client) => await client.getUserBalance();
const tokenBalance: Use = async (client) => await client.getTokenBalance();
const fetchAsset: Use = async ({ avatars }) => await avatars.fetchAsset('real', 'pa_1');
const KEYS = { taskId: 'rav_1', vendorToken: 'vt_1' };
const fetchResult: Use = async ({ avatars }) => await avatars.fetchVerificationResult(KEYS);
const getResult: Use = async ({ avatars }) => await avatars.getVerificationResult(KEYS);

/** The requests of a call, and its value or its error. */
async function call(use: Use, ...answers: HttpResponse[]) {
	const { client, sent } = scriptedClient(answers);
	return await use(client).then(
		(value) => ({ sent, value, error: undefined }),
		(error: GatewayError) => ({ sent, value: undefined, error }),
	);
}
const no = (status: number, code?: string) => json(status, { success: false, message: 'w', code });

test.each<[string, string, HttpResponse, object, Use]>([
	['createTask', 'endpointNotFound', no(404), { path: '/v1/videos/generations' }, createTask],
	['createTask', 'modelNotFound', no(400, 'model_not_found'), { model: 'beta-v9' }, createTask],
	['createTask', 'modelNotFound', no(404, 'MODEL_NOT_FOUND'), { model: 'beta-v9' }, createTask],
	['fetchTask', 'answerLacks', json(200, '{}'), { what: 'a task status' }, fetchTask],
	['fetchTask', 'requestRejected', json(200, { success: false, id: 'task-1', status: 'running' }), {}, fetchTask],
	['fetchTask', 'requestRejected', json(200, { success: false, id: 'task-2', status: 'failed' }), {}, fetchTask],
	['uploadImage', 'uploadTooLarge', json(413, HTML), {}, upload],
	['uploadImage', 'noUploadUrl', json(200, { ok: 1 }), {}, upload],
	['uploadImage', 'requestRejected', json(200, { error: 'Too dark' }), {}, upload],
	['getUserBalance', 'endpointNotFound', json(404, {}), { path: '/v1/user/balance' }, userBalance],
	['getUserBalance', 'answerLacks', json(200, { ok: 1 }), { what: 'an account balance' }, userBalance],
	['getUserBalance', 'keyRefused', json(200, { error: { code: 401, message: 'w' } }), {}, userBalance],
	['getTokenBalance', 'keyRefused', json(200, { error: { code: 401, message: 'w' } }), {}, tokenBalance],
	['getTokenBalance', 'endpointNotFound', json(404, HTML), { path: '/v1/balance' }, tokenBalance],
	['fetchAsset', 'answerLacks', json(200, { asset_id: 'pa_1' }), { what: 'an asset status' }, fetchAsset],
	['fetchAsset', 'modelNotFound', json(200, { error: { code: 'model_not_found' } }), {}, fetchAsset],
	['fetchVerificationResult', 'answerLacks', json(200, '[]'), { what: 'a verification result' }, fetchResult],
	...[200, 400, 403, 404].map((httpStatus): [string, string, HttpResponse, object, Use] => [
		'getVerificationResult',
		'verificationResultNotGiven',
		no(httpStatus),
		{ id: 'rav_1', httpStatus },
		getResult,
	]),
])('a refusal has the words of its request: %s can end with %s', async (_, name, answer, data, use) => {
	expect((await call(use, answer)).error?.details.reason).toEqual({ name, data });
});

const FAILED = { id: 'task-1', object: 'generation.task', status: 'failed', error: { code: 'generation_failed' } };

test.each<[string, number, object, boolean]>([
	['a record', 500, FAILED, true],
	['a record in data', 400, { success: false, data: FAILED }, true],
	['a record without its kind', 422, { ...FAILED, object: undefined }, true],
	['a record of another task', 500, { ...FAILED, id: 'task-2' }, false],
	['a record that goes on', 500, { ...FAILED, status: 'processing' }, false],
	[
		'the answer to a request that failed',
		500,
		{ task_id: 'task-1', status: 'error', message: 'database is locked' },
		false,
	],
	['a task that is not known', 404, FAILED, false],
	['a pause', 429, FAILED, false],
	['a task that is locked', 423, FAILED, false],
	['a service that is away', 503, FAILED, false],
])(
	'a poll believes a failure that its task’s own record tells, whatever the status: %s, HTTP %d',
	async (_, status, body, isBelieved) => {
		const { value, error } = await call(fetchTask, json(status, body));
		expect((value as { state?: string } | undefined)?.state).toBe(isBelieved ? 'failed' : undefined);
		expect(error === undefined).toBe(isBelieved);
	},
);

test.each([400, 409, 429, 500, 503])(
	'a refusal with HTTP %d that gives a task may have created it: it is not sent again',
	async (status) => {
		const answer = json(status, { id: 'task_9', object: 'generation.task', status: 'queued' }, { 'retry-after': '1' });
		const { error, sent } = await call(createTask, answer, answer);
		expect([error?.kind, error?.details.task?.taskId, error?.details.again, sent.length]).toEqual([
			'outcomeUnknown',
			'task_9',
			undefined,
			1,
		]);
		const long = await call(createTask, json(status, { id: 'x'.repeat(1_001), status: 'queued' }));
		expect(long.error?.details.task).toBeUndefined();
	},
);

test('a 429 that shows the task that blocks is sent again', async () => {
	const error = { code: 'concurrent_limit', message: 'A task is already running' };
	const { error: thrown } = await call(createTask, json(429, { error, data: { id: 'other', status: 'running' } }));
	expect([thrown?.kind, thrown?.details.again]).toEqual(['rateLimited', { isConnection: false }]);
});

test.each([400, 500])('the error of a new API key shows no key with HTTP %d, either', async (status) => {
	const key = 'k'.repeat(48);
	for (const body of [
		{ success: true, data: { id: 7, key } },
		{ message: `Token ${key} was stored, but the cache failed` },
	]) {
		const { error } = await call(createToken, json(status, body));
		expect(error).toBeDefined();
		expect(JSON.stringify([error?.message, error?.details])).not.toContain(key);
	}
});

test.each<[string, { around?: object; [name: string]: unknown }, boolean]>([
	['the same', { task_id: 'rav_1', vendor_token: 'vt_1' }, true],
	['the same token, and the ID of the service behind it', { task_id: 'x', vendor_token: 'vt_1' }, true],
	['none', {}, true],
	['its ID around the one of the service behind it', { task_id: 'x', around: { task_id: 'rav_1' } }, true],
	['another', { task_id: 'rav_2', vendor_token: 'vt_2' }, false],
	['another ID', { task_id: 'rav_2' }, false],
	['another token', { vendor_token: 'vt_2' }, false],
])(
	'the proof of a person counts for the verification that it names: %s',
	async (_, { around = {}, ...names }, isBelieved) => {
		const data = { ...names, verify_status: 'verified', group_id: 'g' };
		const { value, error } = await call(fetchResult, json(200, { success: true, ...around, data }));
		expect((value as { verified?: boolean } | undefined)?.verified).toBe(isBelieved ? true : undefined);
		expect(error?.details.reason?.name).toBe(isBelieved ? undefined : 'answerLacks');
		// With the token, the proof of the other person can be had.
		expect(String(error?.message)).not.toContain('vt_2');
	},
);

test('an ID that is too long to be kept says so; a new key arrives without it', async () => {
	const id = 'x'.repeat(1_001);
	const group: Use = async ({ avatars }) => await avatars.createGroup({ name: 'a' });
	expect((await call(group, json(200, { group_id: id }))).error?.kind).toBe('outcomeUnknown');
	const key = 'k'.repeat(48);
	expect((await call(createToken, json(200, { data: { id, key } }))).value).toMatchObject({
		id: '',
		apiKey: `sk-${key}`,
	});
});

test('an upload that is refused says the words of the service', async () => {
	expect((await call(upload, json(200, { error: 'Too dark' }))).error?.details.serviceMessage).toBe('Too dark');
});

test.each(['delete_url', 'viewer_url', 'url_viewer', 'status_url', 'cancel_url'])(
	'of an uploaded image, %s is not its address',
	async (name) => {
		const data = { [name]: 'https://f.example/x.png', url: 'https://f.example/a.png' };
		expect((await call(upload, json(200, { data }))).value).toBe(data.url);
		expect((await call(upload, json(200, { data: { [name]: data.url } }))).error?.details.reason?.name).toBe(
			'noUploadUrl',
		);
	},
);

test('a refused result of a verification stays refused: no wait asks again', async () => {
	const { error, sent } = await call(getResult, no(400));
	expect([error?.details.permanent, error && isTransient(error), sent.length]).toEqual([true, false, 1]);
});

test.each<[string, Use, object, string]>([
	['a task', fetchTask, { success: false, id: 'task-1', status: 'failed' }, 'failed'],
	['an asset', fetchAsset, { success: false, data: { asset_id: 'pa_1', status: 'failed' } }, 'failed'],
])('%s that is read with success: false beside its own ID has failed', async (_, use, answer, state) => {
	expect((await call(use, json(200, answer))).value).toMatchObject({ state });
});

test.each<[string, object, string]>([
	['it is active without its ID', { data: { status: 'active' } }, 'done'],
	['another one is active', { data: { asset_id: 'pa_2', status: 'active' } }, 'answerLacks'],
	['another one has failed', { data: { asset_id: 'pa_2', status: 'failed' } }, 'answerLacks'],
	['another one is active, under id', { data: { id: 'pa_2', status: 'active' } }, 'answerLacks'],
	['another one is active, under id, without data', { id: 'pa_2', status: 'Active' }, 'answerLacks'],
	['another one has failed, under id', { data: { id: 'pa_2', Status: 'failed' } }, 'answerLacks'],
	['the request has an ID', { id: 'req_1', data: { status: 'active' } }, 'done'],
	['its ID is around the one of the service behind it', { id: 'pa_1', data: { id: 'x', status: 'active' } }, 'done'],
	['it has another id, too', { data: { asset_id: 'pa_1', id: '77', status: 'active' } }, 'done'],
	['another one is processed', { data: { asset_id: 'pa_2', status: 'processing' } }, 'pending'],
	['it has failed without its ID', { success: true, data: { status: 'failed' } }, 'failed'],
	['it has failed', { asset_id: 'pa_1', status: 'failed' }, 'failed'],
	['it has failed under id', { id: 'pa_1', status: 'failed' }, 'failed'],
	['the request has failed', { status: 'error', message: 'Database is locked' }, 'requestRejected'],
	['the request has failed, and has an ID', { id: 'req-1', status: 'error', data: null }, 'answerLacks'],
])('an answer about an asset counts for the one that it names: %s', async (_, answer, outcome) => {
	const { value, error } = await call(fetchAsset, json(200, answer));
	expect((value as { state?: string })?.state ?? error?.details.reason?.name).toBe(outcome);
	if (error) expect([error.details.httpStatus, isTransient(error)]).toEqual([200, true]);
});

test('a new verification that the service does not know yet is looked for again', async () => {
	const session = json(200, { h5_link: 'https://example.com/h5', vendor_token: 'vt_1' });
	const { sent, value } = await call(
		async ({ avatars }) => await avatars.getVerification('rav_1', ({ kind }) => kind === 'notFound'),
		no(404),
		session,
	);
	expect([sent.length, value]).toEqual([2, expect.objectContaining({ taskId: 'rav_1', vendorToken: 'vt_1' })]);
});

test('an upload waits as long as a creating request for its turn', async () => {
	const asks = (retryAfter: string) => json(503, {}, { 'retry-after': retryAfter });
	const { sent, value } = await call(upload, asks('120'), json(200, { url: 'https://files.example/a.png' }));
	expect([sent.length, value]).toEqual([2, 'https://files.example/a.png']);
	expect((await call(upload, asks('121'))).sent).toHaveLength(1);
});

const long = 'l'.repeat(300);
test.each<[string, object | string, string]>([
	['a text', 'task_abc', 'task_abc'],
	['a page', `<p>\n\ttask_abc ${long}${long}</p>`, '<p> task_abc lll'],
	['a list of IDs', { data: ['task_a', 'task_b'] }, '{"data":["task_a","task_b"]}'],
	['a long record', { text: long, more: long, reference: 'task_abc' }, '"reference": "task_abc"'],
	['a key', { data: 'task_abc', key: `sk-${long}` }, '{"data":"task_abc","key":"sk-…"}'],
	['an error beside an ID', { error: { message: long + long, code: 'no_quota' }, id: 'req_1' }, '"id": "req_1"'],
	[
		'an error beside an ID, in short',
		{ id: 'req_1', error: { code: 'no_quota' } },
		'{"id":"req_1","error":{"code":"no_q',
	],
	['the part that came', `{"data":{"name":"task_abc","text":"${long}${long}`, '"name": "task_abc"'],
])(
	'of an answer without a known ID, %s is kept in short, so that a person may find the ID',
	async (_, answer, words) => {
		const { error } = await call(createTask, json(200, answer));
		expect(error?.kind).toBe('outcomeUnknown');
		expect(error?.details.serviceMessage).toContain(words);
		expect(error?.details.serviceMessage?.length).toBeLessThanOrEqual(401);
	},
);

test('a new API key that came before its answer broke off is not lost', async () => {
	const answer = json(200, '{"success":true,"data":{"id":7,"key":"abc","name":"Nigh');
	expect((await call(createToken, { ...answer, cutOff: 'ECONNRESET' })).value).toMatchObject({
		id: '7',
		apiKey: 'sk-abc',
	});
	const within = json(200, '{"success":true,"data":{"id":7,"key":"ab');
	expect((await call(createToken, { ...within, cutOff: 'ECONNRESET' })).error?.kind).toBe('outcomeUnknown');
});

test.each<[object, string, string | undefined]>([
	[{ data: { id: 'task-9', status: 'queued' } }, 'outcomeUnknown', 'task-9'],
	[{ id: 'task-9', status: 'in_progress' }, 'outcomeUnknown', 'task-9'],
	[{ id: 'req-1' }, 'rejected', undefined],
	[{ id: 'req-1', status: 'oops' }, 'rejected', undefined],
	[{ data: { id: 'task-9', status: 'failed' } }, 'rejected', undefined],
])(
	'a refusal beside the record of a task that goes on leaves the outcome open, and names the task: %j',
	async (...row) => {
		const [fields, kind, taskId] = row;
		const { error } = await call(createTask, json(200, { success: false, message: 'w', ...fields }));
		expect([error?.kind, error?.task?.taskId, error?.details.serviceMessage]).toEqual([kind, taskId, 'w']);
	},
);

test('of an answer about a new API key no key is kept, whatever its name', async () => {
	const token = 'aB3'.repeat(16);
	const { error } = await call(
		createToken,
		json(200, { success: true, data: { id: 'token_7', token, text: `sk-${token}` } }),
	);
	expect([error?.kind, error?.details.serviceMessage]).toEqual([
		'outcomeUnknown',
		expect.stringContaining('token_7') as string,
	]);
	expect(JSON.stringify(error?.details)).not.toContain('aB3aB3');
});
