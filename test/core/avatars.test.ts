import { parseCallback, readingsOf, toCallbackUrl } from '../../core/avatars/callback';
import { CallbackLog, PerMinute } from '../../core/avatars/callbackLog';
import { verifications } from '../../core/processMemory';
import { recallVerification, rememberVerification } from '../../core/avatars/memory';
import { json, scriptedClient } from './support';
import {
	joinAnswers,
	parseAsset,
	parseCreatedAnswer,
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

	test('a callback may write its names with underscores, and one without a token has no reading of it', () => {
		expect(parseCallback('/a?vendor_token=t&result_code=1')).toEqual({ vendorToken: 't', resultCode: '1' });
		expect(readingsOf(parseCallback('/a?resultCode=1+0'), 'vendorToken')).toStrictEqual([]);
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

	test.each([[0], [-1], ['0001-01-01T00:00:00Z']])('expires_at %s says that a verification has none', (expires_at) => {
		expect(parseVerificationSession({ h5_link: 'l', expires_at }).expiresAt).toBeUndefined();
	});

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

describe('what an answer about an avatar gives', () => {
	test('an asset has all that its answer says, and an unknown word of status is still on its way', () => {
		const raw = { id: 7, status: 'Active', progress: '50', group_id: 'g', asset_type: 'image', source_url: 'u' };
		expect(parseAsset(raw)).toMatchObject({
			assetId: '7',
			status: 'Active',
			state: 'done',
			progress: 50,
			groupId: 'g',
			assetType: 'image',
			sourceUrl: 'u',
			raw,
		});
		expect(parseAsset({ ...raw, progress: 5000 })?.progress).toBe(100);
		expect(parseAsset({ ...raw, progress: -1 })?.progress).toBe(0);
		expect(parseAsset({ ...raw, progress: 'soon' })?.progress).toBeUndefined();
		expect(parseAsset({ id: 'a', status: 'inactive' })?.state).toBe('pending');
		expect(parseAsset({ id: 'a', status: 'active soon' })?.state).toBe('pending');
		expect(parseAsset({ id: 'a', status: 'failed over' })?.state).toBe('pending');
		expect(parseAsset('active')).toBeUndefined();
	});

	test('a person is verified only by that word and the ID of a group', () => {
		const verified = parseVerificationResult({ verify_status: 'verified', group_id: 'g', result_code: 10 });
		expect(verified).toMatchObject({ verified: true, resultCode: 10 });
		expect(verificationStatusOf(verified!)).toEqual({ state: 'done', status: 'verified' });
		expect(parseVerificationResult({ verify_status: 'verified' })?.verified).toBe(false);
		expect(parseVerificationResult({ verify_status: 'unverified', group_id: 'g' })?.verified).toBe(false);
		expect(parseVerificationResult({ group_id: 'g', result_code: null })).toMatchObject({ verified: false });
		expect(verificationStatusOf(parseVerificationResult({ group_id: 'g' })!)).toEqual({
			state: 'pending',
			status: 'pending',
		});
		expect(parseVerificationResult('verified')).toBeUndefined();
	});

	test('an answer that cannot be read is a session and a creation without fields', () => {
		expect(parseVerificationSession('busy')).toEqual({ raw: {} });
		expect(parseVerificationSession({ status: 'pending' })).toEqual({ status: 'pending', raw: { status: 'pending' } });
		expect(parseCreatedAnswer('g_1', 'busy')).toEqual({ id: 'g_1', raw: {} });
		expect(parseCreatedAnswer('g_1', { status: 'active' })).toEqual({
			id: 'g_1',
			status: 'active',
			raw: { status: 'active' },
		});
	});

	test('of two answers about one thing, the later one counts and nothing of the earlier one is lost', () => {
		expect(joinAnswers({ a: 1, b: 1, data: { c: 1, d: 1 } }, { b: 2, data: { d: 2 } })).toEqual({
			a: 1,
			b: 2,
			data: { c: 1, d: 2 },
		});
		expect(joinAnswers({ data: { c: 1 } }, { data: 'x' })).toEqual({ data: 'x' });
		expect(joinAnswers({ data: 'x' }, { data: { c: 1 } })).toEqual({ data: { c: 1 } });
		expect(joinAnswers()).toEqual({});
	});
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
		// Not one by one: each time, all that are there are read.
		const earlier = Array.from({ length: 1_004 }, (_, index) => [
			`t${index}`,
			{ taskId: `v${index}`, atMs: index },
		]).reverse();
		const store = { generationGatewayVerifications: Object.fromEntries(earlier) as object };
		const memory = { workflowId: 'w', store };
		rememberVerification(memory, 't1004', { taskId: 'v1004', atMs: 1_004 });
		expect(Object.keys(store.generationGatewayVerifications)).toHaveLength(1_000);
		expect(recallVerification(memory, 't5', 2_000)).toEqual({ taskId: 'v5', atMs: 5 });
		expect(recallVerification(memory, 't4', 2_000)).toBeUndefined();
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

	test('memory keeps the verifications of a workflow while one of them is within the hour', () => {
		const mixed = { workflowId: 'mixed', store: {} };
		rememberVerification(mixed, 'old', { taskId: 'v', atMs: 0 });
		rememberVerification(mixed, 'new', { taskId: 'v', atMs: 3_599_999 });
		rememberVerification({ workflowId: 'other', store: {} }, 't', { taskId: 'v', atMs: 3_600_000 });
		expect(verifications.has('mixed')).toBe(true);
	});

	test('a damaged verification in static data is as good as none, and the others are known', () => {
		const atMs = 1_800_000_000_000;
		const store = { generationGatewayVerifications: { a: 'damaged', b: { taskId: 'vb', atMs } } };
		const memory = { workflowId: 'damaged', store };
		expect(recallVerification(memory, 'a', atMs + 1)).toBeUndefined();
		expect(recallVerification(memory, 'b', atMs + 1)).toEqual({ taskId: 'vb', atMs });
	});

	test('verifications survive executions that overwrite each other’s static data', () => {
		const [first, second] = [{}, {}].map((store) => ({ workflowId: 'busy', store }));
		rememberVerification(first, 'a', { taskId: 'va', atMs: 0 });
		rememberVerification(second, 'b', { taskId: 'vb', atMs: 0 });
		expect(JSON.stringify(second.store)).toMatch(/va.*vb/);
		expect(recallVerification({ workflowId: 'busy', store: {} }, 'a', 1)).toEqual({ taskId: 'va', atMs: 0 });
	});

	test.each(['told', 'toldUnverified'])('an execution that began before does not lose the mark %s', (mark) => {
		const workflowId = `began before ${mark}`;
		const known = { taskId: 'va', atMs: 0 };
		const [early, late] = [{}, {}].map((store) => ({ workflowId, store }));
		rememberVerification(early, 'a', known);
		Object.assign(late.store, structuredClone(early.store));
		rememberVerification(late, 'a', { ...known, [mark]: true });
		rememberVerification(early, 'b', { taskId: 'vb', atMs: 1 });
		const afterRestart = { workflowId: `${workflowId}, restarted`, store: structuredClone(early.store) };
		for (const memory of [early, afterRestart])
			expect(recallVerification(memory, 'a', 2)).toEqual({ ...known, [mark]: true });
		rememberVerification(early, 'a', { ...known, atMs: 3 });
		expect(recallVerification(early, 'a', 4)).toEqual({ ...known, atMs: 3, [mark]: true });
	});

	test('the mark in static data counts where the process has none, and another verification has none of it', () => {
		const kept = { taskId: 'va', atMs: 0, told: true };
		const memory = { workflowId: 'marked', store: { generationGatewayVerifications: { a: kept } } };
		verifications.set('marked', new Map([['a', { taskId: 'va', atMs: 0 }]]));
		expect(recallVerification(memory, 'a', 1)).toEqual(kept);
		rememberVerification(memory, 'a', { taskId: 'other', atMs: 1 });
		expect(recallVerification(memory, 'a', 2)).toEqual({ taskId: 'other', atMs: 1 });
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

test('the log of callbacks looks nothing up again for a day once a person is verified', () => {
	const log = new CallbackLog();
	const DAY_MS = 24 * 3_600_000;
	expect(log.isSettled('a', 0)).toBe(false);
	log.tell('a', { verified: false, atMs: 0 });
	expect(log.isSettled('a', 0)).toBe(false);
	const atMs = 1_800_000_000_000;
	log.tell('a', { verified: true, atMs });
	expect(log.isSettled('a', atMs + DAY_MS - 1)).toBe(true);
	expect(log.isSettled('a', atMs + DAY_MS)).toBe(false);
});

test('the log of callbacks forgets the oldest beyond ten thousand, and none before', () => {
	const log = new CallbackLog();
	for (let index = 0; index < 10_000; index++) log.tell(`k${index}`, { verified: true, atMs: 0 });
	expect([log.size, log.isSettled('k0', 0)]).toEqual([10_000, true]);
	log.tell('k0', { verified: true, atMs: 1 });
	log.tell('another', { verified: true, atMs: 1 });
	expect(log.isSettled('k0', 1)).toBe(true);
	expect(log.isSettled('k1', 1)).toBe(false);
	expect(log.size).toBe(10_000);
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

test('a limit per minute remembers a kind until a minute after its last one', () => {
	const limit = new PerMinute(2);
	limit.allows('a', 0);
	limit.allows('a', 30_000);
	limit.allows('b', 70_000);
	expect(limit.size).toBe(2);
	limit.allows('b', 90_000);
	expect(limit.size).toBe(1);
});

test('a limit per minute closes nothing for hours when the clock is set back', () => {
	const limit = new PerMinute(2);
	const HOUR_MS = 3_600_000;
	expect([0, 1, 2].map((afterMs) => limit.allows('a', HOUR_MS + afterMs))).toEqual([true, true, false]);
	expect([0, 1, 2].map((nowMs) => limit.allows('a', nowMs))).toEqual([true, true, false]);
});
