/** The triggers of the package as n8n calls them: a poll, and a request to a webhook. */
import type { IDataObject, INodeExecutionData, WorkflowExecuteMode } from 'n8n-workflow';
import { PollContext, WebhookContext } from 'n8n-core';
import { build } from './engine.mts';
import { toOptions, type Kind, type RunOptions, type Sandbox } from './nodes.mts';

/** The static data that n8n keeps of a workflow between runs: `{ global, 'node:Node' }`. */
export type StaticData = Record<string, IDataObject>;

interface TriggerOptions extends RunOptions {
	staticData?: StaticData;
	mode?: WorkflowExecuteMode;
}

function prepare(kind: Kind, sandbox: Sandbox, parameters: IDataObject, options: TriggerOptions) {
	const { workflow, additionalData, leave } = build({
		...toOptions(kind, sandbox, parameters, options),
		staticData: options.staticData,
	});
	const node = workflow.getNode('Node');
	if (!node) throw new Error('no node');
	return { workflow, additionalData, node, leave, mode: options.mode ?? 'trigger' };
}

/** One look of a polling trigger: the items that start the workflow, or null. What it keeps is written to `staticData`. */
export async function poll(
	kind: Kind,
	sandbox: Sandbox,
	parameters: IDataObject,
	options: TriggerOptions = {},
): Promise<INodeExecutionData[] | null> {
	const { workflow, additionalData, node, mode, leave } = prepare(kind, sandbox, parameters, options);
	const nodeType = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	const context = new PollContext(workflow, node, additionalData, mode, 'init');
	try {
		const items = (await nodeType.poll?.call(context))?.[0] ?? null;
		leave('the items of a trigger', () => items);
		return items;
	} finally {
		Object.assign(options.staticData ?? {}, JSON.parse(JSON.stringify(workflow.staticData)));
	}
}

export interface Called {
	items?: INodeExecutionData[];
	httpStatus: number;
	headers: Record<string, string>;
	html: string;
}

/** A GET to the trigger's webhook. */
export async function callWebhook(
	kind: Kind,
	sandbox: Sandbox,
	url: string,
	options: TriggerOptions = {},
): Promise<Called> {
	const { workflow, additionalData, node, leave } = prepare(kind, sandbox, {}, options);
	const nodeType = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	const called: Called = { httpStatus: 200, headers: {}, html: '' };
	const response = {
		status: (httpStatus: number) => (Object.assign(called, { httpStatus }), response),
		set: (headers: Record<string, string>) => (Object.assign(called.headers, headers), response),
		send: (html: string) => (Object.assign(called, { html }), response),
	};
	Object.assign(additionalData, {
		httpRequest: { originalUrl: url, url, headers: {}, query: {}, params: {}, body: {} },
		httpResponse: response,
	});
	const context = new WebhookContext(
		workflow,
		node,
		additionalData,
		options.mode ?? 'webhook',
		{ webhookDescription: { name: 'default' } } as never,
		[],
		null,
	);
	const result = await nodeType.webhook?.call(context);
	Object.assign(options.staticData ?? {}, JSON.parse(JSON.stringify(workflow.staticData)));
	const items = result?.workflowData?.[0];
	leave('the answer of a trigger', () => [called, items]);
	return { ...called, items };
}
