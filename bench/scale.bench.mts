/** Measures if n8n still answers others, and the memory that is left, while a node works on thousands of items. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IDataObject } from 'n8n-workflow';
import { pause, prompts, runGateway, type Sandbox } from '../test/support/nodes.mts';
import { report } from './rows.mts';

const sandbox = { baseUrl: process.env.BENCH_SANDBOX_UNLIMITED ?? '', apiKey: 'sandbox-key' } as Sandbox;

const picturesOf = (count: number) =>
	prompts(...Array.from({ length: count }, (_, index) => `picture ${index} [[sandbox duration=0ms]]`));
const generate = { operation: 'generate', prompt: '={{ $json.prompt }}', downloadResult: false };

/** The longest time in which nothing else could run, and the memory in use afterwards. */
async function observe(
	items: ReturnType<typeof prompts>,
	parameters: IDataObject,
	check: (ended: Awaited<ReturnType<typeof runGateway>>) => void,
) {
	globalThis.gc?.();
	await pause(500);
	const before = process.memoryUsage().heapUsed;
	const delay = monitorEventLoopDelay({ resolution: 5 });
	delay.enable();
	const startedAt = performance.now();
	check(await runGateway('image', sandbox, parameters, { items }));
	const seconds = (performance.now() - startedAt) / 1000;
	delay.disable();
	await pause(500);
	globalThis.gc?.();
	await fetch(`${sandbox.baseUrl}/__sandbox/reset`, { method: 'POST' });
	return {
		busyMs: delay.max / 1e6,
		p99Ms: delay.percentile(99) / 1e6,
		leftMB: (process.memoryUsage().heapUsed - before) / 1e6,
		seconds,
	};
}

beforeAll(async () => {
	await observe(picturesOf(100), generate, ({ json }) => expect(json).toHaveLength(100)); // warms up
});

test('5,000 items are prepared', async () => {
	// One that is not allowed: all are prepared, nothing is sent.
	const items = [...picturesOf(4_999), ...prompts('')];
	const { busyMs, p99Ms, seconds } = await observe(items, generate, ({ error }) =>
		expect(error?.message).toContain('Prompt'),
	);
	report({
		what: '5,000 items are prepared: n8n answers nobody for',
		measured: `at most ${busyMs.toFixed(0)} ms (99 %: ${p99Ms.toFixed(0)} ms) of ${seconds.toFixed(1)} s`,
		goal: 'at most 100 ms',
	});
});

test('10,000 items, 500 at the same time', async () => {
	const parameters = {
		...generate,
		options: { concurrentTasks: 500, requestsPerSecond: 10_000, pollIntervalSeconds: 1 },
	};
	const { busyMs, p99Ms, seconds, leftMB } = await observe(picturesOf(10_000), parameters, ({ json }) => {
		expect(json.filter(({ status }) => status === 'completed')).toHaveLength(10_000);
	});
	report({
		what: '10,000 items, 500 at the same time: n8n answers nobody for',
		measured: `at most ${busyMs.toFixed(0)} ms (99 %: ${p99Ms.toFixed(0)} ms) of ${seconds.toFixed(0)} s; afterwards ${leftMB.toFixed(0)} MB more heap`,
		goal: 'at most 250 ms; at most 60 MB',
	});
});
