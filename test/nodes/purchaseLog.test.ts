/** Everything that is bought has its rows in the purchase log, and nothing in them that is secret. */
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { COLUMNS, TABLE_NAME } from '../../core/purchases/purchaseRow';
import { useBinaryMode } from '../support/engine.mts';
import { DataTables } from '../support/dataTables.mts';
import {
	pause,
	pngField,
	prompts,
	quick,
	quickSandbox,
	runToEnter,
	startGateway,
	type Kind,
	type RunOptions,
	type Sandbox,
} from '../support/nodes.mts';

let sandbox: Sandbox;
let tables: DataTables;
beforeAll(async () => {
	sandbox = await quickSandbox({ assetMs: 300 });
});
afterAll(async () => await sandbox.close());
beforeEach(() => {
	sandbox.reset();
	tables = new DataTables();
});

const withLog = { advanced: true, purchaseLog: true };

/** n8n keeps the ID of the table by workflow, and each test has tables of its own. */
beforeEach(() => {
	const columns = Object.entries(COLUMNS).map(([name, type]) => ({ name, type }));
	tables.tables.push({ id: 'log', name: TABLE_NAME, columns, rows: [] });
});

function begin(kind: Kind, parameters: IDataObject, options: RunOptions = {}) {
	const started = startGateway(kind, sandbox, parameters, { credential: withLog, ...options });
	started.additionalData.executeWorkflow = tables.executeWorkflow as never;
	return started;
}

async function run(kind: Kind, parameters: IDataObject, options: RunOptions = {}) {
	return await outcomeOf(begin(kind, parameters, options));
}

async function outcomeOf({ promise }: ReturnType<typeof begin>) {
	const { data } = await promise;
	const task = data.resultData.runData.Node?.at(-1);
	const json = task?.data?.main?.flatMap((items) => items?.map((item) => item.json) ?? []) ?? [];
	const hints = (task?.hints ?? []).map(({ message }) => message).join();
	return { json, hints, error: task?.error as (Error & { description?: string }) | undefined };
}

/** Ends are written when the run is over. */
async function rows() {
	for (let before = -1; before !== tables.operations.length; await pause(50)) before = tables.operations.length;
	return tables.rows;
}

const inItems = { settings: { onError: 'continueRegularOutput' as const } };
const statesOf = async () => (await rows()).map(({ thing, state }) => `${thing} ${state}`);
const fromItem = { operation: 'generate', prompt: '={{ $json.prompt }}', result: 'urlOnly', options: quick };

describe('everything that is bought has rows', () => {
	test('an avatar group, a verification and an asset have rows', async () => {
		const { json } = await run('avatar', { resource: 'group', operation: 'create', groupName: 'Anna' });
		const groupId = String(json[0]?.group_id);
		await run('avatar', { resource: 'verification', operation: 'create', callbackUrl: 'https://example.com/done' });
		const sourceUrl = 'https://example.com/face.png';
		const asset = { avatarKind: 'private', assetType: 'image', sourceUrl, groupId, options: quick };
		await run('avatar', { resource: 'asset', operation: 'upload', ...asset });
		expect(await statesOf()).toEqual(
			['group', 'verification', 'asset'].flatMap((thing) => [
				`${thing} submitting`,
				`${thing} accepted`,
				`${thing} completed`,
			]),
		);
		expect(tables.rows.find(({ state }) => state === 'accepted')?.task_id).toBe(groupId);
		expect(JSON.stringify(tables.rows)).not.toMatch(/Anna|example\.com/);
	});

	test('the rows of a task have no prompt, no key of the credential and no result', async () => {
		const { json } = await run('image', fromItem, { items: prompts('a secret lighthouse') });
		expect(await statesOf()).toEqual(['task submitting', 'task accepted', 'task completed']);
		const text = JSON.stringify(tables.rows);
		expect(text).toContain(String(json[0]?.task_id));
		for (const secret of ['secret', sandbox.apiKey, '/files/']) expect(text).not.toContain(secret);
	});

	test('the row of a refusal says why, and an unknown outcome is one', async () => {
		const items = prompts('a [[sandbox create=400]]', 'b [[sandbox create=504]]');
		await run('image', fromItem, { items, settings: { onError: 'continueRegularOutput' } });
		const ends = (await rows()).filter(({ state }) => state !== 'submitting');
		expect(ends.map(({ item, state, code }) => [item, state, code]).sort()).toEqual([
			[0, 'not_accepted', 'request_rejected'],
			[1, 'unknown', 'outcome_unknown'],
		]);
	});

	test('the column of the run has what the error names: the run that has sent the request, in a retry its own', async () => {
		const items = prompts('a [[sandbox create=504]]');
		const kept = { executionId: '7', establishedAt: Date.now() };
		expect(runToEnter((await run('image', fromItem, { items, kept })).error)).toBe('7.0');
		const options = { ...quick, submitAgainForRun: '7.0' };
		await run('image', { ...fromItem, options }, { items, mode: 'retry', kept: { ...kept, executionId: '8' } });
		const named = (await rows()).filter(({ state }) => state === 'submitting');
		expect(named.map(({ run, origin, execution }) => [run, origin, execution])).toEqual([
			['7.0', `established ${kept.establishedAt}, run 0`, '7'],
			['8.0', `established ${kept.establishedAt}, run 0`, '8'],
		]);
	});
});

/** A picture in n8n's storage, as an execution has it. */
async function stored(executionId: string, content: Buffer = Buffer.from(pngField().data, 'base64')) {
	const { mimeType, fileName } = pngField();
	const place = { type: 'execution' as const, workflowId: 'wf', executionId };
	return await Container.get(BinaryDataService).store(place, content, { data: '', mimeType, fileName });
}

describe('a Purchase Key', () => {
	beforeAll(async () => void (await useBinaryMode('filesystem')));
	afterAll(async () => void (await useBinaryMode('default')));

	test('a Purchase Key stands for the same picture in every execution, wherever n8n keeps it, and not for another one', async () => {
		const parameters = {
			...{ ...fromItem, prompt: 'a' },
			images: { image: [{ source: 'binary', binaryPropertyName: 'data' }] },
			options: { ...quick, purchaseKey: 'order 1' },
		};
		const deliver = async (id: string, content: Buffer) => {
			const binary = { data: await stored(id, content) };
			return await run('image', parameters, { items: [{ json: {}, binary }], ...inItems });
		};
		const picture = Buffer.from(pngField().data, 'base64');
		const [bought] = (await deliver('1', picture)).json;
		await rows();
		const [reused] = (await deliver('2', picture)).json;
		expect([bought?.status, reused?.task_id, reused?.reused]).toEqual(['completed', bought?.task_id, true]);
		await rows();
		const [conflict] = (await deliver('3', Buffer.concat([picture, Buffer.from('x')]))).json;
		expect(conflict?.code).toBe('purchase_key_conflict');
		expect(sandbox.tasks).toHaveLength(1);
	});

	test('a declined task of a Purchase Key is bought again in a retry that names its run, and nowhere else', async () => {
		const run = async (submitAgainForRun: string, more: RunOptions = {}) => {
			const options = { ...quick, purchaseKey: 'order 1', submitAgainForRun };
			const items = prompts('a [[sandbox fail=content_policy_violation*1]]');
			const { promise } = begin('image', { ...fromItem, options }, { items, ...more });
			const { data } = await promise;
			await rows();
			return { data, error: data.resultData.runData.Node?.at(-1)?.error, tasks: sandbox.tasks.length };
		};
		const first = await run('', { kept: { executionId: '1', establishedAt: 1 } });
		expect([first.error?.message, runToEnter(first.error)]).toEqual([
			`The service declined the content of task ${sandbox.tasks[0].id}`,
			'1.0',
		]);
		// Another execution gets this failure, also with the name: it has not bought the task.
		expect((await run('1.0', { kept: { executionId: '2', establishedAt: 2 } })).tasks).toBe(1);
		const contextData = structuredClone(first.data.executionData?.contextData) as Record<string, IDataObject>;
		const retry = (executionId: string): RunOptions => ({
			...{ mode: 'retry', kept: { executionId, establishedAt: 1, contextData: structuredClone(contextData) } },
		});
		expect((await run('', retry('3'))).tasks).toBe(1);
		expect((await run('1.0', retry('4'))).tasks).toBe(2);
		// The newest task of the key counts from here on, in a second retry of the same execution, too.
		for (const options of [retry('5'), { kept: { executionId: '6', establishedAt: 6 } }]) {
			const later = await run('1.0', options);
			expect(later.tasks).toBe(2);
			expect(JSON.stringify(later.error ?? {}) + JSON.stringify(later.data.resultData)).toContain(sandbox.tasks[1].id);
		}
	});

	test('with Don’t Wait, a Purchase Key leads to the task as it is, and a failed one is bought again', async () => {
		const deliver = async (prompt: string, more: RunOptions = inItems) => {
			const options = { ...quick, purchaseKey: prompt };
			const form = { ...fromItem, wait: 'dontWait', options };
			const { json } = await run('image', form, { items: prompts(prompt), ...more });
			await rows();
			return json[0];
		};
		const seconds = 0.4;
		const bought = await deliver(`a [[sandbox duration=${seconds}s]]`);
		const reused = { task_id: bought?.task_id, reused: true };
		expect(bought).toMatchObject({ status: 'queued' });
		await pause(1000 * seconds + 100);
		expect(await deliver(`a [[sandbox duration=${seconds}s]]`)).toMatchObject({
			...{ ...reused, status: 'completed', url: expect.stringMatching(/^http/) as string },
		});
		const failing = 'b [[sandbox fail]]';
		const first = await deliver(failing);
		await pause(500);
		const failed = await deliver(failing);
		expect(failed).toMatchObject({ code: 'task_failed', task_id: first?.task_id });
		const again = await deliver(failing);
		expect(again).toMatchObject({ status: 'queued' });
		expect(again?.task_id).not.toBe(first?.task_id);
		expect(sandbox.tasks).toHaveLength(3);
	});

	const keyed = { ...fromItem, options: { ...quick, purchaseKey: '={{ $json.key }}', concurrentTasks: 1 } };
	const withExpression = async (purchaseKey: string) =>
		await run(
			'image',
			{ ...fromItem, options: { ...quick, purchaseKey } },
			{ items: [{ json: { prompt: 'a', order_id: '7' } }] },
		);

	test('an item that has no such field for its Purchase Key is not bought: nobody would notice that it is not protected', async () => {
		const { error } = await withExpression('={{ $json.orderId }}');
		expect(error?.message).toBe('The expression in Purchase Key gave nothing for this item');
		expect(sandbox.tasks).toHaveLength(0);
	});

	test.each(["={{ '' }}", '={{ null }}', "={{ $json.orderId ?? '' }}"])(
		'an item whose Purchase Key %s is empty has none, and is bought',
		async (purchaseKey) => {
			expect((await withExpression(purchaseKey)).error).toBeUndefined();
			expect(sandbox.tasks).toHaveLength(1);
		},
	);

	test('one Purchase Key for different requests of a run is refused for all of them before anything is sent', async () => {
		const items = ['a', 'b', 'a', 'c', 'd'].map((prompt, item) => ({
			json: { prompt, key: ['k', 'k', 'k', 'own', 'own 2'][item] },
		}));
		const { error } = await run('image', keyed, { items });
		expect(error?.message).toBe('Items 0 to 2 have the same Purchase Key, but not the same request');
		expect(error?.description).toMatch(/Nothing was sent/);
		expect(error?.description).not.toMatch(/also ha/);
		expect([sandbox.requests.length, tables.rows.length]).toEqual([0, 0]);
		const { json } = await run('image', keyed, { items, ...inItems });
		expect(json.map(({ code, status }) => code ?? status)).toEqual([
			...['purchase_key_shared', 'purchase_key_shared', 'purchase_key_shared'],
			...['completed', 'completed'],
		]);
		expect(json.map(({ prompt }) => prompt)).toEqual(['a', 'b', 'a', 'c', 'd']);
		expect(sandbox.tasks).toHaveLength(2);
	});

	test.each([
		['file', 'download_failed'],
		['status', 'created_task_not_found'],
	] as const)(
		'a %s of a Purchase Key that cannot be found is not called expired in the hours after the purchase, so that nobody pays again for it',
		async (on, code) => {
			const items = [{ json: { prompt: 'a', key: on } }];
			const deliver = async () => (await run('image', { ...keyed, result: 'file' }, { items, ...inItems })).json[0];
			expect((await deliver())?.status).toBe('completed');
			await rows();
			sandbox.faults.add({ on, times: -1, do: '404' });
			expect((await deliver())?.code).toBe(code);
			const sinceMs = Date.now();
			jest.spyOn(Date, 'now').mockImplementation(() => sinceMs + 7 * 3_600_000);
			expect((await deliver())?.code).toBe('purchase_key_expired');
			jest.restoreAllMocks();
			expect(sandbox.tasks).toHaveLength(1);
		},
	);
});
