/**
 * Across Restarts: what sleeps in n8n's database goes on after a kill, and its outcomes come where On Error says. All moments
 * at which n8n may be killed are in test/crash.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, executionsOf } from './support/production.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType, type TestNode } from './support/workflow.mts';

/** The first check comes so late that n8n sleeps in its database until then, also where a busy machine takes seconds for each task. */
const CHECK_AT_SECONDS = 90;
const IMAGE_CREDITS = 4;

let instance: Instance;
let receiverId: string;

interface Batch {
	workflowId: string;
	executionId: string;
	prompts: string[];
}

/** Tasks that finish with `sandbox.release()`. */
const held = (...prompts: string[]) => prompts.map((prompt) => `${prompt} [[sandbox duration=never]]`);

/** Says which input each output belongs to. */
const ask: TestNode = {
	name: 'Ask',
	type: 'n8n-nodes-base.set',
	typeVersion: 3.4,
	parameters: {
		assignments: {
			assignments: [{ id: 'a', name: 'asked', type: 'string', value: '={{ $("Start").item.json.prompt }}' }],
		},
		includeOtherFields: true,
		options: {},
	},
};

async function start(
	prompts: string[],
	options: Record<string, unknown> = {},
	{ parameters, ...settings }: Partial<TestNode> = {},
): Promise<Batch> {
	const node = {
		name: 'Generate',
		type: packageType('imageGeneration'),
		parameters: {
			prompt: '={{ $json.prompt }}',
			wait: 'acrossRestarts',
			options: { pollIntervalSeconds: CHECK_AT_SECONDS, ...options },
			...parameters,
		},
		...settings,
	};
	const items = prompts.map((prompt) => ({ prompt }));
	const workflowId = await createWorkflow(instance, items, [node, ask]);
	return { workflowId, executionId: await startExecution(instance.rest, workflowId, 'Start'), prompts };
}

const tasksOf = ({ prompts }: Batch) =>
	instance.sandbox.tasks.filter(({ body }) => prompts.includes(String(body.prompt)));
const idsOf = (batch: Batch) =>
	batch.prompts.map((prompt) => tasksOf(batch).find(({ body }) => body.prompt === prompt)?.id);
const finish = async ({ executionId }: Batch) => await untilFinished(instance.rest, executionId);
const executions = async (workflowId: string) =>
	await Promise.all((await executionsOf(instance, workflowId)).map((id) => readExecution(instance.rest, id)));
const retry = async ({ executionId }: Batch) => {
	const { id } = await instance.rest.request('POST', `/rest/executions/${executionId}/retry`, { loadWorkflow: false });
	return await untilFinished(instance.rest, String(id));
};

/** All tasks are accepted, n8n has their IDs in its database, and the execution that waits for them sleeps. */
async function isSaved(batch: Batch): Promise<boolean> {
	if (tasksOf(batch).length < batch.prompts.length) return false;
	const [parent, waits, ...others] = await executions(batch.workflowId);
	const saved = JSON.stringify([waits, ...others].map((execution) => execution?.record.data ?? ''));
	return (
		parent?.status !== 'running' &&
		waits?.status === 'waiting' &&
		idsOf(batch).every((id) => saved.includes(String(id)))
	);
}

/** Each item is the result of its own prompt, in order, with its file, and was bought once. */
async function assertComplete(batch: Batch, execution: Execution, node = 'Ask') {
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const items = itemsOf(execution, node);
	const ids = idsOf(batch);
	assert.deepEqual(
		items.map(({ json }) => [json.asked ?? json.pass_along?.asked, json.prompt, json.task_id, json.status]),
		batch.prompts.map((prompt, index) => [prompt, prompt, ids[index], 'completed']),
	);
	for (const { binary } of items) assert.ok((await instance.rest.readBinary(binary?.data.id)).length > 0);
	assert.equal(tasksOf(batch).length, batch.prompts.length, 'bought once');
}

const batches = {} as Record<'asleep' | 'background' | 'stop', Batch>;

/** One kill for all, while they sleep. */
before(async () => {
	instance = await startInstance();
	receiverId = await createWorkflow(
		instance,
		[],
		[
			{ name: 'Called', type: 'n8n-nodes-base.executeWorkflowTrigger' },
			{ name: 'Got', type: 'n8n-nodes-base.noOp' },
		],
	);
	await activate(instance, receiverId);
	batches.asleep = await start(held('asleep 1', 'asleep 2'), { reportCredits: true });
	const startWorkflow = {
		wait: 'inAnotherWorkflow',
		workflowId: { __rl: true, mode: 'id', value: receiverId },
		passAlong: '={{ { "asked": $json.prompt } }}',
	};
	batches.background = await start(held('background 1', 'background 2'), {}, { parameters: startWorkflow });
	batches.stop = await start([
		...held('good 1'),
		'bad [[sandbox fail=generation_failed duration=never]]',
		...held('good 2'),
	]);
	await until('all is in the database', async () =>
		(await Promise.all(Object.values(batches).map(isSaved))).every(Boolean),
	);
	await instance.kill();
	instance.sandbox.release();
	await instance.restart();
});
after(() => instance?.close());

// Each waits for n8n, not for the others.
describe('after a kill while all sleep', { concurrency: true }, () => {
	test('everything goes on as if nothing had happened: results, files, prompts, credits of the run', async () => {
		const execution = await finish(batches.asleep);
		await assertComplete(batches.asleep, execution);
		const [, waits] = await executions(batches.asleep.workflowId);
		const [, used] = /has used ([\d.]+) credits/.exec(JSON.stringify(waits?.runData.Results)) ?? [];
		// Those of the other batches count, too: they are of the same account.
		assert.ok(Number(used) >= 2 * IMAGE_CREDITS);
	});

	test('with In Another Workflow, the other workflow is started once, with all results and what was passed along', async () => {
		const starts = async () => (await executions(receiverId)).filter(({ runData }) => runData.Got !== undefined);
		await until('it was started', async () => (await starts()).some(({ status }) => status === 'success'));
		const [execution, ...others] = await starts();
		assert.equal(others.length, 0, 'once');
		await assertComplete(batches.background, execution as Execution, 'Got');
	});

	test('with On Error, Stop Workflow, the error names the others and where their results are; a retry buys nothing', async () => {
		const { stop } = batches;
		const stopped = await finish(stop);
		const [good1, bad, good2] = idsOf(stop);
		assert.equal(stopped.status, 'error');
		assert.match(stopped.error?.message, new RegExp(`could not finish task ${bad}`));
		const text = JSON.stringify(stopped.error);
		const [, keeps] = await executions(stop.workflowId);
		for (const words of [good1, good2, `execution ${keeps?.id} `]) assert.ok(text.includes(String(words)), text);
		assert.deepEqual(
			itemsOf(keeps as Execution, 'Keep Waiting', { run: (keeps?.runData['Keep Waiting']?.length ?? 0) - 1 }).map(
				({ json, binary }) => [json.details.task_id, binary !== undefined],
			),
			[
				[good1, true],
				[bad, false],
				[good2, true],
			],
		);
		assert.equal((await retry(stop)).error?.message, stopped.error?.message);
		assert.equal(tasksOf(stop).length, 3);
	});
});
