/** Files in both ways in which a workflow can hold them: beside the JSON, or (setting `binaryMode`) in it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { createWorkflow, oneStep, packageType } from './support/workflow.mts';

let instance: Instance;
before(async () => {
	instance = await startInstance({ sandbox: { imageTaskMs: 400, videoTaskMs: 400 } });
});
after(() => instance?.close());

for (const binaryMode of ['separate', 'combined']) {
	test(`a generated picture is uploaded, and a video is made from it: ${binaryMode}`, async () => {
		const { rest, sandbox } = instance;
		const type = packageType('imageGeneration');
		const fromFile = { images: { image: [{ source: 'binary', binaryPropertyName: 'data' }] } };
		const upload = {
			name: 'Upload',
			type,
			parameters: { operation: 'uploadImage', options: { includeInputFields: true } },
		};
		const generate = {
			name: 'From File',
			type,
			parameters: { prompt: 'again', ...fromFile, options: { pollIntervalSeconds: 1 } },
		};
		for (const next of [upload, generate]) {
			sandbox.reset();
			const workflowId = await createWorkflow(instance, [{ prompt: 'one' }, { prompt: 'two' }], [...oneStep, next], {
				binaryMode,
			});
			const execution = await untilFinished(rest, await startExecution(rest, workflowId, 'Start'));
			assert.equal(execution.status, 'success', JSON.stringify(execution.error));
			assert.equal(itemsOf(execution, next.name).length, 2);
			assert.equal(sandbox.uploads.length, 2);
			const [{ binary } = {}] = itemsOf(execution, 'Generate');
			assert.equal(binary === undefined, binaryMode === 'combined', 'n8n holds the file as the setting says');
		}
	});
}
