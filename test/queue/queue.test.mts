/** n8n in queue mode: the work is spread over workers, and results, files, stop and what a killed worker leaves are right. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { itemsOf, readExecution, startExecution, stopExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import type { N8n } from '../../tools/n8n/launch.mjs';
import { killN8n, sandboxKey } from '../n8n/support/instance.mts';
import { createWorkflow, oneStep, twoSteps } from '../n8n/support/workflow.mts';
import { executionsPerWorker, startCluster, type Cluster } from './support/cluster.mts';

let cluster: Cluster;
before(async () => {
	cluster = await startCluster({ workers: 2 });
});
after(() => cluster?.close());
beforeEach(() => cluster.sandbox.reset());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const log = ({ server }: N8n) => server.lastLines(100_000);
const namedIn = (worker: N8n) => cluster.sandbox.tasks.filter(({ id }) => log(worker).includes(id));

/** The worker whose log says that it runs the execution. */
function workerOf(executionId: string): N8n {
	const worker = cluster.workers.find((each) => log(each).includes(`Worker started execution ${executionId} `));
	assert.ok(worker, `a worker has started execution ${executionId}`);
	return worker;
}

async function untilAccepted(count: number) {
	while (cluster.sandbox.tasks.length < count) await pause(100);
	await pause(500);
}

test('40 tasks in 10 executions: both workers take their part, and every item gets its own result and file', { timeout: 120_000 }, async () => {
	const { rest, sandbox, workers } = cluster;
	const itemsEach = 4;
	const executions = 2 * executionsPerWorker; // as many as the workers take together
	const workflowIds = await Promise.all(
		Array.from({ length: executions }, async (_, run) =>
			await createWorkflow(
				cluster,
				Array.from({ length: itemsEach }, (__, item) => ({ prompt: `picture ${run}-${item}. [[sandbox duration=8s]]` })),
				oneStep,
			),
		),
	);
	const started = await Promise.all(workflowIds.map(async (id) => await startExecution(rest, id, 'Start')));
	const finished = await Promise.all(started.map(async (id) => await untilFinished(rest, id, { timeoutMs: 90_000 })));

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
	assert.deepEqual(shares, [20, 20], 'each worker did its part, and its log names its tasks and no others');
});

test('a stop reaches the worker: it ends at once, sends nothing more, and its log names the tasks', { timeout: 60_000 }, async () => {
	const { rest, sandbox } = cluster;
	const items = Array.from({ length: 10 }, (_, index) => ({ prompt: `picture ${index} [[sandbox duration=120s]]` }));
	const workflowId = await createWorkflow(cluster, items, oneStep.map((node) => ({ ...node, retryOnFail: true, maxTries: 3, waitBetweenTries: 100 })));
	const executionId = await startExecution(rest, workflowId, 'Start');
	await untilAccepted(items.length);
	await stopExecution(rest, executionId);
	const { status } = await untilFinished(rest, executionId, { timeoutMs: 10_000 });
	assert.equal(status, 'canceled');
	await pause(1_000);
	const requests = sandbox.requests.length;
	await pause(4_000);
	assert.equal(sandbox.requests.length, requests, 'no request leaves after the stop');
	assert.equal(sandbox.tasks.length, items.length, 'nothing was bought again');
	assert.equal(namedIn(workerOf(executionId)).length, items.length);
	assert.match(log(workerOf(executionId)), /the execution was stopped, 10 tasks go on in the service/);
});

test('the key is in no log', () => {
	for (const n8n of [cluster.main, ...cluster.workers]) assert.ok(!log(n8n).includes(sandboxKey));
});

test('a worker is killed in the middle of a wait', { timeout: 120_000 }, async () => {
	const { rest, sandbox } = cluster;
	const workflowId = await createWorkflow(cluster, [{ prompt: 'a [[sandbox duration=25s]]' }, { prompt: 'b [[sandbox duration=25s]]' }], twoSteps, {
		saveExecutionProgress: true,
	});
	const executionId = await startExecution(rest, workflowId, 'Start');
	await untilAccepted(2);
	const killed = workerOf(executionId);
	await killN8n(killed);
	const t = Date.now();
	const execution = await untilFinished(rest, executionId, { timeoutMs: 60_000 });
	console.log('after', Date.now() - t, execution.status, JSON.stringify(execution.error)?.slice(0, 300), Object.keys(execution.runData));
	const { id } = await rest.request('POST', `/rest/executions/${executionId}/retry`, { loadWorkflow: false });
	const second = await untilFinished(rest, String(id));
	console.log(second.status, JSON.stringify(second.error), itemsOf(second, 'Wait').length, sandbox.tasks.length);
	console.log(cluster.main.server.lastLines(20));
	void readExecution;
});
