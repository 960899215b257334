/** Avatars: callbacks of the verification page, answers about persons and assets, and what is remembered of them. */
import { parseCallback, readingsOf, toCallbackUrl } from '../../core/avatars/callback';
import { CallbackLog, PerMinute } from '../../core/avatars/callbackLog';
import { verifications } from '../../core/processMemory';
import { recallVerification, rememberVerification } from '../../core/avatars/memory';
import {
	joinAnswers,
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

	test.each([
		['/a?vendor_token=t&result_code=1', { vendorToken: 't', resultCode: '1' }],
		['/a?vendorToken=&VendorToken=t&vendortoken=u', { vendorToken: 't' }],
	])('a callback may write its names in other ways: %s', (url, callback) => {
		expect(parseCallback(url)).toEqual(callback);
	});
});

test.each([
	[1_800_000_000, 1_800_000_000],
	[1_800_000_000_000, 1_800_000_000],
	['2027-01-15T08:00:00Z', 1_800_000_000],
	[0, undefined],
	['0001-01-01T00:00:00Z', undefined],
])('expires_at %s of a verification is read as the Unix second %s', (expires_at, expiresAt) => {
	const session = { h5_link: 'l', vendor_token: 't', expires_at };
	expect(parseVerificationSession({ data: session })).toMatchObject({ h5Link: 'l', vendorToken: 't' });
	expect(parseVerificationSession({ data: session }).expiresAt).toBe(expiresAt);
});

test.each([
	['done', ['Active', 'active']],
	['failed', ['failed', 'FAILURE', 'rejected', 'error', 'expired', 'cancelled', 'canceled']],
	['pending', ['processing', 'inactive', 'active soon', 'unfailed', 'failed over']],
])('an asset is %s with the status %j', (state, words) => {
	expect(words.map((status) => parseAsset({ asset_id: 'a', status })?.state)).toEqual(words.map(() => state));
});

test.each<[object | string, string | undefined]>([
	[{ verify_status: 'Verified', group_id: 7 }, 'done'],
	[{ success: true, data: { verify_status: 'verified', group_id: 'g' } }, 'done'],
	[{ verify_status: 'verified' }, 'pending'],
	[{ verify_status: 'unverified', group_id: 'g' }, 'pending'],
	[{ group_id: 'g', result_code: null }, 'pending'],
	[{ verify_status: 'rejected' }, 'failed'],
	['verified', undefined],
])('a person is verified only by that word and the ID of a group: %j is %s', (answer, state) => {
	const result = parseVerificationResult(answer);
	expect(result && verificationStatusOf(result).state).toBe(state);
	expect(result?.verified).toBe(result && state === 'done');
});

test('of two answers about one thing, the later one counts and nothing of the earlier one is lost', () => {
	expect(joinAnswers({ a: 1, b: 1, data: { c: 1, d: 1 } }, { b: 2, data: { d: 2 } })).toEqual({
		a: 1,
		b: 2,
		data: { c: 1, d: 2 },
	});
	expect(joinAnswers({ data: { c: 1 } }, { data: 'x' })).toEqual({ data: 'x' });
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

	test('memory keeps the verifications of a workflow no longer than an hour', () => {
		rememberVerification({ workflowId: 'quiet', store: {} }, 't', { taskId: 'v', atMs: 0 });
		rememberVerification({ workflowId: 'later', store: {} }, 't', { taskId: 'v', atMs: 3_599_999 });
		expect(verifications.has('quiet')).toBe(true);
		rememberVerification({ workflowId: 'later', store: {} }, 't', { taskId: 'v', atMs: 3_600_000 });
		expect(verifications.has('quiet')).toBe(false);
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
});

test('a callback is told once, and again when the person is verified, for a day', () => {
	const log = new CallbackLog();
	const DAY_MS = 24 * 3_600_000;
	const isNew = (verified: boolean, atMs: number) => log.isNew('a', { verified, atMs });
	expect([isNew(false, 0), log.isSettled('a', 0)]).toEqual([true, false]);
	log.tell('a', { verified: false, atMs: 1 });
	expect([isNew(false, 2), isNew(true, 2), log.isSettled('a', 2)]).toEqual([false, true, false]);
	log.tell('a', { verified: true, atMs: 2 });
	expect([isNew(true, 3), log.isSettled('a', DAY_MS + 1)]).toEqual([false, true]);
	expect([isNew(true, DAY_MS + 2), log.isSettled('a', DAY_MS + 2)]).toEqual([true, false]);
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

test('a limit per minute closes nothing for hours when the clock is set back', () => {
	const limit = new PerMinute(2);
	const HOUR_MS = 3_600_000;
	expect([0, 1, 2].map((afterMs) => limit.allows('a', HOUR_MS + afterMs))).toEqual([true, true, false]);
	expect([0, 1, 2].map((nowMs) => limit.allows('a', nowMs))).toEqual([true, true, false]);
});
