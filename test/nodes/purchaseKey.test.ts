/** One purchase for each Purchase Key, in n8n's engine with the journal in its data tables. */
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { useBinaryMode } from '../support/engine.mts';
import { fromItem, inItems, useJournal } from '../support/journalRuns.mts';
import { orderOf } from '../support/orders.mts';
import { hurry, pause, pngField, prompts, quick, runToEnter, type RunOptions } from '../support/nodes.mts';

const runs = useJournal();

const establishedAt = Date.now();

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
			return await runs.run('image', parameters, { items: [{ json: {}, binary }], ...inItems });
		};
		const picture = Buffer.from(pngField().data, 'base64');
		const [bought] = (await deliver('1', picture)).json;
		await runs.rows();
		const [reused] = (await deliver('2', picture)).json;
		expect([bought?.status, reused?.task_id, reused?.reused]).toEqual(['completed', bought?.task_id, true]);
		await runs.rows();
		const [conflict] = (await deliver('3', Buffer.concat([picture, Buffer.from('x')]))).json;
		expect(conflict?.code).toBe('purchase_key_conflict');
		expect(runs.sandbox.tasks).toHaveLength(1);
	});

	test('n8n decrypts the credential as often for many items with keys as for two', async () => {
		const readings = async (...texts: string[]) => {
			const parameters = { ...fromItem, wait: 'dontWait', options: { ...quick, purchaseKey: '={{ $json.prompt }}' } };
			const { promise, additionalData } = runs.begin('image', parameters, { items: prompts(...texts) });
			const decrypting = jest.spyOn(additionalData.credentialsHelper, 'getDecrypted');
			await promise;
			return decrypting.mock.calls.length;
		};
		const [two, many] = [await readings('a', 'h'), await readings('b', 'c', 'd', 'e', 'f', 'g')];
		expect(many).toBe(two);
	});

	test('a declined task of a Purchase Key is bought again in a retry that names its run, and nowhere else', async () => {
		const run = async (submitAgainForRun: string, more: RunOptions = {}) => {
			const options = { ...quick, purchaseKey: 'order 1', submitAgainForRun };
			const items = prompts('a [[sandbox fail=content_policy_violation*1]]');
			const { promise } = runs.begin('image', { ...fromItem, options }, { items, ...more });
			const { data } = await promise;
			await runs.rows();
			return { data, error: data.resultData.runData.Node?.at(-1)?.error, tasks: runs.sandbox.tasks.length };
		};
		const first = await run('', { kept: { executionId: '1', establishedAt } });
		expect([first.error?.message, runToEnter(first.error)]).toEqual([
			`The service declined the content of task ${runs.sandbox.tasks[0].id}`,
			'1.0',
		]);
		// Another execution gets this failure, also with the name: it has not bought the task.
		expect((await run('1.0', { kept: { executionId: '2', establishedAt: establishedAt + 1 } })).tasks).toBe(1);
		const contextData = structuredClone(first.data.executionData?.contextData) as Record<string, IDataObject>;
		const retry = (executionId: string): RunOptions => ({
			...{ mode: 'retry', kept: { executionId, establishedAt, contextData: structuredClone(contextData) } },
		});
		expect((await run('', retry('3'))).tasks).toBe(1);
		expect((await run('1.0', retry('4'))).tasks).toBe(2);
		// The newest task of the key counts from here on, in a second retry of the same execution, too.
		for (const options of [retry('5'), { kept: { executionId: '6', establishedAt: establishedAt + 2 } }]) {
			const later = await run('1.0', options);
			expect(later.tasks).toBe(2);
			expect(JSON.stringify(later.error ?? {}) + JSON.stringify(later.data.resultData)).toContain(
				runs.sandbox.tasks[1].id,
			);
		}
	});

	test('with Don’t Wait, a Purchase Key leads to the task as it is, and a failed one is bought again', async () => {
		const deliver = async (prompt: string, more: RunOptions = inItems) => {
			const options = { ...quick, purchaseKey: prompt };
			const form = { ...fromItem, wait: 'dontWait', options };
			const { json } = await runs.run('image', form, { items: prompts(prompt), ...more });
			await runs.rows();
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
		expect(runs.sandbox.tasks).toHaveLength(3);
	});

	const keyed = { ...fromItem, options: { ...quick, purchaseKey: '={{ $json.key }}', concurrentTasks: 1 } };
	const withExpression = async (purchaseKey: string) =>
		await runs.run(
			'image',
			{ ...fromItem, options: { ...quick, purchaseKey } },
			{ items: [{ json: { prompt: 'a', order_id: '7' } }] },
		);

	test('an item that has no such field for its Purchase Key is not bought: nobody would notice that it is not protected', async () => {
		const { error } = await withExpression('={{ $json.orderId }}');
		expect(error?.message).toBe('Purchase Key is empty: its expression returned nothing for this item');
		expect(runs.sandbox.tasks).toHaveLength(0);
	});

	test.each(["={{ '' }}", '={{ null }}', "={{ $json.orderId ?? '' }}"])(
		'an item whose Purchase Key %s is empty has none, and is bought',
		async (purchaseKey) => {
			expect((await withExpression(purchaseKey)).error).toBeUndefined();
			expect(runs.sandbox.tasks).toHaveLength(1);
		},
	);

	test('one Purchase Key for different requests of a run is refused for all of them before anything is sent', async () => {
		const items = ['a', 'b', 'a', 'c', 'd'].map((prompt, item) => ({
			json: { prompt, key: ['k', 'k', 'k', 'own', 'own 2'][item] },
		}));
		const { error } = await runs.run('image', keyed, { items });
		expect(error?.message).toBe('Items 0 to 2 have the same Purchase Key, but not the same request');
		expect(error?.description).toMatch(/Nothing was sent/);
		expect(error?.description).not.toMatch(/also ha/);
		expect([runs.sandbox.requests.length, runs.tables.rows.length]).toEqual([0, 0]);
		const { json } = await runs.run('image', keyed, { items, ...inItems });
		expect(json.map(({ code, status }) => code ?? status)).toEqual([
			...['purchase_key_conflict', 'purchase_key_conflict', 'purchase_key_conflict'],
			...['completed', 'completed'],
		]);
		expect(json.map(({ prompt }) => prompt)).toEqual(['a', 'b', 'a', 'c', 'd']);
		expect(runs.sandbox.tasks).toHaveLength(2);
	});

	test.each([
		['file', 'download_failed'],
		['status', 'created_task_not_found'],
	] as const)(
		'a %s of a Purchase Key that cannot be found is not called expired in the hours after the purchase, so that nobody pays again for it',
		async (on, code) => {
			hurry(10);
			const items = [{ json: { prompt: 'a', key: on } }];
			const deliver = async () =>
				(await runs.run('image', { ...keyed, result: 'file' }, { items, ...inItems })).json[0];
			expect((await deliver())?.status).toBe('completed');
			await runs.rows();
			runs.sandbox.faults.add({ on, times: -1, do: '404' });
			expect((await deliver())?.code).toBe(code);
			const sinceMs = Date.now();
			jest.spyOn(Date, 'now').mockImplementation(() => sinceMs + 7 * 3_600_000);
			expect((await deliver())?.code).toBe('purchase_key_expired');
			jest.restoreAllMocks();
			expect(runs.sandbox.tasks).toHaveLength(1);
		},
	);

	test.each([
		['acrossRestarts', 'waiting'],
		['inAnotherWorkflow', 'queued'],
	])(
		'with Wait = %s, an item with a Purchase Key that was bought before goes on with that task',
		async (wait, status) => {
			const items = [{ json: { prompt: 'a', key: `k ${wait}` } }];
			await runs.run('image', keyed, { items });
			await runs.rows();
			const workflowId = { __rl: true, mode: 'id', value: 'other' };
			const { json, handed, error } = await runs.handOver({ ...keyed, wait, workflowId }, { items });
			expect(error).toBeUndefined();
			const [id, ...others] = runs.sandbox.tasks.map((task) => task.id);
			expect([json[0]?.status, others]).toEqual([status === 'queued' ? 'in_progress' : status, []]);
			expect(handed[0]?.map((item) => orderOf(item).task?.taskId)).toEqual([id]);
		},
	);
});
