/**
 * Survive Restarts in queue mode, with a main process that has no production webhooks: where a worker can call the webhook
 * process, the results arrive at once. Where it cannot, they come a minute later, and its log says what to set.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import type { N8n } from '../../tools/n8n/launch.mjs';
import { untilListed } from '../n8n/support/production.mts';
import { until } from '../n8n/support/until.mts';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { startCluster, type Cluster } from './support/cluster.mts';

/** The tracker of n8n wakes no execution earlier. */
const TRACKER_MS = 60_000;

let cluster: Cluster;

const log = ({ server }: N8n) => server.lastLines(100_000);

async function begin(prompt: string) {
	const parameters = {
		prompt: `${prompt} [[sandbox duration=2s]]`,
		downloadResult: false,
		options: { surviveRestarts: true },
	};
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow(cluster, [{}], [node]);
	const beganMs = Date.now();
	const executionId = await startExecution(cluster.rest, workflowId, 'Start');
	const [, , innermost] = await untilListed(cluster, workflowId, 3);
	return { executionId, innermost: String(innermost), beganMs };
}

type Begun = Awaited<ReturnType<typeof begin>>;

/** Milliseconds until the result was there. */
async function finish({ executionId, beganMs }: Begun): Promise<number> {
	const execution = await untilFinished(cluster.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.equal(itemsOf(execution, 'Generate')[0]?.json.status, 'completed');
	return Date.parse(execution.record.stoppedAt) - beganMs;
}

/** A worker takes this task alone, and is gone before the execution is woken. */
async function beginOn(name: string, settings: Record<string, string>) {
	const worker = await cluster.start(name, ['worker', '--concurrency=5'], settings);
	const begun = await begin(name);
	await until('all sleep', async () => {
		const ids = [begun.executionId, begun.innermost];
		const all = await Promise.all(ids.map(async (id) => await readExecution(cluster.rest, id)));
		return all.every(({ status }) => status === 'waiting');
	});
	await until('the log says what to set', () =>
		/did not wake execution \d+ \(.*\), so n8n wakes it within about a minute\. If that is always so, set WEBHOOK_URL/.test(
			log(worker),
		),
	);
	await worker.server.stop();
	return { ...begun, log: log(worker) };
}

let late: Array<Awaited<ReturnType<typeof beginOn>>>;
before(async () => {
	cluster = await startCluster({ workers: 0, env: { N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true' } });
	// Its own address then, which is no n8n's.
	const unset = await beginOn('unset', { WEBHOOK_URL: '' });
	const main = await beginOn('main', {});
	late = [unset, main];
});
after(() => cluster?.close());

test('with WEBHOOK_URL of the webhook process, the result comes at once', async () => {
	const webhook = await cluster.start('webhook', ['webhook'], {});
	const worker = await cluster.start('worker', ['worker', '--concurrency=5'], {
		WEBHOOK_URL: `${webhook.url.replace('localhost', '127.0.0.1')}/`,
	});
	const begun = await begin('at once');
	assert.ok((await finish(begun)) < TRACKER_MS);
	assert.doesNotMatch(log(worker), /did not wake execution/);
});

describe('where the worker cannot call n8n, its tracker wakes what sleeps', { concurrency: true }, () => {
	for (const [index, setting] of [
		'without WEBHOOK_URL',
		'with WEBHOOK_URL of a main process without production webhooks',
	].entries())
		test(`${setting}, the result comes a minute late`, async () => {
			const begun = late[index];
			assert.ok(begun);
			assert.ok((await finish(begun)) >= TRACKER_MS);
			const noted = itemsOf(await readExecution(cluster.rest, begun.innermost), 'Note Address')[0];
			const signature = new URL(String(noted?.json.details.resume_url)).searchParams.get('signature');
			assert.ok(signature !== null && signature.length > 20 && !begun.log.includes(signature));
		});

	test('each task was bought once, although the worker could not call n8n', () =>
		assert.equal(cluster.sandbox.tasks.length, 3));
});
