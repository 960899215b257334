/** With Submit Again, a person replaces a task that gives no result, also under a Purchase Key. */
import type { IDataObject } from 'n8n-workflow';
import { COLUMNS, TABLE_NAME } from '../../core/purchases/purchaseRow';
import { DataTables } from '../support/dataTables.mts';
import { prompts, quick, quickSandbox, startGateway, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());

test('a declined task of a Purchase Key is replaced in a retry with Submit Again, and nowhere else', async () => {
	const tables = new DataTables();
	const columns = Object.entries(COLUMNS).map(([name, type]) => ({ name, type }));
	tables.tables.push({ id: 'log', name: TABLE_NAME, columns, rows: [] });
	const run = async (options: IDataObject, more: RunOptions = {}) => {
		const form = {
			...{ operation: 'generate', prompt: '={{ $json.prompt }}', result: 'urlOnly' },
			options: { ...quick, purchaseKey: 'order 1', ...options },
		};
		const { promise, additionalData } = startGateway('image', sandbox, form, {
			...{
				credential: { advanced: true, purchaseLog: true },
				items: prompts('a [[sandbox fail=content_policy_violation*1]]'),
			},
			...more,
		});
		additionalData.executeWorkflow = tables.executeWorkflow as never;
		const { data } = await promise;
		return { data, error: data.resultData.runData.Node?.at(-1)?.error, tasks: sandbox.tasks.length };
	};
	const first = await run({});
	expect([first.error?.message, first.tasks]).toEqual([
		`The service declined the content of task ${sandbox.tasks[0].id}`,
		1,
	]);
	// Another execution gets this failure, also with Submit Again: it has not bought the task.
	expect((await run({ submitAgain: true }, { kept: { executionId: '2', establishedAt: 2 } })).tasks).toBe(1);
	const contextData = structuredClone(first.data.executionData?.contextData) as Record<string, IDataObject>;
	const kept = { executionId: '3', establishedAt: 1, contextData };
	expect((await run({}, { mode: 'retry', kept })).tasks).toBe(1);
	const again = await run({ submitAgain: true }, { mode: 'retry', kept: { ...kept, executionId: '4' } });
	expect(again.tasks).toBe(2);
	// The newest task of the key counts from here on.
	const later = await run({}, { kept: { executionId: '5', establishedAt: 5 } });
	expect(later.tasks).toBe(2);
	expect(JSON.stringify(later.error ?? {}) + JSON.stringify(later.data.resultData)).toContain(sandbox.tasks[1].id);
});
