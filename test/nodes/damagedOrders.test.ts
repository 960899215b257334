/**
 * Stored orders that come back in another form: damaged by somebody or something, of another version, or beside fields of
 * the same name. Each ends with the ID of its task, and what could not be stored is refused before it is bought.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import { waitAndOutputResults } from '../../nodes/durable/subWorkflow';
import { runOwn } from '../simulation/support/subWorkflowState.mts';
import { start } from '../support/engine.mts';
import { startHostile, text } from '../support/hostile.mts';
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

test('Wait for Task refuses an ID of more than 1000 characters', async () => {
	const { error } = await run({ operation: 'waitForTask', taskId: long(1_001) }, prompts('a'));
	expect(error?.message).toBe('Task ID has 1001 characters: at most 1000 are allowed');
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
		['an empty order', [{ json: { error: 'x', message: 'y', details: { gateway_order: {} } } }], {}],
		['rounds that are none', [{ json: { error: 'gone' } }], { rounds: 'many' }],
	])('Keep Waiting with %s ends after a few rounds', async (_, items, memory) => {
		expect(await rounds('durableKeepWaiting', items, memory)).toBeLessThanOrEqual(3);
	});
});

describe('what another version of the package has stored, in the middle of a wait', () => {
	const rowsOfAnother = async () => {
		const { handed } = await run(surviving, prompts('a', 'b'));
		const rows = JSON.parse(JSON.stringify(handed[0])) as INodeExecutionData[];
		const ids = rows.map((row) => orderOf(row).task?.taskId);
		return { ids, rows: rows.map((row) => withOrder(row, { ...orderOf(row), version: 999 })) };
	};

	test.each(['durableAStepOfTomorrow', 'durablePollTasksAnew'])(
		'a step that this version does not have, %s, ends with the ID of each task',
		async (operation) => {
			const { rows, ids } = await rowsOfAnother();
			sandbox.requests.length = 0;
			const { error } = await run({ operation }, rows);
			expect(error?.message).toBe(
				`Another version of this package has stored task ${ids[0]}, and this version cannot read it`,
			);
			expect(error?.description).toContain(`Other tasks: ${ids[1]}.`);
			expect(error?.description).toContain('Install that version again.');
			expect(sandbox.requests).toEqual([]);
		},
	);

	test('a step that this version does not have is none for the items of a workflow', async () => {
		const { error } = await run({ operation: 'durableAStepOfTomorrow' }, prompts('a'));
		expect(error?.message).toMatch(/^This operation cannot be used in workflows/);
	});
});

test('a task ID that is too long to be stored ends its item, which names it, and is no harm to the others', async () => {
	const service = await startHostile();
	const id = long(MAX_ID_LENGTH + 1);
	let created = 0;
	service.answers.create = (response, request) =>
		text(JSON.stringify({ id: created++ === 0 ? id : 't2', status: 'queued', created_at: 1 }))(response, request);
	const { handed } = await runHandingOver(
		service as unknown as Sandbox,
		withOptions(surviving, { concurrentTasks: 9 }),
		prompts('a', 'b'),
		{ settings: { onError: 'continueRegularOutput' } },
	);
	await service.close();
	const rows = JSON.parse(JSON.stringify(handed[0])) as INodeExecutionData[];
	const ends = rows.map((row) => orderOf(row)).sort((one, other) => one.state.localeCompare(other.state));
	expect(ends.map(({ task, end }) => task?.taskId ?? end?.error?.details.task?.taskId)).toEqual(['t2', id]);
	expect(ends[1]?.end?.as).toBe('outcomeUnknown');
});

test.each(['durableHandOut', 'durableHandOutToErrors'])(
	'an item that was handed out by %s is taken for no row, although its input had a field of the name of the order',
	async (operation) => {
		const input = prompts('a', 'b').map(({ json }) => ({ json: { ...json, gateway_order: 'from elsewhere' } }));
		const { handed } = await run(withOptions(surviving, { includeInputFields: true }), input);
		const [first, second] = handed[0] as [INodeExecutionData, INodeExecutionData];
		const ended = [endedRow(first, { task_id: 't', status: 'completed' }), endedRow(second, 'no luck')];
		const { items } = await run({ operation }, ended);
		expect(items.map(({ json }) => json.prompt ?? (json.details as IDataObject).prompt)).toEqual(['a', 'b']);
		const position = [0, 0] as [number, number];
		const worker = { id: '1', name: 'Node', type: 'x', typeVersion: 1, position, parameters: {} };
		const question = waitAndOutputResults(worker, 'continueErrorOutput')?.nodes.find(
			({ name }) => name === 'All Finished?',
		);
		expect(question && runOwn(question, items)).toEqual([items, []]);
		expect(question && runOwn(question, ended)).toEqual([[], ended]);
	},
);
