/** Across Restarts and the executions around it: who waits, who has been stopped, and who is called once for each item. */
import type { IDataObject, INodeExecutionData, IRunExecutionData } from 'n8n-workflow';
import { ParentExecutions, pauseBeforeSendingMs } from '../../nodes/durable/parentExecutions';
import { realClock } from '../../nodes/connection/transport';
import { STEPS } from '../../nodes/durable/subWorkflow';
import { orderOf } from '../support/orders.mts';
import { startHandingOver } from '../support/handingOver.mts';
import { prompts, quickSandbox, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

/** The data that n8n has saved of an execution; undefined where there are none that can be read. */
type Saved = (executionId: string) => Partial<IRunExecutionData> | undefined | Promise<IRunExecutionData>;

let executions = 0;

/** Starts the node in the engine. What it has n8n run is only noted: it sleeps. */
function begin(parameters: IDataObject, items: INodeExecutionData[], saved?: Saved, options: RunOptions = {}) {
	const kept = { ...options.kept, executionId: options.kept?.executionId ?? `around${++executions}` };
	const subExecutions: Array<INodeExecutionData[]> = [];
	const { promise, additionalData } = startHandingOver(
		sandbox,
		parameters,
		{ ...options, items, kept },
		async (_, __, { inputData = [] }) => {
			subExecutions.push(inputData);
			return await Promise.resolve({ executionId: '7', data: [null], waitTill: new Date(4e12) });
		},
	);
	additionalData.getRunExecutionData = async (id) => {
		const data = await saved?.(id);
		if (data === undefined) throw new Error('there is no such data');
		return { resultData: { runData: {} }, ...data } as IRunExecutionData;
	};
	return { promise, subExecutions };
}

const surviving = {
	operation: 'generate',
	prompt: '={{ $json.prompt }}',
	wait: 'acrossRestarts',
	options: { pollIntervalSeconds: 1, timeoutMinutes: 5 },
};

/** The execution that polls, as n8n wakes it: nobody around it is awake. */
async function beginPolling(saved: Saved | undefined, items: INodeExecutionData[], kept: RunOptions['kept'] = {}) {
	const { promise, subExecutions } = begin(surviving, items);
	await promise;
	return begin({ operation: 'durablePollTasks' }, subExecutions[0] ?? [], saved, { kept }).promise;
}

async function check(saved: Saved, prompt: string, kept: RunOptions['kept'] = {}) {
	const { data } = await beginPolling(saved, prompts(prompt), kept);
	const [item] = data.resultData.runData.Node?.at(-1)?.data?.main[0] ?? [];
	return item && orderOf(item).end;
}

/** Plays Poll Tasks until it ends: n8n saves it in between, which takes as long as `saving`. */
async function pollToEnd(saved: Saved, rows: INodeExecutionData[], saving: () => Promise<void>) {
	const kept = { executionId: 'checker', parentExecutionId: 'keeper', contextData: {} };
	for (;;) {
		const { data } = await begin({ operation: 'durablePollTasks' }, rows, saved, { kept }).promise;
		const items = data.resultData.runData.Node?.at(-1)?.data?.main[0] ?? [];
		if (items.some(({ json }) => json.error !== undefined)) return items.map((item) => orderOf(item).end);
		kept.contextData = data.executionData?.contextData ?? {};
		await saving();
	}
}

/** In n8n's database, for these sub-executions. */
const asleepFor = (...waitingChildExecutionIds: string[]) =>
	({
		waitTill: new Date(4e12),
		executionData: { nodeExecutionStack: [{ metadata: { waitingChildExecutionIds } }] },
	}) as unknown as Partial<IRunExecutionData>;
const asleep = asleepFor('checker', 'keeper');
const calledBy = (executionId: string, shouldResume?: boolean): Partial<IRunExecutionData> => ({
	waitTill: new Date(4e12),
	parentExecution: { executionId, workflowId: 'wf', shouldResume },
});
const waits = (...parent: Parameters<typeof calledBy>) => ({ ...asleep, ...calledBy(...parent) });
const stopped = {
	resultData: { runData: {}, error: { message: 'cancelled' } },
} as unknown as Partial<IRunExecutionData>;

test('an execution that polls and that nobody waits for any more puts out the ends, and then ends as canceled, with its orders as they were for a retry of the one that has waited', async () => {
	const saved: Saved = (id) => (id === 'checker' ? waits('keeper') : stopped);
	const { promise, subExecutions } = begin(
		surviving,
		prompts('a [[sandbox duration=60s]]', 'b [[sandbox duration=1s]]'),
	);
	await promise;
	const [rows = []] = subExecutions;
	const ids = rows.map((row) => orderOf(row).task?.taskId);
	const kept = { executionId: 'checker', parentExecutionId: 'keeper' };
	const { data } = await begin({ operation: 'durablePollTasks' }, rows, saved, { kept }).promise;
	const ended = data.resultData.runData.Node?.at(-1)?.data?.main[0] ?? [];
	expect(ended.map((item) => orderOf(item).end?.error?.message)).toContain(
		`Waiting for task ${ids[0]} was interrupted`,
	);
	// The question in the sub-workflow sends them back to the node.
	const asked = await begin({ operation: STEPS.haveEnded }, ended).promise;
	expect(asked.data.resultData.runData.Node?.at(-1)?.data?.main).toEqual([[], ended]);
	const contextData = JSON.parse(JSON.stringify(data.executionData?.contextData)) as Record<string, IDataObject>;
	const before = sandbox.requests.length;
	const again = await begin({ operation: 'durablePollTasks' }, ended, saved, { kept: { ...kept, contextData } })
		.promise;
	expect(again.status).toBe('canceled');
	const { error } = again.data.resultData;
	expect(error?.message).toBe('The execution was canceled, because the workflow that waited was stopped');
	expect(String((error as { description?: string }).description)).toContain(ids[0]);
	expect(sandbox.requests).toHaveLength(before);
	const { rows: left } = again.data.executionData?.contextData['node:Node'] as { rows: INodeExecutionData[] };
	expect(orderOf(left[0] as INodeExecutionData)).toMatchObject({ state: 'accepted', task: { taskId: ids[0] } });
});

test('Retry On Fail buys nothing more where an error stays with which the workflow ends', async () => {
	const parameters = { ...surviving, options: { ...surviving.options, concurrentTasks: 1 } };
	const items = prompts('a [[sandbox fail=content_policy_violation]]', 'b', 'c');
	const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
	const { promise, subExecutions } = begin(parameters, items, undefined, { settings });
	await promise;
	const saved: Saved = (id) => (id === 'checker' ? waits('keeper') : asleep);
	const ends = await pollToEnd(saved, subExecutions[0] ?? [], async () => await Promise.resolve());
	expect(ends.map((end) => end?.as)).toEqual(['failed', 'notSubmitted', 'notSubmitted']);
	expect(sandbox.tasks).toHaveLength(1);
});

test.each<[string, Partial<IRunExecutionData> | undefined]>([
	['are still being saved', undefined],
	['show an earlier sleep', asleepFor('of an earlier round')],
])('what finishes while the others %s is handed on when they sleep', async (_, unsaved) => {
	const sleepsAfterMs = Date.now() + 2_500;
	const end = await check(
		(id) => (id === 'checker' ? waits('keeper') : id === 'keeper' ? waits('root') : isSaved() ? asleep : unsaved),
		'a',
		{ executionId: 'checker', parentExecutionId: 'keeper' },
	);
	expect([end?.as, isSaved()]).toEqual(['done', true]);

	function isSaved(): boolean {
		return Date.now() >= sleepsAfterMs;
	}
});

test('before it sends something, an execution takes an answer about those around it that is at most twenty times as old as it took', async () => {
	let [nowMs, asked] = [1e12, 0];
	jest.spyOn(realClock, 'now').mockImplementation(() => nowMs);
	const context = {
		getExecutionId: () => 'poller',
		getExecutionDataById: async (id: string) => {
			[nowMs, asked] = [nowMs + 100, asked + 1];
			return await Promise.resolve({
				resultData: { runData: {} },
				...(id === 'poller' ? waits('outer') : asleepFor('poller')),
			});
		},
	};
	const parents = new ParentExecutions(context as never, {});
	const askedAfter = async (passedMs: number) => {
		nowMs += passedMs;
		await parents.isGone(pauseBeforeSendingMs);
		return asked;
	};
	expect([await askedAfter(0), await askedAfter(3_700), await askedAfter(200)]).toEqual([2, 2, 3]);
	jest.restoreAllMocks();
});

describe('in a sub-workflow', () => {
	const items = (count: number) => Array.from({ length: count }, () => ({ json: {} }));
	const at = (type: string, mode: string | undefined, count: number, metadata?: object) =>
		({
			executionData: {
				nodeExecutionStack: [{ node: { type, parameters: { mode } }, data: { main: [items(count)] }, metadata }],
			},
		}) as unknown as Partial<IRunExecutionData>;
	const CALL = 'n8n-nodes-base.executeWorkflow';
	const given = (count: number, shouldResume?: boolean) => ({
		...at('n8n-nodes-base.executeWorkflowTrigger', undefined, count),
		...calledBy('caller', shouldResume),
	});

	test.each<[string, Partial<IRunExecutionData> | undefined, Partial<IRunExecutionData> | undefined, boolean]>([
		['called for each item', given(1), at(CALL, 'each', 2), false],
		['called with several items', given(2), at('test.start', undefined, 1), true],
		['not to be read', undefined, undefined, false],
	])(
		'in a sub-workflow, Across Restarts has an effect only where the caller gets the results: %s',
		async (_, own, caller, sleeps) => {
			const saved: Saved = (id) => (id.startsWith('called') ? own : id === 'caller' ? caller : at(CALL, 'each', 2));
			const { promise, subExecutions } = begin(surviving, prompts('a'), saved, {
				kept: { executionId: `called${++executions}`, parentExecutionId: 'caller' },
			});
			const { data } = await promise;
			const task = data.resultData.runData.Node?.[0];
			const hints = task?.hints?.map(({ message }) => message) ?? [];
			expect(subExecutions).toHaveLength(sleeps ? 1 : 0);
			expect(hints.some((hint) => hint.startsWith('Across Restarts has no effect here: n8n could lose results'))).toBe(
				!sleeps,
			);
			if (!sleeps) expect(task?.data?.main[0]?.[0]?.json.status).toBe('completed');
		},
	);
});
