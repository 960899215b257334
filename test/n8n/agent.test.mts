/** n8n's own agent uses the nodes as tools. The model is a script: what counts is what it is told, and what is paid. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import {
	credentialType,
	manualTriggerOf,
	withCredential,
	withParameters,
	type Workflow,
} from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startChatModel, type ChatModel, type ToolCall, type Turn } from './support/chatModel.mts';
import { readExample } from './support/production.mts';
import { joinN8n, type Joined } from './support/shared.mts';
import { readPurchases } from './support/purchaseLog.mts';
import { until } from './support/until.mts';

let instance: Joined;
let model: ChatModel;
let modelCredential: { id: string; name: string };
before(async () => {
	model = await startChatModel();
	instance = await joinN8n({ imageTaskMs: 400, videoTaskMs: 600 });
	const data = { apiKey: 'none', url: model.baseUrl, header: false };
	const { id, name } = await instance.rest.request('POST', '/rest/credentials', {
		name: 'Scripted model',
		type: 'openAiApi',
		data,
	});
	modelCredential = { id: String(id), name: String(name) };
});
after(async () => {
	await instance.close();
	await model.close();
});
beforeEach(() => instance.sandbox.reset());

const image = (prompt: string): ToolCall => ({ name: 'Generate_Image', arguments: { prompt } });
const video = (prompt: string): ToolCall => ({ name: 'Generate_Video', arguments: { prompt } });
const balance: ToolCall = { name: 'Check_Balance', arguments: {} };
/** Of the sandbox. */
const [IMAGE_CREDITS, CREDITS_PER_USD] = [4, 200];
const IMAGES_IN_BUDGET = 3;
const url = /http:\/\/[^"\s]+\.(png|mp4)/;

/** The example, with both credentials; `settings` go to its tools. */
function example(settings: Record<string, unknown> = {}, file = 'ai-agent.json'): Workflow {
	const ready = withCredential(readExample(file), instance.credential);
	return {
		...ready,
		nodes: ready.nodes.map((node) => {
			if (node.type.includes('lmChat')) return { ...node, credentials: { openAiApi: modelCredential } };
			return node.type.endsWith('Tool') ? { ...node, ...settings } : node;
		}),
	};
}

/** From the message that is pinned, or from the manual trigger. */
async function run(workflow: Workflow, ...turns: Turn[]) {
	model.play(...turns);
	const { id } = await instance.rest.request('POST', '/rest/workflows', workflow);
	const [trigger = manualTriggerOf(workflow) ?? ''] = Object.keys(workflow.pinData ?? {});
	return await untilFinished(instance.rest, await startExecution(instance.rest, id, trigger));
}

test('ai-agent.json: the agent reads the balance, makes a picture and a video, and answers with the URLs', async () => {
	const execution = await run(
		example(),
		[balance],
		[image('A lighthouse at dusk')],
		[video('The waves come in')],
		[video('The waves come in')],
		(answers) =>
			`Here they are: ${answers
				.slice(1)
				.map((text) => url.exec(text)?.[0])
				.join(' and ')}`,
	);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(execution.runData['Generate Image'][0].hints, [], 'a hint in the output panel is for people');
	const [{ json }] = itemsOf(execution, 'AI Agent');
	const [picture, film, again] = [...String(json.output).matchAll(new RegExp(url, 'g'))].map(([found]) => found);
	assert.equal((await fetch(picture)).headers.get('content-type'), 'image/png');
	assert.equal((await fetch(film)).headers.get('content-type'), 'video/mp4');
	assert.equal(again, film, 'a call with its Purchase Key again');
	assert.deepEqual(
		instance.sandbox.tasks.map(({ body }) => body.prompt),
		['A lighthouse at dusk', 'The waves come in'],
	);
});

test('the model is told what the tools do, and what to fill in; their answers are small', async () => {
	await run(example(), [balance], [image('A cat')], 'Done.');
	const tools = model.requests()[0].tools?.map((tool) => tool.function) ?? [];
	assert.deepEqual(tools.map(({ name }) => name).sort(), ['Check_Balance', 'Generate_Image', 'Generate_Video']);
	for (const { name, description, parameters } of tools) {
		assert.ok(description.length > 10, `${name} says what it does`);
		assert.deepEqual(Object.keys(parameters.properties), name === 'Check_Balance' ? [] : ['prompt']);
	}
	const [credits, picture] = model.toolAnswers();
	assert.match(credits, /"remain_credits":100000/);
	assert.match(picture, url);
	for (const answer of [credits, picture])
		assert.ok(answer.length < 1_000, `${answer.length} characters are small: ${answer}`);
});

test('a refusal reaches the model as plain text, and the agent goes on', async () => {
	const body = { error: { code: 'insufficient_quota', message: 'Buy <a href="https://example.com">here</a>' } };
	instance.sandbox.faults.add({ on: 'create', do: { status: 402, body } });
	const execution = await run(example(), [image('A cat')], 'Sorry.');
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const [answer] = model.toolAnswers();
	assert.match(answer, /^\[{"error":"There are not enough credits left for this request\. .*Add credits/);
	assert.match(answer, /Buy ‹a href=.*›here‹\/a›/, 'a chat would show HTML as such');
	assert.doesNotMatch(answer, /sandbox-key|stack|at .*\.js/);
	assert.equal(instance.sandbox.tasks.length, 0);
});

test('Retry On Fail of a tool does not submit again what may have been accepted', async () => {
	const retries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 };
	const execution = await run(example(retries), [image('A cat [[sandbox create=504!after]]')], 'Sorry.');
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.equal(instance.sandbox.tasks.length, 1, 'one purchase');
	assert.match(
		model.toolAnswers()[0],
		/The service may or may not have accepted this task in an earlier try\. Look in the task list of your account/,
	);
});

test('agent-budget.json: the key is a budget of an amount and a model, and the agent reads that it must stop', async () => {
	const { sandbox, rest } = instance;
	const budget = { amount: (IMAGES_IN_BUDGET * IMAGE_CREDITS) / CREDITS_PER_USD };
	const workflow = withParameters(example({}, 'agent-budget.json'), 'Create API Key', budget);
	const created = await run(workflow);
	const [{ json }] = itemsOf(created, 'Create API Key');
	const data = { baseUrl: sandbox.baseUrl, apiKey: String(json.api_key) };
	const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Agent', type: credentialType, data });
	const credentials = { [credentialType]: { id: String(id), name } };
	const nodes = workflow.nodes.map((node) => (node.type.endsWith('Tool') ? { ...node, credentials } : node));
	const chat = { sessionId: '1', action: 'sendMessage', chatInput: 'Make as many pictures as you can' };
	const pinData = { 'When a Message Comes': [{ json: chat }] };
	const calls = Array.from({ length: IMAGES_IN_BUDGET + 2 }, (_, index) => image(`picture ${index}`));
	const execution = await run({ ...workflow, nodes, pinData }, calls, 'The budget is used up.');
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.equal(sandbox.tasks.length, IMAGES_IN_BUDGET, 'never more than the quota');
	const refused = model.toolAnswers().filter((answer) => answer.includes('"error"'));
	assert.equal(refused.length, 2);
	for (const answer of refused)
		assert.match(answer, /There are not enough credits left .* Stop: do not call this tool again\./);
});

test('the same call again, with a Purchase Key of the agent, gets the same task, and pays nothing', async () => {
	const key = "={{ $execution.id }} {{ $fromAI('order', 'A name for this order', 'string') }}";
	const workflow = withParameters(example(), 'Generate Image', { options: { purchaseKey: key } });
	const order = (name: string): ToolCall[] => [{ name: 'Generate_Image', arguments: { prompt: 'A cat', order: name } }];
	const execution = await run(workflow, order('one'), order('one'), order('two'), 'Done.');
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const ids = model.toolAnswers().map((answer) => /"task_id":"([^"]+)/.exec(answer)?.[1]);
	assert.deepEqual([ids[0], ids[2]], instance.sandbox.tasks.map(({ id }) => id).slice(0, 2));
	assert.equal(ids[1], ids[0]);
	assert.equal(instance.sandbox.tasks.length, 2);
});

/** The call of a tool behind an approval. */
const toApprove = (prompt: string): ToolCall => ({
	name: 'Generate_Image',
	arguments: { toolParameters: { prompt }, hitlParameters: {} },
});

/** n8n takes a request without it for the preview of a link. */
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36' };

/** Telegram, as far as n8n asks it for an approval: keeps the addresses of the buttons. */
async function startApprovals() {
	const asked: string[] = [];
	const server = createServer((request, response) => {
		let body = '';
		request.on('data', (chunk) => (body += String(chunk)));
		request.on('end', () => {
			asked.push(...(body.match(/http[^"\\]+approved=true[^"\\]*/g) ?? []));
			response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true,"result":{"message_id":1}}');
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const close = () => (server.closeAllConnections(), server.close());
	return { asked, close, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('an approval between agent and tool: the execution sleeps, each call buys once, and each has a run of its own', async () => {
	const { rest, sandbox } = instance;
	const approvals = await startApprovals();
	try {
		const data = { accessToken: 'none', baseUrl: approvals.baseUrl };
		const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Asks', type: 'telegramApi', data });
		const ready = example();
		const approval = {
			...{ id: 'approval', name: 'Approval', type: 'n8n-nodes-base.telegramHitlTool', typeVersion: 1.2 },
			...{ position: [840, 160], parameters: { chatId: '1' }, credentials: { telegramApi: { id: String(id), name } } },
		};
		const toTool = (node: string) => ({ ai_tool: [[{ node, type: 'ai_tool', index: 0 }]] });
		const workflow = {
			...ready,
			nodes: [...ready.nodes, approval],
			connections: { ...ready.connections, 'Generate Image': toTool('Approval'), Approval: toTool('AI Agent') },
		} as Workflow;
		const ended = run(workflow, [toApprove('first')], [toApprove('second')], [toApprove('second')], 'Done.');
		for (let calls = 1; calls <= 3; calls++) {
			await until(`call ${calls} waits for approval`, () => approvals.asked.length === calls);
			assert.equal(sandbox.tasks.length, calls - 1);
			await until(
				'the execution sleeps, and can be woken',
				async () => (await fetch(approvals.asked[calls - 1], { headers: BROWSER })).ok,
			);
		}
		const execution = await ended;
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.deepEqual(
			sandbox.tasks.map(({ body }) => body.prompt),
			['first', 'second', 'second'],
		);
		for (const answer of model.toolAnswers()) assert.match(answer, url);
		const rows = (await readPurchases(instance)).filter((row) => row.execution === execution.id);
		assert.equal(new Set(rows.map((row) => row.run)).size, 3, JSON.stringify(rows));
	} finally {
		approvals.close();
	}
});
