/** Triggers where the service, or the credential, is in trouble: nothing is lost, and the person sees a page in time. */
import { logLines } from '../support/keySecrecy.mts';
import { hurry, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';
import { callWebhook, poll, type StaticData } from '../support/triggers.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

describe('Avatar Trigger', () => {
	/** The callback of a person who has passed, in the workflow that has created the verification. */
	async function verified() {
		const callbackUrl = 'https://n8n.example.com/webhook/1/avatar-verification';
		const create = { resource: 'verification', operation: 'create', callbackUrl };
		const { json, workflow } = await runGateway('avatar', sandbox, create, { mode: 'trigger' });
		const { task_id: taskId, vendor_token: token } = json[0] as Record<string, string>;
		sandbox.verify(taskId);
		const staticData = JSON.parse(JSON.stringify(workflow.staticData)) as StaticData;
		const url = `/webhook/1/avatar-verification?resultCode=10000&vendorToken=${token}`;
		return async (credential = {}) =>
			await callWebhook('avatarVerificationTrigger', sandbox, url, { staticData, credential });
	}

	test.each([
		['does not take the key', '401', /did not accept the API key/],
		['is not available', '503', /not available/],
		['does not answer', { delayMs: 60_000 }, /no answer within 10 seconds/],
	])(
		'while the service %s, the person sees a page within 15 seconds, and the workflow starts unconfirmed',
		async (_, fault, why) => {
			const callback = await verified();
			sandbox.faults.add({ on: 'avatar', times: -1, do: fault });
			const times = 4;
			hurry(times);
			const startedAtMs = performance.now();
			const { html, items } = await callback();
			expect((performance.now() - startedAtMs) * times).toBeLessThan(15_000);
			expect(html).toContain('Thank you');
			expect(items?.[0].json).toMatchObject({
				confirmed: false,
				verified: false,
				reason: expect.stringMatching(why) as string,
			});
			sandbox.faults.clear();
			expect((await callback()).items?.[0].json).toMatchObject({ confirmed: true, verified: true });
		},
	);

	test('a result that comes a moment after the browser is waited for', async () => {
		const callback = await verified();
		sandbox.faults.add({ on: 'avatar', times: 2, do: { status: 200, body: { verify_status: 'pending' } } });
		hurry(4);
		const { html, items } = await callback();
		expect(html).toContain('You are verified');
		expect(items?.[0].json).toMatchObject({ confirmed: true, verified: true });
	});

	test('of callbacks with unknown tokens 100 a minute start the workflow, and one line of the log tells of the others', async () => {
		const call = async (token: number) =>
			await callWebhook('avatarVerificationTrigger', sandbox, `/webhook/1/avatar-verification?vendorToken=${token}`);
		const calls = [];
		for (let token = 0; token < 130; token++) calls.push(await call(token));
		expect(calls.flatMap(({ items }) => items ?? [])).toHaveLength(100);
		expect(calls.at(-1)?.html).toContain('Open this page again in a minute');
		expect(logLines().filter((line) => line.includes('were ignored'))).toHaveLength(1);
	});
});

describe('Balance Trigger', () => {
	const form = { threshold: 1000, unit: 'credits' };

	test('what was told of one account says nothing of another one', async () => {
		sandbox.users[0].remainCredits = 500;
		const staticData: StaticData = {};
		const look = async () => await poll('balanceTrigger', sandbox, form, { staticData });
		expect([await look(), await look()]).toEqual([[expect.anything()], null]);
		staticData['node:Node'].account = 'the account of another credential';
		expect([await look(), await look()]).toEqual([[expect.anything()], null]);
	});

	test.each([
		['Threshold', { threshold: '={{ $vars.none }}' }],
		['Unit', { unit: '={{ $vars.none }}' }],
	])('an expression in %s that gives nothing is named, and nothing is sent', async (label, parameters) => {
		await expect(poll('balanceTrigger', sandbox, { ...form, ...parameters })).rejects.toThrow(
			`${label} is empty: its expression returned nothing for this item`,
		);
		expect(sandbox.requests).toEqual([]);
	});
});
