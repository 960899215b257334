import { locateResult } from '../../core/records/locateResult';
import { parseTaskRecord } from '../../core/records/taskRecord';
import { asGatewayError, isTransientStatus, type GatewayError } from '../../core/errors';
import { backoffMs, postOutcomeOfAnswer, postOutcomeOfConnection, retryAfterMs } from '../../core/http/retry';
import { refusalError } from '../../core/http/serviceErrors';
import { cleanApiKey } from '../../core/settings';
import { failedTask, missingResult } from '../../core/orders/generationTasks';
import { readLimits, readSettings } from '../../nodes/connection/settings';
import { describe as describeError } from '../../core/errors/describe';
import { HTML, json } from './support';

/** The error. */
const thrownBy = (work: () => unknown): GatewayError => {
	try {
		work();
	} catch (thrown) {
		return asGatewayError(thrown);
	}
	throw new Error('nothing was thrown');
};

const U = 'https://files.example/r.mp4';
const T = 'https://files.example/thumb.jpg';
const urlsOf = (answer: object) => locateResult(parseTaskRecord(answer)!).urls;

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
		[{ output: { video_url: U, thumbnail: T } }],
		[{ result: { data: [{ url: U }] }, url: U, images: [T] }],
		[{ metadata: { url: U, image_urls: [T], reference_urls: [T] } }],
		[{ metadata: { result_urls: [U], thumbnail: T } }],
		[{ data: [{ url: null, video_url: U }], page: T }],
		[{ data: [{ url: '', image_url: U }], page: T }],
		[{ result: { url: [], video_url: U }, page: T }],
	])('the result of a completed record is found wherever it stands: %j', (fields) => {
		const record = { id: 'x', status: 'completed', ...fields };
		expect(urlsOf(record)).toEqual([U]);
		expect(urlsOf({ success: true, data: record })).toEqual([U]);
	});

	test('several results of a completed record keep their order, each once', () => {
		expect(urlsOf({ id: 'x', status: 'completed', images: [U, { url: T }, U] })).toEqual([U, T]);
	});

	test('a completed record without a result is told with the id and the record', () => {
		const record = parseTaskRecord({ id: 'x', status: 'completed', odd: 'place' })!;
		const error = missingResult('x', record, 5000);
		expect(error).toMatchObject({ kind: 'noResult', task: { taskId: 'x', status: 'completed', elapsedMs: 5000 } });
		expect(describeError(error)).toContain('{ "odd": "place" }');
	});

	test('inputs and thumbnails alone are no result of a completed record', () => {
		expect(
			urlsOf({
				id: 'x',
				status: 'completed',
				thumbnail: T,
				image_urls: [U],
				metadata: { image_urls: [U], reference_urls: [U], video_list: [{ video_url: U }], thumbnail: T },
			}),
		).toEqual([]);
	});
});

describe('status words', () => {
	test.each([
		['queued', 'queued'],
		['submitted', 'queued'],
		['pending', 'queued'],
		['in_progress', 'in_progress'],
		['processing', 'in_progress'],
		['RUNNING', 'in_progress'],
		['In Progress', 'in_progress'],
		['completed', 'completed'],
		['Succeeded', 'completed'],
		['SUCCESS', 'completed'],
		['failed', 'failed'],
		['cancelled', 'failed'],
		['canceled', 'failed'],
		['Error', 'failed'],
		['expired', 'failed'],
		['hibernating', 'in_progress'],
	])('the status %s means %s', (word, state) => {
		expect(parseTaskRecord({ id: 'x', status: word })).toMatchObject({ state, status: word });
	});

	test('progress is read from numbers and texts, and kept within 0 to 100', () => {
		const progress = (value: unknown) => parseTaskRecord({ id: 'x', status: 'running', progress: value })?.progress;
		expect([40, '40', '40%', 140, 'soon', undefined].map(progress)).toEqual([40, 40, 40, 100, undefined, undefined]);
	});
});

test.each([
	[{ error: { code: 'generation_failed', message: 'out of paint' } }, 'out of paint', undefined],
	[{ error: 'out of paint' }, 'out of paint', undefined],
	[{ message: 'out of paint' }, 'out of paint', undefined],
	[{ fail_reason: 'out of paint' }, 'out of paint', undefined],
	[{ error: '', fail_reason: 'out of paint' }, 'out of paint', undefined],
	[{ error: { code: 'generation_failed' }, message: 'out of paint' }, 'out of paint', undefined],
	[{ error: { code: 'content_policy_violation', message: 'no' } }, 'no', true],
	[{ error: { code: 'insufficient_quota', message: 'no' } }, 'no', undefined],
	[{ error: { code: 'invalid_request', message: 'no' } }, 'no', true],
])('a failed record %j is explained', (fields, words, permanent) => {
	const record = parseTaskRecord({ id: 'x', status: 'failed', ...fields });
	const error = failedTask('x', record!);
	expect(error.message).toMatch(/^The service (could not finish|declined the content of) task x$/);
	expect(describeError(error)).toContain(words);
	expect(error.details.permanent).toBe(permanent);
});

describe('refusals are explained in English, with the original words in the description', () => {
	test.each([
		[401, { success: false, message: 'No Authorization header' }, /without an API key/, 'No Authorization header'],
		[401, { success: false, message: 'Authentication failed' }, /did not accept the API key/, 'Authentication failed'],
		[
			401,
			{ error: { code: 401, message: 'bad key', type: 'authentication_error' } },
			/did not accept the API key/,
			'bad key',
		],
		[200, { success: false, message: '令牌名称过长' }, /name of the API key is too long/, '令牌名称过长'],
		[200, { success: false, message: '生成令牌失败' }, /could not create the API key/, '生成令牌失败'],
		[
			200,
			{ success: false, message: 'Failed to get user quota' },
			/does not know the user/,
			'Failed to get user quota',
		],
		[
			200,
			{ success: false, message: 'Failed to get used quota' },
			/could not read the used balance/,
			'Failed to get used quota',
		],
		[400, { error: { code: 'invalid_request', message: 'w' } }, /did not accept the request/, '"w"'],
		[402, { error: { code: 'insufficient_quota', message: 'w' } }, /not enough credits/, '"w"'],
		[403, { error: 'w' }, /not allowed/, '"w"'],
		[401, { error: { code: 'unauthorized', message: 'w' } }, /did not accept the API key/, '"w"'],
		[404, { message: 'w' }, /could not find/, '"w"'],
		[429, { success: false, message: 'w' }, /too many requests/, '"w"'],
		[502, HTML, /not available/, 'answered 502'],
		[503, HTML, /not available/, 'answered 503'],
		[200, { success: false, message: 'w' }, /did not accept the request/, '"w"'],
		[404, { error: { code: 'task_not_found', message: 'w' } }, /could not find/, '"w"'],
		[413, { message: 'w' }, /larger than the service accepts/, '"w"'],
		[422, { error: { code: 'content_policy_violation', message: 'w' } }, /declined the content/, '"w"'],
		[429, { error: { code: 'rate_limit_exceeded', message: 'w' } }, /too many requests/, '"w"'],
		[500, { error: { code: 'internal_error', message: 'w' } }, /could not process/, '"w"'],
		[504, '<html>', /not available/, 'answered 504'],
		[200, '<html>', /does not come from the Generation Gateway/, 'answered 200'],
	])(
		'a refusal is explained in English, with the original words in the description: %i %j',
		(status, body, message, words) => {
			const error = refusalError(json(status, body));
			expect(error.message).toMatch(message);
			expect(describeError(error)).toContain(words);
			expect(error.message).not.toMatch(/\b(error|problem|failure|mistake|failed)\b/i);
			expect(error.message).not.toContain(words);
		},
	);

	test('a key that the service quotes is not repeated', () => {
		const key = `sk-${'aB3-'.repeat(12)}`;
		const error = refusalError(json(401, { error: { message: `Incorrect API key provided: ${key}.` } }));
		expect(JSON.stringify([error.message, error.details])).not.toContain('aB3');
		expect(describeError(error)).toContain('Incorrect API key provided: sk-…');
	});

	test('a redirect names only the host', () => {
		const error = refusalError(json(302, '', { location: 'https://other.example/x?token=secret' }));
		expect(error.message).toBe('The service redirects requests to other.example');
		expect(`${error.message} ${describeError(error)}`).not.toContain('secret');
	});
});

describe('what may be sent again', () => {
	test.each([
		[200, '{}', 'answered'],
		[202, HTML, 'answered'],
		[429, HTML, 'tryAgain'],
		[503, '{"error":{}}', 'tryAgain'],
		[503, '{}', 'unknown'],
		[408, '{}', 'unknown'],
		[500, '{}', 'unknown'],
		[501, '{}', 'unknown'],
		[502, '{}', 'unknown'],
		[504, '{}', 'unknown'],
		[524, HTML, 'unknown'],
		[503, HTML, 'unknown'],
		[503, '', 'unknown'],
		[503, '{"cut', 'unknown'],
		[100, '', 'unknown'],
		[303, '', 'unknown'],
		[301, '', 'refused'],
		[400, '{}', 'refused'],
		[401, '{}', 'refused'],
		[404, HTML, 'refused'],
		[409, '{}', 'refused'],
		[422, '{}', 'refused'],
	])('a creating request that is answered with %i %j is %s', (status, body, outcome) => {
		expect(postOutcomeOfAnswer(json(status, body))).toBe(outcome);
	});

	test.each([
		['tryAgain', ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN']],
		[
			'refused',
			[
				'CERT_HAS_EXPIRED',
				'DEPTH_ZERO_SELF_SIGNED_CERT',
				'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
				'ERR_TLS_CERT_ALTNAME_INVALID',
				'ERR_SSL_WRONG_VERSION_NUMBER',
				'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
				'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
			],
		],
		[
			'unknown',
			[
				'ECONNRESET',
				'ECONNABORTED',
				'ETIMEDOUT',
				'EPIPE',
				'UND_ERR_SOCKET',
				'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
				'ERR_SSL_UNEXPECTED_EOF_WHILE_READING',
				'UNKNOWN',
				'',
			],
		],
	])('a creating request whose connection ended is %s for %j', (outcome, codes) => {
		expect(codes.map(postOutcomeOfConnection)).toEqual(codes.map(() => outcome));
	});

	test('a read is worth another look after passing trouble only', () => {
		const statuses = [200, 302, 400, 401, 402, 403, 404, 408, 422, 429, 500, 502, 503, 504];
		expect(statuses.filter(isTransientStatus)).toEqual([302, 408, 429, 500, 502, 503, 504]);
	});

	test('the pauses before another try double up to half a minute', () => {
		expect([1, 2, 3, 6, 50].map((attempt) => backoffMs(attempt, () => 1))).toEqual([1000, 2000, 4000, 30_000, 30_000]);
		expect(backoffMs(1, () => 0)).toBe(500);
	});
});

test.each([
	['7', 7000],
	['1.5', 1500],
	[new Date(70_000).toUTCString(), 10_000],
	[new Date(0).toUTCString(), 0],
	['soon', undefined],
	['', undefined],
])('Retry-After "%s" is %s ms', (value, ms) =>
	expect(retryAfterMs(json(429, {}, { 'retry-after': value }), 60_000)).toBe(ms),
);

describe('settings', () => {
	test.each([
		[{}, { requestsPerSecond: 60, tasksAtOnce: Infinity }],
		[
			{ requestsPerSecond: '', tasksAtOnce: '' },
			{ requestsPerSecond: 60, tasksAtOnce: Infinity },
		],
		[
			{ requestsPerSecond: 5, tasksAtOnce: 20 },
			{ requestsPerSecond: 5, tasksAtOnce: 20 },
		],
		[
			{ requestsPerSecond: '12', tasksAtOnce: '7.9' },
			{ requestsPerSecond: 12, tasksAtOnce: 7 },
		],
	])('a limit of %j in the credential limits the account', (raw, limits) => {
		expect(readLimits(raw)).toEqual(limits);
	});

	test.each([
		[{ tasksAtOnce: 0 }, 'Tasks at Once in the credential is 0: it must be a number, 1 or more'],
		[{ tasksAtOnce: 10_001 }, 'Tasks at Once in the credential is 10001: it must be 10000 or less'],
		[{ tasksAtOnce: 'many' }, 'Tasks at Once in the credential is "many": it must be a number, 1 or more'],
		[{ requestsPerSecond: 0.5 }, 'Requests per Second in the credential is 0.5: it must be a number, 1 or more'],
		[{ requestsPerSecond: 1e9 }, 'Requests per Second in the credential is 1000000000: it must be 1000 or less'],
		[{ requestsPerSecond: NaN }, 'Requests per Second in the credential is NaN: it must be a number, 1 or more'],
		[{ requestsPerSecond: [] }, 'Requests per Second in the credential is []: it must be a number, 1 or more'],
	])('a limit of %j in the credential is refused', (raw, message) => {
		expect(() => readLimits(raw)).toThrow(expect.objectContaining({ kind: 'badInput', message }));
	});

	test.each(['https://g.example', 'https://g.example/', 'https://g.example/v1', ' https://g.example/v1/ '])(
		'the base URL %s is read as https://g.example',
		(baseUrl) => {
			expect(readSettings({ baseUrl }).baseUrl).toBe('https://g.example');
		},
	);

	test.each(['http://127.0.0.1:8787', 'http://localhost', 'http://[::1]:1', 'http://127.3.2.1'])(
		'plain http is fine for %s',
		(baseUrl) => {
			expect(readSettings({ baseUrl }).baseUrl).toBe(baseUrl);
		},
	);

	test('plain http is fine elsewhere only when it is allowed', () => {
		expect(() => readSettings({ baseUrl: 'http://10.0.0.5' })).toThrow(/plain http/);
		expect(() => readSettings({ baseUrl: 'http://localhost.evil.example' })).toThrow(/plain http/);
		expect(readSettings({ baseUrl: 'http://10.0.0.5', allowPlainHttp: true }).baseUrl).toBe('http://10.0.0.5');
	});

	test.each(['', 'gateway', 'ftp://x', 'https://user:pw@x', 'https://x?y', 'https://x#y', undefined])(
		'the base URL %s is refused',
		(baseUrl) => {
			expect(() => readSettings({ baseUrl })).toThrow(/^Base URL in the credential/);
		},
	);

	test.each(['/v1/images/generations', '/v1/videos/generations/', '/v1/tokens', '/v1/user/balance', '/user/balance'])(
		'the path of an endpoint is refused as the base URL: %s',
		(path) => {
			const error = thrownBy(() => readSettings({ baseUrl: `https://g.example/proxy${path}` }));
			expect(error.message).toBe('Base URL in the credential is the path of an endpoint');
			expect(describeError(error)).toBe('Enter the address without it: https://g.example/proxy. Nothing was sent.');
		},
	);

	test('a path of the service itself is kept in the base URL', () => {
		expect(readSettings({ baseUrl: 'https://g.example/proxy/v1/' }).baseUrl).toBe('https://g.example/proxy');
	});

	test.each([
		['https://evil.example/{task_id}', /absolute URL/],
		['//evil.example/{task_id}', /absolute URL/],
		['\\\\evil.example\\{task_id}', /absolute URL/],
		['/\\evil.example/{task_id}', /absolute URL/],
		['@evil.example/{task_id}', /not a path/],
		['/a\\b/{task_id}', /not a path/],
		['tasks/{task_id}', /not a path/],
		['/a/../{task_id}', /not a path/],
		['/tasks', /where the task ID goes/],
	])('the custom path %s is refused', (videoStatusPath, why) => {
		expect(() => readSettings({ baseUrl: 'https://g.example', customPaths: true, videoStatusPath })).toThrow(why);
	});

	test('a pasted key is cleaned', () => {
		expect([' sk-1 ', 'Bearer sk-1', 'bearer  sk-1\n', undefined].map(cleanApiKey)).toEqual([
			'sk-1',
			'sk-1',
			'sk-1',
			'',
		]);
	});
});
