/** The package is exchanged while tasks sleep in n8n's database: for a higher version, then for the lower one again. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { INode } from 'n8n-workflow';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { providePackage } from '../../tools/package/pack.mjs';
import { manifest } from '../../tools/paths.mjs';
import { sandboxKey, startInstance, type Instance } from './support/instance.mts';
import { activate, executionsOf } from './support/production.mts';
import { insertExecutions, readStored, storedExecutions } from './support/storedExecutions.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType, waitForTasks, type TestNode } from './support/workflow.mts';

/** n8n keeps a sleep of more than 66 s in its database: so long that enough is left of it on a slow machine. */
const ASLEEP_SECONDS = 90;
/** As long as the results of the first version, and another exchange, may take. */
const NEWER_ASLEEP_SECONDS = 200;

let instance: Instance;

interface Batch {
	workflowId: string;
	executionId: string;
	prompts: string[];
}

/** The higher version: hidden steps have other names, which are in a file of their own, and orders another form. */
const HIGHER = '99.0.0';
const NAMES = {
	keepWaiting: 'durableKeepWaitingAnew',
	noteAddress: 'durableNoteAddressAnew',
	pollTasks: 'durablePollTasksAnew',
	results: {
		stopWorkflow: 'durableHandOutOrStopAnew',
		continueRegularOutput: 'durableHandOutAnew',
		continueErrorOutput: 'durableHandOutToErrorsAnew',
	},
};

/** Makes the higher version of the package that n8n has: as CONTRIBUTING says that stored forms change. */
function raiseVersion() {
	const folder = join(instance.n8n.userFolder, '.n8n', 'nodes', 'node_modules', manifest.name);
	const edit = (file: string, ...changes: Array<[from: string, to: string]>) => {
		const path = join(folder, file);
		const edited = changes.reduce(
			(text, [from, to]) => {
				assert.equal(text.split(from).length, 2, `${file} has "${from}" once`);
				return text.replace(from, to);
			},
			readFileSync(path, 'utf8'),
		);
		writeFileSync(path, edited);
	};
	edit('package.json', [`"version": "${manifest.version}"`, `"version": "${HIGHER}"`]);
	writeFileSync(join(folder, 'dist/nodes/durable/newStepNames.js'), `exports.NAMES = ${JSON.stringify(NAMES)};`);
	edit(
		'dist/nodes/durable/storedNames.js',
		['exports.STEPS = {', "exports.STEPS = require('./newStepNames').NAMES;\nconst BEFORE = {"],
		[
			'exports.FORMER_STEPS = {',
			`const pairs = (before, now) => Object.entries(before).flatMap(([key, value]) =>
				typeof value === 'string' ? [[value, now[key]]] : pairs(value, now[key]));
			exports.FORMER_STEPS = { ...Object.fromEntries(pairs(BEFORE, exports.STEPS)),`,
		],
	);
	const order = 'dist/core/orders/order.js';
	const version = Number(/exports\.ORDER_VERSION = (\d+);/.exec(readFileSync(join(folder, order), 'utf8'))?.[1]);
	const higher = version + 1;
	edit(
		order,
		[`exports.ORDER_VERSION = ${version};`, `exports.ORDER_VERSION = ${higher};`],
		[
			'zod_1.z.literal(exports.ORDER_VERSION)',
			`zod_1.z.number().int().min(1).max(${higher}).transform(() => ${higher})`,
		],
	);
}

async function start(prompts: string[], options: Record<string, unknown>, settings: Partial<TestNode> = {}) {
	const items = prompts.map((prompt) => ({ prompt }));
	const parameters = { prompt: '={{ $json.prompt }}', downloadResult: true, options, ...settings.parameters };
	const node = { name: 'Generate', type: packageType('imageGeneration'), ...settings, parameters };
	const workflowId = await createWorkflow(instance, items, [node]);
	return { workflowId, executionId: await startExecution(instance.rest, workflowId, 'Start'), prompts };
}

const tasksOf = ({ prompts }: Batch) =>
	instance.sandbox.tasks.filter(({ body }) => prompts.includes(String(body.prompt)));
const idsOf = (batch: Batch) =>
	batch.prompts.map((prompt) => tasksOf(batch).find((task) => task.body.prompt === prompt)?.id);
const executions = async ({ workflowId }: Batch) =>
	await Promise.all((await executionsOf(instance, workflowId)).map((id) => readExecution(instance.rest, id)));
const finish = async ({ executionId }: Batch) => await untilFinished(instance.rest, executionId);
/** The hidden operations of an execution. */
const stepsOf = (execution: Execution | undefined) =>
	execution?.record.workflowData.nodes
		.flatMap(({ parameters }: INode) => parameters.operation ?? [])
		.sort() as string[];

/** Poll Tasks has looked, and sleeps until it is to look again. */
async function untilAsleep(batch: Batch, innermost = 2) {
	await until(`${batch.prompts[0]} sleeps`, async () => {
		const { status, record } = (await executions(batch))[innermost] ?? {};
		return status === 'waiting' && record.data.executionData?.contextData?.['node:Poll Tasks']?.hasSlept === true;
	});
}

async function exchange(change: () => unknown) {
	await instance.end('SIGTERM');
	await change();
	await instance.restart();
}

/** Each item is the result of its own prompt, with its file, and was bought once. */
async function assertComplete(batch: Batch, items: ReturnType<typeof itemsOf>) {
	assert.deepEqual(
		items.map(({ json }) => [json.task_id, json.status]),
		idsOf(batch).map((id) => [id, 'completed']),
	);
	for (const { binary } of items) assert.ok((await instance.rest.readBinary(binary?.data.id)).length > 0);
	assert.equal(tasksOf(batch).length, batch.prompts.length, 'bought once');
}

/** The stored executions, with the tasks of this service in the place of those that the file names. */
const stored = new Map<string, { executionId: string; taskIds: string[] }>();

async function prepareStored(name: string) {
	const { workflowId, receiverId: receiver, credentialId, taskIds, executions: all } = readStored(name);
	const accept = async (before: string) => {
		const answer = await fetch(`${instance.sandbox.baseUrl}/v1/images/generations`, {
			method: 'POST',
			headers: { authorization: `Bearer ${sandboxKey}`, 'content-type': 'application/json' },
			// It has ended before n8n looks: if not, n8n would sleep for another minute.
			body: JSON.stringify({ model: 'gamma-image-2', prompt: `stored as ${before} [[sandbox duration=0s]]` }),
		});
		return ((await answer.json()) as { id: string }).id;
	};
	const now = await Promise.all(taskIds.map(accept));
	stored.set(name, { executionId: String(all[0]?.id), taskIds: now });
	return {
		...Object.fromEntries(taskIds.map((before, index) => [before, String(now[index])])),
		[workflowId]: await createWorkflow(instance, [], []),
		[receiver]: receiverId,
		[credentialId]: instance.credential.id,
	};
}

/** The items that the other workflow has got. */
async function received() {
	const ids = await executionsOf(instance, receiverId);
	const all = await Promise.all(ids.map((id) => readExecution(instance.rest, id)));
	return all.filter(({ status }) => status === 'success').flatMap((execution) => itemsOf(execution, 'Got'));
}

const batches = {} as Record<'asleep' | 'awake' | 'waves' | 'background' | 'newer' | 'newerInBackground', Batch>;
let receiverId: string;

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
	const sleeping = { surviveRestarts: true, pollIntervalSeconds: ASLEEP_SECONDS };
	batches.asleep = await start(['asleep 1', 'asleep 2'], sleeping, { onError: 'continueErrorOutput' });
	batches.background = await start(['background'], sleeping, {
		parameters: { whenDone: 'startWorkflow', workflowId: { __rl: true, mode: 'id', value: receiverId } },
	});
	batches.waves = await start(
		// The first two hold the places until n8n has stopped.
		[0, 1, 2, 3].map((index) => `waves ${index} [[sandbox duration=${index < 2 ? 'never' : '1s'}]]`),
		{ surviveRestarts: true, concurrentTasks: 2, pollIntervalSeconds: 1 },
	);
	batches.awake = await start(
		['awake [[sandbox duration=never]]'],
		{ surviveRestarts: true, pollIntervalSeconds: 1 },
		{ onError: 'continueRegularOutput' },
	);
	await untilAsleep(batches.asleep);
	await untilAsleep(batches.background);
	await until('the last one polls', () =>
		instance.sandbox.requests.some(
			({ method, path }) => method === 'GET' && path.includes(String(idsOf(batches.awake)[0])),
		),
	);
	assert.equal(tasksOf(batches.waves).length, 2, 'the second wave is left to the higher version');
	const names = storedExecutions();
	const ids = await Promise.all(names.map(prepareStored));
	await exchange(async () => {
		raiseVersion();
		for (const [index, name] of names.entries()) await insertExecutions(instance, name, ids[index] ?? {});
		instance.sandbox.release();
	});
	const longer = { ...sleeping, pollIntervalSeconds: NEWER_ASLEEP_SECONDS };
	// The third one waits for the end of the others.
	batches.newer = await start(['newer 1', 'newer 2', 'newer 3'], { ...longer, concurrentTasks: 2 });
	batches.newerInBackground = await start(['newer in the background'], longer, {
		parameters: { whenDone: 'startWorkflow', workflowId: { __rl: true, mode: 'id', value: receiverId } },
	});
	await untilAsleep(batches.newer);
	await untilAsleep(batches.newerInBackground);
});
after(() => instance?.close());

describe('a higher version takes up what the one before has stored', { concurrency: true }, () => {
	test('the results of tasks that sleep over an upgrade come, by steps with their former names', async () => {
		const { asleep } = batches;
		const execution = await finish(asleep);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		await assertComplete(asleep, itemsOf(execution, 'Generate'));
		const [, ...all] = await executions(asleep);
		assert.deepEqual(all.map(stepsOf), [
			['durableHandOutToErrors', 'durableKeepWaiting'],
			['durableNoteAddress', 'durablePollTasks'],
		]);
	});

	test('the other workflow gets the results of tasks that sleep in the background over an upgrade', async () => {
		const [id] = idsOf(batches.background);
		const own = async () => (await received()).filter(({ json }) => json.task_id === id);
		await until('it has them', async () => (await own()).length > 0, { everyMs: 1_000 });
		await assertComplete(batches.background, await own());
	});

	for (const name of storedExecutions())
		test(`${name}: the results come, and what was left is submitted`, async () => {
			const { executionId, taskIds } = stored.get(name) ?? { executionId: '', taskIds: [] };
			const arrived = async () => {
				if (name.includes('background')) return (await received()).filter(({ json }) => taskIds.includes(json.task_id));
				const execution = await untilFinished(instance.rest, executionId);
				assert.equal(execution.status, 'success', JSON.stringify(execution.error));
				return itemsOf(execution, 'Generate');
			};
			await until('it is there', async () => (await arrived()).length > 0, { everyMs: 1_000 });
			const items = await arrived();
			assert.deepEqual(
				items.map(({ json }) => json.status),
				items.map(() => 'completed'),
			);
			assert.deepEqual(
				items.slice(0, taskIds.length).map(({ json }) => json.task_id),
				taskIds,
			);
			const isOf = ({ id }: { id: string }) => items.some(({ json }) => json.task_id === id);
			assert.deepEqual(
				instance.sandbox.tasks
					.filter(isOf)
					.flatMap(({ body }) => (String(body.prompt).startsWith('stored') ? [] : body.prompt)),
				name.includes('background') ? [] : ['three'],
			);
		});

	for (const name of ['awake', 'waves'] as const)
		test(`${name}: what was awake goes on in an execution with the new names, and what was left is submitted`, async () => {
			const execution = await finish(batches[name]);
			assert.equal(execution.status, 'success', JSON.stringify(execution.error));
			await assertComplete(batches[name], itemsOf(execution, 'Generate'));
			assert.deepEqual(stepsOf((await executions(batches[name])).at(-1)), [
				'durableNoteAddressAnew',
				'durablePollTasksAnew',
			]);
		});
});

test('a lower version refuses the orders of a higher one with words: nothing is sent, and nothing is lost', async () => {
	const { newer, newerInBackground } = batches;
	const ids = idsOf(newer).slice(0, 2).map(String);
	const asked = () => instance.sandbox.requests.filter(({ path }) => ids.some((id) => path.includes(id))).length;
	assert.equal(asked(), 0, 'the exchange comes before the first poll');
	await exchange(async () => await providePackage(instance.n8n.userFolder));
	const { status, error } = await finish(newer);
	assert.equal(status, 'error');
	assert.equal(
		error?.message,
		`A newer version of this package has stored task ${ids[0]}, and this version cannot read it`,
	);
	assert.match(String(error?.description), /Install the newer version again/);
	assert.match(String(error?.description), /Without a task ID: 1 item\. If the newer version has submitted/);
	for (const id of ids) assert.ok(JSON.stringify(error).includes(id), JSON.stringify(error));
	assert.deepEqual([asked(), tasksOf(newer).length], [0, 2]);

	const [inBackground = ''] = idsOf(newerInBackground).map(String);
	const refused = async () => (await executions(newerInBackground)).filter((execution) => execution.status === 'error');
	await until('the one in the background is refused', async () => (await refused()).length > 0, { everyMs: 1_000 });
	const words = JSON.stringify((await refused()).map((execution) => execution.error));
	assert.ok(words.includes(`A newer version of this package has stored task ${inBackground}`), words);
	assert.deepEqual(
		(await received()).filter(({ json }) => json.task_id === inBackground),
		[],
		'no result that is none is handed to the other workflow',
	);

	const again = await createWorkflow(
		instance,
		ids.map((id) => ({ task_id: id })),
		[waitForTasks],
	);
	const delivered = await untilFinished(instance.rest, await startExecution(instance.rest, again, 'Start'));
	await assertComplete({ ...newer, prompts: newer.prompts.slice(0, 2) }, itemsOf(delivered, 'Wait'));
});
