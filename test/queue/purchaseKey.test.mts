/** Purchase Key in queue mode: two workers that know nothing of each other but by the table, in PostgreSQL. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { until } from '../n8n/support/until.mts';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { startCluster, type Cluster } from './support/cluster.mts';

const KEYS = 200;
/** `KEY_RUNS` sets another number. */
const RUNS = Number(process.env.KEY_RUNS ?? 2);

let cluster: Cluster;
let credential: Cluster['credential'];
before(async () => {
	// One execution at a time: a worker that is slower than the other one gets its own all the same.
	cluster = await startCluster({ workers: 2, concurrency: 1 });
	const data = { ...cluster.credential.data, purchaseLog: true, requestsPerSecond: 1000 };
	const asked = { name: 'With Log', type: credentialType, data };
	const { id } = await cluster.rest.request('POST', '/rest/credentials', asked);
	credential = { ...cluster.credential, id: String(id), name: 'With Log' };
});
after(() => cluster?.close());
beforeEach(() => cluster.sandbox.reset());

for (let run = 1; run <= RUNS; run++) {
	test(`200 keys at the same moment on two workers: each is bought once, run ${run}`, async () => {
		const { rest, sandbox, workers } = cluster;
		const items = Array.from({ length: KEYS }, (_, key) => ({
			key: `${run}-${key}`,
			prompt: `picture ${run}-${key}`,
		}));
		const options = { purchaseKey: '={{ $json.key }}', concurrentTasks: KEYS };
		const parameters = { prompt: '={{ $json.prompt }}', downloadResult: false, options };
		const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
		const workflowIds = await Promise.all(
			[1, 2].map(async () => await createWorkflow({ rest, credential }, items, [node])),
		);
		const ids = await Promise.all(workflowIds.map(async (id) => await startExecution(rest, id, 'Start')));
		const executions = await Promise.all(ids.map(async (id) => await untilFinished(rest, id)));
		assert.deepEqual(
			executions.map(({ status }) => status),
			['success', 'success'],
			JSON.stringify(executions.map(({ error }) => error)),
		);
		assert.equal(sandbox.tasks.length, KEYS);
		const outputs = executions.map((execution) => itemsOf(execution, 'Generate').map(({ json }) => json));
		for (const [index] of items.entries())
			assert.equal(outputs[0]?.[index]?.task_id, outputs[1]?.[index]?.task_id, 'both get the same task');
		assert.equal(outputs.flat().filter(({ reused }) => reused === true).length, KEYS);
		const ran = workers.filter((worker) => ids.some((id) => lines(worker).includes(`started execution ${id} `)));
		assert.equal(ran.length, 2, 'each worker ran one of the executions');
	});
}

test('of a table with more than 50,000 rows, the oldest runs go', async () => {
	const { rest } = cluster;
	const { id: projectId } = await rest.request('GET', '/rest/projects/personal');
	const path = `/rest/projects/${projectId}/data-tables`;
	const [{ id: used, name, columns }] = (await rest.request('GET', path)).data;
	const countOf = async (tableId: string, columnName: string, value: string): Promise<number> => {
		const filter = { type: 'and', filters: [{ columnName, condition: 'eq', value }] };
		const query = `take=1&filter=${encodeURIComponent(JSON.stringify(filter))}`;
		return (await rest.request('GET', `${path}/${tableId}/rows?${query}`)).count;
	};
	// Nobody waits for the rows of an end. Written later, they would be in the new table, which would count as cleaned up.
	await until('the runs before are written', async () => (await countOf(used, 'state', 'completed')) === KEYS * RUNS);
	await rest.request('DELETE', `${path}/${used}`);
	const asked = columns.map((column: { name: string; type: string }) => ({ name: column.name, type: column.type }));
	const { id } = await rest.request('POST', path, { name, columns: asked });
	const row = (run: string) => ({ time: new Date().toISOString(), state: 'completed', run, attempt: run });
	const rows = [row('oldest'), row('oldest'), ...Array<object>(MOST_ROWS).fill(row('young'))];
	for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
		await rest.request('POST', `${path}/${id}/insert`, {
			data: rows.slice(from, from + ROWS_AT_ONCE),
			returnType: 'count',
		});
	const rowsOf = async (run: string) => await countOf(id, 'run', run);
	assert.deepEqual([await rowsOf('oldest'), await rowsOf('young')], [2, MOST_ROWS]);

	const parameters = { prompt: 'picture', downloadResult: false };
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow({ rest, credential }, [{}], [node]);
	const { status, error } = await untilFinished(rest, await startExecution(rest, workflowId, 'Start'));
	assert.equal(status, 'success', JSON.stringify(error));
	await until('the oldest run is gone', async () => (await rowsOf('oldest')) === 0);
	assert.equal(await rowsOf('young'), MOST_ROWS);
});

const MOST_ROWS = 50_000;
const ROWS_AT_ONCE = 1000;

const lines = ({ server }: Cluster['workers'][number]) => server.lastLines(100_000);
