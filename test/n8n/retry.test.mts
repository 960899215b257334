/** Retry On Fail and n8n's Retry execution: each creates only what is missing. Each round of a loop has a purchase of its own. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { sandboxKey } from './support/instance.mts';
import { joinN8n, logOf, type Joined } from './support/shared.mts';
import { createWorkflow, oneStep } from './support/workflow.mts';

let instance: Joined;
before(async () => {
	instance = await joinN8n({ imageTaskMs: 400 });
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

const PARTLY = ['good 1 [[sandbox duration=3s]]', 'bad', 'good 2 [[sandbox duration=3s]]'];

async function run(prompts: string[], settings: Record<string, unknown> = {}) {
	instance.sandbox.faults.add({ on: 'create', match: { promptIncludes: 'bad' }, do: '400' });
	const items = prompts.map((prompt) => ({ prompt }));
	const nodes = oneStep.map((node) => ({ ...node, ...settings }));
	const workflowId = await createWorkflow(instance, items, nodes);
	return await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
}

for (const loadWorkflow of [false, true])
	test(`Retry execution (${loadWorkflow ? 'currently saved' : 'original'} workflow) creates only what is missing`, async () => {
		const first = await run(PARTLY);
		assert.equal(first.status, 'error');
		const ids = instance.sandbox.tasks.map(({ id }) => id).sort();
		for (const id of ids) assert.ok(JSON.stringify(first.error).includes(id), `the error names ${id}`);
		assert.deepEqual(first.error.failure, { cause: 'configuration-invalid' });
		const tracing = first.runData.Generate?.at(-1)?.metadata?.tracing;
		assert.deepEqual(String(tracing?.['gateway.ids']).split(', ').sort(), ids);
		const { id } = await instance.rest.request('POST', `/rest/executions/${first.id}/retry`, { loadWorkflow });
		const second = await untilFinished(instance.rest, String(id));
		assert.equal(second.status, 'success', JSON.stringify(second.error));
		assert.equal(itemsOf(second, 'Generate').length, 3);
		assert.equal(instance.sandbox.tasks.length, 3);
	});

test('Retry On Fail after a partial failure creates only what is missing', async () => {
	const execution = await run(PARTLY, { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 });
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(
		itemsOf(execution, 'Generate').map(({ json }) => json.status),
		['completed', 'completed', 'completed'],
	);
	assert.equal(instance.sandbox.tasks.length, 3);
});

test('each round of a loop is a purchase of its own, with the same words too', async () => {
	const items = Array.from({ length: 3 }, () => ({ prompt: 'the same' }));
	const loop = {
		name: 'Loop',
		type: 'n8n-nodes-base.splitInBatches',
		typeVersion: 3,
		parameters: { batchSize: 1, options: {} },
	};
	const connections = {
		Loop: { main: [[], [{ node: 'Generate', type: 'main', index: 0 }]] },
		Generate: { main: [[{ node: 'Loop', type: 'main', index: 0 }]] },
	};
	const workflowId = await createWorkflow(instance, items, [loop, ...oneStep], {}, connections);
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
	const ids = [0, 1, 2].map((round) => itemsOf(execution, 'Generate', { run: round })[0]?.json.task_id);
	assert.equal(new Set(ids).size, 3);
	assert.equal(instance.sandbox.tasks.length, 3);
});

test('the key is in no log line and in no execution', async () => {
	const prompts = ['a', 'b [[sandbox fail=generation_failed]]', 'c [[sandbox create=504]]'];
	const execution = await run(prompts, { onError: 'continueErrorOutput' });
	assert.equal(itemsOf(execution, 'Generate', { output: 1 }).length, 2);
	assert.ok(!JSON.stringify(execution.record).includes(sandboxKey));
	assert.ok(!logOf(instance).includes(sandboxKey));
});
