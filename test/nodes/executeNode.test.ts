/** A node that n8n runs alone, for its AI Assistant, in a workflow that it deletes soon. Over n8n's own service: test/n8n/executeNode. */
import type { IDataObject } from 'n8n-workflow';
import { prompts, quick, quickSandbox, runGateway, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

/** Time enough for one task, also on a busy machine. */
const ENOUGH = { workflowSettings: { executionTimeout: 12 } };

const runAlone = async (parameters: IDataObject, options: RunOptions = {}) =>
	await runGateway(
		'image',
		sandbox,
		{ operation: 'generate', prompt: '={{ $json.prompt }}', options: quick, ...parameters },
		{ workflowName: 'Execute node test.imageGeneration', workflowSettings: { executionTimeout: 8 }, ...options },
	);

test.each([
	['acrossRestarts', 'Until Ready, Across Restarts', {}],
	['inAnotherWorkflow', 'In Another Workflow', { workflowId: { __rl: true, mode: 'id', value: 'other' } }],
])('%s is refused before anything is sent: n8n would delete the executions that wait', async (wait, choice, more) => {
	const { error } = await runAlone({ wait, ...more }, { items: prompts('a') });
	expect(error?.message).toBe(
		`Wait cannot be ${choice} here: n8n runs this node alone for 8 s at most, and then deletes the executions that wait. Set Wait to Don’t Wait, and get the result later with Get Result and the task ID. To wait, use the node in a workflow. Nothing was sent.`,
	);
	expect(sandbox.requests).toHaveLength(0);
});

test('Until Ready gives the URL of a task that is quick enough, and no file, which n8n would delete', async () => {
	const { json, items } = await runAlone({}, { items: prompts('a'), ...ENOUGH });
	expect(json).toEqual([expect.objectContaining({ status: 'completed', url: expect.stringMatching(/^http/) })]);
	expect(items[0]?.binary).toBeUndefined();
	expect(sandbox.fileRequests).toHaveLength(0);
});

const SLOW = 'slow [[sandbox duration=60s]]';

test('Until Ready ends before n8n does, with the ID of the task and the way to its result', async () => {
	const startedAtMs = Date.now();
	const { json } = await runAlone({}, { items: prompts(SLOW) });
	expect(Date.now() - startedAtMs).toBeLessThan(8_000);
	expect(json[0]?.message).toMatch(
		new RegExp(
			`^Task ${sandbox.tasks[0]?.id} has not finished in the 8 s that n8n gives a single node \\(last status: .*\\)\\. It goes on at the service, and is paid for\\. Call a tool for Get Result with this task ID\\. If you have none, tell the user the ID\\. Calling Generate again creates a new task, and you pay again\\.$`,
		),
	);
});

test('Get Result ends in the same way', async () => {
	await runAlone({ wait: 'dontWait' }, { items: prompts(SLOW) });
	const id = sandbox.tasks[0]?.id;
	const { json } = await runAlone({ operation: 'getResult', taskId: id });
	expect(json[0]?.message).toMatch(new RegExp(`^Task ${id} has not finished in the 8 s .* Call a tool for Get Result`));
});

test('a poll that hangs does not use up the time', async () => {
	// All of them: the last poll of the test before may still arrive.
	sandbox.faults.add({ on: 'status', do: 'slow:20s*all' });
	const { json } = await runAlone({}, { items: prompts('a') });
	expect(json[0]?.message).toContain(`Task ${sandbox.tasks[0]?.id} has not finished in the 8 s`);
});

test('with Continue, each item says what became of it, and none is submitted when the time is nearly over', async () => {
	const { json } = await runAlone(
		{ options: { ...quick, concurrentTasks: 1 } },
		{ items: prompts(SLOW, 'b'), settings: { onError: 'continueRegularOutput' }, ...ENOUGH },
	);
	expect(json).toEqual([
		expect.objectContaining({
			task_id: sandbox.tasks[0]?.id,
			message: expect.stringContaining('has not finished in the'),
		}),
		expect.objectContaining({ code: 'not_submitted' }),
	]);
	expect(sandbox.tasks).toHaveLength(1);
});

test('a workflow of a person that has such a name, and no limit of time, is one like any other', async () => {
	const { items } = await runAlone({}, { items: prompts('a'), workflowSettings: {} });
	expect(items[0]?.binary).toBeDefined();
});
