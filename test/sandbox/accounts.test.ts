import { Bench, IMAGES, inner, VIDEOS } from './helpers';

const REAL = '/v1/videos/alpha-video-2-0/real-avatar';
const PRIVATE = '/v1/videos/alpha-video-2-0/private-avatar';
const image = { model: 'gamma-image-2', prompt: 'a cat' };
const source = { asset_type: 'image', source_url: 'https://example.com/face.png' };

const bench = new Bench({ apiKeys: ['sandbox-key', 'other-key'] });
afterEach(() => bench.sandbox.reset());

describe('balance and keys (contract 4.1, 5)', () => {
	test('the balance falls with each task, until a task is refused with 402', async () => {
		bench.sandbox.users[0]!.remainCredits = 6;
		await bench.post(IMAGES, image);
		expect((await bench.get('/user/balance')).json).toEqual({
			success: true,
			remain_balance: 0.01,
			used_balance: 0.02,
			remain_credits: 2,
			used_credits: 4,
			credits_per_usd: 200,
			unlimited_quota: false,
		});
		expect(await bench.post(IMAGES, image)).toMatchObject({
			status: 402,
			json: { code: 'insufficient_quota' },
		});
		expect((await bench.get('/v1/user/balance', 'other-key')).json.used_credits).toBe(0);
	});

	test('the balance of an unlimited account is -1', async () => {
		await bench.post('/__sandbox/account', { unlimited_quota: true });
		expect((await bench.get('/v1/user/balance')).json).toMatchObject({
			remain_balance: -1,
			unlimited_quota: true,
		});
	});

	test.each([
		[null, 'No Authorization header'],
		['wrong', 'Authentication failed'],
	])('a request with the key %s is answered with 401: %s', async (key, message) => {
		expect(await bench.get('/v1/user/balance', key)).toMatchObject({
			status: 401,
			json: { success: false, message },
		});
	});
});

describe('tokens (contract 4.3)', () => {
	async function createToken(fields: object): Promise<Record<string, unknown> & { key: string }> {
		const { data } = (await bench.post('/v1/tokens', { name: 'test', ...fields })).json;
		return Object.assign({ key: '' }, data);
	}

	test('a token authenticates, and spends only its own quota', async () => {
		const { key, ...record } = await createToken({ remain_quota: 99, remain_credits: 5 });
		expect(key).toHaveLength(48);
		expect(record).toMatchObject({ remain_quota: 12_500, remain_credits: 5, expired_time: -1 });
		expect((await bench.post(IMAGES, image, `sk-${key}`)).status).toBe(200);
		expect((await bench.get('/v1/balance', `sk-${key}`)).json).toMatchObject({
			remain_credits: 1,
			used_quota: 10_000,
		});
		expect((await bench.post(IMAGES, image, `sk-${key}`)).status).toBe(402);
	});

	test.each([
		['without quota', {}, 402],
		['provided credits of 0 override', { remain_quota: 1_000_000, remain_credits: 0 }, 402],
		['unlimited', { unlimited_quota: true }, 200],
		['with a daily limit', { unlimited_quota: true, daily_credits: 3 }, 402],
		['for another model', { unlimited_quota: true, model_limits_enabled: true, model_limits: 'beta-v3' }, 403],
		[
			'for this model',
			{ unlimited_quota: true, model_limits_enabled: true, model_limits: 'beta-v3,gamma-image-2' },
			200,
		],
		['with limits that are off', { unlimited_quota: true, model_limits: 'beta-v3' }, 200],
		['expired', { unlimited_quota: true, expired_time: 1_600_000_000 }, 401],
	])('a request with a token (%s: %j) is answered with %i', async (_label, fields, status) => {
		const { key } = await createToken(fields);
		expect((await bench.post(IMAGES, image, `sk-${key}`)).status).toBe(status);
	});
});

describe('real avatars (contract 4.6)', () => {
	async function createVerification(fields: object = {}) {
		const created = await bench.post(`${REAL}/verify-tasks`, fields);
		const taskId = String(created.json.task_id);
		const { h5_link: link, vendor_token: token } = (await bench.get(`${REAL}/verify-tasks/${taskId}`)).json;
		const result = `${REAL}/verify-results?task_id=${taskId}&vendor_token=${String(token)}`;
		return { created, taskId, token: String(token), page: new URL(String(link)).pathname, result };
	}

	test('a completed verification means only that its session exists; a person who passes gets a group', async () => {
		const { created, page, result } = await createVerification();
		expect(created.json).toMatchObject({ status: 'completed' });
		expect(created.json.vendor_token).toBeUndefined();
		expect((await bench.get(result)).json).toMatchObject({ verify_status: 'pending' });
		expect((await bench.get(page, null)).text).toContain('Pass');
		await bench.call('POST', `${page}/pass`, undefined, null);
		const { json } = await bench.get(result);
		expect(json).toMatchObject({
			verify_status: 'verified',
			group_id: expect.stringMatching(/^rg_/),
		});
		const asset = { ...source, group_id: json.group_id };
		expect((await bench.post(`${REAL}/assets`, asset)).status).toBe(200);
		expect((await bench.post(`${PRIVATE}/assets`, asset)).status).toBe(404);
		expect((await bench.post(`${REAL}/assets`, asset, 'other-key')).status).toBe(404);
	});

	test('the link of a verification expires after 120 seconds, and a wrong vendor token is refused', async () => {
		const { taskId, page, result } = await createVerification();
		bench.clockMs += 120_000;
		expect((await bench.call('POST', `${page}/pass`, undefined, null)).status).toBe(410);
		expect((await bench.get(result)).json).toMatchObject({ verify_status: 'expired' });
		expect((await bench.get(`${REAL}/verify-results?task_id=${taskId}&vendor_token=x`)).status).toBe(403);
	});
});

describe('private avatars (contract 4.7)', () => {
	async function createAsset(fields: object = {}): Promise<string> {
		const group = inner((await bench.post(`${PRIVATE}/groups`, { name: 'g' })).json, 'data');
		const { json } = await bench.post(`${PRIVATE}/assets`, { ...source, ...group, ...fields });
		return String(inner(json, 'data').asset_id);
	}

	test('an asset can be used once it is active', async () => {
		const id = await createAsset();
		const request = {
			model: 'alpha-video-2-0',
			prompt: 'x',
			image_with_roles: [{ url: `asset://${id}`, role: 'a' }],
		};
		expect((await bench.post(VIDEOS, request)).json.message).toMatch(/is processing, not active/);
		bench.clockMs += 3_000;
		expect(inner((await bench.get(`${PRIVATE}/assets/${id}`)).json, 'data')).toMatchObject({
			status: 'active',
		});
		expect((await bench.post(VIDEOS, request)).status).toBe(200);
		expect((await bench.post(VIDEOS, request, 'other-key')).status).toBe(400);
	});

	test.each([
		['a made-up group', { group_id: 'pg_x' }, 404],
		['a file instead of a URL', { source_url: 'data:image/png;base64,AA' }, 400],
		['an unknown type', { asset_type: 'text' }, 400],
	])('an asset of a private avatar with %s is refused', async (_label, fields, status) => {
		const group = inner((await bench.post(`${PRIVATE}/groups`, {})).json, 'data');
		expect((await bench.post(`${PRIVATE}/assets`, { ...source, ...group, ...fields })).status).toBe(status);
	});
});
