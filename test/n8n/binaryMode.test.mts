/** Files in both ways in which a workflow can hold them: beside the JSON, or (setting `binaryMode`) in it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { joinN8n, type Joined } from './support/shared.mts';
import { createWorkflow, oneStep, packageType } from './support/workflow.mts';

let instance: Joined;
before(async () => {
	instance = await joinN8n({ imageTaskMs: 400 });
});
after(() => instance?.close());

for (const binaryMode of ['separate', 'combined']) {
	test(`a generated picture is uploaded for the next one: ${binaryMode}`, async () => {
		const { rest, sandbox } = instance;
		sandbox.reset();
		const images = { image: [{ source: 'binary', binaryPropertyName: 'data' }] };
		const next = {
			name: 'From File',
			type: packageType('imageGeneration'),
			parameters: { prompt: 'again', images, options: { pollIntervalSeconds: 1 } },
		};
		const nodes = [...oneStep, next];
		const workflowId = await createWorkflow(instance, [{ prompt: 'one' }, { prompt: 'two' }], nodes, { binaryMode });
		const execution = await untilFinished(rest, await startExecution(rest, workflowId, 'Start'));
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.equal(itemsOf(execution, 'From File').length, 2);
		assert.equal(sandbox.uploads.length, 2);
		const [{ binary } = {}] = itemsOf(execution, 'Generate');
		assert.equal(binary === undefined, binaryMode === 'combined', 'n8n holds the file as the setting says');
	});
}
