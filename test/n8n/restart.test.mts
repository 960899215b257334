/** kill -9 of n8n in the middle of a wait, and a restart: what n8n recovers, what it cannot, and which pattern protects. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, listExecutions, saveWorkflow } from './support/production.mts';
import { readPurchases, withPurchaseLog } from './support/purchaseLog.mts';
import { until } from './support/until.mts';
import { createWaitLoop, createWorkflow, oneStep, packageType, twoSteps, waitForTasks } from './support/workflow.mts';

const saved = { saveExecutionProgress: true };

let instance: Instance;
let executionIds: Record<'oneStep' | 'twoSteps' | 'notSaved' | 'loop', string>;
let accepted: number;

/** Of all tasks that were bought for prompts with this word. */
const tasksOf = (word: string) =>
	instance.sandbox.tasks
		.filter(({ body }) => String(body.prompt).includes(word))
		.map(({ id }) => id)
		.sort();
const taskIdsIn = (execution: Execution, node: string) =>
	itemsOf(execution, node)
		.map(({ json }) => String(json.task_id))
		.sort();

type Task = Instance['sandbox']['tasks'][number];

const isOf = (pattern: string) => (task: Task) => String(task.body.prompt).startsWith(`${pattern} `);
const isRead = ({ id }: Task) =>
	instance.sandbox.requests.some(({ method, path }) => method === 'GET' && path.includes(id));

/** One kill for all tests: an execution of each pattern is in the middle of its wait when n8n dies. */
before(async () => {
	instance = await startInstance();
	const { rest } = instance;
	const items = (word: string) => [1, 2].map((number) => ({ prompt: `${word} ${number} [[sandbox duration=never]]` }));
	const workflowIds = {
		oneStep: await createWorkflow(instance, items('oneStep'), oneStep, saved),
		twoSteps: await createWorkflow(instance, items('twoSteps'), twoSteps, saved),
		notSaved: await createWorkflow(instance, items('notSaved'), twoSteps),
		loop: await createWaitLoop(instance, items('loop')),
	};
	const started: Record<string, string> = {};
	for (const [pattern, id] of Object.entries(workflowIds)) started[pattern] = await startExecution(rest, id, 'Start');
	executionIds = started as typeof executionIds;
	await until('all tasks are accepted', () => instance.sandbox.tasks.length === 8);
	await until('the loop sleeps', async () => (await readExecution(rest, executionIds.loop)).status === 'waiting');
	await until('the second steps have looked for the first time', () =>
		['twoSteps', 'notSaved'].every((pattern) => instance.sandbox.tasks.filter(isOf(pattern)).every(isRead)),
	);
	accepted = instance.sandbox.tasks.length;
	await instance.kill();
	instance.sandbox.release();
	await instance.restart();
});
after(() => instance?.close());

const retry = async (executionId: string, loadWorkflow = false) => {
	const { id } = await instance.rest.request('POST', `/rest/executions/${executionId}/retry`, { loadWorkflow });
	return await untilFinished(instance.rest, String(id));
};

test('the log names every task that was accepted before the kill', () => {
	const log = readFileSync(instance.n8n.logFile, 'utf8');
	assert.equal(accepted, 8);
	for (const { id } of instance.sandbox.tasks) assert.ok(log.includes(`task ${id} `), `the log names ${id}`);
});

for (const loadWorkflow of [false, true]) {
	test(`two steps: Retry execution (${loadWorkflow ? 'currently saved' : 'original'} workflow) goes on with the second, and nothing is bought again`, async () => {
		const first = await untilFinished(instance.rest, executionIds.twoSteps);
		assert.equal(first.status, 'crashed');
		assert.deepEqual(taskIdsIn(first, 'Generate'), tasksOf('twoSteps'), 'what the first step bought was saved');
		const bought = instance.sandbox.tasks.length;
		const second = await retry(executionIds.twoSteps, loadWorkflow);
		assert.equal(second.status, 'success', JSON.stringify(second.error));
		assert.deepEqual(taskIdsIn(second, 'Wait'), tasksOf('twoSteps'));
		for (const { json, binary } of itemsOf(second, 'Wait')) {
			assert.equal(json.status, 'completed');
			assert.ok((await instance.rest.readBinary(binary?.data.id)).length > 0, 'with its file');
		}
		assert.equal(instance.sandbox.tasks.length, bought);
	});
}

test('two steps without Save execution progress: n8n refuses the retry, and nothing is bought again', async () => {
	const first = await untilFinished(instance.rest, executionIds.notSaved);
	assert.equal(first.status, 'crashed');
	assert.ok(!JSON.stringify(first.runData).includes(String(tasksOf('notSaved')[0])), 'the IDs are in the log only');
	const bought = instance.sandbox.tasks.length;
	await assert.rejects(retry(executionIds.notSaved), /cannot be retried/);
	assert.equal(instance.sandbox.tasks.length, bought);
});

test('one step: n8n has nothing of the node, a retry buys nothing all the same, and Wait for Task finishes with the IDs of the log', async () => {
	const { rest, sandbox } = instance;
	const first = await untilFinished(rest, executionIds.oneStep);
	assert.equal(first.status, 'crashed');
	assert.equal(itemsOf(first, 'Generate').length, 0);

	const inLog = new RegExp(
		`task (\\S+) .*was accepted, node "Generate", item \\d+, execution ${executionIds.oneStep}$`,
		'gm',
	);
	const taskIds = [...readFileSync(instance.n8n.logFile, 'utf8').matchAll(inLog)].map(([, id]) => ({ task_id: id }));
	assert.deepEqual(taskIds.map(({ task_id }) => task_id).sort(), tasksOf('oneStep'));
	const bought = sandbox.tasks.length;
	const finishing = await startExecution(rest, await createWorkflow(instance, taskIds, [waitForTasks]), 'Start');
	const finished = await untilFinished(rest, finishing);
	assert.equal(finished.status, 'success', JSON.stringify(finished.error));
	assert.equal(itemsOf(finished, 'Wait').filter(({ binary }) => binary?.data).length, 2);
	assert.equal(sandbox.tasks.length, bought);

	for (const loadWorkflow of [false, true]) {
		const again = await retry(executionIds.oneStep, loadWorkflow);
		assert.equal(again.status, 'error');
		assert.match(String(again.error?.message), /may or may not have accepted this task in an earlier try/);
		assert.equal(sandbox.tasks.length, bought, 'what was submitted was written down before');
	}
});

test('a loop with a Wait node goes on by itself, as if nothing had happened', async () => {
	const execution = await untilFinished(instance.rest, executionIds.loop);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const items = itemsOf(execution, 'Finished');
	assert.deepEqual(taskIdsIn(execution, 'Finished'), tasksOf('loop'));
	for (const { binary } of items) assert.equal(binary?.data.mimeType, 'image/png');
	assert.equal(items.length, 2);
});

test('with the purchase log, a production retry reads a sheet whose rows have moved: each row is bought once, and gets its own task', async () => {
	const { sandbox } = instance;
	const row = (name: string) => ({ prompt: `sheet ${name} [[sandbox duration=20s]]` });
	let sheet = ['a', 'b', 'c'].map(row);
	const server = createServer((_, answer) => {
		answer.setHeader('content-type', 'application/json').end(JSON.stringify(sheet));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	try {
		const nodes = [
			{ name: 'Webhook', type: 'n8n-nodes-base.webhook', typeVersion: 2, parameters: { path: 'sheet' } },
			{
				name: 'Rows',
				type: 'n8n-nodes-base.httpRequest',
				typeVersion: 4.2,
				parameters: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, options: {} },
			},
			{
				name: 'Generate',
				type: packageType('imageGeneration'),
				parameters: {
					prompt: '={{ $json.prompt }}',
					options: { pollIntervalSeconds: 1, concurrentTasks: 2 },
				},
			},
		];
		const workflowId = await saveWorkflow(await withPurchaseLog(instance), {
			name: 'Sheet',
			settings: { executionOrder: 'v1' },
			nodes: nodes.map((node, index) => ({
				id: `${index}`,
				webhookId: 'sheet',
				typeVersion: 1,
				position: [0, 0],
				...node,
			})),
			connections: {
				Webhook: { main: [[{ node: 'Rows', type: 'main', index: 0 }]] },
				Rows: { main: [[{ node: 'Generate', type: 'main', index: 0 }]] },
			},
		});
		await activate(instance, workflowId);
		await fetch(`${instance.n8n.url}/webhook/sheet`);
		const ofWorkflow = async () =>
			(await readPurchases(instance)).filter(({ workflow_id: id, state }) => id === workflowId && state === 'accepted');
		await until('two are in the log', async () => (await ofWorkflow()).length === 2);
		await instance.kill();
		await instance.restart();
		sheet = ['new', 'b', 'c', 'a'].map(row);
		const [crashed] = await listExecutions(instance, workflowId);
		assert.equal(crashed?.status, 'crashed');
		const retried = await retry(String(crashed?.id));
		assert.equal(retried.status, 'success', JSON.stringify(retried.error));
		const bought = sandbox.tasks.filter(({ body }) => String(body.prompt).startsWith('sheet'));
		assert.equal(bought.length, 4, 'each row once');
		assert.deepEqual(
			itemsOf(retried, 'Generate').map(({ json }) => json.task_id),
			sheet.map(({ prompt }) => bought.find(({ body }) => body.prompt === prompt)?.id),
		);
	} finally {
		server.close();
	}
});
