/** Stop, retry and errors in a real n8n: nothing is paid twice, and no task is lost. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { itemsOf, readExecution, startExecution, stopExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { sandboxKey, startInstance, type Instance } from './support/instance.mts';
import { until } from './support/until.mts';
import { createWorkflow, oneStep } from './support/workflow.mts';

let instance: Instance;
before(async () => {
	instance = await startInstance({ sandbox: { imageTaskMs: 400, videoTaskMs: 400 } });
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A workflow with one node of the package and an item for each prompt. */
const createRun = async (prompts: string[], settings: Record<string, unknown> = {}) =>
	await createWorkflow(
		instance,
		prompts.map((prompt) => ({ prompt })),
		oneStep.map((node) => ({ ...node, ...settings })),
	);

const log = () => instance.n8n.server.lastLines(10_000);

for (const count of [1, 50]) {
	test(`a stop ends ${count} waiting tasks within seconds, and their IDs are in the log and with the execution`, async () => {
		const prompts = Array.from({ length: count }, (_, index) => `picture ${index} [[sandbox duration=120s]]`);
		const workflowId = await createRun(prompts, { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 });
		const executionId = await startExecution(instance.rest, workflowId, 'Start');
		while (instance.sandbox.tasks.length < count) await pause(100);
		await pause(500);
		await stopExecution(instance.rest, executionId);
		const execution = await untilFinished(instance.rest, executionId, { timeoutMs: 5_000 });
		assert.equal(execution.status, 'canceled');
		const requests = instance.sandbox.requests.length;
		await pause(2_500);
		assert.equal(instance.sandbox.requests.length, requests, 'no request leaves after the stop');
		assert.equal(instance.sandbox.tasks.length, count);
		for (const { id } of instance.sandbox.tasks) assert.ok(log().includes(id), `the log names ${id}`);
		const { record } = await readExecution(instance.rest, executionId);
		assert.ok(
			JSON.stringify(record.customData ?? record).includes(instance.sandbox.tasks[0]?.id ?? '?'),
			'the custom data names the first task',
		);
	});
}

/** The files that n8n keeps of executions. */
const keptFiles = () =>
	readdirSync(join(instance.n8n.userFolder, '.n8n'), { recursive: true, encoding: 'utf8' }).filter((path) =>
		/binary_data\/./.test(path),
	);

test('a stop in the middle of a download leaves no part of the file', async () => {
	await untilFinished(instance.rest, await startExecution(instance.rest, await createRun(['a']), 'Start'));
	const before = keptFiles();
	assert.ok(before.length > 0, 'a download that is not stopped leaves a file');
	const workflowId = await createRun(['slow [[sandbox bytes=50 bytes_per_second=200000]]'], { retryOnFail: true });
	const executionId = await startExecution(instance.rest, workflowId, 'Start');
	while (instance.sandbox.fileRequests.length < 2) await pause(100);
	await until('the file is being written', () => keptFiles().length > before.length);
	await stopExecution(instance.rest, executionId);
	assert.equal((await untilFinished(instance.rest, executionId, { timeoutMs: 2_000 })).status, 'canceled');
	await until('its part is gone', () => keptFiles().length === before.length, { withinMs: 10_000 });
	assert.deepEqual(keptFiles(), before);
	assert.equal(instance.sandbox.fileRequests.length, 2, 'it was not begun again');
});

test('a stop during a submission: the answer that comes late is in the log with its ID', async () => {
	const workflowId = await createRun(['late [[sandbox create=slow:3s!after duration=120s]]'], { retryOnFail: true });
	const executionId = await startExecution(instance.rest, workflowId, 'Start');
	while (instance.sandbox.requests.length === 0) await pause(50);
	await stopExecution(instance.rest, executionId);
	const execution = await untilFinished(instance.rest, executionId, { timeoutMs: 2_000 });
	assert.equal(execution.status, 'canceled');
	await pause(4_000);
	await until('the service has accepted the task', () => instance.sandbox.tasks.length > 0);
	const late = new RegExp(`task ${instance.sandbox.tasks[0]?.id} .*was accepted after the execution was stopped`);
	await until('its ID is logged', () => late.test(log()));
	assert.equal(instance.sandbox.requests.length, 1, 'nothing else was sent');
});

for (const loadWorkflow of [false, true]) {
	test(`Retry execution (${loadWorkflow ? 'currently saved' : 'original'} workflow) creates only what is missing`, async () => {
		instance.sandbox.faults.add({ on: 'create', match: { promptIncludes: 'bad' }, do: '400' });
		const workflowId = await createRun(['good 1 [[sandbox duration=3s]]', 'bad', 'good 2 [[sandbox duration=3s]]']);
		const first = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
		assert.equal(first.status, 'error');
		for (const { id } of instance.sandbox.tasks)
			assert.ok(JSON.stringify(first.error).includes(id), `the error names ${id}`);
		assert.deepEqual(first.error.failure, { cause: 'configuration-invalid' });
		const tracing = first.runData.Generate?.at(-1)?.metadata?.tracing;
		assert.deepEqual(
			String(tracing?.['gateway.ids']).split(', ').sort(),
			instance.sandbox.tasks.map(({ id }) => id).sort(),
		);
		assert.match(
			String(instance.sandbox.requests[0]?.headers['user-agent']),
			/^n8n-nodes-generation-gateway\/\d+\.\d+\.\d+/,
		);
		const { id } = await instance.rest.request('POST', `/rest/executions/${first.id}/retry`, { loadWorkflow });
		const second = await untilFinished(instance.rest, String(id));
		assert.equal(second.status, 'success', JSON.stringify(second.error));
		assert.equal(itemsOf(second, 'Generate').length, 3);
		assert.equal(instance.sandbox.tasks.length, 3);
	});
}

test('Retry On Fail after a partial failure creates only what is missing', async () => {
	instance.sandbox.faults.add({ on: 'create', match: { promptIncludes: 'bad' }, do: '400' });
	const workflowId = await createRun(['good 1 [[sandbox duration=3s]]', 'bad', 'good 2 [[sandbox duration=3s]]'], {
		retryOnFail: true,
		maxTries: 2,
		waitBetweenTries: 100,
	});
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(
		itemsOf(execution, 'Generate').map(({ json }) => json.status),
		['completed', 'completed', 'completed'],
	);
	assert.equal(instance.sandbox.tasks.length, 3);
});

test('each round of a loop is a purchase of its own, with the same words too', async () => {
	const items = ['the same', 'the same', 'the same'].map((prompt) => ({ prompt }));
	const loop = {
		name: 'Loop',
		type: 'n8n-nodes-base.splitInBatches',
		typeVersion: 3,
		parameters: { batchSize: 1, options: {} },
	};
	const workflowId = await createWorkflow(
		instance,
		items,
		[loop, ...oneStep],
		{},
		{
			Loop: { main: [[], [{ node: 'Generate', type: 'main', index: 0 }]] },
			Generate: { main: [[{ node: 'Loop', type: 'main', index: 0 }]] },
		},
	);
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const ids = [0, 1, 2].map((run) => itemsOf(execution, 'Generate', { run })[0]?.json.task_id);
	assert.equal(new Set(ids).size, 3);
	assert.equal(instance.sandbox.tasks.length, 3);
});

test('the key is in no log line and in no execution', async () => {
	const workflowId = await createRun(['a', 'b [[sandbox fail=generation_failed]]', 'c [[sandbox create=504]]'], {
		onError: 'continueErrorOutput',
	});
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
	assert.equal(execution.status, 'success');
	const failed = itemsOf(execution, 'Generate', { output: 1 });
	assert.equal(failed.length, 2);
	assert.ok(failed[0]?.json.details.task_id, 'the error branch has the task id');
	assert.ok(!JSON.stringify(execution.record).includes(sandboxKey));
	assert.ok(!log().includes(sandboxKey));
});
