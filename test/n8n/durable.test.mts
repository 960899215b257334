/** Survive Restarts: batches that sleep in n8n's database, and what is left of them when n8n dies at the worst moments. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
	itemsOf,
	readExecution,
	startExecution,
	stopExecution,
	untilFinished,
	type Execution,
} from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { executionsOf } from './support/production.mts';
import { withSlowdown } from './support/slowdown.mts';
import { pause, until } from './support/until.mts';
import { createWorkflow, packageType, type TestNode } from './support/workflow.mts';

/** The first check comes so late that n8n sleeps in its database until then. */
const CHECK_AT_SECONDS = 70;
/** Longer than it takes to kill n8n after the check of the others. */
const ASLEEP_SECONDS = 150;

/** Well before the first poll. */
const FINISHED_SECONDS = 3;

let instance: Instance;

/** Tasks that finish with `sandbox.release()`. */
const held = (...prompts: string[]) => prompts.map((prompt) => `${prompt} [[sandbox duration=never]]`);

interface Batch {
	workflowId: string;
	executionId: string;
	prompts: string[];
}

const generate = (options: Record<string, unknown>, settings: Partial<TestNode> = {}): TestNode => ({
	name: 'Generate',
	type: packageType('imageGeneration'),
	parameters: { prompt: '={{ $json.prompt }}', downloadResult: true, options: { surviveRestarts: true, ...options } },
	...settings,
});
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

/** Holds the execution in memory after it has been resumed, short enough for a retry to be waited for. */
const hold: TestNode = {
	name: 'Hold',
	type: 'n8n-nodes-base.wait',
	typeVersion: 1.1,
	parameters: { resume: 'timeInterval', amount: 60, unit: 'seconds' },
};

async function start(
	prompts: string[],
	options: Record<string, unknown> = { pollIntervalSeconds: CHECK_AT_SECONDS },
	settings: Partial<TestNode> = {},
	more: TestNode[] = [],
): Promise<Batch> {
	const items = prompts.map((prompt) => ({ prompt }));
	const workflowId = await createWorkflow(instance, items, [generate(options, settings), ask, ...more]);
	return { workflowId, executionId: await startExecution(instance.rest, workflowId, 'Start'), prompts };
}

const tasksOf = ({ prompts }: Batch) =>
	instance.sandbox.tasks.filter(({ body }) => prompts.includes(String(body.prompt)));
const taskOf = (prompt: string) => instance.sandbox.tasks.find(({ body }) => body.prompt === prompt)?.id;
const finish = async ({ executionId }: Batch) => await untilFinished(instance.rest, executionId);
const executions = async ({ workflowId }: Batch) =>
	await Promise.all((await executionsOf(instance, workflowId)).map((id) => readExecution(instance.rest, id)));
const statusReads = (id: string) =>
	instance.sandbox.requests.filter(({ method, path }) => method === 'GET' && path.includes(id));

/** Each item is the result of its own prompt, in order, with its file, and was bought once. */
async function assertComplete(batch: Batch, execution: Execution) {
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	// After a crash n8n makes up an output for nodes of which it has saved none.
	const items = itemsOf(execution, 'Ask', { run: (execution.runData.Ask?.length ?? 0) - 1 });
	assert.deepEqual(
		items.map(({ json }) => [json.asked, json.task_id, json.status]),
		batch.prompts.map((prompt) => [prompt, taskOf(prompt), 'completed']),
	);
	for (const { json, binary } of items) {
		assert.equal(json.error, undefined);
		assert.ok((await instance.rest.readBinary(binary?.data.id)).length > 0);
	}
	assert.equal(tasksOf(batch).length, batch.prompts.length, 'bought once');
}

const batches = {} as Record<
	| 'asleep'
	| 'checking'
	| 'downloading'
	| 'partly'
	| 'young'
	| 'stopped'
	| 'resumed'
	| 'many'
	| 'stop'
	| 'continue'
	| 'errorOutput',
	Batch
>;
const modes = {} as Record<'stop' | 'continue' | 'errorOutput', Execution>;

/** The size of a batch in n8n's database, all its executions together. */
async function storedBytes({ workflowId }: Batch): Promise<number> {
	const ids = await executionsOf(instance, workflowId);
	const records = await Promise.all(
		ids.map(async (id) => await instance.rest.request('GET', `/rest/executions/${id}`)),
	);
	return records.reduce((sum, { data }) => sum + String(data).length, 0);
}

/** One kill for all: each batch is at its own point when n8n dies. */
before(async () => {
	instance = await startInstance();
	const mixed = (mode: string) => [
		`${mode} good 1`,
		`${mode} bad [[sandbox fail=generation_failed]]`,
		`${mode} good 2`,
	];
	batches.asleep = await start(held('asleep 1', 'asleep 2'), { pollIntervalSeconds: ASLEEP_SECONDS });
	batches.checking = await start(['checking 1', 'checking 2 [[sandbox poll=slow:never*all]]']);
	batches.downloading = await start(['downloading 1', 'downloading 2 [[sandbox bytes=2 bytes_per_second=3000]]']);
	batches.partly = await start([`partly 1 [[sandbox duration=${FINISHED_SECONDS}s]]`, ...held('partly 2')], {
		includeInputFields: true,
		pollIntervalSeconds: CHECK_AT_SECONDS,
	});
	batches.stopped = await start(['stopped']);
	batches.resumed = await start(['resumed 1', 'resumed 2'], undefined, undefined, [hold]);
	batches.stop = await start(mixed('stop'));
	batches.continue = await start(mixed('continue'), undefined, { onError: 'continueRegularOutput' });
	batches.errorOutput = await start(mixed('errorOutput'), undefined, { onError: 'continueErrorOutput' });
	batches.many = await start(held(...Array.from({ length: 50 }, (_, index) => `many ${index}`)), {
		pollIntervalSeconds: ASLEEP_SECONDS,
	});
	await until('all are asleep', async () => {
		const { partly, ...others } = batches;
		const all = await Promise.all(
			[partly, ...Object.values(others)].map(
				async ({ executionId }) => await readExecution(instance.rest, executionId),
			),
		);
		return all.every(({ status }) => status === 'waiting');
	});
	await stopExecution(instance.rest, batches.stopped.executionId);
	for (const mode of ['stop', 'continue', 'errorOutput'] as const) modes[mode] = await finish(batches[mode]);
	await until('a check and a download are under way', () => {
		const checked = statusReads(String(taskOf(batches.checking.prompts[1] ?? ''))).length > 0;
		return (
			checked &&
			instance.sandbox.fileRequests.some(({ path }) =>
				path.includes(String(taskOf(batches.downloading.prompts[1] ?? ''))),
			)
		);
	});
	await until('what has finished is saved', async () => {
		const poller = (await executions(batches.partly))[2];
		return JSON.stringify(poller?.record.data?.executionData?.contextData ?? {}).includes('"ended"');
	});
	batches.young = await start(['young 1 [[sandbox duration=2s]]', ...held('young 2')], {});
	await until('the last batch is accepted', () => tasksOf(batches.young).length === 2, { everyMs: 10 });
	await pause(1_000);
	// It is in the database then; on a busy machine some time later.
	await until('it sleeps', async () => {
		return (await readExecution(instance.rest, batches.young.executionId)).status === 'waiting';
	});
	await instance.kill();
	// Tasks, and slow answers to the check and the download, were held until now: no batch was over before n8n died.
	instance.sandbox.release();
	await instance.restart();
});
after(() => instance?.close());

// Each waits for n8n, not for the others.
describe('after the kill', { concurrency: true }, () => {
	test('killed while all sleep: everything goes on as if nothing had happened', async () => {
		await assertComplete(batches.asleep, await finish(batches.asleep));
		assert.equal((await executions(batches.asleep)).length, 3, 'the workflow, and two sub-executions');
	});

	test('killed when some have finished: their results and files are still there', async () => {
		const { partly } = batches;
		const execution = await finish(partly);
		await assertComplete(partly, execution);
		assert.deepEqual(
			itemsOf(execution, 'Generate').map(({ json }) => json.prompt),
			partly.prompts,
			'with the fields of their input',
		);
		// When the tasks of a batch are checked first is random: that may be before the end, too.
		const first = tasksOf(partly).find(({ body }) => body.prompt === partly.prompts[0]);
		const finishedAt = (first?.acceptedAt ?? NaN) + FINISHED_SECONDS * 1000;
		assert.equal(
			statusReads(String(first?.id)).filter(({ at }) => at >= finishedAt).length,
			1,
			'the first was not checked again',
		);
	});

	for (const moment of ['checking', 'downloading'] as const) {
		test(`killed while ${moment}: n8n goes back to waiting, and the results come`, async () => {
			await assertComplete(batches[moment], await finish(batches[moment]));
			assert.equal((await executions(batches[moment])).length, 4, 'the checks were begun again once');
		});
	}

	test('killed a second after the acceptance: the results come by themselves', async () => {
		await assertComplete(batches.young, await finish(batches.young));
		// The one that polls may have been asleep, or awake and dead.
		assert.ok([3, 4].includes((await executions(batches.young)).length), 'the polls were begun again at most once');
	});

	test('killed after the workflow has got the results: a retry goes on with them', async () => {
		const { resumed } = batches;
		const crashed = await finish(resumed);
		assert.equal(crashed.status, 'crashed');
		const retries = [false, true].map(async (loadWorkflow) => {
			const { id } = await instance.rest.request('POST', `/rest/executions/${resumed.executionId}/retry`, {
				loadWorkflow,
			});
			await assertComplete(resumed, await untilFinished(instance.rest, String(id)));
		});
		await Promise.all(retries);
	});

	test('after a stop nobody polls any more, and a retry passes nothing on as a result', async () => {
		await until(
			'the sub-executions have ended',
			async () => (await executions(batches.stopped)).every(({ status }) => status !== 'waiting'),
			{ everyMs: 2_000 },
		);
		const [parent, ...others] = await executions(batches.stopped);
		assert.equal(parent?.status, 'canceled');
		assert.deepEqual(statusReads(String(taskOf('stopped'))), []);
		assert.deepEqual(
			others.map(({ status }) => status),
			['canceled', 'canceled'],
			'nobody waits any more',
		);
		for (const loadWorkflow of [false, true]) {
			const { id } = await instance.rest.request('POST', `/rest/executions/${parent?.id}/retry`, { loadWorkflow });
			const retried = await untilFinished(instance.rest, String(id));
			assert.deepEqual(
				itemsOf(retried, 'Generate').map(({ json }) => [json.error, json.details.task_id]),
				[[`The result of task ${taskOf('stopped')} has not arrived yet`, taskOf('stopped')]],
			);
		}
		assert.equal(tasksOf(batches.stopped).length, 1, 'bought once');
	});

	test('with On Error, Stop Workflow, the first item that did not succeed is the error once all have ended; a retry buys nothing', async () => {
		const { stop } = batches;
		const [good1, bad, good2] = stop.prompts.map(taskOf);
		const text = JSON.stringify(modes.stop.error);
		assert.equal(modes.stop.status, 'error');
		assert.match(text, new RegExp(`could not finish task ${bad}`));
		for (const id of [good1, good2]) assert.ok(text.includes(String(id)), text);
		const [, survivor] = await executions(stop);
		assert.ok(text.includes(`execution ${survivor?.id} `), text);
		const kept = itemsOf(survivor as Execution, 'Keep Waiting');
		assert.deepEqual(
			kept.map(({ json, binary }) => [json.details.task_id, binary !== undefined]),
			[
				[good1, true],
				[bad, false],
				[good2, true],
			],
		);
		const { id } = await instance.rest.request('POST', `/rest/executions/${stop.executionId}/retry`, {
			loadWorkflow: false,
		});
		const again = await untilFinished(instance.rest, String(id));
		assert.equal(again.error?.message, modes.stop.error?.message);
		assert.equal(tasksOf(stop).length, 3);
	});

	test('with On Error, Continue, each item has its own outcome', () => {
		const [good1, bad, good2] = batches.continue.prompts.map(taskOf);
		const items = itemsOf(modes.continue, 'Generate').map(({ json }) => json);
		assert.deepEqual(
			items.map(({ task_id, status }) => [task_id, status]),
			[
				[good1, 'completed'],
				[bad, 'failed'],
				[good2, 'completed'],
			],
		);
		assert.match(items[1]?.error, /could not finish task/);
		assert.deepEqual(
			itemsOf(modes.continue, 'Ask').map(({ json }) => json.asked),
			batches.continue.prompts,
		);
	});

	test('with On Error, Continue (Using Error Output), task ID, state and advice are in the error output', () => {
		const [good1, bad, good2] = batches.errorOutput.prompts.map(taskOf);
		assert.deepEqual(
			itemsOf(modes.errorOutput, 'Generate').map(({ json }) => json.task_id),
			[good1, good2],
		);
		const [failed, ...more] = itemsOf(modes.errorOutput, 'Generate', { output: 1 });
		assert.equal(more.length, 0);
		assert.match(failed?.json.error, /could not finish task/);
		assert.match(failed?.json.message, /run only this item again: that creates a new task/);
		assert.deepEqual([failed?.json.details.task_id, failed?.json.details.status], [bad, 'failed']);
		assert.deepEqual(
			itemsOf(modes.errorOutput, 'Ask').map(({ json }) => json.asked),
			[batches.errorOutput.prompts[0], batches.errorOutput.prompts[2]],
		);
	});

	test('50 tasks take little room in the database', async () => {
		await assertComplete(batches.many, await finish(batches.many));
		const bytes = await storedBytes(batches.many);
		assert.ok(bytes < 300_000, `${bytes} bytes`);
	});
});

for (const [who, options] of Object.entries({
	'the node': {},
	'the execution that polls, after the first half a second': { requestsPerSecond: 10 },
})) {
	test(`at most 1 s after the last task is accepted, all is in the database, where ${who} has submitted it`, async () => {
		// Of three, because n8n may be busy with something else.
		const times: number[] = [];
		while (times.length < 3 && Math.min(...times) > 1_000) times.push(await untilSaved(times.length, options));
		assert.ok(Math.min(...times) <= 1_000, `${times.join(', ')} ms`);
	});
}

/**
 * Milliseconds from the last acceptance of a wave until all its IDs are in the database, as on a machine that has nothing
 * else to do.
 */
async function untilSaved(attempt: number, options: Record<string, unknown>): Promise<number> {
	const about = `saved ${JSON.stringify(options)} ${attempt}`;
	const prompts = Array.from({ length: 20 }, (_, index) => `${about} ${index} [[sandbox duration=1h]]`);
	const batch = await start(prompts, options);
	await until('all are accepted', () => tasksOf(batch).length === prompts.length, { everyMs: 10 });
	const acceptedAtMs = Math.max(...tasksOf(batch).map(({ acceptedAt }) => acceptedAt));
	const ids = prompts.map(taskOf);
	const areSaved = until(
		'all are saved',
		async () => {
			const [parent, survivor, poller] = await executions(batch);
			if (parent?.status !== 'waiting' || survivor?.status !== 'waiting') return false;
			// Who submits for longer than half a second, as on a slow machine, hands over the first ones only.
			const saved = JSON.stringify([itemsOf(survivor, 'Start'), poller?.record.data?.executionData?.contextData]);
			return ids.every((id) => saved.includes(String(id)));
		},
		{ everyMs: 10 },
	);
	const { slowdown } = await withSlowdown(areSaved);
	const ms = Date.now() - acceptedAtMs;
	// Not before, however busy the machine is: they are seen only while they sleep.
	for (const task of tasksOf(batch)) task.endsAt = Date.now();
	await assertComplete(batch, await finish(batch));
	return ms / slowdown;
}

test('a batch that ends within a minute takes at most 1 s longer with Survive Restarts than without', async () => {
	/** One more second on an idle machine, as many as that is here and now. */
	let allowed = 1;
	const seconds = async (surviveRestarts: boolean, attempt: number): Promise<number> => {
		const batch = await start(
			Array.from(
				{ length: 50 },
				(_, index) => `short ${index} ${attempt} ${String(surviveRestarts)} [[sandbox duration=5s]]`,
			),
			{ surviveRestarts },
		);
		const { result: execution, slowdown } = await withSlowdown(finish(batch));
		if (surviveRestarts) allowed = slowdown;
		await assertComplete(batch, execution);
		const { startedAt, stoppedAt } = execution.record as Record<string, string>;
		return (Date.parse(stoppedAt ?? '') - Date.parse(startedAt ?? '')) / 1000;
	};
	// When the tasks are checked is random: one of three says what it costs.
	const tries: Array<{ without: number; withOption: number; allowed: number }> = [];
	const isGood = () => tries.some(({ without, withOption, allowed }) => withOption - without <= allowed);
	while (tries.length < 3 && !isGood()) {
		const without = await seconds(false, tries.length);
		const withOption = await seconds(true, tries.length);
		tries.push({ without, withOption, allowed });
	}
	assert.ok(isGood(), JSON.stringify(tries));
});
