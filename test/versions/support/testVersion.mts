/** The tests of every n8n version that the package supports. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { N8nVersion } from '../../../tools/install/n8n.mjs';
import { credentialType } from '../../../tools/n8n/examples.mjs';
import {
	itemsOf,
	readExecution,
	startExecution,
	stopExecution,
	untilFinished,
} from '../../../tools/n8n/executions.mjs';
import { manifest } from '../../../tools/paths.mjs';
import { sandboxKey, signIn, startInstance, type Instance } from '../../n8n/support/instance.mts';
import { executionsOf } from '../../n8n/support/production.mts';
import { pause, until } from '../../n8n/support/until.mts';
import { createWorkflow, oneStep, packageType, type Signed } from '../../n8n/support/workflow.mts';
import { cut, flood, startHostile, TASK_ID, type Answer } from '../../support/hostile.mts';

const imageTaskMs = 400;
/** The node polls once a second here. */
const MORE_THAN_A_POLL_MS = 1_500;

/** They do not pass on what a sub-execution that has slept ends with. */
const withoutDurableWait = new Set<N8nVersion>(['1.123.0', '2.0.0']);

/** They have no name for an execution that its retries share. */
const withoutDataTables = new Set<N8nVersion>(['1.123.0', '2.0.0']);

export function testVersion(version: N8nVersion): void {
	let instance: Instance;
	before(async () => {
		instance = await startInstance({ editor: true, version, sandbox: { imageTaskMs } });
	});
	after(() => instance?.close());
	beforeEach(() => instance.sandbox.reset());

	test(`n8n ${version} is the one that runs, and it has loaded every node and the credential`, async () => {
		const { rest } = instance;
		assert.equal((await rest.request('GET', '/rest/settings')).versionCli, version);
		const types: Array<{ name: string }> = await rest.request('GET', '/types/nodes.json');
		const names = new Set(types.map(({ name }) => name));
		const { nodes } = manifest.n8n;
		assert.ok(nodes.length > 0);
		for (const file of nodes) assert.ok(names.has(nodeType(file)), `${nodeType(file)} is loaded`);
		const credentials: Array<{ name: string }> = await rest.request('GET', '/types/credentials.json');
		assert.ok(credentials.some(({ name }) => name === credentialType));
		assert.doesNotMatch(log(instance), /(error|failed|unable).*generation-gateway/i);
	});

	test('the credential test passes, and says so when the key is wrong', async () => {
		assert.deepEqual(await pressTestButton(instance, {}), {
			status: 'OK',
			message: 'The service answered and accepted the API key',
		});
		const refused = await pressTestButton(instance, { apiKey: 'sk-wrong-wrong-wrong' });
		assert.equal(refused.status, 'Error');
		assert.match(refused.message, /did not accept the API key/);
	});

	test('one image, with its file', async () => {
		const execution = await untilFinished(instance.rest, await startGenerate(instance, ['a lighthouse']));
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		const [item] = itemsOf(execution, 'Generate');
		assert.equal(item?.json.status, 'completed');
		assert.equal(item?.binary?.data?.mimeType, 'image/png');
		const file = await instance.rest.readBinary(item.binary.data.id);
		assert.equal(file.subarray(1, 4).toString(), 'PNG');
		assert.ok(log(instance).includes(item.json.task_id), 'the log names the task');
	});

	test('a token, with the hint to store its key', async () => {
		const node = { name: 'Create', type: packageType('token'), parameters: { name: 'For a test', quota: 'unlimited' } };
		const id = await createWorkflow(instance, [{}], [node]);
		const execution = await untilFinished(instance.rest, await startExecution(instance.rest, id, 'Start'));
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.match(itemsOf(execution, 'Create')[0]?.json.api_key, /^sk-/);
		assert.match(JSON.stringify(execution.runData.Create?.[0]?.hints), /store it now/);
	});

	test('Across Restarts: a sub-execution waits where n8n can do that, elsewhere the node waits itself and says so', async () => {
		const executionId = await startGenerate(instance, ['a lighthouse', 'a bridge'], {
			wait: 'acrossRestarts',
		});
		const execution = await untilFinished(instance.rest, executionId);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.deepEqual(
			itemsOf(execution, 'Generate').map(({ json, binary }) => [json.status, binary?.data?.mimeType]),
			[1, 2].map(() => ['completed', 'image/png']),
		);
		const executions = await executionsOf(instance, execution.record.workflowId);
		const hints = JSON.stringify(execution.runData.Generate?.[0]?.hints ?? []);
		if (withoutDurableWait.has(version)) {
			assert.equal(executions.length, 1);
			assert.match(hints, /Across Restarts has no effect here: .*the node waits in memory/);
		} else {
			assert.equal(executions.length, 3);
			assert.doesNotMatch(hints, /Across Restarts/);
		}
		assert.equal(instance.sandbox.tasks.length, 2);
	});

	test('Purchase Log: rows where n8n can keep them, elsewhere the node works as without it and says so; a key needs the log', async () => {
		const { rest, sandbox } = instance;
		const options = { pollIntervalSeconds: 1, purchaseKey: '={{ $json.prompt === "plain" ? "" : $json.prompt }}' };
		const settings = { onError: 'continueRegularOutput' };
		const executionId = await startGenerate(instance, ['plain', 'keyed'], { options }, settings);
		const execution = await untilFinished(rest, executionId);
		const [plain, keyed] = itemsOf(execution, 'Generate').map(({ json }) => json);
		const hints = JSON.stringify(execution.runData.Generate?.[0]?.hints ?? []);
		assert.equal(plain?.status, 'completed', JSON.stringify(plain));
		if (withoutDataTables.has(version)) {
			assert.match(hints, /are not recorded in the data table/);
			assert.equal(keyed?.code, 'purchase_log_unavailable', JSON.stringify(keyed));
			assert.equal(sandbox.tasks.length, 1);
		} else {
			assert.doesNotMatch(hints, /in the data table/);
			assert.equal(keyed?.status, 'completed', JSON.stringify(keyed));
			assert.equal(sandbox.tasks.length, 2);
		}
	});

	test('an item that did not succeed goes to the error branch with its task', async () => {
		const prompts = ['good', 'bad [[sandbox fail=generation_failed]]'];
		const execution = await untilFinished(
			instance.rest,
			await startGenerate(instance, prompts, {}, { onError: 'continueErrorOutput' }),
		);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.equal(itemsOf(execution, 'Generate').length, 1);
		const [failed] = itemsOf(execution, 'Generate', { output: 1 });
		assert.ok(failed?.json.error);
		assert.ok(failed?.json.details.task_id);
	});

	test('In Another Workflow begins only where n8n can wait in its database, and says so before anything is submitted', async () => {
		const startsWorkflow = { wait: 'inAnotherWorkflow', workflowId: { __rl: true, mode: 'id', value: 'nothere' } };
		const execution = await untilFinished(instance.rest, await startGenerate(instance, ['unpaid'], startsWorkflow));
		const expected = withoutDurableWait.has(version)
			? /Wait cannot be In Another Workflow here: it needs n8n 2\.41 or later/
			: /is not published or no longer exists/;
		assert.match(execution.error?.message, expected);
		assert.deepEqual(instance.sandbox.tasks, []);
	});

	test('a service that answers without end, or not to the end: it is sent one request to create, and n8n goes on', async () => {
		const hostile = await startHostile();
		try {
			const { credential } = await signIn(instance.n8n.url, hostile);
			const messageAfter = async (answers: Partial<Record<'create' | 'poll', Answer>>) => {
				hostile.reset();
				Object.assign(hostile.answers, answers);
				const execution = await untilFinished(
					instance.rest,
					await startGenerate({ ...instance, credential }, ['a lighthouse'], { result: 'urlOnly' }),
				);
				assert.equal(hostile.posts(), 1);
				return String(execution.error?.message);
			};
			for (const create of [flood('{"a":'), cut('{"a":')])
				assert.match(await messageAfter({ create }), /^The service may or may not have accepted this task/);
			const tooLarge = `The service accepted task ${TASK_ID}, but its record is too large for this node`;
			assert.equal(await messageAfter({ poll: flood('{"a":') }), tooLarge);
		} finally {
			await hostile.close();
		}
	});

	test('a stop ends the wait, sends nothing more, and the tasks are in the log', async () => {
		const prompts = [1, 2, 3].map((index) => `picture ${index} [[sandbox duration=120s]]`);
		const executionId = await startGenerate(
			instance,
			prompts,
			{},
			{ retryOnFail: true, maxTries: 3, waitBetweenTries: 100 },
		);
		await until('all tasks are accepted', () => instance.sandbox.tasks.length >= prompts.length);
		// All answers have arrived then, and the tasks are waited for.
		await until('their IDs are in the log', () => instance.sandbox.tasks.every(({ id }) => log(instance).includes(id)));
		await stopExecution(instance.rest, executionId);
		assert.equal((await untilFinished(instance.rest, executionId)).status, 'canceled');
		await until('the node itself has ended', () =>
			log(instance).includes('the execution was stopped, still running at the service: '),
		);
		const requests = instance.sandbox.requests.length;
		await pause(MORE_THAN_A_POLL_MS);
		assert.equal(instance.sandbox.requests.length, requests, 'no request leaves after the stop');
		assert.equal(instance.sandbox.tasks.length, prompts.length, 'and nothing was bought again');
		const { record } = await readExecution(instance.rest, executionId);
		assert.ok(
			JSON.stringify(record).includes(instance.sandbox.tasks[0]?.id ?? '?'),
			'the custom data names the first task',
		);
	});
}

const log = ({ n8n }: Instance) => n8n.server.lastLines(10_000);

/** dist/nodes/Balance/Balance.node.js is n8n-nodes-generation-gateway.balance */
function nodeType(file: string): string {
	const className = /([^/]+)\.node\.js$/.exec(file)?.[1] ?? '';
	return packageType(`${className.charAt(0).toLowerCase()}${className.slice(1)}`);
}

async function pressTestButton({ rest, credential: { id, name, data } }: Instance, changes: { apiKey?: string }) {
	const credentials = { id, name, type: credentialType, data: { ...data, apiKey: sandboxKey, ...changes } };
	const answer: { status: string; message: string } = await rest.request('POST', '/rest/credentials/test', {
		credentials,
	});
	return answer;
}

/** Starts a workflow with one Gateway Image node and an item for each prompt. */
async function startGenerate(
	signed: Signed,
	prompts: string[],
	parameters: Record<string, unknown> = {},
	settings: Record<string, unknown> = {},
): Promise<string> {
	const nodes = oneStep.map((node) => ({ ...node, ...settings, parameters: { ...node.parameters, ...parameters } }));
	const id = await createWorkflow(
		signed,
		prompts.map((prompt) => ({ prompt })),
		nodes,
	);
	return await startExecution(signed.rest, id, 'Start');
}
