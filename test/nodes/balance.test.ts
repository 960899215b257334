import type { IDataObject } from 'n8n-workflow';
import { quickSandbox, runGateway, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ balanceUsd: 2.5 });
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const account = { operation: 'getAccountBalance' };
const apiKey = { operation: 'getApiKeyBalance' };
const run = async (parameters: IDataObject, options: RunOptions = {}) =>
	await runGateway('balance', sandbox, parameters, options);

describe('Balance', () => {
	test('Balance gives every field as it comes, and what is left in USD', async () => {
		const { json } = await run(account);
		expect(json[0]).toMatchObject({
			remain_credits: 500,
			used_credits: 0,
			credits_per_usd: 200,
			unlimited_quota: false,
			remain_usd: 2.5,
		});
		expect(Object.keys(json[0]).slice(0, 2)).toEqual(['remain_credits', 'remain_usd']);
	});

	test('of an account without a limit -1 stays -1, USD is empty, and no guard stops it', async () => {
		for (const user of sandbox.users) user.unlimited = true;
		const { json } = await run(account);
		expect(json[0]).toMatchObject({ remain_balance: -1, unlimited_quota: true, remain_usd: null });
		expect((await run({ ...account, stopIfBelow: '1000000' })).json).toEqual([{}]);
		for (const user of sandbox.users) user.unlimited = false;
	});

	test('the balance of an API key begins with its credits, and with what they are in USD', async () => {
		const { json } = await run(apiKey);
		expect(sandbox.requests[0].path).toBe('/v1/balance');
		expect(Object.keys(json[0]).slice(0, 2)).toEqual(['remain_credits', 'remain_usd']);
		expect(json[0].remain_usd).toBe(Number(json[0].remain_credits) / 200);
	});

	test.each([account, apiKey])('the balance is read once for all items: %j', async (form) => {
		const { items } = await run(form, { items: [{ json: {} }, { json: {} }] });
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
		expect(sandbox.requests).toHaveLength(1);
	});
});

describe('Stop If Below', () => {
	test.each<[IDataObject, string | undefined]>([
		[{ stopIfBelow: '2.5' }, undefined],
		[{ stopIfBelow: '={{ 2.5 }}', unit: 'usd' }, undefined],
		[{ stopIfBelow: '0' }, undefined],
		[{ stopIfBelow: '500', unit: 'credits' }, undefined],
		[{ stopIfBelow: '5' }, 'Only 2.5 USD are left, but Stop If Below is 5 USD'],
		[{ stopIfBelow: '500.5', unit: 'credits' }, 'Only 500 credits are left, but Stop If Below is 500.5 credits'],
	])('of 2.5 USD, a guard of %j lets the item through, or says: %s', async (guard, says) => {
		const { json, error } = await run({ ...account, ...guard }, { items: [{ json: { prompt: 'a' } }] });
		expect([json, error?.message]).toEqual(says === undefined ? [[{ prompt: 'a' }], undefined] : [[], says]);
	});

	test.each(['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const)(
		'items and their files pass through as they are, or each fails with its own fields, with On Error %s',
		async (onError) => {
			const binary = { data: { data: 'YQ==', mimeType: 'image/png', fileName: 'a.png' } };
			const items = [{ json: { prompt: 'a', error: 'of its own' }, binary }, { json: { prompt: 'b' } }];
			const made = async (stopIfBelow: string) => {
				const { task } = await run({ ...account, stopIfBelow }, { items, settings: { onError } });
				return (task?.data?.main ?? []).flatMap((output) => output ?? []);
			};
			expect((await made('1')).map(({ json, binary: files }) => [json, files])).toEqual([
				[items[0]?.json, binary],
				[items[1]?.json, undefined],
			]);
			expect(sandbox.requests).toHaveLength(1);
			const failed = await made('5');
			if (onError === 'stopWorkflow') return expect(failed).toEqual([]);
			const codeOf = ({ code, details }: IDataObject) => code ?? (details as IDataObject).code;
			expect(failed.map(({ json, binary: files }) => [json.prompt, codeOf(json), files])).toEqual([
				['a', 'credits_below_limit', binary],
				['b', 'credits_below_limit', undefined],
			]);
		},
	);

	test('the error of an earlier node is no error of this one: its item leaves by the output for successes', async () => {
		const items = [
			{ json: { error: 'of another node', message: 'no', details: { code: 'a' } } },
			{ json: { error: 'b', of: 1 } },
		];
		const { task } = await run(
			{ ...account, stopIfBelow: '1' },
			{ items, settings: { onError: 'continueErrorOutput' } },
		);
		expect(task?.data?.main?.map((output) => output?.map(({ json }) => json))).toEqual([
			[{}, { error: 'b', of: 1 }],
			[],
		]);
	});

	test.each(['Stop If Below', 'Unit'])(
		'nothing is asked where there is no amount: a %s that is empty',
		async (label) => {
			const form = label === 'Unit' ? { stopIfBelow: '', unit: 'eur' } : { stopIfBelow: '' };
			expect((await run({ ...account, ...form })).json[0]).toMatchObject({ remain_credits: 500 });
		},
	);
});

describe('bad input', () => {
	const below = 'Stop If Below';
	test.each<[IDataObject, string]>([
		[{ stopIfBelow: '={{ -1 }}' }, `${below} is -1: it must be a number, 0 or more`],
		[{ stopIfBelow: 'abc' }, `${below} is "abc": it must be a number, 0 or more`],
		[{ stopIfBelow: ' ' }, `${below} is " ": it must be a number, 0 or more`],
		[{ stopIfBelow: '1e999' }, `${below} is "1e999": it must be a number, 0 or more`],
		[{ stopIfBelow: '={{ true }}' }, `${below} is true: it must be a number, 0 or more`],
		[{ stopIfBelow: '={{ [1] }}' }, `${below} is [1]: it must be a number, 0 or more`],
		[{ stopIfBelow: '{{ $json.least }}' }, `${below} contains {{ … }} as text, which n8n does not evaluate`],
		...['{{ undefined }}', '{{ null }}', '{{ "" }}', '{{ $json.none }}'].map((expression): [IDataObject, string] => [
			{ stopIfBelow: `=${expression}` },
			`${below} is empty: its expression returned nothing for this item`,
		]),
		[
			{ stopIfBelow: '={{ $itemIndex ? undefined : 1 }}' },
			`${below} is empty: its expression returned nothing for this item`,
		],
		[{ stopIfBelow: '1', unit: 'eur' }, 'Unit is "eur": it must be usd or credits'],
		[{ stopIfBelow: '1', unit: '={{ 5 }}' }, 'Unit is 5: it must be usd or credits'],
		[{ stopIfBelow: '1', unit: '={{ "" }}' }, 'Unit is empty: its expression returned nothing for this item'],
		[{ stopIfBelow: '1', unit: '={{ undefined }}' }, 'Unit is empty: its expression returned nothing for this item'],
	])('a guard of %j does not let everything pass: %s', async (guard, message) => {
		const { error } = await run({ ...account, ...guard }, { items: [{ json: {} }, { json: {} }] });
		expect(error?.message).toBe(message);
		expect(error?.description).toMatch(/Nothing was sent/);
		expect(sandbox.requests).toHaveLength(0);
	});
});
