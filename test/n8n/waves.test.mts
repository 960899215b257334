/** Survive Restarts with more items than Concurrent Tasks: submitted in waves, also when n8n dies in the middle. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { INodeExecutionData } from 'n8n-workflow';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { executionsOf } from './support/production.mts';
import { pause, until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

const ITEMS = 60;
const PLACES = 20;

let instance: Instance;
before(async () => {
	instance = await startInstance();
});
after(() => instance?.close());

async function start(word: string, settings: object = {}, directive = () => 'duration=6s') {
	const items = Array.from({ length: ITEMS }, (_, item) => ({ prompt: `${word} ${item} [[sandbox ${directive()}]]` }));
	const parameters = {
		prompt: '={{ $json.prompt }}',
		options: { surviveRestarts: true, concurrentTasks: PLACES },
	};
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters, ...settings };
	const workflowId = await createWorkflow(instance, items, [node]);
	return { workflowId, executionId: await startExecution(instance.rest, workflowId, 'Start') };
}

const tasksOf = (word: string) =>
	instance.sandbox.tasks.filter(({ body }) => String(body.prompt).startsWith(`${word} `));
const storedBytes = async (workflowId: string) => {
	const records = await Promise.all(
		(await executionsOf(instance, workflowId)).map(
			async (id) => await instance.rest.request('GET', `/rest/executions/${id}`),
		),
	);
	return records.reduce((sum, { data }) => sum + String(data).length, 0);
};

test('all items arrive in order, and never more than Concurrent Tasks run at once', async () => {
	const { workflowId, executionId } = await start('calm');
	let most = 0;
	const watching = setInterval(() => {
		const now = Date.now();
		most = Math.max(most, tasksOf('calm').filter(({ endsAt }) => endsAt > now).length);
	}, 100);
	const execution = await untilFinished(instance.rest, executionId);
	clearInterval(watching);
	const items = itemsOf(execution, 'Generate');
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(
		(items as INodeExecutionData[]).map(({ json, pairedItem }) => [json.status, json.task_id, pairedItem]),
		Array.from({ length: ITEMS }, (_, item) => [
			'completed',
			tasksOf('calm').find(({ body }) => String(body.prompt).startsWith(`calm ${item} `))?.id,
			{ item },
		]),
	);
	assert.equal(tasksOf('calm').length, ITEMS);
	assert.ok(most <= PLACES, `${most} tasks at once`);
	assert.ok((await storedBytes(workflowId)) < 1_500_000);
});

test('killed in the middle: what is left is submitted, nothing twice, and at most one wave is in doubt', async () => {
	const { executionId } = await start('killed', { onError: 'continueRegularOutput' });
	await until('the second wave is submitted', () => tasksOf('killed').length > PLACES + 3);
	const before = tasksOf('killed').length;
	await instance.kill();
	await instance.restart();
	const execution = await untilFinished(instance.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const items = itemsOf(execution, 'Generate');
	assert.equal(items.length, ITEMS);
	const doubtful = items.filter(({ json }) => json.error !== undefined);
	assert.ok(
		doubtful.every(({ json }) => json.code === 'outcome_still_unknown'),
		JSON.stringify(doubtful.map(({ json }) => json)),
	);
	assert.ok(doubtful.length <= PLACES, `${doubtful.length} in doubt`);
	const prompts = tasksOf('killed').map(({ body }) => body.prompt);
	assert.deepEqual(prompts, [...new Set(prompts)], 'bought once');
	assert.ok(prompts.length > before, 'what was left was submitted');
	assert.ok(prompts.length >= ITEMS - doubtful.length);
});

test('Retry On Fail is played by us: what has failed is submitted again', async () => {
	let made = 0;
	const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 100, onError: 'continueRegularOutput' };
	const { executionId } = await start('failing', settings, () =>
		made++ === 30 ? 'fail=generation_failed duration=1s' : 'duration=1s',
	);
	const execution = await untilFinished(instance.rest, executionId);
	const failed = itemsOf(execution, 'Generate').filter(({ json }) => json.error !== undefined);
	assert.equal(failed.length, 1);
	assert.equal(failed[0]?.json.earlier_task_ids.length, 2, 'three tries');
	assert.equal(tasksOf('failing').length, ITEMS + 2);
});

test('after a stop nothing more is submitted', async () => {
	const { executionId } = await start('stopped', {}, () => 'duration=4s');
	await until('the first wave is submitted', () => tasksOf('stopped').length >= PLACES);
	await instance.rest.request('POST', `/rest/executions/${executionId}/stop`);
	await pause(3_000);
	const before = tasksOf('stopped').length;
	await pause(6_000);
	assert.equal(tasksOf('stopped').length, before);
	assert.ok(before < ITEMS);
});

test('after a waiting execution was deleted, nothing more is submitted, by those who go on neither', async () => {
	const { workflowId, executionId } = await start('deleted', {}, () => 'duration=20s');
	await until('the first wave is submitted', () => tasksOf('deleted').length >= PLACES);
	await until('it waits', async () => (await readExecution(instance.rest, executionId)).status === 'waiting');
	await until('all are asleep or at work', async () => (await executionsOf(instance, workflowId)).length === 3);
	// It asks every half second who waits for it, and where n8n is slow to answer every ten seconds.
	await pause(8_000);
	await instance.rest.request('POST', '/rest/executions/delete', { ids: [executionId] });
	const before = tasksOf('deleted').length;
	assert.ok(before < ITEMS);
	await until('the tasks have finished', () => tasksOf('deleted').every(({ endsAt }) => endsAt < Date.now()));
	await pause(8_000);
	assert.equal(tasksOf('deleted').length, before);
	const left = await executionsOf(instance, workflowId);
	await until('the others have ended', async () =>
		(await Promise.all(left.map((id) => readExecution(instance.rest, id)))).every(
			({ status }) => !['running', 'waiting'].includes(status),
		),
	);
});
