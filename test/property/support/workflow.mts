/** What n8n does around the node: tries, loops, the user's stop, and the retry of an execution. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { ImageGeneration } from '../../../nodes/ImageGeneration/ImageGeneration.node';
import type { Case, ItemPlan } from './cases';
import { elapsedMs, passRemainingTime, passTimeUntil, restartFakeTime } from './fakeTime.mts';
import type { TryLog, Weather } from './weather.mts';

/** How one run of the node ended. */
export interface Try {
	round: number;
	execution: number;
	items?: INodeExecutionData[];
	/** Message and description, as n8n shows them. */
	error?: string;
}

/** All that can be known afterwards, beside the sandbox's own ledger. */
export interface Story {
	/** Names of the items of each round, in order. */
	names: string[][];
	tries: Try[];
	log: string;
	stopped: boolean;
	violations: string[];
	/** What is left in the node's context. */
	store: Record<string, unknown>;
	/** n8n's table of processed data. */
	record: Set<string>;
}

const node = new ImageGeneration();
const ESTABLISHED_AT_MS = 1;
const WAIT_BETWEEN_TRIES_MS = 1000;
/** So soon must the node end when the user stops it. */
const STOP_WITHIN_MS = 1000;

export async function play(drawn: Case, weather: Weather): Promise<Story> {
	restartFakeTime(drawn.randomness);
	const names = Array.from({ length: drawn.rounds }, (_, round) => itemNames(drawn, round));
	weather.begin(new Map(names.flatMap((ofRound) => ofRound.map((name) => [name, planOf(drawn, name)] as const))));
	const story: Story = { names, tries: [], log: '', stopped: false, violations: [], store: {}, record: new Set() };
	const stop = new AbortController();
	const timer = drawn.stopAtMs === undefined ? undefined : setTimeout(() => stop.abort(), drawn.stopAtMs);

	await passTimeUntil(runExecutions(drawn, weather, story, stop.signal));
	clearTimeout(timer);
	story.stopped = stop.signal.aborted;
	await passRemainingTime();
	return story;
}

/** Names the items of one round; identical items share a name. */
export function itemNames({ items, sameBodies }: Case, round: number): string[] {
	return items.flatMap(({ copies }, index) =>
		Array.from({ length: copies }, () => `item-${index}${sameBodies ? '' : `-round-${round}`}`),
	);
}

export function planOf({ items }: Case, name: string): ItemPlan {
	return items[Number(name.split('-')[1])].plan;
}

/** The first execution, and the user's retries of it, which begin with the round that ended badly. */
async function runExecutions(drawn: Case, weather: Weather, story: Story, signal: AbortSignal): Promise<void> {
	let round = 0;
	// What the user changes in between is not known as the same request: see Retry with currently saved workflow.
	const executions = drawn.volatilePrompt ? 1 : 1 + drawn.retryExecutions;
	for (let execution = 0; execution < executions; execution++) {
		for (; round < drawn.rounds; round++) {
			const ended = await runWithRetries(drawn, weather, story, { round, execution }, signal);
			if (signal.aborted) return;
			if (ended.error !== undefined) break;
		}
		if (round === drawn.rounds) return;
	}
}

/** Retry On Fail: the node runs again when it throws, and when its first item carries an error. */
async function runWithRetries(
	drawn: Case,
	weather: Weather,
	story: Story,
	at: Pick<Try, 'round' | 'execution'>,
	signal: AbortSignal,
): Promise<Try> {
	for (let attempt = 1; ; attempt++) {
		const ended: Try = { ...at, ...(await runOnce(drawn, weather, story, at, signal)) };
		story.tries.push(ended);
		const bad = ended.error !== undefined || Boolean(ended.items?.[0]?.json.error);
		if (!bad || attempt >= drawn.maxTries) return ended;
		await new Promise<void>((resolve) => setTimeout(resolve, WAIT_BETWEEN_TRIES_MS));
	}
}

async function runOnce(
	drawn: Case,
	weather: Weather,
	story: Story,
	{ round, execution }: Pick<Try, 'round' | 'execution'>,
	signal: AbortSignal,
): Promise<Pick<Try, 'items' | 'error'>> {
	const log: TryLog = { signal, refused: false, violations: story.violations };
	const write = (line: string) => (story.log += `${line}\n`);
	const values = parametersOf(drawn, execution);
	const context = {
		getInputData: () => story.names[round].map((name) => ({ json: { name } })),
		getNodeParameter: (name: string, itemIndex: number, fallback: unknown) => {
			if (name !== 'prompt') return values[name] ?? fallback;
			return `${story.names[round][itemIndex]} ${drawn.volatilePrompt ? elapsedMs() : 'a cat'}`;
		},
		getNode: () => ({ id: '1', name: 'Generate', type: 'image', typeVersion: 1, position: [0, 0], parameters: {}, onError: drawn.onError }),
		continueOnFail: () => drawn.onError !== 'stopWorkflow',
		getCredentials: async () => ({ baseUrl: 'https://sandbox.test', apiKey: weather.sandbox.apiKey }),
		getContext: () => story.store,
		getExecutionId: () => `execution-${execution}`,
		getExecutionContext: () => ({ establishedAt: ESTABLISHED_AT_MS }),
		getMode: () => (execution === 0 ? 'trigger' : 'retry'),
		getWorkflow: () => ({ id: 'workflow' }),
		getExecutionCancelSignal: () => signal,
		getWorkflowDataProxy: () => ({ $runIndex: round }),
		logger: { info: write, warn: write },
		helpers: { ...weather.helpers(log), ...recordHelpers(story) },
	} as unknown as IExecuteFunctions;
	const startedAtMs = elapsedMs();
	try {
		const [items] = await node.execute.call(context);
		return { items };
	} catch (thrown) {
		const { message, description, messages = [] } = thrown as { message: string; description?: string; messages?: string[] };
		return { error: [message, description, ...messages].join(' ') };
	} finally {
		const ranOnMs = elapsedMs() - Math.max(startedAtMs, drawn.stopAtMs ?? 0);
		if (signal.aborted && ranOnMs > STOP_WITHIN_MS) story.violations.push(`the node ran on for ${ranOnMs} ms after the stop`);
	}
}

function recordHelpers({ record }: Story) {
	return {
		checkProcessedAndRecord: async (names: string[]) => {
			const processed = names.filter((name) => record.has(name));
			names.forEach((name) => record.add(name));
			return { new: names.filter((name) => !processed.includes(name)), processed };
		},
		removeProcessed: async (names: string[]) => names.forEach((name) => record.delete(name)),
	};
}

/** Everything in the node's form but the prompt. */
export function parametersOf(drawn: Case, execution: number): Record<string, unknown> {
	const { submitAgain } = drawn;
	return {
		operation: 'generate',
		model: 'gamma-image-2',
		resolution: '1K',
		size: '1:1',
		n: 1,
		whenDone: drawn.whenDone,
		downloadResult: drawn.downloadResult,
		options: {
			concurrentTasks: drawn.concurrentTasks,
			requestsPerSecond: drawn.requestsPerSecond,
			timeoutMinutes: drawn.timeoutMinutes,
			onTimeout: drawn.onTimeout,
			submitAgain: submitAgain === 'on' || (submitAgain === 'later' && execution > 0),
			...(drawn.pollIntervalSeconds === undefined ? {} : { pollIntervalSeconds: drawn.pollIntervalSeconds }),
		},
	};
}
