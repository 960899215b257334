/** Gateway Avatar: groups, assets and verifications, and what the service answers about them. */
import type { IDataObject } from 'n8n-workflow';
import { pause, pngField, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

const ASSET_MS = 1_200;

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ assetMs: ASSET_MS });
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const PREFIX = '/v1/videos/alpha-video-2-0';
const posts = () => sandbox.requests.filter(({ method }) => method === 'POST');
const run = async (resource: string, operation: string, parameters: object = {}, options = {}) =>
	await runGateway('avatar', sandbox, { resource, operation, ...parameters }, options);

async function makeGroup(): Promise<string> {
	return String((await run('group', 'create', { groupName: 'Anna' })).json[0].group_id);
}

const asset = { avatarKind: 'private', assetType: 'image', sourceUrl: 'https://example.com/face.png' };

describe('Group', () => {
	test('when the outcome of a group is unknown, nothing is created again', async () => {
		sandbox.faults.add({ on: 'avatar', do: '504!after' });
		const { error } = await run(
			'group',
			'create',
			{},
			{ settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 } },
		);
		expect(error?.message).toMatch(/may or may not have accepted this group/);
		expect(posts()).toHaveLength(1);
	});
});

describe('Asset', () => {
	test('Upload waits until the asset is active, and gives the reference for the video', async () => {
		const groupId = await makeGroup();
		const { json } = await run('asset', 'upload', { ...asset, groupId });
		expect(json[0]).toMatchObject({
			asset_id: expect.stringMatching(/^pa_/),
			reference: `asset://${String(json[0].asset_id)}`,
			status: 'active',
			avatar_kind: 'private',
			group_id: groupId,
			asset_type: 'image',
			source_url: asset.sourceUrl,
		});
		expect(json[0].waited_seconds).toBeGreaterThan(1);
	});

	test('an asset that is not waited for is in processing; Get looks once, or waits for it', async () => {
		const groupId = await makeGroup();
		const uploaded = await run('asset', 'upload', { ...asset, groupId, waitForActive: false });
		expect(uploaded.json[0]).toMatchObject({
			status: 'processing',
			reference: expect.stringMatching(/^asset:\/\/pa_/),
		});
		const key = { avatarKind: 'private', assetId: uploaded.json[0].reference };
		const look = async () => (await run('asset', 'get', { ...key, waitForActive: false })).json[0];
		expect(await look()).toMatchObject({ status: 'processing', asset_id: uploaded.json[0].asset_id });
		expect((await run('asset', 'get', key)).json[0]).toMatchObject({
			status: 'active',
			waited_seconds: expect.any(Number),
		});
		expect(await look()).toMatchObject({ status: 'active' });
	});

	test('the group of a real avatar comes from the verification', async () => {
		const { json } = await run('verification', 'create');
		sandbox.verify(String(json[0].task_id));
		const { task_id: verificationId, vendor_token: vendorToken } = json[0];
		const result = await run('verification', 'getResult', { verificationId, vendorToken });
		const upload = await run('asset', 'upload', {
			...asset,
			avatarKind: 'real',
			groupId: result.json[0].group_id,
			assetType: 'audio',
		});
		expect(posts().at(-1)?.path).toBe(`${PREFIX}/real-avatar/assets`);
		expect(upload.json[0]).toMatchObject({ status: 'active', asset_type: 'audio', avatar_kind: 'real' });
	});

	test.each<[object, object]>([
		[{ options: { additionalFields: { asset_type: 'portrait' } } }, { asset_type: 'portrait' }],
		[
			{ sourceUrl: '', options: { additionalFields: { url: 'https://e.example/a.png' } } },
			{ url: 'https://e.example/a.png' },
		],
	])(
		'the body of a real upload is not shown, so Additional Fields send what they say: %j',
		async (parameters, body) => {
			sandbox.faults.add({ on: 'avatar', do: { status: 200, body: { asset_id: 'ra_1', status: 'active' } } });
			const form = { ...asset, groupId: 'rg_1', waitForActive: false, ...parameters };
			const real = await run('asset', 'upload', { ...form, avatarKind: 'real' });
			expect(real.error).toBeUndefined();
			expect(posts().at(-1)?.body).toMatchObject(body);
			expect('source_url' in (posts().at(-1)?.body as object)).toBe(form.sourceUrl !== '');
			const before = posts().length;
			const madeUp = await run('asset', 'upload', {
				...form,
				...{ sourceUrl: '={{ "" }}' },
				...parameters,
				avatarKind: 'private',
			}).catch((thrown: Error) => ({ error: thrown }));
			expect(madeUp.error).toBeDefined();
			expect(posts()).toHaveLength(before);
		},
	);

	test.each([['failed'], ['expired']])('the status %s ends the wait for an asset with the reason', async (status) => {
		sandbox.faults.add({
			on: 'avatar',
			times: -1,
			do: { status: 200, body: { data: { status, message: 'no face found' } } },
		});
		const { error } = await run('asset', 'get', { assetId: 'pa_1' });
		expect(error?.message).toBe('The service could not process the asset pa_1');
		expect(error?.description).toContain('no face found');
		expect(error?.description).toContain(`"${status}"`);
		expect(sandbox.requests).toHaveLength(1);
	});

	test('an asset with any other status is still in processing', async () => {
		sandbox.faults.add(
			{ on: 'avatar', do: { status: 200, body: { status: 'reviewing' } } },
			{ on: 'avatar', do: { status: 200, body: { status: 'active' } } },
		);
		const { json } = await run('asset', 'get', { assetId: 'pa_1' });
		expect(json[0]).toMatchObject({ status: 'active' });
		expect(sandbox.requests).toHaveLength(2);
	});

	test('an asset that could not be processed is uploaded anew by a retry', async () => {
		const groupId = await makeGroup();
		const { error } = await run(
			'asset',
			'upload',
			{ ...asset, groupId, sourceUrl: 'https://example.com/face.png?sandbox=fail%3Dno_face%20duration%3D0s' },
			{ settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 } },
		);
		expect(error?.message).toMatch(/could not process the asset pa_/);
		expect(error?.description).toContain('no_face');
		expect(posts()).toHaveLength(3);
	});

	test.each(['stopWorkflow', 'continueRegularOutput'] as const)(
		'a time-out names the asset and says how to go on, with On Error %s',
		async (onError) => {
			const slow = { ...asset, groupId: 'pg_1', sourceUrl: 'https://example.com/face.png?sandbox=duration%3Dnever' };
			const form = { ...slow, groupId: await makeGroup(), options: { timeoutMinutes: 0 } };
			const { json, error } = await run('asset', 'upload', form, { settings: { onError } });
			if (onError === 'stopWorkflow') {
				expect(error?.message).toMatch(/^Asset pa_\S+ has not finished within/);
				expect(error?.description).toMatch(/Retry this execution in the Executions list: nothing is created twice/);
			} else expect(json[0]).toMatchObject({ code: 'timed_out', asset_id: expect.stringMatching(/^pa_/) });
		},
	);

	test('while the wait is switched off, its timeout does not count', async () => {
		const form = { ...asset, groupId: await makeGroup(), waitForActive: false, options: { timeoutMinutes: -5 } };
		expect((await run('asset', 'upload', form)).json[0]).toMatchObject({ status: 'processing' });
	});

	test('an ID of a group that is a number is given, and sent, as a number', async () => {
		sandbox.faults.add({ on: 'avatar', do: { status: 200, body: { group_id: 17 } } });
		const { json } = await run('group', 'create', { groupName: 'Anna' });
		expect(json[0]).toEqual({ group_id: 17, name: 'Anna' });
		sandbox.faults.add({ on: 'avatar', do: { status: 200, body: { asset_id: 'pa_1' } } });
		const form = { ...asset, groupId: '={{ $json.group_id }}', waitForActive: false };
		const upload = await run('asset', 'upload', form, { items: [{ json: json[0] }] });
		expect(posts().at(-1)?.body).toMatchObject({ group_id: 17 });
		expect(upload.json[0]).toMatchObject({ group_id: 17 });
	});

	describe('from a binary field', () => {
		const item = { json: {}, binary: { data: pngField(), text: { data: 'YQ==', mimeType: 'text/plain' } } };
		const paths = () => posts().map(({ path }) => path.split('/').at(-1));
		const upload = async (groupId: string, more: IDataObject = {}, settings = {}) =>
			await run('asset', 'upload', { source: 'binary', groupId, ...more }, { items: [item], settings });

		test.each<[string, IDataObject]>([
			['by its name', {}],
			['by an expression that returns it', { binaryPropertyName: '={{ $binary.data }}' }],
			['whatever was entered for a URL before', { sourceUrl: 'ftp://x', assetType: 'video' }],
		])('an image is uploaded first, and its URL is sent: %s', async (_, more) => {
			const { json, error } = await upload(await makeGroup(), { waitForActive: false, ...more });
			expect(error).toBeUndefined();
			expect(paths()).toEqual(['groups', 'images', 'assets']);
			const { source_url: url, asset_type: type } = posts()[2].body as IDataObject;
			expect([type, url]).toEqual(['image', expect.stringMatching(/^http/)]);
			expect(json[0]).toMatchObject({ asset_type: 'image', source_url: url });
		});

		test('an image is uploaded once, also where a retry goes on', async () => {
			const settings = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
			await upload(await makeGroup(), { options: { timeoutMinutes: 0 } }, settings);
			expect(paths()).toEqual(['groups', 'images', 'assets']);
		});

		test.each<[IDataObject, RegExp]>([
			[{ binaryPropertyName: 'nope' }, /^Input Binary Field: the item has no binary field "nope"/],
			[{ binaryPropertyName: 'text' }, /^Input Binary Field: the binary field "text" is not an image/],
			[{ binaryPropertyName: '={{ undefined }}' }, /^Input Binary Field is empty: its expression returned nothing/],
			[{ binaryPropertyName: '={{ "" }}' }, /^Input Binary Field is empty: its expression returned nothing/],
			[{ binaryPropertyName: '={{ 5 }}' }, /^Input Binary Field/],
			[
				{ options: { additionalFields: { source_url: 'https://example.com/a.png' } } },
				/^Input Binary Field is not sent, because Additional Fields give or remove "source_url"/,
			],
			[{ source: 'file' }, /^Source is "file": it must be url or binary/],
			[{ source: '={{ 1 }}' }, /^Source is 1: it must be url or binary/],
			[{ source: '={{ "" }}' }, /^Source is empty: its expression returned nothing/],
			[{ source: '={{ undefined }}' }, /^Source is empty: its expression returned nothing/],
			[{ groupId: '={{ undefined }}' }, /^Group ID is empty: its expression returned nothing/],
		])('%j is refused, and nothing is sent', async (more, message) => {
			const { error } = await upload('pg_1', { sourceUrl: asset.sourceUrl, ...more });
			expect(error?.message).toMatch(message);
			expect(error?.description).toMatch(/Nothing was sent/);
			expect(sandbox.requests).toHaveLength(0);
		});
	});
});

describe('Verification', () => {
	const callback = 'https://n8n.example.com/webhook-waiting/7?signature=abc';

	test('Create of a verification gives the link at once, and says that nobody has passed', async () => {
		const { json } = await run('verification', 'create', { callbackUrl: callback });
		expect(json[0]).toMatchObject({
			task_id: expect.stringMatching(/^rav_/),
			status: 'completed',
			verified: false,
			h5_link: expect.stringContaining('/h5/real-person/'),
			vendor_token: expect.stringMatching(/^vt_/),
			link_expired: false,
		});
	});

	test.each([
		['myapp://verified', '', 'myapp://verified'],
		['myapp://verified?screen=2', '', 'myapp://verified?screen=2&callback=1'],
		['myapp://verified', 'customer 42', 'myapp://verified?reference=customer+42'],
	])('the callback URL %s with the reference "%s" is sent as %s', async (callbackUrl, reference, sent) => {
		const { json, error } = await run('verification', 'create', { callbackUrl, reference });
		expect(error).toBeUndefined();
		expect(posts()[0].body).toEqual({ callback_url: sent });
		expect(json[0]).toMatchObject({ callback_url: sent, h5_link: expect.any(String) });
	});

	test.each<[people: number, callbackUrl: string, created: number]>([
		[1, '={{ $execution.resumeUrl }}', 1],
		[2, '={{ $execution.resumeUrl }}', 0],
		[2, '={{ $execution.resumeUrl }}&person={{ $itemIndex }}', 0],
		[2, callback, 2],
	])('of %d items with the callback URL %s, %d verifications are created', async (people, callbackUrl, created) => {
		const items = Array.from({ length: people }, () => ({ json: {} }));
		const { error } = await run('verification', 'create', { callbackUrl }, { items });
		expect(posts()).toHaveLength(created);
		if (created > 0) expect(error).toBeUndefined();
		else
			expect(`${error?.message} ${error?.description}`).toMatch(
				/several items cannot share.* Loop Over Items.*Nothing was sent/s,
			);
	});

	test('a link that is not there yet is read a moment later, and what is lost names the session', async () => {
		sandbox.faults.add({ on: 'avatar', skip: 1, do: '404' });
		const found = await run('verification', 'create');
		expect(found.json[0]).toHaveProperty('h5_link');
		sandbox.faults.add({ on: 'avatar', skip: 1, times: -1, do: '401' });
		const { error } = await run('verification', 'create');
		expect(error?.message).toMatch(/rav_/);
	});

	test('a retry makes another verification where the link of the first has expired', async () => {
		let laterMs = 0;
		const now = Date.now.bind(Date);
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + laterMs);
		sandbox.faults.add({ on: 'avatar', skip: 1, do: '400' });
		const settings = { retryOnFail: true, maxTries: 2, waitBetweenTries: 5000 };
		const running = run('verification', 'create', {}, { items: [{ json: {} }, { json: {} }], settings });
		while (posts().length < 2) await pause(50);
		// The first try has ended: n8n waits before the second one.
		await pause(2500);
		laterMs = 121_000;
		await running.finally(() => clock.mockRestore());
		expect(posts()).toHaveLength(4);
	});

	test('Get tells when the link expires; an expired link is said to be expired', async () => {
		const live = await run('verification', 'create');
		const { json } = await run('verification', 'get', { verificationId: live.json[0].task_id });
		expect(json[0]).toMatchObject({
			link_expired: false,
			h5_link: expect.any(String),
			vendor_token: expect.any(String),
		});
		const dead = await run('verification', 'create', { options: { additionalFields: { sandbox: 'duration=0s' } } });
		expect(dead.json[0]).toMatchObject({ link_expired: true });
	});

	const key = ({
		json: [{ task_id: verificationId, vendor_token: vendorToken }],
	}: Awaited<ReturnType<typeof run>>) => ({ verificationId, vendorToken });

	test('Get Result: verified only after the person has passed', async () => {
		const session = key(await run('verification', 'create'));
		const before = await run('verification', 'getResult', session);
		expect(before.json[0]).toMatchObject({ verified: false, verify_status: 'pending' });
		expect(before.json[0]).not.toHaveProperty('group_id');
		sandbox.verify(String(session.verificationId));
		const { json } = await run('verification', 'getResult', { ...session, resultCode: '10000' });
		expect(json[0]).toEqual({
			task_id: session.verificationId,
			verified: true,
			verify_status: 'verified',
			group_id: expect.stringMatching(/^rg_/),
			result_code: '10000',
			vendor_token: session.vendorToken,
		});
		expect(sandbox.requests.at(-1)?.path).toBe(
			`${PREFIX}/real-avatar/verify-results?task_id=${String(session.verificationId)}&vendor_token=${String(session.vendorToken)}&result_code=10000`,
		);
	});

	test.each([
		['verified without a group', { verify_status: 'verified' }],
		['a group without verified', { verify_status: 'pending', group_id: 'rg_1' }],
		['completed, which means nothing', { status: 'completed', group_id: 'rg_1' }],
	])('%s is not verified', async (_title, body) => {
		sandbox.faults.add({ on: 'avatar', do: { status: 200, body } });
		const keys = { verificationId: 'rav_1', vendorToken: 'vt_1', resultCode: '10000' };
		const { json } = await run('verification', 'getResult', keys);
		expect(json[0].verified).toBe(false);
		expect(json[0]).not.toHaveProperty('result_code');
	});

	test('a result code without end is cut off: n8n could not save it', async () => {
		const body = `{"verify_status":"rejected","result_code":${'['.repeat(45_000)}${']'.repeat(45_000)}}`;
		sandbox.faults.add({ on: 'avatar', do: { status: 200, body } });
		const { json } = await run('verification', 'getResult', { verificationId: 'rav_1', vendorToken: 'vt_1' });
		expect(JSON.stringify(json[0].result_code).length).toBeLessThan(2_000);
	});

	test('a verification is waited for until verified; a person who has not passed ends the wait', async () => {
		const good = key(await run('verification', 'create'));
		setTimeoutFor(() => sandbox.verify(String(good.verificationId)));
		const passed = await run('verification', 'getResult', { ...good, waitUntilVerified: true });
		expect(passed.json[0]).toMatchObject({ verified: true });

		const bad = key(await run('verification', 'create'));
		sandbox.verify(String(bad.verificationId), 'fail');
		const { error } = await run('verification', 'getResult', { ...bad, waitUntilVerified: true });
		expect(error?.message).toBe(`The person has not passed the verification ${String(bad.verificationId)}`);
		expect(error?.description).toMatch(/"failed".*new verification/);
	});

	test('an expired link ends the wait for a person; if nobody comes, the time-out does', async () => {
		const expired = key(
			await run('verification', 'create', { options: { additionalFields: { sandbox: 'duration=0s' } } }),
		);
		const { error } = await run('verification', 'getResult', { ...expired, waitUntilVerified: true });
		expect(error?.description).toMatch(/"expired"/);
		const alone = key(await run('verification', 'create'));
		const late = await run(
			'verification',
			'getResult',
			{ ...alone, waitUntilVerified: true, options: { timeoutMinutes: 0.02 } },
			{ settings: { onError: 'continueRegularOutput' } },
		);
		expect(late.json[0]).toMatchObject({
			error: expect.stringMatching(/^Verification rav_\S+ has not finished within/),
			code: 'timed_out',
			task_id: alone.verificationId,
		});
	});
});

type Bad = [string, string, string, object, RegExp];

describe('bad input', () => {
	test.each<Bad>([
		[
			'a source URL that is not http(s)',
			'asset',
			'upload',
			{ sourceUrl: 'ftp://example.com/a.png' },
			/^Source URL is "ftp:/,
		],
		[
			'the name of a binary field',
			'asset',
			'upload',
			{ sourceUrl: 'data' },
			/^Source URL is the name of the binary field "data"/,
		],
		...['upload', 'get'].map(
			(operation): Bad => [
				`an expression that gives no kind, where the default would be another one, in ${operation}`,
				'asset',
				operation,
				{ avatarKind: '={{ $json.none }}', assetId: 'a_1' },
				/^Avatar Kind is empty: its expression returned nothing for this item/,
			],
		),
		...[
			['={{ "x" }}', /^Wait Until Active is "x": it must be true or false/],
			['={{ 1 }}', /^Wait Until Active is 1: it must be true or false/],
			['={{ "" }}', /^Wait Until Active is empty: its expression returned nothing/],
			['={{ undefined }}', /^Wait Until Active is empty: its expression returned nothing/],
		].flatMap(([waitForActive, message]) =>
			['upload', 'get'].map(
				(operation): Bad => [
					`a switch that is ${String(waitForActive)} in ${operation}`,
					'asset',
					operation,
					{ waitForActive, assetId: 'a_1' },
					message as RegExp,
				],
			),
		),
		...[
			['={{ "pdf" }}', /^Asset Type is "pdf": it must be audio, image or video/],
			['={{ "" }}', /^Asset Type is empty: its expression returned nothing/],
			['={{ undefined }}', /^Asset Type is empty: its expression returned nothing/],
		].map(
			([assetType, message]): Bad => [
				`the asset type ${String(assetType)}`,
				'asset',
				'upload',
				{ assetType },
				message as RegExp,
			],
		),
		...[
			['data:image/png;base64,AAAA', /^Source URL contains the file itself/],
			['asset://pa_1', /^Source URL is "asset:\/\/pa_1"/],
			['={{ 5 }}', /^Source URL is /],
		].map(
			([sourceUrl, message]): Bad => [
				`the source URL ${String(sourceUrl)}`,
				'asset',
				'upload',
				{ sourceUrl },
				message as RegExp,
			],
		),
		[
			'a timeout below 0',
			'asset',
			'upload',
			{ options: { timeoutMinutes: -5 } },
			/^Timeout \(Minutes\) is -5: it must be a number, 0 or more/,
		],
		[
			'no asset',
			'asset',
			'get',
			{ assetId: '={{ $json.none }}' },
			/^Asset ID is empty: its expression returned nothing/,
		],
		[
			'a switch that an expression has lost',
			'verification',
			'getResult',
			{ verificationId: 'rav_1', vendorToken: 'vt_1', waitUntilVerified: '={{ $json.none }}' },
			/^Wait Until Verified is empty: its expression returned nothing/,
		],
		[
			'a callback URL that an expression has lost: nothing would come back',
			'verification',
			'create',
			{ callbackUrl: '={{ $json.none }}' },
			/^Callback URL is empty: its expression returned nothing/,
		],
		[
			'a reference that an expression has lost: nobody would know whose result it is',
			'verification',
			'create',
			{ callbackUrl: 'https://n8n.example/webhook/1', reference: '={{ $json.none }}' },
			/^Reference is empty: its expression returned nothing/,
		],
		[
			'a name that an expression has lost: the group would have none, and no request renames or deletes one',
			'group',
			'create',
			{ groupName: '={{ $json.none }}' },
			/^Name is empty: its expression returned nothing/,
		],
		[
			'a source that an expression has lost, of a real avatar with other fields',
			'asset',
			'upload',
			{ avatarKind: 'real', sourceUrl: '={{ $json.none }}', options: { additionalFields: { label: 'a' } } },
			/^Source URL is empty: its expression returned nothing/,
		],
		[
			'a file that is empty',
			'asset',
			'upload',
			{ source: 'binary', binaryPropertyName: 'data' },
			/^Input Binary Field: the binary field "data" is an empty file/,
		],
		...['vendorToken', 'resultCode'].map(
			(name): Bad => [
				`a ${name} that no address can hold`,
				'verification',
				'getResult',
				{ verificationId: 'rav_1', vendorToken: 'vt_1', [name]: 'x'.repeat(16_385) },
				/^(Vendor Token|Result Code) has 16385 characters: at most 16384 are allowed/,
			],
		),
		[
			'a callback URL that no browser can open, with its reference',
			'verification',
			'create',
			{ callbackUrl: `https://n8n.example/${'x'.repeat(16_400)}`, reference: 'p' },
			/^Callback URL has 16432 characters: at most 16384 are allowed/,
		],
		[
			'a reference that is no code',
			'verification',
			'create',
			{ callbackUrl: 'https://n8n.example/webhook/1', reference: 'x'.repeat(501) },
			/^Reference has 501 characters: at most 500 are allowed/,
		],
		[
			'a callback URL that is none',
			'verification',
			'create',
			{ callbackUrl: 'n8n.example.com' },
			/^Callback URL is "n8n.example.com", which is not a URL/,
		],
	])(
		'bad input, %s, is named by its label, and nothing is sent',
		async (_title, resource, operation, parameters, message) => {
			const items = [{ json: {}, binary: { data: { data: '', mimeType: 'image/png' } } }];
			const { error } = await run(resource, operation, { ...asset, groupId: 'pg_1', ...parameters }, { items });
			expect(error?.message).toMatch(message);
			expect(error?.description).toMatch(/Nothing was sent/);
			expect(sandbox.requests).toHaveLength(0);
		},
	);

	test('the group of the other kind of avatar, and one that is made up, are not there for the account', async () => {
		const groupId = await makeGroup();
		const other = await run('asset', 'upload', { ...asset, avatarKind: 'real', groupId });
		expect(other.error?.message).toContain('this account may have no real avatar group with this ID');
		expect(other.error?.description).toMatch(
			/verification that a person has passed for this account.*The service says: "group_id .* is not a real avata/,
		);
		const madeUp = await run('asset', 'upload', { ...asset, groupId: 'pg_made_up' });
		expect(madeUp.error?.message).toContain('this account may have no private avatar group with this ID');
	});

	test('an upload that is not allowed may be a matter of the key, and holds back those into the same group only', async () => {
		const [first, second] = [await makeGroup(), await makeGroup()];
		sandbox.faults.add({ on: 'avatar', do: '403', match: { path: 'assets' } });
		const upload = async (groups: string[], more: object) =>
			await run(
				'asset',
				'upload',
				{ ...asset, groupId: '={{ $json.group }}', ...more },
				{
					items: groups.map((group) => ({ json: { group } })),
					settings: { onError: 'continueRegularOutput' },
					// The first answer is there before the third request is due.
					credential: { advanced: true, requestsPerSecond: 1 },
				},
			);
		const nested = '={{ ({ group_id: null, group: { id: $json.group } }) }}';
		const options = { additionalFields: nested };
		const { json } = await upload([first, second, first], { options });
		expect(json[0]).toMatchObject({
			error: 'The service does not allow this upload into the group',
			code: 'key_not_allowed',
			details: expect.stringMatching(/The key may be limited.*use the group_id that Group → Create returned/) as string,
		});
		expect(json[1].code).not.toBe('not_submitted');
		expect(json[2].details).toContain(`for the group ${first} because of another item`);
	});

	test('IDs that the service does not know are named', async () => {
		const gone = await run('asset', 'get', { avatarKind: 'private', assetId: 'pa_gone', waitForActive: false });
		expect(gone.error?.message).toBe('This account has no private avatar asset pa_gone');
		const unknown = await run('verification', 'get', { verificationId: 'rav_gone' });
		expect(unknown.error?.message).toBe('The service does not know the verification rav_gone');
		expect(sandbox.requests).toHaveLength(2);
	});
});

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
	const wait = { ...keys, waitUntilVerified: true };
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
		[401, /did not accept the API key/],
		[402, /not enough credits/],
	])('%i ends the wait for a person, and names the verification', async (status, message) => {
		sandbox.faults.add({ on: 'avatar', times: -1, do: notYet(status) });
		const { error } = await run('verification', 'getResult', wait);
		expect(error?.message).toMatch(message);
		expect(error?.message).toContain('rav_1');
		expect(sandbox.requests).toHaveLength(1);
	});

	test('a wait for a person that times out quotes the last words', async () => {
		sandbox.faults.add({ on: 'avatar', times: -1, do: notYet(403) });
		const options = { timeoutMinutes: 0.02 };
		const { error } = await run('verification', 'getResult', { ...wait, options });
		expect(error?.message).toMatch(/^Verification rav_1 has not finished within/);
		expect(error?.description).toContain('"nobody has been here", code not_yet');
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
			/^The service says: "nobody has been here".* may mean that the person has not passed yet/,
		);
		expect(error?.description).toContain('the same verification');
		expect(sandbox.requests).toHaveLength(1);
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
		sandbox.faults.add({ on: 'avatar', do: { status: 200, body: { asset_id: 'ra_2' } } });
		const renamed = { groupId: ' pg_1 ', options: { additionalFields: { group: 'pg_1', group_id: null } } };
		const { json: named } = await run('asset', 'upload', {
			...asset,
			...renamed,
			avatarKind: 'real',
			waitForActive: false,
		});
		expect(named[0]).toMatchObject({ asset_id: 'ra_2', group_id: 'pg_1' });
		expect((await upload('private', { source_url: null })).error?.message).toBe('Source URL is empty');
		expect((await upload('private', { asset_type: null })).error?.message).toBe('Asset Type is empty');
		const { json: verifications } = await run('verification', 'create', {
			callbackUrl: 'https://example.com/a',
			options: { additionalFields: { callback_url: null } },
		});
		expect(verifications[0]).not.toHaveProperty('callback_url');
	});
});

/** The person takes a moment. */
function setTimeoutFor(act: () => void): void {
	void pause(1_200).then(act);
}
