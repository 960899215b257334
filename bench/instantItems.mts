/**
 * `instantItems.mts`: CPU time per item of the built package for tasks that finish immediately, and of the same requests
 * alone. They take turns, and neighbours are compared: what else the machine does meets both. Prints quartiles as JSON.
 */
import '../test/support/setup.mts';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type {
	ICredentialType,
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	INodeExecutionData,
	INodeType,
} from 'n8n-workflow';
import { runNode } from '../test/support/engine.mts';

const ITEMS = 500;
const TASKS_AT_ONCE = 100;
const WARM_UPS = 3;
const ROUNDS = Number(process.argv[2] ?? 11);

/** From dist: what n8n loads, without a transpiler's share of time. */
const load = createRequire(import.meta.url);
const { ImageGeneration } = load('../dist/nodes/ImageGeneration/ImageGeneration.node.js') as {
	ImageGeneration: new () => INodeType;
};
const { GenerationGatewayApi } = load('../dist/credentials/GenerationGatewayApi.credentials.js') as {
	GenerationGatewayApi: new () => ICredentialType;
};

const baseUrl = process.env.BENCH_SANDBOX_UNLIMITED ?? '';

/** The least that n8n can do for the same answers: read the prompt, submit, wait a second, read, with n8n's own request helper. */
class BareRequests implements INodeType {
	description = {
		...{
			displayName: 'Bare',
			name: 'bare',
			group: ['transform' as const],
			version: 1,
			description: '',
			defaults: { name: 'Bare' },
		},
		...{ inputs: ['main' as const], outputs: ['main' as const], credentials: [{ name: 'generationGatewayApi' }] },
		properties: ['prompt', 'encoding'].map((name) => ({
			displayName: name,
			name,
			type: 'string' as const,
			default: '',
		})),
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const encoding = this.getNodeParameter('encoding', 0) as 'text' | 'stream';
		const url = `${baseUrl}/v1/images/generations`;
		const request = async (options: Partial<IHttpRequestOptions>) => {
			const all = { url, encoding, returnFullResponse: true, timeout: 30_000, ...options };
			const { body } = (await this.helpers.httpRequestWithAuthentication.call(this, 'generationGatewayApi', all)) as {
				body: never;
			};
			return JSON.parse(encoding === 'text' ? body : await text(body)) as IDataObject;
		};
		const output: INodeExecutionData[] = [];
		const indexes = this.getInputData().keys();
		const worker = async () => {
			for (const index of indexes) {
				const { id } = await request({
					method: 'POST',
					body: { model: 'gamma-image-2', prompt: this.getNodeParameter('prompt', index) },
				});
				await pause(1000);
				output[index] = { json: await request({ url: `${url}/${String(id)}` }), pairedItem: { item: index } };
			}
		};
		await Promise.all(Array.from({ length: TASKS_AT_ONCE }, worker));
		return [output];
	}
}

const items = Array.from({ length: ITEMS }, (_, index) => ({
	json: { prompt: `picture ${index} [[sandbox duration=0ms]]` },
}));
const common = {
	items,
	credentialTypes: [new GenerationGatewayApi()],
	credentials: { generationGatewayApi: { baseUrl, apiKey: 'sandbox-key' } },
};
const prompt = '={{ $json.prompt }}';
const options = { concurrentTasks: TASKS_AT_ONCE, requestsPerSecond: 10_000, pollIntervalSeconds: 1 };
const ways = {
	all: () =>
		runNode({
			...common,
			node: new ImageGeneration(),
			parameters: { operation: 'generate', prompt, options, downloadResult: false },
		}),
	text: () => runNode({ ...common, node: new BareRequests(), parameters: { prompt, encoding: 'text' } }),
	stream: () => runNode({ ...common, node: new BareRequests(), parameters: { prompt, encoding: 'stream' } }),
};

async function cpuPerItemMs(run: (typeof ways)['all']): Promise<number> {
	globalThis.gc?.();
	await pause(200);
	const before = process.cpuUsage();
	const { items: output, task } = await run();
	const { user, system } = process.cpuUsage(before);
	if (output.length !== ITEMS) throw new Error(`${output.length} items of ${ITEMS}: ${task?.error?.message}`);
	await fetch(`${baseUrl}/__sandbox/reset`, { method: 'POST' });
	return (user + system) / 1000 / ITEMS;
}

const rounds: Array<Record<keyof typeof ways, number>> = [];
for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
	const figures = {
		text: await cpuPerItemMs(ways.text),
		all: await cpuPerItemMs(ways.all),
		stream: await cpuPerItemMs(ways.stream),
	};
	if (round >= WARM_UPS) rounds.push(figures);
}

function quartiles(values: number[]): number[] {
	const sorted = [...values].sort((a, b) => a - b);
	return [0.25, 0.5, 0.75].map((share) => sorted[Math.round(share * (sorted.length - 1))]);
}
const beside = (bare: 'text' | 'stream') => ({
	own: quartiles(rounds.map((round) => round.all - round[bare])),
	bare: quartiles(rounds.map((round) => round[bare])),
});
console.log(JSON.stringify({ text: beside('text'), stream: beside('stream') }));
rmSync(process.env.N8N_USER_FOLDER ?? '', { recursive: true });
process.exit(); // n8n-core keeps timers
