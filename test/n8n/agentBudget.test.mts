/** The example of an agent with a budget: however often the agent calls, the quota of its key holds, also across a kill. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withCredential, type Workflow } from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startChatModel, type ChatModel, type ToolCall } from './support/chatModel.mts';
import { startInstance, type Instance } from './support/instance.mts';
import { readExample } from './support/production.mts';
import { until } from './support/until.mts';

/** 1 USD is 200 credits, and an image of the sandbox costs 4. */
const IMAGES_IN_BUDGET = 50;
/** The key of the test gets less, so that 50 calls are far too many. */
const AFFORDED = 10;
const CALLS = 50;

let instance: Instance;
let model: ChatModel;
let modelCredential: { id: string; name: string };
before(async () => {
	model = await startChatModel();
	instance = await startInstance({ sandbox: { imageTaskMs: 500 } });
	const data = { apiKey: 'none', url: model.baseUrl, header: false };
	const made = await instance.rest.request('POST', '/rest/credentials', { name: 'Model', type: 'openAiApi', data });
	modelCredential = { id: String(made.id), name: String(made.name) };
});
after(async () => {
	await instance.close();
	await model.close();
});

/** The example, with a credential for the agent's tool, and as many turns as it wants. */
function example(agentCredential: { id: string; name: string }): Workflow {
	const ready = withCredential(readExample('agent-budget.json'), instance.credential);
	const nodes = ready.nodes.map((node) => {
		if (node.type.includes('lmChat')) return { ...node, credentials: { openAiApi: modelCredential } };
		if (node.type.endsWith('Tool')) return { ...node, credentials: { generationGatewayApi: agentCredential } };
		if (node.name === 'AI Agent') {
			const { options, ...rest } = node.parameters as { options: object };
			return { ...node, parameters: { ...rest, options: { ...options, maxIterations: CALLS } } };
		}
		return node;
	});
	const chatInput = 'Make as many pictures as you can';
	return {
		...ready,
		nodes,
		pinData: { 'When a Message Comes': [{ json: { sessionId: '1', action: 'sendMessage', chatInput } }] },
	};
}

async function save(workflow: Workflow): Promise<string> {
	return String((await instance.rest.request('POST', '/rest/workflows', workflow)).id);
}

const call = (prompt: string): ToolCall => ({ name: 'Generate_Image', arguments: { prompt } });
const turns = (name: string, count: number) =>
	Array.from({ length: count }, (_, turn) => Array.from({ length: 5 }, (_, index) => call(`${name} ${turn} ${index}`)));

test('the key that the example creates is a budget: an amount, a date, a model', async () => {
	const id = await save(example(instance.credential));
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, id, 'Start'));
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const [{ json }] = itemsOf(execution, 'Create API Key');
	const apiKey = String(json.api_key);
	const create = async (model: string) =>
		await fetch(`${instance.sandbox.baseUrl}/v1/images/generations`, {
			method: 'POST',
			headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
			body: JSON.stringify({ model, prompt: 'a' }),
		});
	assert.equal((await create('another-image-1 [[sandbox model=any]]')).ok, false);
	const statuses: number[] = [];
	for (let made = 0; made <= IMAGES_IN_BUDGET; made++) statuses.push((await create('gamma-image-2')).status);
	assert.deepEqual([statuses.filter((status) => status < 300).length, statuses.at(-1)], [IMAGES_IN_BUDGET, 402]);
});

test('50 calls: the quota holds, also across a kill of n8n, and the agent reads that it must stop', async () => {
	instance.sandbox.reset();
	const response = await fetch(`${instance.sandbox.baseUrl}/v1/tokens`, {
		method: 'POST',
		headers: { authorization: `Bearer ${instance.sandbox.apiKey}`, 'content-type': 'application/json' },
		body: JSON.stringify({ name: 'agent', remain_credits: AFFORDED * 4, expired_time: -1 }),
	});
	const { data: token } = (await response.json()) as { data: { key: string } };
	const data = { baseUrl: instance.sandbox.baseUrl, apiKey: `sk-${token.key}` };
	const credential = await instance.rest.request('POST', '/rest/credentials', {
		name: 'Agent',
		type: 'generationGatewayApi',
		data,
	});
	const id = await save(example({ id: String(credential.id), name: 'Agent' }));
	const bought = () => instance.sandbox.tasks.length;

	model.play(...turns('before', 5), 'Done.');
	await startExecution(instance.rest, id, 'When a Message Comes');
	await until('some are bought', () => bought() >= 6);
	await instance.kill();
	assert.ok(bought() < AFFORDED, `${bought()}: n8n was killed in the middle`);
	await instance.restart();

	model.play(...turns('after', CALLS / 5), 'The budget is used up.');
	const executionId = await startExecution(instance.rest, id, 'When a Message Comes');
	const execution = await untilFinished(instance.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const answers = model.toolAnswers();
	assert.equal(answers.length, CALLS);
	assert.equal(bought(), AFFORDED, 'never more than the quota');
	const refused = answers.filter((answer) => answer.includes('"error"'));
	assert.ok(refused.length >= CALLS - AFFORDED, `${refused.length} were refused`);
	for (const answer of refused)
		assert.match(
			answer,
			/There are not enough credits left .* Stop: do not call this tool again\. The budget is used up/,
		);
	assert.equal(instance.sandbox.users[0]?.usedCredits, AFFORDED * 4);
});
