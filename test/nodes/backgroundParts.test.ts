/** Start a Workflow, by itself: what is asked of n8n before anything is bought, and what is started with which tasks. */
import type { IDataObject, INodeExecutionData, NodeTypeAndVersion } from 'n8n-workflow';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { endBadly, endWell } from '../../core/orders/states';
import { gatewayError, type GatewayError } from '../../core/errors';
import { readBackground, startInBackground } from '../../nodes/durable/background';
import { NEEDED_TO_START, tryWaitAndStart, waitAndStart } from '../../nodes/durable/subWorkflow';
import { HINTS } from '../../nodes/run/hints';
import type { Background, Run } from '../../nodes/run/run';
import { lightContext, NODE, type LightOptions } from '../support/lightContext.mts';
import { acceptedOrder, batchOf, orderOf, plannedOrder } from '../support/orders.mts';

const TOOL = { type: 'x.gatewayImageGenerationTool' };
const parentExecution = { executionId: 'own', workflowId: 'w', shouldResume: false };
const TRIGGER = { name: 'T', type: 'n8n-nodes-base.executeWorkflowTrigger', typeVersion: 1, disabled: false };

describe('the workflow to start', () => {
	const chosen = { __rl: true, mode: 'list', value: 'other', cachedResultName: 'Post Picture' };
	const read = async (parameters: IDataObject = {}, options: LightOptions = {}) => {
		const light = lightContext({
			parameters: { whenDone: 'startWorkflow', workflowId: chosen, ...parameters },
			execute: () => ({ data: [], waitTill: undefined }),
			...options,
		});
		const again = async () =>
			await readBackground(light.context).catch((thrown: GatewayError) => thrown.details.reason ?? thrown);
		return { ...light, background: await again(), again };
	};

	test('the workflow to start is checked before anything is bought: n8n starts none of its nodes without items', async () => {
		const { background, executed, memory } = await read();
		expect(background).toEqual({ workflowId: 'other', name: 'Post Picture', eachItem: false, executions: {} });
		expect(executed).toEqual([
			{ workflow: { code: tryWaitAndStart(NODE, 'other') }, items: [], options: { parentExecution } },
			{ workflow: { id: 'other' }, items: [], options: { parentExecution } },
		]);
		expect((background as Background).executions).toBe(memory.node.handedOver);
	});

	test('the workflow to start is checked once for each execution and workflow', async () => {
		const workflowId = { value: 'other' };
		const { again, executed, memory } = await read({ workflowId });
		await again();
		expect(executed).toHaveLength(2);
		workflowId.value = 'another';
		await again();
		expect(executed).toHaveLength(4);
		// As an earlier execution of this node has left it.
		memory.node.startable = 'before another';
		await again();
		expect(executed).toHaveLength(6);
	});

	test('the executions of earlier tries are known', async () => {
		const light = await read();
		light.memory.node.handedOver = { 'task-1': '7' };
		expect(await light.again()).toMatchObject({ executions: { 'task-1': '7' } });
	});

	test.each<[string, IDataObject, object]>([
		['by a list, without its name', { workflowId: { value: ' other ' } }, { workflowId: 'other', name: 'other' }],
		['by a list, with an empty name', { workflowId: { value: 'other', cachedResultName: '' } }, { name: 'other' }],
		['by a list, with no text as its name', { workflowId: { value: 'other', cachedResultName: 7 } }, { name: 'other' }],
		['by its ID', { workflowId: 'other' }, { workflowId: 'other', name: 'other' }],
		['by a number', { workflowId: { value: 7 } }, { workflowId: '7', name: '7' }],
		['for each item', { startMode: 'eachItem' }, { eachItem: true }],
		['for all items', { startMode: 'allItems' }, { eachItem: false }],
	])('the workflow to start can be chosen %s', async (_, parameters, background) => {
		expect((await read(parameters)).background).toMatchObject(background);
	});

	test.each<[string, IDataObject, LightOptions, string]>([
		['is not chosen', { workflowId: '' }, {}, 'fieldEmpty'],
		['is empty', { workflowId: { value: ' ' } }, {}, 'fieldEmpty'],
		['is no text', { workflowId: { value: [7] } }, {}, 'notText'],
		[
			'is lost',
			{ workflowId: undefined },
			{ node: { parameters: { workflowId: { value: '={{ $json.x }}' } } } },
			'expressionGaveNothing',
		],
		['cannot be waited for', {}, { more: { getWorkflow: () => ({}) } }, 'backgroundNotPossible'],
		[
			'needs a node that this n8n excludes',
			{},
			{ more: { getKnownNodeTypes: () => ({ ...NEEDED_TO_START, 'n8n-nodes-base.executeWorkflow': undefined }) } },
			'backgroundNotPossible',
		],
	])('the workflow to start is a mistake where it %s', async (_, parameters, options, reason) => {
		const { background, executed } = await read(parameters, options);
		expect(background).toMatchObject({ name: reason });
		expect(executed).toEqual([]);
		if (reason === 'backgroundNotPossible')
			expect(background).toMatchObject({
				data: { missing: 'getKnownNodeTypes' in (options.more ?? {}) ? 'Execute Sub-workflow' : undefined },
			});
		if (reason === 'fieldEmpty')
			expect(background).toMatchObject({
				data: { label: 'Workflow', enter: expect.stringContaining('Choose') as string },
			});
	});

	test.each(['wait', 'return'])('no workflow is to be started where When Done is %s', async (whenDone) => {
		const { background, executed } = await read({ whenDone });
		expect([background, executed]).toEqual([undefined, []]);
	});

	/** The workflow is this one; these nodes stand before the node, or before the agent that calls it. */
	const here = async (before: Record<string, NodeTypeAndVersion[]>, node: object = {}, proxy: object = {}) => {
		const more = {
			getWorkflow: () => ({ id: 'other' }),
			getParentNodes: (name: string) => before[name] ?? [],
			getWorkflowDataProxy: () => ({ $runIndex: 0, ...proxy }),
		};
		const { background } = await read({}, { more, node });
		return (background as { name: string }).name;
	};
	const loops = 'workflowLoops';

	test('the workflow to start can be this one only where it would not come here again', async () => {
		expect(await here({ Node: [TRIGGER] })).toBe(loops);
		expect(await here({ Node: [{ ...TRIGGER, disabled: true }] })).toBe('Post Picture');
		expect(await here({ Node: [{ ...TRIGGER, type: 'n8n-nodes-base.webhook' }] })).toBe('Post Picture');
		expect(await here({ Node: [] })).toBe('Post Picture');
		const other = { more: { getParentNodes: () => [TRIGGER] } };
		expect((await read({}, other)).background).toMatchObject({ name: 'Post Picture' });
	});

	test('the workflow to start can be that of an agent only where n8n says what stands before the agent', async () => {
		const agent = { $prevNode: { name: 'Agent' } };
		const chat = { ...TRIGGER, type: 'chatTrigger' };
		expect(await here({ Agent: [TRIGGER], Node: [chat] }, TOOL, agent)).toBe(loops);
		expect(await here({ Agent: [chat], Node: [TRIGGER] }, TOOL, agent)).toBe('Post Picture');
		expect(await here({ Node: [chat] }, TOOL, agent)).toBe(loops);
		for (const proxy of [{}, { $prevNode: {} }]) expect(await here({ Node: [chat] }, TOOL, proxy)).toBe(loops);
		expect(await here({ '': [chat] }, TOOL, {})).toBe('Post Picture');
	});

	test.each<[string, 'wait' | 'start', object, object]>([
		[
			'the execution that waits',
			'wait',
			{ message: 'No access', description: 'to <b>the</b> credential' },
			{ name: 'waitingNotPossible', data: { words: 'No access. to the credential' } },
		],
		[
			'a draft',
			'start',
			{ message: 'Workflow is not active' },
			{ name: 'workflowNotPublished', data: { name: 'Post Picture' } },
		],
		['what is gone', 'start', { message: 'Workflow DOES NOT EXIST' }, { name: 'workflowNotPublished' }],
		[
			'what has no trigger',
			'start',
			{ message: 'missing node to start execution' },
			{ name: 'workflowWithoutTrigger', data: { name: 'Post Picture' } },
		],
		[
			'what it does not let others call',
			'start',
			{ message: 'Not allowed', description: null },
			{ name: 'workflowNotStartable', data: { name: 'Post Picture', words: 'Not allowed' } },
		],
		[
			'something without words',
			'start',
			{},
			{ name: 'workflowNotStartable', data: { name: 'Post Picture', words: '' } },
		],
	])('n8n’s refusal to start %s says what to do', async (_, what, thrown, reason) => {
		const execute: LightOptions['execute'] = ({ workflow }) => {
			if ((what === 'wait') === (workflow.id === undefined)) throw Object.assign(new Error(''), thrown);
			return {};
		};
		const { background, memory } = await read({}, { execute });
		expect(background).toMatchObject(reason);
		expect(memory.node).not.toHaveProperty('startable');
	});
});

describe('the start in the background', () => {
	const done = (item: number) => {
		const order = acceptedOrder(item);
		endWell(order, { json: { task_id: 'done' } });
		return order;
	};
	const refused = (item: number) => {
		const order = plannedOrder(item);
		endBadly(order, gatewayError('balanceTooLow', {}));
		return order;
	};

	async function startAll(
		orders: Order[],
		options: LightOptions & { background?: Partial<Background>; run?: Partial<Run> } = {},
	) {
		const light = lightContext({
			execute: () => ({ data: [null as never], waitTill: undefined }),
			...options,
		});
		const hints = new Set<string>();
		const ledger = new OrderLedger({ store: light.memory.node, executionId: 'own', runIndex: 4 });
		for (const { item, task } of orders)
			if (task) ledger.accepted(item, { taskId: task.taskId, hash: 'h', acceptedAtMs: 1 });
		const run = { context: light.context, ledger, hints, ...options.run } as unknown as Run;
		light.memory.node.handedOver = options.background?.executions ?? {};
		const background = { workflowId: 'other', name: 'Post Picture', eachItem: false, ...options.background };
		const executions = light.memory.node.handedOver as Record<string, string>;
		const work = startInBackground(run, orders, { ...background, executions });
		const items = await work.catch((thrown: unknown) => [thrown] as unknown as INodeExecutionData[]);
		const groups = light.executed.map((call) => call.items.map((row) => orderOf(row)));
		return { ...light, hints, ledger, run, items, executions, groups };
	}
	const fails = (...numbers: number[]): LightOptions['execute'] => {
		let calls = 0;
		return () => {
			if (numbers.includes(++calls)) throw new Error('the database is locked');
			return {};
		};
	};
	const continuing = (onError: string) => ({
		node: { onError: onError as never },
		more: { continueOnFail: () => true },
	});

	test('the start in the background hands all tasks to one execution, for which nobody waits, and says which it is', async () => {
		const orders = [acceptedOrder(0), plannedOrder(3), done(2)];
		const { executed, items, hints, memory, ledger } = await startAll(orders, {
			more: { getWorkflowSettings: () => ({ errorWorkflow: 'alarm' }) },
		});
		expect(executed).toEqual([
			{
				workflow: { code: waitAndStart(NODE, 'other', 'alarm') },
				items: [expect.anything(), expect.anything()],
				options: { doNotWaitToFinish: true, parentExecution },
			},
		]);
		const metadata = { subExecution: { executionId: 'sub-1', workflowId: 'w' } };
		expect(items).toEqual([
			{ json: { task_id: 'known-0', status: 'queued', execution_id: 'sub-1' }, pairedItem: { item: 0 }, metadata },
			{ json: { status: 'to be submitted', execution_id: 'sub-1' }, pairedItem: { item: 3 }, metadata },
			{ json: { task_id: 'done' }, pairedItem: { item: 2 } },
		]);
		expect([...hints]).toEqual([HINTS.inBackground({ name: 'Post Picture' })]);
		expect([ledger.ids, 'handedOver' in memory.node]).toEqual([[], false]);
	});

	test('the start in the background starts one execution for each item, under a name of its own', async () => {
		const credits = {};
		const batch = batchOf({ credits });
		const orders = [acceptedOrder(0, { batch, model: 'b' }), acceptedOrder(1, { model: 'a' })];
		const { groups, items, executions } = await startAll(orders, {
			background: { eachItem: true },
			run: { credits },
		});
		expect(groups.map((group) => group.map(({ item, batch: own }) => [item, own?.name]))).toEqual([
			[[0, 'run, item 0']],
			[[1, undefined]],
		]);
		expect(items.map(({ json }) => json.execution_id)).toEqual(['sub-1', 'sub-2']);
		expect(credits).toEqual({ shared: true, models: 'a, b' });
		expect(batch.name).toBe('run');
		expect(executions).toEqual({ '4.0 known-0': 'sub-1', '4.1 known-1': 'sub-2' });
	});

	test.each([
		['one execution', [acceptedOrder(0), acceptedOrder(1)], false],
		['one item', [acceptedOrder(0), done(1)], true],
	])('the credits of a run that goes on in %s are its own', async (_, orders, eachItem) => {
		const credits = {};
		await startAll(orders, { background: { eachItem }, run: { credits } });
		expect(credits).toEqual({});
	});

	test('the start in the background starts nothing for what has ended, or is waited for by an earlier try', async () => {
		const { executed, items } = await startAll([acceptedOrder(0), plannedOrder(1), done(2)], {
			background: { executions: { '4.0 known-0': 'early', '4.1': 'earlier' } },
		});
		expect(executed).toEqual([]);
		expect(items.map(({ json }) => json.execution_id)).toEqual(['early', 'earlier', undefined]);
		const old = await startAll([acceptedOrder(0)], { background: { executions: { 'known-0': 'as 0.1.0 kept it' } } });
		expect(old.items.map(({ json }) => json.execution_id)).toEqual(['as 0.1.0 kept it']);
	});

	test('the start in the background is known to a retry that waits itself: nothing that was handed over is submitted again', async () => {
		const { ledger } = await startAll([plannedOrder(0), plannedOrder(1), acceptedOrder(2)], {
			...continuing('continueRegularOutput'),
			execute: fails(2),
			background: { eachItem: true },
		});
		expect([0, 1].map((item) => ledger.find(item, `hash ${item}`)?.handedOver)).toEqual([true, undefined]);
	});

	/** Two items whose Purchase Key has bought the same task. */
	const twins = () => [0, 1].map((item) => ({ ...acceptedOrder(item), task: { taskId: 'same', elapsedMs: 0 } }));

	test('the start in the background gives two items of one Purchase Key an execution each', async () => {
		const { items, groups } = await startAll(twins(), { background: { eachItem: true } });
		expect(groups.map((group) => group.map(({ item }) => item))).toEqual([[0], [1]]);
		expect(items.map(({ json }) => json.execution_id)).toEqual(['sub-1', 'sub-2']);
	});

	test('the start in the background tells of the second of two items of one Purchase Key that n8n did not start', async () => {
		const { items } = await startAll(twins(), {
			...continuing('continueRegularOutput'),
			execute: fails(2),
			background: { eachItem: true },
		});
		expect(items.map(({ json }) => [json.execution_id, json.code])).toEqual([
			['sub-1', undefined],
			[undefined, 'waiting_not_started'],
		]);
	});

	test('the start in the background hands over the same task again in another round of a loop', async () => {
		const { items } = await startAll([acceptedOrder(0)], { background: { executions: { '3.0 known-0': 'early' } } });
		expect(items.map(({ json }) => json.execution_id)).toEqual(['sub-1']);
	});

	test('the start in the background tells an agent that it must not wait', async () => {
		const { items } = await startAll([acceptedOrder(0)], { node: TOOL });
		expect(items[0]?.json).toMatchObject({
			task_id: 'known-0',
			message: expect.stringMatching(/^Started\. .*Do not call this tool again/) as string,
		});
	});

	test('what n8n did not start is an error that names all other tasks, and the rest is kept for a retry', async () => {
		const orders = [acceptedOrder(0), acceptedOrder(1), acceptedOrder(2), plannedOrder(3)];
		const { items, executed, executions, ledger } = await startAll(orders, {
			execute: fails(2),
			background: { eachItem: true },
		});
		const [error] = items as unknown as Array<{ description: string; messages: string[] }>;
		expect(error).toMatchObject({
			...{
				node: NODE,
				message: 'n8n did not start the execution that waits for task known-1',
				context: { itemIndex: 1 },
			},
			description: expect.stringMatching(/"the database is locked".*IDs: see Error details\.$/) as string,
		});
		expect(error?.messages.join()).toMatch(/: known-0 \(queued\), known-2 \(queued\)$/);
		expect([executed.length, executions, ledger.ids.length]).toEqual([2, { '4.0 known-0': 'sub-1' }, 3]);
	});

	test('an item that could not be handed over is an error of the node, which names all tasks; with Continue it is an item', async () => {
		const orders = () => [acceptedOrder(0), refused(1), acceptedOrder(2)];
		const stops = await startAll(orders());
		const [error] = stops.items as unknown as Array<{ message: string; messages: string[] }>;
		expect(error).toMatchObject({ message: gatewayError('balanceTooLow', {}).message, context: { itemIndex: 1 } });
		expect(error?.messages.join()).toMatch(/: known-0 \(queued\), known-2 \(queued\)$/);
		// A retry hands over nothing twice.
		expect(Object.keys(stops.executions)).toEqual(['4.0 known-0', '4.2 known-2']);
		const goesOn = await startAll(orders(), continuing('continueRegularOutput'));
		expect(goesOn.items.map(({ json }) => [json.execution_id, json.code])).toEqual([
			['sub-1', undefined],
			[undefined, 'balance_too_low'],
			['sub-1', undefined],
		]);
	});

	test('what n8n did not start is an error without other tasks where there are none', async () => {
		const { items } = await startAll([acceptedOrder(0)], { execute: fails(1) });
		const [{ description }] = items as unknown as Array<{ description: string }>;
		expect(description).not.toMatch(/Other|IDs/);
		const unsent = await startAll([plannedOrder(0), acceptedOrder(1)], {
			execute: () => {
				throw 'no reason';
			},
		});
		expect(unsent.items[0]).toMatchObject({
			message: 'n8n did not start the execution that submits this item',
			description: expect.stringMatching(/"no reason".*known-1/s) as string,
		});
	});

	test.each([
		['continueRegularOutput', { a: 1, error: expect.stringContaining('known-0') as string, task_id: 'known-0' }],
		['continueErrorOutput', { details: expect.objectContaining({ a: 1, task_id: 'known-0' }) as object }],
	])('what n8n did not start is an item where the node goes on: %s', async (onError, json) => {
		const { items, memory, ledger, run } = await startAll([acceptedOrder(0, { input: { a: 1 } }), done(1)], {
			execute: fails(1),
			...continuing(onError),
		});
		expect(items).toMatchObject([{ json, pairedItem: { item: 0 } }, { json: { task_id: 'done' } }]);
		expect([ledger.ids.length, 'handedOver' in memory.node]).toEqual([2, true]);
		expect([...run.hints]).toEqual([]);
	});

	test('an item that was refused is told at once, and a retry knows the others', async () => {
		const { items, memory, ledger, groups } = await startAll(
			[refused(0), acceptedOrder(1)],
			continuing('continueRegularOutput'),
		);
		expect(items[0]?.json).toMatchObject({ code: 'balance_too_low' });
		expect([groups.length, ledger.ids, 'handedOver' in memory.node]).toEqual([1, ['known-1'], true]);
	});
});
