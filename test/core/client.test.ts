import { GatewayError } from '../../core/errors';
import type { HttpResponse } from '../../core/http/types';
import { readSettings } from '../../nodes/connection/settings';
import { describe as describeError } from '../../core/errors/describe';
import { created, HTML, json, scriptedClient } from './support';

const create = async (answers: Array<HttpResponse | string>, raw = {}) => {
	const scripted = scriptedClient(answers, raw);
	const outcome = await scripted.client.createTask('video', { model: 'm' }).then(
		(task) => ({ task, error: undefined }),
		(error: GatewayError) => ({ task: undefined, error }),
	);
	return { ...scripted, ...outcome };
};

describe('createTask', () => {
	test.each([
		['a time-out', 'ECONNABORTED'],
		['a time-out while sending', 'ETIMEDOUT'],
		['a reset', 'ECONNRESET'],
		['a broken pipe', 'EPIPE'],
		['a code nobody knows', 'UNKNOWN'],
		['408', json(408, { message: 'x' })],
		['500', json(500, { message: 'x' })],
		['502 from a proxy', json(502, HTML)],
		['504 from a proxy', json(504, HTML)],
		['503 from a proxy', json(503, HTML)],
		['503 from a proxy that asks to come back', json(503, HTML, { 'retry-after': '2' })],
		['503 in JSON of a proxy', json(503, { message: 'x' })],
		['200 without an id', json(200, { status: 'queued' })],
		['200 without a body', json(200, '')],
		['200 cut off within the id', json(200, '{"id":"task-')],
		['200 with an id that cannot be read', json(200, '{"id":"a\\q","object":"gen')],
		['200 with a web page', json(200, HTML)],
	])('after %s the outcome of a task is unknown and nothing is sent again', async (_, answer) => {
		const { sent, error } = await create([answer, created]);
		expect(sent).toHaveLength(1);
		expect(error?.kind).toBe('outcomeUnknown');
		expect(describeError(error!)).toMatch(/Submit Again/);
	});

	test.each([
		['refused', 'ECONNREFUSED'],
		['no such host', 'ENOTFOUND'],
		['a DNS hiccup', 'EAI_AGAIN'],
		['429', json(429, { error: { code: 'rate_limit_exceeded', message: 'slow down' } })],
		['429 beyond a quota', json(429, { error: { code: 'quota_exceeded', message: 'so many a minute' } })],
		['429 with Retry-After in seconds', json(429, {}, { 'retry-after': '7' })],
		['429 with Retry-After as a date', json(429, {}, { 'retry-after': new Date(1_009_000).toUTCString() })],
		['503 with Retry-After', json(503, '', { 'retry-after': '2' })],
		['503 with an error', json(503, { error: { message: 'x' } })],
	])('after %s a task is surely not accepted, and sent again', async (_, answer) => {
		const { sent, task } = await create([answer, answer, created]);
		expect(sent).toHaveLength(3);
		expect(task?.id).toBe('task-1');
	});

	test.each(['0', new Date(0).toUTCString()])('with Retry-After %s the service is not hammered', async (retryAfter) => {
		const { sent, error } = await create([json(503, {}, { 'retry-after': retryAfter })]);
		expect(error?.kind).toBe('unavailable');
		expect(sent.length).toBeLessThanOrEqual(241); // twice a second for two minutes
	});

	test('a creating request waits as long as Retry-After asks', async () => {
		const { clock } = await create([json(429, {}, { 'retry-after': '7' }), created]);
		expect(clock.slept).toContain(7000);
	});

	test.each([
		['429', json(429, {}), 'rateLimited'],
		['503', json(503, { error: {} }), 'unavailable'],
	])('a creating request gives up after two minutes of %s', async (_, answer, kind) => {
		const { error, clock, sent } = await create([answer]);
		expect(error?.kind).toBe(kind);
		expect(clock.at - 1_000_000).toBeGreaterThan(60_000);
		expect(clock.at - 1_000_000).toBeLessThanOrEqual(120_000);
		expect(sent.length).toBeLessThan(15);
	});

	test('a creating request gives up after four connections that were refused', async () => {
		const refused = await create(['ECONNREFUSED']);
		expect(refused.error?.kind).toBe('unreachable');
		expect(refused.sent).toHaveLength(4);
		expect(refused.clock.at - 1_000_000).toBeLessThan(10_000);
	});

	test('a creating request with a Retry-After beyond the two minutes ends at once', async () => {
		const { sent, clock } = await create([json(429, {}, { 'retry-after': '3600' })]);
		expect(sent).toHaveLength(1);
		expect(clock.slept.filter((ms) => ms > 10)).toEqual([]);
	});

	test.each([
		['400', json(400, { success: false, message: 'duration' }), 'rejected'],
		['401', json(401, { success: false, message: 'Authentication failed' }), 'authentication'],
		['402', json(402, { error: { code: 'insufficient_quota', message: 'x' } }), 'balance'],
		['403', json(403, { message: 'x' }), 'permission'],
		['429 without credits', json(429, { error: { code: 'insufficient_quota', message: 'x' } }), 'balance'],
		['503 without credits', json(503, { error: { code: 'insufficient_quota', message: 'x' } }), 'balance'],
		['422', json(422, { error: { code: 'content_policy_violation', message: 'x' } }), 'contentPolicy'],
		['a redirect', json(302, '', { location: 'https://other.example/?key=1' }), 'unexpectedAnswer'],
		['200 with success: false', json(200, { success: false, message: 'no' }), 'rejected'],
		['a refused certificate', 'CERT_HAS_EXPIRED', 'unreachable'],
	])('%s to a creating request is final', async (_, answer, kind) => {
		const { sent, error } = await create([answer, created]);
		expect(sent).toHaveLength(1);
		expect(error?.kind).toBe(kind);
	});

	test.each([
		['task_id', json(200, { task_id: 'task-1', status: 'queued' })],
		['a wrapped record', json(200, { success: true, data: { id: 'task-1', status: 'queued' } })],
		[
			'a record beside the status of the request',
			json(200, { status: 'success', data: { id: 'task-1', status: 'queued' } }),
		],
		['data without a status', json(200, { status: 'success', data: { task_id: 'task-1' } })],
		['a number', json(200, { id: 1, status: 'queued' })],
		['an answer cut off behind the id', json(200, '{"id":"task-1","object":"generation.ta')],
		['a wrapped answer cut off behind the id', json(200, '{"success":true,"data":{"task_id":"task-1","sta')],
		['an answer cut off behind a number', json(200, '{"id":1,"obj')],
	])('the id of a new task is found in %s', async (_, answer) => {
		const { task, sent } = await create([answer]);
		expect(['task-1', '1']).toContain(task?.id);
		expect(task?.state).toBe('queued');
		expect(sent).toHaveLength(1);
	});

	test('an id that JSON cannot hold as a number keeps its digits', async () => {
		const { task } = await create([json(200, '{"created_at":1700000000,"id":1234567890123456789,"status":"queued"}')]);
		expect(task?.id).toBe('1234567890123456789');
	});

	test('after an error without a word about success the outcome is not known, and the service is quoted', async () => {
		const { sent, error } = await create([json(200, { error: { id: 'not-a-task', message: 'too busy' } }), created]);
		expect(sent).toHaveLength(1);
		expect(error?.kind).toBe('outcomeUnknown');
		expect(describeError(error!)).toContain('The service says: "{"error":{"id":"not-a-task","message":"too busy"}}".');
	});

	const long = 'l'.repeat(300);
	test.each<[string, object | string, string]>([
		['a text', 'task_abc', 'task_abc'],
		['a page', `<p>\n\ttask_abc ${long}${long}</p>`, '<p> task_abc lll'],
		['a list of IDs', { data: ['task_a', 'task_b'] }, '{"data":["task_a","task_b"]}'],
		['a long ID', { data: long }, `{"data":"${long}"}`],
		['a long record', { text: long, more: long, reference: 'task_abc' }, '"reference": "task_abc"'],
		['a key', { data: 'task_abc', key: `sk-${long}` }, '{"data":"task_abc","key":"sk-…"}'],
		['what came of it', `{"data":{"name":"task_abc","text":"${long}${long}`, '"name": "task_abc"'],
	])('of an answer without a known ID, %s is kept in short', async (_, answer, words) => {
		const { error } = await create([json(200, answer)]);
		expect(error?.kind).toBe('outcomeUnknown');
		expect(error?.details.serviceMessage).toContain(words);
		expect(error?.details.serviceMessage?.length).toBeLessThanOrEqual(401);
	});

	test('of an answer about a new token no key is kept, whatever its name', async () => {
		const token = 'aB3'.repeat(16);
		const answer = json(200, { success: true, data: { id: 'token_7', token, text: `sk-${token}` } });
		const error = await scriptedClient([answer])
			.client.createToken({ name: 'a' })
			.then(
				() => undefined,
				(thrown: GatewayError) => thrown,
			);
		expect(error?.kind).toBe('outcomeUnknown');
		expect(error?.details.serviceMessage).toContain('token_7');
		expect(JSON.stringify(error?.details)).not.toContain('aB3aB3');
	});

	test('a creating request may finish after a stop, and goes to the generation endpoint', async () => {
		const { sent } = await create([created]);
		expect(sent[0]).toMatchObject({
			method: 'POST',
			url: 'https://gateway.example/v1/videos/generations',
			body: { model: 'm' },
			mustFinish: true,
		});
	});

	test('a stop ends the repeating of a creating request', async () => {
		const stop = new AbortController();
		const { client, sent } = scriptedClient([json(429, {})]);
		stop.abort();
		await expect(client.createTask('image', {}, { signal: stop.signal })).rejects.toMatchObject({ kind: 'stopped' });
		expect(sent).toHaveLength(0);
	});
});

describe('reading', () => {
	test('the id of a task to read is encoded and the path can be overridden', async () => {
		const record = json(200, { id: 'a/b c', status: 'queued' });
		const usual = scriptedClient([record]);
		await usual.client.fetchTask('image', 'a/b c%');
		expect(usual.sent[0].url).toBe('https://gateway.example/v1/images/generations/a%2Fb%20c%25');
		const other = scriptedClient([record], { customPaths: true, videoStatusPath: '/tasks/{task_id}/state' });
		await other.client.fetchTask('video', 'x$&');
		expect(other.sent[0].url).toBe('https://gateway.example/tasks/x%24%26/state');
	});

	test('a read of an unknown id ends at once', async () => {
		const { client, sent } = scriptedClient([json(404, { error: { code: 'task_not_found', message: 'no' } })]);
		await expect(client.getTask('video', 'x')).rejects.toMatchObject({ kind: 'notFound' });
		expect(sent).toHaveLength(1);
	});

	test.each([
		['ECONNRESET'],
		[json(500, {})],
		[json(502, HTML)],
		[json(200, HTML)],
		[json(200, '{"id":"x","sta')],
		[json(429, {})],
	])('a read rides out passing trouble: %j', async (answer) => {
		const { client, sent } = scriptedClient([answer, answer, json(200, { id: 'x', status: 'completed' })]);
		expect((await client.getTask('video', 'x')).state).toBe('completed');
		expect(sent).toHaveLength(3);
	});

	test('a read tells trouble that does not pass after four tries', async () => {
		const { client, sent } = scriptedClient([json(502, HTML)]);
		await expect(client.getTask('video', 'x')).rejects.toMatchObject({ kind: 'unavailable' });
		expect(sent).toHaveLength(4);
	});

	test('whatever is configured, the key goes to the host of the base URL only', async () => {
		const settings = {
			...readSettings({ baseUrl: 'https://gateway.example' }),
			videoStatusPath: '@evil.example/{task_id}',
		};
		const { client, sent } = scriptedClient([json(200, {})], {}, { settings });
		await expect(client.fetchTask('video', 'x')).rejects.toMatchObject({ kind: 'badInput' });
		expect(sent).toHaveLength(0);
	});

	test.each([
		[429, '60'],
		[503, '120'],
	])('an upload waits as long as the service asks for with %d, two minutes at most: %s s', async (status, seconds) => {
		const file = { fileName: 'a.png', mimeType: 'image/png', bytes: new Uint8Array([1]) };
		const asks = (retryAfter: string) => json(status, { message: 'slow down' }, { 'retry-after': retryAfter });
		const { client, sent, clock } = scriptedClient([asks(seconds), json(200, { url: 'https://files.example/a.png' })]);
		const beganMs = clock.now();
		expect(await client.uploadImage(file)).toBe('https://files.example/a.png');
		expect([sent.length, clock.now() - beganMs]).toEqual([2, Number(seconds) * 1000]);
		const impatient = scriptedClient([asks('121')]);
		await expect(impatient.client.uploadImage(file)).rejects.toBeInstanceOf(GatewayError);
		expect(impatient.sent).toHaveLength(1);
	});

	test('an upload is sent again, and its URL is read flat or wrapped', async () => {
		const file = { fileName: 'a.png', mimeType: 'image/png', bytes: new Uint8Array([1]) };
		const { client, sent } = scriptedClient([
			json(502, HTML),
			json(200, { success: true, data: { url: 'https://files.example/a.png' } }),
		]);
		expect(await client.uploadImage(file)).toBe('https://files.example/a.png');
		expect(sent[1]).toMatchObject({
			url: 'https://gateway.example/v1/uploads/images',
			file: { field: 'file', ...file },
		});
		expect(await scriptedClient([json(200, { url: 'https://files.example/b.png' })]).client.uploadImage(file)).toBe(
			'https://files.example/b.png',
		);
		await expect(scriptedClient([json(200, { ok: 1 })]).client.uploadImage(file)).rejects.toMatchObject({
			kind: 'unexpectedAnswer',
		});
	});
});
