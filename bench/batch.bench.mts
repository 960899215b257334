/**
 * Measures the time of a batch beside that of its slowest task, and its requests. The sandbox runs in a process of its
 * own.
 */
import type { IDataObject } from 'n8n-workflow';
import type { Stats } from '../sandbox/routes/control.mts';
import { prompts, runGateway, type Sandbox } from '../test/support/nodes.mts';
import { seeded } from '../test/support/simulation';
import { report } from './rows.mts';

const apiKey = 'sandbox-key';
const sandbox = { baseUrl: process.env.BENCH_SANDBOX ?? '', apiKey } as Sandbox;
const POLITE_LIMIT = 60; // default of Requests per Second

async function control<T>({ baseUrl }: Sandbox, path: string, method = 'GET'): Promise<T> {
	const response = await fetch(`${baseUrl}/__sandbox/${path}`, { method });
	return (await response.json()) as T;
}

async function runBatch(durationsMs: number[], options: IDataObject = {}) {
	await control(sandbox, 'reset', 'POST');
	const items = prompts(...durationsMs.map((ms, index) => `picture ${index} [[sandbox duration=${ms}ms]]`));
	const startedAt = performance.now();
	const { json } = await runGateway(
		'image',
		sandbox,
		{ operation: 'generate', prompt: '={{ $json.prompt }}', downloadResult: false, options },
		{ items },
	);
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
	const how =
		options.concurrentTasks === undefined ? 'default options' : `Concurrent Tasks ${String(options.concurrentTasks)}`;
	const tasks = count === 1 ? '1 item, task of 10 s' : `${count} items, tasks of 0 to 10 s`;
	report({ what: `${tasks}, ${how}`, measured, goal: `at most ${POLITE_LIMIT} in a second, 0 refused` });
});

test('50 items of 10 s', async () => {
	const { measured } = await runBatch(Array.from({ length: 50 }, () => 10_000));
	report({ what: '50 items, tasks of 10 s, default options', measured, goal: 'at most 1.15 times, 0 refused' });
});
