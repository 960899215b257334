/** The meaning of the service's words: codes, messages and statuses of refusals. */
import { parseRefusal, reasonOf, saysNoSuccess } from '../../core/records/refusals';

test.each([
	['unauthorized', 'keyRefused'],
	['INVALID_API_KEY', 'keyRefused'],
	['not_unauthorized', undefined],
	['insufficient_quota', 'balanceTooLow'],
	['insufficient_user_quota', 'balanceTooLow'],
	['insufficient_credits', 'balanceTooLow'],
	['pre_consume_token_quota_failed', 'balanceTooLow'],
	['quota_exceeded', 'balanceTooLow'],
	['content_policy_violation', 'contentDeclined'],
	['moderation_blocked', 'contentDeclined'],
	['task_not_found', 'notFound'],
	['rate_limit_exceeded', 'rateLimited'],
	['invalid_request_error', 'requestRejected'],
	['not_invalid_request', undefined],
	['internal_error', 'requestNotProcessed'],
	['generation_failed', 'requestNotProcessed'],
	['InsufficientBalance', 'balanceTooLow'],
	['user_quota_is_not_enough', 'balanceTooLow'],
	['credits-exhausted', 'balanceTooLow'],
	['OUT_OF_CREDITS', 'balanceTooLow'],
	['account_overdue', 'balanceTooLow'],
	['billing_hard_limit_reached', 'balanceTooLow'],
	['balance_too_low', 'balanceTooLow'],
	['model_not_found', 'modelNotFound'],
	['unknown_model', 'modelNotFound'],
	['MODEL_UNSUPPORTED', 'modelNotFound'],
	['invalid_model', 'modelNotFound'],
	['invalid_model_parameter', undefined],
	['model_unavailable', undefined],
	['submodel_not_found', undefined],
	['DataInspectionFailed', 'contentDeclined'],
	['UnsafePrompt', 'contentDeclined'],
	['outputFiltered2', 'contentDeclined'],
	['guardrail_triggered', 'contentDeclined'],
	['content_type_rejected', undefined],
	['iam_policy', undefined],
	['out_of_paint', undefined],
])('without a status, the code %s of the service means %s', (code, reason) => {
	expect(reasonOf({ code })).toBe(reason);
});

test.each([
	['No Authorization header', 'noKeySent'],
	[' authentication FAILED ', 'keyRefused'],
	['令牌名称过长', 'tokenNameRefused'],
	['生成令牌失败', 'tokenNotCreated'],
	['Failed to get user quota', 'userUnknown'],
	['Failed to get used quota', 'usedBalanceUnknown'],
	['The authentication failed', undefined],
	['DataInspectionFailed', 'contentDeclined'],
	['您的提示词未通过审核', 'contentDeclined'],
	['prompt violates our policy', 'contentDeclined'],
	['safety check failed', 'contentDeclined'],
	['用户额度不足', 'balanceTooLow'],
	['账户余额不足', 'balanceTooLow'],
	['Insufficient credits: 3 needed', 'balanceTooLow'],
	['insufficient creditsX', undefined],
	['Moderation queue is full', undefined],
	['Error: moderation error 503', undefined],
	[undefined, undefined],
])('the message "%s" of the service means %s, whatever the status', (message, reason) => {
	expect([reasonOf({ message }), reasonOf({ message }, 418)]).toEqual([reason, reason]);
});

test.each([
	[400, 'requestRejected'],
	[401, 'keyRefused'],
	[402, 'balanceTooLow'],
	[403, 'keyNotAllowed'],
	[404, 'notFound'],
	[413, 'requestTooLarge'],
	[429, 'rateLimited'],
	[418, undefined],
	[undefined, undefined],
])('without words, the status %s means %s', (status, reason) => {
	expect(reasonOf({}, status)).toBe(reason);
	expect(reasonOf({ code: 'out_of_paint', message: 'w' }, status)).toBe(reason);
});

test.each<[string, Parameters<typeof reasonOf>, string]>([
	['a code says more than the status', [{ code: 'content_policy' }, 403], 'contentDeclined'],
	['a message says more than the status', [{ message: 'Failed to get user quota' }, 404], 'userUnknown'],
	['a code that a service sends with every status says less', [{ code: 'internal_error' }, 404], 'notFound'],
	[
		'words of declined content say more than a code of a fault',
		[{ code: 'server_error', message: 'Rejected as a result of our safety system.' }, undefined],
		'contentDeclined',
	],
	['but more than a status without a meaning', [{ code: 'internal_error' }, 500], 'requestNotProcessed'],
	['a quota that is exceeded with 429 is that of a minute', [{ code: 'quota_exceeded' }, 429], 'rateLimited'],
	['and so are words of it', [{ message: 'Insufficient quota' }, 429], 'rateLimited'],
	[
		'words of declined content say less than a refused key',
		[{ message: 'Your account was flagged for violating our usage policies' }, 401],
		'keyRefused',
	],
	['and less than an empty account', [{ message: 'prompt violates our policy' }, 402], 'balanceTooLow'],
])('of what a refusal says, the clearest counts: %s', (_, refusal, reason) => {
	expect(reasonOf(...refusal)).toBe(reason);
});

test.each<[string, unknown, unknown]>([
	['nothing', undefined, {}],
	['an error as a text', { error: 'w' }, { message: 'w' }],
	['an error object', { error: { code: 'c', message: 'w', type: 't' } }, { code: 'c', message: 'w' }],
	['a type beside a number', { error: { code: 401, type: 't' } }, { code: 't' }],
	['a number only', { error: { code: 401 } }, { code: '401' }],
	['a code outside the error', { error: {}, code: ' c ' }, { code: 'c' }],
	['the reason of a failed task', { fail_reason: 'w', message: 'less' }, { message: 'w' }],
	['the words of the error before all others', { error: { message: 'w' }, fail_reason: 'less' }, { message: 'w' }],
	['words of success', { code: 'success', message: 'OK', error: { code: 0, message: 'Succeeded' } }, {}],
	['words that only end so', { code: 'not_ok', message: 'It is not ok' }, { code: 'not_ok', message: 'It is not ok' }],
	[
		'words beside those of success',
		{ code: 200, message: 'w', error: { code: 'c', message: 'ok' } },
		{ code: 'c', message: 'w' },
	],
	['detail as a text', { detail: 'w' }, { message: 'w' }],
	[
		'detail as a list',
		{ detail: [{ loc: ['body', 'prompt'], msg: 'w', type: 'missing' }] },
		{ code: 'missing', message: 'w' },
	],
	['errors as a list of objects', { errors: [{ code: 'c', message: 'w' }] }, { code: 'c', message: 'w' }],
	['errors as an object', { errors: { prompt: ['x'], message: 'w' } }, { message: 'w' }],
])('the words of a refusal are found: %s', (_, body, refusal) => {
	expect(parseRefusal(body)).toEqual(refusal);
});

test.each([
	['sk-12345678', 'sk-…'],
	['my_sk-12345678', 'my_sk-…'],
	['key:\\nsk-12345678 %20sk-12345678', 'key:\\nsk-… %20sk-…'],
	['the key sk-ab_c-9Z0 and sk-12345678.', 'the key sk-… and sk-….'],
	['sk-1234567 is too short for a key', 'sk-1234567 is too short for a key'],
	['a task-12345678 has none', 'a task-12345678 has none'],
])('an API key in the words or the code of a refusal is not kept: %s', (message, kept) => {
	expect(parseRefusal({ message, code: message })).toEqual({ message: kept, code: kept });
});

test('of endless words of a refusal only the beginning is kept', () => {
	const { code = '', message = '' } = parseRefusal({ code: 'c'.repeat(10_000), message: 'w'.repeat(10_000) });
	expect([code.length, message.length]).toEqual([101, 2001]);
});

test('an answer says that it is no success only by a field of its own', () => {
	expect([{ success: false }, { success: true }, { success: 'false' }, {}, [], null].map(saysNoSuccess)).toEqual([
		...[true, false, false, false, false, false],
	]);
});
