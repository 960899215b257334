import { parseCallback, readingsOf, toCallbackUrl } from '../../core/avatars/callback';
import { CallbackLog, PerMinute } from '../../core/avatars/callbackLog';
import { verifications } from '../../core/processMemory';
import { recallVerification, rememberVerification } from '../../core/avatars/memory';
import { json, scriptedClient } from './support';
import {
	parseAsset,
	parseVerificationResult,
	parseVerificationSession,
	verificationStatusOf,
} from '../../core/avatars/records';

describe('the callback URL', () => {
	test.each([
		['https://n8n.example/a', '', 'https://n8n.example/a'],
		['https://n8n.example/a', 'x & y?', 'https://n8n.example/a?reference=x+%26+y%3F'],
		['https://n8n.example/a?signature=1', '', 'https://n8n.example/a?signature=1&callback=1'],
		['https://n8n.example/a?signature=1', 'x', 'https://n8n.example/a?signature=1&reference=x'],
		['https://n8n.example/a?signature=1#top', 'x', 'https://n8n.example/a?signature=1&reference=x#top'],
	])('the callback URL %s with the reference "%s" is sent as %s', (url, reference, sent) => {
		expect(toCallbackUrl(url, reference)).toBe(sent);
	});

	test.each([['&'], ['?']])(
		'the callback URL keeps its signature and its reference when a service appends with %s',
		(separator) => {
			const called = `${toCallbackUrl('https://n8n.example/a?signature=s', 'a?b&c=d')}${separator}resultCode=1&vendorToken=t`;
			expect(new URL(called).searchParams.get('signature')).toBe('s');
			expect(parseCallback(called)).toEqual({ resultCode: '1', vendorToken: 't', reference: 'a?b&c=d' });
		},
	);

	test('a raw + in a callback is read as it is, and as a space', () => {
		const callback = parseCallback('/a?reference=customer+42&resultCode=1+0&vendorToken=a+b%2Bc+');
		expect(callback).toMatchObject({
			resultCode: '1+0',
			vendorToken: 'a+b+c+',
			reference: 'customer 42',
			spaced: { resultCode: '1 0', vendorToken: 'a b+c' },
		});
		expect(readingsOf(callback, 'vendorToken')).toEqual(['a+b+c+', 'a b+c']);
		expect(readingsOf(parseCallback('/a?vendorToken=a%2Bb'), 'vendorToken')).toEqual(['a+b']);
		expect(readingsOf(parseCallback('/a?vendorToken=+'), 'vendorToken')).toEqual(['+']);
	});

	test('of two values in a callback the first counts, and empty ones do not', () => {
		expect(parseCallback('/a?vendorToken=&VendorToken=t&vendortoken=u')).toEqual({ vendorToken: 't' });
	});
});

describe('answers', () => {
	test.each([[1_800_000_000], [1_800_000_000_000], ['2027-01-15T08:00:00Z'], ['1800000000']])(
		'expires_at %s of a verification is read as Unix seconds',
		(expires_at) => {
			expect(parseVerificationSession({ data: { h5_link: 'l', vendor_token: 't', expires_at } })).toMatchObject({
				h5Link: 'l',
				vendorToken: 't',
				expiresAt: 1_800_000_000,
			});
		},
	);

	test('assets are read flat and wrapped', () => {
		const result = { verify_status: 'Verified', group_id: 7 };
		expect(parseVerificationResult(result)).toMatchObject({ verified: true, groupId: '7' });
		expect(parseVerificationResult({ success: true, data: result })).toMatchObject({ verified: true, groupId: '7' });
		expect(parseAsset({ success: true, data: { asset_id: 'a', status: 'processing' } })).toMatchObject({
			assetId: 'a',
			state: 'pending',
		});
		expect(parseAsset({ asset_id: 'a' })).toBeUndefined();
	});

	test.each(['failed', 'FAILURE', 'rejected', 'error', 'expired', 'cancelled', 'canceled'])(
		'the status "%s" of an asset or a verification is final',
		(status) => {
			expect(parseAsset({ asset_id: 'a', status })?.state).toBe('failed');
			expect(verificationStatusOf(parseVerificationResult({ verify_status: status })!).state).toBe('failed');
			expect(parseAsset({ asset_id: 'a', status: `un${status}` })?.state).toBe('pending');
		},
	);
});

describe('an asset that comes with success: false', () => {
	const read = (body: object) => scriptedClient([json(200, body)]).client.avatars.fetchAsset('private', 'pa_1');

	test('success: false is a failed asset when it is beside the asset itself', async () => {
		await expect(read({ success: false, data: { asset_id: 'pa_1', status: 'failed' } })).resolves.toMatchObject({
			state: 'failed',
		});
	});

	test('success: false is a refused reading where there is no asset', async () => {
		await expect(read({ success: false, status: 'failed', message: 'busy' })).rejects.toMatchObject({
			kind: 'rejected',
		});
	});
});

describe('verifications are remembered', () => {
	test('verifications are remembered for an hour, the newest thousand', () => {
		const memory = { workflowId: 'w', store: {} };
		for (let index = 0; index < 1_005; index++)
			rememberVerification(memory, `t${index}`, { taskId: `v${index}`, atMs: index });
		expect(recallVerification(memory, 't0', 2_000)).toBeUndefined();
		expect(recallVerification(memory, 't1004', 2_000)).toEqual({ taskId: 'v1004', atMs: 1_004 });
		expect(recallVerification(memory, 't1004', 3_601_004)).toBeUndefined();
		expect(recallVerification(memory, 'toString', 2_000)).toBeUndefined();
	});

	test('verifications are remembered by the workflow that created them', () => {
		rememberVerification({ workflowId: 'one', store: {} }, 't', { taskId: 'v', atMs: 0 });
		expect(recallVerification({ workflowId: 'other', store: {} }, 't', 1)).toBeUndefined();
	});

	test('memory keeps the verifications of a workflow no longer than an hour', () => {
		rememberVerification({ workflowId: 'quiet', store: {} }, 't', { taskId: 'v', atMs: 0 });
		rememberVerification({ workflowId: 'later', store: {} }, 't', { taskId: 'v', atMs: 3_599_999 });
		expect(verifications.has('quiet')).toBe(true);
		rememberVerification({ workflowId: 'later', store: {} }, 't', { taskId: 'v', atMs: 3_600_000 });
		expect(verifications.has('quiet')).toBe(false);
	});

	test('verifications survive executions that overwrite each other’s static data', () => {
		const [first, second] = [{}, {}].map((store) => ({ workflowId: 'busy', store }));
		rememberVerification(first, 'a', { taskId: 'va', atMs: 0 });
		rememberVerification(second, 'b', { taskId: 'vb', atMs: 0 });
		expect(JSON.stringify(second.store)).toMatch(/va.*vb/);
		expect(recallVerification({ workflowId: 'busy', store: {} }, 'a', 1)).toEqual({ taskId: 'va', atMs: 0 });
	});
});

test('the log of callbacks forgets after a day, and never holds more than ten thousand', () => {
	const log = new CallbackLog();
	expect(log.isNew('a', { verified: false, atMs: 0 })).toBe(true);
	expect(log.isNew('a', { verified: false, atMs: 1 })).toBe(true);
	log.tell('a', { verified: false, atMs: 1 });
	expect(log.isNew('a', { verified: false, atMs: 1 })).toBe(false);
	expect(log.isNew('a', { verified: true, atMs: 2 })).toBe(true);
	log.tell('a', { verified: true, atMs: 2 });
	expect(log.isNew('a', { verified: true, atMs: 3 })).toBe(false);
	expect(log.isNew('a', { verified: true, atMs: 25 * 3_600_000 })).toBe(true);
	for (let index = 0; index < 10_100; index++) log.tell(`k${index}`, { verified: false, atMs: 25 * 3_600_000 });
	expect(log.size).toBeLessThanOrEqual(10_001);
});

test('a limit per minute counts each kind for itself, and opens again', () => {
	const limit = new PerMinute(2);
	expect([0, 1, 2].map((nowMs) => limit.allows('a', nowMs))).toEqual([true, true, false]);
	expect(limit.allows('b', 2)).toBe(true);
	expect(limit.size).toBe(2);
	expect(limit.allows('a', 60_000)).toBe(true);
	expect(limit.allows('a', 60_003)).toBe(true);
	expect(limit.size).toBe(1);
});

test('a limit per minute closes nothing for hours when the clock is set back', () => {
	const limit = new PerMinute(2);
	const HOUR_MS = 3_600_000;
	expect([0, 1, 2].map((afterMs) => limit.allows('a', HOUR_MS + afterMs))).toEqual([true, true, false]);
	expect([0, 1, 2].map((nowMs) => limit.allows('a', nowMs))).toEqual([true, true, false]);
});
