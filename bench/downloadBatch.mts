/**
 * `downloadBatch.mts <files> <megabytes>`: one run of the built package in a fresh process, in filesystem mode, that
 * downloads so many files of that size. Prints how much more resident memory it takes, in megabytes, and the seconds.
 */
import '../test/support/setup.mts';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import type { ICredentialType, INodeType } from 'n8n-workflow';
import { runNode, useBinaryMode } from '../test/support/engine.mts';

const WARM_UPS = 2;
const BETWEEN_SAMPLES_MS = 20;

/** From dist: what n8n loads, without a transpiler's share of memory. */
const load = createRequire(import.meta.url);
const { VideoGeneration } = load('../dist/nodes/VideoGeneration/VideoGeneration.node.js') as {
	VideoGeneration: new () => INodeType;
};
const { GenerationGatewayApi } = load('../dist/credentials/GenerationGatewayApi.credentials.js') as {
	GenerationGatewayApi: new () => ICredentialType;
};

const [files, megabytes] = process.argv.slice(2).map(Number);
const baseUrl = process.env.BENCH_SANDBOX ?? '';

async function download(count: number, megabytesEach: number): Promise<void> {
	const { items, task } = await runNode({
		node: new VideoGeneration(),
		parameters: {
			operation: 'generate',
			prompt: '={{ $json.prompt }}',
			downloadResult: true,
			options: { pollIntervalSeconds: 1 },
		},
		items: Array.from({ length: count }, (_, index) => ({
			json: { prompt: `video ${index} [[sandbox duration=200ms bytes=${megabytesEach}]]` },
		})),
		credentialTypes: [new GenerationGatewayApi()],
		credentials: { generationGatewayApi: { baseUrl, apiKey: 'sandbox-key' } },
	});
	const whole = items.filter(({ binary }) => Number(binary?.data?.bytes) === megabytesEach * 1e6);
	if (whole.length !== count)
		throw new Error(`${whole.length} of ${count} files have arrived: ${task?.error?.message}`);
}

await fetch(`${baseUrl}/__sandbox/reset`, { method: 'POST' });
await useBinaryMode('filesystem');
for (let warmUp = 0; warmUp < WARM_UPS; warmUp++) await download(1, 5);
globalThis.gc?.();
await pause(500);

const before = process.memoryUsage.rss();
let peak = before;
const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), BETWEEN_SAMPLES_MS);
const startedAt = performance.now();
await download(files, megabytes);
clearInterval(sampling);
console.log(JSON.stringify({ megabytes: (peak - before) / 1e6, seconds: (performance.now() - startedAt) / 1000 }));
rmSync(process.env.N8N_USER_FOLDER ?? '', { recursive: true });
process.exit(); // n8n-core keeps timers
