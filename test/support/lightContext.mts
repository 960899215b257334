/** The context that n8n gives to a node, without n8n: what a node does with it is noted, and the service answers at once. */
import type {
	ExecuteWorkflowData,
	IDataObject,
	IExecuteFunctions,
	IExecuteWorkflowInfo,
	IHttpRequestOptions,
	INode,
	INodeExecutionData,
	IRunExecutionData,
} from 'n8n-workflow';
import { NEEDED_TO_START } from '../../nodes/durable/subWorkflow';
import { DataTables } from './dataTables.mts';

export interface LightOptions {
	/** Of n8n's table of processed data. */
	names?: Set<string>;
	/** The answer of the service: a body, or a status. Undefined: the usual one, with which each task has finished. */
	answer?: (request: IHttpRequestOptions, count: number) => object | number | undefined | Promise<object | undefined>;
	/** The end of a sub-execution. It sleeps where nothing is said. */
	execute?: (call: Executed) => Partial<ExecuteWorkflowData> | undefined;
	/** The executions that n8n has data of; null: somebody has deleted it. */
	stored?: Record<string, object | null>;
	/** The items of each node; of those that are named with undefined, none: they have not run. */
	outputs?: Record<string, INodeExecutionData[] | undefined>;
	input?: INodeExecutionData[];
	node?: Partial<INode>;
	credential?: IDataObject;
	parameters?: IDataObject;
	/** More of n8n's helpers. */
	helpers?: object;
	/** More of the context. */
	more?: object;
}

export interface Executed {
	workflow: IExecuteWorkflowInfo;
	items: INodeExecutionData[];
	options: unknown;
}

export interface Sent {
	method?: string;
	path: string;
	body?: unknown;
	atMs: number;
}

export const NODE: INode = {
	...{ id: 'n', name: 'Node', type: 'x.gatewayImageGeneration', typeVersion: 1, position: [0, 0], parameters: {} },
	credentials: { generationGatewayApi: { id: 'c', name: 'Account' } },
};

/** Each has an account of its own, because places and rates are shared by those who have the same. */
let accounts = 0;

export function lightContext(options: LightOptions = {}) {
	const { names = new Set<string>(), stored = {}, outputs = {}, parameters = {} } = options;
	const sent: Sent[] = [];
	const executed: Executed[] = [];
	const logged: string[] = [];
	const tables = new DataTables();
	const sleepsUntil: Date[] = [];
	const stop = new AbortController();
	const memory: Record<string, IDataObject> = { node: {}, flow: {} };
	const executeData: IDataObject = {};
	const log = (line: string) => void logged.push(line);
	const answers = new Map<string, number>();
	const request = async (_credential: string, request: IHttpRequestOptions) => {
		const path = new URL(request.url).pathname;
		sent.push({ method: request.method, path, body: request.body, atMs: Date.now() });
		const count = answers.get(`${request.method} ${path}`) ?? 0;
		answers.set(`${request.method} ${path}`, count + 1);
		const given = (await options.answer?.(request, count)) ?? usual(request, count);
		const [statusCode, body] = typeof given === 'number' ? [given, { message: `no: ${given}` }] : [200, given];
		return await Promise.resolve({ statusCode, headers: {}, body: JSON.stringify(body) });
	};
	const context = {
		getNode: () => ({ ...NODE, ...options.node }),
		getWorkflow: () => ({ id: 'w', name: 'Workflow' }),
		getWorkflowSettings: () => ({}),
		getExecutionId: () => 'own',
		getMode: () => 'trigger',
		getContext: (kind: string) => memory[kind],
		getExecuteData: () => executeData,
		getExecutionContext: () => ({ establishedAt: 1, parentExecutionId: undefined }),
		getExecutionCancelSignal: () => stop.signal,
		getInputData: () => options.input ?? [],
		// As in n8n, the fallback is for what is not there, and not for an expression that gives nothing.
		getNodeParameter: (name: string, _item: number, fallback: unknown) =>
			name in parameters ? parameters[name] : fallback,
		getParentNodes: () => [],
		getKnownNodeTypes: () => NEEDED_TO_START,
		continueOnFail: () => false,
		addExecutionHints: () => {},
		sendMessageToUI: () => {},
		getCredentials: async () => await Promise.resolve(credential),
		getWorkflowDataProxy: () => ({
			$runIndex: 0,
			$execution: { resumeUrl: 'http://n8n.test/webhook-waiting/own?signature=s' },
			$: (name: string) => {
				if (!(name in outputs)) throw new Error('there is no such node');
				return { isExecuted: outputs[name] !== undefined, all: () => outputs[name] };
			},
		}),
		getExecutionDataById: async (id: string) => {
			const data = await Promise.resolve(stored[id] as IRunExecutionData | undefined | null);
			if (data === null) return undefined;
			if (data === undefined) throw new Error('there is no such data');
			return data;
		},
		executeWorkflow: async (workflow: IExecuteWorkflowInfo, items: INodeExecutionData[], _: unknown, how: unknown) => {
			if (JSON.stringify(workflow).includes('n8n-nodes-base.dataTable'))
				return await tables.execute(workflow, items, _, how as object);
			const call = { workflow, items, options: how };
			executed.push(call);
			const found = await Promise.resolve(options.execute?.(call));
			return { executionId: `sub-${executed.length}`, data: [], waitTill: new Date(4e12), ...found };
		},
		putExecutionToWait: async (until: Date) => await Promise.resolve(void sleepsUntil.push(until)),
		logger: { debug: log, info: log, warn: log, error: log },
		helpers: {
			httpRequestWithAuthentication: request,
			checkProcessedAndRecord: async (wanted: string[]) => {
				const processed = wanted.filter((name) => names.has(name));
				wanted.forEach((name) => names.add(name));
				return await Promise.resolve({ processed });
			},
			removeProcessed: async (gone: string[]) => await Promise.resolve(gone.forEach((name) => names.delete(name))),
			...options.helpers,
		},
		...options.more,
	} as unknown as IExecuteFunctions;
	const credential = {
		...{ baseUrl: 'https://gateway.test', apiKey: `sk-light-${accounts++}`, requestsPerSecond: 100 },
		...options.credential,
	};
	return { context, names, sent, executed, tables, logged, sleepsUntil, stop, memory, executeData, credential };
}

let tasks = 0;

function usual({ method, url }: IHttpRequestOptions, _count: number): object {
	const done = { status: 'completed', progress: 100, metadata: { url: 'https://files.test/a.png' } };
	const task = {
		object: 'generation.task',
		model: 'gamma-image-2',
		created_at: Math.floor(Date.now() / 1000),
		metadata: {},
	};
	if (method === 'POST') return { ...task, id: `task-${tasks++}`, status: 'queued', progress: 0 };
	return { ...task, id: String(new URL(url).pathname.split('/').at(-1)), ...done };
}

/** Lets the fake time pass until the work has ended. */
export async function untilDone<T>(work: Promise<T>): Promise<T> {
	let isOver = false;
	const end = () => void (isOver = true);
	work.then(end, end);
	for (let steps = 0; !isOver && steps < 5_000; steps++) await jest.advanceTimersByTimeAsync(100);
	if (!isOver) throw new Error('It never ends');
	return await work;
}
