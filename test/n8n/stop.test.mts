/** A stop in a real n8n: it ends the node at once, nothing more is sent, and the IDs of what goes on are left behind. What sleeps then: test/simulation. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { readExecution, startExecution, stopExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { joinN8n, logOf, type Joined } from './support/shared.mts';
import { pause, until } from './support/until.mts';
import { createWorkflow, oneStep } from './support/workflow.mts';

let instance: Joined;
before(async () => {
	instance = await joinN8n({ imageTaskMs: 400 });
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

/** The node polls once a second here. */
const MORE_THAN_A_POLL_MS = 2_000;

async function start(prompts: string[]) {
	const items = prompts.map((prompt) => ({ prompt }));
	const parameters = { prompt: '={{ $json.prompt }}', options: { pollIntervalSeconds: 1 } };
	const nodes = oneStep.map((node) => ({ ...node, retryOnFail: true, maxTries: 3, parameters }));
	const workflowId = await createWorkflow(instance, items, nodes);
	return { workflowId, executionId: await startExecution(instance.rest, workflowId, 'Start') };
}

/** n8n says so while the node may still be at it: the log says when the node has ended. */
async function stop(executionId: string, said: () => RegExp) {
	await stopExecution(instance.rest, executionId);
	assert.equal((await untilFinished(instance.rest, executionId)).status, 'canceled');
	await until('the node has ended', () => said().test(logOf(instance)));
}

async function assertNothingLeaves() {
	const requests = instance.sandbox.requests.length;
	await pause(MORE_THAN_A_POLL_MS);
	assert.equal(instance.sandbox.requests.length, requests, 'no request leaves after the stop');
}

test('a stop ends 50 waiting tasks, and their IDs are in the log and with the execution', async () => {
	const { executionId } = await start(Array.from({ length: 50 }, (_, index) => `${index} [[sandbox duration=never]]`));
	const { sandbox } = instance;
	await until('all are accepted, and known', () => {
		const log = logOf(instance);
		return sandbox.tasks.length === 50 && sandbox.tasks.every(({ id }) => log.includes(id));
	});
	await stop(executionId, () => /the execution was stopped, still running at the service: (\S+, ){49}\S+/);
	await assertNothingLeaves();
	assert.equal(sandbox.tasks.length, 50);
	const { record } = await readExecution(instance.rest, executionId);
	const first = sandbox.tasks[0]?.id ?? '?';
	assert.ok(JSON.stringify(record.customData ?? record).includes(first), 'the custom data names the first task');
});

test('a stop during a submission: the answer that comes late is in the log with its ID', async () => {
	const { executionId } = await start(['late [[sandbox create=slow:10s!after duration=never]]']);
	const { sandbox } = instance;
	await until('the request is under way', () => sandbox.requests.length > 0, { everyMs: 50 });
	const late = () => new RegExp(`task ${sandbox.tasks[0]?.id} .*was accepted after the execution was stopped`);
	await stop(executionId, late);
	assert.equal(sandbox.requests.length, 1, 'nothing else was sent');
});

/** The files that n8n keeps of this execution. */
const keptFiles = (executionId: string) =>
	readdirSync(join(instance.n8n.userFolder, '.n8n'), { recursive: true, encoding: 'utf8' }).filter(
		(path) => /binary_data\/./.test(path) && path.includes(`/${executionId}/`),
	);

test('a stop in the middle of a download leaves no part of the file', async () => {
	const { executionId } = await start(['slow [[sandbox bytes=50 bytes_per_second=200000]]']);
	await until('the file is being written', () => keptFiles(executionId).length > 0);
	await stopExecution(instance.rest, executionId);
	assert.equal((await untilFinished(instance.rest, executionId)).status, 'canceled');
	await until('its part is gone', () => keptFiles(executionId).length === 0);
	assert.equal(instance.sandbox.fileRequests.length, 1, 'it was not begun again');
});
