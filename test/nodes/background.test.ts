/** In Another Workflow, as far as it can be seen without n8n's database: what is checked, and what is handed over. */
import type { IDataObject, IExecuteWorkflowInfo, INodeExecutionData } from 'n8n-workflow';
import { startableWorkflows } from '../../core/processMemory';
import { startHandingOver } from '../support/handingOver.mts';
import { handOverIn, orderOf } from '../support/orders.mts';
import { prompts, quick, quickSandbox, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => {
	sandbox.reset();
	startableWorkflows.clear();
});

interface Started {
	code: NonNullable<IExecuteWorkflowInfo['code']>;
	items: INodeExecutionData[];
	waits: boolean;
}

interface N8n {
	/** n8n's error when it is to start the chosen workflow without items. */
	refuses?: Error;
	/** n8n's error about the sub-execution, which it is to start without items, too. */
	refusesToWait?: Error;
	/** The sub-executions that it does not start, from 1. */
	failing?: number[];
}

async function run(
	parameters: IDataObject,
	items: INodeExecutionData[],
	{ refuses, refusesToWait, failing = [] }: N8n = {},
	options: RunOptions = {},
) {
	const checks: Array<{ id?: string; items: INodeExecutionData[] }> = [];
	const tried: Array<Started['code']> = [];
	const started: Started[] = [];
	let calls = 0;
	const form = {
		operation: 'generate',
		prompt: '={{ $json.prompt }}',
		wait: 'inAnotherWorkflow',
		workflowId: { __rl: true, mode: 'list', value: 'w1', cachedResultName: 'Post Picture' },
		options: quick,
		...parameters,
	};
	const { promise } = startHandingOver(sandbox, form, { ...options, items }, async (info, _, more) => {
		const { id, code } = info;
		const { inputData = [], doNotWaitToFinish } = more;
		if (code === undefined) {
			checks.push({ id, items: inputData });
			if (refuses) throw refuses;
			return await Promise.resolve({ executionId: '6', data: [null] });
		}
		if (inputData.length === 0) {
			tried.push(code);
			if (refusesToWait) throw refusesToWait;
			return { executionId: '5', data: [null] };
		}
		if (failing.includes(++calls)) throw new Error('the database is locked');
		started.push({ code, items: inputData, waits: doNotWaitToFinish !== true });
		return { executionId: String(100 + calls), data: [null] };
	});
	const { data } = await promise;
	const task = data.resultData.runData.Node?.at(-1);
	return {
		checks,
		tried,
		started,
		hints: task?.hints?.map(({ message }) => message),
		items: task?.data?.main?.[0] ?? [],
		outputs: task?.data?.main ?? [],
		error: task?.error,
		data,
	};
}

const idsOf = ({ items }: Started) => items.map((item) => orderOf(item).task?.taskId);
const tasks = () => sandbox.tasks.map(({ id }) => id);

test('the node returns the tasks and the execution that waits for them', async () => {
	const { checks, started, items, hints } = await run({}, prompts('a', 'b'));
	expect(checks).toEqual([{ id: 'w1', items: [] }]);
	const [id] = tasks();
	expect(started.map((one) => [one.waits, idsOf(one)])).toEqual([[false, [id, undefined]]]);
	expect(items.map(({ json }) => json)).toEqual([
		{ prompt: 'a', task_id: id, status: 'queued', execution_id: '101' },
		{ prompt: 'b', status: 'to be submitted', execution_id: '101' },
	]);
	expect(items.map(({ metadata, pairedItem }) => [metadata?.subExecution?.executionId, pairedItem])).toEqual(
		[0, 1].map((item) => ['101', { item }]),
	);
	expect(hints).toEqual([expect.stringContaining('"Post Picture" starts when the results are ready')]);
});

test('with Stop Workflow, a task that fails there holds back none that are still to be submitted', async () => {
	const { started } = await run({ options: { ...quick, concurrentTasks: 1 } }, prompts('a', 'b'));
	const [{ items }] = started as [Started];
	expect(items.map((item) => orderOf(item).state)).toEqual(['accepted', 'planned']);
	expect(handOverIn(items)?.stopsAtError).toBe(false);
});

test('the execution that waits is saved and has no timeout, and holds the prompt once, for its results', async () => {
	const { started } = await run({}, prompts('a long prompt'), {}, { workflowSettings: { errorWorkflow: 'alarm' } });
	const [{ code }] = started as [Started];
	expect(code.settings).toMatchObject({
		saveDataSuccessExecution: 'all',
		saveDataErrorExecution: 'all',
		saveExecutionProgress: false,
		executionTimeout: -1,
	});
	expect(JSON.stringify(started).split('a long prompt')).toHaveLength(2);
});

test('Pass Along goes with each task, and nothing else of the input', async () => {
	const { started } = await run({ passAlong: '={{ { "chatId": $json.chat } }}' }, [
		{ json: { prompt: 'a', chat: 7 } },
		{ json: { prompt: 'b', chat: 8 } },
	]);
	expect(started[0]?.items.map((item) => orderOf(item).input)).toEqual([
		{ pass_along: { chatId: 7 } },
		{ pass_along: { chatId: 8 } },
	]);
});

test.each([
	['its results would come back to this node', 'n8n-nodes-base.executeWorkflowTrigger', 0],
	['they do not', 'test.start', 1],
])(
	'the same workflow can be started only where its results do not come back to this node: %s',
	async (_, triggerType, bought) => {
		const { error, started } = await run(
			{ workflowId: { __rl: true, mode: 'id', value: 'wf' } },
			prompts('a'),
			{},
			{ triggerType },
		);
		expect(error?.message).toBe(
			bought ? undefined : 'The workflow could start this node again with its own results, and pay each time',
		);
		expect([started.length, sandbox.tasks.length]).toEqual([bought, bought]);
	},
);

test.each<[string, IDataObject, RegExp]>([
	[
		'no workflow',
		{ workflowId: { __rl: true, mode: 'id', value: '={{ "" }}' } },
		/^Workflow is empty: its expression returned nothing/,
	],
	[
		'65 kB to pass along',
		{ passAlong: { text: 'ü'.repeat(33_000) } },
		/^The data passed along is 660\d\d bytes: at most 65536 are allowed$/,
	],
])('%s is refused before anything is sent', async (_, parameters, message) => {
	const { error, started } = await run(parameters, prompts('a', 'b'));
	expect(error?.message).toMatch(message);
	expect([started, sandbox.tasks]).toEqual([[], []]);
});

test('an item that was not accepted is told at once, and the others are waited for', async () => {
	sandbox.faults.add({ on: 'create', match: { promptIncludes: 'bad' }, do: '422' });
	const { started, items } = await run(
		{},
		prompts('bad', 'b', 'c'),
		{},
		{ settings: { onError: 'continueRegularOutput' } },
	);
	expect(started.map((one) => one.items.map((item) => orderOf(item).item))).toEqual([[1, 2]]);
	expect(items.map(({ json }) => [json.execution_id, json.error !== undefined])).toEqual([
		[undefined, true],
		['101', false],
		['101', false],
	]);
});

test('with Retry On Fail, what was not accepted goes on with the others: a further try would run beside them', async () => {
	sandbox.faults.add({ on: 'create', match: { promptIncludes: 'bad' }, times: -1, do: '422' });
	const settings = { onError: 'continueRegularOutput', retryOnFail: true, waitBetweenTries: 1 } as const;
	const { started, items } = await run({}, prompts('bad', 'b'), {}, { settings });
	expect(started.map((one) => one.items.map((item) => orderOf(item).state))).toEqual([['ended', 'planned']]);
	expect(items.map(({ json }) => json)).toEqual([
		{ prompt: 'bad', status: 'ended', execution_id: '101' },
		{ prompt: 'b', status: 'to be submitted', execution_id: '101' },
	]);
	expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('with Retry On Fail, where none was accepted, the node says so, and n8n runs it again', async () => {
	sandbox.faults.add({ on: 'create', match: { promptIncludes: 'bad' }, times: -1, do: '422' });
	const settings = { onError: 'continueRegularOutput', retryOnFail: true, maxTries: 2, waitBetweenTries: 1 } as const;
	const { started, items } = await run({}, prompts('bad'), {}, { settings });
	expect([started, items[0]?.json.code]).toEqual([[], 'content_declined']);
	expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
});

test.each<[string, RunOptions, RunOptions, number]>([
	['is not asked again', { mode: 'trigger' }, { mode: 'trigger' }, 1],
	['is asked again where a person runs it', { mode: 'trigger' }, { mode: 'manual' }, 2],
	['is asked again where a person has run it before', { mode: 'manual' }, { mode: 'trigger' }, 2],
])('n8n, which has said that it would start the workflow, %s', async (_, first, second, times) => {
	const checks = [await run({}, prompts('a'), {}, first), await run({}, prompts('b'), {}, second)];
	expect(checks.flatMap((each) => each.checks)).toHaveLength(times);
});

test('before a cent is spent, n8n says whether it would start the execution that is to wait', async () => {
	const words = 'Node "Keep Waiting" uses a credential you do not have access to';
	const { error, checks } = await run({}, prompts('a'), { refusesToWait: new Error(words) });
	expect(error?.message).toBe('n8n cannot start the execution that waits for the tasks');
	expect(error?.description).toContain(words);
	expect([checks, sandbox.tasks]).toEqual([[], []]);
});
