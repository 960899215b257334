/**
 * Stored orders that come back in another form: damaged by somebody or something, of another version, or beside fields of
 * the same name. Each ends with the ID of its task, and what could not be stored is refused before it is bought.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import { parseOrderItems } from '../../nodes/durable/orderItems';
import { waitAndOutputResults } from '../../nodes/durable/subWorkflow';
import { runOwn } from '../simulation/support/subWorkflowState.mts';
import { start } from '../support/engine.mts';
import { startHostile, text, type Hostile } from '../support/hostile.mts';
import { detailsOf, endedRow, orderOf, withOrder } from '../support/orders.mts';
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
		['no JSON', JSON.parse('[{ "json": null }]') as INodeExecutionData[], {}],
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

	test('a time in the far future is not believed: the order does not sleep without end', async () => {
		const [first] = (await stored()) as [INodeExecutionData];
		const wait = { ...orderOf(first).wait, startedAtMs: 8e15, dueAtMs: 8e15 };
		const far = { ...orderOf(first), acceptedAtMs: 8e15, wait };
		const { promise } = start(
			toOptions('image', sandbox, { operation: 'durablePollTasks' }, { items: [withOrder(first, far)] }),
		);
		const { waitTill, data } = await promise;
		expect(waitTill).toBeUndefined();
		const [row] = data.resultData.runData.Node?.[0]?.data?.main?.[0] ?? [];
		expect(row && orderOf(row)).toMatchObject({ state: 'ended', end: { as: 'done' } });
	});
});

describe('what another version of the package has stored, in the middle of a wait', () => {
	/** Rows of tasks, of which the second was accepted in the execution that polls. */
	const rowsOfAnother = async () => {
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
	const refused = (id = '') => `Another version of this package has stored task ${id}, and this version cannot read it`;

	test('the IDs of orders of another version that an execution has saved before it died are named, and none is polled', async () => {
		const { now, before, ids } = await rowsOfAnother();
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
			const { now, before, ids } = await rowsOfAnother();
			sandbox.requests.length = 0;
			const { error } = await run({ operation }, before, { kept: { contextData: { 'node:Node': { rows: now } } } });
			expect(error?.message).toBe(refused(ids[0]));
			expect(error?.description).toContain(`Other tasks: ${ids[1]}.`);
			expect(error?.description).toContain('Install that version again.');
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

describe('what the service answers is stored with its order, and can be read back', () => {
	let service: Hostile;
	beforeAll(async () => {
		service = await startHostile();
	});
	afterAll(async () => await service.close());
	beforeEach(() => service.reset());

	const runWith = async (...given: Tail<Parameters<typeof runHandingOver>>) =>
		await runHandingOver(service as unknown as Sandbox, ...given);
	const several = { ...surviving, options: { ...surviving.options, concurrentTasks: 9 } };
	const record = (id: string, fields: object = {}) =>
		text(JSON.stringify({ id, status: 'queued', created_at: 1, ...fields }));

	test('a task ID that is too long to be stored ends its item, which names it, and is no harm to the others', async () => {
		const id = long(MAX_ID_LENGTH + 1);
		let created = 0;
		service.answers.create = (response, request) => record(created++ === 0 ? id : 't2')(response, request);
		const { handed } = await runWith(several, prompts('a', 'b'), {
			settings: { onError: 'continueRegularOutput' },
		});
		const rows = JSON.parse(JSON.stringify(handed[0])) as INodeExecutionData[];
		expect(parseOrderItems(rows)).toHaveLength(2);
		const ends = rows.map((row) => orderOf(row)).sort((one, other) => one.state.localeCompare(other.state));
		expect(ends.map(({ task, end }) => task?.taskId ?? end?.error?.details.task?.taskId)).toEqual(['t2', id]);
		expect(ends[1]?.end?.as).toBe('outcomeUnknown');
	});

	test('an ID as long as one can be is stored', async () => {
		service.answers.create = record(long(MAX_ID_LENGTH));
		const { handed } = await runWith(several, prompts('a'));
		expect(parseOrderItems(JSON.parse(JSON.stringify(handed[0])))?.[0]?.task?.taskId).toHaveLength(MAX_ID_LENGTH);
	});

	test('a model of any length, which the record of a task names, is cut', async () => {
		const options = { ...surviving.options, timeoutMinutes: 1 };
		const { handed } = await runWith({ options, operation: 'waitForTask', taskId: 'task_1' }, prompts('a'));
		service.answers.poll = record('task_1', {
			status: 'completed',
			model: long(2000),
			data: [{ url: `${service.baseUrl}/files/1.png` }],
		});
		const { items } = await runWith({ operation: 'durablePollTasks' }, handed[0] ?? []);
		expect(parseOrderItems(items)?.[0]?.end?.as).toBe('done');
		expect(orderOf(items[0] as INodeExecutionData).model?.length).toBeLessThanOrEqual(MAX_ID_LENGTH);
	});
});

describe('an item that was handed out is taken for no row, whatever the input had', () => {
	const names = [
		['a field of the name of the order', { gateway_order: 'from elsewhere' }],
		['details with such a field', { details: { gateway_order: 'from elsewhere' } }],
	] as const;
	const worker = {
		id: '1',
		name: 'Node',
		type: 'x',
		typeVersion: 1,
		position: [0, 0] as [number, number],
		parameters: {},
	};

	test.each(
		names.flatMap(([title, fields]) =>
			(['durableHandOut', 'durableHandOutToErrors'] as const).map((operation) => [title, operation, fields] as const),
		),
	)('%s, %s', async (_, operation, fields) => {
		const input = prompts('a', 'b').map(({ json }) => ({ json: { ...json, ...fields } }));
		const options = { ...quick, surviveRestarts: true, includeInputFields: true };
		const { handed } = await runHandingOver(
			sandbox,
			{ operation: 'generate', prompt: '={{ $json.prompt }}', options },
			input,
		);
		const [first, second] = handed[0] as [INodeExecutionData, INodeExecutionData];
		const ended = [endedRow(first, { task_id: 't', status: 'completed' }), endedRow(second, 'no luck')];
		const { items } = await runHandingOver(sandbox, { operation }, ended);
		expect(items.map(({ json }) => json.prompt ?? (json.details as IDataObject).prompt)).toEqual(['a', 'b']);
		const question = waitAndOutputResults(worker, 'continueErrorOutput')?.nodes.find(
			({ name }) => name === 'All Finished?',
		);
		expect(question && runOwn(question, items)).toEqual([items, []]);
		expect(question && runOwn(question, ended)).toEqual([[], ended]);
	});
});
