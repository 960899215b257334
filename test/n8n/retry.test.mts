/** Retry execution of n8n creates only what is missing, and the key is in no log. Retry On Fail and loops: test/nodes, test/simulation. */
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

test('the key is in no log line and in no execution', async () => {
	const prompts = ['a', 'b [[sandbox fail=generation_failed]]', 'c [[sandbox create=504]]'];
	const execution = await run(prompts, { onError: 'continueErrorOutput' });
	assert.equal(itemsOf(execution, 'Generate', { output: 1 }).length, 2);
	assert.ok(!JSON.stringify(execution.record).includes(sandboxKey));
	assert.ok(!logOf(instance).includes(sandboxKey));
});
