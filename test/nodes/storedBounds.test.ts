/** Answers of the service are stored with their orders: whatever is in them, the orders can be read back. */
import type { INodeExecutionData } from 'n8n-workflow';
import { usedCreditsOf } from '../../core/account/runCredits';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import { parseOrderItems } from '../../nodes/durable/orderItems';
import { runHandingOver } from '../support/handingOver.mts';
import { startHostile, text, type Hostile } from '../support/hostile.mts';
import { prompts, quick, type Sandbox } from '../support/nodes.mts';
import { orderOf } from '../support/orders.mts';

let service: Hostile;
beforeAll(async () => {
	service = await startHostile();
});
afterAll(async () => await service.close());
beforeEach(() => service.reset());

const long = (length: number) => 'x'.repeat(length);
const run = async (...[parameters, items, options]: [object, INodeExecutionData[], object?]) =>
	await runHandingOver(service as unknown as Sandbox, parameters as never, items, options);
const surviving = { prompt: '={{ $json.prompt }}', options: { ...quick, surviveRestarts: true, concurrentTasks: 9 } };
const record = (id: string, fields: object = {}) =>
	text(JSON.stringify({ id, status: 'queued', created_at: 1, ...fields }));

test('a task ID that is too long to be stored ends its item, which names it, and is no harm to the others', async () => {
	const id = long(MAX_ID_LENGTH + 1);
	let created = 0;
	service.answers.create = (response, request) => record(created++ === 0 ? id : 't2')(response, request);
	const { handed } = await run({ ...surviving, operation: 'generate' }, prompts('a', 'b'), {
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
	const { handed } = await run({ ...surviving, operation: 'generate' }, prompts('a'));
	expect(parseOrderItems(JSON.parse(JSON.stringify(handed[0])))?.[0]?.task?.taskId).toHaveLength(MAX_ID_LENGTH);
});

test('a model of any length, which the record of a task names, is cut', async () => {
	const options = { ...surviving.options, timeoutMinutes: 1 };
	const { handed } = await run({ ...surviving, options, operation: 'waitForTask', taskId: 'task_1' }, prompts('a'));
	service.answers.poll = record('task_1', {
		status: 'completed',
		model: long(2000),
		data: [{ url: `${service.baseUrl}/files/1.png` }],
	});
	const { items } = await run({ operation: 'durablePollTasks' }, handed[0] ?? []);
	expect(parseOrderItems(items)?.[0]?.end?.as).toBe('done');
	expect(orderOf(items[0] as INodeExecutionData).model?.length).toBeLessThanOrEqual(MAX_ID_LENGTH);
});

test.each([
	['1e999', undefined],
	['-1e999', undefined],
	['"5"', undefined],
	['5', 5],
])('%s used credits are %s', (used, credits) => {
	expect(usedCreditsOf(JSON.parse(`{ "used_credits": ${used} }`) as { used_credits: number })).toBe(credits);
});
