/** Report Credits in a real n8n: over a kill, in another workflow, and with a token. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, asleepWorkflows, executionsOf, saveWorkflow } from './support/production.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

let instance: Instance;
before(async () => {
	instance = await startInstance({ sandbox: { imageTaskMs: 25_000 } });
});
after(async () => await instance?.close());

const IMAGE_CREDITS = 4;
const generate = (more: Record<string, unknown>, options: Record<string, unknown> = {}) => ({
	name: 'Generate',
	type: packageType('imageGeneration'),
	parameters: {
		prompt: '={{ $json.prompt }}',
		downloadResult: false,
		options: { reportCredits: true, ...options },
		...more,
	},
});
const items = [{ prompt: 'a' }, { prompt: 'b' }];

test('with Survive Restarts, the credits of the run are reported after a kill of n8n', async () => {
	const id = await createWorkflow(instance, items, [generate({}, { surviveRestarts: true })]);
	const executionId = await startExecution(instance.rest, id, 'Start');
	await until('both are accepted', () => instance.sandbox.tasks.length === 2);
	await until('all sleep', async () => (await asleepWorkflows(instance)).includes(id));
	await instance.kill();
	await instance.restart();
	const execution = await untilFinished(instance.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const runs = execution.runData.Generate?.length ?? 1;
	const results = itemsOf(execution, 'Generate', { run: runs - 1 });
	assert.deepEqual(
		results.map(({ json }) => [json.status, json.run_credits]),
		[
			['completed', 2 * IMAGE_CREDITS],
			['completed', undefined],
		],
	);
});

test('with Start a Workflow, the credits of the run reach the other workflow', async () => {
	instance.sandbox.reset();
	const trigger = 'n8n-nodes-base.executeWorkflowTrigger';
	const receiver = await saveWorkflow(instance, {
		name: 'Receiver',
		nodes: [
			{ id: '1', name: 'Start', type: trigger, typeVersion: 1, position: [0, 0], parameters: {} },
			{ id: '2', name: 'Got', type: 'n8n-nodes-base.noOp', typeVersion: 1, position: [200, 0], parameters: {} },
		],
		connections: { Start: { main: [[{ node: 'Got', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	});
	await activate(instance, receiver);
	const more = { whenDone: 'startWorkflow', workflowId: { __rl: true, mode: 'id', value: receiver } };
	const id = await createWorkflow(instance, items, [generate(more)]);
	await untilFinished(instance.rest, await startExecution(instance.rest, id, 'Start'));
	let results: Array<{ json: Record<string, unknown> }> = [];
	await until('the results arrive', async () => {
		for (const executionId of await executionsOf(instance, receiver)) {
			const execution = await readExecution(instance.rest, executionId);
			if (execution.runData.Got) results = itemsOf(execution, 'Got');
		}
		return results.length > 0;
	});
	assert.deepEqual(
		results.map(({ json }) => json.run_credits),
		[2 * IMAGE_CREDITS, undefined],
	);
});
