/** The clock of the computer is set back by an hour while requests wait for their turn. */
import { prompts, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
afterEach(() => jest.restoreAllMocks());

test('when the clock is set back, every task is bought as soon as ever', async () => {
	const now = Date.now.bind(Date);
	const startedAtMs = performance.now();
	jest.spyOn(Date, 'now').mockImplementation(() => now() - (sandbox.tasks.length >= 3 ? 3_600_000 : 0));
	const { json, error } = await runGateway(
		'image',
		sandbox,
		{ operation: 'generate', prompt: '={{ $json.prompt }}', whenDone: 'return', options: { requestsPerSecond: 5 } },
		{ items: prompts('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h') },
	);
	expect(error).toBeUndefined();
	expect(json).toHaveLength(8);
	expect(sandbox.tasks).toHaveLength(8);
	expect(performance.now() - startedAtMs).toBeLessThan(30_000);
});
