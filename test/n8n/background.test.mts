/**
 * In Another Workflow: the node returns at once, and another workflow gets the results, as in the examples for it. That all
 * of it survives a kill is in `durable`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { withParameters, type Workflow } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { startChatModel, type ChatModel } from './support/chatModel.mts';
import {
	activate,
	deactivate,
	exampleFor,
	executionsOf,
	kindOfFile,
	LEAP_DAYS,
	posted,
	saveWorkflow,
} from './support/production.mts';
import { joinN8n, type Joined } from './support/shared.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

let instance: Joined;
let model: ChatModel;
before(async () => {
	model = await startChatModel();
	instance = await joinN8n({ imageTaskMs: 2_000, videoTaskMs: 2_000 });
});
after(async () => {
	await instance?.close();
	await model?.close();
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
	const id = await saveWorkflow(instance, change(exampleFor(instance, file)));
	await activate(instance, id);
	return id;
}

const withNode = (workflow: Workflow, name: string, more: Record<string, unknown>): Workflow => ({
	...workflow,
	nodes: workflow.nodes.map((node) => (node.name === name ? { ...node, ...more } : node)),
});

async function post(path: string, body: Record<string, unknown>) {
	const response = await fetch(`${instance.n8n.url}/webhook/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	const answer = (await response.json()) as Record<string, string>;
	return { code: response.status, answer };
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

	test('webhook-order.json: an order that arrives three times is bought once, and each delivery is told of the video', async () => {
		const id = await saveExample('webhook-order.json', (workflow) =>
			withNode(withNode(workflow, 'Order', { webhookId: 'order' }), 'Status', { webhookId: 'status' }),
		);
		const order = { order: '17', prompt: 'ordered' };
		const deliver = async () => await post('video-order', order);
		const early = await Promise.all([deliver(), deliver()]);
		const late = await deliver();
		const [task, ...others] = tasksOf('ordered');
		assert.equal(others.length, 0, 'bought once');
		assert.deepEqual([late.code, late.answer.order, late.answer.task_id], [202, '17', task?.id]);
		// One of two at the same moment may wait until the request of the other is answered.
		const answers = early.map(({ code, answer }) => [code, answer.task_id ?? answer.status]);
		for (const [code, is] of answers) {
			assert.equal(code, 202);
			assert.ok(is === task?.id || is === 'to be submitted', JSON.stringify(answers));
		}
		await untilStarted(id, 'Send to App', 3);
		const told = posted(instance, 'videos').map(({ order: number, task_id, url = '' }) => [
			...[number, task_id],
			new URL(url).pathname.endsWith('.mp4'),
		]);
		assert.deepEqual(told, Array(3).fill(['17', task?.id, true]));
		const status = await fetch(`${instance.n8n.url}/webhook/video-status?task_id=${task?.id}`);
		assert.equal(((await status.json()) as Record<string, string>).status, 'completed');

		for (const [wrong, expected, words] of [
			[{ order: '18' }, 400, /^An order needs prompt, in JSON\.$/],
			[{}, 400, /^An order needs order and prompt, in JSON\.$/],
			[{ order: '19', prompt: 'refused [[sandbox create=400]]' }, 400, /refused|did not accept/],
			[{ order: '20', prompt: 'busy [[sandbox create=402]]' }, 503, /not enough credits/],
			[{ order: '17', prompt: 'ordered differently' }, 409, /has used this Purchase Key for a different request/],
		] as const) {
			const { code, answer } = await post('video-order', wrong);
			assert.equal(code, expected, `${JSON.stringify(wrong)}: ${answer.error}`);
			assert.match(answer.error ?? '', words);
		}
		assert.equal(tasksOf('differently').length + tasksOf('refused').length + tasksOf('busy').length, 0);
	});

	test('background-chat.json: the agent answers at once, and the picture is posted to the same chat', async () => {
		const data = { apiKey: 'none', url: model.baseUrl, header: false };
		const made = await instance.rest.request('POST', '/rest/credentials', { name: 'Model', type: 'openAiApi', data });
		const credentials = { openAiApi: { id: String(made.id), name: String(made.name) } };
		const id = await saveExample('background-chat.json', (workflow) => {
			const called = withNode(workflow, 'When a Message Comes', { webhookId: 'background-chat' });
			return withNode(called, 'Chat Model', { credentials });
		});
		const call = { name: 'Generate_Image', arguments: { prompt: 'chatted' } };
		model.play([call], (said) => `It comes later: ${said.join(' ')}`);
		const asked = { action: 'sendMessage', sessionId: 'session 7', chatInput: 'A lighthouse, please' };
		const { output = '' } = (await post('background-chat/chat', asked)).answer;
		const [task, ...others] = tasksOf('chatted');
		assert.equal(others.length, 0);
		const words = `It comes later: .*${task?.id}.*Started\\. The result is not part of this answer`;
		assert.match(output, new RegExp(words));
		await untilStarted(id, 'Post to Chat');
		const messages = posted(instance, 'chat').filter(({ sessionId }) => sessionId === 'session 7');
		assert.equal(messages.length, 1);
		assert.match(messages[0]?.text ?? '', /^Here is your picture: http:\S+\.png$/);
	});

	test('result-by-result.json starts the workflow once for each result, stores its file, and tells of one that failed', async () => {
		// So that no full hour runs it once more.
		const prompts = ['a red balloon', 'a blue balloon', 'a lost balloon [[sandbox fail=model_error]]'];
		const id = await saveExample('result-by-result.json', (workflow) => {
			const list = { assignments: [{ id: '1', name: 'prompts', type: 'string', value: prompts.join('\n') }] };
			return withParameters(withParameters(workflow, 'Every Hour', { rule: LEAP_DAYS }), 'Set Prompts', {
				assignments: list,
			});
		});
		await startExecution(instance.rest, id, 'Start');
		const starts = await untilStarted(id, 'Send Message', 3);
		assert.deepEqual(
			starts.map((start) => itemsOf(start, 'When One Is Ready').length),
			[1, 1, 1],
		);
		const files = starts.flatMap((start) => itemsOf(start, 'Store File').map(({ json }) => json));
		assert.deepEqual(
			files.map(({ fileName }) => kindOfFile(fileName)),
			['png', 'png'],
		);
		assert.deepEqual(
			files.map(({ task_id }) => task_id).sort(),
			tasksOf(' balloon')
				.filter(({ body }) => body.prompt !== prompts[2])
				.map((task) => task.id)
				.sort(),
		);
		const texts = posted(instance, 'messages').map(({ text }) => text);
		assert.equal(texts.filter((text) => text?.includes(' is stored as ')).length, 2);
		assert.equal(texts.filter((text) => text?.startsWith('There is no picture of “a lost balloon')).length, 1);
	});
});
