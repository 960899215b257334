/**
 * An account that runs few tasks at once, and many executions that wait for a free place: they sleep in the database, so that
 * the worker has time for other workflows.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Background } from './support/background.mts';
import { startCluster, type Cluster } from './support/cluster.mts';

const PLACES = 2;
/** As many jobs as it has places, and one: a single execution that waits awake would keep the worker from all others. */
const JOBS = PLACES + 1;
const EXECUTIONS = 5;
const TASK_SECONDS = 50;

/** n8n begins a job of another workflow at once; on a machine with other things to do, later. */
const RUNS_WITHIN_MS = 15_000;

let cluster: Cluster;
before(async () => {
	cluster = await startCluster({ workers: 1, concurrency: JOBS, sandbox: { tasksAtOnce: PLACES } });
});
after(() => cluster?.close());

test('while executions wait for a free place of the account, another workflow runs, and all get their results in time', async (t) => {
	const { sandbox } = cluster;
	const background = await Background.prepare(cluster, { concurrentTasks: PLACES });
	for (let each = 0; each < EXECUTIONS; each++)
		await background.call('buy', { prompt: `picture ${each} [[sandbox duration=${TASK_SECONDS}s]]` });
	const othersMs = await background.untilArrived(EXECUTIONS, { withinMs: 900_000 });
	const arrived = await background.arrived();
	const lateMs = arrived.map(
		({ atMs, taskId }) => atMs - Number(sandbox.tasks.find(({ id }) => id === taskId)?.endsAt),
	);
	t.diagnostic(`other workflows: ${othersMs.join()} ms; results: ${lateMs.join()} ms`);
	assert.deepEqual(
		arrived.map(({ code }) => code),
		Array.from({ length: EXECUTIONS }, () => ''),
		'no item has failed',
	);
	assert.equal(sandbox.tasks.length, EXECUTIONS);
	assert.ok(Math.max(...othersMs) < RUNS_WITHIN_MS, `other workflows: ${othersMs.join()} ms`);
	assert.ok(Math.max(...lateMs) < 60_000, `results: ${lateMs.join()} ms`);
});
