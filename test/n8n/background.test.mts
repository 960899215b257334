/** Start a Workflow: the node returns, n8n is killed, and another workflow gets the results. The examples for it run along. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { withParameters, type Workflow } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { startChatModel, type ChatModel } from './support/chatModel.mts';
import { startInstance, WITH_CODE_NODE, type Instance } from './support/instance.mts';
import { activate, deactivate, executionsOf, LEAP_DAYS, readExample, saveWorkflow } from './support/production.mts';
import { withSlowdown } from './support/slowdown.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

let instance: Instance;
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

/** Held until all have been started and n8n was killed. */
const TASK_MS = Infinity;

/** A workflow for results. */
async function createReceiver(
	settings: Record<string, unknown> = {},
	trigger = 'n8n-nodes-base.executeWorkflowTrigger',
): Promise<string> {
	const nodes = [
		{
			id: '1',
			name: 'Start',
			type: trigger,
			typeVersion: 1,
			position: [0, 0],
			parameters: trigger.endsWith('scheduleTrigger') ? { rule: LEAP_DAYS } : {},
		},
		{ id: '2', name: 'Got', type: 'n8n-nodes-base.noOp', typeVersion: 1, position: [200, 0], parameters: {} },
	];
	const connections = { Start: { main: [[{ node: 'Got', type: 'main', index: 0 }]] } };
	return await saveWorkflow(instance, {
		name: 'Receiver',
		nodes,
		connections,
		settings: { executionOrder: 'v1', ...settings },
	});
}

async function createActiveReceiver(...options: Parameters<typeof createReceiver>): Promise<string> {
	const id = await createReceiver(...options);
	await activate(instance, id);
	return id;
}

/** Runs Generate to its end, which is not that of its tasks. */
async function generate(
	workflowId: string,
	prompts: string[],
	more: Record<string, unknown> = {},
	settings: Record<string, unknown> = {},
) {
	const parameters = {
		prompt: '={{ $json.prompt }}',
		whenDone: 'startWorkflow',
		workflowId: { __rl: true, mode: 'id', value: workflowId },
		passAlong: '={{ { "asked": $json.prompt } }}',
		downloadResult: true,
		...more,
	};
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const id = await createWorkflow(
		instance,
		prompts.map((prompt) => ({ prompt })),
		[node],
		settings,
	);
	const executionId = await startExecution(instance.rest, id, 'Start');
	return { id, prompts, execution: await untilFinished(instance.rest, executionId) };
}

type Batch = Awaited<ReturnType<typeof generate>>;

const executions = async (workflowId: string) =>
	await Promise.all((await executionsOf(instance, workflowId)).map((id) => readExecution(instance.rest, id)));
/** The executions of a workflow that have had something to do. */
const startsOf = async (workflowId: string, node: string) =>
	(await executions(workflowId)).filter(({ runData }) => runData[node] !== undefined);
const tasksOf = (word: string) => instance.sandbox.tasks.filter(({ body }) => String(body.prompt).includes(word));
const taskOf = (prompt: string) => tasksOf(prompt)[0]?.id;
const waitingOf = async ({ execution }: Batch) =>
	await readExecution(instance.rest, itemsOf(execution, 'Generate')[0]?.json.execution_id);

async function untilStarted(workflowId: string, node: string, count = 1): Promise<Execution[]> {
	await until(
		`${node} has been started ${count} times`,
		async () => (await startsOf(workflowId, node)).filter(({ status }) => status === 'success').length >= count,
	);
	return await startsOf(workflowId, node);
}

/**
 * True when all that wait for the tasks of a workflow are saved as waiting, and one of those that poll is awake. n8n saves the
 * latter first: a kill in between ends who is to wait.
 */
async function isSafe(workflowId: string): Promise<boolean> {
	const all = await executions(workflowId);
	const saved = all.filter(({ status, runData }) => status === 'waiting' && runData['Keep Waiting'] !== undefined);
	const wanted = workflowId === batches.each.id ? batches.each.prompts.length : 1;
	return saved.length === wanted && all.some(({ status }) => status === 'running');
}

const batches = {} as Record<'mixed' | 'each' | 'late', Batch>;
const receivers = {} as Record<'mixed' | 'each' | 'late', string>;
const examples = {} as Record<'chat' | 'webhook' | 'schedule', string>;
const answers = {} as Record<'chat' | 'webhook', { output?: string; order?: string; task_id?: string }>;

async function saveExample(file: string, change: (workflow: Workflow) => Workflow): Promise<string> {
	const id = await saveWorkflow(instance, change(readExample(file)));
	await activate(instance, id);
	return id;
}

const post = async (path: string, body: Record<string, unknown>) => {
	const response = await fetch(`${instance.n8n.url}/webhook/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	assert.equal(response.status, 200, await response.clone().text());
	return (await response.json()) as (typeof answers)['chat'];
};

/** All begin together, and one kill is for all. */
before(async () => {
	await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
	const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
	model = await startChatModel();
	instance = await startInstance({ sandbox: { imageTaskMs: TASK_MS, videoTaskMs: TASK_MS }, env: WITH_CODE_NODE });
	const data = { apiKey: 'none', url: model.baseUrl, header: false };
	const { id, name } = await instance.rest.request('POST', '/rest/credentials', {
		name: 'Scripted model',
		type: 'openAiApi',
		data,
	});

	for (const batch of ['mixed', 'each', 'late'] as const) receivers[batch] = await createActiveReceiver();
	batches.mixed = await generate(receivers.mixed, [
		'mixed 1 [[sandbox create=slow:1s!after]]',
		'mixed 2 [[sandbox fail=generation_failed]]',
		'mixed 3',
	]);
	batches.each = await generate(receivers.each, ['each 1', 'each 2'], { startMode: 'eachItem' });
	batches.late = await generate(receivers.late, ['late'], {}, { saveDataSuccessExecution: 'none' });
	await deactivate(instance, receivers.late);

	examples.webhook = await saveExample('background-webhook.json', (workflow) => ({
		...withParameters(workflow, 'Send to App', { url }),
		nodes: withParameters(workflow, 'Send to App', { url }).nodes.map((node) =>
			node.name === 'Order' ? { ...node, webhookId: 'order' } : node,
		),
	}));
	examples.chat = await saveExample('background-chat.json', (workflow) => ({
		...workflow,
		nodes: withParameters(workflow, 'Post to Chat', { url }).nodes.map((node) => {
			if (node.name === 'When a Message Comes') return { ...node, webhookId: 'chat' };
			return node.name === 'Chat Model'
				? { ...node, credentials: { openAiApi: { id: String(id), name: String(name) } } }
				: node;
		}),
	}));
	// So that no full hour runs it once more.
	examples.schedule = await saveExample('background-schedule.json', (workflow) =>
		withParameters(workflow, 'Every Hour', { rule: LEAP_DAYS }),
	);
	answers.webhook = await post('video-order', { order: '17', prompt: 'ordered' });
	model.play(
		[{ name: 'Generate_Image', arguments: { prompt: 'chatted' } }],
		(said) => `It comes later: ${said.join(' ')}`,
	);
	answers.chat = await post('chat/chat', {
		action: 'sendMessage',
		sessionId: 'session 7',
		chatInput: 'A lighthouse, please',
	});
	const scheduled = await startExecution(instance.rest, examples.schedule, 'Start');
	assert.equal((await untilFinished(instance.rest, scheduled)).status, 'success');

	await until('all wait in the database, and are polled', async () => {
		const ids = [...Object.values(batches).map((batch) => batch.id), ...Object.values(examples)];
		return (await Promise.all(ids.map(isSafe))).every(Boolean);
	});
	await instance.kill();
	await instance.restart();
	instance.sandbox.release();
});
after(async () => {
	await instance?.close();
	await model?.close();
	app.close();
});

test('Start a Workflow returns at once, with task, status, and the execution that waits', () => {
	const { execution, prompts } = batches.mixed;
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const items = itemsOf(execution, 'Generate');
	assert.deepEqual(
		items.map(({ json }) => [json.task_id, json.status]),
		prompts.map((prompt) => [taskOf(prompt), 'queued']),
	);
	assert.equal(new Set(items.map(({ json }) => json.execution_id)).size, 1);
});

test('after a kill in between, the workflow starts once, with all items in order, with files, errors, and what was passed along', async () => {
	const { prompts } = batches.mixed;
	const [start, ...others] = await untilStarted(receivers.mixed, 'Got');
	assert.equal(others.length, 0, 'once');
	const items = itemsOf(start as Execution, 'Got');
	assert.deepEqual(
		items.map(({ json }) => [json.pass_along.asked, json.task_id, json.status]),
		prompts.map((prompt, index) => [prompt, taskOf(prompt), index === 1 ? 'failed' : 'completed']),
	);
	assert.deepEqual(
		items.map(({ json, binary }) => [json.error !== undefined, binary !== undefined]),
		[
			[false, true],
			[true, false],
			[false, true],
		],
	);
	assert.ok((await instance.rest.readBinary(items[0]?.binary?.data.id)).length > 0);
	assert.equal(tasksOf('mixed').length, 3, 'bought once');
});

test('a task of 10 s starts the workflow within 2 s of its end', async () => {
	const late: number[] = [];
	while (late.length < 3 && Math.min(...late) > 2_000) {
		const receiver = await createActiveReceiver();
		const prompt = `soon ${late.length}`;
		await generate(receiver, [`${prompt} [[sandbox duration=10s]]`]);
		const { result, slowdown } = await withSlowdown(untilStarted(receiver, 'Got'));
		const endedAt = (tasksOf(prompt)[0]?.acceptedAt ?? NaN) + 10_000;
		const lateMs = Date.parse(result[0]?.record.startedAt) - endedAt;
		assert.ok(lateMs >= 0, `${lateMs} ms`);
		late.push(lateMs / slowdown);
	}
	assert.ok(Math.min(...late) <= 2_000, `${late.join(', ')} ms`);
});

test('Run Once for Each Item starts the workflow once for each item', async () => {
	const starts = await untilStarted(receivers.each, 'Got', 2);
	assert.deepEqual(
		starts
			.map((start) => itemsOf(start, 'Got').map(({ json }) => json.pass_along.asked))
			.flat()
			.sort(),
		batches.each.prompts,
	);
	assert.equal(tasksOf('each').length, 2);
});

test('the results for a workflow that cannot be started any more are kept, and a retry hands them on', async () => {
	await until(
		'the start has failed',
		async () => !['waiting', 'running'].includes((await waitingOf(batches.late)).status),
	);
	const failed = await waitingOf(batches.late);
	assert.notEqual(failed.status, 'success');
	const run = (failed.runData.Results?.length ?? 0) - 1;
	assert.deepEqual(
		itemsOf(failed, 'Results', { run }).map(({ json, binary }) => [json.task_id, binary !== undefined]),
		[[taskOf('late'), true]],
	);
	await activate(instance, receivers.late);
	const { id } = await instance.rest.request('POST', `/rest/executions/${failed.id}/retry`, { loadWorkflow: false });
	assert.equal((await untilFinished(instance.rest, String(id))).status, 'success');
	const [start] = await untilStarted(receivers.late, 'Got');
	assert.deepEqual(
		itemsOf(start as Execution, 'Got').map(({ json }) => json.task_id),
		[taskOf('late')],
	);
	assert.equal(tasksOf('late').length, 1, 'bought once');
});

test('background-webhook.json answers at once and sends the video later', async () => {
	assert.deepEqual(answers.webhook, { order: '17', task_id: taskOf('ordered') });
	await untilStarted(examples.webhook, 'Send to App');
	const sent = posted.filter(({ order }) => order === '17');
	assert.deepEqual(
		sent.map(({ task_id, url }) => [task_id, new URL(url ?? '').pathname.endsWith('.mp4')]),
		[[taskOf('ordered'), true]],
	);
});

test('background-chat.json: the agent answers at once, and the picture is posted to the same chat', async () => {
	assert.match(
		answers.chat.output ?? '',
		new RegExp(`It comes later: .*${taskOf('chatted')}.*Started\\. The result is not part of this answer`),
	);
	await untilStarted(examples.chat, 'Post to Chat');
	const [message, ...others] = posted.filter(({ sessionId }) => sessionId === 'session 7');
	assert.equal(others.length, 0);
	assert.match(message?.text ?? '', /^Here is your picture: http:\S+binary-data\S+$/);
	assert.equal(tasksOf('chatted').length, 1);
});

test('background-schedule.json collects all results of a run', async () => {
	const [start] = await untilStarted(examples.schedule, 'Finished');
	const items = itemsOf(start as Execution, 'Finished');
	assert.equal(items.length, 5);
	assert.deepEqual(
		items.map(({ json }) => json.task_id).sort(),
		tasksOf('balloon')
			.map(({ id }) => id)
			.sort(),
	);
	assert.ok(items.every(({ binary }) => binary?.data.mimeType === 'image/png'));
});

test('a workflow that is not there, not active, without the trigger, or not for this caller is refused before a cent is spent', async () => {
	const forNobody = await createActiveReceiver({ callerPolicy: 'none' });
	const cases: Array<[string, RegExp]> = [
		['nothere', /"nothere" is not published or no longer exists/],
		[await createReceiver(), /is not published or no longer exists/],
		[await createActiveReceiver({}, 'n8n-nodes-base.scheduleTrigger'), /cannot be started by another workflow/],
		[forNobody, /^n8n cannot start "/],
	];
	for (const [id, message] of cases) {
		const { execution } = await generate(id, ['unpaid']);
		assert.match(execution.error?.message, message);
	}
	assert.deepEqual(tasksOf('unpaid'), []);
});

test('the check of the workflow to start runs none of its nodes, and leaves one empty execution', async () => {
	const [check, ...others] = (await executions(receivers.mixed)).filter(({ runData }) => runData.Got === undefined);
	assert.equal(others.length, 0);
	assert.deepEqual([check?.status, Object.keys(check?.runData ?? { unknown: 1 })], ['success', []]);
});
