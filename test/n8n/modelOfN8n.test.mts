/**
 * The simulation (test/simulation) and the tests of the nodes go by a model of n8n. Here n8n itself does what the model
 * says, where money depends on it: its table of processed data, what it saves of an execution, and how one sleeps.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { installN8n } from '../../tools/install/n8n.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { seeded } from '../support/simulation';
import { ProcessedData } from '../support/processedData.mts';
import { ProcessedData as Simulated } from '../simulation/support/processedData.mts';
import { Story } from '../simulation/support/story.mts';
import { Time, WORLD } from '../simulation/support/time.mts';
import { startInstance, type Instance } from './support/instance.mts';
import { listExecutions } from './support/production.mts';
import { until } from './support/until.mts';
import { createWorkflow, type TestNode } from './support/workflow.mts';

interface Call {
	does: 'record' | 'remove';
	names: string[];
}

const maxEntries = 4;
const WHERE = { workflow: { id: '1' }, node: { id: '1' } };

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
	const { calls, where, options } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
	const helper = new DeduplicationHelper();
	(async () => {
		const found = [];
		for (const { does, names } of calls)
			if (does === 'remove') await helper.removeProcessed(names, 'node', where, options);
			else found.push((await helper.checkProcessedAndRecord(names, 'node', where, options)).processed);
		console.log(JSON.stringify(found));
		process.exit();
	})();
`;

test('both models of the table of processed data find and forget what n8n finds and forgets', async () => {
	const random = seeded(1);
	const upTo = (most: number) => Math.floor(random() * most);
	const names = () => [...new Set(Array.from({ length: 1 + upTo(3) }, () => `name ${upTo(9)}`))];
	const calls = Array.from(
		{ length: 300 },
		(): Call => ({ does: upTo(4) === 0 ? 'remove' : 'record', names: names() }),
	);

	const options = { mode: 'entries' as const, maxEntries };
	const { node, modules } = await installN8n();
	const input = JSON.stringify({ calls, where: WHERE, options });
	const { stdout, stderr } = spawnSync(node, ['-e', N8N], { cwd: modules, input, encoding: 'utf8' });
	assert.match(stdout, /^\[/m, stderr);
	const found = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as string[][];
	assert.ok(found.some((each) => each.length > 0) && found.some((each) => each.length === 0));

	const inEngine = new ProcessedData();
	const foundInEngine: unknown[] = [];
	for (const { does, names: of } of calls)
		if (does === 'remove') await inEngine.removeProcessed(of, 'node', WHERE as never);
		else foundInEngine.push((await inEngine.checkProcessedAndRecord(of, 'node', WHERE as never, options)).processed);
	assert.deepEqual(foundInEngine, found);

	const time = new Time(() => 0);
	const simulated = new Simulated(time, [], new Story()).helpersFor('');
	const foundInPlay: string[][] = [];
	const play = async () => {
		for (const { does, names: of } of calls)
			if (does === 'remove') await simulated.removeProcessed(of);
			else foundInPlay.push((await simulated.checkProcessedAndRecord(of, 'node', options)).processed);
	};
	time.after(0, () => void play(), WORLD);
	await time.run(Infinity, 10_000);
	assert.deepEqual(foundInPlay, found);
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
