/** Settings by which an owner of n8n limits executions, while tasks sleep: nothing is lost, and what waits in memory takes a place. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { itemsOf, readExecution, type Execution } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, executionsOf } from './support/production.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

/** n8n keeps a sleep of more than 66 s in its database. */
const ASLEEP_SECONDS = 80;

let instance: Instance;
before(async () => {
	instance = await startInstance();
});
after(() => instance?.close());

/** A webhook that answers at once, Generate, and a wait for ever: n8n prunes no execution that waits. Returns the workflow. */
async function publish(path: string, parameters: Record<string, unknown> | undefined): Promise<string> {
	const webhook = {
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: path,
		parameters: { path, httpMethod: 'GET', responseMode: 'onReceived', options: {} },
	};
	const generate = {
		name: 'Generate',
		type: packageType('imageGeneration'),
		parameters: { prompt: `${path} [[sandbox duration=never]]`, ...parameters },
	};
	const keep = {
		name: 'Keep',
		type: 'n8n-nodes-base.wait',
		typeVersion: 1.1,
		webhookId: `${path}-keep`,
		parameters: { resume: 'webhook', options: {} },
	};
	const nodes = parameters === undefined ? [webhook, keep] : [webhook, generate, keep];
	const id = await createWorkflow(instance, [], nodes, {}, { Start: { main: [] } });
	await activate(instance, id);
	return id;
}

/** n8n answers a call when it has a place for the execution. */
const call = async (path: string) => (await fetch(`${instance.n8n.url}/webhook/${path}`)).status;
const all = async (workflowId: string) =>
	await Promise.all((await executionsOf(instance, workflowId)).map((id) => readExecution(instance.rest, id)));
/** The one that the webhook has started: those that it has started come later. */
const outer = async (workflowId: string) => (await all(workflowId))[0];
const isBought = (path: string) => instance.sandbox.tasks.some(({ body }) => String(body.prompt).startsWith(path));
const isAsleep = async (workflowId: string) => {
	const [first, ...others] = await all(workflowId);
	return [first, ...others].length === 3 && [first, ...others].every((each) => each?.status === 'waiting');
};
const hasItems = (execution: Execution | undefined) =>
	execution !== undefined && itemsOf(execution, 'Generate').length > 0;
const isAtEnd = async (workflowId: string) => {
	const execution = await outer(workflowId);
	return hasItems(execution) && itemsOf(execution as Execution, 'Generate')[0]?.json.status === 'completed';
};

const ACROSS = { wait: 'acrossRestarts', options: { pollIntervalSeconds: ASLEEP_SECONDS } };
const IN_MEMORY = { wait: 'untilReady', options: { pollIntervalSeconds: 1 } };

const PRUNES_ALL = {
	EXECUTIONS_DATA_MAX_AGE: '0',
	EXECUTIONS_DATA_HARD_DELETE_BUFFER: '0',
	EXECUTIONS_DATA_PRUNE_SOFT_DELETE_INTERVAL: '0.05',
	EXECUTIONS_DATA_PRUNE_HARD_DELETE_INTERVAL: '0.05',
};

for (const [limit, more, also] of [
	[1, {}, ''],
	[2, PRUNES_ALL, ', and n8n prunes all that has ended'],
] as const) {
	test(`a limit of ${limit}${also}: what sleeps leaves its place to others, what waits in memory takes one, and nothing is lost`, async () => {
		const { sandbox } = instance;
		sandbox.reset();
		await instance.end('SIGTERM');
		await instance.restart({ N8N_CONCURRENCY_PRODUCTION_LIMIT: String(limit), ...more });
		const asleep = await publish(`asleep-${limit}`, ACROSS);
		const inMemory = await publish(`memory-${limit}`, IN_MEMORY);
		const plain = await publish(`plain-${limit}`, undefined);
		await call(`asleep-${limit}`);
		await until('it sleeps', async () => await isAsleep(asleep));

		await call(`plain-${limit}`);
		await until('another one has had its place', async () => (await outer(plain))?.status === 'waiting');
		const memory = Array.from({ length: limit }, async () => await call(`memory-${limit}`));
		await until('they wait in memory', () => sandbox.tasks.length === 1 + limit);
		const late = call(`plain-${limit}`);
		await until('n8n has it', async () => (await all(plain)).length === 2);
		assert.equal((await all(plain))[1]?.status, 'new', 'n8n starts it when a place is free');

		sandbox.release();
		await until('all have gone on', async () => {
			const inMemoryNow = await all(inMemory);
			return (
				inMemoryNow.length === limit &&
				inMemoryNow.every(hasItems) &&
				(await all(plain)).every(({ status }) => status === 'waiting') &&
				(await isAtEnd(asleep))
			);
		});
		assert.deepEqual(new Set(await Promise.all([...memory, late])), new Set([200]));
		assert.equal(sandbox.tasks.length, 1 + limit, 'each was bought once');
		assert.ok(isBought(`asleep-${limit}`));
	});
}

test('EXECUTIONS_TIMEOUT that a sleep has passed: n8n cancels the workflow, and the results are in the execution that waited', async () => {
	const { sandbox } = instance;
	sandbox.reset();
	await instance.end('SIGTERM');
	await instance.restart({ EXECUTIONS_TIMEOUT: '20' });
	const id = await publish('timeout', ACROSS);
	await call('timeout');
	await until('it sleeps', async () => await isAsleep(id));
	sandbox.release();
	await until('it is canceled', async () => (await outer(id))?.status === 'canceled');
	await until('the one that waited has ended', async () => (await all(id))[1]?.status === 'success');
	const waited = (await all(id))[1] as Execution;
	const runs = waited.runData.Results?.length ?? 0;
	const [item] = itemsOf(waited, 'Results', { run: runs - 1 });
	assert.deepEqual([item?.json.task_id, item?.json.status], [sandbox.tasks[0]?.id, 'completed']);
	assert.equal(sandbox.tasks.length, 1);
});
