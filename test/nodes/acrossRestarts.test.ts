/** Across Restarts, as far as it can be seen without n8n's database: what is handed over, and what is done with what comes back. */
import type { ExecuteWorkflowData, IDataObject, IExecuteWorkflowInfo, INode, INodeExecutionData } from 'n8n-workflow';
import { NOTE, pollWhenCalled } from '../../nodes/durable/subWorkflow';
import type { HandOver } from '../../core/orders/handOver';
import type { Order } from '../../core/orders/order';
import { startHandingOver } from '../support/handingOver.mts';
import { logLines } from '../support/keySecrecy.mts';
import { detailsOf, endedRow, handOverIn, orderOf, withOrder } from '../support/orders.mts';
import { hurry, pngField, prompts, quick, quickSandbox, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

interface HandedOver {
	code: NonNullable<IExecuteWorkflowInfo['code']>;
	items: INodeExecutionData[];
}

type SubExecution = (handed: HandedOver) => Omit<ExecuteWorkflowData, 'executionId'>;

/** Runs the node in the engine; `subExecution` is what n8n would run. */
async function run(
	parameters: IDataObject,
	items: INodeExecutionData[],
	subExecution: SubExecution,
	options: RunOptions = {},
) {
	const handed: HandedOver[] = [];
	const form = { operation: 'generate', prompt: '={{ $json.prompt }}', ...parameters };
	// A trigger, because a second manual run of the same requests is taken for a second click.
	const ofRun: RunOptions = { mode: 'trigger', ...options, items };
	const { promise } = startHandingOver(sandbox, form, ofRun, async ({ code }, _, { inputData }) => {
		const one = { code: code as HandedOver['code'], items: inputData ?? [] };
		handed.push(one);
		return await Promise.resolve({ executionId: '7', ...subExecution(one) });
	});
	const { data, waitTill } = await promise;
	const task = data.resultData.runData.Node?.[0];
	return {
		handed,
		waitTill,
		hints: task?.hints?.map(({ message }) => message),
		items: task?.data?.main?.[0] ?? [],
		error: task?.error,
		data,
	};
}

const on = { wait: 'acrossRestarts', options: quick };
const asleep: SubExecution = () => ({ data: [null], waitTill: new Date(4e12) });

test('in n8n’s engine 2.0, where no execution sleeps, nothing is handed over, so nothing is bought there once more', async () => {
	const { handed, hints, items } = await run(on, prompts('a', 'b'), asleep, {
		kept: { executionId: '01a20cb6-4c4d-72f8-9d8d-e07aba49a305' },
	});
	expect(handed).toEqual([]);
	expect(items.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
	expect(hints).toContainEqual(
		expect.stringMatching(/^Across Restarts has no effect here: .* engine 2\.0.* set Wait to Don’t Wait/),
	);
	expect(sandbox.tasks).toHaveLength(2);
});

test('the sub-workflow gets the tasks in order, each with its prompt once', async () => {
	const { handed, waitTill, hints } = await run(on, prompts('a long prompt', 'another one'), asleep);
	const [{ code, items }] = handed as [HandedOver];
	expect(items.map((item) => detailsOf(item).task_id)).toEqual([sandbox.tasks[0]?.id, undefined]);
	for (const prompt of ['a long prompt', 'another one']) expect(JSON.stringify(handed).split(prompt)).toHaveLength(2);
	expect([code.name, ...code.nodes.map(({ name }) => name)]).toEqual([
		...['Wait Across Restarts', 'Keep Waiting', 'Start', 'Results', 'All Finished?', 'Note'],
	]);
	expect(code.settings).toMatchObject({ saveDataSuccessExecution: 'all', saveDataErrorExecution: 'all' });
	expect(waitTill).toBeDefined();
	expect(hints).toEqual([expect.stringContaining('Execution 7 ')]);
});

test.each([
	['says whose it is', undefined, 'note 1', ['Wait Across Restarts', 'Wait Across Restarts: Poll Tasks']],
	['is left out where n8n excludes such notes', NOTE, 'note 2', []],
])('the sticky note of each sub-workflow %s', async (_, excluded, executionId, expected) => {
	const { handed } = await run(on, prompts('a'), asleep, { excluded, kept: { executionId } });
	const [{ code }] = handed as [HandedOver];
	const keepWaiting = code.nodes.find(({ name }) => name === 'Keep Waiting') as INode;
	const polls = pollWhenCalled(keepWaiting) as HandedOver['code'];
	const notes = [code, polls].flatMap(({ name, nodes }) =>
		nodes.flatMap(({ type, parameters }) => (type === NOTE ? [[name, parameters.content]] : [])),
	);
	const whose = expect.stringMatching(/^### For \*\*Node\*\* of the workflow \*\*wf\*\* \(execution note 1\)\n/);
	expect(notes).toEqual(expected.map((name) => [name, whose]));
	expect(Object.keys({ ...code.connections, ...polls.connections })).not.toContain('Note');
});

test('with Split Files Into Items, the first file of each item keeps its place, by which n8n pairs it, and the others follow', async () => {
	const options = { ...on.options, splitFiles: true };
	const { handed, hints } = await run({ ...on, options }, prompts('a', 'b', 'c'), asleep);
	expect(hints).toContainEqual(expect.stringContaining('n8n pairs them with other items'));
	const [a, b, c] = handed[0]?.items as INodeExecutionData[];
	const done = (...urls: string[]) => ({ url: urls[0], status: 'completed', urls });
	const ended = [endedRow(a, done('a0', 'a1')), endedRow(b, 'no luck'), endedRow(c, done('c0', 'c1', 'c2'))];
	const { items } = await run({ operation: 'durableHandOut' }, ended, asleep);
	expect(items.map(({ json }) => [json.prompt, json.url ?? json.error])).toEqual([
		...[
			['a', 'a0'],
			['b', 'no luck'],
			['c', 'c0'],
		],
		...[
			['a', 'a1'],
			['c', 'c1'],
			['c', 'c2'],
		],
	]);
});

test('with Stop Workflow, the error says how many items were not sent, and where the other results are', async () => {
	const { handed } = await run(on, prompts('a', 'b', 'c', 'd'), asleep);
	const [a, b, c, d] = handed[0]?.items as INodeExecutionData[];
	const unsent = (item: INodeExecutionData) =>
		withOrder(item, {
			...orderOf(item),
			...{
				state: 'ended',
				end: { as: 'notSubmitted', error: { kind: 'notSubmitted', message: 'Not submitted', details: {} } },
			},
		});
	const ended = [
		endedRow(a, { url: 'a0', status: 'completed', urls: ['a0'] }),
		endedRow(b, 'no luck'),
		unsent(c),
		unsent(d),
	];
	const { error } = await run({ operation: 'durableHandOutOrStop' }, ended, asleep, { kept: { executionId: '8' } });
	expect(error?.message).toBe('no luck');
	expect(error?.description).toContain(
		'The other results are in execution 8 (input of Results). 2 items were not sent. A retry changes nothing.',
	);
});

test('until the results are there, the output says what is waited for, and does not look like an error', async () => {
	const { items } = await run(on, prompts('a'), asleep);
	expect(items).toEqual([
		{ json: { task_id: sandbox.tasks[0]?.id, status: 'waiting', execution_id: '7' }, pairedItem: { item: 0 } },
	]);
});

test('what n8n does not run is waited for in memory', async () => {
	const { items, hints, data } = await run(on, prompts('a', 'b'), () => {
		throw new Error('not\n\u001b[31mallowed');
	});
	expect(items.map(({ json, pairedItem }) => [json.task_id, json.status, pairedItem])).toEqual(
		sandbox.tasks.map(({ id }, item) => [id, 'completed', { item }]),
	);
	expect(JSON.stringify(data.executionData?.contextData)).not.toContain('img_'); // nothing to remember
	expect(hints).toContainEqual(
		expect.stringMatching(
			/^Across Restarts has no effect here: n8n did not run .* \("not \[31mallowed"\)\. So the node waits in memory\.$/,
		),
	);
	expect(logLines().filter((line) => line.includes('waits in memory'))).toEqual([
		expect.stringMatching(/\(not \[31mallowed\), so the node waits in memory, node "Node", execution exec\d+$/),
	]);
});

test.each([
	['n8n-nodes-base.wait', 'Wait'],
	['n8n-nodes-base.executeWorkflowTrigger', 'Execute Workflow Trigger'],
])('without the node %s in this n8n it is waited for in memory, with a hint', async (excluded, name) => {
	const { handed, items, hints } = await run(on, prompts('a'), asleep, { excluded });
	expect(handed).toEqual([]);
	expect(items.map(({ json }) => json.status)).toEqual(['completed']);
	expect(hints).toContainEqual(expect.stringContaining(`this n8n excludes the node "${name}"`));
});

test('the node submits one item, and hands over the others with the facts about the run', async () => {
	const { items, handed } = await run(
		{ ...on, options: { ...on.options, concurrentTasks: 2, timeoutMinutes: 5 } },
		prompts('a', 'b', 'c'),
		asleep,
		{
			kept: { executionId: 'first', establishedAt: 5 },
			settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 },
		},
	);
	expect(sandbox.tasks.map(({ body }) => body.prompt)).toEqual(['a']);
	const rows = handed[0]?.items ?? [];
	expect(rows.map((item) => orderOf(item).state)).toEqual(['accepted', 'planned', 'planned']);
	expect(rows.map((item) => orderOf(item).request?.body.prompt)).toEqual(['a', 'b', 'c']);
	expect(items.map(({ json }) => json.status)).toEqual(['waiting', 'to be submitted', 'to be submitted']);
	expect(handOverIn(rows)).toEqual({
		...{ concurrency: 2, stopsAtError: true, outermost: undefined, deadlineMs: expect.any(Number) },
		retry: { tries: 2, pauseMs: 0, tried: 1, onlyIfFirstFails: false },
		run: {
			...{ workflow: 'wf', node: 'Node', nodeId: '1', establishedAtMs: 5, runIndex: 0 },
			...{ first: 'first', by: 'first', nextNumber: 1, isMarked: true, lease: expect.stringMatching(/^first-/) },
			table: expect.any(String) as string,
		},
	});
	expect(rows.slice(1).map((row) => detailsOf(row).gateway_run)).toEqual([undefined, undefined]);
});

const fromMemory = {
	...on,
	options: { ...on.options, concurrentTasks: 1 },
	images: { image: [{ source: 'binary', binaryPropertyName: 'photo' }] },
};
const withFiles = prompts('a', 'b', 'c').map((item) => ({ ...item, binary: { photo: pngField() } }));

test('the files of all items are uploaded before anything is bought: the execution that goes on cannot read them', async () => {
	const { handed } = await run(fromMemory, withFiles, asleep);
	const posts = sandbox.requests.filter(({ method }) => method === 'POST').map(({ path }) => path);
	expect(posts.slice(0, 3)).toEqual(Array(3).fill(expect.stringContaining('upload')));
	expect(posts).toHaveLength(4);
	const orders = handed[0]?.items.map(orderOf);
	expect(orders?.map(({ state }) => state)).toEqual(['accepted', 'planned', 'planned']);
	for (const { request } of orders?.slice(1) ?? []) {
		expect(request?.uploads).toEqual([expect.stringContaining('/uploads/')]);
		expect(JSON.stringify(request?.body)).toContain(request?.uploads?.[0]);
	}
});

describe('the hidden operations', () => {
	const NOT_FOR_WORKFLOWS = 'This operation cannot be used in workflows: the node uses it to wait across restarts';
	/** The orders that the node passes on; `change` is a change that somebody could make. */
	const rowsOf = async (change: (order: Order) => object = (order) => order) => {
		const { handed } = await run(
			{ ...on, result: 'file' },
			prompts('a', 'b [[sandbox fail=generation_failed]]'),
			asleep,
		);
		const rows = (handed[0]?.items ?? []).map((item) => withOrder(item, change(orderOf(item))));
		return JSON.parse(JSON.stringify(rows)) as INodeExecutionData[];
	};
	const polls = async (change?: (order: Order) => object) =>
		await run({ operation: 'durablePollTasks' }, await rowsOf(change), asleep);

	test('the hidden operations find the service in the credential only', async () => {
		const longAgoMs = Date.now() - 60_000; // an unknown ID is believed then
		hurry();
		const { items } = await polls((order) => ({
			...order,
			acceptedAtMs: longAgoMs,
			wait: { ...order.wait, startedAtMs: longAgoMs },
			task: { taskId: '../../user/balance?x=', elapsedMs: 0 },
			baseUrl: 'http://127.0.0.1:1',
			imageStatusPath: '/v1/user/balance',
		}));
		const paths = sandbox.requests.filter(({ method }) => method === 'GET').map(({ path }) => path);
		expect(paths.filter((path) => !path.startsWith('/v1/images/generations/'))).toEqual([]);
		expect(items.map((item) => orderOf(item).end?.as)).toEqual(['failed', 'failed']);
	});

	test.each<[string, (order: Order) => object]>([['another kind', () => ({ kind: '../user' })]])(
		'the hidden operations refuse %s',
		async (_, change) => {
			const { error } = await polls((order) => ({ ...order, ...change(order) }));
			expect(error?.message).toBe(NOT_FOR_WORKFLOWS);
		},
	);

	test.each<[string, (facts: HandOver) => object | undefined]>([
		['without the facts about the run', () => undefined],
		['with a million tasks at once', (facts) => ({ ...facts, concurrency: 1e6 })],
		['with a thousand tries', (facts) => ({ ...facts, retry: { ...facts.retry, tries: 1000 } })],
	])('the hidden operations refuse orders %s', async (_, change) => {
		const rows = await rowsOf();
		const details = detailsOf(rows[0] as INodeExecutionData);
		details.gateway_run = change(handOverIn(rows) as HandOver) as IDataObject | undefined;
		const { error } = await run({ operation: 'durablePollTasks' }, rows, asleep);
		expect(error?.message).toBe(NOT_FOR_WORKFLOWS);
		expect(sandbox.tasks).toHaveLength(1);
	});

	test('the hidden operations take nothing but what the node has handed over', async () => {
		const rows = [{ json: { error: '', message: '', details: { other: { taskId: 'x' } } } }];
		const { error } = await run({ operation: 'durablePollTasks' }, [{ json: { rows } }], asleep);
		expect(error?.message).toBe(NOT_FOR_WORKFLOWS);
	});

	test('the hidden operations are not in the list that an unknown one is answered with', async () => {
		const { error } = await run({ operation: 'nonsense' }, prompts('a'), asleep);
		expect(error?.message).toBe('Operation is "nonsense", which this node does not have');
		expect(error?.description).toContain('Generate');
		expect(error?.description).not.toMatch(/durable/i);
	});
});
