/**
 * Stored orders that come back in another form: damaged by somebody or something, of another version, or beside fields of
 * the same name. Each ends with the ID of its task, and what could not be stored is refused before it is bought.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import { toOrderItem, withHandOver } from '../../nodes/durable/orderItems';
import { STEPS } from '../../nodes/durable/subWorkflow';
import { start } from '../support/engine.mts';
import { startHostile, text } from '../support/hostile.mts';
import { acceptedOrder, detailsOf, endedRow, handOver, orderOf, withOrder } from '../support/orders.mts';
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
const surviving = { ...generating, wait: 'acrossRestarts', options: quick };
const inBackground = {
	...generating,
	wait: 'inAnotherWorkflow',
	workflowId: { __rl: true, mode: 'id', value: 'w1' },
};
const long = (length: number) => 'x'.repeat(length);
const withOptions = (of: { options: IDataObject }, options: IDataObject) => ({
	...of,
	options: { ...of.options, ...options },
});

describe.each([
	['Across Restarts', surviving],
	['In Another Workflow', inBackground],
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

test('Get Result refuses an ID of more than 1000 characters', async () => {
	const { error } = await run({ operation: 'getResult', taskId: long(1_001) }, prompts('a'));
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
			end: { error: { message: `What n8n has saved of task ${detailsOf(first).task_id as string} is damaged` } },
			task: { taskId: detailsOf(first).task_id },
		});
		expect(orderOf(rows[1] as INodeExecutionData)).toEqual(orderOf(second));
	});

	test('a time in the far future is not believed: the order does not sleep without end', async () => {
		const [first] = (await stored()) as [INodeExecutionData];
		const wait = { ...orderOf(first).wait, startedAtMs: 8e15, dueAtMs: 8e15 };
		const far = withOrder(first, { ...orderOf(first), acceptedAtMs: 8e15, wait });
		const { promise } = start(toOptions('image', sandbox, { operation: 'durablePollTasks' }, { items: [far] }));
		const { waitTill, data } = await promise;
		expect(waitTill).toBeUndefined();
		const [row] = data.resultData.runData.Node?.[0]?.data?.main?.[0] ?? [];
		expect(row && orderOf(row)).toMatchObject({ state: 'ended', end: { as: 'done' } });
	});
});

describe('what another version of the package has stored, in the middle of a wait', () => {
	const rowsOfAnother = () => {
		const orders = [acceptedOrder(0), acceptedOrder(1)].map((order) => ({ ...order, version: 999 }) as never);
		return withHandOver(orders.map(toOrderItem), handOver());
	};

	test.each(['durableAStepOfTomorrow', 'durablePollTasksAnew'])(
		'a step that this version does not have, %s, ends with the ID of each task',
		async (operation) => {
			const { error } = await run({ operation }, rowsOfAnother());
			expect(error?.message).toBe(
				'Another version of this package has stored task known-0, and this version cannot read it',
			);
			expect(error?.description).toContain('Other tasks: known-1.');
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
	const [refused, next] = (handed[0] ?? []).map(orderOf);
	expect(refused?.end).toMatchObject({ as: 'outcomeUnknown', error: { details: { task: { taskId: id } } } });
	expect(next?.state).toBe('planned');
});

test.each(['durableHandOut', 'durableHandOutToErrors'])(
	'an item that was handed out by %s is taken for no row',
	async (operation) => {
		const { handed } = await run(surviving, prompts('a', 'b'));
		const [first, second] = handed[0] as [INodeExecutionData, INodeExecutionData];
		const ended = [endedRow(first, { task_id: 't', status: 'completed' }), endedRow(second, 'no luck')];
		const { items } = await run({ operation }, ended);
		expect(items.map(({ json }) => json.prompt ?? (json.details as IDataObject).prompt)).toEqual(['a', 'b']);
		const jsonOf = (output: INodeExecutionData[] | null) => output?.map(({ json }) => json);
		const question = async (asked: INodeExecutionData[]) =>
			(await run({ operation: STEPS.areHandedOut }, asked)).outputs?.map(jsonOf);
		expect(await question(items)).toEqual([jsonOf(items), []]);
		expect(await question(ended)).toEqual([[], jsonOf(ended)]);
	},
);
