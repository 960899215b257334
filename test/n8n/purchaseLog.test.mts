/** Purchase Log and Purchase Key in n8n's own data tables: two executions at once, a stop, a kill, and an n8n without tables. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { itemsOf, startExecution, stopExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, exampleFor, posted, saveWorkflow } from './support/production.mts';
import { readPurchases } from './support/purchaseLog.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

let instance: Instance;

before(async () => {
	instance = await startInstance({ sandbox: { imageTaskMs: 400, videoTaskMs: 400 } });
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

const generate = (options: Record<string, unknown> = {}, prompt = '={{ $json.prompt }}') => ({
	name: 'Generate',
	type: packageType('imageGeneration'),
	onError: 'continueRegularOutput',
	parameters: { prompt, result: 'urlOnly', options: { pollIntervalSeconds: 1, ...options } },
});
const withKey = { purchaseKey: '={{ $json.order }}' };

type Item = { prompt: string; order?: string };

const start = async (items: Item[], options?: Record<string, unknown>, settings?: Record<string, unknown>) =>
	await startExecution(
		instance.rest,
		await createWorkflow(instance, items, [generate(options)], { saveExecutionProgress: true, ...settings }),
		'Start',
	);
const finished = async (executionId: string) => await untilFinished(instance.rest, executionId);

const rowsOf = async (executionId: string) =>
	(await readPurchases(instance)).filter(({ execution }) => execution === executionId);
const acceptedOf = async (executionId: string) =>
	(await rowsOf(executionId)).flatMap(({ state, task_id: id }) => (state === 'accepted' ? id : []));
const taskIds = () => instance.sandbox.tasks.map(({ id }) => id).sort();

async function tablesPath() {
	const { id } = await instance.rest.request('GET', '/rest/projects/personal');
	return `/rest/projects/${id}/data-tables`;
}
const tables = async (): Promise<Array<{ id: string; name: string }>> =>
	(await instance.rest.request('GET', await tablesPath())).data;
async function removeTable() {
	const table = (await tables()).find(({ name }) => name === 'Gateway Purchases');
	await instance.rest.request('DELETE', `${await tablesPath()}/${table?.id}`);
}

test('two runs at once make one table, beside others whose names begin alike; the list of executions has these runs only', async () => {
	for (const name of ['Gateway Purchases backup', 'My Gateway Purchases'])
		await instance.rest.request('POST', await tablesPath(), { name, columns: [{ name: 'state', type: 'string' }] });
	const ids = await Promise.all([start([{ prompt: 'a' }, { prompt: 'b' }]), start([{ prompt: 'c' }])]);
	for (const id of ids) assert.equal((await finished(id)).status, 'success');
	assert.equal((await tables()).filter(({ name }) => name === 'Gateway Purchases').length, 1);
	assert.deepEqual((await rowsOf(ids[0])).map(({ item, state }) => `${item} ${state}`).sort(), [
		...['0 accepted', '0 lease', '0 submitting'],
		...['1 accepted', '1 submitting'],
	]);
	assert.deepEqual([...(await acceptedOf(ids[0])), ...(await acceptedOf(ids[1]))].sort(), taskIds());
	const listed = await instance.rest.request('GET', '/rest/executions');
	assert.deepEqual(listed.results.map(({ id }: { id: string }) => String(id)).sort(), [...ids].sort());
});

test('of 50 deliveries of one webhook at once one buys, and 49 get its result', async () => {
	const webhook = {
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		webhookId: 'orders',
		parameters: { path: 'orders', httpMethod: 'POST', responseMode: 'lastNode', options: {} },
	};
	const order = generate({ purchaseKey: '={{ $json.body.order }}' }, '={{ $json.body.prompt }}');
	const workflowId = await saveWorkflow(instance, {
		name: 'Orders',
		nodes: [webhook, order].map((node, index) => ({ id: `${index}`, typeVersion: 1, position: [0, 0], ...node })),
		connections: { Webhook: { main: [[{ node: 'Generate', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	});
	await activate(instance, workflowId);
	const deliver = async () => {
		const response = await fetch(`${instance.n8n.url}/webhook/orders`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ order: 4711, prompt: 'one lighthouse' }),
		});
		return (await response.json()) as Record<string, unknown>;
	};
	const answers = await Promise.all(Array.from({ length: 50 }, deliver));
	const [task, ...others] = instance.sandbox.tasks;
	assert.equal(others.length, 0);
	const odd = answers.filter(({ status, task_id: id }) => status !== 'completed' || id !== task?.id);
	assert.deepEqual(odd, []);
	assert.equal(answers.filter(({ reused }) => reused === true).length, 49);
});

test('after a stop, and after the timeout of n8n itself, the IDs that came in are in the log', async () => {
	const stopped = await start([{ prompt: 'a [[sandbox duration=never]]' }]);
	await until('it is accepted', () => instance.sandbox.tasks.length === 1, { everyMs: 10 });
	await stopExecution(instance.rest, stopped);
	await until('the ID is in the log', async () => (await acceptedOf(stopped)).length === 1);
	const items = ['before', 'after [[sandbox create=slow:20s]]'].map((prompt) => ({ prompt }));
	const timedOut = await start(items, {}, { executionTimeout: 12 });
	assert.equal((await finished(timedOut)).status, 'canceled');
	await until('both IDs are in the log', async () => (await acceptedOf(timedOut)).length === 2);
	assert.deepEqual([...(await acceptedOf(stopped)), ...(await acceptedOf(timedOut))].sort(), taskIds());
});

test('spending-report.json adds up purchases and credits by workflow and model; unknown credits stay empty', async () => {
	await removeTable();
	const video = { ...generate(), type: packageType('videoGeneration') };
	const silent = await createWorkflow(instance, [{ prompt: 'a' }], [video]);
	assert.equal((await finished(await startExecution(instance.rest, silent, 'Start'))).status, 'success');
	const executionId = await start([{ prompt: 'b' }, { prompt: 'c' }], { reportCredits: true });
	await until('it is in the log', async () => (await rowsOf(executionId)).some(({ state }) => state === 'run'));
	const id = await saveWorkflow(instance, exampleFor(instance, 'spending-report.json'));
	const report = await finished(await startExecution(instance.rest, id, 'Start'));
	assert.equal(report.status, 'success', JSON.stringify(report.error));
	const [sent] = posted(instance, 'reports');
	assert.deepEqual(sent?.rows, [
		{ Workflow: 'Test', Model: 'gamma-image-2', Purchases: 2, Credits: 8, 'Runs Without Credits': 0 },
		{ Workflow: 'Test', Model: 'alpha-video-1-5-pro', Purchases: 1, Credits: '', 'Runs Without Credits': 1 },
	]);
});

const reasons: Array<[why: string, prepare: () => Promise<unknown>, words: RegExp]> = [
	[
		'the table has other columns',
		async () => {
			await removeTable();
			const columns = [{ name: 'a', type: 'string' }];
			await instance.rest.request('POST', await tablesPath(), { name: 'Gateway Purchases', columns });
		},
		/has no column "state" of the right type: rename or delete this table/,
	],
	[
		'the tables of n8n are full',
		async () => {
			await removeTable();
			await again({ N8N_DATA_TABLES_MAX_SIZE_BYTES: '1' });
		},
		/size limit/i,
	],
	[
		'the node for tables is excluded',
		async () => await again({ NODES_EXCLUDE: '["n8n-nodes-base.dataTable"]' }),
		/does not have the node "Data table"/,
	],
];

async function again(env: Record<string, string>) {
	await instance.end('SIGTERM');
	await instance.restart(env);
}

for (const [why, prepare, words] of reasons)
	test(`where ${why}, a run goes on with a hint, and an item with a key is not bought`, async () => {
		await prepare();
		const execution = await finished(
			await start(
				[
					{ prompt: 'a', order: '' },
					{ prompt: 'b', order: 'k' },
				],
				withKey,
			),
		);
		const [plain, keyed] = itemsOf(execution, 'Generate').map(({ json }) => json);
		assert.equal(plain?.status, 'completed', JSON.stringify(plain));
		assert.equal(keyed?.code, 'purchase_log_unavailable', JSON.stringify(keyed));
		assert.match(String(keyed.details), words);
		assert.equal(instance.sandbox.tasks.length, 1);
		assert.match(JSON.stringify(execution.runData.Generate?.[0]?.hints), /are not recorded in the data table/);
	});
