/** The context that n8n gives to a node. */
import type {
	IDataObject,
	IExecuteFunctions,
	IExecuteWorkflowInfo,
	IHttpRequestOptions,
	INode,
	INodeExecutionData,
	IWorkflowBase,
} from 'n8n-workflow';
import { NEEDED_TO_START } from '../../../nodes/durable/subWorkflow';
import { NEEDED_NODES as NEEDED_BY_LOG } from '../../../nodes/journal/dataTableNode';
import type { Case } from './cases.mts';
import { copyOf } from './copyOf.mts';
import { namesIn, type Execution, type Origin, type State } from './executions.mts';
import type { N8n } from './n8n.mts';
import type { RunLog } from './runLog.mts';
import { API_KEY } from './service.mts';
import type { SubExecution } from './subExecutions.mts';

/** Our node in the workflow of the user. */
export function contextOf(n8n: N8n, execution: Execution, live: State, log: RunLog): IExecuteFunctions {
	const { origin, mode, id } = execution;
	const { drawn } = origin;
	const ofRound = namesIn(execution, live.round);
	const ownRun = drawn.submitAgainFor === 'its own run' ? `${id}.${live.runs}` : undefined;
	const values = parametersOf(drawn, execution.submitAgainFor ?? ownRun);
	const key = drawn.purchaseKey ? { purchaseKey: '={{ $json.name }}' } : {};
	// As they are stored: what is no expression is read once for all items.
	const parameters = {
		...{ ...values, prompt: '={{ $json.name }} a cat' },
		options: { ...(values.options as IDataObject), ...key },
	};
	const prompt = (item: number) => `${ofRound[item]} ${drawn.volatilePrompt ? n8n.time.elapsedMs : 'a cat'}`;
	const isFirstRunMadeUp = live.isFirstRunMadeUp;
	const all = () => {
		if (live.runs === 0) throw new Error('There is no output of this node');
		return [{ json: isFirstRunMadeUp ? { isArtificialRecoveredEventItem: true } : {} }];
	};
	return {
		...shared(n8n, origin, log, origin.stopHere.signal, origin.name),
		getInputData: () => ofRound.map((name) => ({ json: { name } })),
		getNodeParameter: (name: string, item: number, fallback: unknown) => {
			if (name === 'prompt') return prompt(item);
			return name === 'options.purchaseKey' && drawn.purchaseKey ? ofRound[item] : read(values, name, fallback);
		},
		getNode: () => ({ ...NODE, parameters, onError: drawn.onError, retryOnFail: drawn.maxTries > 1 }),
		continueOnFail: () => drawn.onError !== 'stopWorkflow',
		getContext: () => live.store,
		getExecutionId: () => id,
		getExecuteData: () => ({}),
		getExecutionContext: () => ({ establishedAt: origin.establishedAtMs }),
		getMode: () => mode,
		getWorkflowDataProxy: () => ({
			$runIndex: live.runs,
			$: () => ({ all }),
			$execution: { resumeUrl: resumeUrlOf(id) },
		}),
		getParentNodes: () => [],
		executeWorkflow: async (...given: Given) => {
			const [{ code }, items] = given;
			if (isDataTable(code)) return await n8n.tables.execute(...given);
			const { result, sleeping } = await n8n.subs.run(code, items, execution);
			execution.sleepsFor = sleeping;
			return result;
		},
	} as unknown as IExecuteFunctions;
}

/** A hidden operation in one of our sub-workflows. */
export function contextOfStep(
	n8n: N8n,
	sub: SubExecution,
	node: INode,
	input: INodeExecutionData[],
	log: RunLog,
	signal: AbortSignal,
): IExecuteFunctions {
	const { parameters } = node;
	return {
		...shared(n8n, sub.root.origin, log, signal, ''),
		getInputData: () => input,
		getNodeParameter: (name: string, _item: number, fallback: unknown) => read(parameters, name, fallback),
		getNode: () => node,
		continueOnFail: () => node.onError !== undefined && node.onError !== 'stopWorkflow',
		// Nothing here waits in the background.
		getChildNodes: () => [],
		getContext: (type: string) => sub.contextOf(type === 'flow' ? 'flow' : node.name),
		getExecutionId: () => sub.id,
		getExecutionContext: () => ({ establishedAt: n8n.time.clockMs, parentExecutionId: sub.parent.id }),
		getMode: () => sub.mode,
		getWorkflowDataProxy: () => ({
			$runIndex: sub.live.runs[node.name]?.length ?? 0,
			$: (name: string) => outputOf(sub, name),
			$execution: { resumeUrl: `${resumeUrlOf(sub.id)}?signature=${sub.signature}` },
		}),
		putExecutionToWait: async (until: Date) => {
			await n8n.time.pass(0);
			sub.sleepsUntilMs = until.getTime();
		},
		executeWorkflow: async (...given: Given) => {
			const [{ code }, items] = given;
			if (isDataTable(code)) return await n8n.tables.execute(...given);
			const { result, sleeping } = await n8n.subs.run(code, items, sub);
			sub.sleepsFor = sleeping;
			return result;
		},
	} as unknown as IExecuteFunctions;
}

/** n8n's `$('Name')`. */
function outputOf({ code, live: { runs } }: SubExecution, name: string) {
	if (!code.nodes.some((node) => node.name === name)) throw new Error("Referenced node doesn't exist");
	const all = () => {
		const [items] = runs[name]?.at(-1) ?? [];
		if (items === undefined) throw new Error(`Node '${name}' hasn't been executed`);
		return copyOf(items);
	};
	return { isExecuted: runs[name] !== undefined, all };
}

const resumeUrlOf = (id: string) => `http://n8n.test/webhook-waiting/${id}`;

const NODE: INode = { id: '1', name: 'Generate', type: 'image', typeVersion: 1, position: [0, 0], parameters: {} };

type Given = [
	info: IExecuteWorkflowInfo,
	items: INodeExecutionData[],
	info?: unknown,
	options?: { doNotWaitToFinish?: boolean },
];

/** The purchase log uses n8n's Data Table node in an execution that leaves nothing in the list. */
const isDataTable = (code?: IWorkflowBase) => code?.nodes.some(({ type }) => type === 'n8n-nodes-base.dataTable');

/** The part that is the same for both. */
function shared(n8n: N8n, { drawn }: Origin, log: RunLog, signal: AbortSignal, owner: string) {
	const { service, story, time } = n8n;
	const write = (line: string) => story.log.push(line);
	return {
		getCredentials: async () => ({
			baseUrl: 'https://api.test',
			apiKey: API_KEY,
			advanced: true,
			requestsPerSecond: drawn.requestsPerSecond,
			purchaseLog: drawn.log === 'on',
		}),
		getWorkflow: () => ({ id: 'workflow', name: 'Simulated' }),
		getKnownNodeTypes: () => ({ ...NEEDED_TO_START, ...NEEDED_BY_LOG }),
		getExecutionCancelSignal: () => signal,
		getExecutionDataById: async (id: string) => {
			await time.pass(1);
			return n8n.subs.dataOf(id);
		},
		logger: { debug: write, info: write, warn: write, error: write },
		helpers: {
			async httpRequestWithAuthentication(this: object, _credential: string, options: IHttpRequestOptions) {
				// As n8n does it: cut off on stop, unless called with a `this` that has no cancel signal.
				return await service.api(
					log,
					options,
					'getExecutionCancelSignal' in this ? signal : (options.abortSignal as AbortSignal | undefined),
				);
			},
			httpRequest: async (options: IHttpRequestOptions) => await service.file(log, options),
			/** Keeps the address of a file, to see later whose it is. */
			prepareBinaryData: async (body: { url: string }, fileName: string, mimeType: string) => {
				await time.pass(2);
				return { data: body.url, fileName, mimeType };
			},
			...n8n.processed.helpersFor(owner),
		},
	};
}

function read(values: IDataObject, name: string, fallback: unknown): unknown {
	if (!name.startsWith('options.')) return values[name] ?? fallback;
	return (values.options as IDataObject | undefined)?.[name.slice('options.'.length)] ?? fallback;
}

/** Everything in the node's form but the prompt. */
function parametersOf(drawn: Case, submitAgainForRun = ''): IDataObject {
	return {
		operation: 'generate',
		model: 'gamma-image-2',
		resolution: '1K',
		size: '1:1',
		n: 1,
		wait: drawn.wait,
		result: drawn.downloadResult ? 'file' : 'urlOnly',
		options: {
			concurrentTasks: drawn.concurrentTasks,
			timeoutMinutes: drawn.timeoutMinutes,
			submitAgainForRun,
			...(drawn.pollIntervalSeconds === undefined ? {} : { pollIntervalSeconds: drawn.pollIntervalSeconds }),
		},
	};
}
