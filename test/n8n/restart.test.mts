/** kill -9 of n8n in the middle of a wait, and a restart: what n8n recovers, what it cannot, and which pattern protects. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { until } from './support/until.mts';
import { createWaitLoop, createWorkflow, oneStep, twoSteps, waitForTasks } from './support/workflow.mts';

const saved = { saveExecutionProgress: true };

let instance: Instance;
let executionIds: Record<'oneStep' | 'twoSteps' | 'notSaved' | 'loop', string>;

type Task = Instance['sandbox']['tasks'][number];

const isOf = (pattern: string) => (task: Task) => String(task.body.prompt).startsWith(`${pattern} `);
const tasksOf = (pattern: string) =>
	instance.sandbox.tasks
		.filter(isOf(pattern))
		.map(({ id }) => id)
		.sort();
const taskIdsIn = (execution: Execution, node: string) =>
	itemsOf(execution, node)
		.map(({ json }) => String(json.task_id))
		.sort();
const isRead = ({ id }: Task) =>
	instance.sandbox.requests.some(({ method, path }) => method === 'GET' && path.includes(id));
const BOUGHT = 8;

/** One kill for all tests: an execution of each pattern is in the middle of its wait when n8n dies. */
before(async () => {
	instance = await startInstance();
	const { rest, sandbox } = instance;
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
	await until('all tasks are accepted', () => sandbox.tasks.length === BOUGHT);
	await until('the loop sleeps', async () => (await readExecution(rest, executionIds.loop)).status === 'waiting');
	await until('the others have looked for the first time', () =>
		['oneStep', 'twoSteps', 'notSaved'].every((pattern) => sandbox.tasks.filter(isOf(pattern)).every(isRead)),
	);
	await instance.kill();
	sandbox.release();
	await instance.restart();
});
after(() => instance?.close());

const retry = async (executionId: string, loadWorkflow = false) => {
	const { id } = await instance.rest.request('POST', `/rest/executions/${executionId}/retry`, { loadWorkflow });
	return await untilFinished(instance.rest, String(id));
};
const crashed = async (pattern: keyof typeof executionIds) => {
	const execution = await untilFinished(instance.rest, executionIds[pattern]);
	assert.equal(execution.status, 'crashed');
	return execution;
};

describe('after a kill', { concurrency: true }, () => {
	test('two steps: Retry execution, with the original or the currently saved workflow, goes on with the second', async () => {
		const first = await crashed('twoSteps');
		assert.deepEqual(taskIdsIn(first, 'Generate'), tasksOf('twoSteps'), 'what the first step bought was saved');
		for (const loadWorkflow of [false, true]) {
			const second = await retry(executionIds.twoSteps, loadWorkflow);
			assert.equal(second.status, 'success', JSON.stringify(second.error));
			assert.deepEqual(taskIdsIn(second, 'Wait'), tasksOf('twoSteps'));
			for (const { binary } of itemsOf(second, 'Wait'))
				assert.ok((await instance.rest.readBinary(binary?.data.id)).length > 0, 'with its file');
		}
	});

	test('two steps without Save execution progress: n8n refuses the retry', async () => {
		const first = await crashed('notSaved');
		assert.ok(!JSON.stringify(first.runData).includes(String(tasksOf('notSaved')[0])), 'the IDs are in the log only');
		await assert.rejects(retry(executionIds.notSaved), /cannot be retried/);
	});

	test('one step: n8n has nothing of the node, Get Result finishes with the IDs of the log, and its retry with those of the data table', async () => {
		const { rest } = instance;
		assert.equal(itemsOf(await crashed('oneStep'), 'Generate').length, 0);
		const inLog = new RegExp(
			`task (\\S+) .*was accepted, node "Generate", item \\d+, execution ${executionIds.oneStep}$`,
			'gm',
		);
		const log = readFileSync(instance.n8n.logFile, 'utf8');
		const taskIds = [...log.matchAll(inLog)].map(([, id]) => ({ task_id: id }));
		assert.deepEqual(taskIds.map(({ task_id }) => task_id).sort(), tasksOf('oneStep'));
		const finishing = await createWorkflow(instance, taskIds, [waitForTasks]);
		const finished = await untilFinished(rest, await startExecution(rest, finishing, 'Start'));
		assert.equal(finished.status, 'success', JSON.stringify(finished.error));
		assert.equal(itemsOf(finished, 'Wait').filter(({ binary }) => binary?.data).length, 2);
		const again = await retry(executionIds.oneStep);
		assert.equal(again.status, 'success', JSON.stringify(again.error));
		assert.deepEqual(taskIdsIn(again, 'Generate'), tasksOf('oneStep'));
	});

	test('a loop with a Wait node goes on by itself, as if nothing had happened', async () => {
		const execution = await untilFinished(instance.rest, executionIds.loop);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.deepEqual(taskIdsIn(execution, 'Finished'), tasksOf('loop'));
		for (const { binary } of itemsOf(execution, 'Finished')) assert.equal(binary?.data.mimeType, 'image/png');
	});
});

test('after all of these retries nothing was bought again', () => assert.equal(instance.sandbox.tasks.length, BOUGHT));
