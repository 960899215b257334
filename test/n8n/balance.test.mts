/** Balance and keys in a real n8n: the Balance Trigger in production, and a token that becomes a credential. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { credentialType, withCredential, withParameters, type Workflow } from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, deactivate, executionsOf, readExample, saveWorkflow, untilExecuted } from './support/production.mts';
import { until } from './support/until.mts';

let instance: Instance;
before(async () => {
	instance = await startInstance({ sandbox: { imageTaskMs: 400 } });
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

/** n8n takes no schedule shorter than a minute, but sixty of a minute each. */
const everySecond = {
	item: Array.from({ length: 60 }, (_, second) => ({ mode: 'custom', cronExpression: `${second} * * * * *` })),
};

/** The example, looking every second in place of every ten minutes. */
const lowBalanceAlert = () =>
	withParameters(readExample('low-balance-alert.json'), 'Balance Is Low', { pollTimes: everySecond });

async function setBalance(credits: number) {
	await fetch(`${instance.sandbox.baseUrl}/__sandbox/account`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ remain_credits: credits }),
	});
}

/** Waits until the balance was looked at twice more: the first of the two may have begun before. */
async function untilLookedAgain() {
	const looks = () => instance.sandbox.requests.filter(({ path }) => path.endsWith('/user/balance')).length;
	const before = looks();
	await until('the balance was looked at', () => looks() >= before + 2);
}

test('low-balance-alert.json fires once when the balance is below, again after it rose, and remembers both over a restart', async () => {
	const workflowId = await saveWorkflow(instance, lowBalanceAlert());
	await setBalance(900);
	await activate(instance, workflowId);
	const [first] = await untilExecuted(instance, workflowId, 1);
	assert.equal(first?.status, 'success', JSON.stringify(first?.error));
	assert.equal(
		itemsOf(first, 'Send Alert')[0]?.json.message,
		'The account has 900 credits left (4.5 USD), fewer than 1000.',
		'at activation',
	);

	await setBalance(800);
	await untilLookedAgain();
	await instance.n8n.server.stop();
	await instance.restart();
	await untilLookedAgain();
	assert.equal((await executionsOf(instance, workflowId)).length, 1, 'not told again, also not after a restart');

	await setBalance(1500);
	await untilLookedAgain();
	await setBalance(700);
	const executions = await untilExecuted(instance, workflowId, 2);
	await untilLookedAgain();
	assert.equal((await executionsOf(instance, workflowId)).length, 2, 'one execution for each crossing');
	assert.equal(itemsOf(executions[1]!, 'Balance Is Low')[0]?.json.remain_credits, 700);

	instance.sandbox.faults.add({ on: 'balance', times: 2, do: '401' });
	await until('both looks were refused', () => instance.sandbox.faults.pending === 0);
	await untilLookedAgain();
	await deactivate(instance, workflowId);
	const after = await untilExecuted(instance, workflowId, 4);
	assert.deepEqual(
		after.slice(2).map(({ status, error }) => [status, error?.message]),
		Array(2).fill(['error', 'The service did not accept the API key']),
		'a look that is refused is shown; it neither fires nor forgets',
	);
});

test('a look at activation that is refused is shown as the reason why the trigger is not active', async () => {
	const workflowId = await saveWorkflow(instance, lowBalanceAlert());
	instance.sandbox.faults.add({ on: 'balance', times: -1, do: '401' });
	await assert.rejects(activate(instance, workflowId), /The service did not accept the API key/);
	assert.deepEqual(await executionsOf(instance, workflowId), []);
});

test('a new token is a credential that generates images until its quota is used up, with its models only', async () => {
	const token = await run(
		oneNode('token', {
			name: 'Nightly pipeline',
			quota: 'limited',
			amount: 10,
			unit: 'credits',
			allowedModels: ['gamma-image-2'],
		}),
	);
	assert.equal(token.status, 'success', JSON.stringify(token.error));
	const apiKey = String(itemsOf(token, 'Node')[0]?.json.api_key);
	assert.match(apiKey, /^sk-.{48}$/);
	const { id, name } = await instance.rest.request('POST', '/rest/credentials', {
		name: 'Nightly pipeline',
		type: credentialType,
		data: { baseUrl: instance.sandbox.baseUrl, apiKey },
	});
	const nightly = { id: String(id), name: String(name) };

	for (const picture of ['first', 'second']) {
		const made = await run(oneNode('imageGeneration', { prompt: picture, downloadResult: true }), nightly);
		assert.equal(made.status, 'success', JSON.stringify(made.error));
		const file = itemsOf(made, 'Node')[0]?.binary?.data;
		assert.equal((await instance.rest.readBinary(file.id)).subarray(1, 4).toString('latin1'), 'PNG');
	}
	assert.equal(instance.sandbox.users[0]?.usedCredits, 8, 'the account pays');

	const refusals = [
		[oneNode('imageGeneration', { prompt: 'third' }), /not enough credits/],
		[
			oneNode('videoGeneration', { prompt: 'a video', model: 'beta-v3' }),
			/API key is not allowed to make this request/,
		],
	] as const;
	for (const [workflow, message] of refusals) {
		const refused = await run(workflow, nightly);
		assert.equal(refused.status, 'error');
		assert.match(refused.error.message, message);
		assert.ok(!JSON.stringify(refused.record).includes(apiKey));
	}
	assert.equal(instance.sandbox.tasks.length, 2);
	assert.ok(!instance.n8n.server.lastLines(10_000).includes(apiKey), 'the key is in no log line');
});

const oneNode = (type: string, parameters: Record<string, unknown>): Workflow => ({
	name: 'Test',
	settings: { executionOrder: 'v1' },
	nodes: [
		{ id: '1', name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, position: [0, 0], parameters: {} },
		{
			id: '2',
			name: 'Node',
			type: `n8n-nodes-generation-gateway.${type}`,
			typeVersion: 1,
			position: [200, 0],
			parameters,
		},
	],
	connections: { Start: { main: [[{ node: 'Node', type: 'main', index: 0 }]] } },
});

async function run(workflow: Workflow, credential: { id: string; name: string } = instance.credential) {
	const { id } = await instance.rest.request('POST', '/rest/workflows', withCredential(workflow, credential));
	return await untilFinished(instance.rest, await startExecution(instance.rest, String(id), 'Start'));
}
