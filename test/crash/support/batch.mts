/** Production executions that generate images: started by a webhook, in workflows with n8n's own settings. */
import { itemsOf, readExecution, untilFinished, type Execution } from '../../../tools/n8n/executions.mjs';
import { activate, executionsOf, listExecutions, saveWorkflow } from '../../n8n/support/production.mts';
import { until } from '../../n8n/support/until.mts';
import { packageType, type Signed, type TestNode } from '../../n8n/support/workflow.mts';
import type { Target } from './target.mts';

/** The request of one execution. */
export interface Order {
	/** No other execution has the same. */
	name: string;
	prompts: string[];
	survives: boolean;
	/** Purchase Log is on in the credential. */
	logs?: boolean;
	options?: Record<string, unknown>;
	/** A node before or behind Generate hangs the first time that it runs. */
	hangs?: 'before' | 'behind';
	/** The time that it hangs, such as `60s`; for ever if not given. */
	hangsFor?: string;
	/** Concurrent Tasks, where there are more items than that. */
	places?: number;
	/** The items with `model=any` in their prompts have another model: another canary. */
	hasTwoModels?: boolean;
	/** Of the account. */
	requestsPerSecond: number;
	/** The nodes stand in the workflow the other way round: n8n keeps the order in which a user has added them. */
	isBackwards?: boolean;
}

export interface Batch extends Order {
	workflowId: string;
	/** Of the webhook. */
	url: string;
}

/** The address that the node behind or before Generate asks. */
export const pathOf = ({ name }: Order) => `/thumbnails/${name}.png`;

const OF_TWO_MODELS = {
	model: 'custom',
	customModelId: '={{ $("Split").item.json.prompt.includes("model=any") ? "another-model" : "gamma-image-2" }}',
	customBody: '={{ JSON.stringify({ prompt: $("Split").item.json.prompt }) }}',
};

/** They generate an image for each item of the node "Split", and add to each result what was asked for. */
export const buyingNodes = (
	{ survives, options, hasTwoModels }: Pick<Order, 'survives' | 'options' | 'hasTwoModels'>,
	settings: Partial<TestNode> = {},
): TestNode[] => [
	{
		name: 'Generate',
		type: packageType('imageGeneration'),
		typeVersion: 1,
		parameters: {
			...(hasTwoModels ? OF_TWO_MODELS : { prompt: '={{ $("Split").item.json.prompt }}' }),
			result: 'file',
			wait: survives ? 'acrossRestarts' : 'untilReady',
			options,
		},
		...settings,
	},
	{
		name: 'Result',
		type: 'n8n-nodes-base.set',
		typeVersion: 3.4,
		parameters: {
			assignments: {
				assignments: [{ id: 'a', name: 'asked', type: 'string', value: '={{ $("Split").item.json.prompt }}' }],
			},
			includeOtherFields: true,
			options: {},
		},
	},
];

/** A webhook takes the items, and each goes on by itself. */
export const webhookNodes = (path: string): TestNode[] => [
	{
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: path,
		parameters: { httpMethod: 'POST', path, options: {} },
	},
	{
		name: 'Split',
		type: 'n8n-nodes-base.splitOut',
		typeVersion: 1,
		parameters: { fieldToSplitOut: 'body.items', options: {} },
	},
];

/** Saves a workflow of nodes one after the other. Returns its id. */
export async function saveChain(
	target: Signed,
	name: string,
	nodes: TestNode[],
	{ isBackwards = false } = {},
): Promise<string> {
	const chain = nodes.map((node, index) => ({ id: `${name}-${index}`, position: [220 * index, 0], ...node }));
	return await saveWorkflow(target, {
		name,
		settings: { executionOrder: 'v1' },
		nodes: isBackwards ? chain.reverse() : chain,
		connections: Object.fromEntries(
			nodes
				.slice(1)
				.map((node, index) => [nodes[index]?.name, { main: [[{ node: node.name, type: 'main', index: 0 }]] }]),
		),
	});
}

/** Makes the workflow active. It has not been executed yet. */
export async function prepareBatch(
	target: Pick<Target, 'rest' | 'credential' | 'sandbox' | 'url'>,
	order: Order,
): Promise<Batch> {
	const { name, survives, logs, hangs, hangsFor = 'never', isBackwards, places, hasTwoModels } = order;
	const options = { ...order.options, ...(places === undefined ? {} : { concurrentTasks: places }) };
	// What is in doubt must not hide what has arrived.
	const settings = logs ? { onError: 'continueRegularOutput' as const } : {};
	const { sandbox, url } = target;
	const ask = {
		name: 'Hang',
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: { url: sandbox.filesUrl + pathOf(order), options: {} },
	};
	if (hangs) sandbox.faults.add({ on: 'file', match: { path: pathOf(order) }, do: `slow:${hangsFor}` });
	const nodes = [
		...webhookNodes(name),
		...(hangs === 'before' ? [ask] : []),
		...buyingNodes({ survives, options, hasTwoModels }, settings),
		...(hangs === 'behind' ? [ask] : []),
	];
	const workflowId = await saveChain(target, name, nodes, { isBackwards });
	await activate(target, workflowId);
	return { ...order, workflowId, url: `${url}/webhook/${name}` };
}

export async function startBatch({ url, prompts }: Pick<Batch, 'url' | 'prompts'>): Promise<void> {
	const answer = await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ items: prompts.map((prompt) => ({ prompt })) }),
	});
	if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
}

/** Of the batch, in the order in which they were accepted. */
export const tasksOf = ({ sandbox }: Pick<Target, 'sandbox'>, { prompts }: Pick<Batch, 'prompts'>) =>
	sandbox.tasks.filter(({ body }) => prompts.includes(String(body.prompt)));

/** The creating requests of the batch, accepted or not. */
export const creationsOf = ({ sandbox }: Pick<Target, 'sandbox'>, { prompts }: Pick<Batch, 'prompts'>) =>
	sandbox.requests.filter(
		({ method, body }) =>
			method === 'POST' && prompts.includes(String((body as { prompt?: unknown } | undefined)?.prompt)),
	);

/** True once the execution sleeps in the database. */
export async function isAsleep(target: Target, { workflowId }: Batch): Promise<boolean> {
	return (await listExecutions(target, workflowId))[0]?.status === 'waiting';
}

/** The execution that the webhook has started first, and after it those that it has started itself. */
async function executionsOfBatch(target: Target, { workflowId }: Batch): Promise<Execution[]> {
	return await Promise.all(
		(await executionsOf(target, workflowId)).map(async (id) => await readExecution(target.rest, id)),
	);
}

/**
 * Waits until nothing of it runs any more. What a dead worker had started itself is said to run for hours: only the
 * execution that the webhook has started counts there.
 */
export async function untilSettled(target: Target, batch: Batch): Promise<Execution[]> {
	let statuses: string[] = [];
	await until(
		`${batch.name} has settled`,
		async () => {
			const executions = await listExecutions(target, batch.workflowId);
			statuses = executions.map(({ id, status }) => `${id} ${status}`);
			return executions
				.slice(0, target.victim === 'n8n' ? undefined : 1)
				.every(({ status }) => !['new', 'running', 'waiting'].includes(status));
		},
		{ everyMs: 2_000 },
	).catch((thrown: Error) => {
		throw new Error(`${thrown.message}: ${statuses.join(', ')}`);
	});
	const [first] = await executionsOf(target, batch.workflowId);
	if (first !== undefined) await untilFinished(target.rest, first);
	return await executionsOfBatch(target, batch);
}

/**
 * Undefined where n8n refuses it. It is followed in the list of executions, as a user does: n8n's own answer comes when the
 * retry has ended, and a busy queue has been seen to leave it out.
 */
export async function retry(
	target: Pick<Target, 'rest' | 'credential'>,
	executionId: string,
	loadWorkflow: boolean,
): Promise<Execution | undefined> {
	const { rest } = target;
	const { workflowId } = await rest.request('GET', `/rest/executions/${executionId}`);
	const retries = async () =>
		(await listExecutions(target, workflowId)).filter(({ retryOf }) => String(retryOf) === executionId);
	const earlier = new Set((await retries()).map(({ id }) => id));
	let refusal: unknown;
	let id: string | undefined;
	void rest.request('POST', `/rest/executions/${executionId}/retry`, { loadWorkflow }).catch((error: unknown) => {
		refusal = error;
	});
	await until(
		`the retry of execution ${executionId} has started`,
		async () => {
			id = (await retries()).find((each) => !earlier.has(each.id))?.id;
			return id !== undefined || refusal !== undefined;
		},
		{ everyMs: 500 },
	);
	if (id !== undefined) return await untilFinished(rest, String(id));
	if (/cannot be retried|aborted before starting/.test(String(refusal))) return undefined;
	throw refusal;
}

/** n8n makes up an output for nodes of which it has saved none, so the last run counts. */
export function resultsIn(execution: Execution) {
	return itemsOf(execution, 'Result', { run: (execution.runData.Result?.length ?? 0) - 1 });
}
