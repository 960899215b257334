/** Executions that run at the same time in one n8n share the limits of their account. How it learns them: `npm run bench -- account`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { joinN8n, type Joined } from './support/shared.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

const PLACES = 5;
const [EXECUTIONS, ITEMS] = [5, 8];

let instance: Joined;
before(async () => {
	instance = await joinN8n({ imageTaskMs: 1_000, tasksAtOnce: PLACES });
});
after(() => instance?.close());

test('five executions with Concurrent Tasks of the Account together never ask for more than the account can run', async () => {
	const { rest, sandbox } = instance;
	const data = { ...instance.credential.data, advanced: true, concurrentTasks: PLACES };
	const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Five', type: credentialType, data });
	const parameters = { prompt: '={{ $json.prompt }} of {{ $execution.id }}', result: 'urlOnly' };
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const items = Array.from({ length: ITEMS }, (_, item) => ({ prompt: `picture ${item}` }));
	const signed = { rest, credential: { id: String(id), name: String(name), data } };
	const workflowId = await createWorkflow(signed, items, [node]);
	const started = Array.from({ length: EXECUTIONS }, () => startExecution(rest, workflowId, 'Start'));
	for (const executionId of await Promise.all(started)) {
		const execution = await untilFinished(rest, executionId);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.equal(itemsOf(execution, 'Generate').length, ITEMS);
	}
	assert.equal(sandbox.tasks.length, EXECUTIONS * ITEMS);
	const refused = sandbox.requests.filter(({ status }) => status === 429).length;
	assert.equal(refused, 0, 'where each execution counted for itself, the service would answer 429');
});
