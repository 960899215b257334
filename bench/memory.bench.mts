/** How much more memory a large download takes. The sandbox runs in a process of its own. */
import { useBinaryMode } from '../test/support/engine.mts';
import { pause, runGateway, type Sandbox } from '../test/support/nodes.mts';
import { report } from './rows.mts';

/** `BENCH_MEGABYTES=2000` measures a larger one. */
const MEGABYTES = Number(process.env.BENCH_MEGABYTES ?? 300);
const parameters = (megabytes: number) => ({
	operation: 'generate',
	prompt: `a [[sandbox duration=200ms bytes=${megabytes}]]`,
	downloadResult: true,
	options: { pollIntervalSeconds: 1 },
});

test(`a download of ${MEGABYTES} MB`, async () => {
	const sandbox = { baseUrl: process.env.BENCH_SANDBOX, apiKey: 'sandbox-key' } as Sandbox;
	await useBinaryMode('filesystem');
	for (let warmUp = 0; warmUp < 2; warmUp++) await runGateway('video', sandbox, parameters(5));
	globalThis.gc?.();
	await pause(500);
	const before = process.memoryUsage().rss;
	let peak = before;
	const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
	const startedAt = performance.now();
	const { items } = await runGateway('video', sandbox, parameters(MEGABYTES));
	clearInterval(sampling);
	expect(items[0].binary?.data).toMatchObject({ mimeType: 'video/mp4', bytes: MEGABYTES * 1e6 });
	report({
		what: `Download of ${MEGABYTES} MB, filesystem mode`,
		measured: `${((peak - before) / 1e6).toFixed(0)} MB more resident memory, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
		goal: 'at most 40 MB',
	});
});
