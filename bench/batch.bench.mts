/** How long a batch takes compared with its slowest task, and how politely. */
import { prompts, quickSandbox, runGateway } from '../test/support/nodes.mts';
import { report } from './rows.mts';

const TASK_MS = 10_000;

test.each([1, 10, 50])('%i items', async (count) => {
	const sandbox = await quickSandbox({ imageTaskMs: TASK_MS });
	const startedAt = performance.now();
	const cpuBefore = process.cpuUsage();
	const { json } = await runGateway('image', sandbox, { operation: 'generate', prompt: '={{ $json.prompt }}' }, {
		items: prompts(...Array.from({ length: count }, (_, index) => `picture ${index}`)),
	});
	const wallMs = performance.now() - startedAt;
	const { user, system } = process.cpuUsage(cpuBefore);
	const stats = sandbox.stats();
	await sandbox.close();
	expect(json.filter(({ status }) => status === 'completed')).toHaveLength(count);
	report({
		what: `${count} ${count === 1 ? 'item' : 'items'}, default options, tasks of 10 s`,
		measured: `${(wallMs / TASK_MS).toFixed(2)} times the slowest task, ${stats.apiRequests} requests, at most ${stats.peakRequestsPerSecond} in a second, ${stats.rateLimited} refused, ${((user + system) / 1e6).toFixed(1)} s CPU (sandbox included)`,
		goal: 'at most 1.15 times',
	});
});
