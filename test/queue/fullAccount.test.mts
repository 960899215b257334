/**
 * An account that runs few tasks at once, and many executions that wait for a free place: they sleep in the database, so that
 * the worker has time for other workflows.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from './support/cluster.mts';
import { fillAccount } from './support/fullAccount.mts';

const PLACES = 2;
/** As many jobs as it has places, and one: a single execution that waits awake would keep the worker from all others. */
const JOBS = PLACES + 1;
const EXECUTIONS = 5;
const TASK_SECONDS = 50;

/** n8n begins a job of another workflow at once; on a machine with other things to do, later. */
const ANSWERS_WITHIN_MS = 15_000;

let cluster: Cluster;
before(async () => {
	cluster = await startCluster({ workers: 1, concurrency: JOBS, sandbox: { tasksAtOnce: PLACES } });
});
after(() => cluster?.close());

test('while executions wait for a free place of the account, another workflow runs, and all get their results in time', async (t) => {
	const { sandbox } = cluster;
	const seen = await fillAccount(cluster, {
		executions: EXECUTIONS,
		places: PLACES,
		taskSeconds: TASK_SECONDS,
		withinMs: 900_000,
	});
	t.diagnostic(JSON.stringify(seen));
	assert.equal(seen.lateMs.length, EXECUTIONS);
	assert.deepEqual(new Set(seen.codes), new Set(['']), 'no item has failed');
	assert.equal(sandbox.tasks.length, EXECUTIONS);
	assert.ok(Math.max(...seen.answersMs) < ANSWERS_WITHIN_MS, `other workflows: ${seen.answersMs.join()} ms`);
	assert.ok(Math.max(...seen.lateMs) < 60_000, `results: ${seen.lateMs.join()} ms`);
});
