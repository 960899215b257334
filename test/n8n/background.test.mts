/**
 * In Another Workflow: the node returns at once, and another workflow gets the results, as in the three examples for it. That all
 * of it survives a kill is in `durable`.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { withParameters, type Workflow } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { startChatModel, type ChatModel } from './support/chatModel.mts';
import { activate, deactivate, executionsOf, LEAP_DAYS, readExample, saveWorkflow } from './support/production.mts';
import { joinN8n, type Joined } from './support/shared.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

let instance: Joined;
let model: ChatModel;
/** The messages that the examples have posted. */
const posted: Array<Record<string, string>> = [];
const app = createServer((request, response) => {
	let text = '';
	request.on('data', (chunk) => (text += String(chunk)));
	request.on('end', () => {
		posted.push(JSON.parse(text) as Record<string, string>);
		response.end();
	});
});
let appUrl: string;

before(async () => {
	await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
	appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
	model = await startChatModel();
	instance = await joinN8n({ imageTaskMs: 2_000, videoTaskMs: 2_000 });
});
after(async () => {
	await instance?.close();
	await model?.close();
	app.close();
});

/** An active workflow for results. */
async function createActiveReceiver(): Promise<string> {
	const id = await saveWorkflow(instance, {
		name: 'Receiver',
		nodes: [
			{
				id: '1',
				name: 'Start',
				type: 'n8n-nodes-base.executeWorkflowTrigger',
				typeVersion: 1,
				position: [0, 0],
				parameters: {},
			},
			{ id: '2', name: 'Got', type: 'n8n-nodes-base.noOp', typeVersion: 1, position: [200, 0], parameters: {} },
		],
		connections: { Start: { main: [[{ node: 'Got', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	});
	await activate(instance, id);
	return id;
}

/** Runs Generate to its end, which is not that of its tasks. */
async function generate(workflowId: string, prompts: string[]) {
	const parameters = {
		prompt: '={{ $json.prompt }}',
		wait: 'inAnotherWorkflow',
		workflowId: { __rl: true, mode: 'id', value: workflowId },
	};
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const items = prompts.map((prompt) => ({ prompt }));
	const id = await createWorkflow(instance, items, [node]);
	return await untilFinished(instance.rest, await startExecution(instance.rest, id, 'Start'));
}

const tasksOf = (word: string) => instance.sandbox.tasks.filter(({ body }) => String(body.prompt).includes(word));

/** The executions of a workflow in which this node has had something to do, once there are so many. */
async function untilStarted(workflowId: string, node: string, count = 1): Promise<Execution[]> {
	const starts = async () => {
		const ids = await executionsOf(instance, workflowId);
		const all = await Promise.all(ids.map((id) => readExecution(instance.rest, id)));
		return all.filter(({ runData, status }) => runData[node] !== undefined && status === 'success');
	};
	await until(`${node} has been started ${count} times`, async () => (await starts()).length >= count);
	return await starts();
}

async function saveExample(file: string, change: (workflow: Workflow) => Workflow): Promise<string> {
	const id = await saveWorkflow(instance, change(readExample(file)));
	await activate(instance, id);
	return id;
}

const withNode = (workflow: Workflow, name: string, more: Record<string, unknown>): Workflow => ({
	...workflow,
	nodes: workflow.nodes.map((node) => (node.name === name ? { ...node, ...more } : node)),
});

async function post(path: string, body: Record<string, unknown>): Promise<Record<string, string>> {
	const response = await fetch(`${instance.n8n.url}/webhook/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	assert.equal(response.status, 200, await response.clone().text());
	return (await response.json()) as Record<string, string>;
}

describe('In Another Workflow', { concurrency: true }, () => {
	test('the results for a workflow that cannot be started any more are kept, and a retry hands them on', async () => {
		const receiver = await createActiveReceiver();
		const returned = await generate(receiver, ['late [[sandbox duration=never]]']);
		await deactivate(instance, receiver);
		instance.sandbox.release();
		const waiting = itemsOf(returned, 'Generate')[0]?.json.execution_id;
		const failed = await untilFinished(instance.rest, waiting);
		assert.equal(failed.status, 'error');
		const [task, ...others] = tasksOf('late');
		assert.deepEqual(
			itemsOf(failed, 'Results', { run: (failed.runData.Results?.length ?? 0) - 1 }).map(({ json, binary }) => [
				json.task_id,
				binary !== undefined,
			]),
			[[task?.id, true]],
		);
		await activate(instance, receiver);
		const { id } = await instance.rest.request('POST', `/rest/executions/${waiting}/retry`, { loadWorkflow: false });
		assert.equal((await untilFinished(instance.rest, String(id))).status, 'success');
		const [start] = await untilStarted(receiver, 'Got');
		assert.deepEqual(
			itemsOf(start as Execution, 'Got').map(({ json }) => json.task_id),
			[task?.id],
		);
		assert.equal(others.length, 0, 'bought once');
	});

	test('background-webhook.json answers at once with the ID of each task, and starts once for each video', async () => {
		const id = await saveExample('background-webhook.json', (workflow) =>
			withNode(withParameters(workflow, 'Send to App', { url: appUrl }), 'Order', { webhookId: 'order' }),
		);
		const prompts = ['ordered first', 'ordered in vain [[sandbox create=400]]', 'ordered last'];
		const answer: unknown = await post('video-order', { order: '17', prompts });
		const [first, last] = ['ordered first', 'ordered last'].map((prompt) => tasksOf(prompt)[0]?.id);
		assert.deepEqual(
			(answer as Array<Record<string, string>>).map(({ order, prompt, task_id, error }) => [
				...[order, prompt, task_id],
				typeof error,
			]),
			[
				['17', prompts[0], first, 'undefined'],
				['17', prompts[1], undefined, 'string'],
				['17', prompts[2], last, 'undefined'],
			],
		);
		const starts = await untilStarted(id, 'Send to App', 2);
		assert.deepEqual(
			starts.map((start) => itemsOf(start, 'When a Video Is Ready').length),
			[1, 1],
		);
		const sent = posted.filter(({ order }) => order === '17');
		assert.deepEqual(
			sent.map(({ task_id, url }) => [task_id, new URL(url ?? '').pathname.endsWith('.mp4')]).sort(),
			[first, last].map((taskId) => [taskId, true]).sort(),
		);
	});

	test('background-chat.json: the agent answers at once, and the picture is posted to the same chat', async () => {
		const data = { apiKey: 'none', url: model.baseUrl, header: false };
		const made = await instance.rest.request('POST', '/rest/credentials', { name: 'Model', type: 'openAiApi', data });
		const credentials = { openAiApi: { id: String(made.id), name: String(made.name) } };
		const id = await saveExample('background-chat.json', (workflow) => {
			const called = withNode(workflow, 'When a Message Comes', { webhookId: 'background-chat' });
			return withNode(withParameters(called, 'Post to Chat', { url: appUrl }), 'Chat Model', { credentials });
		});
		const call = { name: 'Generate_Image', arguments: { prompt: 'chatted' } };
		model.play([call], (said) => `It comes later: ${said.join(' ')}`);
		const asked = { action: 'sendMessage', sessionId: 'session 7', chatInput: 'A lighthouse, please' };
		const { output = '' } = await post('background-chat/chat', asked);
		const [task, ...others] = tasksOf('chatted');
		assert.equal(others.length, 0);
		const words = `It comes later: .*${task?.id}.*Started\\. The result is not part of this answer`;
		assert.match(output, new RegExp(words));
		await untilStarted(id, 'Post to Chat');
		const messages = posted.filter(({ sessionId }) => sessionId === 'session 7');
		assert.equal(messages.length, 1);
		assert.match(messages[0]?.text ?? '', /^Here is your picture: http:\S+\.png$/);
	});

	test('background-schedule.json collects all results of a run', async () => {
		// So that no full hour runs it once more.
		const id = await saveExample('background-schedule.json', (workflow) =>
			withParameters(workflow, 'Every Hour', { rule: LEAP_DAYS }),
		);
		await startExecution(instance.rest, id, 'Start');
		const [start] = await untilStarted(id, 'Finished');
		const items = itemsOf(start as Execution, 'Finished');
		assert.equal(items.length, 5);
		const got = items.map(({ json }) => json.task_id).sort();
		assert.deepEqual(
			got,
			tasksOf('balloon')
				.map((task) => task.id)
				.sort(),
		);
		assert.ok(items.every(({ binary }) => binary?.data.mimeType === 'image/png'));
	});
});
