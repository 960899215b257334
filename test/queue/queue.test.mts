/**
 * n8n in queue mode: the work is spread over workers that know nothing of each other but by Redis and the database, and
 * results, files, keys, stop and sleeping executions are right. Kills: test/crash. In Another Workflow: test/soak.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { itemsOf, readExecution, startExecution, stopExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import type { N8n } from '../../tools/n8n/launch.mjs';
import { sandboxKey } from '../n8n/support/instance.mts';
import { startDoor, type Door } from '../n8n/support/door.mts';
import { executionsOf, listExecutions } from '../n8n/support/production.mts';
import { pause, until } from '../n8n/support/until.mts';
import { createWorkflow, oneStep, packageType } from '../n8n/support/workflow.mts';
import { Background } from './support/background.mts';
import { executionsPerWorker, startCluster, type Cluster } from './support/cluster.mts';

let cluster: Cluster;
let door: Door;
before(async () => {
	door = await startDoor();
	cluster = await startCluster({ workers: 2, env: { WEBHOOK_URL: door.url } });
	door.open(cluster.main.url, async (id) =>
		String((await cluster.rest.request('GET', `/rest/executions/${id}`)).workflowId),
	);
});
after(async () => {
	await cluster?.close();
	door?.close();
});
beforeEach(() => cluster.sandbox.reset());

const DELIVERIES = 120;

/** The node polls once a second here. */
const MORE_THAN_A_POLL_MS = 2_000;

const log = ({ server }: N8n) => server.lastLines(100_000);
const namedIn = (worker: N8n) => cluster.sandbox.tasks.filter(({ id }) => log(worker).includes(id));

/** The worker whose log says that it runs the execution. */
function workerOf(executionId: string): N8n {
	const worker = cluster.workers.find((each) => log(each).includes(`Worker started execution ${executionId} `));
	assert.ok(worker, `a worker has started execution ${executionId}`);
	return worker;
}

async function untilAccepted(count: number) {
	await until(`${count} tasks are accepted, and their IDs are logged`, () => {
		const { sandbox, workers } = cluster;
		const all = workers.map(log).join('\n');
		return sandbox.tasks.length >= count && sandbox.tasks.every(({ id }) => all.includes(id));
	});
}

test('40 tasks in 10 executions: both workers take their part, and every item gets its own result and file', async () => {
	const { rest, sandbox, workers } = cluster;
	const itemsEach = 4;
	const executions = 2 * executionsPerWorker; // as many as the workers take together
	const workflowIds = await Promise.all(
		Array.from(
			{ length: executions },
			async (_, run) =>
				await createWorkflow(
					cluster,
					Array.from({ length: itemsEach }, (__, item) => ({
						prompt: `picture ${run}-${item}. [[sandbox duration=8s]]`,
					})),
					oneStep,
				),
		),
	);
	const started = await Promise.all(workflowIds.map(async (id) => await startExecution(rest, id, 'Start')));
	const finished = await Promise.all(started.map(async (id) => await untilFinished(rest, id)));

	assert.equal(sandbox.tasks.length, executions * itemsEach);
	const contents = new Set<string>();
	for (const [run, execution] of finished.entries()) {
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		const items = itemsOf(execution, 'Generate');
		assert.equal(items.length, itemsEach);
		for (const [index, { json, binary }] of items.entries()) {
			const task = sandbox.tasks.find(({ id }) => id === json.task_id);
			assert.match(String(task?.body.prompt), new RegExp(`^picture ${run}-${index}\\.`), 'the task of this very item');
			assert.match(binary?.data.id, /^database:/, 'where all workers can read it');
			const file = await rest.readBinary(binary?.data.id);
			assert.equal(file.subarray(0, 8).toString('hex'), '89504e470d0a1a0a', 'a real picture');
			contents.add(file.toString('base64'));
		}
	}
	assert.equal(contents.size, executions * itemsEach, 'each picture is another one');

	const shares = workers.map((worker) => namedIn(worker).length);
	assert.ok(
		shares.every((share) => share > 0),
		`each worker did a part: ${shares.join(' and ')} tasks`,
	);
	assert.equal(shares[0] + shares[1], executions * itemsEach, 'the log of a worker names its tasks, and no others');
});

test('a stop reaches the worker: it ends, sends nothing more, and its log names the tasks', async () => {
	const { rest, sandbox } = cluster;
	const items = Array.from({ length: 10 }, (_, index) => ({ prompt: `picture ${index} [[sandbox duration=never]]` }));
	const workflowId = await createWorkflow(
		cluster,
		items,
		oneStep.map((node) => ({ ...node, retryOnFail: true, maxTries: 3, waitBetweenTries: 100 })),
	);
	const executionId = await startExecution(rest, workflowId, 'Start');
	await untilAccepted(items.length);
	await stopExecution(rest, executionId);
	assert.equal((await untilFinished(rest, executionId)).status, 'canceled');
	const worker = workerOf(executionId);
	await until('the node has ended', () =>
		/the execution was stopped, still running at the service: (\S+, ){9}\S+/.test(log(worker)),
	);
	const requests = sandbox.requests.length;
	await pause(MORE_THAN_A_POLL_MS);
	assert.equal(sandbox.requests.length, requests, 'no request leaves after the stop');
	assert.equal(sandbox.tasks.length, items.length, 'nothing was bought again');
	assert.equal(namedIn(worker).length, items.length);
});

test('50 Purchase Keys at the same moment in executions on two workers: each is bought once', async () => {
	const { sandbox, workers } = cluster;
	const keys = Array.from({ length: 50 }, (_, key) => ({ prompt: `key ${key} [[sandbox duration=8s]]` }));
	const options = { purchaseKey: '={{ $json.prompt }}', concurrentTasks: keys.length };
	const parameters = { prompt: '={{ $json.prompt }}', result: 'urlOnly', options };
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	// One more than a worker runs, so that the other one runs some.
	const executionIds = await Promise.all(
		Array.from(
			{ length: executionsPerWorker + 1 },
			async () => await startExecution(cluster.rest, await createWorkflow(cluster, keys, [node]), 'Start'),
		),
	);
	const outputs = await Promise.all(
		executionIds.map(async (id) => {
			const { status, error, ...execution } = await untilFinished(cluster.rest, id);
			assert.equal(status, 'success', JSON.stringify(error));
			return itemsOf({ status, error, ...execution }, 'Generate').map(({ json }) => json);
		}),
	);
	assert.equal(sandbox.tasks.length, keys.length);
	const idsOf = (output: (typeof outputs)[number]) => output.map(({ task_id: id }) => id);
	for (const output of outputs) assert.deepEqual(idsOf(output), idsOf(outputs[0] ?? []), 'all get the same tasks');
	assert.equal(outputs.flat().filter(({ reused }) => reused !== true).length, keys.length);
	assert.equal(new Set(executionIds.map(workerOf)).size, workers.length, 'each worker ran some of them');
});

test('120 deliveries of one Purchase Key at once, in the background: one purchase, and all get its result', async (t) => {
	const { sandbox, workers } = cluster;
	const background = await Background.prepare(cluster);
	const begunAtMs = Date.now();
	const order = { prompt: 'delivered again and again [[sandbox duration=8s]]', key: 'order 1' };
	await Promise.all(Array.from({ length: DELIVERIES }, async () => await background.call('buy', order)));
	// A minute and a half, and on a busy machine ten.
	await background.untilArrived(DELIVERIES, { withinMs: 1_500_000 });
	const arrived = await background.arrived();
	t.diagnostic(`results after ${arrived.map(({ atMs }) => Math.round((atMs - begunAtMs) / 1_000)).join()} s`);
	assert.deepEqual(new Set(arrived.map(({ taskId, code }) => taskId + code)), new Set([sandbox.tasks[0]?.id]));
	assert.equal(arrived.length, DELIVERIES, arrived.length < DELIVERIES ? await background.left() : undefined);
	assert.equal(sandbox.tasks.length, 1);
	const executionIds = await executionsOf(cluster, background.buyerId);
	assert.equal(new Set(executionIds.map(workerOf)).size, workers.length, 'each worker ran some of them');
});

test('a sleeping execution that many call at the same moment is woken once, by one worker', async () => {
	const { rest, main, sandbox, workers } = cluster;
	const items = Array.from({ length: 30 }, (_, item) => ({ prompt: `asleep ${item} [[sandbox duration=8s]]` }));
	const options = { concurrentTasks: 10 };
	const parameters = { prompt: '={{ $json.prompt }}', wait: 'acrossRestarts', result: 'urlOnly', options };
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow(cluster, items, [node]);
	// n8n's own call would wake it within a moment.
	door.holdFor(workflowId);
	const executionId = await startExecution(rest, workflowId, 'Start');
	let innermost = '';
	let address = '';
	await until('the innermost execution sleeps', async () => {
		const last = (await listExecutions(cluster, workflowId)).findLast(({ mode }) => mode === 'integrated');
		if (last?.status !== 'waiting') return false;
		innermost = last.id;
		const [noted] = itemsOf(await readExecution(rest, innermost), 'Note Address');
		address = String(noted?.json.details?.resume_url ?? '');
		return address !== '';
	});
	const { pathname, search } = new URL(address);
	const calls = Array.from({ length: 10 }, async () => await fetch(new URL(pathname + search, main.url)));
	const statuses = (await Promise.all(calls)).map(({ status }) => status);
	assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join(' '));
	const execution = await untilFinished(rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(
		itemsOf(execution, 'Generate').map(({ json }) => json.task_id),
		items.map(({ prompt }) => sandbox.tasks.find(({ body }) => body.prompt === prompt)?.id),
	);
	assert.equal(sandbox.tasks.length, items.length, 'bought once');
	const starts = workers.map((worker) => log(worker).split(`Worker started execution ${innermost} `).length - 1);
	assert.deepEqual(starts.sort(), [0, 1], 'one worker, once');
});

test('the key is in no log', () => {
	for (const n8n of [cluster.main, ...cluster.workers]) assert.ok(!log(n8n).includes(sandboxKey));
});
