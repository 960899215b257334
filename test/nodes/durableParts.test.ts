/** Survive Restarts, its parts by themselves: the output at the end, the names of waves, and the sub-workflows as n8n stores them. */
import type { IExecuteFunctions, INode, IWorkflowBase } from 'n8n-workflow';
import { gatewayError, type TaskReference } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { accept, endBadly, endWell, makeOrder, makeRefused } from '../../core/orders/states';
import { FORMER_STEPS, STEPS } from '../../nodes/durable/storedNames';
import {
	missingNode,
	NEEDED_NODES,
	NEEDED_TO_START,
	pollWhenCalled,
	tryWaitAndStart,
	waitAndOutputResults,
	waitAndStart,
} from '../../nodes/durable/subWorkflow';
import { supportsDurableWait } from '../../nodes/durable/supportsDurableWait';
import { operationOf, toNodeOutput } from '../../nodes/durable/toNodeOutput';
import { forgetWaves, nameOfItem, waveNames } from '../../nodes/durable/waveNameStore';
import { storedSubWorkflows } from '../support/subWorkflows.mts';

const node: INode = { id: 'n', name: 'Node', type: 'image', typeVersion: 1, position: [0, 0], parameters: {} };
const taskOf = (taskId: string): TaskReference => ({ taskId, status: 'in_progress', elapsedMs: 0 });

/** The order of a task that has been bought. */
function bought(item: number, more: Partial<Order> = {}): Order {
	const request = { body: {}, hash: 'h', submitAgain: false };
	const order = { ...makeOrder({ item, thing: 'task', kind: 'image', then: 'poll', request }), ...more };
	order.state = 'submitting';
	accept(order, taskOf(`task-${item}`), 1);
	return order;
}

function done(item: number, more?: Partial<Order>): Order {
	const order = bought(item, more);
	endWell(order, { json: { task_id: `task-${item}`, status: 'completed' } });
	return order;
}

function failed(item: number, more?: Partial<Order>): Order {
	const order = bought(item, more);
	endBadly(order, gatewayError('waitingInterrupted', { id: `task-${item}` }, { task: order.task }));
	return order;
}

describe('the output at the end', () => {
	const context = { getNode: () => node } as unknown as IExecuteFunctions;
	const output = (orders: Order[], onError: Parameters<typeof toNodeOutput>[2], keptIn?: string) => {
		try {
			return { items: toNodeOutput(context, orders, onError, keptIn) };
		} catch (thrown) {
			const {
				message,
				description,
				messages,
				context: at,
			} = thrown as {
				message: string;
				description: string;
				messages: string[];
				context: { itemIndex?: number };
			};
			return { message, description, details: messages.join('\n'), item: at.itemIndex };
		}
	};

	test('the output at the end has an item for each order, in their sequence', () => {
		const { items } = output([done(0), done(1)], 'stopWorkflow', '7');
		expect(items?.map(({ json, pairedItem }) => [json.task_id, pairedItem])).toEqual([
			['task-0', { item: 0 }],
			['task-1', { item: 1 }],
		]);
	});

	test('the output at the end has the error of an order in its item where the workflow goes on', () => {
		const { items } = output([done(0), failed(1)], 'continueRegularOutput', '7');
		expect(items?.[1]?.json).toMatchObject({ task_id: 'task-1', error: expect.stringContaining('task-1') as string });
	});

	test('the output at the end is the first error where the workflow is to stop, with the place of the other results', () => {
		const { message, description, item } = output([done(0), failed(1), failed(2)], 'stopWorkflow', '7');
		expect(message).toContain('task-1');
		expect(item).toBe(1);
		expect(description).toContain(
			'The other results are in execution 7 (input of Results). A retry changes nothing. IDs: see Error details.',
		);
	});

	test('the output at the end is the error of an order that has failed by itself, and not of one that was held back before', () => {
		const heldBack = makeRefused(0, gatewayError('submissionStopped', { thing: 'task' }));
		const refused = makeRefused(1, gatewayError('balanceTooLow', {}));
		const { message, item } = output([heldBack, refused, failed(2)], 'stopWorkflow', '7');
		expect([message, item]).toEqual(['There are not enough credits left for this request', 1]);
		expect(output([done(0), heldBack], 'stopWorkflow', '7').message).toBe(heldBack.end?.error?.message);
	});

	test('the output at the end names no place where there are no other results, and no other tasks where there are none', () => {
		expect(output([failed(0)], 'stopWorkflow', '7').description).toMatch(/\. A retry changes nothing\.$/);
		expect(output([failed(0), failed(1)], 'stopWorkflow', '7').description).not.toContain('Results');
	});

	test('the output at the end names tasks that have failed before those that were created in their place', () => {
		const { description, details } = output(
			[failed(0, { earlierTaskIds: ['before'] }), done(1), done(2), done(3)],
			'stopWorkflow',
			'7',
		);
		expect(description).toMatch(/ IDs: see Error details\.$/);
		expect(details).toContain('before (failed), task-1 (in_progress), task-2 (in_progress)');
	});

	test('the output at the end says how to retry where the node has waited in memory', () => {
		const { description } = output([done(0), failed(1)], 'stopWorkflow');
		expect(description).not.toContain('A retry changes nothing');
		expect(description).toContain('Other tasks: task-0.');
	});

	test('the output at the end names the tasks of others where the first error is of an item that has none, and skips others without one', () => {
		const refused = (item: number) => makeRefused(item, gatewayError('balanceTooLow', {}));
		expect(output([refused(0), refused(1), done(2)], 'stopWorkflow', '7').description).toMatch(
			/ Other tasks: task-2\.$/,
		);
		const heldBack = makeRefused(1, gatewayError('submissionStopped', { thing: 'task' }));
		expect(output([failed(0), heldBack, done(2)], 'stopWorkflow', '7').details).toMatch(
			/All other IDs of this run: task-2 \(in_progress\)$/,
		);
	});

	test('advises no retry of an execution that throws what is stored, and warns where another run would buy again', () => {
		const kept = output([failed(0)], 'stopWorkflow', '7').description;
		expect(kept).not.toContain('Executions list');
		expect(kept).toContain('you pay again');
		const [item] = output([failed(0)], 'continueRegularOutput', '7').items ?? [];
		expect(item?.json.details).toContain('you pay again');
		const found = makeOrder({ item: 0, thing: 'task', kind: 'image', then: 'poll', task: taskOf('a') });
		endBadly(found, gatewayError('waitingInterrupted', { id: 'a' }, { task: found.task }));
		expect(output([found], 'continueRegularOutput', '7').items?.[0]?.json.details).not.toContain('you pay again');
	});

	test('the output at the end is that of Generate for what was bought, or is to be, and of Wait for Task for a task that was there', () => {
		expect(operationOf(done(0))).toBe('generate');
		const planned = makeOrder({
			item: 0,
			thing: 'task',
			kind: 'image',
			then: 'poll',
			request: { body: {}, hash: 'h', submitAgain: false },
		});
		expect(operationOf(planned)).toBe('generate');
		expect(operationOf({ ...planned, task: taskOf('a') })).toBe('generate');
		expect(operationOf(makeRefused(0, gatewayError('balanceTooLow', {})))).toBe('generate');
		expect(operationOf(makeOrder({ item: 0, thing: 'task', kind: 'image', then: 'poll', task: taskOf('a') }))).toBe(
			'waitForTask',
		);
	});
});

describe('the names of waves', () => {
	/** n8n's table of processed data, which has these names. */
	const world = (names: string[], more: object = {}) => {
		const table = new Set(names);
		const context = {
			getExecutionId: () => '7',
			getWorkflow: () => ({ id: 'w' }),
			getNode: () => node,
			logger: { warn: () => {} },
			helpers: {
				checkProcessedAndRecord: async (wanted: string[]) => {
					const processed = wanted.filter((name) => table.has(name));
					wanted.forEach((name) => table.add(name));
					return await Promise.resolve({ processed });
				},
				removeProcessed: async (gone: string[]) => await Promise.resolve(gone.forEach((name) => table.delete(name))),
			},
			...more,
		} as unknown as IExecuteFunctions;
		return { table, context };
	};

	test('the names of waves are those of the run, and tell which waves were there', async () => {
		const { table, context } = world(['run, wave 1', 'other, wave 2']);
		expect(await waveNames(context, { name: 'run' }).record([1, 2])).toEqual([1]);
		expect([...table]).toEqual(['run, wave 1', 'other, wave 2', 'run, wave 2']);
		await waveNames(context, { name: 'run' }).forget([1, 2]);
		expect([...table]).toEqual(['other, wave 2']);
	});

	test('the names of waves are those of the execution where the orders are of an older version, and have no run', async () => {
		const { table, context } = world([]);
		await waveNames(context).record([0]);
		expect([...table]).toEqual(['7, wave 0']);
	});

	test('the names of waves are all there as long as that of their run is, the oldest; to ask for it does not write it', async () => {
		const { table, context } = world(['run', 'other']);
		expect(await waveNames(context, { name: 'run' }).isComplete()).toBe(true);
		table.delete('run');
		expect(await waveNames(context, { name: 'run' }).isComplete()).toBe(false);
		expect(await waveNames(context, { name: 'run' }).isComplete()).toBe(false);
		expect([...table]).toEqual(['other']);
	});

	test('the waves of an item that goes on by itself are under its name, and all there as long as that of its run is', async () => {
		const { table, context } = world(['run']);
		const part = nameOfItem('run', 3);
		expect(part).toBe('run, item 3');
		expect(await waveNames(context, { name: part }).isComplete()).toBe(true);
		await waveNames(context, { name: part }).record([1]);
		expect([...table]).toEqual(['run', 'run, item 3, wave 1']);
	});

	test('waves cannot have names where n8n has no table of processed data', async () => {
		await expect(waveNames(world([], { helpers: {} }).context).record([0])).rejects.toThrow(
			'n8n has no table of processed data',
		);
	});

	test('the names of waves are removed when the run has ended, if there are any', async () => {
		const batch = { name: 'run', places: 1, requestsPerSecond: 10, stopsAtError: false, waves: 2 };
		const { table, context } = world(['run, wave 0', 'run, wave 1', 'run, wave 2']);
		await forgetWaves(context, [makeRefused(0, gatewayError('balanceTooLow', {})), done(1, { batch })]);
		expect([...table]).toEqual(['run, wave 2']);
		const unused = jest.fn();
		await forgetWaves(world([], { helpers: { checkProcessedAndRecord: unused, removeProcessed: unused } }).context, [
			done(0),
		]);
		expect(unused).not.toHaveBeenCalled();
		await forgetWaves(world([], { helpers: {} }).context, [done(1, { batch })]).catch(() => {});
	});

	test('names of waves that cannot be removed are no trouble', async () => {
		const removeProcessed = async () => await Promise.reject(new Error('locked'));
		const { context } = world([], { helpers: { checkProcessedAndRecord: () => {}, removeProcessed } });
		const batch = { name: 'run', places: 1, requestsPerSecond: 10, stopsAtError: false, waves: 2 };
		await expect(forgetWaves(context, [done(1, { batch })])).resolves.toBeUndefined();
	});
});

test.each([
	['w', '7', true],
	['', '7', false],
	['w', '', false],
])('an execution can sleep where it can be found again: workflow %p, execution %p', (workflow, execution, expected) => {
	const context = { getWorkflow: () => ({ id: workflow }), getExecutionId: () => execution };
	expect(supportsDurableWait(context as unknown as IExecuteFunctions)).toBe(expected);
});

test('every former name of a step leads to one of today', () => {
	const today = [STEPS.keepWaiting, STEPS.noteAddress, STEPS.pollTasks, ...Object.values(STEPS.results)];
	expect(FORMER_STEPS).toMatchObject({ durableResults: 'durableHandOut' });
	expect(Object.values(FORMER_STEPS).filter((name) => !today.includes(name as never))).toEqual([]);
	expect([...today, ...Object.keys(FORMER_STEPS)].filter((name) => !name.startsWith('durable'))).toEqual([]);
});

test('an execution of an older n8n, which does not mark those that wait for others, cannot sleep', async () => {
	await jest.isolateModulesAsync(async () => {
		jest.doMock('n8n-workflow', () => ({
			...jest.requireActual<object>('n8n-workflow'),
			WAIT_FOR_SUB_EXECUTION: undefined,
		}));
		const older = await import('../../nodes/durable/supportsDurableWait');
		const context = { getWorkflow: () => ({ id: 'w' }), getExecutionId: () => '7' };
		expect(older.supportsDurableWait(context as unknown as IExecuteFunctions)).toBe(false);
		jest.dontMock('n8n-workflow');
	});
});

test('the nodes of n8n that sub-workflows need have the names that people know', () => {
	expect(NEEDED_NODES).toEqual({
		'n8n-nodes-base.executeWorkflowTrigger': 'Execute Workflow Trigger',
		'n8n-nodes-base.if': 'If',
		'n8n-nodes-base.wait': 'Wait',
	});
});

test('the first node that sub-workflows need and that this n8n does not have is named', () => {
	const without = (...types: string[]) => {
		const known = Object.fromEntries(Object.entries(NEEDED_TO_START).filter(([type]) => !types.includes(type)));
		return { getKnownNodeTypes: () => known } as unknown as IExecuteFunctions;
	};
	expect(NEEDED_TO_START).toEqual({ ...NEEDED_NODES, 'n8n-nodes-base.executeWorkflow': 'Execute Sub-workflow' });
	expect(missingNode(without())).toBeUndefined();
	expect(missingNode(without('n8n-nodes-base.wait', 'n8n-nodes-base.if'))).toBe('If');
	expect(missingNode(without('n8n-nodes-base.executeWorkflow'))).toBeUndefined();
	expect(missingNode(without('n8n-nodes-base.executeWorkflow'), NEEDED_TO_START)).toBe('Execute Sub-workflow');
});

describe('a sub-workflow as n8n stores it', () => {
	const worker: INode = {
		...node,
		type: 'package.ToolboxTool',
		credentials: { gateway: { id: 'c', name: 'Account' } },
		parameters: { prompt: 'a secret' },
		onError: 'stopWorkflow',
	};
	test('a sub-workflow as n8n stores it has these nodes and connections, and nothing of the form of the node', () => {
		const codes = {
			'hands results out': waitAndOutputResults(worker, 'continueErrorOutput'),
			polls: pollWhenCalled(worker),
			'starts another workflow': waitAndStart(worker, 'other', 'alarm'),
		};
		for (const [name, code] of Object.entries(codes))
			expect([name, JSON.parse(JSON.stringify(code))]).toEqual([name, storedSubWorkflows[name]]);
	});

	test('a sub-workflow that is only tried is the same, and leaves nothing', () => {
		const { settings, ...tried } = tryWaitAndStart(worker, 'other') as IWorkflowBase;
		const { settings: kept, ...started } = waitAndStart(worker, 'other') as IWorkflowBase;
		expect(tried).toEqual(started);
		expect(settings).toEqual({ ...kept, saveDataSuccessExecution: 'none', saveDataErrorExecution: 'none' });
		expect(kept).not.toHaveProperty('errorWorkflow');
	});
});
