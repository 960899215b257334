/** Results, the node that puts out what the orders of a sub-execution have become; until then it passes on their rows. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { accept, endBadly, endWell, makeOrder } from '../../core/orders/states';
import { outputResults } from '../../nodes/durable/outputResults';
import { toOrderItems } from '../../nodes/durable/orderItems';
import { HINTS } from '../../nodes/run/hints';
import type { OnError } from '../../nodes/run/toItem';
import { DataTables } from '../support/dataTables.mts';
import { pause } from '../support/nodes.mts';

const batch = { name: 'run', places: 1, requestsPerSecond: 10, stopsAtError: false, waves: 2 };

function bought(item: number, more: Partial<Order> = {}): Order {
	const request = { body: {}, hash: 'h', submitAgain: false };
	const order = { ...makeOrder({ item, thing: 'task', kind: 'image', then: 'poll', request }), ...more };
	order.state = 'submitting';
	accept(order, { taskId: `t${item}`, status: 'in_progress', elapsedMs: 0 }, 1);
	return order;
}

function done(
	item: number,
	json: IDataObject = {},
	{ hints = [] as string[], ...more }: Partial<Order> & { hints?: string[] } = {},
) {
	const order = bought(item, more);
	endWell(order, { json: { task_id: `t${item}`, status: 'completed', ...json } }, hints);
	return order;
}

function failed(item: number): Order {
	const order = bought(item);
	endBadly(order, gatewayError('waitingInterrupted', { id: `t${item}` }, { task: order.task }));
	return order;
}

/** The outcome for this input, in an execution that began with `start`. */
async function results(
	input: INodeExecutionData[],
	{ start = input, onError = 'stopWorkflow' as OnError, flow = {}, more = {} } = {},
) {
	const names = new Set(['run, wave 0', 'run, wave 1', 'other, wave 0']);
	const hints: unknown[] = [];
	const context = {
		getInputData: () => input,
		getExecutionId: () => '7',
		getContext: (of: string) => (of === 'flow' ? flow : {}),
		getExecutionDataById: async () => await Promise.reject(new Error('there is no such data')),
		getWorkflow: () => ({ id: 'w' }),
		getNode: () => ({ id: 'n', name: 'Results', type: 'image', typeVersion: 1, position: [0, 0], parameters: {} }),
		getWorkflowDataProxy: () => ({ $: () => ({ all: () => start }) }),
		getCredentials: async () => await Promise.reject(new Error('no credential')),
		logger: { warn: () => {} },
		helpers: {
			checkProcessedAndRecord: async () => await Promise.resolve({ processed: [] }),
			removeProcessed: async (gone: string[]) => await Promise.resolve(gone.forEach((name) => names.delete(name))),
		},
		addExecutionHints: (hint: unknown) => hints.push(hint),
		...more,
	} as unknown as IExecuteFunctions;
	return { items: await outputResults(context, onError), hints, names: [...names] };
}

const jsons = (items: INodeExecutionData[]) => items.map(({ json }) => json);

test('as long as an order has not ended, the very rows go on, and the names of the run stay', async () => {
	const rows = toOrderItems([done(0, {}, { batch }), bought(1, { batch })]);
	const { items, names, hints } = await results(rows);
	expect(items).toBe(rows);
	expect(names).toHaveLength(3);
	expect(hints).toEqual([]);
});

test('rows that a dead execution has left in a bad state are those of the beginning', async () => {
	const start = toOrderItems([bought(0), bought(1)]);
	const { items } = await results([{ json: { error: 'x' } }], { start });
	expect(items).toEqual(start);
	const { items: ended } = await results([{ json: {} }], { start: toOrderItems([done(3)]) });
	expect(jsons(ended)).toEqual([{ task_id: 't3', status: 'completed' }]);
});

test('once all have ended, their items go out, and the names of the run are removed', async () => {
	const { items, names, hints } = await results(
		toOrderItems([done(0, { url: 'u' }, { batch }), done(1, {}, { batch })]),
	);
	expect(jsons(items)).toEqual([
		{ task_id: 't0', status: 'completed', url: 'u' },
		{ task_id: 't1', status: 'completed' },
	]);
	expect(names).toEqual(['other, wave 0']);
	expect(hints).toEqual([{ message: HINTS.urlsExpire(), location: 'outputPane' }]);
});

test.each([
	['one execution has polled', 1, ['other, wave 0']],
	['more than one has', 2, ['run, wave 0', 'run, wave 1', 'other, wave 0']],
])('where %s, the names of the run are as they must be', async (_, rounds, left) => {
	const { names } = await results(toOrderItems([done(0, {}, { batch })]), { flow: { rounds } });
	expect(names).toEqual(left);
});

test('the error of an order ends the node, or is an item, as On Error says', async () => {
	const rows = toOrderItems([done(0), failed(1)]);
	await expect(results(rows)).rejects.toMatchObject({
		message: expect.stringContaining('t1') as string,
		description: expect.stringContaining('execution 7') as string,
	});
	const { items } = await results(rows, { onError: 'continueRegularOutput' });
	expect(items[1]?.json).toMatchObject({ task_id: 't1', error: expect.stringContaining('t1') as string });
});

test.each<[OnError]>([['stopWorkflow'], ['continueRegularOutput'], ['continueErrorOutput']])(
	'after a stop of the execution that has waited for it, Results ends as canceled, names the tasks that have not finished, and hands out nothing, with %s',
	async (onError) => {
		const executions: Record<string, object> = {
			7: { resultData: {}, parentExecution: { executionId: '6', workflowId: 'w' } },
			6: { resultData: { error: { message: 'stopped' } } },
		};
		const more = { getExecutionDataById: async (id: string) => await Promise.resolve(executions[id]) };
		const thrown = await results(toOrderItems([done(0), failed(1)]), { onError, more }).catch(
			(error: unknown) => error,
		);
		expect(thrown).toMatchObject({
			message: 'The execution was canceled, because nobody waits for its results any more',
			description: expect.stringMatching(/are in the input of this node.*Tasks: t1\.$/) as string,
		});
		// What has finished is a result, whoever reads it.
		const { items } = await results(toOrderItems([done(0), done(1)]), { onError, more });
		expect(jsons(items).map(({ task_id: id }) => id)).toEqual(['t0', 't1']);
	},
);

test('each hint of an order is said once, behind those of the output, and without tags', async () => {
	const { hints } = await results(
		toOrderItems([done(0, { status: 'in_progress' }, { hints: ['a <b>', 'c'] }), done(1, {}, { hints: ['c'] })]),
	);
	expect(hints).toEqual(
		[HINTS.oneTaskRunning({ buys: true }), 'a ‹b›', 'c'].map((message) => ({ message, location: 'outputPane' })),
	);
	const waiting = { ...done(0, { status: 'in_progress' }), acceptedAtMs: undefined };
	expect((await results(toOrderItems([waiting]))).hints).toEqual([
		{ message: HINTS.oneTaskRunning({ buys: false }), location: 'outputPane' },
	]);
});

test('where n8n is too old for hints, the items go out all the same', async () => {
	const { items } = await results(toOrderItems([done(0, {}, { hints: ['a'] })]), {
		more: { addExecutionHints: undefined },
	});
	expect(items).toHaveLength(1);
});

test('an item that looks like a row would go round for ever: what makes it one is left out', async () => {
	const like = { error: 'x', details: { gateway_order: {}, other: 1 } };
	const { items } = await results(
		toOrderItems([done(0, like), done(1, { details: { gateway_order: {} } }), done(2, { error: 'x', details: 'y' })]),
		{ onError: 'continueErrorOutput' },
	);
	expect(jsons(items)).toEqual([
		{ task_id: 't0', status: 'completed', error: 'x', details: { other: 1 } },
		{ task_id: 't1', status: 'completed', details: { gateway_order: {} } },
		{ task_id: 't2', status: 'completed', error: 'x', details: 'y' },
	]);
});

test('the credits are read where they were at the beginning, and a hint says why they are not known', async () => {
	const credits = { usedBefore: 5 };
	const { hints } = await results(toOrderItems([done(0), done(1, {}, { batch: { ...batch, credits } })]));
	expect(hints).toContainEqual({
		message: HINTS.creditsUnknown({ why: 'This node ran into something unexpected: Error: no credential' }),
		location: 'outputPane',
	});
});

async function* chunks(text: string) {
	yield await Promise.resolve(Buffer.from(text));
}

test('the credits of the run are in its first item, and in the purchase log where it has one', async () => {
	const tables = new DataTables();
	const { executeWorkflow } = tables.contextOf('w');
	const answer = { success: true, used_credits: 12, used_balance: 1, remain_credits: 1, remain_balance: 1 };
	const more = {
		executeWorkflow,
		getCredentials: async () => await Promise.resolve({ apiKey: 'k', baseUrl: 'http://127.0.0.1:9' }),
		getExecutionCancelSignal: () => undefined,
		getTimezone: () => 'UTC',
		helpers: {
			httpRequestWithAuthentication: async () =>
				await Promise.resolve({
					...{ statusCode: 200, headers: { 'content-type': 'application/json' } },
					body: chunks(JSON.stringify(answer)),
				}),
		},
	};
	const columns = { workflow: 'W', workflow_id: 'w', node: 'N', node_id: 'n', execution: '7', run: 'r', retry: false };
	const log = { ...columns, account: 'c', base_url: 'u' };
	const credits = { usedBefore: 5 };
	const of = (logged: object) => toOrderItems([done(0), done(1, {}, { batch: { ...batch, credits, ...logged } })]);
	const { items } = await results(of({ log }), { more });
	expect(jsons(items).map((json) => json.run_credits)).toEqual([7, undefined]);
	for (let waits = 0; waits < 100 && tables.rows.length === 0; waits++) await pause(20);
	expect(tables.rows).toMatchObject([{ state: 'run', credits: 7, run: 'r' }]);
	await results(of({}), { more });
	await results(toOrderItems([done(0)]), { more });
	await pause(50);
	expect(tables.rows).toHaveLength(1);
});
