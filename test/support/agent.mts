/** An agent that calls its tools as it is told, one after the other. */
import { ExecuteContext } from 'n8n-core';
import { createEmptyRunExecutionData, Workflow } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData, INodeType } from 'n8n-workflow';
import { build, start, type Options } from './engine.mts';
import { NODES, toOptions, type Kind, type Sandbox } from './nodes.mts';

interface Tool {
	name: string;
	description: string;
	invoke: (args: IDataObject) => Promise<string>;
}

export interface Answer {
	/** The text that the agent's model reads. */
	text?: string;
	error?: string;
}

class Agent implements INodeType {
	description = {
		displayName: 'Agent',
		name: 'agent',
		group: ['transform' as const],
		version: 1,
		description: '',
		defaults: { name: 'Agent' },
		inputs: ['main' as const, { type: 'ai_tool' as const }],
		outputs: ['main' as const],
		properties: [],
	};

	constructor(
		private readonly calls: IDataObject[],
		private readonly used: { description?: string; answers: Answer[] },
	) {}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		// n8n calls this with its own `this`: what the test gave is on the type of the node.
		const { calls, used } = NODE_TYPE.get(this.getNode().name) ?? { calls: [], used: { answers: [] } };
		const [tool] = (await this.getInputConnectionData('ai_tool', 0)) as Tool[];
		used.description = tool.description;
		for (const args of calls) {
			try {
				used.answers.push({ text: await tool.invoke(args) });
			} catch (thrown) {
				used.answers.push({ error: (thrown as Error).message });
			}
		}
		return [[{ json: {} }]];
	}

	prepare() {
		NODE_TYPE.set('Node', { calls: this.calls, used: this.used });
	}
}

const NODE_TYPE = new Map<string, { calls: IDataObject[]; used: { description?: string; answers: Answer[] } }>();

type Execution = Pick<Options, 'mode' | 'kept'> & { credential?: IDataObject; executeWorkflow?: unknown };

/** Runs an agent with one node of the package as its tool. `calls`: the arguments of each call. */
export async function runTool(
	kind: Kind,
	sandbox: Sandbox,
	parameters: IDataObject,
	calls: IDataObject[],
	settings?: Partial<INode>,
	{ credential, executeWorkflow, ...execution }: Execution = {},
) {
	const used: { description?: string; answers: Answer[] } = { answers: [] };
	const agent = new Agent(calls, used);
	agent.prepare();
	const { credentialTypes, credentials } = toOptions(kind, sandbox, {}, { credential });
	const { promise, additionalData } = start({
		...execution,
		node: agent,
		tools: [{ node: NODES[kind], parameters, settings }],
		credentialTypes,
		credentials,
	});
	if (executeWorkflow !== undefined) additionalData.executeWorkflow = executeWorkflow as never;
	const run = await promise;
	return { ...used, run };
}

/** One call of a tool of n8n Agents: n8n runs it without an execution, a workflow and a memory of the node. */
export async function callInAgents(kind: Kind, sandbox: Sandbox, parameters: IDataObject, input: IDataObject = {}) {
	const { credentialTypes, credentials } = toOptions(kind, sandbox, {}, {});
	const tools = [{ node: NODES[kind], parameters }];
	const built = build({ node: NODES.balance, tools, credentialTypes, credentials });
	const node: INode = { ...(built.workflow.getNode('Tool0') as INode), name: 'Target Node' };
	const { nodeTypes } = built.workflow;
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const additionalData = { ...built.additionalData, executionId: undefined };
	const items = [{ json: input }];
	const data = { main: [items] };
	const place = [workflow, node, additionalData, 'internal', createEmptyRunExecutionData(), 0] as const;
	const context = new ExecuteContext(...place, items, data, { node, data, source: null }, []);
	const lines: string[] = [];
	for (const level of ['info', 'warn'] as const)
		jest.spyOn(context.logger, level).mockImplementation((...[line]) => void lines.push(line));
	const { execute } = NODES[kind] as INodeType;
	const [items0] = (await execute?.call(context)) as INodeExecutionData[][];
	return { json: items0[0].json, lines };
}
