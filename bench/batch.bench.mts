/** How long a batch takes compared with its slowest task, how politely, and what an item costs in CPU time. The sandboxes run in processes of their own. */
import type { IDataObject, IExecuteFunctions, IHttpRequestOptions, INodeExecutionData, INodeType } from 'n8n-workflow';
import { GenerationGatewayApi } from '../credentials/GenerationGatewayApi.credentials';
import type { Stats } from '../sandbox/routes/control.mts';
import { runNode } from '../test/support/engine.mts';
import { pause, prompts, runGateway, type Sandbox } from '../test/support/nodes.mts';
import { seeded } from '../test/support/simulation';
import { report } from './rows.mts';

const apiKey = 'sandbox-key';
const sandbox = { baseUrl: process.env.BENCH_SANDBOX ?? '', apiKey } as Sandbox;
const unlimited = { baseUrl: process.env.BENCH_SANDBOX_UNLIMITED ?? '', apiKey } as Sandbox;
const POLITE_LIMIT = 60; // default of Requests per Second

async function control<T>({ baseUrl }: Sandbox, path: string, method = 'GET'): Promise<T> {
	const response = await fetch(`${baseUrl}/__sandbox/${path}`, { method });
	return (await response.json()) as T;
}

async function runBatch(durationsMs: number[], options: IDataObject = {}) {
	await control(sandbox, 'reset', 'POST');
	const items = prompts(...durationsMs.map((ms, index) => `picture ${index} [[sandbox duration=${ms}ms]]`));
	const startedAt = performance.now();
	const { json } = await runGateway('image', sandbox, { operation: 'generate', prompt: '={{ $json.prompt }}', downloadResult: false, options }, { items });
	const wallMs = performance.now() - startedAt;
	expect(json.filter(({ status }) => status === 'completed')).toHaveLength(items.length);
	const { apiRequests, peakRequestsPerSecond, rateLimited, peakTasksInFlight } = await control<Stats>(sandbox, 'stats');
	expect(peakRequestsPerSecond).toBeLessThanOrEqual(POLITE_LIMIT);
	const times = wallMs / Math.max(...durationsMs);
	return {
		times,
		measured: `${times.toFixed(2)} times the slowest task, ${apiRequests} requests, at most ${peakRequestsPerSecond} in a second, ${rateLimited} refused, at most ${peakTasksInFlight} tasks at once`,
	};
}

test.each([
	[1, {}],
	[10, {}],
	[50, {}],
	[200, {}],
	[200, { concurrentTasks: 200 }],
])('%i items of 0 to 10 s, %j', async (count, options: IDataObject) => {
	const random = seeded(count);
	const durationsMs = [10_000, ...Array.from({ length: count - 1 }, () => Math.round(10_000 * random()))];
	const { measured } = await runBatch(durationsMs, options);
	const how = options.concurrentTasks === undefined ? 'default options' : `Concurrent Tasks ${String(options.concurrentTasks)}`;
	const tasks = count === 1 ? '1 item, task of 10 s' : `${count} items, tasks of 0 to 10 s`;
	report({ what: `${tasks}, ${how}`, measured, goal: `at most ${POLITE_LIMIT} in a second, 0 refused` });
});

test('50 items of 10 s', async () => {
	const { measured } = await runBatch(Array.from({ length: 50 }, () => 10_000));
	report({ what: '50 items, tasks of 10 s, default options', measured, goal: 'at most 1.15 times, 0 refused' });
});

const ITEMS = 500;
const TASKS_AT_ONCE = 100;
const ROUNDS = 11;

/** The least that n8n can do for the same answers: read the prompt, submit, wait a second, read, with n8n's own request helper. */
class BareRequests implements INodeType {
	description = {
		...{ displayName: 'Bare', name: 'bare', group: ['transform' as const], version: 1, description: '', defaults: { name: 'Bare' } },
		...{ inputs: ['main' as const], outputs: ['main' as const], credentials: [{ name: 'generationGatewayApi' }] },
		properties: [{ displayName: 'Prompt', name: 'prompt', type: 'string' as const, default: '' }],
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const url = `${unlimited.baseUrl}/v1/images/generations`;
		const request = async (options: Partial<IHttpRequestOptions>) => {
			const all = { url, encoding: 'text' as const, returnFullResponse: true, timeout: 30_000, ...options };
			const { body } = (await this.helpers.httpRequestWithAuthentication.call(this, 'generationGatewayApi', all)) as { body: string };
			return JSON.parse(body) as IDataObject;
		};
		const output: INodeExecutionData[] = [];
		const indexes = this.getInputData().keys();
		const worker = async () => {
			for (const index of indexes) {
				const { id } = await request({ method: 'POST', body: { model: 'gamma-image-2', prompt: this.getNodeParameter('prompt', index) } });
				await pause(1000);
				output[index] = { json: await request({ url: `${url}/${String(id)}` }), pairedItem: { item: index } };
			}
		};
		await Promise.all(Array.from({ length: TASKS_AT_ONCE }, worker));
		return [output];
	}
}

async function cpuPerItemMs(run: () => Promise<unknown[]>): Promise<number> {
	globalThis.gc?.();
	await pause(200);
	const before = process.cpuUsage();
	expect(await run()).toHaveLength(ITEMS);
	const { user, system } = process.cpuUsage(before);
	await control(unlimited, 'reset', 'POST');
	return (user + system) / 1000 / ITEMS;
}

test(`${ITEMS} instant items`, async () => {
	const items = prompts(...Array.from({ length: ITEMS }, (_, index) => `picture ${index} [[sandbox duration=0ms]]`));
	const options = { concurrentTasks: TASKS_AT_ONCE, requestsPerSecond: 10_000, pollIntervalSeconds: 1 };
	const credentials = { generationGatewayApi: { baseUrl: unlimited.baseUrl, apiKey } as never };
	const prompt = '={{ $json.prompt }}';
	const ours = async () => (await runGateway('image', unlimited, { operation: 'generate', prompt, options, downloadResult: false }, { items })).json;
	const bare = async () => (await runNode({ node: new BareRequests(), items, parameters: { prompt }, credentials, credentialTypes: [new GenerationGatewayApi()] })).items;
	for (const warmUp of [bare, ours]) await warmUp();
	// The two take turns, and neighbours are compared: what else the machine does meets both.
	const rounds: Array<{ all: number; bare: number }> = [];
	while (rounds.length < ROUNDS) rounds.push({ bare: await cpuPerItemMs(bare), all: await cpuPerItemMs(ours) });
	const [low, median, high] = quartiles(rounds.map((round) => round.all - round.bare));
	report({
		what: 'Tasks that finish immediately: CPU time of our own per item',
		measured: `${median.toFixed(2)} ms (half of ${ROUNDS} rounds: ${low.toFixed(2)} to ${high.toFixed(2)} ms), beside ${quartiles(rounds.map((round) => round.bare))[1].toFixed(2)} ms for the same requests alone`,
		goal: 'at most 1.5 ms',
	});
});

function quartiles(values: number[]): number[] {
	const sorted = [...values].sort((a, b) => a - b);
	return [0.25, 0.5, 0.75].map((share) => sorted[Math.round(share * (sorted.length - 1))]);
}
