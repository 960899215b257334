/** The output of avatar operations is the service's answer, and their requests are what was checked. */
import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const quick = { pollIntervalSeconds: 1 };
const asset = { avatarKind: 'private', assetType: 'image', sourceUrl: 'https://example.com/face.png', options: quick };
const posts = () => sandbox.requests.filter(({ method }) => method === 'POST');
const run = async (resource: string, operation: string, parameters: object = {}, options = {}) =>
	await runGateway('avatar', sandbox, { resource, operation, ...parameters }, options);

/** The output with the record of the service. */
const raw = { simplify: false };

describe('what the service answers is shown', () => {
	const answer = (body: object) => sandbox.faults.add({ on: 'avatar', do: { status: 200, body } });
	const link = { h5_link: 'https://example.com/h5/1', vendor_token: 'vt_1' };

	test.each([
		['flat', (record: object) => record],
		['wrapped', (record: object) => ({ success: true, data: record })],
	])(
		'a Create that failed comes out as failed; with Simplify off, everything of both answers does (%s)',
		async (_title, wrap) => {
			answer(wrap({ task_id: 'rav_1', status: 'failed', created_by: 'me' }));
			answer(wrap({ task_id: 'rav_1', status: 'open', ...link, camera: 'front' }));
			const { json } = await run('verification', 'create', { options: raw });
			expect(json[0]).toMatchObject({ task_id: 'rav_1', status: 'failed', ...link });
			expect(json[0].record).toMatchObject(wrap({ created_by: 'me', status: 'open', camera: 'front' }));
		},
	);

	test('Get shows the status of the session', async () => {
		answer({ ...link, status: 'closed', camera: 'front' });
		const { json } = await run('verification', 'get', { verificationId: 'rav_1', options: raw });
		expect(json[0]).toEqual({
			task_id: 'rav_1',
			status: 'closed',
			...link,
			record: { ...link, status: 'closed', camera: 'front' },
		});
	});

	test('a group is called what the service calls it, or else what was sent', async () => {
		answer({ data: { group_id: 'pg_1', name: 'Anna (2)', owner: 7 } });
		const named = await run('group', 'create', {
			groupName: 'Anna',
			groupDescription: 'Spokesperson',
			options: raw,
		});
		expect(named.json[0]).toEqual({
			group_id: 'pg_1',
			name: 'Anna (2)',
			description: 'Spokesperson',
			record: { data: { group_id: 'pg_1', name: 'Anna (2)', owner: 7 } },
		});
		const sent = await run('group', 'create', { groupName: 'Anna', options: { additionalFields: { name: 'Berta' } } });
		expect(sent.json[0]).toEqual({ group_id: expect.any(String), name: 'Berta' });
	});

	test('an upload shows the status, the group and the type that the service answers', async () => {
		const shown = {
			asset_id: 'pa_1',
			status: 'queued',
			group_id: 'pg_2',
			asset_type: 'video',
			source_url: 'https://example.com/copy.mp4',
		};
		const body = { ...shown, frames: 9 };
		answer(body);
		const { json } = await run('asset', 'upload', { ...asset, groupId: 'pg_1', waitForActive: false, options: raw });
		expect(json[0]).toEqual({ ...shown, reference: 'asset://pa_1', avatar_kind: 'private', record: body });
	});

	test('an upload that waits gives everything of both answers; Get and Wait for Asset give theirs', async () => {
		answer({ asset_id: 'pa_1', uploaded_by: 'me' });
		answer({ data: { asset_id: 'pa_1', status: 'Active', frames: 9 } });
		const uploaded = await run('asset', 'upload', { ...asset, groupId: 'pg_1', options: raw });
		expect(uploaded.json[0]).toMatchObject({ status: 'Active', record: { uploaded_by: 'me', data: { frames: 9 } } });
		for (const operation of ['get', 'wait']) {
			answer({ asset_id: 'pa_1', status: 'active', frames: 9 });
			const { json } = await run('asset', operation, {
				assetId: 'pa_1',
				options: operation === 'wait' ? { ...quick, ...raw } : raw,
			});
			expect(json[0].record).toEqual({ asset_id: 'pa_1', status: 'active', frames: 9 });
		}
	});

	test.each([
		['flat', (record: object) => record],
		['wrapped', (record: object) => ({ success: true, data: record })],
	])('Get gives the vendor token, the expiry and the record also without a link (%s)', async (_title, wrap) => {
		const session = { task_id: 'rav_1', status: 'completed', vendor_token: 'vt_1', expires_at: 4_070_908_800, h5: 'x' };
		answer(wrap(session));
		const { json, error, task } = await run('verification', 'get', { verificationId: 'rav_1', options: raw });
		expect(error).toBeUndefined();
		expect(json[0]).toMatchObject({
			task_id: 'rav_1',
			vendor_token: 'vt_1',
			expires_at: '2099-01-01T00:00:00.000Z',
			link_expired: false,
			record: wrap(session),
		});
		expect(json[0]).not.toHaveProperty('h5_link');
		expect(JSON.stringify(task?.hints)).toContain('The service gave no link (h5_link)');
	});

	test('a new session without a link is told with its verification', async () => {
		answer({ task_id: 'rav_2' });
		answer({ task_id: 'rav_2', status: 'completed', h5_link: '', vendor_token: 'vt_1' });
		const created = await run('verification', 'create');
		expect(created.error?.message).toBe('The service gave no link for the verification rav_2');
		expect(created.error?.description).toContain('The status of its session is "completed".');
		answer({ task_id: 'rav_3' });
		answer({ task_id: 'rav_3' });
		const continued = await run('verification', 'create', {}, { settings: { onError: 'continueRegularOutput' } });
		expect(continued.json[0]).toMatchObject({
			error: 'The service gave no link for the verification rav_3',
			task_id: 'rav_3',
		});
	});
});

describe('before the person has passed, a service may say no', () => {
	const keys = { verificationId: 'rav_1', vendorToken: 'vt_1' };
	const wait = { ...keys, waitUntilVerified: true, options: quick };
	const notYet = (status: number, body: object = { message: 'nobody has been here', code: 'not_yet' }) => ({
		status,
		body,
	});
	const passed = { status: 200, body: { verify_status: 'verified', group_id: 'rg_1' } };

	test.each([400, 403, 404, 409, 422])('%i before the person has passed is waited out', async (status) => {
		sandbox.faults.add({ on: 'avatar', times: 2, do: notYet(status) }, { on: 'avatar', do: passed });
		const { json, error } = await run('verification', 'getResult', wait);
		expect(error).toBeUndefined();
		expect(json[0]).toMatchObject({ verified: true, group_id: 'rg_1' });
		expect(sandbox.requests).toHaveLength(3);
	});

	test.each([
		['whatever words it has', 403, { error: { type: 'authentication_error', message: 'person not authenticated' } }],
		['whatever code it has', 400, { code: 'insufficient_quota', message: 'no' }],
		['success: false', 200, { success: false, code: 'task_not_found', message: 'no result yet' }],
	])('an answer with %s before the person has passed is waited out', async (_title, status, body) => {
		sandbox.faults.add({ on: 'avatar', do: notYet(status, body) }, { on: 'avatar', do: passed });
		expect((await run('verification', 'getResult', wait)).json[0]).toMatchObject({ verified: true });
	});

	test.each([
		[401, /did not accept the API key/],
		[402, /not enough credits/],
	])('%i ends the wait for a person, and names the verification', async (status, message) => {
		sandbox.faults.add({ on: 'avatar', times: -1, do: notYet(status) });
		const { error } = await run('verification', 'getResult', wait);
		expect(error?.message).toMatch(message);
		expect(error?.message).toContain('rav_1');
		expect(sandbox.requests).toHaveLength(1);
	});

	test('a wait for a person that times out quotes the last words, and so does an item that is returned', async () => {
		sandbox.faults.add({ on: 'avatar', times: -1, do: notYet(403) });
		const options = { ...quick, timeoutMinutes: 0.02 };
		const { error } = await run('verification', 'getResult', { ...wait, options });
		expect(error?.message).toMatch(/^Verification rav_1 has not finished within/);
		expect(error?.description).toContain('"nobody has been here", code not_yet');
		const { json } = await run('verification', 'getResult', { ...wait, options: { ...options, onTimeout: 'return' } });
		expect(json[0]).toMatchObject({ verified: false, timed_out: true, reason: 'nobody has been here' });
	});

	test.each([
		['403', notYet(403)],
		['403', { status: 403, body: { error: { type: 'authentication_error', message: 'nobody has been here' } } }],
		[
			'200 and success: false',
			{ status: 200, body: { success: false, code: 'task_not_found', message: 'nobody has been here' } },
		],
	])('one look tells that %s was answered, and not why, but what it may mean (%#)', async (answered, answer) => {
		sandbox.faults.add({ on: 'avatar', do: answer });
		const { error } = await run('verification', 'getResult', keys);
		expect(error?.message).toBe(`The service answered ${answered} when asked for the result of verification rav_1`);
		expect(error?.description).toMatch(
			/^The service says: "nobody has been here".* may mean that nobody has passed yet/,
		);
		expect(error?.description).toContain('the same verification');
		expect(sandbox.requests).toHaveLength(1);
	});

	test('a no before the person has passed holds no other items back', async () => {
		sandbox.faults.add({ on: 'avatar', do: notYet(403) }, { on: 'avatar', do: passed });
		const items = [{ json: {} }, { json: {} }];
		const settings = { onError: 'continueRegularOutput' as const };
		const { json } = await run(
			'verification',
			'getResult',
			{ ...keys, options: { concurrentTasks: 1 } },
			{ items, settings },
		);
		expect(json[0]).toMatchObject({ error: expect.stringMatching(/^The service answered 403/), http_status: 403 });
		expect(json[1]).toMatchObject({ verified: true });
	});
});

describe('Additional Fields are checked as they are sent', () => {
	const upload = (avatarKind: string, additionalFields: object) =>
		run('asset', 'upload', {
			...asset,
			avatarKind,
			groupId: 'pg_1',
			waitForActive: false,
			options: { additionalFields },
		});

	test.each<[string, object, RegExp]>([
		['private', { asset_type: 'hologram' }, /^Asset Type is "hologram": it must be audio, image or video/],
		['private', { source_url: 'data:image/png;base64,AAAA' }, /^Source URL contains the file itself/],
		['private', { source_url: 5 }, /^Source URL is 5, which is not an http\(s\) URL/],
		['private', { group_id: '' }, /^Group ID is empty/],
		['real', { group_id: { id: 'rg_1' } }, /^Group ID is {"id":"rg_1"}, which is not text/],
	])(
		'an asset of a %s avatar with %j in Additional Fields is refused before anything is sent',
		async (kind, additionalFields, message) => {
			const { error } = await upload(kind, additionalFields);
			expect(error?.message).toMatch(message);
			expect(error?.description).toMatch(/Nothing was sent/);
			expect(sandbox.requests).toHaveLength(0);
		},
	);

	test('a callback URL in Additional Fields is checked, and comes out in the place of that of the form', async () => {
		const { error } = await run('verification', 'create', {
			callbackUrl: 'https://example.com/a',
			options: { additionalFields: { callback_url: 'nowhere' } },
		});
		expect(error?.message).toBe('Callback URL is "nowhere", which is not a URL');
		const { json } = await run('verification', 'create', {
			callbackUrl: 'https://example.com/a',
			options: { additionalFields: { callback_url: 'https://example.com/b' } },
		});
		expect(json[0].callback_url).toBe('https://example.com/b');
	});

	test('an assumed field of a real avatar can be left out by null, one that the contract shows cannot', async () => {
		sandbox.faults.add({ on: 'avatar', do: { status: 200, body: { asset_id: 'ra_1' } } });
		const { json, error } = await upload('real', {
			asset_type: null,
			source_url: null,
			group_id: null,
			link: 'https://example.com/a.png',
		});
		expect(error).toBeUndefined();
		expect(posts()[0].body).toEqual({ link: 'https://example.com/a.png' });
		expect(json[0]).toEqual({ asset_id: 'ra_1', reference: 'asset://ra_1', status: 'processing', avatar_kind: 'real' });
		expect((await upload('private', { source_url: null })).error?.message).toBe('Source URL is empty');
		expect((await upload('private', { asset_type: null })).error?.message).toBe('Asset Type is empty');
		const { json: verifications } = await run('verification', 'create', {
			callbackUrl: 'https://example.com/a',
			options: { additionalFields: { callback_url: null } },
		});
		expect(verifications[0]).not.toHaveProperty('callback_url');
	});
});
