/** The parts of every operation by themselves: items of outcomes, the fields of an answer, the tries of Retry On Fail, names of requests. */
import type { IDataObject, IExecuteFunctions, INode } from 'n8n-workflow';
import { asBeforeRenamed, fileHashes, isToBeRenamed } from '../../nodes/run/fileHashes';
import { GatewayError, gatewayError } from '../../core/errors';
import { makeRefused } from '../../core/orders/states';
import { isTool, isToolCall, isToolRun, storeOfToolCall } from '../../nodes/run/agentTools';
import { hashOf } from '../../nodes/run/hashOf';
import {
	toFields,
	toIsoTime,
	toPassOn,
	toRecord,
	toSeconds,
	withoutEmpty,
	withoutErrors,
	type Described,
} from '../../nodes/run/output';
import { readRetryOnFail } from '../../nodes/run/retryOnFail';
import { executionOf, keyInBackground, sharing } from '../../nodes/run/run';
import { markForErrorOutput, onErrorOf, outcomeOf, toItem } from '../../nodes/run/toItem';
import { memoryOf } from '../../nodes/run/verificationMemory';
import { deferred } from '../core/support';

describe('a hash of a request', () => {
	test('a hash of a request is the same in every version: it is stored', () => {
		expect(hashOf('task', { prompt: 'a cat' })).toBe('Zl4HR4DdecJekkEFFUj9tR');
	});

	test('a hash of a request tells things and requests apart', () => {
		const all = [hashOf('task', { a: 1 }), hashOf('task', { a: 2 }), hashOf('token', { a: 1 })];
		expect(new Set(all).size).toBe(3);
	});
});

describe('an item', () => {
	const place = { operation: 'generate', isTool: false };
	const task = {
		taskId: 'task-1',
		status: 'in_progress',
		progress: 50,
		elapsedMs: 1_260,
		urls: ['https://a.example/1'],
	};
	const error = gatewayError('balanceTooLow', {}, { httpStatus: 402 });

	test('an item has the fields of the output first, and what the input passes along', () => {
		const output = { json: { task_id: 'a', status: 'completed' }, binary: { data: {} } };
		const outcome = { output, input: { status: 'of the input', name: 'b' }, earlierTaskIds: ['c'] };
		const item = toItem(outcome, 2, 'stopWorkflow', place);
		expect(item).toEqual({
			json: { task_id: 'a', status: 'completed', name: 'b', earlier_task_ids: ['c'] },
			binary: { data: {} },
			pairedItem: { item: 2 },
		});
		expect(Object.keys(item.json)).toEqual(['task_id', 'status', 'name', 'earlier_task_ids']);
	});

	test('an item has the files of the input where there are none of the output, also beside an error', () => {
		const inputFiles = { data: { data: 'YQ==', mimeType: 'image/png' } };
		const own = { json: {}, binary: { other: {} } };
		expect(toItem({ output: { json: { a: 1 } }, inputFiles }, 0, 'stopWorkflow', place)).toEqual({
			...{ json: { a: 1 }, binary: inputFiles, pairedItem: { item: 0 } },
		});
		expect(toItem({ output: own, inputFiles }, 0, 'stopWorkflow', place).binary).toEqual({ other: {} });
		for (const onError of ['continueRegularOutput', 'continueErrorOutput'] as const)
			expect(toItem({ error, inputFiles }, 0, onError, place).binary).toBe(inputFiles);
	});

	test('an item has no more than there is', () => {
		expect(toItem({}, 0, 'stopWorkflow', place)).toStrictEqual({ json: {}, pairedItem: { item: 0 } });
	});

	test('an item of an error says what is known of the task', () => {
		const outcome = { error, task, input: { name: 'b', code: 'x' }, earlierTaskIds: ['c'] };
		const { json, pairedItem } = toItem(outcome, 3, 'continueRegularOutput', place);
		expect(pairedItem).toEqual({ item: 3 });
		expect(json).toEqual({
			...{ name: 'b', error: error.message, code: 'balance_too_low', details: expect.any(String) as string },
			...{ http_status: 402, task_id: 'task-1', status: 'in_progress', progress: 50, waited_seconds: 1.3 },
			...{ urls: task.urls, earlier_task_ids: ['c'] },
		});
	});

	test('an item of an error names the task of the error before that of the order', () => {
		const named = gatewayError('balanceTooLow', {}, { task: { ...task, taskId: 'task-2' } });
		expect(toItem({ error: named, task }, 0, 'continueRegularOutput', place).json.task_id).toBe('task-2');
		expect(toItem({ error }, 0, 'continueRegularOutput', place).json).not.toHaveProperty('task_id');
		expect(toItem({ error }, 0, 'continueRegularOutput', place).json).not.toHaveProperty('waited_seconds');
	});

	test.each([
		['asset' as const, 'asset_id'],
		['group' as const, 'group_id'],
		['token' as const, 'id'],
		['verification' as const, 'task_id'],
		['task' as const, 'task_id'],
	])('an item of an error of one about a %s has its ID in %s', (describes, field) => {
		const { json } = toItem({ error, task }, 0, 'continueRegularOutput', { ...place, describes });
		expect(Object.entries(json).filter(([, value]) => value === 'task-1')).toEqual([[field, 'task-1']]);
	});

	test('an item for the error output has nothing beside message and details: n8n would not send it there', () => {
		const { json, pairedItem } = toItem({ error, task, input: { name: 'b' } }, 3, 'continueErrorOutput', place);
		expect(pairedItem).toEqual({ item: 3 });
		expect(json).toEqual({
			error: error.message,
			message: expect.stringContaining('Add credits') as string,
			details: expect.objectContaining({ name: 'b', code: 'balance_too_low', task_id: 'task-1' }) as object,
		});
		expect(json.details as object).not.toHaveProperty('details');
	});

	test('an item of an error without advice has none', () => {
		const bare = new GatewayError('balance', 'x');
		expect(toItem({ error: bare }, 0, 'continueRegularOutput', place).json).toEqual({ error: 'x', code: 'balance' });
		expect(toItem({ error: bare }, 0, 'continueErrorOutput', place).json).toEqual({
			...{ error: 'x', message: '', details: { code: 'balance' } },
		});
	});

	test('an item of an error leads on by another run of the item, or by another call of an agent; after Generate it warns of paying again', () => {
		const unknown = gatewayError('outcomeUnknown', { thing: 'task', what: 'x' });
		const interrupted = gatewayError('waitingInterrupted', { id: 'task-1' }, { task });
		const adviceOf = (of: GatewayError, at = place) =>
			toItem({ error: of }, 0, 'continueRegularOutput', at).json.details;
		expect(adviceOf(unknown)).toContain('run only this item again');
		expect(adviceOf(unknown, { ...place, isTool: true })).toContain('call this tool again');
		expect(adviceOf(interrupted)).toContain('you pay again');
		expect(adviceOf(interrupted, { ...place, operation: 'waitForTask' })).not.toContain('you pay again');
	});

	test('an item has no HTML in it, whatever somebody has written', () => {
		const known = gatewayError('fieldEmpty', { label: '<b>Prompt</b>', enter: 'Enter <i>one</i>.' });
		expect(JSON.stringify(toItem({ error: known }, 0, 'continueRegularOutput', place))).not.toMatch(/[<>]/);
	});

	test('an item for the error output cannot be copied with its error by older versions of n8n, and has it all the same', () => {
		const fine = { json: {} };
		expect(markForErrorOutput(fine)).toBe(fine);
		expect('error' in fine).toBe(false);
		const item = markForErrorOutput({ json: { error: 'x' } });
		expect(item.json.error).toBe('x');
		expect(item.error).toBe('x');
		expect(Object.keys(item)).toEqual(['json']);
		expect(() => (item.error = undefined)).not.toThrow();
	});

	test('an item of an order has what the order has', () => {
		const refused = {
			...makeRefused(0, error),
			input: { name: 'b' },
			earlierTaskIds: ['c'],
			task: { taskId: 'a', elapsedMs: 0 },
		};
		expect(outcomeOf(refused)).toMatchObject({
			...{ input: { name: 'b' }, earlierTaskIds: ['c'], task: { taskId: 'a' }, output: undefined },
			error: { kind: 'balance', message: error.message },
		});
	});
});

test.each([
	[false, undefined, 'stopWorkflow'],
	[false, 'continueErrorOutput', 'stopWorkflow'],
	[true, undefined, 'continueRegularOutput'],
	[true, 'continueRegularOutput', 'continueRegularOutput'],
	[true, 'continueErrorOutput', 'continueErrorOutput'],
])('a node that goes on with errors (%p) and has On Error at %p is one with %s', (goesOn, onError, expected) => {
	const context = { continueOnFail: () => goesOn, getNode: () => ({ onError }) };
	expect(onErrorOf(context as never)).toBe(expected);
});

describe('the fields of an answer', () => {
	test('the fields of an answer are those that have a value', () => {
		expect(withoutEmpty({ a: undefined, b: null, c: 0, d: '' })).toStrictEqual({ b: null, c: 0, d: '' });
	});

	test.each(['error', '$error'])(
		'the fields of an answer are also in the record where n8n would misread %s',
		(name) => {
			const answer = { a: 1, [name]: 'x' };
			expect(withoutErrors(answer)).toStrictEqual({ a: 1 });
			expect(toFields(answer)).toStrictEqual({ a: 1, record: answer });
			expect(toFields({ a: 1 })).toStrictEqual({ a: 1 });
		},
	);

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

	// As many as are looked for.
	const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`cost_${index}`, index]));

	const proof = { confirmed: false, verified: false, group_id: 'g', verify_status: 'v' };
	const ofWait = { reason: 'r', progress: 5, timed_out: true, waited_seconds: 1, status: 's', result_code: 'c' };
	const session = { h5_link: 'h', vendor_token: 'v', expires_at: 'e', link_expired: true };
	const own = { a: 1, reason: 'mine', status: 'mine', name: 'n' };
	const account = { remain_credits: 1, remain_usd: 1, used_credits: 1, credits_per_usd: 1, unlimited_quota: true };
	const shown = { remain_balance: 1, used_balance: 1, balance_unit: 'USD' };
	const key = { api_key: 'k', remain_credits: 1, unlimited_quota: true, daily_credits: 1, monthly_credits: 1 };

	test.each<[string, IDataObject, Described | undefined, IDataObject]>([
		['about costs go with another task', { task_id: 't', a: 1, ...costs }, 'task', { a: 1 }],
		[
			'about the credits of another run go, however many costs there are',
			{ task_id: 't', ...many, ...costs },
			'task',
			{},
		],
		['about costs stay where there is none', { a: 1, ...costs }, 'task', { a: 1, ...costs }],
		[
			'about costs stay where the output describes none',
			{ task_id: 't', ...costs },
			undefined,
			{ task_id: 't', ...costs },
		],
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
		['that hold files stay where it does not', { _files: { data: {} } }, 'balance', { _files: { data: {} } }],
		[
			'stay where an error goes, with the task',
			{ task_id: 't', url: 'u', error: 'x' },
			undefined,
			{ task_id: 't', url: 'u' },
		],
		['of another asset go', { a: 1, asset_id: 'x', reference: 'r', ...ofWait }, 'asset', { a: 1 }],
		[
			'about the wait for a task go where the output describes an asset',
			{ task_id: 't', reference: 'r', ...ofWait },
			'asset',
			{ task_id: 't', reference: 'r' },
		],
		['of another group go', { ...own, group_id: 'g' }, 'group', own],
		['that are called so stay where the input describes no asset', own, 'asset', own],
		[
			'that prove something of somebody else go',
			{ ...own, next_step: 'n', ...proof, verified: undefined, vendor_token: 'v' },
			'verification',
			{ a: 1, name: 'n', vendor_token: 'v' },
		],
		['about a wait go with another proof', { ...own, verified: true }, 'verification', { a: 1, name: 'n' }],
		[
			'that are called so stay beside a group alone',
			{ ...own, confirmed: true, group_id: 'g' },
			'verification',
			{ ...own, confirmed: true },
		],
		[
			'of another session go',
			{ ...own, ...session, ...proof, task_id: 't', record: {} },
			'session',
			{ a: 1, name: 'n' },
		],
		['that tell of a session by its token go, too', { vendor_token: 'v', task_id: 't' }, 'session', {}],
		['that tell of a session by its link go, too', { h5_link: 'h', task_id: 't', status: 's' }, 'session', {}],
		[
			'that are called so stay where the input describes no session',
			{ ...own, expires_at: 'e', task_id: 't' },
			'session',
			{ ...own, expires_at: 'e', task_id: 't' },
		],
		['of another balance go', { ...own, ...account, ...shown }, 'balance', own],
		['of another key go', { ...own, ...key, id: 7, model_limits: 'm', expires_at: 'e' }, 'token', own],
		[
			'of an error of an earlier try go, with its message',
			{ ...own, error: 'e', message: 'm', details: { a: 1 } },
			'task',
			own,
		],
		[
			'that are called message stay beside another error',
			{ ...own, error: 'e', message: 'm' },
			'task',
			{ ...own, message: 'm' },
		],
		['that say when something else expires stay', { id: 7, expires_at: 'e' }, 'token', { id: 7, expires_at: 'e' }],
	])('fields of the input %s', (_, given, describes, expected) => {
		expect(toPassOn(given, describes)).toStrictEqual(expected);
	});

	test('the fields of an answer have no more levels than n8n can save', () => {
		const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
		const depth = (value: unknown): number =>
			typeof value === 'object' && value !== null && 'a' in value ? 1 + depth(value.a) : 0;
		const fits = nested(499) as never;
		expect(toRecord(fits)).toBe(fits);
		expect(depth(toRecord(nested(2_000) as never))).toBeLessThanOrEqual(500);
	});

	test('give seconds with one decimal, and times as n8n takes them', () => {
		expect([49, 50, 1_260, 90_000].map(toSeconds)).toEqual([0, 0.1, 1.3, 90]);
		expect(toIsoTime(1_800_000_000)).toBe('2027-01-15T08:00:00.000Z');
		expect(toIsoTime(1_800_000_000_000)).toBe('2027-01-15T08:00:00.000Z');
		expect(toIsoTime(1e11)).toBe('5138-11-16T09:46:40.000Z');
		expect(toIsoTime(undefined)).toBeUndefined();
		expect(toIsoTime(NaN)).toBeUndefined();
	});
});

describe('Retry On Fail', () => {
	const read = (node: Partial<INode>, store: Record<string, unknown> = {}, runIndex = 0, executionId = '7') =>
		readRetryOnFail({ getNode: () => node } as unknown as IExecuteFunctions, { store, executionId, runIndex });

	test('Retry On Fail is none where it is off', () => {
		expect(read({})).toBeUndefined();
		expect(read({ retryOnFail: false, maxTries: 3 })).toBeUndefined();
	});

	test.each<[Partial<INode>, number, number]>([
		[{}, 3, 1000],
		[{ maxTries: 2, waitBetweenTries: 0 }, 2, 0],
		[{ maxTries: 5, waitBetweenTries: 5000 }, 5, 5000],
		[{ maxTries: 1, waitBetweenTries: -1 }, 2, 0],
		[{ maxTries: 99, waitBetweenTries: 99_999 }, 5, 5000],
		[{ maxTries: 4.9 }, 4, 1000],
		[{ maxTries: NaN, waitBetweenTries: NaN }, 3, 0],
		[{ maxTries: 0 }, 3, 1000],
	])('Retry On Fail has the bounds of n8n: %j', (settings, tries, pauseMs) => {
		expect(read({ retryOnFail: true, ...settings })).toEqual({ tries, pauseMs, tried: 1 });
	});

	test('Retry On Fail counts the tries of a run', () => {
		const store = {};
		const tried = (...of: [runIndex?: number, executionId?: string]) =>
			read({ retryOnFail: true }, store, ...of)?.tried;
		expect([tried(), tried(), tried(1), tried(1), tried(1, '8'), tried()]).toEqual([1, 2, 1, 2, 1, 1]);
	});
});

describe('a call of an agent', () => {
	const context = (type: string, more: object = {}) =>
		({ getNode: () => ({ type }), getInputData: () => [], ...more }) as unknown as IExecuteFunctions;

	test.each<[IExecuteFunctions, boolean, boolean]>([
		[context('image'), false, false],
		[context('imageTool'), true, false],
		[context('Toolbox'), false, false],
		[context('image', { isToolExecution: () => true }), true, true],
		[context('image', { isToolExecution: () => false, connectionType: 'ai_tool' }), false, false],
		[context('image', { connectionType: 'ai_tool' }), true, true],
		[context('image', { connectionType: 'main' }), false, false],
	])('a call of an agent is known by the node, or by what n8n says: %#', (of, isRun, isCall) => {
		expect([isToolRun(of), isToolCall(of)]).toEqual([isRun, isCall]);
		expect(isTool(of.getNode())).toBe(of.getNode().type.endsWith('Tool'));
	});

	test('a call of an agent has one memory for all its tries, and another call has another', () => {
		const [one, other] = [{}, {}];
		const storeOf = (json?: object) =>
			storeOfToolCall(
				context('image', { isToolExecution: () => true, getInputData: () => (json === undefined ? [] : [{ json }]) }),
			);
		const store = storeOf(one);
		expect(store).toEqual({});
		expect(storeOf(one)).toBe(store);
		expect(storeOf(other)).not.toBe(store);
		expect(storeOf()).toEqual({});
		expect(storeOfToolCall(context('imageTool'))).toBeUndefined();
	});
});

test('what several items ask for at the same time or later is asked once', async () => {
	const shared = sharing<string>();
	const answer = deferred<string>();
	const get = jest.fn(async () => await answer.promise);
	const asked = [shared('a', get), shared('a', get)];
	const other = shared('b', async () => 'another');
	answer.resolve('it');
	expect(await Promise.all([...asked, other, shared('a', get)])).toEqual(['it', 'it', 'another', 'it']);
	expect(get).toHaveBeenCalledTimes(1);
});

describe('the hashes of files', () => {
	test('a file is read once for all items and tries, however many ask at the same time', async () => {
		const store = {};
		const read = jest.fn(async (hash: string) => await Promise.resolve(hash));
		const ask = fileHashes(store);
		const asked = ['a', 'b', 'a'].map(async (id) => await ask(id, async () => await read(`hash of ${id}`)));
		expect(await Promise.all(asked)).toEqual(['hash of a', 'hash of b', 'hash of a']);
		expect(read).toHaveBeenCalledTimes(2);
		// They are stored.
		expect(Object.keys((store as Record<string, object>).generationGatewayFiles ?? {})).toEqual([
			'bhjwCkjlrDK37hixR7AmzQ',
			'txSU/AaZjIKMzyhD3yqYaG',
		]);
		const gone = async () => await Promise.reject(new Error('it is gone'));
		const later = fileHashes(JSON.parse(JSON.stringify(store)) as object as never);
		expect([await later('a', gone), await later('b', gone)]).toEqual(['hash of a', 'hash of b']);
		await expect(later('c', gone)).rejects.toThrow('it is gone');
	});

	test('n8n is going to rename the files of a webhook, and no others', () => {
		const id = 'filesystem-v2:workflows/w/executions/temp/binary_data/u';
		expect([id, id.replace('temp', '57'), 'database:u', ''].map(isToBeRenamed)).toEqual([true, false, false, false]);
		expect([id, id.replace('temp', '57')].map(asBeforeRenamed)).toEqual([id, id]);
		expect(asBeforeRenamed('database:u')).toBe('database:u');
	});

	test('the file of a webhook is the same one after n8n has renamed it', async () => {
		const id = (execution: string) => `filesystem-v2:workflows/w/executions/${execution}/binary_data/u`;
		const store = {};
		await fileHashes(store)(id('temp'), async () => await Promise.resolve('its hash'));
		const gone = async () => await Promise.reject(new Error('it is gone'));
		expect(await fileHashes(store)(id('57'), gone)).toBe('its hash');
		await expect(fileHashes(store)(`${id('57')}2`, gone)).rejects.toThrow('it is gone');
	});

	test('only the latest files are kept', async () => {
		const store: { generationGatewayFiles?: object } = {};
		const hashOfFile = fileHashes(store as never);
		for (let index = 0; index < 2_001; index++)
			await hashOfFile(`file ${index}`, async () => await Promise.resolve('x'));
		expect(Object.keys(store.generationGatewayFiles ?? {})).toHaveLength(2_000);
		const read = jest.fn(async () => await Promise.resolve('again'));
		const later = fileHashes(store as never);
		expect([await later('file 1', read), await later('file 0', read)]).toEqual(['x', 'again']);
	});

	test.each([7, 'text', null, { any: 7 }])('what cannot be read of them (%j) counts as nothing', async (kept) => {
		const store = { generationGatewayFiles: kept };
		const read = async () => await Promise.resolve('hash of a');
		expect(await fileHashes(store)('a', read)).toBe('hash of a');
		expect(Object.values(store.generationGatewayFiles as object)).toContain('hash of a');
	});

	test('a hash of another form is read again', async () => {
		const store: Record<string, unknown> = {};
		await fileHashes(store)('a', async () => await Promise.resolve('hash of a'));
		const [key = ''] = Object.keys(store.generationGatewayFiles as object);
		(store.generationGatewayFiles as Record<string, unknown>)[key] = 7;
		expect(await fileHashes(store)('a', async () => await Promise.resolve('again'))).toBe('again');
	});
});

test('an order that was handed over is known by run and item, and by its task once it has one', () => {
	const run = { ledger: { scope: { runIndex: 2 } } } as never;
	expect(keyInBackground(run, { item: 3 } as never)).toBe('2.3');
	expect(keyInBackground(run, { item: 3, task: { taskId: 'a' } } as never)).toBe('2.3 a');
});

test('the execution that waits for an order is found by run, item and task, or, as earlier versions kept it, by the task', () => {
	const run = { ledger: { scope: { runIndex: 2 } } } as never;
	const found = (executions: Record<string, string>, order: object) =>
		executionOf(run, { executions } as never, order as never);
	const order = { item: 3, task: { taskId: 'a' } };
	expect(found({ '2.3 a': 'own', a: 'old' }, order)).toBe('own');
	expect(found({ a: 'old' }, order)).toBe('old');
	expect(found({ '2.3 b': 'other' }, order)).toBeUndefined();
	expect(found({ '2.3': 'own' }, { item: 3 })).toBe('own');
	expect(found({ a: 'old' }, { item: 3 })).toBeUndefined();
});

test('the verifications of a workflow are in its own memory', () => {
	const store = {};
	const getWorkflowStaticData = jest.fn(() => store);
	const memory = memoryOf({ getWorkflow: () => ({ id: 7 }), getWorkflowStaticData } as never);
	expect(memory).toEqual({ workflowId: '7', store });
	expect(memory.store).toBe(store);
	expect(getWorkflowStaticData).toHaveBeenCalledWith('global');
});
