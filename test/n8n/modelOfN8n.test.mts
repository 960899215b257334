/**
 * The simulation (test/simulation) and the tests of the nodes go by a model of n8n. Here n8n itself does what the model
 * says, where money depends on it: its table of processed data, what it saves of an execution, and how one sleeps.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { installN8n } from '../../tools/install/n8n.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { projectDir } from '../../tools/paths.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { listExecutions } from './support/production.mts';
import { until } from './support/until.mts';
import { createWorkflow, type TestNode } from './support/workflow.mts';

/** Calls of the table and the names that n8n found in it: test/simulation/processedData.test.ts compares both models with it. */
const answers = join(projectDir, 'test', 'support', 'processedData.json');

/** n8n's own code, with one row in the place of its database. */
const N8N = `
	const helperOfN8n = 'n8n/dist/deduplication/deduplication-helper.js';
	const beside = require('node:module').createRequire(require.resolve(helperOfN8n));
	const { Container } = beside('@n8n/di');
	const { ProcessedDataRepository } = beside('@n8n/db');
	const { DeduplicationHelper } = require(helperOfN8n);
	let row;
	const write = async (data) => void (row = JSON.stringify(data));
	const update = async (_, data) => await write(data);
	Container.set(ProcessedDataRepository, { findOne: async () => row && JSON.parse(row), insert: write, update });
	const where = { workflow: { id: '1' }, node: { id: '1' } };
	const helper = new DeduplicationHelper();
	(async () => {
		const { maxEntries, calls } = JSON.parse(require('node:fs').readFileSync(process.argv[1], 'utf8'));
		const options = { mode: 'entries', maxEntries };
		for (const each of calls) {
			const [does, ...names] = each.call.split(' ');
			if (does === 'remove') await helper.removeProcessed(names, 'node', where, options);
			else each.found = (await helper.checkProcessedAndRecord(names, 'node', where, options)).processed.join(' ');
		}
		console.log(JSON.stringify({ maxEntries, calls }));
		process.exit();
	})();
`;

test('the table of processed data finds and forgets names as the models of the tests do', async () => {
	const { node, modules } = await installN8n();
	const { stdout, stderr } = spawnSync(node, ['-e', N8N, answers], { cwd: modules, encoding: 'utf8' });
	assert.match(stdout, /^\{/m, stderr);
	assert.deepEqual(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), JSON.parse(readFileSync(answers, 'utf8')));
});

let instance: Instance;
const executions: Record<'saving' | 'notSaving' | 'parent', string> = { saving: '', notSaving: '', parent: '' };
let child = '';

const set = (name: string, value: string): TestNode => ({
	name,
	type: 'n8n-nodes-base.set',
	typeVersion: 3.4,
	parameters: { assignments: { assignments: [{ id: 'a', name: 'value', type: 'string', value }] }, options: {} },
});
const trigger = {
	type: 'n8n-nodes-base.executeWorkflowTrigger',
	typeVersion: 1.1,
	parameters: { inputSource: 'passthrough' },
};
const sleep = { type: 'n8n-nodes-base.wait', typeVersion: 1.1, webhookId: 'model', parameters: { resume: 'webhook' } };

/** As a node of ours calls it: a sub-workflow without a place in the list of workflows. */
function callOf(chain: Array<Partial<TestNode> & { name: string }>): TestNode {
	const nodes = chain.map((node, index) => ({
		id: `c${index}`,
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
		...node,
	}));
	const to = (next: { name: string }) => ({ main: [[{ node: next.name, type: 'main', index: 0 }]] });
	const connections = Object.fromEntries(chain.slice(1).map((next, index) => [chain[index]?.name, to(next)]));
	const workflowJson = JSON.stringify({ nodes, connections, settings: {} });
	const parameters = { source: 'parameter', workflowJson, options: {} };
	return { name: 'Call', type: 'n8n-nodes-base.executeWorkflow', typeVersion: 1.2, parameters };
}

/** One kill for all: two executions hang in a node, and one sleeps with the execution that it has started. */
before(async () => {
	instance = await startInstance();
	const { sandbox, rest } = instance;
	const path = '/thumbnails/model.png';
	sandbox.faults.add({ on: 'file', match: { path }, times: 2, do: 'slow:never' });
	const hang = {
		name: 'Hang',
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: { url: sandbox.filesUrl + path, options: {} },
	};
	for (const [name, saveExecutionProgress] of [
		['saving', true],
		['notSaving', false],
	] as const) {
		const workflowId = await createWorkflow(instance, [{}], [set('First', name), hang], { saveExecutionProgress });
		executions[name] = await startExecution(rest, workflowId, 'Start');
	}
	const steps = [
		{ name: 'Begin', ...trigger },
		set('Address', '={{ $execution.resumeUrl }}'),
		{ name: 'Sleep', ...sleep },
	];
	const call = callOf([...steps, set('Result', 'of the child')]);
	const workflowId = await createWorkflow(
		instance,
		[{}],
		[set('First', 'once'), call, set('Behind', '={{ $json.value }}')],
	);
	executions.parent = await startExecution(rest, workflowId, 'Start');
	await until('both executions hang', () => sandbox.fileRequests.filter((each) => each.path === path).length === 2);
	await until('both executions sleep', async () => {
		const all = await Promise.all([...(await listOfSub())].map(async ({ id }) => await readExecution(rest, id)));
		child = all[0]?.id ?? '';
		const parent = await readExecution(rest, executions.parent);
		return all.length === 1 && [...all, parent].every(({ status }) => status === 'waiting');
	});
	await instance.kill();
	await instance.restart();
});
after(() => instance?.close());

async function listOfSub() {
	const { record } = await readExecution(instance.rest, executions.parent);
	const all = await listExecutions(instance, String(record.workflowId));
	return all.filter(({ mode }) => mode === 'integrated');
}

const valuesOf = (execution: Execution, node: string) => itemsOf(execution, node).map(({ json }) => json.value);

test('with Save execution progress, what had run is kept; without it, n8n makes up an item of each node that had begun', async () => {
	const [saving, notSaving] = await Promise.all(
		[executions.saving, executions.notSaving].map(async (id) => await untilFinished(instance.rest, id)),
	);
	assert.deepEqual([saving?.status, notSaving?.status], ['crashed', 'crashed']);
	assert.deepEqual(valuesOf(saving as Execution, 'First'), ['saving']);
	const made = itemsOf(notSaving as Execution, 'First').map(({ json }) => json.isArtificialRecoveredEventItem);
	assert.deepEqual(made, [true]);
});

test('an execution that sleeps with the one that it has started outlives n8n, and goes on behind the node with its output', async () => {
	const [address] = valuesOf(await readExecution(instance.rest, child), 'Address');
	assert.equal((await fetch(String(address))).status, 200);
	const parent = await untilFinished(instance.rest, executions.parent);
	assert.equal(parent.status, 'success');
	assert.deepEqual(valuesOf(parent, 'Behind'), ['of the child']);
	// The node that has called is not run again, nor is what was before it.
	assert.deepEqual([parent.runData.First?.length, parent.runData.Call?.length], [1, 1]);
	assert.equal((await listOfSub()).length, 1);
});
