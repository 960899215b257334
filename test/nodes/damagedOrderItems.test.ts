/**
 * The stored rows of a sub-execution: their bounds are those of the form, and a damaged row ends the order, whatever is
 * in it.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { start } from '../support/engine.mts';
import { detailsOf, orderOf, withOrder } from '../support/orders.mts';
import { prompts, quick, quickSandbox, toOptions, type Sandbox } from '../support/nodes.mts';
import { runHandingOver, type Tail } from '../support/handingOver.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const run = async (...given: Tail<Parameters<typeof runHandingOver>>) => await runHandingOver(sandbox, ...given);

const generating = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };
const surviving = { ...generating, options: { ...quick, surviveRestarts: true } };
const inBackground = {
	...generating,
	whenDone: 'startWorkflow',
	workflowId: { __rl: true, mode: 'id', value: 'w1' },
};
const long = (length: number) => 'x'.repeat(length);
const withOptions = (of: { options: IDataObject }, options: IDataObject) => ({
	...of,
	options: { ...of.options, ...options },
});

describe.each([
	['Survive Restarts', surviving],
	['Start a Workflow', inBackground],
])('%s refuses before anything is sent', (choice, base) => {
	test.each<[string, IDataObject, string]>([
		[
			'an output field',
			withOptions(base, { outputField: long(201) }),
			'Put Output File in Field has 201 characters: at most 200 are allowed',
		],
		[
			'a result path',
			withOptions(base, { resultPath: long(1_001) }),
			'Result Path has 1001 characters: at most 1000 are allowed',
		],
		[
			'a model ID',
			{ ...base, model: 'custom', customModelId: long(1_001), customBody: { prompt: 'a' } },
			'Model ID has 1001 characters: at most 1000 are allowed',
		],
		[
			'a thousand URLs',
			{
				...base,
				model: 'custom',
				customModelId: 'm',
				customBody: { prompt: 'a', images: Array.from({ length: 1_001 }, (_, i) => `https://example.com/${i}`) },
			},
			`The request contains 1001 URLs: with ${choice}, at most 1000 are allowed`,
		],
	])('%s that is too long is refused before anything is sent', async (_, parameters, message) => {
		const { error, handed } = await run(parameters, prompts('a'));
		expect(error?.message).toBe(message);
		expect([handed, sandbox.tasks]).toEqual([[], []]);
	});
});

test('Requests per Second that no order takes are refused before anything is sent', async () => {
	const { error, handed } = await run(withOptions(surviving, { requestsPerSecond: 1_001 }), prompts('a'));
	expect(error).toBeDefined();
	expect([handed, sandbox.tasks]).toEqual([[], []]);
});

test('Wait for Task refuses an ID of more than 1000 characters', async () => {
	const { error, handed } = await run(
		{ operation: 'waitForTask', taskId: long(1_001), options: { surviveRestarts: true } },
		prompts('a'),
	);
	expect(error?.message).toBe('Task ID has 1001 characters: at most 1000 are allowed');
	expect(handed).toEqual([]);
});

describe('rows that somebody or something has damaged', () => {
	const stored = async () => {
		const { handed } = await run(surviving, prompts('a', 'b'));
		return JSON.parse(JSON.stringify(handed[0])) as INodeExecutionData[];
	};

	test('a stored row that cannot be read has ended, and the others are waited for', async () => {
		const [first, second] = (await stored()) as [INodeExecutionData, INodeExecutionData];
		const broken = withOrder(first, { ...orderOf(first), wait: { timeoutMs: -1 } });
		const { handed } = await run({ operation: 'durableKeepWaiting' }, [broken, second]);
		const rows = handed[0] ?? [];
		expect(rows).toHaveLength(2);
		expect(orderOf(rows[0] as INodeExecutionData)).toMatchObject({
			state: 'ended',
			end: { error: { message: `What n8n has stored of task ${detailsOf(first).task_id as string} cannot be read` } },
			task: { taskId: detailsOf(first).task_id },
		});
		expect(orderOf(rows[1] as INodeExecutionData)).toEqual(orderOf(second));
	});

	test('what the service has said of a task is no reason to give it up', async () => {
		const [first] = (await stored()) as [INodeExecutionData];
		const { task, wait, ...order } = orderOf(first);
		const said = {
			task: { ...task, status: long(5_000), progress: null },
			wait: { ...wait, polls: 'none', dueAtMs: 1e300 },
		};
		const { handed } = await run({ operation: 'durableKeepWaiting' }, [withOrder(first, { ...order, ...said })]);
		const [row] = handed[0] ?? [];
		expect(orderOf(row as INodeExecutionData)).toMatchObject({ state: 'accepted', task: { taskId: task?.taskId } });
	});

	/** Goes round as the sub-workflow does, with what a node that goes on has put out, until all have finished. */
	const rounds = async (operation: string, items: INodeExecutionData[], memory: IDataObject = {}): Promise<number> => {
		let contextData: Record<string, IDataObject> | undefined = { flow: memory };
		for (let round = 1; round <= 60; round++) {
			const { items: out, ...after } = await run({ operation }, items, {
				settings: { onError: 'continueRegularOutput', alwaysOutputData: true },
				kept: { contextData },
			});
			({ contextData } = after);
			if (
				out.every(
					({ json }) => (json.details as IDataObject | undefined)?.gateway_order && orderOf({ json }).state === 'ended',
				)
			)
				return round;
		}
		return Infinity;
	};

	test.each<[string, INodeExecutionData[], IDataObject]>([
		['nothing', [{ json: {} }], {}],
		['an error', [{ json: { error: 'gone' } }], {}],
		['what n8n makes up after a crash', [{ json: { isArtificialRecoveredEventItem: true } }], {}],
		['no JSON', [{ json: null as unknown as IDataObject }], {}],
		['details that are none', [{ json: { error: 'x', message: 'y', details: 'z' } }], {}],
		['an order that is none', [{ json: { error: 'x', message: 'y', details: { gateway_order: 7 } } }], {}],
		['an empty order', [{ json: { error: 'x', message: 'y', details: { gateway_order: {} } } }], {}],
		['rounds that are none', [{ json: { error: 'gone' } }], { rounds: 'many' }],
		['rounds without a number', [{ json: { error: 'gone' } }], { rounds: null }],
	])('Keep Waiting with %s ends after a few rounds', async (_, items, memory) => {
		expect(await rounds('durableKeepWaiting', items, memory)).toBeLessThanOrEqual(3);
	});

	test('where n8n never runs the checks, each round is counted', async () => {
		const items = await stored();
		expect(await rounds('durableKeepWaiting', items)).toBeLessThanOrEqual(51);
	});

	test('no time of an order lets it sleep without end', async () => {
		const [first] = (await stored()) as [INodeExecutionData];
		const wait = { ...orderOf(first).wait, startedAtMs: 8e15, dueAtMs: 8e15 };
		const far = { ...orderOf(first), acceptedAtMs: 8e15, wait };
		const { promise } = start(
			toOptions('image', sandbox, { operation: 'durablePollTasks' }, { items: [withOrder(first, far)] }),
		);
		const { waitTill } = await promise;
		// A beginning in the future is not believed, so it may not sleep at all.
		expect(waitTill?.getTime() ?? 0).toBeLessThanOrEqual(Date.now() + 86_400_000);
	});
});

describe('what a newer version of the package has stored', () => {
	/** Rows of tasks, of which the second was accepted in the execution that polls. */
	const newerRows = async () => {
		const { handed } = await run(surviving, prompts('a', 'b'));
		const now = JSON.parse(JSON.stringify(handed[0])) as [INodeExecutionData, INodeExecutionData];
		const before = now.map((row, item) => {
			const { task, ...order } = orderOf(row);
			return withOrder(row, { ...order, version: 999, ...(item === 0 ? { task } : {}) });
		});
		before.slice(1).forEach(({ json }) => delete (json.details as IDataObject).task_id);
		return { now: now.map((row) => withOrder(row, { ...orderOf(row), version: 999 })), before, ids: now.map(idOf) };
	};
	const idOf = (row: INodeExecutionData) => orderOf(row).task?.taskId;
	const refused = (id = '') => `A newer version of this package has stored task ${id}, and this version cannot read it`;

	test('the IDs of orders of a newer version that an execution has saved before it died are named, and none is polled', async () => {
		const { now, before, ids } = await newerRows();
		sandbox.requests.length = 0;
		const { items, handed } = await run({ operation: 'durableKeepWaiting' }, before, {
			kept: { contextData: { flow: { rounds: 1, polledBy: 'dead' } } },
			stored: {
				dead: { executionData: { contextData: { 'node:Poll Tasks': { rows: now } } }, resultData: { runData: {} } },
			},
		});
		expect(items.map((row) => [idOf(row), orderOf(row).end?.error?.message])).toEqual(
			ids.map((id) => [id, refused(id)]),
		);
		expect([handed, sandbox.requests]).toEqual([[], []]);
	});

	test.each(['durableAStepOfTomorrow', 'durablePollTasksAnew'])(
		'a step that this version does not have, %s, ends with the ID of each task',
		async (operation) => {
			const { now, before, ids } = await newerRows();
			sandbox.requests.length = 0;
			const { error } = await run({ operation }, before, { kept: { contextData: { 'node:Node': { rows: now } } } });
			expect(error?.message).toBe(refused(ids[0]));
			expect(error?.description).toContain(`Other tasks: ${ids[1]}.`);
			expect(error?.description).toContain('Install the newer version again.');
			const { error: atTheBeginning } = await run({ operation }, now);
			expect(atTheBeginning?.description).toContain(ids[1]);
			expect(sandbox.requests).toEqual([]);
		},
	);

	test('a step that this version does not have is none for the items of a workflow', async () => {
		const { error } = await run({ operation: 'durableAStepOfTomorrow' }, prompts('a'));
		expect(error?.message).toMatch(/^This operation cannot be used in workflows/);
	});
});
