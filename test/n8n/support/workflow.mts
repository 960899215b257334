/** Makes workflows for tests: a trigger with items, and nodes one after the other. */
import type { Instance } from './instance.mts';

/** The parts that a workflow needs: n8n, and a credential in it. */
export type Signed = Pick<Instance, 'rest' | 'credential'>;

export const packageType = (name: string) => `n8n-nodes-generation-gateway.${name}`;

export interface TestNode {
	name: string;
	type: string;
	parameters?: Record<string, unknown>;
	/** Settings of the node beside its parameters, e.g. `retryOnFail`. */
	[setting: string]: unknown;
}

/** Makes the workflow in n8n. It starts with a manual trigger "Start", which puts out the items. Returns its id. */
export async function createWorkflow(
	{ rest, credential }: Signed,
	items: Array<Record<string, unknown>>,
	nodes: TestNode[],
	settings: Record<string, unknown> = {},
	/** In place of one node after the other. */
	connections: Record<string, unknown> = {},
): Promise<string> {
	const chain: TestNode[] = [{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' }, ...nodes];
	const { id } = await rest.request('POST', '/rest/workflows', {
		name: 'Test',
		active: false, // n8n 2.0 needs to be told
		settings: { executionOrder: 'v1', ...settings },
		nodes: chain.map((node, index) => ({
			id: String(index),
			typeVersion: 1,
			position: [200 * index, 0],
			parameters: {},
			...(node.type.startsWith(packageType('')) && {
				credentials: { generationGatewayApi: { id: credential.id, name: credential.name } },
			}),
			...node,
		})),
		connections: {
			...Object.fromEntries(
				chain
					.slice(1)
					.map(({ name }, index) => [chain[index]?.name, { main: [[{ node: name, type: 'main', index: 0 }]] }]),
			),
			...connections,
		},
		pinData: { Start: items.map((json) => ({ json })) },
	});
	return String(id);
}

/** Generates the images of the prompts, and waits for them: one step. */
export const oneStep: TestNode[] = [
	{
		name: 'Generate',
		type: packageType('imageGeneration'),
		parameters: { prompt: '={{ $json.prompt }}', result: 'file', options: { pollIntervalSeconds: 1 } },
	},
];

/** Continues with tasks that exist. */
export const waitForTasks: TestNode = {
	name: 'Wait',
	type: packageType('imageGeneration'),
	parameters: {
		operation: 'getResult',
		taskId: '={{ $json.task_id }}',
		result: 'file',
		options: { pollIntervalSeconds: 1 },
	},
};

/** The pattern for long jobs: the step that buys ends at once, so that n8n can save what it bought. */
export const twoSteps: TestNode[] = [
	{
		name: 'Generate',
		type: packageType('imageGeneration'),
		parameters: { prompt: '={{ $json.prompt }}', wait: 'dontWait' },
	},
	waitForTasks,
];

/** n8n keeps a wait of 65 s and more in its database, a shorter one in memory. */
const storedWaitSeconds = 66;

/** The pattern for long jobs in an n8n that has no Across Restarts: the execution sleeps between two checks. */
export async function createWaitLoop(signed: Signed, items: Array<{ prompt: string }>): Promise<string> {
	const to = (node: string) => [{ node, type: 'main', index: 0 }];
	const isFinished = {
		id: '1',
		leftValue: '={{ ["completed", "failed"].includes($json.status) }}',
		rightValue: '',
		operator: { type: 'boolean', operation: 'true', singleValue: true },
	};
	return await createWorkflow(
		signed,
		items,
		[
			...twoSteps.slice(0, 1),
			{
				name: 'Wait',
				type: 'n8n-nodes-base.wait',
				typeVersion: 1.1,
				parameters: { resume: 'timeInterval', amount: storedWaitSeconds, unit: 'seconds' },
			},
			{
				name: 'Get Result',
				type: packageType('imageGeneration'),
				parameters: { operation: 'getResult', wait: 'dontWait', taskId: '={{ $json.task_id }}', result: 'file' },
			},
			{
				name: 'If',
				type: 'n8n-nodes-base.if',
				typeVersion: 2.2,
				parameters: {
					conditions: {
						combinator: 'and',
						options: { version: 2, caseSensitive: true, leftValue: '', typeValidation: 'strict' },
						conditions: [isFinished],
					},
				},
			},
			{ name: 'Finished', type: 'n8n-nodes-base.noOp' },
		],
		{ saveExecutionProgress: true },
		{ If: { main: [to('Finished'), to('Wait')] } },
	);
}
