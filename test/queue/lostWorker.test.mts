/** A worker that is killed twice while it submits what an execution has handed over: the rows tell the next one what was sent. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { resultsIn, prepareBatch, startBatch, tasksOf } from '../crash/support/batch.mts';
import { untilFinished } from '../../tools/n8n/executions.mjs';
import { endN8n } from '../n8n/support/instance.mts';
import { executionsOf } from '../n8n/support/production.mts';
import { until } from '../n8n/support/until.mts';
import { NOTICES_SOON, startCluster, type Cluster } from './support/cluster.mts';

const [ITEMS, PLACES] = [60, 20];
/** Tasks that are accepted when the worker is killed: in the second and in the third round of places. */
const KILLED_AT = [30, 50];
const REQUESTS_PER_SECOND = 60;

let cluster: Cluster;
before(async () => {
	cluster = await startCluster({ workers: 2, env: NOTICES_SOON });
});
after(() => cluster?.close());

const log = ({ logFile }: Cluster['main']) => readFileSync(logFile, 'utf8');

test('kill -9 of the worker that submits, twice: nothing is bought twice, and all that was not in doubt arrives', async (t) => {
	const { rest, main, sandbox, workers } = cluster;
	const prompts = Array.from({ length: ITEMS }, (_, item) => `lost ${item} [[sandbox duration=10s]]`);
	const batch = await prepareBatch(
		{ ...cluster, url: main.url },
		{ name: 'lost', prompts, survives: true, logs: true, places: PLACES, requestsPerSecond: REQUESTS_PER_SECOND },
	);
	await startBatch(batch);
	for (const count of KILLED_AT) {
		await until(`${count} tasks are accepted`, () => sandbox.tasks.length >= count, { everyMs: 20 });
		const last = () => workers.find((worker) => log(worker).includes(String(sandbox.tasks.at(-1)?.id)));
		await until('a worker knows the last one', () => last() !== undefined, { everyMs: 20 });
		const killed = last() as Cluster['main'];
		await endN8n(killed, 'SIGKILL');
		t.diagnostic(`killed at ${sandbox.tasks.length} tasks`);
		workers[workers.indexOf(killed)] = await cluster.restart(killed);
	}
	const [executionId = ''] = await executionsOf(cluster, batch.workflowId);
	const execution = await untilFinished(rest, executionId, { timeoutMs: 600_000 });
	const items = resultsIn(execution).map(({ json }) => json);
	assert.equal(items.length, ITEMS, JSON.stringify(execution.error));
	const inDoubt = items.filter(({ code }) => code === 'outcome_still_unknown').length;
	t.diagnostic(`${items.filter(({ status }) => status === 'completed').length} results, ${inDoubt} in doubt`);
	for (const prompt of prompts) assert.ok(tasksOf({ ...cluster, sandbox }, { prompts: [prompt] }).length <= 1, prompt);
	for (const { asked, status, code, task_id: id } of items)
		if (code !== 'outcome_still_unknown')
			assert.deepEqual([status, id], ['completed', tasksOf(cluster, { prompts: [asked] })[0]?.id], asked);
	assert.ok(inDoubt <= KILLED_AT.length * (REQUESTS_PER_SECOND / 2));
});
