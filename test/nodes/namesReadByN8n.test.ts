/**
 * n8n reads some names in the JSON of an item as its own report about the node: it runs the node again, sends the item to
 * the error branch, or replaces it by a message. A record of the service may have fields of these names.
 */
import type { IDataObject } from 'n8n-workflow';
import { quickSandbox, runGateway, type Kind, type Sandbox } from '../support/nodes.mts';
import { poll } from '../support/triggers.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const NAMES: IDataObject = { error: 'none', message: 'ok', details: 'x', $error: { message: 'y' }, $json: { a: 1 } };
const WHERE = ['success', 'data', ''] as const;

/** Its own fields at the level of the answer, or in `data`. */
function answerWith(record: IDataObject, where: (typeof WHERE)[number]): IDataObject {
	if (where === 'success') return { success: true, data: record, ...NAMES };
	return where === 'data' ? { success: true, data: { ...record, ...NAMES } } : { ...record, ...NAMES };
}

const token = { id: 7, key: 'k'.repeat(48), name: 'Nightly' };
const verification = { h5_link: 'https://example.com/h5', vendor_token: 'vt_1', task_id: 'rav_1' };
const operations: Array<[string, Kind, IDataObject, IDataObject, IDataObject]> = [
	[
		'token',
		'token',
		{ operation: 'create', name: 'Nightly', quota: 'unlimited' },
		token,
		{ api_key: `sk-${token.key}`, name: 'Nightly' },
	],
	['user balance', 'balance', { operation: 'getAccountBalance' }, { remain_credits: 5 }, {}],
	['token balance', 'balance', { operation: 'getApiKeyBalance' }, { remain_credits: 5 }, {}],
	[
		'image task',
		'image',
		{ operation: 'getResult', wait: 'dontWait', result: 'urlOnly', taskId: 'a' },
		{ id: 'a', status: 'queued' },
		{ status: 'queued' },
	],
	['group', 'avatar', { resource: 'group', operation: 'create' }, { group_id: 'pg_1' }, { group_id: 'pg_1' }],
	[
		'asset',
		'avatar',
		{ resource: 'asset', operation: 'get', assetId: 'pa_1', waitForActive: false },
		{ asset_id: 'pa_1', status: 'active' },
		{ status: 'active' },
	],
	[
		'verification',
		'avatar',
		{ resource: 'verification', operation: 'get', verificationId: 'rav_1' },
		verification,
		{ vendor_token: 'vt_1' },
	],
	[
		'verification result',
		'avatar',
		{ resource: 'verification', operation: 'getResult', verificationId: 'rav_1', vendorToken: 'vt_1' },
		{ verify_status: 'verified', group_id: 'rg_1' },
		{ verified: true },
	],
];
const cases = operations.flatMap((operation) =>
	// The contract shows the balance of the account flat (2.1).
	(operation[0] === 'user balance' ? ([''] as const) : WHERE).map((where) => [...operation, where] as const),
);

test.each(cases)(
	'%s: a record with fields that n8n reads as an error is one success (%#)',
	async (_title, kind, parameters, record, shown, where) => {
		const answer = answerWith(record, where);
		sandbox.faults.add({ on: 'any', times: -1, do: { status: 200, body: answer } });
		const settings = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0, onError: 'continueErrorOutput' as const };
		// Gateway API Key Creator has Simplify beside the Options, all others in them.
		const whole = { ...parameters, simplify: false, options: { simplify: false } };
		const { json, task, error } = await runGateway(kind, sandbox, whole, { settings });
		expect(error).toBeUndefined();
		expect(sandbox.requests).toHaveLength(1);
		expect(task?.data?.main[1] ?? []).toEqual([]);
		expect(json[0]).toMatchObject(shown);
		for (const name of ['error', '$error']) expect(json[0]).not.toHaveProperty([name]);
		if (kind === 'token' || kind === 'avatar') expect(json[0].record).toEqual(answer);
		if (kind === 'balance') expect(json[0].record).toEqual('error' in answer ? answer : undefined);
	},
);

test('Balance Trigger puts out fields that n8n reads as an error like the node', async () => {
	sandbox.faults.add({ on: 'balance', do: { status: 200, body: answerWith({ remain_credits: 5 }, '') } });
	const items = await poll('balanceTrigger', sandbox, { threshold: 1000, unit: 'credits' });
	expect(items?.[0].json).toMatchObject({ remain_credits: 5, record: { error: 'none' } });
	for (const name of ['error', '$error']) expect(items?.[0].json).not.toHaveProperty([name]);
});
