/** Many executions of one item in the background, and an account that runs few tasks at once: most wait for a free place. */
import { credentialType } from '../../../tools/n8n/examples.mjs';
import { itemsOf, readExecution } from '../../../tools/n8n/executions.mjs';
import { saveChain } from '../../crash/support/batch.mts';
import { activate, executionsOf } from '../../n8n/support/production.mts';
import { pause } from '../../n8n/support/until.mts';
import { packageType, type Signed, type TestNode } from '../../n8n/support/workflow.mts';
import type { Cluster } from './cluster.mts';

interface Load {
	executions: number;
	/** Concurrent Tasks of the Account. */
	places: number;
	taskSeconds: number;
	/** All results must be there by then. */
	withinMs: number;
}

interface Seen {
	/** Of another workflow that is called meanwhile: until its answer. */
	answersMs: number[];
	/** From the end of each task until the other workflow has started with its result. */
	lateMs: number[];
	codes: string[];
	tookMs: number;
}

const ASK_EVERY_MS = 5_000;

export async function fillAccount(cluster: Cluster, load: Load): Promise<Seen> {
	const { rest, sandbox, main } = cluster;
	const signed = await withPlaces(cluster, load.places);
	const receiverId = await saveActive(signed, 'Receiver', [
		{ name: 'Start', type: 'n8n-nodes-base.executeWorkflowTrigger', typeVersion: 1, parameters: {} },
		{ name: 'Got', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
	]);
	await saveActive(signed, 'buy', [
		webhook('buy', 'onReceived'),
		{
			name: 'Generate',
			type: packageType('imageGeneration'),
			parameters: {
				prompt: '={{ $json.body.prompt }}',
				result: 'urlOnly',
				wait: 'inAnotherWorkflow',
				workflowId: { __rl: true, mode: 'id', value: receiverId },
			},
			onError: 'continueRegularOutput',
		},
	]);
	await saveActive(signed, 'other', [
		webhook('other', 'lastNode'),
		{ name: 'Answer', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
	]);
	const call = async (path: string, prompt = '') => {
		const begunAtMs = Date.now();
		const answer = await fetch(`${main.url}/webhook/${path}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ prompt }),
		});
		if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
		return Date.now() - begunAtMs;
	};

	const begunAtMs = Date.now();
	for (let each = 0; each < load.executions; each++)
		await call('buy', `picture ${each} [[sandbox duration=${load.taskSeconds}s]]`);
	const results = new Map<string, { atMs: number; taskId: string; code: string }>();
	const answersMs: number[] = [];
	const read = async (id: string) => {
		const { runData, record } = await readExecution(rest, id);
		const [item] = itemsOf({ id, status: '', runData, record }, 'Start');
		if (item === undefined) return;
		const { task_id: taskId = '', code = '' } = item.json;
		results.set(id, { atMs: Date.parse(String(record.startedAt)), taskId: String(taskId), code: String(code) });
	};
	while (results.size < load.executions && Date.now() < begunAtMs + load.withinMs) {
		answersMs.push(await call('other'));
		for (const id of await executionsOf(signed, receiverId)) if (!results.has(id)) await read(id);
		await pause(ASK_EVERY_MS);
	}
	const all = [...results.values()];
	return {
		answersMs,
		lateMs: all.flatMap(({ atMs, taskId }) => {
			const task = sandbox.tasks.find(({ id }) => id === taskId);
			return task === undefined ? [] : [atMs - task.endsAt];
		}),
		codes: all.map(({ code }) => code),
		tookMs: Date.now() - begunAtMs,
	};
}

async function withPlaces({ rest, credential }: Signed, concurrentTasks: number): Promise<Signed> {
	const data = { ...credential.data, advanced: true, concurrentTasks };
	const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Full', type: credentialType, data });
	return { rest, credential: { id: String(id), name: String(name), data } };
}

async function saveActive(signed: Signed, name: string, nodes: TestNode[]): Promise<string> {
	const id = await saveChain(signed, name, nodes);
	await activate(signed, id);
	return id;
}

const webhook = (path: string, responseMode: 'onReceived' | 'lastNode'): TestNode => ({
	name: 'Webhook',
	type: 'n8n-nodes-base.webhook',
	typeVersion: 2,
	webhookId: path,
	parameters: { httpMethod: 'POST', path, responseMode, options: {} },
});
