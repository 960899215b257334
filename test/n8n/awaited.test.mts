/**
 * A workflow with Across Restarts, where a webhook or a calling workflow would get the answer too early: the node waits in
 * memory. Who else waits is in test/nodes/answerAwaited; behind other webhooks it sleeps (test/crash).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { activate, listExecutions, saveWorkflow } from './support/production.mts';
import { joinN8n, type Joined } from './support/shared.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType, type TestNode } from './support/workflow.mts';

let instance: Joined;
before(async () => {
	instance = await joinN8n();
});
after(() => instance?.close());

const PROMPT = '={{ $json.prompt ?? "a lighthouse" }}';
const generate: TestNode = {
	name: 'Generate',
	type: packageType('imageGeneration'),
	parameters: { prompt: PROMPT, wait: 'acrossRestarts', options: { pollIntervalSeconds: 1 } },
};

/** Saves the nodes, one after the other, as an active workflow. */
async function publish(nodes: TestNode[]): Promise<string> {
	const connections = nodes
		.slice(1)
		.map(({ name }, index) => [nodes[index]?.name, { main: [[{ node: name, type: 'main', index: 0 }]] }] as const);
	const id = await saveWorkflow(instance, {
		name: 'Answers',
		nodes: nodes.map((node, index) => ({
			id: String(index),
			typeVersion: 1,
			position: [200 * index, 0],
			parameters: {},
			...node,
		})),
		connections: Object.fromEntries(connections),
		settings: { executionOrder: 'v1' },
	} as never);
	await activate(instance, id);
	return id;
}

const webhook = (path: string): TestNode => ({
	name: 'Webhook',
	type: 'n8n-nodes-base.webhook',
	typeVersion: 2.1,
	webhookId: path,
	parameters: { path, httpMethod: 'POST', responseMode: 'lastNode', options: {} },
});

async function post(path: string): Promise<string> {
	const response = await fetch(`${instance.n8n.url}/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: '{}',
	});
	const text = await response.text();
	assert.equal(response.status, 200, text);
	return text;
}

/** The execution that the trigger has started; the others are its sub-executions. */
const executionOf = async (workflowId: string) =>
	await readExecution(instance.rest, (await listExecutions(instance, workflowId))[0]?.id ?? '');

async function assertSaysWhy(workflowId: string, trigger: string) {
	// n8n answers before it has saved the execution.
	await until('the execution has ended', async () => (await executionOf(workflowId)).status === 'success');
	assert.equal((await listExecutions(instance, workflowId)).length, 1, 'no sub-executions have waited in its place');
	const [task] = (await executionOf(workflowId)).runData.Generate ?? [];
	const { hints = [] } = task as unknown as { hints?: Array<{ message: string }> };
	assert.ok(
		hints.some(({ message }) => message.includes(`"${trigger}" waits for the answer of this workflow`)),
		JSON.stringify(hints),
	);
}

/** Calls a workflow of Generate once for each item. */
async function callForEach() {
	const start: TestNode = {
		name: 'Called',
		type: 'n8n-nodes-base.executeWorkflowTrigger',
		typeVersion: 1.1,
		parameters: { inputSource: 'passthrough' },
	};
	const called = await publish([start, generate]);
	const node: TestNode = {
		name: 'Call',
		type: 'n8n-nodes-base.executeWorkflow',
		typeVersion: 1.2,
		parameters: { workflowId: { __rl: true, mode: 'id', value: called }, mode: 'each', options: {} },
	};
	const items = [0, 1].map((index) => ({ prompt: `each ${index} [[sandbox duration=3s]]` }));
	const before: TestNode = { name: 'Before', type: 'n8n-nodes-base.noOp' };
	const calling = await createWorkflow(instance, items, [before, node]);
	return { called, executionId: await startExecution(instance.rest, calling, 'Start') };
}

/** Each item of the calling workflow has the result of its own prompt. */
async function assertPassedOn(executionId: string) {
	const execution = await untilFinished(instance.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const idOf = (index: number) =>
		instance.sandbox.tasks.find(({ body }) => String(body.prompt).startsWith(`each ${index} `))?.id;
	assert.deepEqual(
		itemsOf(execution, 'Call').map(({ json }) => [json.task_id, json.status]),
		[0, 1].map((index) => [idOf(index), 'completed']),
	);
}

describe('Across Restarts', { concurrency: true }, () => {
	test('the caller of a webhook that the last node answers gets the result, and a hint says why the node did not sleep', async () => {
		const id = await publish([webhook('awaited-last'), generate]);
		assert.match(await post('webhook/awaited-last'), /"status":"completed"/);
		await assertSaysWhy(id, 'Webhook');
	});

	test('a workflow that is called for each item does not sleep, as n8n would lose results', async () => {
		const { called, executionId } = await callForEach();
		await assertPassedOn(executionId);
		assert.equal((await listExecutions(instance, called)).length, 2, 'no sub-executions of their own');
	});
});
