/** Executions that an earlier version of the package has left asleep in n8n's database (test/stored/data) are taken up. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { itemsOf, readExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { sandboxKey, startInstance, type Instance } from './support/instance.mts';
import { activate, executionsOf } from './support/production.mts';
import { insertExecutions, readStored, storedExecutions } from './support/storedExecutions.mts';
import { until } from './support/until.mts';
import { createWorkflow } from './support/workflow.mts';

let instance: Instance;
/** The workflow that gets results in the background. */
let receiverId: string;
/** With the tasks of this service in the place of those that the file names. */
const stored = new Map<string, { executionId: string; taskIds: string[] }>();

async function prepareStored(name: string) {
	const { workflowId, receiverId: receiver, credentialId, taskIds, executions: all } = readStored(name);
	const accept = async (before: string) => {
		const answer = await fetch(`${instance.sandbox.baseUrl}/v1/images/generations`, {
			method: 'POST',
			headers: { authorization: `Bearer ${sandboxKey}`, 'content-type': 'application/json' },
			// It has ended before n8n looks: if not, n8n would sleep for another minute.
			body: JSON.stringify({ model: 'gamma-image-2', prompt: `stored as ${before} [[sandbox duration=0s]]` }),
		});
		return ((await answer.json()) as { id: string }).id;
	};
	const now = await Promise.all(taskIds.map(accept));
	stored.set(name, { executionId: String(all[0]?.id), taskIds: now });
	return {
		...Object.fromEntries(taskIds.map((before, index) => [before, String(now[index])])),
		[workflowId]: await createWorkflow(instance, [], []),
		[receiver]: receiverId,
		[credentialId]: instance.credential.id,
	};
}

/** The items that the other workflow has got. */
async function received() {
	const ids = await executionsOf(instance, receiverId);
	const all = await Promise.all(ids.map((id) => readExecution(instance.rest, id)));
	return all.filter(({ status }) => status === 'success').flatMap((execution) => itemsOf(execution, 'Got'));
}

before(async () => {
	instance = await startInstance();
	receiverId = await createWorkflow(
		instance,
		[],
		[
			{ name: 'Called', type: 'n8n-nodes-base.executeWorkflowTrigger' },
			{ name: 'Got', type: 'n8n-nodes-base.noOp' },
		],
	);
	await activate(instance, receiverId);
	const names = storedExecutions();
	const ids = await Promise.all(names.map(prepareStored));
	await instance.end('SIGTERM');
	for (const [index, name] of names.entries()) await insertExecutions(instance, name, ids[index] ?? {});
	await instance.restart();
});
after(() => instance?.close());

describe('what an earlier version has stored', { concurrency: true }, () => {
	for (const name of storedExecutions())
		test(`${name}: the results come, and what was left is submitted`, async () => {
			const { executionId, taskIds } = stored.get(name) ?? { executionId: '', taskIds: [] };
			const arrived = async () => {
				if (name.includes('background')) return (await received()).filter(({ json }) => taskIds.includes(json.task_id));
				const execution = await untilFinished(instance.rest, executionId);
				assert.equal(execution.status, 'success', JSON.stringify(execution.error));
				return itemsOf(execution, 'Generate');
			};
			await until('it is there', async () => (await arrived()).length > 0, { everyMs: 1_000 });
			const items = await arrived();
			assert.deepEqual(
				items.map(({ json }) => json.status),
				items.map(() => 'completed'),
			);
			assert.deepEqual(
				items.slice(0, taskIds.length).map(({ json }) => json.task_id),
				taskIds,
			);
			const isOf = ({ id }: { id: string }) => items.some(({ json }) => json.task_id === id);
			assert.deepEqual(
				instance.sandbox.tasks
					.filter(isOf)
					.flatMap(({ body }) => (String(body.prompt).startsWith('stored') ? [] : body.prompt)),
				name.includes('background') ? [] : ['three'],
			);
		});
});
