import type { IDataObject } from 'n8n-workflow';
import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';
import { callWebhook, poll, type StaticData } from '../support/triggers.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

describe('Balance Trigger', () => {
	const look = async (
		credits: number | 'unlimited',
		staticData: StaticData,
		parameters: object = {},
		mode?: 'manual',
	) => {
		sandbox.users[0].unlimited = credits === 'unlimited';
		if (typeof credits === 'number') sandbox.users[0].remainCredits = credits;
		return await poll(
			'balanceTrigger',
			sandbox,
			{ threshold: 1000, unit: 'credits', ...parameters },
			{ staticData, mode },
		);
	};

	test('Balance Trigger fires once per crossing, on the first look when the balance is already below, and again after it rose', async () => {
		const staticData: StaticData = {};
		const fired = [];
		for (const credits of [999, 500, 100, 1050, 999, 1049.9, 999, 2000, 1500, 999.5])
			fired.push((await look(credits, staticData)) !== null);
		expect(fired).toEqual([true, false, false, false, true, false, false, false, false, true]);
	});

	/** n8n saves static data with an event, not after a check without one. */
	async function savedWith(event: number, parameters: object = {}): Promise<StaticData> {
		const staticData: StaticData = {};
		expect(await look(event, staticData, parameters)).toHaveLength(1);
		const saved = structuredClone(staticData);
		expect(await look(2000, staticData, parameters)).toBeNull();
		return saved;
	}

	test('after a restart, Balance Trigger fires for a balance that has recovered and fallen again', async () => {
		const saved = await savedWith(900);
		sandbox.users[0].usedCredits += 1600;
		expect(await look(400, saved)).toHaveLength(1);
		expect(await look(400, saved)).toBeNull();
	});

	test.each([
		['only spent', 500, 400],
		['risen by less than the margin', 1000, 49],
	])('after a restart, Balance Trigger does not fire again where the balance has %s', async (_, used, left) => {
		const saved = await savedWith(900);
		sandbox.users[0].usedCredits += used;
		expect(await look(left, saved)).toBeNull();
		sandbox.users[0].usedCredits += 1;
		expect(await look(left, saved)).toBeNull();
	});

	test('a threshold is the same in both units, and is put out in both', async () => {
		const staticData: StaticData = {};
		const inUsd = await look(500, staticData, { threshold: 5, unit: 'usd' });
		expect(inUsd?.[0]?.json).toMatchObject({ threshold_credits: 1000, threshold_usd: 5 });
		expect(await look(500, staticData, { threshold: 5, unit: 'usd' })).toBeNull();
		expect(await look(500, staticData, { threshold: 1000, unit: 'credits' })).toBeNull();
	});

	test('an account without a limit never fires Balance Trigger', async () => {
		expect(await look('unlimited', {}, { threshold: 1e9 })).toBeNull();
	});

	test('a manual run of Balance Trigger shows the balance, and changes nothing', async () => {
		const staticData: StaticData = {};
		expect(await look(5000, staticData, {}, 'manual')).toHaveLength(1);
		expect(await look(500, staticData, {}, 'manual')).toHaveLength(1);
		expect(await look(500, staticData)).toHaveLength(1);
	});

	test.each<[IDataObject, RegExp]>([
		[{ threshold: '={{ -1 }}' }, /^Threshold is -1: it must be a number, 0 or more/],
		[{ threshold: '={{ "x" }}' }, /^Threshold is "x": it must be a number, 0 or more/],
		[{ threshold: '={{ undefined }}' }, /^Threshold is empty: its expression returned nothing/],
		[{ threshold: '={{ "" }}' }, /^Threshold is empty: its expression returned nothing/],
		[{ unit: 'eur' }, /^Unit is "eur": it must be usd or credits/],
		[{ unit: '={{ undefined }}' }, /^Unit is empty: its expression returned nothing/],
	])('a threshold of %j is named and nothing is sent', async (parameters, message) => {
		await expect(poll('balanceTrigger', sandbox, parameters)).rejects.toThrow(message);
		expect(sandbox.requests).toHaveLength(0);
	});
});

describe('Avatar Trigger', () => {
	const PATH = '/webhook/1/avatar-verification';
	const lookups = () => sandbox.requests.filter(({ path }) => path.includes('/verify-results'));
	const call = async (url: string, staticData: StaticData = {}) =>
		await callWebhook('avatarVerificationTrigger', sandbox, url, { staticData });

	/** A session as Create in the same workflow leaves it behind, in a production run. */
	async function createSession(reference = 'customer 42', query = '') {
		const parameters = {
			resource: 'verification',
			operation: 'create',
			callbackUrl: `https://n8n.example.com${PATH}${query}`,
			reference,
		};
		const { json, workflow } = await runGateway('avatar', sandbox, parameters, { mode: 'trigger' });
		const { task_id: taskId, vendor_token: token, callback_url: callbackUrl } = json[0] as Record<string, string>;
		const staticData = JSON.parse(JSON.stringify(workflow.staticData)) as StaticData;
		return { taskId, token, url: `${new URL(callbackUrl).pathname}${new URL(callbackUrl).search}`, staticData };
	}

	test('Avatar Trigger proves the outcome by a lookup and emits the group with the reference, once', async () => {
		const { taskId, token, url, staticData } = await createSession();
		sandbox.verify(taskId);
		const first = await call(`${url}&resultCode=10000&vendorToken=${token}`, staticData);
		expect(first.items).toEqual([
			{
				json: {
					confirmed: true,
					verified: true,
					group_id: expect.stringMatching(/^rg_/),
					task_id: taskId,
					vendor_token: token,
					verify_status: 'verified',
					result_code: '10000',
					reference: 'customer 42',
				},
			},
		]);
		expect(lookups()).toHaveLength(1);
		for (let repeat = 0; repeat < 3; repeat++) {
			const again = await call(`${url}&resultCode=10000&vendorToken=${token}`, staticData);
			expect(again.items).toBeUndefined();
			expect(again.html).toContain('You are verified');
		}
	});

	test('Avatar Trigger tells an outcome once, also after a restart', async () => {
		const { taskId, token, url, staticData } = await createSession();
		sandbox.verify(taskId);
		await call(`${url}&resultCode=10000&vendorToken=${token}`, staticData);
		await jest.isolateModulesAsync(async () => {
			const { callWebhook: callAfterRestart } = await import('../support/triggers.mts');
			const again = await callAfterRestart(
				'avatarVerificationTrigger',
				sandbox,
				`${url}&resultCode=10000&vendorToken=${token}`,
				{ staticData },
			);
			expect(again.items).toBeUndefined();
		});
	});

	test('a callback that was told as not verified is told once after a restart, too, and again when it is verified', async () => {
		const { taskId, token, url, staticData } = await createSession();
		const address = `${url}&resultCode=10000&vendorToken=${token}`;
		expect((await call(address, staticData)).items).toHaveLength(1);
		await jest.isolateModulesAsync(async () => {
			const { callWebhook: callAfterRestart } = await import('../support/triggers.mts');
			const again = async () => await callAfterRestart('avatarVerificationTrigger', sandbox, address, { staticData });
			expect((await again()).items).toBeUndefined();
			sandbox.verify(taskId);
			expect((await again()).items?.[0].json).toMatchObject({ verified: true });
			expect((await again()).items).toBeUndefined();
		});
	});

	test.each([
		['a second ?', (url: string, token: string) => `${url}?resultCode=10000&vendorToken=${token}`],
		['names in other cases', (url: string, token: string) => `${url}&RESULTCODE=10000&vendortoken=${token}`],
		['names with underscores', (url: string, token: string) => `${url}&result_code=10000&vendor_token=${token}`],
	])('Avatar Trigger reads a callback with %s', async (_title, append) => {
		const { taskId, token, url, staticData } = await createSession();
		sandbox.verify(taskId);
		const { items } = await call(append(url, token), staticData);
		expect(items?.[0].json).toMatchObject({ verified: true, reference: 'customer 42', result_code: '10000' });
	});

	test('what the callback says is never trusted', async () => {
		const { token, url, staticData } = await createSession();
		sandbox.faults.add({ on: 'avatar', do: { status: 200, body: { verify_status: 'failed' } } });
		const { items, html } = await call(
			`${url}&resultCode=10000&vendorToken=${token}&verified=true&group_id=rg_1`,
			staticData,
		);
		expect(items?.[0].json).toMatchObject({ confirmed: true, verified: false, verify_status: 'failed' });
		for (const name of ['group_id', 'result_code', 'result_code_unconfirmed'])
			expect(items?.[0].json).not.toHaveProperty(name);
		expect(html).toContain('Not verified');
	});

	test('a verification of another workflow, or of a manual run, is emitted as unconfirmed, ready for Get Result, without a lookup', async () => {
		const { items, html } = await call(`${PATH}?reference=x&resultCode=10000&vendorToken=vt_other_${Date.now()}`);
		expect(items?.[0].json).toMatchObject({
			confirmed: false,
			verified: false,
			result_code_unconfirmed: '10000',
			reference_unconfirmed: 'x',
		});
		for (const name of ['reference', 'result_code']) expect(items?.[0].json).not.toHaveProperty(name);
		expect(lookups()).toHaveLength(0);
		expect(html).toContain('Thank you');
	});

	test.each([
		['another one', (search: string) => search.replace('customer+42', 'somebody+else')],
		['none', () => '?'],
		['two of them', (search: string) => `?reference=somebody+else&${search.slice(1)}`],
	])('the reference is the one that Create was given, also where the browser brings %s', async (_title, change) => {
		const { taskId, token, url, staticData } = await createSession();
		sandbox.verify(taskId);
		const [path, search] = [PATH, url.slice(PATH.length)];
		const { items } = await call(`${path}${change(search)}&resultCode=10000&vendorToken=${token}`, staticData);
		expect(items?.[0].json).toMatchObject({ confirmed: true, verified: true, reference: 'customer 42' });
		expect(items?.[0].json).not.toHaveProperty('reference_unconfirmed');
	});

	test('Avatar Trigger forgets a token after an hour', async () => {
		const { taskId, token, url, staticData } = await createSession();
		sandbox.verify(taskId);
		const verifications = staticData.global.generationGatewayVerifications as Record<string, { atMs: number }>;
		verifications[token].atMs -= 3_600_001;
		const { items } = await call(`${url}&resultCode=10000&vendorToken=${token}`, staticData);
		expect(items?.[0].json).toMatchObject({ confirmed: false, verified: false });
	});

	test.each([
		['of 12,000 characters', 'x'.repeat(12_000), 'x'.repeat(12_000)],
		['with a + as it is', 'a+b/c=', 'a+b/c='],
		['with a space that came as +', 'a b', 'a+b'],
		['with a + that came encoded', 'c+d', 'c%2Bd'],
	])('a vendor token %s is found', async (_title, vendorToken, inAddress) => {
		const taskId = `rav_${vendorToken.length}`;
		const sandboxAnswers = (body: object) => sandbox.faults.add({ on: 'avatar', do: { status: 200, body } });
		sandboxAnswers({ task_id: taskId, status: 'completed' });
		sandboxAnswers({ task_id: taskId, h5_link: 'https://example.com/h5', vendor_token: vendorToken });
		const { url, staticData } = await createSession();
		sandboxAnswers({ verify_status: 'verified', group_id: 'rg_1' });
		const { items, html, httpStatus } = await call(`${url}&resultCode=10000&vendorToken=${inAddress}`, staticData);
		expect(items?.[0].json).toMatchObject({
			confirmed: true,
			verified: true,
			task_id: taskId,
			vendor_token: vendorToken,
		});
		expect(new URL(lookups()[0].path, 'http://x').searchParams.get('vendor_token')).toBe(vendorToken);
		expect([httpStatus, html.includes('You are verified')]).toEqual([200, true]);
	});

	test('a flood of 200 callbacks at once makes one item and one lookup', async () => {
		const { taskId, token, url, staticData } = await createSession();
		sandbox.verify(taskId);
		const calls = await Promise.all(
			Array.from({ length: 200 }, async () => await call(`${url}&resultCode=10000&vendorToken=${token}`, staticData)),
		);
		expect(calls.flatMap(({ items }) => items ?? [])).toHaveLength(1);
		expect(new Set(calls.map(({ httpStatus }) => httpStatus))).toEqual(new Set([200]));
		expect(lookups()).toHaveLength(1);
	});

	test('a person whose verification has failed cannot ask the service through the account without end', async () => {
		const { taskId, token, url, staticData } = await createSession();
		sandbox.verify(taskId, 'fail');
		const htmls = [];
		for (let repeat = 0; repeat < 10; repeat++)
			htmls.push((await call(`${url}&resultCode=1&vendorToken=${token}`, staticData)).html);
		expect(lookups()).toHaveLength(5);
		expect([htmls[4], htmls[5]]).toEqual([
			expect.stringContaining('Not verified'),
			expect.stringContaining('Open this page again in a minute'),
		]);
	});
});
