/** The nodes of the package in n8n's own engine, against a sandbox that listens on two ports. */
import { CredentialTestContext } from 'n8n-core';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { GenerationGatewayApi } from '../../credentials/GenerationGatewayApi.credentials';
import { Avatar } from '../../nodes/Avatar/Avatar.node';
import { AvatarVerificationTrigger } from '../../nodes/AvatarVerificationTrigger/AvatarVerificationTrigger.node';
import { Balance } from '../../nodes/Balance/Balance.node';
import { BalanceTrigger } from '../../nodes/BalanceTrigger/BalanceTrigger.node';
import { generationGatewayApiTest } from '../../nodes/connection/credentialTest';
import { realClock } from '../../nodes/connection/transport';
import { ImageGeneration } from '../../nodes/ImageGeneration/ImageGeneration.node';
import { Token } from '../../nodes/Token/Token.node';
import { VideoGeneration } from '../../nodes/VideoGeneration/VideoGeneration.node';
import { startSandbox } from '../../sandbox/index.mts';
import type { SandboxOptions } from '../../sandbox/options.mts';
import { runNode, start, type Options } from './engine.mts';
import { alwaysLeaves } from './keySecrecy.mts';

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** A sandbox with tasks that are quick, but real. */
export async function quickSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const sandbox = await startSandbox({ imageTaskMs: 300, videoTaskMs: 300, ...options });
	const service = new URL(sandbox.baseUrl).host;
	const elsewhere = () => sandbox.fileRequests.filter(({ headers }) => headers.host !== service);
	alwaysLeaves(sandbox.apiKey, 'a request to another host', elsewhere);
	return sandbox;
}

/** n8n's test of the credential. */
export async function testCredential({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }, more: IDataObject = {}) {
	return await generationGatewayApiTest.call(
		new CredentialTestContext() as never,
		{ data: { baseUrl, apiKey, ...more } } as never,
	);
}

export const NODES = {
	avatar: new Avatar(),
	avatarVerificationTrigger: new AvatarVerificationTrigger(),
	balance: new Balance(),
	balanceTrigger: new BalanceTrigger(),
	image: new ImageGeneration(),
	token: new Token(),
	video: new VideoGeneration(),
};

export interface RunOptions extends Partial<Omit<Options, 'node' | 'parameters' | 'after' | 'credentials'>> {
	credential?: IDataObject;
	/** A node that follows. */
	then?: { kind: Kind; parameters: IDataObject };
}

export type Kind = keyof typeof NODES;

/** Most tests are about a run that nothing remembers: the purchase log is off unless a test asks for it. */
const WITHOUT_LOG = { advanced: true, purchaseLog: false };

/** The options of the engine for one of the nodes with a credential for the sandbox. */
export function toOptions(
	kind: Kind,
	sandbox: Sandbox,
	parameters: IDataObject,
	{ credential, then, ...options }: RunOptions,
): Options {
	return {
		...options,
		node: NODES[kind],
		parameters,
		after: then && [{ node: NODES[then.kind], parameters: then.parameters }],
		credentialTypes: [new GenerationGatewayApi()],
		credentials: {
			generationGatewayApi: {
				...{ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey },
				...WITHOUT_LOG,
				...credential,
			} as never,
		},
	};
}

type NodeFailure = Error & { description?: string; httpCode?: string; context?: IDataObject };

/** `last` is what came of the node that follows. */
export async function runGateway(kind: Kind, sandbox: Sandbox, parameters: IDataObject, options: RunOptions = {}) {
	const { run, task, workflow, items, last } = await runNode(toOptions(kind, sandbox, parameters, options));
	const error = task?.error as NodeFailure | undefined;
	return {
		run,
		task,
		workflow,
		items,
		json: items.map((item) => item.json),
		error,
		last: { error: last?.error as NodeFailure | undefined, items: last?.data?.main?.[0] ?? [] },
	};
}

/** The run that an error names as the one to enter as Submit Again for Run. */
export function runToEnter(error?: { description?: string | null }): string {
	return /enter (\S+) as Submit Again for Run/.exec(error?.description ?? '')?.[1] ?? 'the error names no run';
}

/** Starts without waiting; `promise.cancel()` is the user's stop. */
export function startGateway(kind: Kind, sandbox: Sandbox, parameters: IDataObject, options: RunOptions = {}) {
	return start(toOptions(kind, sandbox, parameters, options));
}

/** One item per prompt. */
export function prompts(...texts: string[]): INodeExecutionData[] {
	return texts.map((prompt) => ({ json: { prompt } }));
}

/** A binary field that holds a small PNG. */
export function pngField(fileName = 'cat.png') {
	return { data: PNG, mimeType: 'image/png', fileName };
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const pause = async (ms: number) => await new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Until `jest.restoreAllMocks()`, the nodes take a second for so many seconds: their pauses are as much shorter. The
 * sandbox keeps its own time. Not for tests of what must arrive within a limit of the nodes: it is as much shorter, too.
 */
export function hurry(times = 20): void {
	const { sleep } = realClock;
	const startMs = performance.now();
	jest
		.spyOn(realClock as Required<typeof realClock>, 'elapsed')
		.mockImplementation(() => startMs + times * (performance.now() - startMs));
	jest
		.spyOn(realClock, 'sleep')
		.mockImplementation(
			async (delayMs, signal, atMostMs = Infinity) => await sleep(Math.min(delayMs, atMostMs) / times, signal),
		);
}

/** Polling every second keeps the tests short. */
export const quick = { pollIntervalSeconds: 1 };
