/** Avatars: answers about persons and assets, and what is remembered of them. */
import { CallbackLog, PerMinute } from '../../core/avatars/callback';
import { recallVerification, rememberVerification } from '../../core/avatars/memory';
import { joinAnswers, parseAsset, parseVerificationResult, verificationStatusOf } from '../../core/avatars/records';

test.each([
	['done', ['Active', 'active']],
	['failed', ['failed', 'FAILURE', 'fail', 'timeout', 'rejected', 'error', 'expired', 'cancelled', 'canceled']],
	['pending', ['processing', 'inactive', 'active soon', 'unfailed', 'failed over']],
])('an asset is %s with the status %j', (state, words) => {
	expect(words.map((status) => parseAsset({ asset_id: 'a', status })?.state)).toEqual(words.map(() => state));
});

const FETCHED = { success: true, message: 'Asset retrieved successfully' };
test.each([
	[{ ...FETCHED, data: { status: 'failed' } }, {}],
	[{ ...FETCHED, data: { status: 'failed', error: { message: 'Too dark' } } }, { message: 'Too dark' }],
	[{ message: 'Too dark', data: { status: 'failed' } }, { message: 'Too dark' }],
	[{ message: 'Not successfully read', status: 'failed' }, { message: 'Not successfully read' }],
])(
	'the reason of a failed asset is its own, or else that of the answer, unless it says that the request went well: %j',
	(answer, refusal) => {
		expect(parseAsset(answer)?.refusal).toEqual(refusal);
	},
);

test.each<[object | string, string | undefined]>([
	[{ verify_status: 'Verified', group_id: 7 }, 'done'],
	[{ success: true, data: { verify_status: 'verified', group_id: 'g' } }, 'done'],
	[{ data: { verifyStatus: 'verified', GroupID: 'g' } }, 'done'],
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

test('of words without end, a beginning is kept', () => {
	const long = 'x'.repeat(4_000_000);
	const asset = parseAsset({ asset_id: 'a', status: long, asset_type: long, source_url: long });
	const { verifyStatus } = parseVerificationResult({ verify_status: long }) ?? {};
	expect([asset?.status.length, asset?.assetType, asset?.sourceUrl, verifyStatus?.length]).toEqual([
		201,
		undefined,
		undefined,
		201,
	]);
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

	test('a token that is longer than the address of a callback is not remembered', () => {
		const memory = { workflowId: 'long', store: {} };
		rememberVerification(memory, 'x'.repeat(16_385), { taskId: 'v1', atMs: 0 });
		expect(memory.store).toEqual({});
		rememberVerification(memory, 'x'.repeat(16_384), { taskId: 'v1', atMs: 0 });
		expect(recallVerification(memory, 'x'.repeat(16_384), 1)).toEqual({ taskId: 'v1', atMs: 0 });
	});

	test('recalling one forgets in the static data what is older than an hour', () => {
		const kept = { new: { taskId: 'v2', atMs: 3_000_000 } };
		const store = { generationGatewayVerifications: { old: { taskId: 'v1', atMs: 0 }, ...kept } };
		recallVerification({ workflowId: 'pruned', store }, 'new', 3_600_000);
		expect(store.generationGatewayVerifications).toEqual(kept);
	});

	test('verifications survive executions that overwrite each other’s static data', () => {
		const [first, second] = [{}, {}].map((store) => ({ workflowId: 'busy', store }));
		rememberVerification(first, 'a', { taskId: 'va', atMs: 0 });
		rememberVerification(second, 'b', { taskId: 'vb', atMs: 0 });
		expect(JSON.stringify(second.store)).toMatch(/va.*vb/);
		expect(recallVerification({ workflowId: 'busy', store: {} }, 'a', 1)).toEqual({ taskId: 'va', atMs: 0 });
	});
});

test('the log of callbacks forgets the oldest beyond ten thousand, and none before', () => {
	const log = new CallbackLog();
	const isKnown = (key: string, atMs: number) => !log.isNew(key, { verified: true, atMs });
	for (let index = 0; index < 10_000; index++) log.tell(`k${index}`, { verified: true, atMs: 0 });
	expect(isKnown('k0', 0)).toBe(true);
	log.tell('k0', { verified: true, atMs: 1 });
	log.tell('another', { verified: true, atMs: 1 });
	expect(isKnown('k0', 1)).toBe(true);
	expect([isKnown('k1', 1), isKnown('k2', 1)]).toEqual([false, true]);
});

test('a limit per minute counts each kind for itself, and opens again', () => {
	const limit = new PerMinute(2);
	expect([0, 1, 2].map((nowMs) => limit.allows('a', nowMs))).toEqual([true, true, false]);
	expect(limit.allows('b', 2)).toBe(true);
	expect([60_000, 60_000, 60_001].map((nowMs) => limit.allows('a', nowMs))).toEqual([true, false, true]);
});
