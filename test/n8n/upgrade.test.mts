/**
 * A person exchanges the package by hand, as docs/start/install.md says, while tasks sleep in n8n's database: for one that is older
 * than the form in which their orders are stored. In the end, the person removes it.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { npm } from '../../tools/install/npm.mjs';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { publishedPackage } from '../../tools/package/pack.mjs';
import { manifest } from '../../tools/paths.mjs';
import { run } from '../../tools/processes/child.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, executionsOf } from './support/production.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType, waitForTasks, type TestNode } from './support/workflow.mts';

/** n8n keeps a sleep of more than 66 s in its database: so long that enough is left of it on a slow machine. */
const ASLEEP_SECONDS = 90;

let instance: Instance;
/** The workflow that would get results in the background. */
let receiverId: string;

interface Batch {
	workflowId: string;
	executionId: string;
	prompts: string[];
}

let waiting: Batch;
let inBackground: Batch;

async function start(prompts: string[], options: object, more: TestNode['parameters'] = {}): Promise<Batch> {
	const parameters = { prompt: '={{ $json.prompt }}', result: 'urlOnly', options, ...more };
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow(
		instance,
		prompts.map((prompt) => ({ prompt })),
		[node],
	);
	return { workflowId, executionId: await startExecution(instance.rest, workflowId, 'Start'), prompts };
}

const executions = async ({ workflowId }: Batch) =>
	await Promise.all((await executionsOf(instance, workflowId)).map((id) => readExecution(instance.rest, id)));
const tasksOf = ({ prompts }: Batch) =>
	instance.sandbox.tasks.filter(({ body }) => prompts.includes(String(body.prompt)));
const idsOf = (batch: Batch) =>
	batch.prompts.flatMap((prompt) => tasksOf(batch).find(({ body }) => body.prompt === prompt)?.id ?? []);

/** One that polls has looked, and sleeps until it is to look again. */
async function untilAsleep(batch: Batch) {
	await until(`${batch.prompts[0]} sleeps`, async () =>
		(await executions(batch)).some(
			({ status, record }) =>
				status === 'waiting' && record.data.executionData?.contextData?.['node:Poll Tasks']?.hasSlept === true,
		),
	);
}

const nodesFolder = () => join(instance.n8n.userFolder, '.n8n', 'nodes');
const inNodesFolder = () => ['--prefix', nodesFolder(), '--legacy-peer-deps'];

/** Installs the package, then a build over it that knows an older form of orders only: it has the same version number and file name. */
async function installTwoBuilds() {
	const folder = mkdtempSync(join(tmpdir(), 'generation-gateway-builds-'));
	cpSync(await publishedPackage(), join(folder, 'package'), { recursive: true });
	const install = async () => {
		await run('tar', ['-czf', 'build.tgz', 'package'], { cwd: folder });
		await npm(['install', ...inNodesFolder(), '--ignore-scripts', 'build.tgz'], folder);
	};
	await install();
	const file = join(folder, 'package', 'dist/core/orders/order.js');
	const before = readFileSync(file, 'utf8');
	const changed = before.replace(/exports\.ORDER_VERSION = \d+;/, 'exports.ORDER_VERSION = 1;');
	assert.notEqual(changed, before);
	writeFileSync(file, changed);
	await install();
	rmSync(folder, { recursive: true });
}

before(async () => {
	instance = await startInstance();
	receiverId = await createWorkflow(instance, [], [{ name: 'Called', type: 'n8n-nodes-base.executeWorkflowTrigger' }]);
	await activate(instance, receiverId);
	const options = { pollIntervalSeconds: ASLEEP_SECONDS, concurrentTasks: 2 };
	// The third one waits for the end of the others.
	waiting = await start(['one [[sandbox duration=never]]', 'two [[sandbox duration=never]]', 'three'], options, {
		wait: 'acrossRestarts',
	});
	inBackground = await start(['four [[sandbox duration=never]]'], options, {
		wait: 'inAnotherWorkflow',
		workflowId: { __rl: true, mode: 'id', value: receiverId },
	});
	await untilAsleep(waiting);
	await untilAsleep(inBackground);
	await instance.end('SIGTERM');
	await installTwoBuilds();
	instance.sandbox.release();
	await instance.restart();
});
after(() => instance?.close());

test('orders of another version end with the ID of each task, nothing is bought for them, and nothing is lost', async () => {
	const ids = idsOf(waiting);
	assert.equal(ids.length, 2);
	const { status, error } = await untilFinished(instance.rest, waiting.executionId);
	assert.equal(status, 'error');
	assert.equal(
		error?.message,
		`Another version of this package has stored task ${ids[0]}, and this version cannot read it`,
	);
	assert.match(String(error?.description), /Install that version again/);
	for (const id of ids) assert.ok(JSON.stringify(error).includes(id), JSON.stringify(error));
	assert.equal(tasksOf(waiting).length, 2);

	const again = await createWorkflow(
		instance,
		ids.map((id) => ({ task_id: id })),
		[waitForTasks],
	);
	const delivered = await untilFinished(instance.rest, await startExecution(instance.rest, again, 'Start'));
	assert.deepEqual(
		itemsOf(delivered, 'Wait').map(({ json }) => [json.task_id, json.status]),
		ids.map((id) => [id, 'completed']),
	);
});

test('in the background, the other workflow gets an error that names the task', async () => {
	const [id] = idsOf(inBackground);
	const received = async () => {
		const ids = await executionsOf(instance, receiverId);
		const all = await Promise.all(ids.map((each) => readExecution(instance.rest, each)));
		return all.flatMap((execution) => itemsOf(execution, 'Called')).map(({ json }) => json);
	};
	await until('it has it', async () => (await received()).length > 0, { everyMs: 1_000 });
	assert.deepEqual(
		(await received()).map(({ error, code, task_id, url }) => ({ error, code, task_id, url })),
		[
			{
				error: `Another version of this package has stored task ${id}, and this version cannot read it`,
				code: 'stored_by_other_version',
				task_id: id,
				url: undefined,
			},
		],
	);
	assert.equal(tasksOf(inBackground).length, 1);
});

test('npm has installed nothing but the package, and has removed it without a trace; workflows and credentials stay', async () => {
	const installed = () => readdirSync(join(nodesFolder(), 'node_modules')).filter((name) => !name.startsWith('.'));
	assert.deepEqual(installed(), [manifest.name], 'a copy of a module of n8n would be another one for the nodes');
	await instance.end('SIGTERM');
	await npm(['uninstall', ...inNodesFolder(), manifest.name], instance.n8n.userFolder);
	await instance.restart();
	const { rest, credential } = instance;
	const { name } = await rest.request('GET', `/rest/credentials/${credential.id}`);
	assert.equal(name, credential.name);
	const unknown = new RegExp(`Unrecognized node type: ${packageType('imageGeneration')}`);
	await assert.rejects(startExecution(rest, waiting.workflowId, 'Start'), unknown);
});
