import { SupplyDataContext } from 'n8n-core';
import { realClock } from '../../nodes/connection/transport';
import { callInAgents, runTool } from '../support/agent.mts';
import { NODES, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ assetMs: 200 });
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const fromAI = (name: string) => `={{ $fromAI('${name}', 'what it is', 'string') }}`;
const options = { pollIntervalSeconds: 1 };
const parse = (text: string | undefined) => JSON.parse(text ?? '') as Array<Record<string, unknown>>;

test('Token is no tool: an agent must not mint keys', () => {
	expect(NODES.token.description.usableAsTool).toBeUndefined();
	expect('usableAsTool' in NODES.token.description).toBe(true);
});

test('an agent gets the balance in credits and USD', async () => {
	const { answers } = await runTool('balance', sandbox, { operation: 'getAccountBalance' }, [{}]);
	expect(parse(answers[0].text)[0]).toMatchObject({ remain_credits: 100_000, remain_usd: 500 });
});

test.each([
	['image', { prompt: fromAI('Prompt'), options }],
	['video', { model: 'beta-v3', prompt: fromAI('Prompt'), options }],
] as const)('the tool for %s generation gives a short answer with the URL, without files', async (kind, parameters) => {
	const { answers, description, run } = await runTool(kind, sandbox, { ...parameters, result: 'file' }, [
		{ Prompt: 'a cat' },
	]);
	expect(answers[0].error).toBeUndefined();
	const [answer] = parse(answers[0].text);
	expect(answer).toMatchObject({
		status: 'completed',
		url: expect.stringMatching(/^http/),
		task_id: sandbox.tasks[0].id,
	});
	expect(answers[0].text?.length).toBeLessThan(1_000);
	expect(description).toMatch(kind === 'image' ? /image/i : /video/i);
	expect(sandbox.fileRequests).toHaveLength(0);
	expect(JSON.stringify(run.data.resultData.runData)).not.toContain('"binary"');
});

test('the tool for avatars makes a group, then an asset in it', async () => {
	const group = await runTool(
		'avatar',
		sandbox,
		{ resource: 'group', operation: 'create', groupName: fromAI('Name') },
		[{ Name: 'Anna' }],
	);
	const [{ group_id: groupId }] = parse(group.answers[0].text);
	const asset = { resource: 'asset', operation: 'upload', groupId: fromAI('Group'), sourceUrl: fromAI('URL') };
	const { answers } = await runTool('avatar', sandbox, asset, [
		{ Group: groupId as string, URL: 'https://example.com/a.png' },
	]);
	expect(parse(answers[0].text)[0]).toMatchObject({ status: 'active', reference: expect.stringMatching(/^asset:/) });
});

test('what an agent enters is no expression: it could read other nodes', async () => {
	const parameters = { prompt: 'a cat', options: { pollIntervalSeconds: fromAI('interval') } };
	const { answers } = await runTool('image', sandbox, parameters, [{ interval: "{{ 'to' + 'ken' }}" }]);
	expect(answers[0].error).toContain(`Polling Interval (Seconds) is "{{ 'to' + 'ken' }}"`);
	expect(sandbox.tasks).toHaveLength(0);
});

test('two calls with the same words are two purchases', async () => {
	const { answers } = await runTool('image', sandbox, { prompt: fromAI('Prompt'), options }, [
		{ Prompt: 'a cat' },
		{ Prompt: 'a cat' },
	]);
	expect(new Set(answers.map(({ text }) => parse(text)[0].task_id)).size).toBe(2);
	expect(sandbox.tasks).toHaveLength(2);
});

test('what went wrong comes as plain text that says how to go on', async () => {
	sandbox.faults.add({ on: 'create', do: '402' });
	const { answers } = await runTool('image', sandbox, { prompt: fromAI('Prompt'), options }, [
		{ Prompt: 'a cat' },
		{ Prompt: '' },
	]);
	expect(answers[0].error).toMatch(/^There are not enough credits.* Add credits/);
	expect(answers[1].error).toMatch(/^Prompt is empty: its expression returned nothing for this item/);
	for (const { error } of answers) expect(error).not.toMatch(/\[object|undefined|sk-|at .*\.ts:/);
});

test('a call that ends by a limit is no failure: it says which, and how to get the result', async () => {
	const late = { prompt: 'a [[sandbox duration=60s]]', options: { ...options, timeoutMinutes: 0.02 } };
	const { answers } = await runTool('image', sandbox, late, [{}]);
	const [answer] = parse(answers[0].text);
	expect(answer).toMatchObject({ task_id: sandbox.tasks[0].id });
	expect(answer).not.toHaveProperty('error');
	expect(answer.message).toMatch(
		/has not finished within 1.2 s.* Timeout \(Minutes\) in the options of this tool, which is at most 10 in n8n Agents, ended the call\. Call a tool for Get Result with this task ID\. If you have none, tell the user the ID\. Calling Generate again creates a new task, and you pay again\./,
	);
});

test.each<[string, Record<string, unknown>, Record<string, unknown>, RegExp]>([
	[
		'Don’t Wait',
		{},
		{ wait: 'dontWait' },
		/call a tool for Get Result with this task ID\. If you have none, tell the user the ID\. .* you pay again\.$/,
	],
])('a task that goes on says so: %s', async (_, more, parameters, said) => {
	const late = { prompt: 'a [[sandbox duration=60s]]', ...parameters, options: { ...options, ...more } };
	const { answers } = await runTool('image', sandbox, late as never, [{}]);
	const [answer] = parse(answers[0].text);
	expect(answer).toMatchObject({ task_id: sandbox.tasks[0].id, message: expect.stringMatching(said) });
});

test.each([
	['Generate', { wait: 'dontWait' }],
	['Get Result', { operation: 'getResult', taskId: '={{ $json.id }}', wait: 'dontWait' }],
])('%s without waiting says how long a task of this model usually takes, as polling has learned', async (_, later) => {
	const bought = await runTool('image', sandbox, { prompt: 'a cat', model: 'gamma-image-2', options }, [{}]);
	expect(parse(bought.answers[0].text)[0]).toMatchObject({ status: 'completed' });
	const slow = { prompt: 'a [[sandbox duration=60s]]', model: 'gamma-image-2' };
	const { json } = await callInAgents('image', sandbox, { ...slow, wait: 'dontWait' });
	const { json: answer } = await callInAgents('image', sandbox, { ...slow, ...later }, { id: json.task_id });
	expect(answer.message).toMatch(/ Such a task usually takes about [1-9]\d* seconds?\. Its result is not part/);
});

describe('a tool of n8n Agents, which has no execution,', () => {
	test('works, and the line in n8n’s log names the tool', async () => {
		const { json, lines } = await callInAgents('image', sandbox, { prompt: fromAI('Prompt') }, { Prompt: 'a cat' });
		expect(json).toMatchObject({ status: 'completed', url: expect.stringMatching(/^http/) });
		expect(lines).toEqual([expect.stringMatching(/was accepted, tool "Gateway Image" of n8n Agents$/)]);
	});

	test.each([
		['a Purchase Key', { options: { purchaseKey: 'order 1' } }, /n8n Agents have no purchase log/],
		[
			'In Another Workflow',
			{ wait: 'inAnotherWorkflow', workflowId: 'x' },
			/Wait cannot be In Another Workflow in n8n/,
		],
	])('refuses %s before anything is sent', async (_, parameters, said) => {
		await expect(callInAgents('image', sandbox, { prompt: 'a cat', ...parameters })).rejects.toThrow(said);
		expect(sandbox.requests).toHaveLength(0);
	});

	test('waits ten minutes at most, whatever Timeout says: n8n does not tell it when the chat is left', async () => {
		let aheadMs = 0;
		const { now, elapsed = now, sleep } = realClock;
		jest.spyOn(realClock, 'now').mockImplementation(() => now() + aheadMs);
		jest.spyOn(realClock, 'elapsed').mockImplementation(() => elapsed() + aheadMs);
		jest.spyOn(realClock, 'sleep').mockImplementation(async (delayMs, _, atMostMs = Infinity) => {
			aheadMs += Math.max(0, Math.min(delayMs, atMostMs));
			await sleep(5);
		});
		const late = { prompt: 'a [[sandbox duration=24h]]', options: { timeoutMinutes: 60 } };
		const { json } = await callInAgents('image', sandbox, late);
		jest.restoreAllMocks();
		expect(json).toMatchObject({ task_id: sandbox.tasks[0].id, message: expect.stringMatching(/within 10 min/) });
	});
});

test.each([
	['used up', '402', /^There are not enough credits left.* Stop: do not call this tool again\. The budget is used up/],
	['expired', '401', /^The service did not accept the API key\. Stop: do not call this tool again\./],
	['not allowed to use the model', '403', /^The API key is not allowed .* Stop: do not call this tool again\./],
])('a key that is %s tells the agent to stop, and nobody else', async (_, status, said) => {
	sandbox.faults.add({ on: 'create', times: 2, do: status });
	const { answers } = await runTool('image', sandbox, { prompt: fromAI('Prompt'), options }, [{ Prompt: 'a cat' }]);
	expect(answers[0].error).toMatch(said);
	const { error } = await runGateway('image', sandbox, { prompt: 'a cat', options });
	expect(error?.description).not.toContain('do not call');
});

describe.each(['this n8n', 'an n8n that does not say what a tool call is'])('a retry of one call in %s', (which) => {
	const says = SupplyDataContext.prototype.isToolExecution;
	beforeEach(() => {
		if (which !== 'this n8n') Object.assign(SupplyDataContext.prototype, { isToolExecution: undefined });
	});
	afterEach(() => {
		Object.assign(SupplyDataContext.prototype, { isToolExecution: says });
	});

	test('a retry of one call does not pay again when the outcome of the first try is unknown', async () => {
		sandbox.faults.add({ on: 'create', do: '504!after' });
		const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
		const { answers } = await runTool(
			'image',
			sandbox,
			{ prompt: fromAI('Prompt'), options },
			[{ Prompt: 'a cat' }, { Prompt: 'a cat' }],
			settings,
		);
		expect(answers[0].error).toMatch(/may or may not have/);
		expect(parse(answers[1].text)[0]).toMatchObject({ status: 'completed' });
		expect(sandbox.tasks).toHaveLength(2);
	});
});
