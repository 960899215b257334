import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ balanceUsd: 2.5 });
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const user = { operation: 'getUserBalance' };

describe('Balance', () => {
	test('Balance gives every field as it comes, and what is left in USD', async () => {
		const { json } = await runGateway('balance', sandbox, user);
		expect(json[0]).toMatchObject({
			remain_credits: 500,
			used_credits: 0,
			credits_per_usd: 200,
			unlimited_quota: false,
			remain_usd: 2.5,
		});
		expect(Object.keys(json[0]).slice(0, 2)).toEqual(['remain_credits', 'remain_usd']);
		expect(json[0].balance_unit).toBe('USD, CNY or tokens, as the service is configured');
	});

	test('of an account without a limit -1 stays -1, USD is empty, and no guard stops it', async () => {
		for (const account of sandbox.users) account.unlimited = true;
		const { json } = await runGateway('balance', sandbox, { ...user, options: { stopBelowCredits: 1e9 } });
		expect(json[0]).toMatchObject({ remain_balance: -1, unlimited_quota: true, remain_usd: null });
		for (const account of sandbox.users) account.unlimited = false;
	});

	test.each([
		[500, false],
		[500.5, true],
	])('Stop Below %d credits ends the run with 500 left: %s', async (stopBelowCredits, stops) => {
		const { json, error } = await runGateway('balance', sandbox, { ...user, options: { stopBelowCredits } });
		expect(json).toHaveLength(stops ? 0 : 1);
		expect(error?.message).toBe(stops ? 'Only 500 credits are left, but Stop If Below (Credits) is 500.5' : undefined);
	});

	test('the balance is read once for all items, which can be passed through', async () => {
		const items = [{ json: { prompt: 'a' } }, { json: { prompt: 'b' } }];
		const { json, items: output } = await runGateway(
			'balance',
			sandbox,
			{ ...user, options: { includeInputFields: true } },
			{ items },
		);
		expect(json.map(({ prompt }) => prompt)).toEqual(['a', 'b']);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
		expect(sandbox.requests).toHaveLength(1);
	});

	test.each(['getUserBalance', 'getTokenBalance'])(
		'the files of the items pass through %s with their fields, also where it fails',
		async (operation) => {
			const binary = { data: { data: 'YQ==', mimeType: 'image/png', fileName: 'a.png' } };
			const items = [{ json: { prompt: 'a' }, binary }, { json: { prompt: 'b' } }];
			const passesOn = async (includeInputFields: boolean, more: object = {}) => {
				const form = { operation, options: { includeInputFields } };
				const { task } = await runGateway('balance', sandbox, form, { items, ...more });
				return (task?.data?.main ?? []).flatMap((output) => output ?? []).map((item) => item.binary);
			};
			expect(await passesOn(true)).toEqual([binary, undefined]);
			expect(await passesOn(false)).toEqual([undefined, undefined]);
			const credential = { apiKey: 'sk-not-a-key-of-the-sandbox' };
			for (const onError of ['continueRegularOutput', 'continueErrorOutput'] as const)
				expect(await passesOn(true, { credential, settings: { onError } })).toEqual([binary, undefined]);
		},
	);

	test('the balance of an API key begins with its credits, and with what they are in USD', async () => {
		const { json } = await runGateway('balance', sandbox, { operation: 'getTokenBalance' });
		expect(sandbox.requests[0].path).toBe('/v1/balance');
		expect(Object.keys(json[0]).slice(0, 2)).toEqual(['remain_credits', 'remain_usd']);
		expect(json[0].remain_usd).toBe(Number(json[0].remain_credits) / 200);
	});

	test.each([
		['={{ null }}', 'The expression in Stop If Below (Credits) gave nothing for this item'],
		['={{ "" }}', 'The expression in Stop If Below (Credits) gave nothing for this item'],
		['={{ $json.nothing }}', 'The expression in Stop If Below (Credits) gave nothing for this item'],
		['', 'Stop If Below (Credits) is empty'],
	])('Stop Below %j does not let everything pass', async (stopBelowCredits, message) => {
		const { error } = await runGateway('balance', sandbox, { ...user, options: { stopBelowCredits } });
		expect(error?.message).toBe(message);
		expect(sandbox.requests).toHaveLength(0);
	});

	test.each([['abc'], [-1]])('Stop If Below %j is named and nothing is sent', async (value) => {
		const { error } = await runGateway('balance', sandbox, {
			...user,
			options: { stopBelowCredits: `={{ ${JSON.stringify(value)} }}` },
		});
		expect(error?.message).toMatch(/^Stop If Below \(Credits\) is/);
		expect(sandbox.requests).toHaveLength(0);
	});
});
