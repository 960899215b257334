/** Survive Restarts with waves in queue mode: workers and main die in the middle, and two workers never advance the same orders. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startDoor, type Door } from '../n8n/support/door.mts';
import { killN8n } from '../n8n/support/instance.mts';
import { listExecutions } from '../n8n/support/production.mts';
import { readPurchases, withPurchaseLog } from '../n8n/support/purchaseLog.mts';
import { until } from '../n8n/support/until.mts';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { startCluster, type Cluster } from './support/cluster.mts';

const ITEMS = 60;
const PLACES = 20;

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

/** Starts an execution with more items than may run at once, and waits until its second wave is on its way. */
async function startWaves({ credential = cluster.credential, secondsOf = (_item: number): number => 8 } = {}) {
	const items = Array.from({ length: ITEMS }, (_, item) => ({
		prompt: `picture ${item} [[sandbox duration=${secondsOf(item)}s]]`,
	}));
	const parameters = {
		prompt: '={{ $json.prompt }}',
		options: { surviveRestarts: true, concurrentTasks: PLACES },
	};
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters, onError: 'continueRegularOutput' };
	const workflowId = await createWorkflow({ rest: cluster.rest, credential }, items, [node]);
	const executionId = await startExecution(cluster.rest, workflowId, 'Start');
	return { workflowId, executionId };
}

const untilSecondWave = async () =>
	await until('the second wave is submitted', () => cluster.sandbox.tasks.length > PLACES + 3);

/** The innermost execution: the last one that has begun. */
async function innermostOf(workflowId: string) {
	return (await listExecutions(cluster, workflowId)).findLast(({ mode }) => mode === 'integrated');
}

const startsOf = (executionId: string) =>
	cluster.workers.map(
		({ server }) => server.lastLines(100_000).split(`Worker started execution ${executionId} `).length - 1,
	);

/** All items have a result, but for so many at the most, which say that nobody knows. Nothing is bought twice. */
async function assertArrived(executionId: string, mostInDoubt = 0) {
	const execution = await untilFinished(cluster.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const items = itemsOf(execution, 'Generate');
	assert.equal(items.length, ITEMS);
	const completed = new Set(items.flatMap(({ json }) => (json.status === 'completed' ? [json.task_id] : [])));
	const doubtful = items.filter(({ json }) => json.status !== 'completed');
	assert.ok(
		doubtful.every(({ json }) => json.code === 'outcome_still_unknown'),
		JSON.stringify(doubtful.map(({ json }) => json)),
	);
	assert.ok(doubtful.length <= mostInDoubt, `${doubtful.length} in doubt`);
	const prompts = cluster.sandbox.tasks.map(({ body }) => body.prompt);
	assert.deepEqual(prompts, [...new Set(prompts)], 'bought once');
	assert.ok(prompts.length >= ITEMS - doubtful.length);
	return completed;
}

test('a sleeping execution that many call at the same moment is woken once: one worker advances its orders', async () => {
	const { rest, main } = cluster;
	const { workflowId, executionId } = await startWaves();
	// n8n's own call would wake it within a moment.
	door.holdFor(workflowId);
	const called = new Map<string, number[]>();
	const race = async () => {
		const innermost = await innermostOf(workflowId);
		if (innermost === undefined || innermost.status !== 'waiting' || called.has(innermost.id)) return false;
		const { runData } = await readExecution(rest, innermost.id);
		const url: unknown = runData['Note Address']?.[0]?.data?.main?.[0]?.[0]?.json?.details?.resume_url;
		if (typeof url !== 'string') return false;
		const { pathname, search } = new URL(url);
		const answers = Array.from({ length: 10 }, async () => await fetch(new URL(pathname + search, main.url)));
		called.set(
			innermost.id,
			(await Promise.all(answers)).map(({ status }) => status),
		);
		return true;
	};
	await until('the innermost execution sleeps and is called', race, { everyMs: 20 });
	await assertArrived(executionId);
	for (const [id, statuses] of called) {
		assert.ok(statuses.filter((status) => status === 200).length <= 1, statuses.join(' '));
		assert.deepEqual(
			startsOf(id).toSorted((a, b) => a - b),
			[0, 1],
			'one worker, once',
		);
	}
	assert.equal(cluster.sandbox.tasks.length, ITEMS);
});

/** The items of the first wave: it ends after half a second, in which a busy machine submits less than may run. */
async function countFirstWave(innermostId: string): Promise<number> {
	const rows = itemsOf(await readExecution(cluster.rest, innermostId), 'Start');
	return rows.filter(({ json }) => json.details?.gateway_order?.state === 'accepted').length;
}

/** Kills the worker that runs the innermost execution. Returns what starts it again. */
async function killWorkerOf(workflowId: string): Promise<() => Promise<void>> {
	// An execution that has not slept yet runs where the one around it does.
	const executions = (await listExecutions(cluster, workflowId)).toReversed();
	const index = executions
		.map(({ id }) => startsOf(id).findIndex((starts) => starts > 0))
		.find((worker) => worker >= 0);
	const worker = cluster.workers[index ?? -1];
	assert.ok(index !== undefined && worker, 'a worker runs the innermost execution');
	await killN8n(worker);
	return async () => {
		cluster.workers[index] = await cluster.restart(worker);
	};
}

test('a worker is killed in the middle of a later wave: another one goes on, and the first wave is in no doubt', async () => {
	const { workflowId, executionId } = await startWaves();
	await untilSecondWave();
	const firstWave = await countFirstWave(String((await innermostOf(workflowId))?.id));
	const restart = await killWorkerOf(workflowId);
	// n8n throws away what the killed execution had saved.
	await assertArrived(executionId, ITEMS - firstWave);
	await restart();
});

test('with the purchase log, nothing is in doubt of which a worker that is killed in a later wave has written the ID: all of it arrives', async () => {
	const { sandbox } = cluster;
	const { credential } = await withPurchaseLog(cluster);
	// They end one after the other, so that there is a small wave again and again.
	const { workflowId, executionId } = await startWaves({ credential, secondsOf: (item) => 4 + (item % PLACES) / 2 });
	await untilSecondWave();
	const rowsOf = async () => (await readPurchases(cluster)).filter((row) => row.workflow_id === workflowId);
	const loggedIn = (rows: Awaited<ReturnType<typeof rowsOf>>) => new Set(rows.flatMap(({ task_id: id }) => id || []));
	const oldest = sandbox.tasks.slice(0, PLACES + 3);
	await until('some of a later wave are in the log', async () => {
		const logged = loggedIn(await rowsOf());
		return oldest.every(({ id }) => logged.has(id));
	});
	const restart = await killWorkerOf(workflowId);
	const accepted = sandbox.tasks.length;
	let rows = await rowsOf();
	// The database may still be adding those that the worker has sent.
	const isLast = async (before = rows) => (rows = await rowsOf()).length === before.length;
	await until('no row is added', isLast, { everyMs: 500 });
	const logged = loggedIn(rows);
	const submitted = new Set(rows.map(({ item }) => item)).size;
	assert.ok(logged.size < ITEMS, 'it dies in the middle');
	const completed = await assertArrived(executionId, submitted - logged.size);
	assert.deepEqual(
		[...logged].filter((id) => !completed.has(id)),
		[],
		`${logged.size} of ${accepted} were in the log`,
	);
	await restart();
});

test('the main process is killed in the middle of a later wave: the worker goes on, and nothing is in doubt', async () => {
	const { executionId } = await startWaves();
	await untilSecondWave();
	await killN8n(cluster.main);
	await until('the last wave is submitted', () => cluster.sandbox.tasks.length === ITEMS);
	cluster.main = await cluster.restart(cluster.main);
	await assertArrived(executionId);
	assert.equal(cluster.sandbox.tasks.length, ITEMS);
});
