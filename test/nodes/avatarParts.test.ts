/** Groups, assets and verifications as they are bought, waited for and shown: without n8n, and with a service that answers from a script. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { recallVerification, rememberVerification } from '../../core/avatars/memory';
import { parseAsset, parseVerificationResult, parseVerificationSession } from '../../core/avatars/records';
import type { GatewayError } from '../../core/errors';
import type { Order, OrderDraft } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import { makeOrder } from '../../core/orders/states';
import { toAssetOutput, toUploadOutput } from '../../nodes/Avatar/assetOutput';
import { assetProduct } from '../../nodes/Avatar/products/assetProduct';
import { groupProduct } from '../../nodes/Avatar/products/groupProduct';
import { verificationProduct } from '../../nodes/Avatar/products/verificationProduct';
import { verificationResultProduct } from '../../nodes/Avatar/products/verificationResultProduct';
import { readRecordOutput } from '../../nodes/Avatar/record';
import { toResultOutput, toVerificationOutput } from '../../nodes/Avatar/verificationOutput';
import { memoryOf } from '../../nodes/run/verificationMemory';
import { json, scriptedClient, trouble } from '../core/support';

const AVATARS = '/v1/videos/alpha-video-2-0';
const NOW = 1_800_000_000_000;
const request = { body: { name: 'Anna' }, hash: 'h', submitAgain: false };
const task = { taskId: 'x_1', elapsedMs: 0 };

beforeEach(() => jest.useFakeTimers({ now: NOW }));
afterEach(() => jest.useRealTimers());

type Thing = Pick<OrderDraft, 'thing' | 'kind'>;
const order = (thing: Thing, about: object, more: Partial<OrderDraft> = {}): Order =>
	makeOrder({ item: 0, then: 'nothing', request, ...thing, ...more, about: { simplify: true, ...about } });

/** Workflows of their own, because the process remembers their verifications. */
let workflows = 0;

/** A client whose service gives these answers, and the context of a workflow. */
function runOf({ answers = [{}], mode = 'trigger' }: { answers?: object[]; mode?: string } = {}) {
	const { client, sent } = scriptedClient(answers.map((body) => json(200, body)));
	const staticData = {};
	const workflow = { id: `w${workflows++}` };
	const context = {
		...{ getMode: () => mode, getWorkflow: () => workflow },
		getWorkflowStaticData: (kind: string) => (kind === 'global' ? staticData : undefined),
	} as unknown as IExecuteFunctions;
	const requests = () => sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`);
	return { client, sent, requests, context, memory: memoryOf(context) };
}

/** The output item of what was seen. */
function outputOf<Answer extends { id: string }, Rec>(product: Product<Answer, Rec>, of: Order, seen: object = {}) {
	return product.output(of, { timedOut: false, ...seen } as never, {} as never) as { json: object };
}

/** The creating request is under the rules about money. */
async function expectGuarded(product: Product<{ id: string }, never>, of: Order): Promise<void> {
	const notWritten = { sending: async () => await Promise.reject(trouble('stopped')) };
	await expect(product.create(of, request.body, notWritten)).rejects.toMatchObject({ kind: 'stopped' });
}

describe('a group', () => {
	const group = { thing: 'group', kind: 'private' } as const;

	test('a group is created with its body', async () => {
		const { client, sent, requests } = runOf({ answers: [{ group_id: 'g_1' }] });
		const product = groupProduct({ client });
		expect(product.status).toBe('created');
		const of = order(group, request);
		expect(await product.create(of, request.body, {})).toMatchObject({ id: 'g_1' });
		expect([requests(), sent[0]?.body]).toEqual([[`POST ${AVATARS}/private-avatar/groups`], request.body]);
		await expectGuarded(product as never, of);
	});

	test.each<[string, object, object | undefined, object]>([
		[
			'says them',
			{ name: 'Anna', description: 'a' },
			{ name: 'Berta', description: 'b' },
			{ name: 'Berta', description: 'b' },
		],
		['does not say them', { name: 'Anna', description: 'a' }, {}, { name: 'Anna', description: 'a' }],
		['said them in an earlier try', { name: 'Anna' }, undefined, { name: 'Anna' }],
	])('a group is shown with a name and a description where the service %s', (_, body, raw, expected) => {
		const product = groupProduct(runOf());
		const answer = raw && { answer: { id: 'g_1', raw } };
		const of = { ...order(group, { body }), task };
		expect(outputOf(product, of, answer).json).toStrictEqual({ group_id: 'x_1', ...expected });
		const full = outputOf(product, { ...order(group, { body, simplify: false }) }, answer);
		expect(full.json).toStrictEqual({ ...expected, record: raw ?? {} });
	});
});

describe('an asset', () => {
	const asset = { thing: 'asset', kind: 'real' } as const;
	const body = { group: 'g_1', asset_type: 'image', source_url: 'https://example.com/a.png' };
	const sent = { group_id: 'g_1', asset_type: 'image', source_url: 'https://example.com/a.png' };
	const upload = { body, groupIdName: 'group' };
	const own = { reference: 'asset://x_1', asset_id: 'x_1', avatar_kind: 'real' };
	const wait = { plan: { kind: 'automatic' }, timeoutMs: 1, onTimeout: 'error' } as const;

	test('an asset is uploaded with its body', async () => {
		const { client, sent: posted, requests } = runOf({ answers: [{ asset_id: 'a_1' }] });
		const product = assetProduct({ client });
		expect(product.status).toBe('processing');
		const of = order(asset, upload);
		expect(await product.create(of, body, {})).toMatchObject({ id: 'a_1' });
		expect([requests(), posted[0]?.body]).toEqual([[`POST ${AVATARS}/real-avatar/assets`], body]);
		await expectGuarded(product as never, of);
	});

	test('an asset is polled, with what is known of assets of its kind', async () => {
		const { client, requests } = runOf({ answers: [{ status: 'active' }] });
		const target = assetProduct({ client }).target?.(order(asset, upload), task);
		expect(target).toMatchObject({ thing: 'asset', task });
		expect(await target?.fetch()).toMatchObject({ state: 'done' });
		expect(requests()).toEqual([`GET ${AVATARS}/real-avatar/assets/x_1`]);
		expect(target?.survivalTable()).toBe(client.survivalTable('real asset'));
	});

	const product = assetProduct(runOf());
	const show = (about: object, seen: object, more: Partial<Order> = {}) =>
		outputOf(product, { ...order(asset, about, { wait }), task, ...more }, seen).json;
	const answer = { id: 'x_1', raw: { status: 'queued', data: { asset_type: 'video', by: 'me' } } };
	const record = parseAsset({ status: 'active', group_id: 'g_2', progress: 100, data: { frames: 9 } });

	test('an asset that nobody waits for is shown with what was sent, and what the service says of it', () => {
		expect(show(upload, {})).toStrictEqual({ ...own, status: 'processing', ...sent });
		expect(show({ ...upload, simplify: false }, { answer })).toStrictEqual({
			...{ ...own, status: 'queued', ...sent, asset_type: 'video' },
			record: answer.raw,
		});
		expect(show(upload, {}, { task: undefined })).toMatchObject({ asset_id: '', reference: 'asset://' });
	});

	test('an asset that was waited for is shown with the last record, and everything of both answers', () => {
		const seen = { answer, record, waitedMs: 12_340 };
		const expected = {
			...{ ...own, ...sent, status: 'active', group_id: 'g_2', asset_type: 'video', progress: 100 },
			waited_seconds: 12.3,
		};
		expect(show(upload, seen, { then: 'poll' })).toStrictEqual(expected);
		expect(show({ ...upload, simplify: false }, seen, { then: 'poll' })).toStrictEqual({
			...expected,
			record: {
				...{ status: 'active', group_id: 'g_2', progress: 100 },
				data: { asset_type: 'video', by: 'me', frames: 9 },
			},
		});
	});

	test('an asset that was waited for in vain says so, and what was sent only where it was', () => {
		const seen = { timedOut: true };
		const expected = { ...own, status: 'processing', waited_seconds: 0, timed_out: true };
		expect(show({}, seen, { then: 'poll' })).toStrictEqual(expected);
		expect(show(upload, seen, { then: 'poll' })).toStrictEqual({ ...sent, ...expected });
		expect(show({ body }, { record }, { then: 'poll' })).not.toHaveProperty('asset_type');
		expect(show({ groupIdName: 'group' }, { record }, { then: 'poll' })).not.toHaveProperty('asset_type');
	});

	test.each([
		[{ status: 'failed', message: 'no face', code: 'c' }, 'no face'],
		[{ status: 'failed', code: 'c' }, 'c'],
		[{ status: 'failed' }, undefined],
		[{ status: 'queued', message: 'no face' }, undefined],
	])('the reason why an asset has failed is shown, and no other words: %j', (raw, reason) => {
		expect(toAssetOutput('x_1', 'real', parseAsset(raw)!)).toStrictEqual({
			...{ ...own, status: raw.status },
			...(reason && { reason }),
		});
	});

	test('an asset that was just uploaded is in processing where the service does not say', () => {
		const given = { assetId: 'x_1', avatarKind: 'real', body, groupIdName: 'group' } as const;
		expect(toUploadOutput({ ...given, answer: { raw: {} } })).toStrictEqual({ ...own, status: 'processing', ...sent });
		const raw = { status: 'active', group_id: 'g_2', asset_type: 'audio', source_url: 'https://example.com/b.png' };
		expect(toUploadOutput({ ...given, answer: { raw } })).toStrictEqual({ ...own, ...raw });
	});
});

describe('a verification', () => {
	const verification = { thing: 'verification', kind: 'real' } as const;
	const link = { h5_link: 'https://example.com/h5', vendor_token: 'vt_1' };
	const session = (raw: object) => ({ taskId: 'x_1', ...parseVerificationSession(raw) });

	test('a verification is created with its body, and read by its ID', async () => {
		const { client, context, sent, requests } = runOf({ answers: [{ task_id: 'x_1' }, { ...link }] });
		const product = verificationProduct({ client, context });
		expect(product.status).toBe('created');
		const of = order(verification, {});
		expect(await product.create(of, request.body, {})).toMatchObject({ id: 'x_1' });
		expect(await product.read?.(of, task)).toMatchObject({ taskId: 'x_1', vendorToken: 'vt_1' });
		const path = `${AVATARS}/real-avatar/verify-tasks`;
		expect([requests(), sent[0]?.body]).toEqual([[`POST ${path}`, `GET ${path}/x_1`], request.body]);
		await expectGuarded(product as never, of);
	});

	test.each([
		[0, true],
		[119_999, true],
		[120_000, false],
	])('a verification of an earlier try, %i ms ago, is used as long as its link lives: %s', (ago, expected) => {
		const entry = { hash: 'h', executionId: '1', acceptedAtMs: NOW - ago };
		expect(verificationProduct(runOf()).isReusable?.(order(verification, {}), entry)).toBe(expected);
	});

	test.each<[string, object, string | undefined]>([
		['the reference of the form', { reference: 'r_1', callbackUrl: 'https://a.example/?reference=r_2' }, 'r_1'],
		['the reference of the callback URL', { callbackUrl: 'https://a.example/?reference=r_2' }, 'r_2'],
		['no reference', {}, undefined],
	])('a verification with %s is remembered for its trigger', (_, about, reference) => {
		const run = runOf();
		const of = { ...order(verification, about, { then: 'read' }), task };
		outputOf(verificationProduct(run), of, { record: session(link) });
		expect(recallVerification(run.memory, 'vt_1', NOW)).toEqual({ taskId: 'x_1', reference, atMs: NOW });
	});

	test('a verification of a manual execution is remembered for no trigger, nor is one without a vendor token', () => {
		const of = { ...order(verification, {}, { then: 'read' }), task };
		for (const [run, record] of [
			[runOf({ mode: 'manual' }), session(link)],
			[runOf(), session({ h5_link: link.h5_link })],
		] as const) {
			expect(outputOf(verificationProduct(run), of, { record }).json).toHaveProperty('h5_link');
			expect(run.memory.store).toEqual({});
		}
	});

	test('a verification is shown with its link, and nobody has passed yet', () => {
		const about = { reference: 'r_1', callbackUrl: 'https://a.example/' };
		const answer = { id: 'x_1', status: 'open', raw: { status: 'open', by: 'me' } };
		const record = session({ ...link, status: 'completed' });
		const show = (more: object, seen: object) =>
			outputOf(verificationProduct(runOf()), { ...order(verification, more, { then: 'read' }), task }, seen).json;
		const expected = { ...link, task_id: 'x_1', verified: false, callback_url: about.callbackUrl, reference: 'r_1' };
		expect(show(about, { record })).toStrictEqual({ ...expected, status: 'completed' });
		expect(show({ ...about, simplify: false }, { answer, record })).toStrictEqual({
			...{ ...expected, status: 'open' },
			record: { ...link, status: 'completed', by: 'me' },
		});
		expect(show({}, { record })).toStrictEqual({ ...link, task_id: 'x_1', status: 'completed', verified: false });
	});

	test('a verification without a link is one only where nobody has asked for it', () => {
		const show = (of: Partial<Order>, seen: object = {}) =>
			outputOf(verificationProduct(runOf()), { ...order(verification, {}), ...of }, seen).json;
		expect(show({ task })).toStrictEqual({ task_id: 'x_1', verified: false });
		expect(show({})).toStrictEqual({ task_id: '', verified: false });
		const thrown = (): GatewayError => {
			try {
				return show({ task, then: 'read' }, { record: session({ status: 'closed' }) }) as never;
			} catch (error) {
				return error as GatewayError;
			}
		};
		expect(thrown().details).toMatchObject({
			...{ reason: { name: 'noVerificationLink', data: { id: 'x_1', status: 'closed' } }, task },
		});
	});

	test.each([
		[{}, {}],
		[{ expires_at: NOW / 1000 }, { expires_at: '2027-01-15T08:00:00.000Z', link_expired: true }],
		[{ expires_at: NOW / 1000 + 1 }, { expires_at: '2027-01-15T08:00:01.000Z', link_expired: false }],
	])('a verification with %j is shown with %j', (raw, expected) => {
		expect(toVerificationOutput(session(raw))).toStrictEqual({ task_id: 'x_1', ...expected });
		expect(toVerificationOutput(session(raw), { more: 1 })).toStrictEqual({ task_id: 'x_1', ...expected, more: 1 });
	});
});

describe('the result of a verification', () => {
	const verification = { thing: 'verification', kind: 'real' } as const;
	const of = (about: object = {}) =>
		order(verification, { vendorToken: 'vt_1', ...about }, { request: undefined, task, then: 'read' });
	const verified = { verify_status: 'verified', group_id: 'rg_1' };
	const keys = { task_id: 'x_1', vendor_token: 'vt_1' };

	test('the result of a verification is read by all that is known of it, and never bought', async () => {
		const run = runOf({ answers: [verified] });
		const product = verificationResultProduct(run);
		expect(product.status).toBe('pending');
		await product.read?.(of({ resultCode: '7' }), task);
		await product.target?.(of(), task).fetch();
		expect(run.sent.map(({ query }) => query)).toEqual([{ ...keys, result_code: '7' }, keys]);
		await expect(product.create(of(), {}, {})).rejects.toThrow('the result of a verification is not bought');
		expect(run.sent).toHaveLength(2);
	});

	test.each<[string, object, number | undefined]>([
		['the workflow has made it', { taskId: 'x_1', atMs: NOW - 200_000 }, NOW - 200_000],
		['the workflow has made another one', { taskId: 'x_2', atMs: NOW - 200_000 }, undefined],
	])('the wait for a person counts from when the link was made, if that is known: %s', (_, known, acceptedAtMs) => {
		const run = runOf();
		rememberVerification(run.memory, 'vt_1', known as never);
		const target = verificationResultProduct(run).target?.(of(), task);
		expect(target).toMatchObject({ thing: 'verification', task });
		expect(target?.acceptedAtMs).toBe(acceptedAtMs);
		expect(target?.survivalTable()).toBe(run.client.survivalTable('verification'));
		const refusal = trouble('rejected', { httpStatus: 400 });
		const meant = target?.classifyError?.(refusal, { atMs: NOW, firstAtMs: NOW });
		expect(meant === 'passing').toBe(acceptedAtMs === undefined);
	});

	test('the wait for a person of whom nothing is known counts from the first poll', () => {
		expect(verificationResultProduct(runOf()).target?.(of(), task).acceptedAtMs).toBeUndefined();
	});

	test.each<[string, object, object, object]>([
		['that was read', {}, { record: parseVerificationResult(verified) }, { verified: true, ...verified }],
		[
			'with everything that the service answers',
			{ simplify: false, resultCode: '7' },
			{ record: parseVerificationResult(verified) },
			{ verified: true, ...verified, result_code: '7', record: verified },
		],
		[
			'that timed out after words of the service',
			{},
			{ timedOut: true, trouble: trouble('rejected', { serviceMessage: 'nobody', serviceCode: 'c' }) },
			{ verified: false, timed_out: true, reason: 'nobody' },
		],
		[
			'that timed out after a code of the service',
			{},
			{ timedOut: true, trouble: trouble('rejected', { serviceCode: 'c' }) },
			{ verified: false, timed_out: true, reason: 'c' },
		],
		['that timed out without a word', {}, { timedOut: true }, { verified: false, timed_out: true }],
		[
			'that did not time out, whatever was said before',
			{},
			{ trouble: trouble('rejected', { serviceMessage: 'nobody' }) },
			{ verified: false },
		],
	])('the result of a verification %s is shown with what is known', (_, about, seen, expected) => {
		const product = verificationResultProduct(runOf());
		expect(outputOf(product, of(about), seen).json).toStrictEqual({ ...keys, ...expected });
		const nameless = outputOf(product, { ...of(about), task: undefined }, seen).json;
		expect(nameless).toStrictEqual({ ...keys, task_id: '', ...expected });
	});

	test.each<[string, object, string | undefined, object]>([
		['verified', { ...verified, message: 'well done' }, undefined, { verified: true, ...verified }],
		['not verified', { message: 'no face', code: 'c' }, undefined, { verified: false, reason: 'no face' }],
		['not verified by a code', { code: 'c' }, undefined, { verified: false, reason: 'c' }],
		['with the code of the callback', {}, '7', { verified: false, result_code: '7' }],
		['with a code of its own', { result_code: 8 }, '7', { verified: false, result_code: 8 }],
	])('the result of a verification, %s, is shown', (_, raw, resultCode, expected) => {
		const given = { taskId: 'x_1', vendorToken: 'vt_1', resultCode };
		const result = parseVerificationResult(raw);
		expect(toResultOutput(given, result)).toStrictEqual({ ...keys, ...expected });
		expect(toResultOutput(given, result, { more: 1 })).toStrictEqual({ ...keys, ...expected, more: 1 });
	});
});

test('the answer of the service is shown as it came, except where it is simplified', () => {
	const read = (simplifies: boolean) => readRecordOutput({ options: { simplifies } } as never)({ a: 1 });
	expect([read(false), read(true)]).toEqual([{ record: { a: 1 } }, {}]);
});
