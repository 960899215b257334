/** Makes workflows for tests: a trigger with items, and nodes one after the other. */
import { readExamples, withCredential, withParameters } from '../../../tools/n8n/examples.mjs';
import type { Instance } from './instance.mts';

/** What makes a workflow: n8n, and a credential in it. */
type Signed = Pick<Instance, 'rest' | 'credential'>;

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
			...Object.fromEntries(chain.slice(1).map(({ name }, index) => [chain[index]?.name, { main: [[{ node: name, type: 'main', index: 0 }]] }])),
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
		parameters: { prompt: '={{ $json.prompt }}', downloadResult: true, options: { pollIntervalSeconds: 1 } },
	},
];

/** Continues with tasks that exist. */
export const waitForTasks: TestNode = {
	name: 'Wait',
	type: packageType('imageGeneration'),
	parameters: {
		operation: 'waitForTask',
		taskId: '={{ $json.task_id }}',
		downloadResult: true,
		options: { pollIntervalSeconds: 1 },
	},
};

/** The pattern for long jobs: the step that buys ends at once, so that n8n can save what it bought. */
export const twoSteps: TestNode[] = [
	{
		name: 'Generate',
		type: packageType('imageGeneration'),
		parameters: { prompt: '={{ $json.prompt }}', whenDone: 'return' },
	},
	waitForTasks,
];

/** n8n keeps a wait of 65 s and more in its database, a shorter one in memory. */
const storedWaitSeconds = 66;

/** Makes the example for very long jobs in n8n: two videos. Returns its id. */
export async function createVeryLongJobs({ rest, credential }: Signed): Promise<string> {
	const example = readExamples().find(({ file }) => file === 'very-long-jobs.json');
	if (!example) throw new Error('There is no example for very long jobs');
	const workflow = withParameters(example.workflow, 'Wait', { amount: storedWaitSeconds });
	const { id } = await rest.request('POST', '/rest/workflows', withCredential(workflow, credential));
	return String(id);
}
