/** Purchase Key in a real n8n: one purchase for each key, also across executions, restarts and crashes. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import pLimit from 'p-limit';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, saveWorkflow } from './support/production.mts';
import { withSlowdown } from './support/slowdown.mts';
import { pause, until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

let instance: Instance;
let credential: Instance['credential'];

before(async () => {
	instance = await startInstance({ sandbox: { imageTaskMs: 2000 } });
	const { rest } = instance;
	const data = { ...instance.credential.data, purchaseLog: true };
	const { id } = await rest.request('POST', '/rest/credentials', { name: 'With Log', type: credentialType, data });
	credential = { ...instance.credential, id: String(id), name: 'With Log' };
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

/** Work takes so many times longer than on an idle machine, on the average: at times it is much more then. */
const BUSY = 2;

const generate = (options: Record<string, unknown> = {}) => ({
	name: 'Generate',
	type: packageType('imageGeneration'),
	onError: 'continueRegularOutput',
	parameters: {
		prompt: '={{ $json.prompt }}',
		downloadResult: false,
		options: { purchaseKey: '={{ $json.order }}', ...options },
	},
});

interface Input {
	order: unknown;
	prompt: string;
	[field: string]: unknown;
}

const start = async (items: Input[], options?: Record<string, unknown>, with_ = credential) => {
	const workflowId = await createWorkflow({ rest: instance.rest, credential: with_ }, items, [generate(options)]);
	return { workflowId, executionId: await startExecution(instance.rest, workflowId, 'Start') };
};

const run = async (...args: Parameters<typeof start>) => {
	const { executionId } = await start(...args);
	const execution = await untilFinished(instance.rest, executionId);
	return itemsOf(execution, 'Generate').map(({ json }) => json as Record<string, unknown>);
};

/** Of the data table with the purchase log, in n8n's API. */
async function purchasesPath(): Promise<string> {
	const project = String((await instance.rest.request('GET', '/rest/projects/personal')).id);
	const path = `/rest/projects/${project}/data-tables`;
	const { data: tables } = await instance.rest.request('GET', path);
	return `${path}/${tables.find(({ name }: { name: string }) => name === 'Gateway Purchases').id}`;
}

test('of 400 deliveries of one webhook in a second one buys, and 399 get its result', async () => {
	const webhook = {
		...{ id: '1', name: 'Webhook', type: 'n8n-nodes-base.webhook', typeVersion: 2.1, webhookId: 'orders' },
		...{
			position: [0, 0],
			parameters: { path: 'orders', httpMethod: 'POST', responseMode: 'lastNode', options: {} },
		},
	};
	const order = generate();
	order.parameters.prompt = '={{ $json.body.prompt }}';
	order.parameters.options.purchaseKey = '={{ $json.body.order }}';
	const node = {
		...{ id: '2', position: [200, 0], typeVersion: 1, ...order },
		credentials: { generationGatewayApi: { id: credential.id, name: credential.name } },
	};
	const workflowId = await saveWorkflow({ rest: instance.rest, credential }, {
		name: 'Orders',
		nodes: [webhook, node],
		connections: { Webhook: { main: [[{ node: 'Generate', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	} as never);
	await activate(instance, workflowId);
	const deliver = async () => {
		const response = await fetch(`${instance.n8n.url}/webhook/orders`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ order: 4711, prompt: 'one lighthouse' }),
		});
		return (await response.json()) as Record<string, unknown>;
	};
	const deliveries = Array.from({ length: 400 }, async (_, index) => {
		await pause(index * 2.5);
		return await deliver();
	});
	const { result: answers, slowdown } = await withSlowdown(Promise.all(deliveries));
	// Where others take the processor, n8n takes longer for its table than the node waits. Then nothing is bought, and
	// whoever has sent the order sends it again.
	if (slowdown > BUSY) {
		const aFew = pLimit(5);
		const again = answers.map(async (answer) => (answer.status === 'completed' ? answer : await aFew(deliver)));
		answers.splice(0, answers.length, ...(await Promise.all(again)));
	}
	assert.equal(instance.sandbox.tasks.length, 1, JSON.stringify(answers[0]));
	const [task] = instance.sandbox.tasks;
	const odd = answers.filter(({ status, task_id }) => status !== 'completed' || task_id !== task?.id);
	assert.deepEqual(odd, []);
	assert.equal(answers.filter(({ reused }) => reused === true).length, 399);
});

test('two items with one key are one purchase; a later run, after a restart, gets it, too', async () => {
	const items = [
		{ order: 7, prompt: 'a' },
		{ order: '7 ', prompt: 'a' },
		{ order: '', prompt: 'a' },
		{ order: null, prompt: 'a' },
	];
	const first = await run(items);
	assert.equal(instance.sandbox.tasks.length, 3, 'an empty key is no key');
	assert.deepEqual(
		first.map(({ status, reused }) => [status, reused]),
		[
			['completed', undefined],
			['completed', true],
			['completed', undefined],
			['completed', undefined],
		],
	);
	assert.equal(first[0]?.task_id, first[1]?.task_id);
	await instance.kill();
	await instance.restart();
	const [later] = await run([{ order: 7, prompt: 'a' }]);
	assert.equal(later?.task_id, first[0]?.task_id);
	assert.equal(later?.reused, true);
	assert.equal(instance.sandbox.tasks.length, 3);
	const [other] = await run([{ order: 7, prompt: 'b' }]);
	assert.equal(other?.code, 'purchase_key_conflict');
	assert.equal(instance.sandbox.tasks.length, 3);
});

test('a failed task frees its key, and so does a refusal', async () => {
	const failing = { order: 'f', prompt: 'a [[sandbox fail=internal]]' };
	assert.equal((await run([failing]))[0]?.code, 'task_failed');
	assert.equal((await run([failing]))[0]?.code, 'task_failed');
	assert.equal(instance.sandbox.tasks.length, 2);
	const refused = { order: 'r', prompt: 'a [[sandbox create=402]]' };
	assert.equal((await run([refused]))[0]?.code, 'balance_too_low');
	assert.equal((await run([{ order: 'r', prompt: 'a' }]))[0]?.status, 'completed');
});

test('without the log nothing is bought with a key', async () => {
	const [item, other] = await run(
		[
			{ order: 'k', prompt: 'a' },
			{ order: '', prompt: 'b' },
		],
		{},
		instance.credential,
	);
	assert.equal(item?.code, 'purchase_log_unavailable');
	assert.equal(other?.status, 'completed');
	assert.equal(instance.sandbox.tasks.length, 1);
});

test('in waves, each key is bought once, and every purchase has its rows and its end', async () => {
	const items = Array.from({ length: 60 }, (_, item) => ({ order: `w${item % 40}`, prompt: `wave ${item % 40}` }));
	const made = await run(items, { surviveRestarts: true, concurrentTasks: 10 });
	assert.equal(instance.sandbox.tasks.length, 40);
	assert.equal(
		made.filter(({ status }) => status === 'completed').length,
		60,
		JSON.stringify(made.find(({ error }) => error)),
	);
	assert.equal(made.filter(({ reused }) => reused === true).length, 20);
	const path = await purchasesPath();
	const ids = new Set(instance.sandbox.tasks.map(({ id }) => id));
	await until('all ends are in the log', async () => {
		const { data } = await instance.rest.request('GET', `${path}/rows?take=1000`);
		const ended = data.filter(
			(row: { state: string; task_id: string }) => row.state === 'completed' && ids.has(row.task_id),
		);
		return new Set(ended.map((row: { task_id: string }) => row.task_id)).size === 40;
	});
});

test('killed during the request: another run buys nothing, says so, and with Submit Again it buys once', async () => {
	// Two runs wait for 130 s each, until the request cannot be under way any more.
	const item = { order: 'killed', prompt: 'lost [[sandbox create=slow:20s!after]]' };
	const { executionId } = await start([item]);
	await until('the request is under way', () => instance.sandbox.requests.some(({ method }) => method === 'POST'));
	await instance.kill();
	await instance.restart();
	const posts = () => instance.sandbox.requests.filter(({ method }) => method === 'POST').length;
	const [unclear] = await run([item]);
	assert.equal(unclear?.code, 'purchase_key_unclear', JSON.stringify(unclear));
	assert.equal(posts(), 1);
	// As it looks some minutes later: the next run need not watch it once more.
	await instance.rest.request('PATCH', `${await purchasesPath()}/rows`, {
		filter: { filters: [{ columnName: 'execution', value: executionId }] },
		data: { time: new Date(Date.now() - 11 * 60_000).toISOString() },
	});
	const [again] = await run([item], { submitAgain: true });
	assert.equal(again?.status, 'completed', JSON.stringify(again));
	assert.equal(posts(), 2);
});

test('killed after the acceptance: another run gets the task', async () => {
	const item = { order: 'accepted', prompt: 'a [[sandbox duration=20s]]' };
	await start([item]);
	await until('it is accepted', () => instance.sandbox.tasks.length === 1);
	const path = await purchasesPath();
	await until('its ID is in the log', async () => {
		const { data } = await instance.rest.request('GET', `${path}/rows?take=1000`);
		return data.some((row: { task_id: string }) => row.task_id === instance.sandbox.tasks[0]?.id);
	});
	await instance.kill();
	await instance.restart();
	const [found] = await run([item]);
	assert.deepEqual([found?.status, found?.reused], ['completed', true]);
	assert.equal(instance.sandbox.tasks.length, 1);
});
