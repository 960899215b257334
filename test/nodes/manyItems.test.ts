import { FieldReader } from '../../nodes/form/fieldReader';
import {
	pause,
	processorMs,
	prompts,
	quickSandbox,
	runGateway,
	startGateway,
	type Sandbox,
} from '../support/nodes.mts';

/** While thousands of items are prepared, n8n has others to answer in the same thread. */
let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());

const ITEMS = 3_000;
const fromItem = { operation: 'generate', prompt: '={{ $json.prompt }}' };
/** The last is not allowed: all are prepared, nothing is sent. */
const items = prompts(...Array.from({ length: ITEMS - 1 }, (_, index) => `picture ${index}`), '');

test('timers go on while thousands of items are prepared', async () => {
	let hasEnded = false;
	const run = runGateway('image', sandbox, fromItem, { items }).finally(() => (hasEnded = true));
	/** Of the processor: what other processes take does not count. */
	const gapsMs: number[] = [];
	while (!hasEnded) {
		const startedAtMs = processorMs();
		await pause(1);
		gapsMs.push(processorMs() - startedAtMs);
	}
	expect((await run).error).toMatchObject({
		message: expect.stringContaining('Prompt'),
		context: { itemIndex: ITEMS - 1 },
	});
	expect(gapsMs.length).toBeGreaterThan(30);
	expect(Math.max(...gapsMs)).toBeLessThan(1000);
});

test('a stop ends the preparation of thousands of items', async () => {
	const prepared = jest.spyOn(FieldReader.prototype, 'json'); // Additional Fields: once for each item
	const { promise } = startGateway('image', sandbox, fromItem, { items });
	await pause(100);
	promise.cancel();
	const run = await promise;
	await pause(100);
	const count = prepared.mock.calls.length;
	await pause(200);
	expect(run.status).toBe('canceled');
	expect(prepared).toHaveBeenCalledTimes(count);
	expect(count).toBeGreaterThan(0);
	expect(count).toBeLessThan(ITEMS);
});
