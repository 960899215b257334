/** People change things in n8n while tasks sleep in its database: the workflow, the credential, the project. The package: upgrade.test.mts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { startSandbox } from '../../sandbox/index.mts';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { sandboxKey, startInstance, type Instance } from './support/instance.mts';
import { executionsOf } from './support/production.mts';
import { readPurchases } from './support/purchaseLog.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType, waitForTasks } from './support/workflow.mts';

const OLD_KEY = 'old-key';
const NEW_KEY = 'new-key';

/** n8n keeps a sleep of more than 66 s in its database. */
const ASLEEP_SECONDS = 80;

const NAMES = ['archived', 'deleted', 'key', 'address', 'credential', 'moved', 'unshared'] as const;
type Name = (typeof NAMES)[number];

interface Batch {
	workflowId: string;
	executionId: string;
	credentialId: string;
}

let instance: Instance;
let elsewhere: Awaited<ReturnType<typeof startSandbox>>;
const batches = {} as Record<Name, Batch>;
let pollsBeforeDeletion = 0;
let otherProjectId: string;

const taskOf = (name: Name) =>
	instance.sandbox.tasks.find(({ body }) => String(body.prompt).startsWith(name))?.id ?? '?';
const pollsOf = (id: string) => instance.sandbox.requests.filter(({ path }) => path.includes(id)).length;
const finish = async (name: Name) => await untilFinished(instance.rest, batches[name].executionId);
const request = async (method: string, path: string, body?: object) => await instance.rest.request(method, path, body);

const dataOf = (more: object = {}) => ({ baseUrl: instance.sandbox.baseUrl, apiKey: instance.sandbox.apiKey, ...more });
const updateCredential = async (name: Name, more: object) =>
	await request('PATCH', `/rest/credentials/${batches[name].credentialId}`, {
		name,
		type: credentialType,
		data: dataOf(more),
	});

async function start(name: Name): Promise<Batch> {
	const data = dataOf(name === 'key' ? { apiKey: OLD_KEY } : {});
	const { id } = await request('POST', '/rest/credentials', { name, type: credentialType, data });
	const credential = { id: String(id), name, data };
	const parameters = {
		prompt: '={{ $json.prompt }}',
		wait: 'acrossRestarts',
		options: { pollIntervalSeconds: ASLEEP_SECONDS },
	};
	const generate = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const items = [{ prompt: `${name} [[sandbox duration=never]]` }];
	const workflowId = await createWorkflow({ ...instance, credential }, items, [generate]);
	return {
		workflowId,
		credentialId: String(id),
		executionId: await startExecution(instance.rest, workflowId, 'Start'),
	};
}

/** Waits until the execution, its supervisor and its poller sleep. */
async function untilAsleep(name: Name): Promise<void> {
	let states: string[] = [];
	const isAsleep = async () => {
		const ids = await executionsOf(instance, batches[name].workflowId);
		states = (await Promise.all(ids.map((id) => readExecution(instance.rest, id)))).map(({ status }) => status);
		return states.length === 3 && states.every((status) => status === 'waiting');
	};
	await until(`${name} sleeps`, isAsleep).catch((thrown: unknown) => {
		throw new Error(`${String(thrown)}: its executions are ${states.join()}`);
	});
}

/** A project that is not the owner's: that of a person who was invited. */
async function otherProject(): Promise<string> {
	await request('POST', '/rest/invitations', [{ email: 'member@example.com', role: 'global:member' }]);
	const projects = (await request('GET', '/rest/projects')) as Array<{ id: string; name: string }>;
	return String(projects.find(({ name }) => name.includes('member@example.com'))?.id);
}

/** The changes that people make to what the executions need. */
const CHANGES: Record<Name, () => Promise<unknown>> = {
	archived: async () => await archive('archived'),
	deleted: async () => {
		await archive('deleted');
		await request('DELETE', `/rest/workflows/${batches.deleted.workflowId}`);
		pollsBeforeDeletion = pollsOf(taskOf('deleted'));
	},
	key: async () => {
		await updateCredential('key', { apiKey: NEW_KEY });
		for (const user of instance.sandbox.users) if (user.key === OLD_KEY) user.key = NEW_KEY;
	},
	address: async () => await updateCredential('address', { baseUrl: elsewhere.baseUrl }),
	credential: async () => await request('DELETE', `/rest/credentials/${batches.credential.credentialId}`),
	moved: async () => await moveToOther('moved', [batches.moved.credentialId]),
	unshared: async () => await moveToOther('unshared', []),
};

const archive = async (name: Name) => await request('POST', `/rest/workflows/${batches[name].workflowId}/archive`, {});
const moveToOther = async (name: Name, shareCredentials: string[]) =>
	await request('PUT', `/rest/workflows/${batches[name].workflowId}/transfer`, {
		destinationProjectId: otherProjectId,
		shareCredentials,
	});

before(async () => {
	instance = await startInstance({ sandbox: { apiKeys: [sandboxKey, OLD_KEY] } });
	elsewhere = await startSandbox({ port: 0, filesPort: 0 });
	otherProjectId = await otherProject();
	for (const name of NAMES) batches[name] = await start(name);
	// Each when it sleeps: on a busy machine, some of them are awake at any time.
	await Promise.all(
		NAMES.map(async (name) => {
			await untilAsleep(name);
			await CHANGES[name]();
		}),
	);
	instance.sandbox.release();
});
after(async () => {
	await instance?.close();
	await elsewhere?.close();
});

function assertArrived(name: Name, execution: Execution) {
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const [item] = itemsOf(execution, 'Generate');
	assert.deepEqual([item?.json.task_id, item?.json.status], [taskOf(name), 'completed']);
}

describe('while tasks sleep', { concurrency: true }, () => {
	for (const [name, what] of [
		['archived', 'the workflow is archived'],
		['key', 'the key is rotated'],
		['moved', 'the workflow moves to another project, with its credential'],
	] as const)
		test(`${what}: the results arrive`, async () => assertArrived(name, await finish(name)));

	test('the address changes: the error names the task, and says that the Base URL is another one now', async () => {
		const { status, error } = await finish('address');
		assert.equal(status, 'error');
		assert.match(
			error?.message,
			new RegExp(
				`^The service accepted task ${taskOf('address')}, but the Base URL in the credential is another one now`,
			),
		);
	});

	test('the credential is deleted: the error names the task, and says what is missing', async () => {
		const { status, error } = await finish('credential');
		assert.equal(status, 'error');
		assert.match(
			error?.message,
			new RegExp(`^Waiting for task ${taskOf('credential')} was interrupted: Credential with ID .* does not exist`),
		);
	});

	test('the credential is not shared with the project of the workflow: n8n says so, and the IDs are in log and table', async () => {
		const { status, error } = await finish('unshared');
		assert.equal(status, 'error');
		assert.match(error?.message, /does not have access to the credential/);
		await assertIdIsKept('unshared');
	});

	test('the workflow is deleted with its executions: the ID is in log and table, and Get Result gets the result', async () => {
		await assertIdIsKept('deleted');
		const { rest } = instance;
		const id = taskOf('deleted');
		// The others have all been asked for by then, and this one would have been, too.
		await finish('archived');
		assert.equal(pollsOf(id), pollsBeforeDeletion, 'no execution asks for it');
		const again = await createWorkflow(instance, [{ task_id: id }], [waitForTasks]);
		const { status } = await untilFinished(rest, await startExecution(rest, again, 'Start'));
		assert.equal(status, 'success');
	});
});

async function assertIdIsKept(name: Name) {
	const id = taskOf(name);
	assert.match(readFileSync(instance.n8n.logFile, 'utf8'), new RegExp(`task ${id} .*was accepted`));
	assert.ok((await readPurchases(instance)).some(({ task_id: taskId }) => taskId === id));
}
