/** Purchase Key in queue mode: two workers that know nothing of each other but by the table, in PostgreSQL. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { startCluster, type Cluster } from './support/cluster.mts';

const KEYS = 200;
/** `KEY_RUNS` sets another number. */
const RUNS = Number(process.env.KEY_RUNS ?? 2);

let cluster: Cluster;
let credential: Cluster['credential'];
before(
	async () => {
		// One execution at a time: a worker that is slower than the other one gets its own all the same.
		cluster = await startCluster({ workers: 2, concurrency: 1 });
		const data = { ...cluster.credential.data, purchaseLog: true, requestsPerSecond: 1000 };
		const asked = { name: 'With Log', type: credentialType, data };
		const { id } = await cluster.rest.request('POST', '/rest/credentials', asked);
		credential = { ...cluster.credential, id: String(id), name: 'With Log' };
	},
	{ timeout: 300_000 },
);
after(() => cluster?.close());
beforeEach(() => cluster.sandbox.reset());

for (let run = 1; run <= RUNS; run++) {
	test(
		`200 keys at the same moment on two workers: each is bought once, run ${run}`,
		{ timeout: 180_000 },
		async () => {
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
			const executions = await Promise.all(
				ids.map(async (id) => await untilFinished(rest, id, { timeoutMs: 170_000 })),
			);
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
		},
	);
}

const lines = ({ server }: Cluster['workers'][number]) => server.lastLines(100_000);
