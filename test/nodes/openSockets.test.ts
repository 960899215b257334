/** A response that is given up does not keep its connection open: counted at the server. */
import { flood, gzippedFlood, startHostile, TASK_ID, text, type Hostile } from '../support/hostile.mts';
import { pause, quick, runGateway, testCredential, type Sandbox } from '../support/nodes.mts';

let hostile: Hostile;
beforeAll(async () => {
	hostile = await startHostile();
});
afterAll(async () => await hostile.close());
beforeEach(() => hostile.reset());

const run = async (parameters: Record<string, unknown>, kind: 'image' | 'balance' = 'image') =>
	await runGateway(kind, hostile as unknown as Sandbox, parameters as never);

/** The requests that are still being answered, a moment after the end. */
async function stillAnswered(): Promise<number> {
	for (let waited = 0; waited < 40 && hostile.answering() > 0; waited++) await pause(50);
	return hostile.answering();
}

test.each([200, 401, 404])('an endless answer to a read, with HTTP %i, leaves no open connection', async (status) => {
	hostile.answers.poll = flood('{"a":', Infinity, status);
	await run({ operation: 'getTask', taskId: TASK_ID });
	expect(hostile.requests.length).toBeGreaterThan(0);
	expect(await stillAnswered()).toBe(0);
});

test.each([200, 400, 500])(
	'an endless answer to a creating request, with HTTP %i, leaves no open connection',
	async (status) => {
		hostile.answers.create = flood('{"a":', Infinity, status);
		await run({ operation: 'generate', prompt: 'a', options: quick });
		expect(hostile.posts()).toBe(1);
		expect(await stillAnswered()).toBe(0);
	},
);

test('an endless answer to the test of the credential leaves no open connection', async () => {
	hostile.answers.balance = flood('{"a":');
	await testCredential(hostile);
	expect(await stillAnswered()).toBe(0);
});

test('an endless compressed answer leaves no open connection', async () => {
	hostile.answers.poll = gzippedFlood();
	await run({ operation: 'getTask', taskId: TASK_ID });
	expect(await stillAnswered()).toBe(0);
});

test('an answer that has nothing more to say, but does not end, leaves no open connection', async () => {
	const silent = `[${'0,'.repeat(4_500_000)}`;
	hostile.answers.poll = (response) => void response.writeHead(200).write(silent);
	await run({ operation: 'getTask', taskId: TASK_ID });
	expect(await stillAnswered()).toBe(0);
});

test('an ordinary answer leaves no open connection either', async () => {
	hostile.answers.poll = text(`{"id":"${TASK_ID}","status":"queued"}`);
	expect((await run({ operation: 'getTask', taskId: TASK_ID })).json).toMatchObject([{ task_id: TASK_ID }]);
	expect(await stillAnswered()).toBe(0);
});
