/** "Execute node" of n8n's AI Assistant: n8n runs a node alone, and deletes its workflow and executions soon. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, beforeEach, test } from 'node:test';
import { freePort } from '../../tools/processes/freePort.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { readPurchases } from './support/purchaseLog.mts';
import { until } from './support/until.mts';
import { packageType } from './support/workflow.mts';

let instance: Instance;
let port: number;
let projectId: string;

before(async () => {
	port = await freePort();
	const door = fileURLToPath(new URL('support/executeNodeDoor.cjs', import.meta.url));
	instance = await startInstance({
		env: { NODE_OPTIONS: `--require ${door}`, EXECUTE_NODE_PORT: String(port) },
	});
	({ id: projectId } = await instance.rest.request('GET', '/rest/projects/personal'));
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

interface Answer {
	status: string;
	error?: { message: string; description?: string };
	output?: Array<Array<{ json: Record<string, unknown> }>>;
}

async function execute(parameters: Record<string, unknown>): Promise<Answer> {
	const { id, name } = instance.credential;
	const config = { parameters, credentials: { generationGatewayApi: { id, name } } };
	const request = { type: packageType('imageGeneration'), version: 1, config, projectId };
	const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: JSON.stringify(request) });
	return (await answer.json()) as Answer;
}

const workflows = async () => (await instance.rest.request('GET', '/rest/workflows?includeScopes=false')) as unknown[];

test('Until Ready gives the result of a quick task, and nothing of it is left in n8n but its rows', async () => {
	const { output, error } = await execute({ prompt: 'quick' });
	const [task] = instance.sandbox.tasks;
	assert.deepEqual(
		output?.[0]?.map(({ json }) => [json.status, json.task_id, typeof json.url]),
		[['completed', task?.id, 'string']],
		JSON.stringify(error),
	);
	assert.deepEqual(await workflows(), []);
	const rows = await readPurchases(instance);
	assert.ok(rows.some(({ task_id: id }) => id === task?.id));
});

test('Across Restarts and In Another Workflow are refused before anything is sent', async () => {
	for (const wait of ['acrossRestarts', 'inAnotherWorkflow']) {
		const workflowId = { __rl: true, mode: 'id', value: 'any' };
		const { status, error } = await execute({ prompt: 'asleep', wait, workflowId });
		assert.equal(status, 'error');
		assert.match(
			error?.message ?? '',
			/^Wait cannot be .* n8n runs this node alone for 30 s at most.* Set Wait to Don’t Wait/,
		);
	}
	assert.equal(instance.sandbox.requests.length, 0);
});

test('Until Ready ends before n8n does, with the ID; Don’t Wait and Get Result get the result', async () => {
	const { sandbox } = instance;
	const { status, output: unfinished } = await execute({ prompt: 'slow [[sandbox duration=never]]' });
	const [task] = sandbox.tasks;
	assert.equal(status, 'success');
	assert.match(
		String(unfinished?.[0]?.[0]?.json.message),
		new RegExp(`^Task ${task?.id} has not finished in the 30 s that n8n gives .* Get Result`),
	);
	await until('it is in the table', async () =>
		(await readPurchases(instance)).some(({ task_id: id }) => id === task?.id),
	);
	const started = await execute({ prompt: 'later [[sandbox duration=never]]', wait: 'dontWait' });
	const id = started.output?.[0]?.[0]?.json.task_id;
	assert.equal(id, sandbox.tasks[1]?.id);
	sandbox.release();
	for (const taskId of [task?.id, id]) {
		const { output } = await execute({ operation: 'getResult', taskId });
		assert.equal(output?.[0]?.[0]?.json.status, 'completed');
	}
	assert.equal(sandbox.tasks.length, 2, 'bought once each');
});
