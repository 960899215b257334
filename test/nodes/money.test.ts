/**
 * The messages of a run that ends with the error of one item: how to get what is paid for, and never how to pay again.
 */
import { pause, prompts, quick, quickSandbox, runGateway, startGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
afterEach(() => jest.restoreAllMocks());
beforeEach(() => sandbox.reset());

const fromItem = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };
const continuing = { settings: { onError: 'continueErrorOutput' as const } };

describe('a double click on Execute step', () => {
	const items = prompts('a [[sandbox duration=2s]]', 'b [[sandbox duration=2s]]');
	let first = 172;
	/** Each test has executions of its own. */
	beforeEach(() => void (first += 2));
	const click = async (execution: number, more: Parameters<typeof runGateway>[3] = {}, form: object = fromItem) =>
		await runGateway('image', sandbox, form as never, {
			...{ items, mode: 'manual' as const, kept: { executionId: String(execution) } },
			...more,
		});

	/** The first execution has sent its requests: on a busy machine that takes a while. */
	const untilSent = async (count = 2) => {
		while (sandbox.tasks.length < count) await pause(20);
	};

	test.each([{}, { retryOnFail: true, maxTries: 3, waitBetweenTries: 1000 }])(
		'the second execution sends nothing and names the first, with %j',
		async (settings) => {
			const clicked = click(first);
			await untilSent();
			const second = await click(first + 1, { settings });
			expect(second.error?.message).toContain(`already running with the same requests, in execution ${first}`);
			expect(second.error?.description).toMatch(/Nothing was sent now/);
			expect((await clicked).json.map(({ status }) => status)).toEqual(['completed', 'completed']);
			expect(sandbox.tasks).toHaveLength(2);
		},
	);

	test.each<[string, Parameters<typeof click>[1]]>([
		['other requests', { items: prompts('a [[sandbox duration=2s]]') }],
		['a production execution', { mode: 'trigger' }],
	])('%s at the same time are not affected', async (_title, more) => {
		const clicked = click(first);
		await untilSent();
		expect((await click(first + 1, more)).error).toBeUndefined();
		await clicked;
		expect(sandbox.tasks.length).toBeGreaterThan(2);
	});

	test('a run that has ended is bought again, also one that was stopped', async () => {
		const stopped = startGateway('image', sandbox, fromItem, { items, kept: { executionId: `stopped ${first}` } });
		await untilSent();
		stopped.promise.cancel();
		await stopped.promise.catch(() => {});
		expect((await click(first)).error).toBeUndefined();
		expect((await click(first + 1)).error).toBeUndefined();
		expect(sandbox.tasks).toHaveLength(6);
	});
});

test('of one refused item of 30 the cause comes first, then one way to the others, and all IDs are under Error details', async () => {
	const last = 'z [[sandbox create=slow:1500ms!400]]';
	const items = prompts(...Array.from({ length: 29 }, (_, index) => `${index} [[sandbox duration=60s]]`), last);
	const { error } = await runGateway('image', sandbox, fromItem, { items });
	expect(sandbox.tasks).toHaveLength(29);
	expect(error?.description).toMatch(
		/^The service says: .*…"\. To get the rest, set On Error to Continue, save, and in the Executions list choose Retry with currently saved workflow: it reads the stored input, and tasks that exist continue\. IDs: see Error details\.$/,
	);
	const { messages } = error as unknown as { messages: string[] };
	for (const { id } of sandbox.tasks) expect(messages.join()).toContain(id);
});

test('following the advice about a refused item brings all results, and buys only that item', async () => {
	const items = prompts('a', 'b', 'c [[sandbox create=slow:1500ms!400]]');
	const stopped = await runGateway('image', sandbox, fromItem, {
		items,
		kept: { executionId: 'first 3', establishedAt: 3 },
	});
	expect(stopped.error?.description).toMatch(/set On Error to Continue, .* choose Retry with currently saved workflow/);
	const { contextData } = stopped.run.data.executionData ?? {};
	const retried = await runGateway('image', sandbox, fromItem, {
		items,
		...continuing,
		mode: 'retry',
		kept: { executionId: 'second 3', establishedAt: 3, contextData },
	});
	const [succeeded, failed] = retried.task?.data?.main ?? [];
	expect(succeeded?.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
	expect(failed).toHaveLength(1);
	expect(sandbox.tasks).toHaveLength(2);
});

describe('a task that has not finished in time', () => {
	const late = { prompt: 'a [[sandbox duration=60s]]', options: { ...quick, timeoutMinutes: 0.02 } };

	test('after a timeout, Generate advises to raise Timeout and to retry, which continues the task, and says what buys again', async () => {
		const parameters = { operation: 'generate', ...late };
		const first = await runGateway('image', sandbox, parameters, {
			kept: { executionId: 'first 4', establishedAt: 4 },
		});
		expect(first.error?.description).toBe(
			'Raise Timeout, save, and in the Executions list choose Retry with currently saved workflow: tasks that exist continue, nothing is paid twice. Execute step and Debug in editor buy again.',
		);
		const { contextData } = first.run.data.executionData ?? {};
		const { error } = await runGateway('image', sandbox, parameters, {
			mode: 'retry',
			kept: { executionId: 'second 4', establishedAt: 4, contextData },
		});
		expect(error?.message).toContain(sandbox.tasks[0]?.id);
		expect(sandbox.tasks).toHaveLength(1);
	});

	test('the advice in a sub-workflow names its own execution, because a retry of the other workflow begins a new one', async () => {
		const { error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', ...late },
			{ mode: 'integrated', kept: { executionId: '17', establishedAt: 6 } },
		);
		expect(error?.description).toContain(
			'choose Retry with currently saved workflow for execution 17 of this workflow:',
		);
		expect(error?.description).toContain(
			'Execute step, Debug in editor, and a retry of the workflow that called this one buy again.',
		);
	});

	test('the advice of an error item names no retry, because the execution goes on', async () => {
		const { task } = await runGateway('image', sandbox, { operation: 'generate', ...late }, continuing);
		expect(task?.data?.main[1]?.[0]?.json.message).toBe(
			'It is still running. Use Get Result at this output, with {{ $json.details.task_id }} as Task ID: that costs nothing. Running this node again creates a new task, and you pay again.',
		);
	});
});

test('after a wrong path, entering the right one and a retry with the saved workflow reads the task again', async () => {
	const body = { operation: 'generate', prompt: 'a' };
	const wrong = { ...body, options: { ...quick, resultPath: 'nowhere' } };
	const first = await runGateway('image', sandbox, wrong, { kept: { executionId: 'first 9', establishedAt: 9 } });
	expect(first.error?.description).toContain(
		'Set Result Path to the right path, save, and in the Executions list choose Retry with currently saved workflow: tasks that exist continue, nothing is paid twice',
	);
	const { contextData } = first.run.data.executionData ?? {};
	const right = { ...body, options: { ...quick, resultPath: 'result.data[0].url' } };
	const { items, error } = await runGateway('image', sandbox, right, {
		mode: 'retry',
		kept: { executionId: 'second 9', establishedAt: 9, contextData },
	});
	expect(error).toBeUndefined();
	expect(Object.keys(items[0]?.binary ?? {})).toEqual(['data']);
	expect(sandbox.tasks).toHaveLength(1);
});

describe('angle brackets', () => {
	const html = 'No <a href="https://example.com">link</a> & no <<<image_1>>>';
	const shown = 'No ‹a href="https://example.com"›link‹/a› & no ‹‹‹image_1›››';
	const refuse = () =>
		sandbox.faults.add({
			on: 'create',
			times: -1,
			do: { status: 400, body: { error: { code: 'invalid_request', message: html } } },
		});

	test('angle brackets of the service are shown as others, in the panel and in the error output', async () => {
		refuse();
		expect((await runGateway('image', sandbox, fromItem, { items: prompts('a') })).error?.description).toContain(shown);
		const { task } = await runGateway('image', sandbox, fromItem, { items: prompts('a'), ...continuing });
		expect(task?.data?.main[1]?.[0]?.json.message).toContain(shown);
	});
});

describe('an expression that gives nothing is named as such', () => {
	test.each([
		['Prompt', { prompt: '={{ $json.text }}' }],
		['Task ID', { operation: 'getResult', wait: 'dontWait', result: 'urlOnly', taskId: '={{ $json.id }}' }],
	])('an expression in %s that gives nothing is named as such', async (label, parameters) => {
		const { error } = await runGateway('image', sandbox, { operation: 'generate', ...parameters });
		expect(error?.message).toBe(`${label} is empty: its expression returned nothing for this item`);
		expect(error?.description).toMatch(/^Check the expression in .*Nothing was sent\.$/);
		expect(sandbox.requests).toEqual([]);
	});
});
