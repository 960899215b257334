/** Many executions of one item in the background, and another workflow that gets their results. */
import { credentialType } from '../../../tools/n8n/examples.mjs';
import { itemsOf, readExecution } from '../../../tools/n8n/executions.mjs';
import { saveChain } from '../../crash/support/batch.mts';
import { activate, executionsOf, listExecutions } from '../../n8n/support/production.mts';
import { withSlowdown } from '../../n8n/support/slowdown.mts';
import { pause, until } from '../../n8n/support/until.mts';
import { packageType, type Signed, type TestNode } from '../../n8n/support/workflow.mts';
import type { Cluster } from './cluster.mts';

/** A result that has started the other workflow. */
export interface Arrival {
	atMs: number;
	taskId: string;
	/** Of an item that has failed. */
	code: string;
}

/** Calls active workflows by their webhooks. */
export class Background {
	private readonly arrivals = new Map<string, Arrival>();

	private othersRun = 0;

	private constructor(
		private readonly cluster: Cluster,
		private readonly receiverId: string,
		private readonly otherId: string,
		/** The workflow that buys. */
		readonly buyerId: string,
	) {}

	/**
	 * Makes the workflows active: `buy`, which buys the prompt of its call in the background, its receiver, and `other`.
	 *
	 * @param limits settings of the credential
	 */
	static async prepare(cluster: Cluster, limits: Record<string, unknown> = {}): Promise<Background> {
		const signed = await withSettings(cluster, limits);
		const receiverId = await saveActive(signed, 'Receiver', [
			{ name: 'Start', type: 'n8n-nodes-base.executeWorkflowTrigger', typeVersion: 1, parameters: {} },
			{ name: 'Got', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
		]);
		const parameters = {
			prompt: '={{ $json.body.prompt }}',
			result: 'urlOnly',
			wait: 'inAnotherWorkflow',
			workflowId: { __rl: true, mode: 'id', value: receiverId },
			options: { purchaseKey: '={{ $json.body.key ?? "" }}' },
		};
		const buyerId = await saveActive(signed, 'buy', [
			webhook('buy'),
			{ name: 'Generate', type: packageType('imageGeneration'), parameters, onError: 'continueRegularOutput' },
		]);
		const otherId = await saveActive(signed, 'other', [
			webhook('other'),
			{ name: 'Answer', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
		]);
		return new Background(cluster, receiverId, otherId, buyerId);
	}

	async call(path: 'buy' | 'other', body: Record<string, unknown> = {}): Promise<void> {
		const answer = await fetch(`${this.cluster.main.url}/webhook/${path}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', connection: 'close' },
			body: JSON.stringify(body),
		});
		if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
	}

	/**
	 * Calls another workflow. Returns the milliseconds until it has run, by its execution: n8n never answers a webhook that responds
	 * after the last node, where the worker has finished before the main process listens for the end of the job.
	 */
	private async runOther(): Promise<number> {
		const begunAtMs = Date.now();
		await this.call('other');
		this.othersRun += 1;
		await until('another workflow has run', async () => {
			const executions = await listExecutions(this.cluster, this.otherId);
			return executions.filter(({ status }) => status === 'success').length >= this.othersRun;
		});
		return Date.now() - begunAtMs;
	}

	/** The results so far; those that are known are not read again. */
	async arrived(): Promise<Arrival[]> {
		const { rest } = this.cluster;
		for (const id of await executionsOf(this.cluster, this.receiverId)) {
			if (this.arrivals.has(id)) continue;
			const execution = await readExecution(rest, id);
			const [item] = itemsOf(execution, 'Start');
			if (item === undefined) continue;
			const { task_id: taskId = '', code = '' } = item.json;
			const atMs = Date.parse(String(execution.record.startedAt));
			this.arrivals.set(id, { atMs, taskId: String(taskId), code: String(code) });
		}
		return [...this.arrivals.values()];
	}

	/** What n8n says of the executions that have not come to a good end, for a test that misses a result. */
	async left(): Promise<string> {
		const { rest } = this.cluster;
		const executions = await listExecutions(this.cluster, this.buyerId);
		const count = executions.length + (await executionsOf(this.cluster, this.receiverId)).length;
		const left = executions.filter(({ status }) => status !== 'success');
		const told = left.map(async ({ id, mode, status }) => {
			const { record, error, runData } = await readExecution(rest, id);
			const about = { startedAt: record.startedAt, waitTill: record.waitTill, error, ran: Object.keys(runData ?? {}) };
			return `${id} ${mode} ${status} ${JSON.stringify(about).slice(0, 1_000)}`;
		});
		return [`${count} executions`, ...(await Promise.all(told))].join('\n');
	}

	/**
	 * Waits for so many results, and runs another workflow again and again. Returns how long each run took, in milliseconds of a
	 * machine that does nothing else.
	 */
	async untilArrived(count: number, { withinMs }: { withinMs: number }): Promise<number[]> {
		const othersMs: number[] = [];
		const begunAtMs = Date.now();
		while ((await this.arrived()).length < count && Date.now() < begunAtMs + withinMs) {
			const { result: tookMs, slowdown } = await withSlowdown(this.runOther());
			othersMs.push(Math.round(tookMs / slowdown));
			await pause(ASK_EVERY_MS);
		}
		return othersMs;
	}
}

const ASK_EVERY_MS = 5_000;

async function withSettings({ rest, credential }: Signed, settings: Record<string, unknown>): Promise<Signed> {
	const data = { ...credential.data, advanced: true, ...settings };
	const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Other', type: credentialType, data });
	return { rest, credential: { id: String(id), name: String(name), data } };
}

async function saveActive(signed: Signed, name: string, nodes: TestNode[]): Promise<string> {
	const id = await saveChain(signed, name, nodes);
	await activate(signed, id);
	return id;
}

const webhook = (path: string): TestNode => ({
	name: 'Webhook',
	type: 'n8n-nodes-base.webhook',
	typeVersion: 2,
	webhookId: path,
	parameters: { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} },
});
