import { dailyLimitOption } from '../../nodes/Token/operations/create';
import { quickSandbox, runGateway, runToEnter, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const form = { operation: 'create', name: 'Nightly', quota: 'limited', amount: 100, unit: 'credits' };
const sent = () =>
	sandbox.requests.filter(({ path }) => path === '/v1/tokens').map(({ body }) => body as Record<string, unknown>);
const create = async (parameters: object, options = {}) =>
	await runGateway('token', sandbox, { ...form, ...parameters }, options);

describe('the request', () => {
	test('a date with a zone of its own, and one from an expression, are sent as the same time', async () => {
		await create({ expiresAt: '2099-01-01T00:00:00Z' });
		await create({ expiresAt: '={{ DateTime.fromISO("2099-01-01T00:00:00Z") }}' });
		expect(sent().map((body) => body.expired_time)).toEqual([4_070_908_800, 4_070_908_800]);
	});

	test('a token name may have 50 characters, whatever they take in bytes', async () => {
		await create({ name: '图'.repeat(50) });
		await create({ name: '🎬'.repeat(50) });
		expect(sent()).toHaveLength(2);
	});
});

test('the key comes out first, as it is used, then name, limit and expiry; the key authenticates', async () => {
	const { json, run } = await create({ allowedModels: { model: [{ id: 'gamma-image-2' }] } });
	expect(json[0]).toMatchObject({
		name: 'Nightly',
		remain_credits: 100,
		unlimited_quota: false,
		expires_at: null,
		model_limits_enabled: true,
		model_limits: 'gamma-image-2',
	});
	expect(Object.keys(json[0]).slice(0, 4)).toEqual(['api_key', 'name', 'remain_credits', 'expires_at']);
	expect(json[0].api_key).toMatch(/^sk-[^-]+$/);
	expect(JSON.stringify(run.data.resultData.runData.Node[0].hints)).toMatch(/only this once/);

	const credential = { apiKey: json[0].api_key };
	const allowed = await runGateway(
		'image',
		sandbox,
		{ prompt: 'a cat', options: { pollIntervalSeconds: 1 } },
		{ credential },
	);
	expect(allowed.json[0]).toMatchObject({ status: 'completed' });
	const refused = await runGateway('video', sandbox, { model: 'beta-v3', prompt: 'a cat' }, { credential });
	expect(refused.error?.message).toBe('The API key is not allowed to make this request');
	expect(refused.error?.description).not.toContain(String(json[0].api_key).slice(3));
});

test('the message about too few credits is true of a token at its daily limit, too', async () => {
	const { json } = await create({ quota: 'unlimited', options: { dailyLimit: 1 } });
	const { error } = await runGateway(
		'image',
		sandbox,
		{ prompt: 'a cat' },
		{ credential: { apiKey: json[0].api_key } },
	);
	expect(error?.message).toBe('There are not enough credits left for this request');
	expect(error?.description).toMatch(
		/The daily limit of this token does not cover this request.*If the API key has reached its own limit \(total, daily or monthly\)/,
	);
});

describe('bad input is named by its label, and nothing is sent', () => {
	const badAmounts = [
		['={{ -5 }}', '^… is -5: it must be a number, 0 or more'],
		['={{ "x" }}', '^… is "x": it must be a number, 0 or more'],
		['={{ true }}', '^… is "?true"?: it must be a number, 0 or more'],
		['={{ undefined }}', '^… is empty: its expression returned nothing'],
		['={{ "" }}', '^… is empty: its expression returned nothing'],
		['={{ null }}', '^… is empty: its expression returned nothing'],
	] as const;

	test.each<[string, object, RegExp]>([
		['a name of 51 characters', { name: 'a'.repeat(51) }, /^Name has 51 characters: at most 50 are allowed/],
		['no name', { name: ' ' }, /^Name is empty/],
		...['={{ undefined }}', '={{ "" }}', '={{ null }}'].flatMap(
			(expiresAt): Array<[string, object, RegExp]> => [
				[
					`an expression that gives no expiry, where the default would be never: ${expiresAt}`,
					{ expiresAt },
					/^Expires At is empty: its expression returned nothing/,
				],
			],
		),
		[
			'an expiry in the past',
			{ expiresAt: '2001-01-01T00:00:00' },
			/^Expires At is 2001-.*, which is not in the future/,
		],
		['an expiry that would be never', { expiresAt: '={{ -1 }}' }, /^Expires At is 1969-.*, which is not in the future/],
		['an expiry that is no date', { expiresAt: '={{ "soon" }}' }, /^Expires At is "soon", which is not a date/],
		['an expiry that is a switch', { expiresAt: '={{ true }}' }, /^Expires At is true, which is not a date/],
		...badAmounts.map(([amount, says]): [string, object, RegExp] => [
			`the amount ${amount}`,
			{ amount },
			new RegExp(says.replace('…', 'Amount')),
		]),
		...badAmounts.map(([monthlyLimit, says]): [string, object, RegExp] => [
			`the monthly limit ${monthlyLimit}`,
			{ quota: 'unlimited', options: { monthlyLimit } },
			new RegExp(says.replace('…', 'Monthly Limit')),
		]),
		[
			'a daily limit that was added by a click',
			{ options: { dailyLimit: dailyLimitOption.default } },
			/^Daily Limit is empty$/,
		],
		[
			'a unit that the form no longer has',
			{ unit: 'internalUnits' },
			/^Unit is "internalUnits": it must be usd or credits/,
		],
		[
			'an expression that gives no unit, where the default would be 200 times as much',
			{ unit: '={{ $json.none }}' },
			/^Unit is empty: its expression returned nothing/,
		],
		['a quota that there is not', { quota: 'none' }, /^Quota is "none": it must be/],
	])('bad input, %s, is named by its label, and nothing is sent', async (_title, parameters, message) => {
		const { error } = await create(parameters);
		expect(error?.message).toMatch(message);
		expect(error?.description).toMatch(/Nothing was sent/);
		expect(sandbox.requests).toHaveLength(0);
	});
});

describe('Allowed Models', () => {
	const known = (id: unknown) => ({ model: [{ id }] });
	const other = (customId: unknown) => ({ model: [{ id: 'custom', customId }] });

	test.each<[string, unknown, string | undefined]>([
		['no row', {}, undefined],
		['an empty list of rows', { model: [] }, undefined],
		[
			'known and other models, one of them twice and one with an ID that it had before',
			{ model: [{ id: 'beta-v3' }, { id: 'custom', customId: ' my-model ' }, { id: 'beta-v3', customId: 'before' }] },
			'beta-v3,my-model',
		],
		['a list from an expression as Model ID', other('={{ ["a", "b"] }}'), 'a,b'],
		['a list from an expression in place of the rows', '={{ ["beta-v3", "b"] }}', 'beta-v3,b'],
		['one ID from an expression in place of the rows', '={{ "b" }}', 'b'],
	])('%s limit the key to just these', async (_, allowedModels, limits) => {
		expect((await create({ allowedModels })).error).toBeUndefined();
		const { model_limits, model_limits_enabled } = sent()[0] ?? {};
		expect([model_limits, model_limits_enabled]).toEqual([limits, limits === undefined ? undefined : true]);
	});

	const lost = 'Allowed Models is empty: its expression returned nothing for this item';
	test.each<[unknown, string]>([
		[known('nope'), 'Allowed Models: Model 1 is "nope", which is not in the list'],
		[known('={{ undefined }}'), 'Allowed Models: Model 1 is empty: its expression returned nothing for this item'],
		[known('={{ "" }}'), 'Allowed Models: Model 1 is empty: its expression returned nothing for this item'],
		[other(''), 'Allowed Models: Model ID 1 is empty'],
		[other('={{ null }}'), 'Allowed Models: Model ID 1 is empty: its expression returned nothing for this item'],
		[other('={{ [] }}'), 'Allowed Models: Model ID 1 is empty: its expression returned nothing for this item'],
		[other('={{ ["x", ""] }}'), 'Allowed Models: Model ID 1 is empty: its expression returned nothing for this item'],
		[other('a,b'), 'Allowed Models: Model ID 1 contains "a,b", which is not a single model'],
		[other('={{ 5 }}'), 'Allowed Models: Model ID 1 contains 5, which is not a single model'],
		[other('{{ $json.id }}'), 'Allowed Models: Model ID 1 contains {{ … }} as text, which n8n does not evaluate'],
		...['undefined', 'null', '""', '[]', '({})'].map((nothing): [string, string] => [`={{ ${nothing} }}`, lost]),
		['={{ 5 }}', 'Allowed Models is 5, which is not a list of models'],
		['={{ [{ foo: 1 }] }}', 'Allowed Models is {"foo":1}, which is not a list of models'],
		['={{ JSON.stringify(["a"]) }}', 'Allowed Models: Model 1 contains "["a"]", which is not a single model'],
	])('%j is no list of models: such a key could use all of them', async (allowedModels, message) => {
		const { error } = await create({ allowedModels });
		expect(error?.message).toBe(message);
		expect(error?.description).toMatch(/Nothing was sent/);
		expect(sandbox.requests).toHaveLength(0);
	});
});

test('without an amount, n8n does not start the node: no key that cannot spend is created by one click', async () => {
	await expect(runGateway('token', sandbox, { operation: 'create', name: 'Nightly' })).rejects.toThrow(
		/"Amount" is required/,
	);
	expect(sandbox.requests).toHaveLength(0);
});

describe('Additional Fields are checked as they are sent, and named as the form names them', () => {
	test.each<[object, RegExp]>([
		[{ name: 'a'.repeat(51) }, /^Name has 51 characters/],
		[{ expired_time: 1893456000.5 }, /^Expires At is 1893456000.5, which is not a time in Unix seconds/],
		[{ expired_time: 1893456000000 }, /^Expires At is 1893456000000, which is not a time in Unix seconds/],
		[{ unlimited_quota: 'yes' }, /^Quota is "yes": it must be true or false/],
		[{ remain_credits: null, remain_quota: 0.5 }, /^remain_quota is 0.5: internal units are whole numbers/],
		[{ remain_quota: 100_000 }, /^remain_quota and Amount are both given: the service would use Amount only/],
		[{ monthly_credits: '5' }, /^Monthly Limit is "5": it must be a number, 0 or more/],
		[{ group: 5 }, /^group is 5, which is not text/],
		[{ model_limits_enabled: 1 }, /^model_limits_enabled is 1: it must be true or false/],
		[{ model_limits: ['gamma-image-2'] }, /^Allowed Models is \["gamma-image-2"\], which is not text/],
	])(
		'Additional Fields with %j are refused as the form names them, and nothing is sent',
		async (additionalFields, message) => {
			const { error } = await create({ options: { additionalFields } });
			expect(error?.message).toMatch(message);
			expect(error?.description).toMatch(/Nothing was sent/);
			expect(sandbox.requests).toHaveLength(0);
		},
	);

	test('null in Additional Fields takes a field out, which is left to the service then; only a name is needed', async () => {
		const { error } = await create({
			options: { additionalFields: { expired_time: null, unlimited_quota: null, remain_credits: null } },
		});
		expect(error).toBeUndefined();
		expect(sent()).toEqual([{ name: 'Nightly' }]);
		expect((await create({ options: { additionalFields: { name: null } } })).error?.message).toBe('Name is empty');
	});

	test.each([{ remain_quota: -1 }, { remain_credits: -0.5 }, { daily_credits: -1 }, { monthly_credits: -1 }])(
		'the contract sets no bound of amounts, so Additional Fields send %j, and the form refuses it',
		async (given) => {
			const additionalFields = { remain_credits: null, ...given };
			expect((await create({ options: { additionalFields } })).error).toBeUndefined();
			expect(sent()[0]).toMatchObject(given);
			const inForm = { amount: -1, options: { dailyLimit: -1, monthlyLimit: -1 } };
			expect((await create(inForm)).error?.message).toMatch(/^Amount is -1: it must be a number, 0 or more/);
			expect(sent()).toHaveLength(1);
		},
	);

	test.each<[object, object]>([
		[{ model_limits: 'beta-v3' }, { model_limits: 'beta-v3', model_limits_enabled: true }],
		[{ model_limits: 'beta-v3', model_limits_enabled: true }, { model_limits_enabled: true }],
		[{ model_limits: 'beta-v3', model_limits_enabled: false }, { model_limits_enabled: false }],
	])('a list of models limits the key, unless Additional Fields say that it does not: %j', async (given, body) => {
		const { json } = await create({ options: { additionalFields: given } });
		expect(sent()[0]).toMatchObject(body);
		const { model_limits_enabled: isOn = false } = body as { model_limits_enabled?: boolean };
		expect(sent()[0]?.model_limits_enabled ?? false).toBe(isOn);
		expect(json[0]?.model_limits_enabled).toBe(isOn);
	});
});

test.each([
	['nothing', { amount: 0 }, { remain_credits: 0 }],
	[
		'no internal units',
		{ options: { additionalFields: { remain_credits: null, remain_quota: 0 } } },
		{ remain_quota: 0 },
	],
	[
		'nothing, said in Additional Fields',
		{ options: { additionalFields: { remain_credits: 0 } } },
		{ remain_credits: 0 },
	],
])(
	'a limited token with %s is the default of the service: it is created, and a hint says so',
	async (_title, parameters, body) => {
		const { json, task } = await create(parameters);
		expect(sent()[0]).toMatchObject(body);
		expect(json[0]).toMatchObject({ remain_credits: 0, unlimited_quota: false });
		expect(JSON.stringify(task?.hints)).toContain('This API key cannot spend anything');
	},
);

test.each([['={{ 4070908800 }}'], ['={{ 4070908800000 }}']])('Expires At takes Unix seconds: %s', async (expiresAt) => {
	const { error } = await create({ expiresAt });
	expect(error).toBeUndefined();
	expect(sent().map((body) => body.expired_time)).toEqual([4_070_908_800]);
});

describe('what the service says', () => {
	test('令牌名称过长 is explained, and quoted', async () => {
		sandbox.faults.add({ on: 'token', do: { status: 200, body: { success: false, message: '令牌名称过长' } } });
		const { error } = await create({});
		expect(error?.message).toBe('The name of the API key is too long');
		expect(error?.description).toMatch(/at most 50 characters.*令牌名称过长/);
	});

	test.each([
		['生成令牌失败', { status: 200, body: { success: false, message: '生成令牌失败' } }],
		['an answer that got lost after the token was created', '504!after'],
		['a connection that broke', 'reset!after'],
		[
			'half an answer',
			{ when: 'after' as const, status: 200, body: { success: true, data: { id: 7, name: 'Nightly' } } },
		],
	])('after %s the outcome is unknown, and a retry does not create the token again', async (_title, fault) => {
		sandbox.faults.add({ on: 'token', do: fault });
		const { error } = await create({}, { settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 } });
		expect(error?.message).toBe('The service may or may not have accepted this API key in an earlier try');
		expect(error?.description).toMatch(/enter \S+ as Submit Again for Run/);
		expect(sent()).toHaveLength(1);
	});
});

test('a second try hands out the keys of the first, and creates only what is missing', async () => {
	sandbox.faults.add({ on: 'token', skip: 1, do: '400' });
	const items = [{ json: { name: 'first' } }, { json: { name: 'second' } }];
	const { json, error } = await create(
		{ name: '={{ $json.name }}' },
		{ items, settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 } },
	);
	expect(error).toBeUndefined();
	expect(json.map(({ name }) => name)).toEqual(['first', 'second']);
	expect(
		sent()
			.map(({ name }) => name)
			.sort(),
	).toEqual(['first', 'second', 'second']);
});

describe('with Simplify off', () => {
	test.each([
		['wrapped', (record: object) => ({ success: true, message: '', tier: 2, data: record })],
		['flat', (record: object) => ({ success: true, message: '', tier: 2, ...record })],
	])('with Simplify off, everything that the service answers comes out: %s', async (_title, wrap) => {
		const record = { id: 7, key: 'k'.repeat(48), name: 'Nightly', owner_note: 'x', error: { code: 1 } };
		const answer = wrap(record);
		sandbox.faults.add({ on: 'token', times: 2, do: { status: 200, body: answer } });
		const simple = await create({});
		const raw = await create({ options: { simplify: false } });
		const shown = { api_key: `sk-${record.key}`, name: 'Nightly', id: 7 };
		expect(simple.json).toEqual([shown]);
		expect(raw.json).toEqual([{ ...shown, record: answer }]);
	});
});

test('an API key that n8n has lost in a restart is created again for the run that the error names, and once', async () => {
	const items = [{ json: { name: 'first' } }, { json: { name: 'refused' } }];
	const retries = { count: 0 };
	type Ended = Awaited<ReturnType<typeof create>>;
	/** n8n keeps what the node remembers, and not the text of a key. */
	const retried = async ({ run }: Ended, submitAgainForRun = '') => {
		const contextData = structuredClone(run.data.executionData?.contextData) as never;
		const kept = { executionId: `retry-${++retries.count}`, contextData };
		return await create({ name: '={{ $json.name }}', options: { submitAgainForRun } }, { items, kept });
	};
	sandbox.faults.add({ on: 'token', skip: 1, do: '400' });
	const first = await create({ name: '={{ $json.name }}' }, { items });
	expect(first.error?.message).toBe('The service did not accept the request');
	const gone = await retried(first);
	expect(gone.error?.message).toBe('The API key "first" was created in an earlier try, and shown only then');
	expect(runToEnter(gone.error)).toBe('retry-1.0');
	expect((await retried(gone, 'retry-0.0')).error?.description).toMatch(/for Run has retry-0\.0, which is another run/);
	const names = () => sent().map(({ name }) => name);
	const before = names();
	const again = await retried(gone, 'retry-1.0');
	expect(again.json.map(({ name }) => name)).toEqual(['first', 'refused']);
	expect(again.json[0]).not.toHaveProperty('earlier_task_ids');
	expect(names().slice(before.length)).toContain('first');
	expect((await retried(again, 'retry-1.0')).error).toBeUndefined();
});
