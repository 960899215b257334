/** n8n Agents (module `agents`): tools that n8n runs without an execution. The model is a script. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { startChatModel, type ChatModel, type ToolCall, type Turn } from './support/chatModel.mts';
import { startInstance, MINIMAL_N8N, sandboxKey, type Instance } from './support/instance.mts';
import { pause, until } from './support/until.mts';
import { packageType } from './support/workflow.mts';

let instance: Instance;
const models: ChatModel[] = [];
before(async () => {
	const env = { ...MINIMAL_N8N, N8N_ENABLED_MODULES: 'agents' };
	instance = await startInstance({ sandbox: { imageTaskMs: 400, videoTaskMs: 600 }, env });
});
after(async () => {
	await instance?.close();
	for (const model of models) await model.close();
});

const prompt = "={{ $fromAI('prompt', 'What the picture shows', 'string') }}";
const image = (text: unknown): ToolCall => ({ name: 'Make_Image', arguments: { prompt: text } });
const url = /http:\/\/[^"\s\\]+\.(png|mp4)/;
const FIVE_MINUTES = 'a slow cat [[sandbox duration=300s]]';

interface Made {
	chat: (...turns: Turn[]) => Promise<Chat>;
	/** Leaves the chat when the signal aborts. */
	chatUntil: (signal: AbortSignal, ...turns: Turn[]) => Promise<Chat>;
	resume: (suspended: Event, approved: boolean) => Promise<Chat>;
}

interface Event {
	type: string;
	[field: string]: any;
}

interface Chat {
	events: Event[];
	/** As the model has read them. */
	answers: string[];
}

/** An agent over REST, with a model of its own and one tool for each of these nodes. */
async function makeAgent(
	tools: Array<{ name?: string; type?: string; parameters: object; requireApproval?: boolean }>,
): Promise<Made> {
	const { rest, credential } = instance;
	const model = await startChatModel();
	models.push(model);
	const data = { apiKey: 'none', url: model.baseUrl, header: false };
	const name = `Model ${models.length}`;
	const { id } = await rest.request('POST', '/rest/credentials', { name, type: 'openAiApi', data });
	const { id: project } = await rest.request('GET', '/rest/projects/personal');
	const schema = {
		name: `Agent ${models.length}`,
		model: 'openai/gpt-5-mini',
		credential: id,
		instructions: 'Make pictures.',
		tools: tools.map(({ name = 'Make Image', type = 'imageGeneration', parameters, requireApproval }) => ({
			type: 'node',
			name,
			description: name,
			requireApproval,
			node: {
				nodeType: packageType(type),
				nodeTypeVersion: 1,
				nodeParameters: { operation: 'generate', model: 'gamma-image-2', ...parameters },
				credentials: { [credentialType]: { id: credential.id, name: credential.name } },
			},
		})),
	};
	const agents = `/rest/projects/${project}/agents/v2`;
	const agent = await rest.request('POST', agents, { name: schema.name, schema });
	const send = async (path: string, body: object, signal?: AbortSignal): Promise<Chat> => {
		const events = await rest.events(`${agents}/${agent.id}/${path}`, body, signal);
		return { events, answers: model.toolAnswers() };
	};
	const chatUntil = async (signal: AbortSignal | undefined, ...turns: Turn[]) => {
		model.play(...turns);
		return await send('chat', { message: 'Please' }, signal);
	};
	return {
		chatUntil,
		chat: async (...turns) => await chatUntil(undefined, ...turns),
		resume: async ({ payload: { runId, toolCallId } }, approved) =>
			await send('chat/resume', { runId, toolCallId, resumeData: { approved } }),
	};
}

const tasksOf = (text: string) => instance.sandbox.tasks.filter(({ body }) => String(body.prompt).startsWith(text));
const log = () => readFileSync(instance.n8n.logFile, 'utf8');

/** The slowest first: the other tests run meanwhile. */
let fiveMinutes: Promise<Chat>;
test('a chat with a task of five minutes begins', async () => {
	const agent = await makeAgent([{ parameters: { prompt } }]);
	fiveMinutes = agent.chat([image(FIVE_MINUTES)], 'Done.');
	await until('it is bought', () => tasksOf('a slow cat').length === 1);
});

test('the agent gets the URL; n8n’s log has the task and names the tool; nothing is stored as a file', async () => {
	const agent = await makeAgent([{ parameters: { prompt, result: 'fileAndLink' } }]);
	const { answers, events } = await agent.chat([image('a lighthouse')], 'Done.');
	assert.match(answers[0], url, JSON.stringify(events));
	const [{ id }] = tasksOf('a lighthouse');
	assert.match(log(), new RegExp(`task ${id} \\(gamma-image-2\\) was accepted, tool "Gateway Image" of n8n Agents`));
	assert.doesNotMatch(log(), /execution undefined|sandbox-key/);
	const stored = readdirSync(instance.n8n.userFolder, { recursive: true }).map(String);
	assert.deepEqual(
		stored.filter((path) => /binary_data|executions\/temp/.test(path)),
		[],
	);
});

test('two calls at once are two purchases, and both get their picture', async () => {
	const agent = await makeAgent([{ parameters: { prompt } }]);
	const { answers } = await agent.chat([image('twin one'), image('twin two')], 'Done.');
	assert.equal(new Set(answers.map((answer) => url.exec(answer)?.[0])).size, 2);
	assert.equal(tasksOf('twin').length, 2);
});

test('every operation that can be a tool works', async () => {
	const agent = await makeAgent([
		{ name: 'Later', parameters: { prompt: 'one for later', wait: 'dontWait' } },
		{ name: 'Video', type: 'videoGeneration', parameters: { model: 'beta-v3', prompt: 'a film' } },
		{ name: 'Credits', type: 'balance', parameters: { operation: 'getAccountBalance' } },
		{ name: 'Group', type: 'avatar', parameters: { resource: 'group', operation: 'create', groupName: 'Anna' } },
		{ name: 'Result', parameters: { operation: 'getResult', taskId: "={{ $fromAI('id', 'The task ID', 'string') }}" } },
	]);
	const call = (name: string, input = {}): ToolCall[] => [{ name, arguments: input }];
	const idIn = (answer: string) => /"task_id\\?":\\?"([^"\\]+)/.exec(answer)?.[1];
	const { answers } = await agent.chat(
		call('Later'),
		call('Video'),
		call('Credits'),
		call('Group'),
		([later]) => call('Result', { id: idIn(later) }),
		'Done.',
	);
	for (const [index, said] of [/usually takes about \d+ seconds/, url, /remain_credits/, /group_id/, url].entries())
		assert.match(answers[index], said);
});

const refused: Array<[title: string, parameters: object, call: unknown, said: RegExp]> = [
	[
		'a value of a wrong type',
		{ prompt: 'a cat', size: "={{ $fromAI('prompt', 'The size', 'string') }}" },
		'huge',
		/Size/,
	],
	['a Purchase Key', { prompt, options: { purchaseKey: 'order 1' } }, 'refused', /n8n Agents have no purchase log/],
	[
		'In Another Workflow',
		{ prompt, wait: 'inAnotherWorkflow', workflowId: 'x' },
		'refused',
		/Wait cannot be In Another Workflow in n8n Agents.*Don’t Wait/,
	],
];
for (const [title, parameters, call, said] of refused)
	test(`${title} is refused before anything is sent`, async () => {
		const agent = await makeAgent([{ parameters }]);
		const before = instance.sandbox.tasks.length;
		const { answers } = await agent.chat([image(call)], 'Sorry.');
		assert.match(answers[0], said);
		assert.equal(instance.sandbox.tasks.length, before);
	});

test('a refusal of the service reaches the model as text, without the key', async () => {
	const agent = await makeAgent([{ parameters: { prompt } }]);
	instance.sandbox.faults.add({ on: 'create', do: '402' });
	const { answers, events } = await agent.chat([image('too dear')], 'Sorry.');
	assert.match(answers[0], /There are not enough credits left.* Stop: do not call this tool again/);
	assert.ok(!JSON.stringify(events).includes(sandboxKey));
});

test('a call that has to be approved buys when it is approved, once, and nothing when it is declined', async () => {
	const agent = await makeAgent([{ parameters: { prompt }, requireApproval: true }]);
	for (const approved of [false, true]) {
		const { events } = await agent.chat([image('approved')], 'Done.');
		const suspended = events.find(({ type }) => type === 'tool-call-suspended');
		assert.ok(suspended, JSON.stringify(events));
		assert.equal(tasksOf('approved').length, 0);
		const { answers } = await agent.resume(suspended, approved);
		assert.match(answers.at(-1) ?? '', approved ? url : /not approved/);
	}
	assert.equal(tasksOf('approved').length, 1);
});

test('a chat that is left: polling ends with Timeout, and n8n’s log has the ID', async () => {
	const { sandbox } = instance;
	const agent = await makeAgent([{ parameters: { prompt, options: { timeoutMinutes: 0.2, pollIntervalSeconds: 1 } } }]);
	const leaving = new AbortController();
	const left = agent.chatUntil(leaving.signal, [image('left alone [[sandbox duration=600s]]')], 'Done.');
	await until('it is bought', () => tasksOf('left alone').length === 1);
	const [{ id }] = tasksOf('left alone');
	leaving.abort();
	await assert.rejects(left);
	const polls = () => sandbox.requests.filter(({ path, method }) => method === 'GET' && path.includes(id)).length;
	const before = polls();
	await until('n8n polls on, as it gives no signal', () => polls() > before);
	await pause(15_000);
	const atTheEnd = polls();
	await pause(5_000);
	assert.equal(polls(), atTheEnd);
	assert.match(log(), new RegExp(`task ${id} .*was accepted, tool "Gateway Image"`));
});

test('the task of five minutes gives its picture', async () => {
	const { answers } = await fiveMinutes;
	assert.match(answers[0], url);
	assert.equal(tasksOf('a slow cat').length, 1);
});
