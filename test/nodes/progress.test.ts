/**
 * The progress that a waiting node reports: in the browser's console of a manual execution, and in a streamed response.
 */
import type { IWorkflowExecuteAdditionalData } from 'n8n-workflow';
import { pause, prompts, quick, quickSandbox, startGateway, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

interface Chunk {
	type: string;
	content?: string;
}

/** Runs it, and returns what the browser's console and the reader of a streamed response get. */
async function listen(
	parameters: Parameters<typeof startGateway>[2],
	{ stopAfterMs, ...options }: RunOptions & { stopAfterMs?: number } = {},
) {
	const lines: string[] = [];
	const chunks: Chunk[] = [];
	const { promise, additionalData } = startGateway(
		'video',
		sandbox,
		{ operation: 'generate', prompt: '={{ $json.prompt }}', ...parameters },
		options,
	);
	const listened = additionalData as IWorkflowExecuteAdditionalData;
	listened.sendDataToUI = (_type, data) => lines.push(...((data as { messages?: string[] }).messages ?? []));
	listened.streamingEnabled = true;
	listened.hooks?.addHandler('sendChunk', (chunk) => void chunks.push(chunk as Chunk));
	if (stopAfterMs !== undefined) {
		await pause(stopAfterMs);
		promise.cancel();
	}
	await promise;
	return { lines, chunks };
}

const items = prompts('a [[sandbox duration=7s]]', 'b [[sandbox duration=7s]]', 'c [[sandbox duration=1s]]');
const LEFT = '(about \\d+ s left|\\d+ s to \\d+ s left)';
const SAID = new RegExp(`^\\d of 3 done, [23] running( at \\d+( to \\d+)? %)?(, slowest: ${LEFT})?$`);

test('a manual execution says each ID and the progress in the console, and nothing where no response is streamed', async () => {
	const { lines, chunks } = await listen({ options: quick }, { items });
	for (const { id } of sandbox.tasks)
		expect(lines).toContainEqual(
			expect.stringMatching(`^Task ${id} \\(alpha-video-1-5-pro\\) was accepted, item \\d$`),
		);
	expect(lines.filter((line) => SAID.test(line)).length).toBeGreaterThan(1);
	expect(chunks).toEqual([]);
	expect(lines.join()).not.toContain(sandbox.apiKey);
});

test('a line that says nothing new is not said again', async () => {
	const { lines } = await listen({ options: quick }, { items: prompts('a [[sandbox duration=9s progress=missing]]') });
	const said = lines.filter((line) => line.startsWith('Video in progress'));
	expect(said).not.toEqual([]);
	expect(new Set(said).size).toBe(said.length);
});

test('a stop says what is still running', async () => {
	const { lines } = await listen(
		{ options: quick },
		{ items: prompts('a [[sandbox duration=60s]]'), stopAfterMs: 2_000 },
	);
	expect(lines.at(-1)).toBe(
		`The execution was stopped. Still running at the service: ${sandbox.tasks[0]?.id}. To get a result, create a new workflow: a trigger, and after it Get Result with its task ID.`,
	);
});

test('an ID cannot forge a line of the console', async () => {
	sandbox.faults.add({ on: 'create', do: { status: 200, body: { id: 'a\n\u001b[2Jb', status: 'queued' } } });
	const { lines } = await listen({ options: quick }, { items: prompts('a'), stopAfterMs: 2_000 });
	expect(lines.at(-1)).toContain('Still running at the service: a [2Jb. To get a result');
	expect(lines.filter((line) => /\p{Cc}/u.test(line))).toEqual([]);
});

test.each([
	['creating', 'a [[sandbox create=503:8]]', 'The service is not available at the moment (503)'],
	['checking', 'a [[sandbox duration=60s poll=429:8*9]]', 'The service is receiving too many requests (429)'],
])('trouble while %s is said within 5 s: %s', async (_, prompt, trouble) => {
	const { lines } = await listen({ options: quick }, { items: prompts(prompt), stopAfterMs: 7_000 });
	expect(lines).toContainEqual(expect.stringMatching(`^${trouble.replace(/[()]/g, '\\$&')}, next try in [5-8] s$`));
});
