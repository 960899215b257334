/**
 * An item of the output: the fields of the node come first, then what Include Input Fields passes on, but nothing that
 * describes another task, asset, token or proof.
 */
import type { IDataObject } from 'n8n-workflow';
import { toPassOn, type Described } from '../../nodes/run/output';
import { markForErrorOutput, toItem } from '../../nodes/run/toItem';

const ofError = { code: 'c', details: 'd', http_status: 500 };
const ofTask = Object.fromEntries(
	[
		...['url', 'urls', 'download_url', 'download_urls', 'record', 'status', 'reason', 'progress', 'timed_out'],
		...['waited_seconds', 'created_at', 'expires_at', 'model', 'reused', 'earlier_task_ids', 'execution_id'],
	].map((name) => [name, name]),
);

const urls = ['url', 'urls', 'download_url', 'download_urls'];
const withoutUrls = Object.fromEntries(Object.entries(ofTask).filter(([name]) => !urls.includes(name)));

const costs = { cost: 0.04, creditsUsed: 8, usage: { total_cost: 1 }, run_credits: 8, run_credits_shared: true };

const proof = { confirmed: false, verified: false, group_id: 'g', verify_status: 'v' };
const ofWait = { reason: 'r', progress: 5, timed_out: true, waited_seconds: 1, status: 's', result_code: 'c' };
const session = { h5_link: 'h', vendor_token: 'v', expires_at: 'e', link_expired: true };
const own = { a: 1, reason: 'mine', status: 'mine', name: 'n' };
const account = { remain_credits: 1, remain_usd: 1, used_credits: 1, credits_per_usd: 1, unlimited_quota: true };
const shown = { remain_balance: 1, used_balance: 1 };
const key = { api_key: 'k', remain_credits: 1, unlimited_quota: true, daily_credits: 1, monthly_credits: 1 };

test.each<[string, IDataObject, Described | undefined, IDataObject]>([
	['about costs go with another task', { task_id: 't', a: 1, ...costs }, 'task', { a: 1 }],

	['about costs stay where there is none', { a: 1, ...costs }, 'task', { a: 1, ...costs }],

	[
		'that name a price of something else stay',
		{ task_id: 't', price: 9.99, fee: 1, costly: 'yes', cost: { list: ['a'] } },
		'task',
		{ price: 9.99, fee: 1, costly: 'yes', cost: { list: ['a'] } },
	],
	['of an error go with it', { a: 1, error: 'x', $error: 'x', ...ofError }, undefined, { a: 1 }],
	['that are called so stay without an error', { a: 1, ...ofError }, 'task', { a: 1, ...ofError }],
	['of another task go where the output describes one', { a: 1, task_id: 't', ...ofTask }, 'task', { a: 1 }],
	['of another task stay where it does not', { task_id: 't', ...ofTask }, undefined, { task_id: 't', ...ofTask }],
	['that are called so stay where the input describes no task, but for URLs', ofTask, 'task', withoutUrls],
	['that hold files go where the output describes a task', { a: 1, _files: { data: {} } }, 'task', { a: 1 }],
	[
		'stay where an error goes, with the task',
		{ task_id: 't', url: 'u', error: 'x' },
		undefined,
		{ task_id: 't', url: 'u' },
	],
	['of another asset go', { a: 1, asset_id: 'x', reference: 'r', ...ofWait }, 'asset', { a: 1 }],

	[
		'that prove something of somebody else go',
		{ ...own, next_step: 'n', ...proof, verified: undefined, vendor_token: 'v' },
		'verification',
		{ a: 1, name: 'n', vendor_token: 'v' },
	],

	['of another session go', { ...own, ...session, ...proof, task_id: 't', record: {} }, 'session', { a: 1, name: 'n' }],

	['of another balance go', { ...own, ...account, ...shown }, 'balance', own],
	['of another key go', { ...own, ...key, id: 7, model_limits: 'm', expires_at: 'e' }, 'token', own],
	[
		'of an error of an earlier try go, with its message',
		{ ...own, error: 'e', message: 'm', details: { a: 1 } },
		'task',
		own,
	],
])('fields of the input %s', (_, given, describes, expected) => {
	expect(toPassOn(given, describes)).toStrictEqual(expected);
});

test('the fields of the node come before those of the input, which replace none of them', () => {
	const outcome = {
		output: { json: { task_id: 'a', status: 'completed' } },
		...{ input: { status: 'of the input', name: 'b' }, earlierTaskIds: ['c'] },
	};
	const { json, pairedItem } = toItem(outcome, 2, 'stopWorkflow', { operation: 'generate', isTool: false });
	expect(Object.entries(json)).toEqual([
		['task_id', 'a'],
		['status', 'completed'],
		['name', 'b'],
		['earlier_task_ids', ['c']],
	]);
	expect(pairedItem).toEqual({ item: 2 });
});

test('older versions of n8n, which copy the error of an item over its fields, cannot do so', () => {
	const item = markForErrorOutput({ json: { error: 'x', details: {} } });
	// They look at it, and copy the item with all that can be copied.
	expect(item.error).toBe('x');
	expect({ ...item }).toEqual({ json: { error: 'x', details: {} } });
	expect('error' in markForErrorOutput({ json: {} })).toBe(false);
});
