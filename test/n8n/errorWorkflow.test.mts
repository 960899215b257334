/** What n8n hands on to an error workflow: the code, and the IDs of all that the failed execution has bought, in fields of their own. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { withParameters } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import {
	activate,
	exampleFor,
	executionsOf,
	kindOfFile,
	posted,
	saveWorkflow,
	untilExecuted,
} from './support/production.mts';
import { joinN8n, type Joined } from './support/shared.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

let instance: Joined;
let alertId: string;
before(async () => {
	instance = await joinN8n({ imageTaskMs: 400 });
	alertId = await saveWorkflow(instance, exampleFor(instance, 'failed-batch-alert.json'));
	await activate(instance, alertId);
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

for (const wait of ['untilReady', 'acrossRestarts'])
	test(`failed-batch-alert.json posts the code and the IDs of a batch of which one task has failed, with ${wait}`, async () => {
		const { sandbox, rest } = instance;
		const prompts = ['one', 'two [[sandbox fail=model_error]]', 'three'].map((prompt) => `${wait} ${prompt}`);
		const path = `fails-${wait}`;
		const webhook = {
			name: 'Webhook',
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			webhookId: path,
			parameters: { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} },
		};
		const split = {
			name: 'Split',
			type: 'n8n-nodes-base.splitOut',
			parameters: { fieldToSplitOut: 'body.prompts', options: { destinationFieldName: 'prompt' } },
		};
		const generate = {
			name: 'Generate',
			type: packageType('imageGeneration'),
			parameters: { prompt: '={{ $json.prompt }}', result: 'urlOnly', wait, options: { pollIntervalSeconds: 1 } },
		};
		const connections = { Start: { main: [[]] }, Webhook: { main: [[{ node: 'Split', type: 'main', index: 0 }]] } };
		const workflowId = await createWorkflow(
			instance,
			[],
			[webhook, split, generate],
			{ errorWorkflow: alertId },
			connections,
		);
		await activate(instance, workflowId);
		const earlier = (await executionsOf(instance, alertId)).length;
		await fetch(`${instance.n8n.url}/webhook/${path}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ prompts }),
		});
		await untilExecuted(instance, alertId, earlier + 1);
		const alert = await readExecution(rest, String((await executionsOf(instance, alertId)).at(-1)));
		assert.equal(alert.status, 'success', JSON.stringify(alert.error));
		const { message, code, ids } = (posted(instance, 'failed-batches')[0] ?? {}) as Record<string, unknown> & {
			ids: string[];
		};
		assert.match(String(message), /has failed: The service could not finish task/);
		assert.equal(code, 'task_failed');
		assert.equal(ids[0], sandbox.tasks.find(({ body }) => body.prompt === prompts[1])?.id, 'the failed one first');
		assert.deepEqual([...ids].sort(), sandbox.tasks.map(({ id }) => id).sort());
	});

test('failed-batch-alert.json fetches and stores what the IDs of an alert name, and buys nothing', async () => {
	const { sandbox, rest } = instance;
	const node = {
		name: 'Generate',
		type: packageType('imageGeneration'),
		parameters: { prompt: 'a paid one', wait: 'dontWait' },
	};
	await untilFinished(rest, await startExecution(rest, await createWorkflow(instance, [{}], [node]), 'Start'));
	const ids = sandbox.tasks.map(({ id }) => id);
	const rescue = withParameters(exampleFor(instance, 'failed-batch-alert.json'), 'Set IDs', {
		assignments: { assignments: [{ id: '1', name: 'ids', type: 'array', value: JSON.stringify(ids) }] },
	});
	const execution = await untilFinished(
		rest,
		await startExecution(rest, await saveWorkflow(instance, rescue), 'Start'),
	);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(
		itemsOf(execution, 'Store File').map(({ json }) => kindOfFile(json.fileName)),
		['png'],
	);
	assert.equal(sandbox.tasks.length, 1);
});
