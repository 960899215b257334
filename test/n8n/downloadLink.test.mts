/** Links to n8n's own copies of result files: they open without signing in to n8n, and hold what the service made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { createWorkflow, oneStep } from './support/workflow.mts';

/** Long enough for n8n to sleep in its database. */
const ASLEEP_SECONDS = 70;

const withOptions = (options: Record<string, unknown>) =>
	oneStep.map((node) => ({
		...node,
		parameters: { ...node.parameters, downloadResult: false, options: { downloadLink: true, ...options } },
	}));

async function start(
	instance: Instance,
	options: Record<string, unknown> = { pollIntervalSeconds: 1 },
): Promise<string> {
	const workflowId = await createWorkflow(instance, [{ prompt: 'one' }, { prompt: 'two' }], withOptions(options));
	return await startExecution(instance.rest, workflowId, 'Start');
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

async function assertLinksOpen(instance: Instance, executionId: string) {
	const execution = await untilFinished(instance.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const items = itemsOf(execution, 'Generate');
	assert.equal(items.length, 2);
	for (const { json } of items) {
		assert.deepEqual(json.download_urls, [json.download_url]);
		const file = await fetch(json.download_url); // without a cookie: nobody has signed in
		assert.equal(file.status, 200);
		assert.equal(file.headers.get('content-type'), 'image/png');
		assert.match(String(file.headers.get('content-disposition')), /^attachment; filename="/);
		assert.deepEqual(await bytesOf(file), await bytesOf(await fetch(json.url)), 'the file of the service');
	}
	const [header, payload, signature = ''] = String(items[0]?.json.download_url).split('.');
	const forged = `${header}.${payload}.${[...signature].reverse().join('')}`;
	assert.equal((await fetch(forged)).status, 400, 'only links that n8n has signed');
}

test('the links to files that n8n stores open', async (t) => {
	const instance = await startInstance({ sandbox: { imageTaskMs: 400 } });
	t.after(() => instance.close());
	const asleep = await start(instance, { surviveRestarts: true, pollIntervalSeconds: ASLEEP_SECONDS });
	await t.test(
		'the links open after a run in memory',
		async () => await assertLinksOpen(instance, await start(instance)),
	);
	await t.test(
		'the links open after a sleep in the database, where the files belong to the sub-execution',
		async () => await assertLinksOpen(instance, asleep),
	);
});

test('with files that n8n keeps in memory the tasks succeed, and a hint says why there is no link', async (t) => {
	const instance = await startInstance({
		sandbox: { imageTaskMs: 400 },
		env: { N8N_DEFAULT_BINARY_DATA_MODE: 'default' },
	});
	t.after(() => instance.close());
	const execution = await untilFinished(instance.rest, await start(instance));
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	for (const { json, binary } of itemsOf(execution, 'Generate')) {
		assert.deepEqual([json.status, json.download_url, binary?.data.mimeType], ['completed', undefined, 'image/png']);
	}
	const hints = (execution.runData.Generate?.[0].hints ?? []).map(({ message }: { message: string }) => message);
	assert.deepEqual(hints.filter((message: string) => message.startsWith('There is no download link')).length, 1);
});
