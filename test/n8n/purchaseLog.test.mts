/** The purchase log in a real n8n: its table, its rows, and a retry after a crash that goes on by them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { itemsOf, startExecution, stopExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { readExample } from './support/production.mts';
import { withSlowdown } from './support/slowdown.mts';
import { until } from './support/until.mts';
import { createWorkflow, oneStep } from './support/workflow.mts';

let instance: Instance;
let credential: Instance['credential'];
let projectId: string;

before(async () => {
	instance = await startInstance({ sandbox: { imageTaskMs: 400, videoTaskMs: 400 } });
	const { rest } = instance;
	const data = { ...instance.credential.data, purchaseLog: true };
	const { id } = await rest.request('POST', '/rest/credentials', { name: 'With Log', type: credentialType, data });
	credential = { ...instance.credential, id: String(id), name: 'With Log' };
	projectId = String((await rest.request('GET', '/rest/projects/personal')).id);
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

const createRun = async (prompts: string[], settings: Record<string, unknown> = {}) =>
	await createWorkflow(
		{ rest: instance.rest, credential },
		prompts.map((prompt) => ({ prompt })),
		oneStep.map((node) => ({ ...node, ...settings })),
		{ saveExecutionProgress: true },
	);

const start = async (workflowId: string) => await startExecution(instance.rest, workflowId, 'Start');
const run = async (workflowId: string) => await untilFinished(instance.rest, await start(workflowId));

interface Table {
	id: string;
	name: string;
}

const path = () => `/rest/projects/${projectId}/data-tables`;

async function tables(): Promise<Table[]> {
	return (await instance.rest.request('GET', path())).data;
}

async function rows(executionIds: string[]): Promise<Array<Record<string, string | number | boolean>>> {
	const table = (await tables()).find(({ name }) => name === 'Gateway Purchases');
	if (table === undefined) return [];
	const { data } = await instance.rest.request('GET', `${path()}/${table.id}/rows?take=1000`);
	return data.filter(({ execution }: { execution: string }) => executionIds.includes(execution));
}

const untilEnded = async (executionId: string, count: number) =>
	await until('the ends are in the log', async () => {
		const ended = (await rows([executionId])).filter(({ state }) => state === 'completed');
		return ended.length === count;
	});

test('two runs at once make one table, beside others whose names begin alike; the list of executions has these runs only', async () => {
	for (const name of ['Gateway Purchases backup', 'My Gateway Purchases'])
		await instance.rest.request('POST', path(), { name, columns: [{ name: 'state', type: 'string' }] });
	const workflowIds = [await createRun(['a', 'b']), await createRun(['c'])];
	const executions = await Promise.all(workflowIds.map(run));
	const [first, second] = executions.map(({ id }) => id) as [string, string];
	assert.deepEqual(
		executions.map(({ status }) => status),
		['success', 'success'],
	);
	assert.equal((await tables()).filter(({ name }) => name === 'Gateway Purchases').length, 1);
	await untilEnded(first, 2);
	await untilEnded(second, 1);
	const states = (await rows([first])).map(({ item, state }) => `${item} ${state}`).sort();
	assert.deepEqual(
		states,
		['0 accepted', '0 completed', '0 submitting', '1 accepted', '1 completed', '1 submitting'].sort(),
	);
	const ids = new Set((await rows([first, second])).map(({ task_id }) => task_id).filter(Boolean));
	assert.deepEqual([...ids].sort(), instance.sandbox.tasks.map(({ id }) => id).sort());
	const listed = await instance.rest.request('GET', '/rest/executions');
	assert.deepEqual(listed.results.map(({ id }: { id: string }) => String(id)).sort(), [first, second].sort());
});

test('a retry after a crash waits for the tasks of the crashed try and submits the rest', async () => {
	const prompts = ['a', 'b', 'c', 'd'].map((name) => `${name} [[sandbox duration=never]]`);
	const options = { pollIntervalSeconds: 1, concurrentTasks: 2 };
	const workflowId = await createRun(prompts, { parameters: { prompt: '={{ $json.prompt }}', options } });
	const crashed = await start(workflowId);
	await until('two are in the log', async () => {
		return (await rows([crashed])).filter(({ state }) => state === 'accepted').length === 2;
	});
	assert.equal(instance.sandbox.tasks.length, 2);
	const retried = await retryAfterKill(crashed);
	assert.equal(retried.status, 'success', JSON.stringify(retried.error));
	assert.equal(instance.sandbox.tasks.length, 4, 'nothing is bought twice');
	assert.deepEqual(
		itemsOf(retried, 'Generate')
			.map(({ json }) => json.task_id)
			.sort(),
		instance.sandbox.tasks.map(({ id: taskId }) => taskId).sort(),
	);
});

/** Kills n8n, lets the tasks that it waited for end, starts it again, and retries the execution. */
async function retryAfterKill(executionId: string) {
	await instance.kill();
	instance.sandbox.release();
	await instance.restart();
	const { id } = await instance.rest.request('POST', `/rest/executions/${executionId}/retry`, { loadWorkflow: false });
	return await untilFinished(instance.rest, String(id));
}

const oneAtATime = {
	onError: 'continueRegularOutput',
	parameters: { prompt: '={{ $json.prompt }}', options: { pollIntervalSeconds: 1, concurrentTasks: 1 } },
};

test('killed while a request is under way, a retry does not send it again, and submits the others', async () => {
	const executionId = await start(await createRun(['lost [[sandbox create=slow:30s!after]]', 'b'], oneAtATime));
	await until('the request is under way', () => instance.sandbox.requests.length === 1);
	assert.deepEqual(
		(await rows([executionId])).map(({ item, state }) => `${item} ${state}`),
		['0 submitting'],
		'the row is there before the request',
	);
	const items = itemsOf(await retryAfterKill(executionId), 'Generate');
	assert.match(JSON.stringify(items[0]?.json), /outcome_still_unknown/);
	assert.equal(items[1]?.json.status, 'completed', JSON.stringify(items[1]?.json));
	const created = instance.sandbox.requests.filter(({ method }) => method === 'POST');
	assert.equal(created.length, 2, 'the first request was sent once');
});

test('a retry after a crash does not buy another request for an item, and names the task that it has', async () => {
	const parameters = { ...oneAtATime.parameters, prompt: '={{ $json.prompt }} at {{ $now.toMillis() }}' };
	const executionId = await start(await createRun(['a [[sandbox duration=never]]'], { ...oneAtATime, parameters }));
	await until('the ID is in the log', async () => (await rows([executionId])).some(({ task_id }) => task_id));
	const [item] = itemsOf(await retryAfterKill(executionId), 'Generate');
	assert.equal(item?.json.code, 'created_from_other_request', JSON.stringify(item?.json));
	assert.equal(item?.json.task_id, instance.sandbox.tasks[0]?.id);
	assert.equal(instance.sandbox.tasks.length, 1);
});

test('killed between the rows and the requests, a retry sends none of them again', async () => {
	const options = { pollIntervalSeconds: 1, requestsPerSecond: 1 };
	const prompts = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name} [[sandbox duration=2s]]`);
	const parameters = { prompt: '={{ $json.prompt }}', options };
	const executionId = await start(await createRun(prompts, { ...oneAtATime, parameters }));
	await until('all rows are there', async () => (await rows([executionId])).length >= prompts.length, { everyMs: 20 });
	const sentBefore = instance.sandbox.requests.filter(({ method }) => method === 'POST').length;
	assert.ok(sentBefore < prompts.length, `${sentBefore} requests have left`);
	const items = itemsOf(await retryAfterKill(executionId), 'Generate').map(({ json }) => json);
	const bought = instance.sandbox.tasks.length;
	assert.ok(bought <= prompts.length - 1, `${bought} tasks`);
	assert.equal(new Set(instance.sandbox.tasks.map(({ body }) => body.prompt)).size, bought, 'none is bought twice');
	for (const json of items)
		assert.ok(json.status === 'completed' || json.code === 'outcome_still_unknown', JSON.stringify(json));
});

test('without its rows, a retry after a crash buys nothing', async () => {
	const executionId = await start(await createRun(['a [[sandbox duration=60s]]', 'b'], oneAtATime));
	await until('the ID is in the log', async () => (await rows([executionId])).some(({ task_id }) => task_id));
	const table = (await tables()).find(({ name }) => name === 'Gateway Purchases');
	await instance.rest.request('DELETE', `${path()}/${table?.id}`);
	const items = itemsOf(await retryAfterKill(executionId), 'Generate');
	for (const { json } of items) assert.match(JSON.stringify(json), /outcome_still_unknown/);
	assert.equal(instance.sandbox.tasks.length, 1);
	await run(await createRun(['c'])); // makes the table again
});

test('rows of more than 90 days are removed, in pieces, and the others stay', async () => {
	const table = (await tables()).find(({ name }) => name === 'Gateway Purchases');
	const day = 24 * 60 * 60 * 1000;
	const aged = (days: number) => new Date(Date.now() - days * day).toISOString();
	const old = Array.from({ length: 1500 }, () => ({ time: aged(91), execution: 'old' }));
	const young = { time: aged(89), execution: 'young' };
	for (const data of [[...old.slice(0, 900), young], old.slice(900)])
		await instance.rest.request('POST', `${path()}/${table?.id}/insert`, { data, returnType: 'count' });
	assert.ok((await rows(['old'])).length > 0);
	await instance.kill(); // it remembers that it has looked today
	await instance.restart();
	const { id } = await run(await createRun(['a']));
	await until('the old rows are gone', async () => (await rows(['old'])).length === 0);
	assert.equal((await rows(['young'])).length, 1);
	await untilEnded(id, 1);
});

test('after a stop, the ID that came in is in the log', async () => {
	const executionId = await start(await createRun(['a [[sandbox duration=60s]]']));
	while (instance.sandbox.tasks.length < 1) await new Promise((resolve) => setTimeout(resolve, 10));
	await stopExecution(instance.rest, executionId);
	await until('the ID is in the log', async () => {
		const [accepted] = (await rows([executionId])).filter(({ state }) => state === 'accepted');
		return accepted?.task_id === instance.sandbox.tasks[0]?.id;
	});
});

test("after n8n's own timeout, the IDs that came in are in the log", async () => {
	const prompts = ['before [[sandbox duration=90s]]', 'after [[sandbox create=slow:20s duration=90s]]'];
	const workflowId = await createWorkflow(
		{ rest: instance.rest, credential },
		prompts.map((prompt) => ({ prompt })),
		oneStep,
		{ executionTimeout: 10 },
	);
	const executionId = await start(workflowId);
	const accepted = async () => (await rows([executionId])).filter(({ state }) => state === 'accepted');
	assert.equal((await untilFinished(instance.rest, executionId)).status, 'canceled');
	assert.ok((await accepted()).length < 2, 'one is still on its way');
	await until('both IDs are in the log', async () => (await accepted()).length === 2);
	const ids = (await accepted()).map(({ task_id }) => task_id);
	assert.deepEqual(ids.sort(), instance.sandbox.tasks.map(({ id }) => id).sort());
});

test('the ID of a task is in the log a second after its acceptance', async () => {
	const tookMs: number[] = [];
	for (let time = 0; time < 5; time++) {
		instance.sandbox.reset();
		const executionId = await start(await createRun(['a [[sandbox duration=3s]]']));
		await until('it is accepted', () => instance.sandbox.tasks.length === 1, { everyMs: 5 });
		const acceptedAtMs = Date.now();
		const isThere = async () => (await rows([executionId])).some(({ state }) => state === 'accepted');
		const { slowdown } = await withSlowdown(until('its ID is in the log', isThere, { everyMs: 20 }));
		tookMs.push((Date.now() - acceptedAtMs) / slowdown);
		await untilFinished(instance.rest, executionId);
	}
	const median = tookMs.toSorted((a, b) => a - b)[2] ?? NaN;
	assert.ok(median <= 1000, `${tookMs.join(', ')} ms`);
});

test('the table is removed in the middle of a run: the ID is in the new one', async () => {
	const executionId = await start(await createRun(['a [[sandbox create=slow:12s]]']));
	await until('the row is there', async () => (await rows([executionId])).length === 1);
	const table = (await tables()).find(({ name }) => name === 'Gateway Purchases');
	await instance.rest.request('DELETE', `${path()}/${table?.id}`);
	assert.equal((await untilFinished(instance.rest, executionId)).status, 'success');
	await untilEnded(executionId, 1);
	const [accepted] = (await rows([executionId])).filter(({ state }) => state === 'accepted');
	assert.equal(accepted?.task_id, instance.sandbox.tasks[0]?.id);
});

test('no prompt, no key and no result is in the table', async () => {
	const workflowId = await createRun(['a very secret prompt']);
	const { id } = await run(workflowId);
	await untilEnded(id, 1);
	const text = JSON.stringify(await rows([id]));
	assert.ok(!text.includes('secret') && !text.includes(instance.credential.data.apiKey) && !text.includes('/files/'));
});

for (const [where, more] of [
	['in memory', {}],
	['with Survive Restarts', { surviveRestarts: true }],
] as const)
	test(`Report Credits adds one row for the run, ${where}`, async () => {
		const options = { pollIntervalSeconds: 1, reportCredits: true, ...more };
		const workflowId = await createRun(['a', 'b'], { parameters: { prompt: '={{ $json.prompt }}', options } });
		const { id, status } = await run(workflowId);
		assert.equal(status, 'success');
		const ofRun = async () => (await rows([id])).filter(({ state }) => state === 'run');
		await until('it is in the log', async () => (await ofRun()).length > 0);
		const [{ credits, model, thing, task_id: taskId, item }, ...others] = await ofRun();
		assert.deepEqual([credits, model, thing, taskId, item, others], [8, 'gamma-image-2', 'run', '', 0, []]);
		await untilEnded(id, 2);
		assert.ok((await rows([id])).every(({ state, credits: of }) => state === 'run' || of === null));
	});

test('spending-report.json adds up purchases and credits by workflow and model', async () => {
	const table = (await tables()).find(({ name }) => name === 'Gateway Purchases');
	await instance.rest.request('DELETE', `${path()}/${table?.id}`);
	const options = { pollIntervalSeconds: 1, reportCredits: true };
	const workflowId = await createRun(['a', 'b'], { parameters: { prompt: '={{ $json.prompt }}', options } });
	for (let runs = 1; runs <= 2; runs++) {
		const { id } = await run(workflowId);
		await until('it is in the log', async () => (await rows([id])).some(({ state }) => state === 'run'));
	}
	const { id } = await instance.rest.request('POST', '/rest/workflows', readExample('spending-report.json'));
	const report = await untilFinished(instance.rest, await startExecution(instance.rest, String(id), 'Start'));
	assert.equal(report.status, 'success', JSON.stringify(report.error));
	assert.deepEqual(
		itemsOf(report, 'Sum Up').map(({ json }) => json),
		[{ workflow: 'Test', model: 'gamma-image-2', sum_purchases: 4, sum_credits: 16 }],
	);
});

test('with a table of other columns the run goes on, and a hint says why rows are missing', async () => {
	const table = (await tables()).find(({ name }) => name === 'Gateway Purchases');
	await instance.rest.request('DELETE', `${path()}/${table?.id}`);
	await instance.rest.request('POST', path(), { name: 'Gateway Purchases', columns: [{ name: 'a', type: 'string' }] });
	const execution = await run(await createRun(['a']));
	assert.equal(execution.status, 'success');
	assert.match(JSON.stringify(execution.runData.Generate?.[0]?.hints), /does not have the column/);
});
