/** Two readings of the contract check each other, as in agreement.test.ts, for what is no generation: tokens and assets. */
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { readPropertySettings } from '../support/propertySettings.mts';
import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

const { seed, runs = 100, path } = readPropertySettings('account agreement');
const settings = { seed, numRuns: runs, path };
/** Of random forms, one in five must be sent at least: otherwise the test says nothing. */
const enough = path === undefined ? runs / 5 : 0;

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

/** What the node has sent for this form, and the sandbox has taken; undefined where the node refuses the form. */
async function sent(kind: 'token' | 'avatar', form: IDataObject): Promise<unknown> {
	sandbox.requests.length = 0;
	const { error } = await runGateway(kind, sandbox, form, { credential: { advanced: true, requestsPerSecond: 1_000 } });
	const post = sandbox.requests.find(({ method }) => method === 'POST');
	if (post === undefined) expect(error?.description).toMatch(/Nothing was sent/);
	else expect({ body: post.body, said: error?.description }).toEqual({ body: post.body, said: undefined });
	return post?.body;
}

const mostly = <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>) =>
	fc.oneof({ weight: 9, arbitrary: good }, { weight: 1, arbitrary: bad });

describe('tokens (contract 4.3)', () => {
	const seconds = fc.oneof(fc.constantFrom(-1, 0, -5, 1_000_000_000), fc.integer());
	const credits = fc.double({ min: 0, max: 1_000, noNaN: true, noDefaultInfinity: true });
	const models = fc.constantFrom('gamma-image-2', 'a, b', 'a,,b', ' ', '', 'beta-v3,gamma-image-2');
	const legal = {
		expired_time: seconds,
		remain_quota: fc.integer({ min: 0, max: 1_000_000 }),
		remain_credits: credits,
		daily_credits: credits,
		monthly_credits: credits,
		unlimited_quota: fc.boolean(),
		model_limits_enabled: fc.boolean(),
		model_limits: models,
		group: fc.string(),
	};
	const named = fc
		.string({ unit: 'grapheme', minLength: 1, maxLength: 50 })
		.filter((text) => text.trim() !== '' && [...text].length <= 50);
	const create = async (form: IDataObject, additionalFields: object) => {
		const options = { ...(form.options as object), additionalFields: JSON.stringify(additionalFields) };
		return await sent('token', { operation: 'create', quota: 'limited', ...form, options });
	};

	test('whatever the contract allows, except negative amounts, can be sent in Additional Fields, and the sandbox takes it', async () => {
		await fc.assert(
			fc.asyncProperty(named, fc.record(legal, { requiredKeys: [] }), async (name, fields) => {
				const body = await create({ name: 'Nightly', quota: 'unlimited' }, { ...fields, name });
				// A list of models has no effect without its switch (contract 4.3).
				const enabled = fields.model_limits ? { model_limits_enabled: true } : {};
				expect(body).toEqual({ name, expired_time: -1, unlimited_quota: true, ...enabled, ...fields });
			}),
			settings,
		);
	});

	test('the sandbox takes every token that the node lets through', async () => {
		const odd = fc.oneof(
			seconds,
			credits,
			models,
			fc.constantFrom<unknown>('5', null, [], {}, true, 0.5, 1_893_456_000_000),
		);
		const oddFields = fc.dictionary(fc.constantFrom(...Object.keys(legal), 'name', 'more'), odd, { maxKeys: 2 });
		const amount = mostly<unknown>(fc.integer({ min: 0, max: 1_000 }), odd);
		const anyForm = fc.record({
			name: mostly(named, fc.constantFrom('', ' ', 'x'.repeat(51))),
			expiresAt: mostly<unknown>(
				fc.integer({ min: 2e12, max: 9e12 }).map((atMs) => new Date(atMs).toISOString()),
				odd,
			),
			quota: fc.constantFrom('limited', 'unlimited'),
			unit: mostly(fc.constantFrom('credits', 'usd'), fc.constant('internalUnits')),
			amount,
			allowedModels: fc.array(mostly(fc.constant('gamma-image-2'), models), { minLength: 1, maxLength: 2 }),
			options: fc.record({ dailyLimit: amount, monthlyLimit: amount }, { requiredKeys: [] }),
		});
		/** As expressions, which give any value. */
		const given = (form: object) =>
			Object.fromEntries(Object.entries(form).map(([name, value]) => [name, `={{ ${JSON.stringify(value)} }}`]));
		let count = 0;
		await fc.assert(
			fc.asyncProperty(anyForm, mostly(fc.constant({}), oddFields), async ({ options, ...form }, fields) => {
				if ((await create({ ...given(form), options: given(options) }, fields)) !== undefined) count += 1;
			}),
			settings,
		);
		expect(count).toBeGreaterThan(enough);
	});
});

test('the sandbox takes every asset that the node lets through (contract 4.6)', async () => {
	const { json } = await runGateway('avatar', sandbox, { resource: 'group', operation: 'create', groupName: 'a' });
	const [groupId, sourceUrl] = [String(json[0]?.group_id), 'https://example.com/face.png'];
	const value = fc.constantFrom<unknown>(
		null,
		'image',
		'audio',
		'text',
		'',
		5,
		sourceUrl,
		'ftp://a',
		'data:x',
		groupId,
	);
	const additional = fc.dictionary(fc.constantFrom('asset_type', 'source_url', 'tag', 'name'), value, { maxKeys: 3 });
	const form = {
		resource: 'asset',
		operation: 'upload',
		avatarKind: 'private',
		assetType: 'image',
		groupId,
		sourceUrl,
	};
	let count = 0;
	await fc.assert(
		fc.asyncProperty(additional, async (fields) => {
			const options = { additionalFields: JSON.stringify(fields) };
			if ((await sent('avatar', { ...form, waitForActive: false, options })) !== undefined) count += 1;
		}),
		settings,
	);
	expect(count).toBeGreaterThan(enough);
});
