/** Links to n8n's own copies of result files: they open without signing in to n8n, and hold what the service made. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { joinN8n, type Joined } from './support/shared.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

/** Long enough for n8n to sleep in its database. */
const ASLEEP_SECONDS = 70;

let instance: Joined;
before(async () => {
	instance = await joinN8n({ imageTaskMs: 400 });
});
after(() => instance?.close());

async function assertLinksOpen(wait: string, options: Record<string, unknown>) {
	const parameters = { prompt: '={{ $json.prompt }}', wait, result: 'fileAndLink', options };
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow(instance, [{ prompt: 'one' }, { prompt: 'two' }], [node]);
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const items = itemsOf(execution, 'Generate');
	assert.equal(items.length, 2);
	for (const { json } of items) {
		assert.deepEqual(json.download_urls, [json.download_url]);
		const file = await fetch(json.download_url); // without a cookie: nobody has signed in
		assert.deepEqual([file.status, file.headers.get('content-type')], [200, 'image/png']);
		assert.match(String(file.headers.get('content-disposition')), /^attachment; filename="/);
		const made = await fetch(json.url);
		assert.deepEqual(Buffer.from(await file.arrayBuffer()), Buffer.from(await made.arrayBuffer()));
	}
	const [header, payload, signature = ''] = String(items[0]?.json.download_url).split('.');
	const forged = `${header}.${payload}.${[...signature].reverse().join('')}`;
	assert.equal((await fetch(forged)).status, 400, 'only links that n8n has signed');
}

describe('links to files that n8n stores', { concurrency: true }, () => {
	test('the links open after a run in memory', () => assertLinksOpen('untilReady', { pollIntervalSeconds: 1 }));
	test('the links open after a sleep in the database, where the files belong to the sub-execution', () =>
		assertLinksOpen('acrossRestarts', { pollIntervalSeconds: ASLEEP_SECONDS }));
});
