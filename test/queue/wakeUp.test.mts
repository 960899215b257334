/**
 * Survive Restarts in queue mode: where a worker can call the webhook process, that wakes what sleeps at once. Without
 * WEBHOOK_URL it cannot: the results come a minute later, and its log says what to set.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import type { N8n } from '../../tools/n8n/launch.mjs';
import { untilListed } from '../n8n/support/production.mts';
import { startProxy, type Proxy } from '../n8n/support/proxy.mts';
import { until } from '../n8n/support/until.mts';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { startCluster, type Cluster } from './support/cluster.mts';

/** The tracker of n8n wakes no execution earlier. */
const TRACKER_MS = 60_000;

let cluster: Cluster;
let front: Proxy | undefined;
before(async () => {
	cluster = await startCluster({ workers: 0, env: { N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true' } });
});
after(async () => {
	await cluster?.close();
	front?.close();
});

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

/** Milliseconds until the result was there. */
async function finish({ executionId, beganMs }: Awaited<ReturnType<typeof begin>>): Promise<number> {
	const execution = await untilFinished(cluster.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.equal(itemsOf(execution, 'Generate')[0]?.json.status, 'completed');
	return Date.parse(execution.record.stoppedAt) - beganMs;
}

test('without WEBHOOK_URL the log says what to set, and the result comes a minute late; with that of the webhook process, it is called at once', async () => {
	// Its own address then, which is no n8n's. This worker takes the task alone.
	const unset = await cluster.start('unset', ['worker', '--concurrency=5'], { WEBHOOK_URL: '' });
	const late = await begin('late');
	const advice = `did not wake execution ${late.innermost} \\(.*\\), so n8n wakes it within about a minute\\. If that is always so, set WEBHOOK_URL`;
	await until('the log says what to set', () => new RegExp(advice).test(log(unset)));
	const noted = itemsOf(await readExecution(cluster.rest, late.innermost), 'Note Address')[0];
	const signature = new URL(String(noted?.json.details.resume_url)).searchParams.get('signature') ?? '';
	assert.ok(signature.length > 20 && !log(unset).includes(signature));
	await until('all sleep', async () => {
		const all = [late.executionId, late.innermost].map(async (id) => await readExecution(cluster.rest, id));
		return (await Promise.all(all)).every(({ status }) => status === 'waiting');
	});
	await unset.server.stop();

	const webhook = await cluster.start('webhook', ['webhook'], {});
	front = await startProxy((path) => `${webhook.url}${path}`);
	const worker = await cluster.start('worker', ['worker', '--concurrency=5'], { WEBHOOK_URL: `${front.url}/` });
	const called = await begin('at once');
	await finish(called);
	const call = `/webhook-waiting/${called.innermost}?signature=`;
	assert.equal(front.asked.filter((path) => path.startsWith(call)).length, 1);
	assert.ok(!log(worker).includes(`did not wake execution ${called.innermost} `), 'the call got through');

	assert.ok((await finish(late)) >= TRACKER_MS, 'the tracker of n8n has woken it');
	assert.equal(cluster.sandbox.tasks.length, 2, 'each was bought once');
});
