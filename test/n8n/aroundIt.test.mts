/**
 * Executions that wait in n8n's database and those around them: stopped, damaged, refused in part, or called for each
 * item.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { itemsOf, readExecution, startExecution, stopExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, executionsOf, saveWorkflow } from './support/production.mts';
import { pause, until } from './support/until.mts';
import { createWorkflow, packageType, type TestNode } from './support/workflow.mts';

let instance: Instance;
before(async () => {
	instance = await startInstance();
});
after(() => instance?.close());

const TRIGGER = 'n8n-nodes-base.executeWorkflowTrigger';
const credentials = () => {
	const { id, name } = instance.credential;
	return { generationGatewayApi: { id, name } };
};
const generate = (options: Record<string, unknown>): TestNode => ({
	name: 'Generate',
	type: packageType('imageGeneration'),
	parameters: { prompt: '={{ $json.prompt }}', options: { surviveRestarts: true, ...options } },
});
const tasksOf = (word: string) => instance.sandbox.tasks.filter(({ body }) => String(body.prompt).includes(word));
const checksOf = (word: string) =>
	instance.sandbox.requests.filter(
		({ method, path }) => method === 'GET' && tasksOf(word).some(({ id }) => path.includes(id)),
	);
const start = async (id: string) => await startExecution(instance.rest, id, 'Start');

test('after a stop while the tasks are polled, soon nothing is sent any more', async () => {
	const items = Array.from({ length: 10 }, (_, index) => ({ prompt: `halted ${index} [[sandbox duration=300s]]` }));
	const id = await createWorkflow(instance, items, [generate({ pollIntervalSeconds: 1 })]);
	const executionId = await start(id);
	await until('tasks are checked', () => checksOf('halted').length > 20);
	await stopExecution(instance.rest, executionId);
	// The product asks every half second if it was stopped, and where n8n is slow to answer every ten seconds.
	let before = -1;
	const isQuiet = () => {
		const last = before;
		before = checksOf('halted').length;
		return before === last;
	};
	await until('nothing is sent for three seconds', isQuiet, { withinMs: 40_000, everyMs: 3_000 });
	await pause(6_000);
	assert.equal(checksOf('halted').length, before);
	const log = readFileSync(instance.n8n.logFile, 'utf8');
	assert.match(log, /nobody waits any more, still running at the service: (\S+, ){9}\S+/);
	const others = (await executionsOf(instance, id)).filter((other) => other !== executionId);
	await until('the sub-executions have ended', async () =>
		(await Promise.all(others.map((other) => readExecution(instance.rest, other)))).every(
			({ status }) => !['running', 'waiting'].includes(status),
		),
	);
	// Nothing that has not finished is listed as a success.
	for (const other of others) {
		const { status, error } = await readExecution(instance.rest, other);
		assert.deepEqual(
			[status, error?.message],
			['canceled', 'The execution was canceled, because nobody waits for its results any more'],
		);
	}
});

test('damaged rows end, with and without a row that can be read', async () => {
	const to = (node: string) => [{ node, type: 'main', index: 0 }];
	const isFinished = {
		combinator: 'and',
		options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
		conditions: [
			{
				id: '1',
				leftValue: "={{ $input.all().every((item) => item.json.details?.gateway_order?.state === 'ended') }}",
				rightValue: '',
				operator: { type: 'boolean', operation: 'true', singleValue: true },
			},
		],
	};
	const nodes: TestNode[] = [
		{
			name: 'Keep Waiting',
			type: packageType('imageGeneration'),
			parameters: { operation: 'durableKeepWaiting' },
			onError: 'continueRegularOutput',
			alwaysOutputData: true,
		},
		{
			name: 'Finished',
			type: 'n8n-nodes-base.if',
			typeVersion: 2.2,
			parameters: { conditions: isFinished, options: {} },
		},
	];
	const connections = {
		Start: { main: [to('Finished')] },
		'Keep Waiting': { main: [to('Finished')] },
		Finished: { main: [[], to('Keep Waiting')] },
	};
	for (const items of [
		[{ unknown: true }],
		[
			{
				error: 'x',
				message: 'y',
				details: { task_id: 'img_1', gateway_order: { task: { taskId: 'img_1' }, version: 0 } },
			},
		],
	]) {
		const executionId = await start(await createWorkflow(instance, items, nodes, {}, connections));
		const execution = await untilFinished(instance.rest, executionId);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.ok((execution.runData['Keep Waiting']?.length ?? 0) <= 3, 'it does not go round and round');
	}
});

test('in the background, Retry On Fail for a refused item keeps the other tasks', async () => {
	const receiver = await saveWorkflow(instance, {
		name: 'Receiver',
		nodes: [{ id: '1', name: 'Start', type: TRIGGER, typeVersion: 1, position: [0, 0], parameters: {} }],
		connections: {},
		settings: { executionOrder: 'v1' },
	} as never);
	await activate(instance, receiver);
	instance.sandbox.faults.add({ on: 'create', match: { promptIncludes: 'refused' }, do: '422', times: 2 } as never);
	const node = {
		...generate({ surviveRestarts: false }),
		onError: 'continueRegularOutput',
		retryOnFail: true,
		maxTries: 2,
		waitBetweenTries: 500,
	};
	Object.assign(node.parameters ?? {}, {
		whenDone: 'startWorkflow',
		workflowId: { __rl: true, mode: 'id', value: receiver },
	});
	const items = ['kept refused', 'kept 1', 'kept 2'].map((prompt) => ({ prompt }));
	const execution = await untilFinished(instance.rest, await start(await createWorkflow(instance, items, [node])));
	const ids = ['kept 1', 'kept 2'].map((word) => tasksOf(word)[0]?.id);
	assert.deepEqual(
		itemsOf(execution, 'Generate')
			.slice(1)
			.map(({ json }) => [json.task_id, json.error, json.execution_id !== undefined]),
		ids.map((id) => [id, undefined, true]),
	);
	for (const word of ['kept 1', 'kept 2']) assert.equal(tasksOf(word).length, 1, 'bought once');
});

/** A workflow that is called with the items of another one. */
async function called(word: string, count: number, mode: string, settings: Record<string, unknown> = {}) {
	const node = generate({ pollIntervalSeconds: 70 });
	const inner = await saveWorkflow(instance, {
		name: 'Called',
		nodes: [
			{
				id: '1',
				name: 'Start',
				type: TRIGGER,
				typeVersion: 1.1,
				position: [0, 0],
				parameters: { inputSource: 'passthrough' },
			},
			{ id: '2', typeVersion: 1, position: [200, 0], ...node, credentials: credentials() },
		],
		connections: { Start: { main: [[{ node: 'Generate', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	} as never);
	await activate(instance, inner);
	const call: TestNode = {
		name: 'Call',
		type: 'n8n-nodes-base.executeWorkflow',
		typeVersion: 1.2,
		parameters: { workflowId: { __rl: true, mode: 'id', value: inner }, mode, options: {} },
	};
	const items = Array.from({ length: count }, (_, index) => ({ prompt: `${word} ${index} [[sandbox duration=3s]]` }));
	const before: TestNode = { name: 'Before', type: 'n8n-nodes-base.noOp' };
	const executionId = await start(await createWorkflow(instance, items, [before, call], settings));
	return { executionId, inner, word, count };
}

test('a workflow that is called by another one loses no result, and sleeps where that is sure', async () => {
	const each = await called('each', 2, 'each');
	const several = await called('several', 2, 'once');
	const visible = await called('visible', 1, 'once', { saveExecutionProgress: true });
	const sleeps = async ({ inner }: typeof each) =>
		(await Promise.all((await executionsOf(instance, inner)).map((id) => readExecution(instance.rest, id)))).some(
			({ status }) => status === 'waiting',
		);
	await until('they sleep', async () => (await sleeps(several)) && (await sleeps(visible)), { everyMs: 1_000 });
	assert.equal(await sleeps(each), false);
	for (const call of [each, several, visible]) {
		const execution = await untilFinished(instance.rest, call.executionId);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.deepEqual(
			itemsOf(execution, 'Call').map(({ json }) => [json.task_id, json.status]),
			Array.from({ length: call.count }, (_, index) => [tasksOf(`${call.word} ${index}`)[0]?.id, 'completed']),
		);
	}
});

test('a called workflow that has failed is retried by itself: nobody waits for it, and its tasks arrive', async () => {
	instance.sandbox.faults.add({ on: 'create', match: { promptIncludes: 'afterwards' }, do: '402' });
	const { executionId, inner } = await called('afterwards', 2, 'once');
	assert.equal((await untilFinished(instance.rest, executionId)).status, 'error');
	const [failed] = await executionsOf(instance, inner);
	const { id } = await instance.rest.request('POST', `/rest/executions/${failed}/retry`, { loadWorkflow: false });
	const retried = await untilFinished(instance.rest, String(id));
	assert.equal(retried.status, 'success', JSON.stringify(retried.error));
	assert.deepEqual(
		itemsOf(retried, 'Generate').map(({ json }) => [json.task_id, json.status]),
		[0, 1].map((index) => [tasksOf(`afterwards ${index}`)[0]?.id, 'completed']),
	);
	assert.equal(tasksOf('afterwards').length, 2, 'bought once');
});
