/** Survive Restarts in production, where somebody waits for the answer of the workflow, and where nobody does. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { itemsOf, readExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, listExecutions, saveWorkflow } from './support/production.mts';
import { until } from './support/until.mts';
import { packageType, type TestNode } from './support/workflow.mts';

let instance: Instance;
before(async () => {
	instance = await startInstance();
});
after(() => instance?.close());

const WEBHOOK = 'n8n-nodes-base.webhook';
/** The first check comes so late that n8n sleeps in its database until then. */
const generate: TestNode = {
	name: 'Generate',
	type: packageType('imageGeneration'),
	parameters: { prompt: 'a lighthouse', options: { surviveRestarts: true, pollIntervalSeconds: 70 } },
};
const respond: TestNode = {
	name: 'Respond',
	type: 'n8n-nodes-base.respondToWebhook',
	typeVersion: 1.5,
	parameters: { respondWith: 'firstIncomingItem', options: {} },
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

const webhook = (path: string, responseMode: string): TestNode => ({
	name: 'Webhook',
	type: WEBHOOK,
	typeVersion: 2.1,
	webhookId: path,
	parameters: { path, httpMethod: 'POST', responseMode, options: {} },
});

async function post(path: string, body: Record<string, string> | FormData = {}): Promise<string> {
	const isForm = body instanceof FormData;
	const response = await fetch(`${instance.n8n.url}/${path}`, {
		method: 'POST',
		...(isForm ? {} : { headers: { 'content-type': 'application/json' } }),
		body: isForm ? body : JSON.stringify(body),
	});
	const text = await response.text();
	assert.equal(response.status, 200, text);
	return text;
}

/** The execution that the trigger has started; the others are its sub-executions. */
const executionOf = async (workflowId: string) =>
	await readExecution(instance.rest, (await listExecutions(instance, workflowId))[0]?.id ?? '');

async function assertSleeps(workflowId: string) {
	await until('the execution sleeps', async () => (await executionOf(workflowId)).status === 'waiting');
	const { id } = (await listExecutions(instance, workflowId))[0] ?? { id: '' };
	const execution = await untilFinished(instance.rest, id);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.equal(itemsOf(execution, 'Generate')[0]?.json.status, 'completed');
}

async function assertSaysWhy(workflowId: string, trigger: string) {
	// n8n answers before it has saved the execution.
	await until('the execution has ended', async () => (await executionOf(workflowId)).status === 'success');
	const [task] = (await executionOf(workflowId)).runData.Generate ?? [];
	const { hints = [] } = task as unknown as { hints?: Array<{ message: string }> };
	assert.ok(
		hints.some(({ message }) => message.includes(`"${trigger}" waits for the answer of this workflow`)),
		JSON.stringify(hints),
	);
}

const concurrently = { concurrency: true };
test(
	'in production, Survive Restarts sleeps only where nobody waits for the answer of the workflow',
	concurrently,
	async (suite) => {
		const each = [
			suite.test('the caller of a webhook that the last node answers gets the result', async () => {
				const id = await publish([webhook('last', 'lastNode'), generate]);
				const answer = JSON.parse(await post('webhook/last')) as Record<string, unknown>;
				assert.equal(answer.status, 'completed', JSON.stringify(answer));
				await assertSaysWhy(id, 'Webhook');
			}),
			suite.test('the caller of a webhook that a Respond to Webhook node answers gets the result', async () => {
				const id = await publish([webhook('responds', 'responseNode'), generate, respond]);
				const answer = JSON.parse(await post('webhook/responds')) as Record<string, unknown>;
				assert.equal(answer.status, 'completed', JSON.stringify(answer));
				await assertSaysWhy(id, 'Webhook');
			}),
			suite.test('the caller of a webhook that streams gets the result', async () => {
				const id = await publish([webhook('streams', 'streaming'), generate, respond]);
				assert.match(await post('webhook/streams'), /\\?"status\\?":\\?"completed/);
				await assertSaysWhy(id, 'Webhook');
			}),
			suite.test('who writes to a chat gets the result', async () => {
				const trigger = {
					name: 'Chat',
					type: '@n8n/n8n-nodes-langchain.chatTrigger',
					typeVersion: 1.3,
					webhookId: 'chat',
					parameters: { public: true, mode: 'webhook', options: {} },
				};
				const id = await publish([trigger, generate]);
				const answer = await post('webhook/chat/chat', { action: 'sendMessage', sessionId: '1', chatInput: 'Hello' });
				assert.match(answer, /"status":"completed"/);
				await assertSaysWhy(id, 'Chat');
			}),
			suite.test('behind a webhook that responds at once, the execution sleeps', async () => {
				const id = await publish([webhook('at-once', 'onReceived'), generate]);
				assert.equal(await post('webhook/at-once'), '{"message":"Workflow was started"}');
				await assertSleeps(id);
			}),
			suite.test('behind a Respond to Webhook node that has responded, the execution sleeps', async () => {
				const id = await publish([webhook('responded', 'responseNode'), respond, generate]);
				await post('webhook/responded');
				await assertSleeps(id);
			}),
			suite.test('behind a form with an ending page, the execution sleeps, and the browser gets the page', async () => {
				const form = {
					name: 'Form',
					type: 'n8n-nodes-base.formTrigger',
					typeVersion: 2.3,
					webhookId: 'order-form',
					parameters: {
						formTitle: 'Order',
						formFields: { values: [{ fieldLabel: 'Name', fieldType: 'text' }] },
						options: {},
					},
				};
				const ending = {
					name: 'Ending',
					type: 'n8n-nodes-base.form',
					typeVersion: 2.3,
					webhookId: 'ending',
					parameters: { operation: 'completion', completionTitle: '={{ $json.status }}', options: {} },
				};
				const id = await publish([form, generate, ending]);
				const data = new FormData();
				data.append('field-0', 'Ada');
				const { formWaitingUrl } = JSON.parse(await post('form/order-form', data)) as { formWaitingUrl: string };
				await until('the execution sleeps', async () => (await executionOf(id)).status === 'waiting');
				const status = new URL(formWaitingUrl);
				status.pathname += '/n8n-execution-status';
				await until('the page is there', async () => (await (await fetch(status)).text()) === 'form-waiting', {
					everyMs: 1_000,
				});
				assert.match(await (await fetch(formWaitingUrl)).text(), /completed/);
			}),
		];
		await Promise.all(each);
	},
);
