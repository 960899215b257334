/** The errors of refusals. */
import { refusalError } from '../../core/http/answers';
import { HTML, json } from './support';

describe('what an answer means that is no success', () => {
	test.each<[string, ReturnType<typeof json>, string]>([
		['a page in place of an answer', json(200, HTML), 'notTheService'],
		['a page with a refusal', json(418, HTML), 'requestRejected'],
		['a choice', json(300, HTML), 'serviceRedirects'],
		['a conflict', json(409, {}), 'requestRejected'],
		['a page with 401', json(401, HTML), 'refusedInBetween'],
		['text with 404', json(404, '404 page not found'), 'refusedInBetween'],
		['nothing with 403', json(403, ''), 'refusedInBetween'],
		['JSON with the name of the status', json(403, { message: 'Forbidden' }), 'refusedInBetween'],
		[
			'JSON of a framework',
			json(404, { timestamp: 1, status: 404, error: 'Not Found', path: '/v1' }),
			'refusedInBetween',
		],
		...[401, 403, 404].flatMap(
			(status): Array<[string, ReturnType<typeof json>, string]> => [
				[
					`${status} of a gateway of AWS`,
					json(status, { message: 'Missing Authentication Token' }),
					'refusedInBetween',
				],
				[`${status} of a framework in words`, json(status, { message: 'Cannot GET /v1/images' }), 'refusedInBetween'],
			],
		),
		['JSON of a problem', json(403, { title: 'Access denied', detail: 'bot' }), 'refusedInBetween'],
		['detail of a framework', json(404, { detail: 'Not Found' }), 'refusedInBetween'],
		['a 404 of the service in detail', json(404, { detail: 'Task task-1 not found' }), 'notFound'],
		['a 401 of the service in an object', json(401, { detail: { message: 'The token is not valid' } }), 'keyRefused'],
		['a 404 of the service in msg', json(404, { code: 404, msg: 'task does not exist' }), 'notFound'],
		['a 403 of the service in error_message', json(403, { error_message: 'not for this model' }), 'keyNotAllowed'],
		[
			'words of an empty account with 401',
			json(401, { error: { code: '', message: '该令牌额度已用尽' } }),
			'balanceTooLow',
		],
		[
			'words of an empty account with 200',
			json(200, { success: false, message: 'Insufficient balance' }),
			'balanceTooLow',
		],
		['a 401 of the service', json(401, { message: 'The token is not valid' }), 'keyRefused'],
		['a 403 of the service', json(403, { error: { message: 'no' } }), 'keyNotAllowed'],
		['a 404 of the service', json(404, { success: false, message: 'no' }), 'notFound'],
		['words of the contract as text', json(401, 'No Authorization header'), 'noKeySent'],
		['words of the contract in a page', json(403, '<html><body>Authentication failed</body></html>'), 'keyRefused'],
		['a status as the code of a 200', json(200, { code: 401, msg: 'no' }), 'keyRefused'],
		['a known code and no message', json(404, { code: 'model_not_found' }), 'modelNotFound'],
		['a code that says more than 503', json(503, { error: { code: 'model_not_found' } }), 'modelNotFound'],
		['too slow', json(408, HTML), 'serviceUnavailable'],
		['a proxy', json(502, HTML), 'serviceUnavailable'],
		['words that say more than the status', json(500, { message: 'Failed to get user quota' }), 'userUnknown'],
	])('an answer that is no success has a reason: %s', (_, answer, reason) => {
		expect(refusalError(answer).details).toMatchObject({ httpStatus: answer.status, reason: { name: reason } });
	});

	test('of an answer that is no success, the words of the service, its code and how long it asks to be left alone are kept', () => {
		const { details } = refusalError(
			json(429, { error: { code: 'rate_limit_exceeded', message: 'slow down' } }),
			7_000,
		);
		expect(details).toMatchObject({
			httpStatus: 429,
			serviceMessage: 'slow down',
			serviceCode: 'rate_limit_exceeded',
			retryAfterMs: 7_000,
		});
		expect(details.permanent).toBeUndefined();
		for (const status of [302, 418, 502])
			expect(refusalError(json(status, { message: 'w' }), 7_000).details).toMatchObject({
				serviceMessage: 'w',
				retryAfterMs: 7_000,
			});
	});

	test('the code that a service gives to every refusal says less than the status', () => {
		const error = { message: 'w', type: 'invalid_request_error', param: null, code: null };
		const of = (status: number) => refusalError(json(status, { error })).details;
		expect([401, 402, 403, 404, 413, 429, 400, 422].map((status) => of(status).reason?.name)).toEqual([
			...['keyRefused', 'balanceTooLow', 'keyNotAllowed', 'notFound', 'requestTooLarge', 'rateLimited'],
			...['requestRejected', 'requestRejected'],
		]);
		expect(of(401)).toMatchObject({ serviceMessage: 'w', serviceCode: 'invalid_request_error' });
	});

	test.each([
		['an error that is a number', { error: 401, message: 'w', code: 'c' }],
		['a code that is an object', { error: { code: {}, type: 'c', message: 'w' } }],
		['nulls', { error: null, fail_reason: null, success: null, message: 'w', code: 'c' }],
	])('a field of another type takes no words away from a refusal: %s', (_, body) => {
		expect(refusalError(json(400, body)).details).toMatchObject({ serviceMessage: 'w', serviceCode: 'c' });
	});

	test('the answer to a request that would be refused again is marked', () => {
		expect(refusalError(json(422, { code: 'content_policy_violation' })).details.permanent).toBe(true);
		for (const status of [401, 402]) expect(refusalError(json(status, {})).details.permanent).toBeUndefined();
	});

	test.each<[string, Record<string, string>, string | undefined]>([
		['an address', { location: 'https://other.example:8443/x?token=secret' }, 'other.example:8443'],
		['a path', { location: '/login?token=secret' }, 'another path'],
		['nothing', {}, undefined],
		['an empty text', { location: '' }, undefined],
	])('a redirect to %s is no success', (_, headers, target) => {
		const error = refusalError(json(302, '', headers));
		expect(error.details.reason?.data).toEqual({ target });
		expect(JSON.stringify([error.message, error.details])).not.toContain('secret');
	});
});
