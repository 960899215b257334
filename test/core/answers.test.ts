import { readTaskRecord } from '../../core/records';
import { retryAfterMs } from '../../core/retry';
import { explainRefusal } from '../../core/serviceErrors';
import { cleanApiKey, readSettings } from '../../core/settings';
import { explainFailedTask } from '../../core/taskFailure';
import { json } from './support';

const U = 'https://files.example/r.mp4';
const T = 'https://files.example/thumb.jpg';

describe('a completed record: the result is found wherever it stands', () => {
	test.each([
		[{ result: { type: 'video', data: [{ url: U, format: 'mp4' }], thumbnail: T } }],
		[{ url: U, thumbnail: T }],
		[{ video_url: U, thumbnail_url: T }],
		[{ data: [{ url: U, thumbnail: T }] }],
		[{ output: [U] }],
		[{ outputs: [{ url: U }] }],
		[{ images: [U] }],
		[{ images: [{ url: U }] }],
		[{ output: U }],
		[{ metadata: { url: U, image_urls: [T], reference_urls: [T] } }],
		[{ metadata: { result_urls: [U], thumbnail: T } }],
	])('%j', (fields) => {
		const record = { id: 'x', status: 'completed', ...fields };
		expect(readTaskRecord(record)?.urls).toEqual([U]);
		expect(readTaskRecord({ success: true, data: record })?.urls).toEqual([U]);
	});

	test('inputs and thumbnails alone are no result', () => {
		expect(readTaskRecord({ id: 'x', status: 'completed', thumbnail: T, metadata: { image_urls: [U], thumbnail: T } })?.urls).toEqual([]);
	});
});

describe('status words', () => {
	test.each([
		['queued', 'queued'], ['submitted', 'queued'], ['pending', 'queued'],
		['in_progress', 'in_progress'], ['processing', 'in_progress'], ['RUNNING', 'in_progress'], ['In Progress', 'in_progress'],
		['completed', 'completed'], ['Succeeded', 'completed'], ['SUCCESS', 'completed'],
		['failed', 'failed'], ['cancelled', 'failed'], ['canceled', 'failed'], ['Error', 'failed'], ['expired', 'failed'],
		['hibernating', 'in_progress'],
	])('%s means %s', (word, state) => {
		expect(readTaskRecord({ id: 'x', status: word })).toMatchObject({ state, status: word });
	});

	test('progress is read from numbers and texts, and kept within 0 to 100', () => {
		const progress = (value: unknown) => readTaskRecord({ id: 'x', status: 'running', progress: value })?.progress;
		expect([40, '40', '40%', 140, 'soon', undefined].map(progress)).toEqual([40, 40, 40, 100, undefined, undefined]);
	});
});

test.each([
	[{ error: { code: 'generation_failed', message: 'out of paint' } }, 'out of paint', undefined],
	[{ error: 'out of paint' }, 'out of paint', undefined],
	[{ message: 'out of paint' }, 'out of paint', undefined],
	[{ fail_reason: 'out of paint' }, 'out of paint', undefined],
	[{ error: { code: 'content_policy_violation', message: 'no' } }, 'no', true],
	[{ error: { code: 'insufficient_quota', message: 'no' } }, 'no', true],
	[{ error: { code: 'invalid_request', message: 'no' } }, 'no', true],
])('a failed record %j is explained', (fields, words, permanent) => {
	const record = readTaskRecord({ id: 'x', status: 'failed', ...fields });
	const error = explainFailedTask('x', record!);
	expect(error.message).toBe('The service could not finish task x');
	expect(error.description).toContain(words);
	expect(error.details.permanent).toBe(permanent);
});

describe('refusals are explained in English, with the original words in the description', () => {
	test.each([
		[401, { success: false, message: 'No Authorization header' }, /without an API key/, 'No Authorization header'],
		[401, { success: false, message: 'Authentication failed' }, /did not accept the API key/, 'Authentication failed'],
		[401, { error: { code: 401, message: 'bad key', type: 'authentication_error' } }, /did not accept the API key/, 'bad key'],
		[200, { success: false, message: '令牌名称过长' }, /token name is too long/, '令牌名称过长'],
		[200, { success: false, message: '生成令牌失败' }, /could not create the token/, '生成令牌失败'],
		[200, { success: false, message: 'Failed to get user quota' }, /does not know the user/, 'Failed to get user quota'],
		[200, { success: false, message: 'Failed to get used quota' }, /could not read the used balance/, 'Failed to get used quota'],
		[400, { error: { code: 'invalid_request', message: 'w' } }, /did not accept the request/, '"w"'],
		[402, { error: { code: 'insufficient_quota', message: 'w' } }, /too few credits/, '"w"'],
		[403, { error: 'w' }, /not allowed/, '"w"'],
		[404, { error: { code: 'task_not_found', message: 'w' } }, /does not know/, '"w"'],
		[413, { message: 'w' }, /larger than the service accepts/, '"w"'],
		[422, { error: { code: 'content_policy_violation', message: 'w' } }, /declined the content/, '"w"'],
		[429, { error: { code: 'rate_limit_exceeded', message: 'w' } }, /too many requests/, '"w"'],
		[500, { error: { code: 'internal_error', message: 'w' } }, /could not process/, '"w"'],
		[504, '<html>', /not available/, 'HTTP 504'],
		[200, '<html>', /does not come from the Generation Gateway/, 'HTTP 200'],
	])('%i %j', (status, body, message, words) => {
		const error = explainRefusal(json(status, body));
		expect(error.message).toMatch(message);
		expect(error.description).toContain(words);
		expect(error.message).not.toMatch(/\b(error|problem|failure|mistake|failed)\b/i);
	});

	test('a redirect names only the host', () => {
		const error = explainRefusal(json(302, '', { location: 'https://other.example/x?token=secret' }));
		expect(error.message).toBe('The service redirects requests to other.example');
		expect(`${error.message} ${error.description}`).not.toContain('secret');
	});
});

test.each([['7', 7000], ['1.5', 1500], [new Date(70_000).toUTCString(), 10_000], [new Date(0).toUTCString(), 0], ['soon', undefined], ['', undefined]])(
	'Retry-After "%s" is %s ms',
	(value, ms) => expect(retryAfterMs(json(429, {}, { 'retry-after': value }), 60_000)).toBe(ms),
);

describe('settings', () => {
	test.each(['https://g.example', 'https://g.example/', 'https://g.example/v1', ' https://g.example/v1/ '])('base URL %s', (baseUrl) => {
		expect(readSettings({ baseUrl }).baseUrl).toBe('https://g.example');
	});

	test.each(['http://127.0.0.1:8787', 'http://localhost', 'http://[::1]:1', 'http://127.3.2.1'])('plain http is fine for %s', (baseUrl) => {
		expect(readSettings({ baseUrl }).baseUrl).toBe(baseUrl);
	});

	test('plain http elsewhere only when it is allowed', () => {
		expect(() => readSettings({ baseUrl: 'http://10.0.0.5' })).toThrow(/plain http/);
		expect(() => readSettings({ baseUrl: 'http://localhost.evil.example' })).toThrow(/plain http/);
		expect(readSettings({ baseUrl: 'http://10.0.0.5', allowPlainHttp: true }).baseUrl).toBe('http://10.0.0.5');
	});

	test.each(['', 'gateway', 'ftp://x', 'https://user:pw@x', 'https://x?y', undefined])('base URL %s is refused', (baseUrl) => {
		expect(() => readSettings({ baseUrl })).toThrow(/^Base URL in the credential/);
	});

	test.each([
		['https://evil.example/{task_id}', /absolute URL/], ['//evil.example/{task_id}', /absolute URL/], ['\\\\evil.example\\{task_id}', /absolute URL/],
		['/\\evil.example/{task_id}', /absolute URL|not a path/], ['tasks/{task_id}', /not a path/], ['/a/../{task_id}', /not a path/], ['/tasks', /where the task ID goes/],
	])('path override %s is refused', (videoStatusPath, why) => {
		expect(() => readSettings({ baseUrl: 'https://g.example', pathOverrides: { videoStatusPath } })).toThrow(why);
	});

	test('a pasted key is cleaned', () => {
		expect([' sk-1 ', 'Bearer sk-1', 'bearer  sk-1\n', undefined].map(cleanApiKey)).toEqual(['sk-1', 'sk-1', 'sk-1', '']);
	});
});
