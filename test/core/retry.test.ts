/** The rule about sending again, case by case. */
import {
	backoffMs,
	BLOCKED_BY_N8N,
	limitOf,
	postOutcomeOfAnswer,
	postOutcomeOfConnection,
	retryAfterMs,
} from '../../core/http/retry';
import { HTML, json } from './support';

describe('a connection that broke', () => {
	test.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN'])(
		'a connection that broke with %s was never made, so it may be tried again',
		(code) => {
			expect(postOutcomeOfConnection(code)).toBe('tryAgain');
		},
	);

	test.each([
		...[
			'CERT_HAS_EXPIRED',
			'ERR_TLS_CERT_ALTNAME_INVALID',
			'DEPTH_ZERO_SELF_SIGNED_CERT',
			'SELF_SIGNED_CERT_IN_CHAIN',
			'UNABLE_TO_GET_ISSUER_CERT',
			'INVALID_CA',
			'HOSTNAME_MISMATCH',
		],
		...[
			'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
			'ERR_SSL_WRONG_VERSION_NUMBER',
			'ERR_SSL_UNSUPPORTED_PROTOCOL',
			'ERR_SSL_NO_PROTOCOLS_AVAILABLE',
		],
		...[
			'ERR_SSL_HTTP_REQUEST',
			'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
			'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
			'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
		],
		...['ERR_INVALID_URL', 'ERR_INVALID_CHAR', 'ERR_BLOCKED_BY_N8N'],
	])('over a connection that broke with %s nothing was sent, and it would be the same again', (code) => {
		expect(postOutcomeOfConnection(code)).toBe('refused');
	});

	test('to an address that n8n does not allow nothing was sent', () => {
		expect(postOutcomeOfConnection(BLOCKED_BY_N8N)).toBe('refused');
	});

	test.each([
		'ECONNRESET',
		'ETIMEDOUT',
		'EPIPE',
		'EPROTO',
		'UNKNOWN',
		'',
		'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
		'ERR_INVALID_CHARACTER',
		'THE_CERT_HAS_EXPIRED',
		'NO_ERR_INVALID_CHAR',
		'ERR_BLOCKED_BY_N8N_ITSELF',
	])('over a connection that broke with %j the request may have arrived', (code) => {
		expect(postOutcomeOfConnection(code)).toBe('unknown');
	});
});

describe('an answer to a creating request', () => {
	test.each([
		['answered', [200, 201, 204, 299]],
		['refused', [300, 301, 302, 304, 307, 308, 399, 400, 401, 402, 403, 404, 407, 409, 422, 428, 430, 499]],
		['tryAgain', [429]],
		['unknown', [100, 103, 199, 303, 408, 500, 501, 502, 503, 504, 520, 599]],
	])('the outcome of a creating request is %s with the status %j', (outcome, statuses) => {
		expect(statuses.map((status) => postOutcomeOfAnswer(json(status, { message: 'x' })))).toEqual(
			statuses.map(() => outcome),
		);
	});

	test.each([
		['a page (a proxy may have passed the request on)', 'unknown', json(503, HTML)],
		['an empty body', 'unknown', json(503, '')],
		['a page with Retry-After', 'unknown', json(503, HTML, { 'retry-after': '2' })],
		['an empty page with Retry-After', 'unknown', json(503, '', { 'retry-after': '2', 'content-type': 'text/HTML' })],
		['a page behind white space', 'unknown', json(503, `\n ${HTML}`, { 'retry-after': '2' })],
		['nothing but Retry-After', 'tryAgain', json(503, '', { 'retry-after': '2' })],
		[
			'a text with Retry-After',
			'tryAgain',
			json(503, 'busy, 5 < 6', { 'retry-after': '2', 'content-type': 'text/plain' }),
		],
		['an empty Retry-After', 'tryAgain', json(503, '', { 'retry-after': '' })],
		['an error', 'tryAgain', json(503, { error: { message: 'busy' } })],
		['an error in words', 'tryAgain', json(503, { error: 'busy' })],
		['no success', 'tryAgain', json(503, { success: false, message: 'busy' })],
		['JSON that a proxy writes when it gives up waiting', 'unknown', json(503, { message: 'Service Unavailable' })],
		['a code, as proxies write it', 'unknown', json(503, { message: 'upstream connect error', code: 503 })],
		['an empty error', 'unknown', json(503, { error: '' })],
		['the name of the status', 'unknown', json(503, { status: 503, error: 'Service Unavailable', path: '/v1' })],
		['another name of it', 'unknown', json(503, { error: 'Service Temporarily Unavailable' })],
		['words with the name of it', 'tryAgain', json(503, { error: 'Service unavailable: no worker is free' })],
		['more words with it', 'tryAgain', json(503, { error: 'The service unavailable' })],
		['no object', 'unknown', json(503, 'null')],
		[
			'the code of a proxy',
			'unknown',
			json(503, { success: false, error: { code: 'upstream_timeout', message: 'x' } }),
		],
		['a service that ends', 'tryAgain', json(503, { success: false, message: 'The server is terminating' })],
		['a field with such a name', 'tryAgain', json(503, { timeout: 30, queue: 4 }, { 'retry-after': '2' })],
		['the timeout of a proxy', 'unknown', json(503, { error: 'upstream request timeout' })],
		['a timeout in words', 'unknown', json(503, { success: false, message: 'Upstream timed out after 60 s' })],
		[
			'a connection that was reset behind it',
			'unknown',
			json(503, { error: { message: 'reset reason: connection termination' } }, { 'retry-after': '2' }),
		],
		[
			'the text of a proxy',
			'unknown',
			json(503, 'disconnect/reset before headers', { 'retry-after': '2', 'content-type': 'text/plain' }),
		],
		['JSON and Retry-After', 'tryAgain', json(503, { message: 'busy' }, { 'retry-after': '2' })],
	])('a creating request that is answered by 503 with %s ends as %s', (_, outcome, answer) => {
		expect(postOutcomeOfAnswer(answer)).toBe(outcome);
	});

	test.each([
		...['socket hang up', 'read ECONNRESET', 'ECONNABORTED', 'write EPIPE', 'read ETIMEDOUT', '上游请求超时'],
		...['Post "http://10.0.0.7/v1": context deadline exceeded', 'DEADLINE_EXCEEDED', 'context canceled'],
		...['unexpected EOF', 'Post "http://10.0.0.7/v1": EOF', 'write: use of closed network connection'],
		...['upstream prematurely closed connection while reading response header', 'no response from upstream'],
		...['lost connection', 'Connection lost', 'other side closed'],
	])('a 503 whose words show that a service behind may have got the request is not sent again: %s', (words) => {
		for (const body of [{ success: false, message: words }, { error: words }, { error: { code: words } }])
			expect(postOutcomeOfAnswer(json(503, body))).toBe('unknown');
		const headers = { 'retry-after': '2', 'content-type': 'text/plain' };
		expect(postOutcomeOfAnswer(json(503, words, headers))).toBe('unknown');
	});

	test.each([
		...['connect ECONNREFUSED 10.0.0.7:80', 'getaddrinfo ENOTFOUND backend', 'connect EHOSTUNREACH 10.0.0.7'],
		...['dial tcp 10.0.0.7:80: connect: connection refused', 'no healthy upstream', 'The model is overloaded'],
		...['Down for maintenance', 'Service unavailable: no worker', 'Request cancelled because the queue is full'],
		...['The imagePipeline is busy', 'No capacity'],
	])('a 503 whose words show that nothing behind has got the request may be sent again: %s', (words) => {
		for (const body of [{ success: false, message: words }, { error: words }, { error: { code: words } }])
			expect(postOutcomeOfAnswer(json(503, body))).toBe('tryAgain');
	});

	describe.each(['令牌名称过长', 'Authentication failed', 'No Authorization header'])(
		'"%s" ends a request before anything is created',
		(message) => {
			test.each([
				['success: false', { success: false, message }],
				['an error object', { error: { message } }],
				['an error', { error: message }],
				['an error beside success: false', { success: false, error: message, message: 'x' }],
				['an error object without words', { error: {}, message }],
			])('the words of a refusal end a request before anything is created, whatever the status: %s', (_, body) => {
				for (const status of [100, 303, 408, 429, 500, 502, 503])
					expect(postOutcomeOfAnswer(json(status, body))).toBe('refused');
			});

			test.each([
				['a body that does not say no', { message }],
				['success: true', { success: true, message }],
				['the words of another', { success: false, message: `${message}.`, error: 'x' }],
				['words that are not those of the error', { success: false, message, error: { message: 'x' } }],
				['an empty error', { error: '', message }],
				['a list', [{ success: false, message }]],
				['a page', `<html>${message}</html>`],
			])('words that only look like those of a refusal leave the outcome open: %s', (_, body) => {
				expect(postOutcomeOfAnswer(json(500, body))).toBe('unknown');
			});

			test('a 2xx answer is an answer, whatever its words', () => {
				expect(postOutcomeOfAnswer(json(200, { success: false, message }))).toBe('answered');
			});
		},
	);

	test.each(['生成令牌失败', 'Failed to get user quota', 'Failed to get used quota'])(
		'the words "%s" leave open whether something was created',
		(message) => {
			const body = { success: false, message };
			for (const status of [429, 500, 503]) {
				expect(postOutcomeOfAnswer(json(status, body))).toBe('unknown');
				expect(postOutcomeOfAnswer(json(status, body, { 'retry-after': '2' }))).toBe('unknown');
			}
			for (const status of [400, 422]) expect(postOutcomeOfAnswer(json(status, body))).toBe('refused');
		},
	);
});

test.each([
	['model_not_found', 'refused'],
	['no_available_channel', 'refused'],
	['insufficient_quota', 'refused'],
	['quota_not_enough', 'refused'],
	['invalid_api_key', 'refused'],
	['content_policy_violation', 'refused'],
	['rate_limit_exceeded', 'tryAgain'],
	['invalid_request', 'tryAgain'],
	['task_not_found', 'tryAgain'],
	['a_code', 'tryAgain'],
])('an error with the code %s beside 503 says that a creating request was %s', (code, outcome) => {
	expect(postOutcomeOfAnswer(json(503, { error: { code, message: 'x' } }))).toBe(outcome);
	expect(postOutcomeOfAnswer(json(429, { error: { code, message: 'x' } }))).toBe(outcome);
	const others = /model|channel/.test(code) ? 'refused' : 'unknown';
	for (const status of [303, 408, 500, 502, 504])
		expect(postOutcomeOfAnswer(json(status, { code, message: 'x' }))).toBe(others);
});

describe('Retry-After', () => {
	const nowMs = Date.UTC(2026, 0, 1);
	test.each([
		['0', 0],
		['7', 7_000],
		['120', 120_000],
		[new Date(nowMs + 9_000).toUTCString(), 9_000],
		[new Date(nowMs - 9_000).toUTCString(), 0],
		['', undefined],
		['soon', undefined],
		['7 apples', undefined],
		[undefined, undefined],
	])('a Retry-After of %j is %j ms', (value, ms) => {
		expect(retryAfterMs(json(429, {}, value === undefined ? {} : { 'retry-after': value }), nowMs)).toBe(ms);
	});

	test.each(['9'.repeat(400), '99999999999999999999', '31536001', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
		'a Retry-After of more than a year is a year: %s',
		(value) => {
			expect(retryAfterMs(json(429, {}, { 'retry-after': value }), nowMs)).toBe(31_536_000_000);
		},
	);

	test.each<[Record<string, string>, number | undefined]>([
		[{ 'retry-after-ms': '1500' }, 1_500],
		[{ 'retry-after-ms': '1500', 'retry-after': '2', 'x-ratelimit-reset-after': '9' }, 1_500],
		[{ 'retry-after-ms': 'soon', 'retry-after': '2' }, 2_000],
		[{ 'retry-after': '2', 'x-ratelimit-reset-after': '9' }, 2_000],
		[{ 'retry-after': String(nowMs / 1000 + 7) }, 7_000],
		[{ 'x-ratelimit-reset-after': '0.75' }, 750],
		[{ 'x-ratelimit-reset-after': '9', 'x-ratelimit-reset': '90' }, 9_000],
		[{ 'x-ratelimit-reset': '7' }, 7_000],
		[{ 'x-ratelimit-reset': String(nowMs / 1000 + 7) }, 7_000],
		[{ 'x-ratelimit-reset': String(nowMs + 7_000) }, 7_000],
		[{ 'x-ratelimit-reset': new Date(nowMs + 7_000).toISOString() }, 7_000],
		[{ 'x-ratelimit-reset': String(nowMs / 1000 - 7) }, 0],
		[{ 'x-ratelimit-reset': '1m30s' }, 90_000],
		[{ 'x-ratelimit-reset': '250ms' }, 250],
		[{ 'ratelimit-reset': '7' }, 7_000],
		[{ 'x-ratelimit-reset': '7', 'x-ratelimit-remaining': '0' }, 7_000],
		[{ 'x-ratelimit-reset': '7', 'x-ratelimit-remaining': '12' }, undefined],
		[{ 'x-ratelimit-reset': '86400' }, undefined],
		[{ 'x-ratelimit-reset-after': '86400', 'x-ratelimit-reset': '30' }, 30_000],
		[{ 'x-ratelimit-reset': 'soon' }, undefined],
		[{ 'x-ratelimit-reset-requests': '12', 'x-ratelimit-remaining-requests': '0' }, 12_000],
		[{ 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-reset-tokens': '6m0s' }, 360_000],
		[
			{
				...{ 'x-ratelimit-reset-requests': '20s', 'x-ratelimit-remaining-requests': '0' },
				...{ 'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-remaining-tokens': '149000' },
			},
			20_000,
		],
	])('the headers %j of a 429 ask for a pause of %j ms', (headers, ms) => {
		expect(retryAfterMs(json(429, {}, headers), nowMs)).toBe(ms);
	});

	test('where no limit was reached, the time at which one ends asks for no pause', () => {
		const headers = { 'x-ratelimit-reset': '7', 'x-ratelimit-reset-after': '7' };
		for (const status of [200, 404, 503]) expect(retryAfterMs(json(status, {}, headers), nowMs)).toBeUndefined();
		expect(retryAfterMs(json(200, {}, { ...headers, 'retry-after': '3' }), nowMs)).toBe(3_000);
	});

	test.each([
		['tasks', 'concurrency_limit_exceeded', ''],
		['tasks', 'rate_limit_exceeded', 'You have too many running tasks'],
		['tasks', '429', 'Max parallel generations reached (5)'],
		['tasks', 'rate_limit', '5 tasks can run at the same time'],
		['tasks', 'task_limit_reached', ''],
		['tasks', '', 'Maximum number of tasks is 5'],
		['tasks', '', '并发任务数超出限制'],
		['requests', 'rate_limit_exceeded', 'Limit of 10 requests per minute reached'],
		['requests', 'rpm_limit', ''],
		['requests', '', 'Too many tasks per minute'],
		['requests', '', '10 requests/min'],
		['requests', '', '请求过于频繁'],
		[undefined, 'rate_limit_exceeded', 'Too many requests'],
		[undefined, '', ''],
	])('a 429 is about a limit of %s: %j %j', (limit, serviceCode, serviceMessage) => {
		expect(limitOf({ serviceCode, serviceMessage })).toBe(limit);
	});

	test.each([-3_600_000, 3_600_000])(
		'a date as Retry-After counts by the clock of the service: ours is %i ms off',
		(offMs) => {
			const date = new Date(nowMs + offMs).toUTCString();
			const headers = { date, 'retry-after': new Date(nowMs + offMs + 7_000).toUTCString() };
			expect(retryAfterMs(json(429, {}, headers), nowMs)).toBe(7_000);
			expect(retryAfterMs(json(429, {}, { ...headers, date: 'soon' }), nowMs + offMs)).toBe(7_000);
			expect(retryAfterMs(json(429, {}, { date, 'retry-after': '7' }), nowMs)).toBe(7_000);
		},
	);
});

test.each([
	[1, 500, 1_000],
	[2, 1_000, 2_000],
	[3, 2_000, 4_000],
	[5, 8_000, 16_000],
	[6, 15_000, 30_000],
	[60, 15_000, 30_000],
])('pause %i before another try takes %i to %i ms', (attempt, leastMs, mostMs) => {
	expect(backoffMs(attempt, () => 0)).toBe(leastMs);
	expect(backoffMs(attempt, () => 1)).toBe(mostMs);
});
