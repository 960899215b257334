/** The endpoints of avatars: where each is, what it wants of the answer, and what its refusals mean (contract 4.6, 4.7). */
import type { AvatarClient } from '../../core/avatars/client';
import { assetTarget, mayBeUnfinished, verificationTarget } from '../../core/avatars/pollTargets';
import { parseAsset, parseVerificationResult, type AvatarKind } from '../../core/avatars/records';
import { isTransient, type GatewayError } from '../../core/errors';
import { refusalError } from '../../core/http/serviceErrors';
import type { AttemptHooks, HttpResponse } from '../../core/http/types';
import { json, scriptedClient, trouble } from './support';

const AVATARS = 'https://gateway.example/v1/videos/alpha-video-2-0';
const keys = { taskId: 'rav_1', vendorToken: 'vt_1' };
const no = (status: number) => json(status, { message: 'w', code: 'c' });

/** The requests of a call, and its result: the value, or the reason of its error. */
async function call(use: (avatars: AvatarClient) => Promise<unknown>, ...answers: Array<HttpResponse | string>) {
	const { client, sent } = scriptedClient(answers);
	const outcome = await use(client.avatars).then(
		(value) => ({ value, error: undefined }),
		(error: GatewayError) => ({ value: undefined, error }),
	);
	return { ...outcome, reason: outcome.error?.details.reason, sent };
}

describe('creating', () => {
	type Create = (avatars: AvatarClient, tries?: AttemptHooks) => Promise<unknown>;
	const body = { name: 'Anna' };

	const rows: Array<[string, string, string, string, Create]> = [
		[
			'verification',
			'real-avatar/verify-tasks',
			'task_id',
			'verification',
			async (of, tries) => await of.createVerification(body, tries),
		],
		['group', 'private-avatar/groups', 'group_id', 'group', async (of, tries) => await of.createGroup(body, tries)],
		[
			'private asset',
			'private-avatar/assets',
			'asset_id',
			'asset',
			async (of, tries) => await of.uploadAsset('private', body, tries),
		],
		[
			'real asset',
			'real-avatar/assets',
			'asset_id',
			'asset',
			async (of, tries) => await of.uploadAsset('real', body, tries),
		],
	];

	test.each(rows)('a %s is created at %s, and known by its %s', async (_, path, idName, thing, create) => {
		const answer = { id: 'other', [idName]: 'x_1', status: 'queued' };
		const { sent, value } = await call(create, json(200, answer));
		expect(sent.map((request) => [request.method, request.url, request.body])).toEqual([
			['POST', `${AVATARS}/${path}`, body],
		]);
		expect(value).toEqual({ id: 'x_1', status: 'queued', raw: answer });
		expect((await call(create, json(200, { data: { id: 7 } }))).value).toMatchObject({ id: '7' });
		expect((await call(create, json(200, '{"id":"x_2","sta'))).value).toEqual({ id: 'x_2', raw: { id: 'x_2' } });
		expect((await call(create, json(200, `{"sta":1,"${idName}":"x_3","sta`))).value).toMatchObject({ id: 'x_3' });
		expect((await call(create, json(200, { status: 'queued' }))).reason).toEqual({
			name: 'outcomeUnknown',
			data: { thing, what: `The service answered the request without the ID of the ${thing}` },
		});

		const notWritten = { sending: async () => await Promise.reject(trouble('stopped')) };
		const held = await call(async (avatars) => await create(avatars, notWritten), json(200, answer));
		expect([held.sent.length, held.error?.kind]).toEqual([0, 'stopped']);
	});

	test.each<[AvatarKind, number, string]>([
		['private', 404, 'groupUnknown'],
		['real', 404, 'groupUnknown'],
		['private', 403, 'groupNotAllowed'],
		['real', 400, 'requestRejected'],
	])('the group of a %s asset is what a %i is about: %s', async (avatarKind, status, name) => {
		const { reason, error, sent } = await call(
			async (avatars) => await avatars.uploadAsset(avatarKind, {}),
			no(status),
		);
		expect(reason).toEqual({ name, data: status === 400 ? {} : { avatarKind } });
		expect(error?.details).toMatchObject({ httpStatus: status, serviceMessage: 'w', serviceCode: 'c' });
		expect(sent).toHaveLength(1);
	});
});

describe('the session of a verification', () => {
	const session = json(200, { h5_link: 'https://example.com/h5', vendor_token: 'vt_1' });

	test('the session of a verification is read by its encoded ID', async () => {
		const { sent, value } = await call(async (avatars) => await avatars.getVerification('a/b'), session);
		expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
			`GET ${AVATARS}/real-avatar/verify-tasks/a%2Fb`,
		]);
		expect(value).toMatchObject({ taskId: 'a/b', h5Link: 'https://example.com/h5', vendorToken: 'vt_1' });
	});

	test.each<[string, 'getVerification' | 'getNewVerification', number, number, string | undefined]>([
		['unknown', 'getVerification', 404, 1, 'verificationUnknown'],
		['unknown right after it was created', 'getNewVerification', 404, 2, undefined],
		['refused right after it was created', 'getNewVerification', 403, 1, 'keyNotAllowed'],
		['in trouble', 'getVerification', 503, 2, undefined],
	])('the session of a verification that is %s (%s, %i) is read so often: %i', async (_, read, status, times, name) => {
		const { sent, reason, error, value } = await call(
			async (avatars) => await avatars[read]('rav_1'),
			no(status),
			session,
		);
		expect([sent.length, reason?.name]).toEqual([times, name]);
		expect(value === undefined ? error?.details.serviceMessage : 'w').toBe('w');
		if (name === 'verificationUnknown') expect(reason?.data).toEqual({ id: 'rav_1' });
	});

	test('the session of a new verification that stays unknown is said to be unknown', async () => {
		const { sent, reason } = await call(async (avatars) => await avatars.getNewVerification('rav_1'), no(404));
		expect([sent.length, reason]).toEqual([4, { name: 'verificationUnknown', data: { id: 'rav_1' } }]);
	});
});

describe('the result of a verification', () => {
	const verified = json(200, { verify_status: 'verified', group_id: 'rg_1' });

	test.each([
		['with', { ...keys, resultCode: '' }, { task_id: 'rav_1', vendor_token: 'vt_1', result_code: '' }],
		['without', keys, { task_id: 'rav_1', vendor_token: 'vt_1' }],
	])('the result of a verification is asked for %s a result code', async (_, asked, query) => {
		const { sent, value } = await call(async (avatars) => await avatars.fetchVerificationResult(asked), verified);
		expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${AVATARS}/real-avatar/verify-results`]);
		expect(sent[0]?.query).toStrictEqual(query);
		expect(value).toMatchObject({ verified: true, groupId: 'rg_1' });
	});

	test.each(['[]', 'null'])('%s is no result of a verification, and one may follow', async (body) => {
		const { error } = await call(async (avatars) => await avatars.fetchVerificationResult(keys), json(200, body));
		expect(error).toMatchObject({ details: { httpStatus: 200, reason: { name: 'noVerificationResult', data: {} } } });
		expect(isTransient(error as GatewayError)).toBe(true);
	});

	test.each<[string, HttpResponse | string, number, object | undefined]>([
		['trouble that passes', no(503), 2, undefined],
		['no connection', 'ECONNREFUSED', 2, undefined],
		['a refused key', no(401), 1, { name: 'keyRefused', data: {} }],
		['too few credits', no(402), 1, { name: 'balanceTooLow', data: {} }],
		['a refusal', no(404), 1, { name: 'verificationResultNotGiven', data: { id: 'rav_1', httpStatus: 404 } }],
	])(
		'one look at the result of a verification that meets %s, as in row %#, asks again only where that helps',
		async (_, answer, times, expected) => {
			const look = async (avatars: AvatarClient) => await avatars.getVerificationResult(keys);
			const { sent, reason, error, value } = await call(look, answer, verified);
			expect([sent.length, reason]).toEqual([times, expected]);
			if (expected === undefined) expect(value).toMatchObject({ verified: true });
			else expect(error?.details).toMatchObject({ serviceMessage: 'w', serviceCode: 'c' });
		},
	);

	test('one look at the result of a verification that nobody answers says so', async () => {
		const look = async (avatars: AvatarClient) => await avatars.getVerificationResult(keys);
		expect((await call(look, 'ECONNREFUSED')).error?.kind).toBe('unreachable');
	});
});

describe('an asset', () => {
	test.each<[AvatarKind]>([['private'], ['real']])('a %s asset is read by its encoded ID', async (kind) => {
		const { sent, value } = await call(
			async (avatars) => await avatars.fetchAsset(kind, 'a/b'),
			json(200, { status: 'active' }),
		);
		expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${AVATARS}/${kind}-avatar/assets/a%2Fb`]);
		expect(value).toMatchObject({ state: 'done' });
	});

	test.each<[string, HttpResponse, string, object]>([
		['that is unknown', no(404), 'assetUnknown', { id: 'pa_1', avatarKind: 'real' }],
		['without a status', json(200, { asset_id: 'pa_1' }), 'noAssetStatus', {}],
		[
			'that is in processing, with success: false',
			json(200, { success: false, asset_id: 'pa_1', status: 'processing' }),
			'requestRejected',
			{},
		],
		[
			'that is another one, with success: false',
			json(200, { success: false, asset_id: 'pa_2', status: 'failed' }),
			'requestRejected',
			{},
		],
		['in no answer', json(200, 'busy'), 'notTheService', {}],
	])('an answer about an asset %s is no asset', async (_, answer, name, data) => {
		expect((await call(async (avatars) => await avatars.fetchAsset('real', 'pa_1'), answer)).reason).toEqual({
			name,
			data,
		});
	});

	test('an asset that has failed is one, with success: false beside it', async () => {
		const failed = { success: false, data: { asset_id: 'pa_1', status: 'failed' } };
		const { value } = await call(async (avatars) => await avatars.fetchAsset('real', 'pa_1'), json(200, failed));
		expect(value).toMatchObject({ state: 'failed', raw: failed });
	});

	test('one look at an asset rides out trouble that passes', async () => {
		const look = async (avatars: AvatarClient) => await avatars.getAsset('real', 'pa_1');
		const { sent, value } = await call(look, no(503), json(200, { status: 'active' }));
		expect([sent.length, sent[0]?.url]).toEqual([2, `${AVATARS}/real-avatar/assets/pa_1`]);
		expect(value).toMatchObject({ state: 'done' });
		expect((await call(look, no(404))).reason?.name).toBe('assetUnknown');
	});
});

describe('what is polled', () => {
	const task = { taskId: 'x_1', elapsedMs: 0 };

	test('an asset is polled with what its record says, and fails with the words of the service', async () => {
		const asset = parseAsset({ status: 'failed', progress: 40, message: 'no face', code: 'c' })!;
		const target = assetTarget(task, async () => await Promise.resolve(asset));
		expect(target).toMatchObject({ thing: 'asset', task });
		expect(await target.fetch()).toBe(asset);
		expect(target.statusOf(asset)).toEqual({ state: 'failed', status: 'failed', progress: 40 });
		expect(target.toFailure(asset).details).toMatchObject({
			reason: { name: 'assetFailed', data: { id: 'x_1', status: 'failed' } },
			...{ serviceMessage: 'no face', serviceCode: 'c' },
		});
	});

	test.each([
		[{ verify_status: 'rejected', message: 'no face', code: 'c' }, 'rejected'],
		[{ message: 'no face', code: 'c' }, ''],
	])('a verification %j that was not passed says so with the words of the service', async (raw, status) => {
		const result = parseVerificationResult(raw)!;
		const target = verificationTarget(task, async () => await Promise.resolve(result));
		expect(target).toMatchObject({ thing: 'verification', task });
		expect(await target.fetch()).toBe(result);
		expect(target.statusOf(result).status).toBe(status || 'pending');
		expect(target.toFailure(result).details).toMatchObject({
			reason: { name: 'notVerified', data: { id: 'x_1', status } },
			...{ serviceMessage: 'no face', serviceCode: 'c' },
		});
	});

	/** The link of 120 s, and a minute in which the service learns of a person who has just passed. */
	test.each([
		['since its link was made', 1_000, 1_000 + 180_000],
		['since the first poll, where nothing is known of the link', undefined, 500_000 + 180_000],
	])('a refusal means that a person may still pass for three minutes %s', (_, openedAtMs, untilMs) => {
		const { classifyError } = verificationTarget(task, async () => await new Promise(() => {}), openedAtMs);
		const refusal = refusalError(no(400));
		expect(classifyError?.(refusal, { atMs: untilMs, firstAtMs: 500_000 })).toBe('passing');
		expect(classifyError?.(refusal, { atMs: untilMs + 1, firstAtMs: 500_000 })).toMatchObject({
			details: {
				reason: { name: 'notVerifiedInTime', data: { id: 'x_1' } },
				...{ httpStatus: 400, serviceMessage: 'w', serviceCode: 'c' },
			},
		});
		for (const atMs of [0, untilMs + 1])
			expect(classifyError?.(refusalError(no(401)), { atMs, firstAtMs: 0 })).toBeUndefined();
	});

	const answered = (status: number, code?: string) => refusalError(json(status, { success: false, code }));
	test.each<[string, GatewayError, boolean]>([
		['400', answered(400), true],
		['403', answered(403), true],
		['404', answered(404), true],
		['400 about the key', answered(400, 'invalid_api_key'), true],
		['400 about credits', answered(400, 'insufficient_quota'), true],
		['300 about the key', trouble('authentication', { httpStatus: 300 }), false],
		['200', answered(200), true],
		['200 about the key', answered(200, 'invalid_api_key'), false],
		['200 about credits', answered(200, 'insufficient_quota'), false],
		['401', answered(401), false],
		['402', answered(402), false],
		['401 with other words', answered(401, 'task_not_found'), false],
		['402 with other words', answered(402, 'task_not_found'), false],
		['429', answered(429), false],
		['503', answered(503), false],
		['200 that is no answer of the service', refusalError(json(200, 'busy')), false],
		['400 that is no result', trouble('unexpectedAnswer', { httpStatus: 400 }), false],
		['no answer', trouble('rejected'), false],
		['no answer about credits', trouble('balance'), false],
	])('the answer %s tells whether a person may still pass', (_, error, expected) => {
		expect(mayBeUnfinished(error)).toBe(expected);
	});
});
