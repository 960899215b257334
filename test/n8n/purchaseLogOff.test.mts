/** An n8n that cannot keep the purchase log: nodes work as without it and say why, and nothing is bought with a Purchase Key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { startInstance } from './support/instance.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

const node = {
	name: 'Generate',
	type: packageType('imageGeneration'),
	onError: 'continueRegularOutput',
	parameters: {
		prompt: '={{ $json.prompt }}',
		downloadResult: false,
		options: { purchaseKey: '={{ $json.key }}', pollIntervalSeconds: 1 },
	},
};

const reasons: Array<[string, Record<string, string>, RegExp]> = [
	['the tables of n8n are full', { N8N_DATA_TABLES_MAX_SIZE_BYTES: '1' }, /size limit/i],
	['the module is off', { N8N_DISABLED_MODULES: 'data-table' }, /./],
	['the node is excluded', { NODES_EXCLUDE: '["n8n-nodes-base.dataTable"]' }, /does not have the node "Data table"/],
];

for (const [why, env, words] of reasons) {
	test(`${why}: a run goes on with a hint, and an item with a key is not bought`, async () => {
		const { rest, sandbox, credential, close } = await startInstance({ sandbox: { imageTaskMs: 500 }, env });
		try {
			const data = { ...credential.data, purchaseLog: true };
			const asked = { name: 'With Log', type: credentialType, data };
			const { id } = await rest.request('POST', '/rest/credentials', asked);
			const items = [
				{ key: '', prompt: 'a' },
				{ key: 'k', prompt: 'b' },
			];
			const withLog = { ...credential, id: String(id), name: 'With Log' };
			const workflowId = await createWorkflow({ rest, credential: withLog }, items, [node]);
			const execution = await untilFinished(rest, await startExecution(rest, workflowId, 'Start'));
			const [plain, keyed] = itemsOf(execution, 'Generate').map(({ json }) => json);
			assert.equal(plain?.status, 'completed', JSON.stringify(plain));
			assert.equal(keyed?.code, 'purchase_log_unavailable', JSON.stringify(keyed));
			assert.match(String(keyed?.details), words);
			assert.equal(sandbox.tasks.length, 1);
			const hints = JSON.stringify(execution.runData.Generate?.[0]?.hints);
			assert.match(hints, /are missing in the data table/);
		} finally {
			await close();
		}
	});
}
