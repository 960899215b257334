/** The run of an operation, without n8n: which one the form chooses, what the options of the run say, and what is left when it ends. */
import { sleep, type IDataObject, type INodeExecutionData, type NodeApiError } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import { abortListeners, spendingRuns } from '../../core/processMemory';
import { PurchaseLog } from '../../core/purchases/purchaseLog';
import { HINTS, type Unfinished } from '../../nodes/run/hints';
import type { Item, Work } from '../../nodes/run/item';
import type { Choices, Durable, Operation, Resource } from '../../nodes/run/operation';
import type { Run } from '../../nodes/run/run';
import { executeOperation, executeResource } from '../../nodes/run/runOperation';
import { trouble } from '../core/support';
import { done } from '../support/durableRun.mts';
import { lightContext, NODE, untilDone, type LightOptions } from '../support/lightContext.mts';
import { acceptedOrder, plannedOrder } from '../support/orders.mts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => {
	// Nobody listens or spends once a run is over, whatever came of it.
	expect(spendingRuns.size).toBe(0);
	jest.useRealTimers();
});

type PrepareItem = (item: Item, run: Run) => Work | Promise<Work>;
const read =
	(work: (run: Run) => unknown = () => {}): PrepareItem =>
	(_, run) => ({
		read: async () => ({ json: { read: true, ...((await work(run)) as object) } }),
	});
const bought =
	(more = {}): PrepareItem =>
	({ index }) =>
		plannedOrder(index, { then: 'nothing', ...more });

interface Given extends Omit<LightOptions, 'node'> {
	prepare?: PrepareItem;
	operation?: Partial<Operation>;
	product?: Partial<Product<{ id: string }, unknown>>;
	durable?: Partial<Durable>;
	/** Options of the run, as the form of the first item has them. */
	options?: IDataObject;
	continues?: boolean;
	node?: LightOptions['node'] & object;
	items?: number;
}

/** A run of an operation that makes orders, or reads where it has no product, and all that is known of it. */
function operationRun({ prepare = read(), options = {}, continues = false, items = 1, ...given }: Given = {}) {
	const hints: Array<{ message: string; location: string }> = [];
	const lines: string[] = [];
	const chunks: string[] = [];
	const traced = jest.fn();
	const custom = new Map<string, string>();
	const { parameters = {} } = given;
	const light = lightContext({
		input: Array.from({ length: items }, (_, index) => ({ json: { index } })),
		...given,
		more: {
			continueOnFail: () => continues,
			getNodeParameter: (name: string, _: number, fallback: unknown) =>
				name.startsWith('options.') ? (options[name.slice(8)] ?? fallback) : (parameters[name] ?? fallback),
			addExecutionHints: (hint: (typeof hints)[number]) => hints.push(hint),
			sendMessageToUI: (line: string) => lines.push(line),
			sendChunk: async (type: string, _: number, text = '') => await Promise.resolve(chunks.push(`${type} ${text}`)),
			setMetadata: traced,
			getWorkflowDataProxy: () => ({ $runIndex: 0, $execution: { customData: custom } }),
			...given.more,
		},
	});
	const seen: { run?: Run; orders?: number } = {};
	const product: Product<{ id: string }, unknown> = {
		status: 'queued',
		create: async ({ item }) => await Promise.resolve({ id: `task-${item}` }),
		output: ({ task }) => ({ json: { task_id: task?.taskId, status: 'completed' } }),
		...given.product,
	};
	const operation: Operation = {
		option: { name: 'Generate', value: 'generate' },
		properties: [],
		prepare: async (item, run) => {
			seen.run = run;
			return await prepare(item, run);
		},
		...(given.product === undefined ? {} : { product: () => product }),
		...given.operation,
	};
	const durable: Durable | undefined = given.durable && {
		...{ stepOf: () => undefined, obstacle: async () => await Promise.resolve(undefined) },
		...{ readBackground: async () => await Promise.resolve(undefined) },
		startDurableWait: async () => await Promise.resolve([]),
		...given.durable,
	};
	const runIt = async () => await untilDone(executeOperation(light.context, [operation], durable));
	return { ...light, seen, hints, lines, chunks, traced, custom, runIt };
}

/** The items, or else the error of the node. */
async function run(given: Given = {}) {
	const { runIt, ...more } = operationRun(given);
	const ended = await runIt().then(
		([items = []]) => ({ items: items as INodeExecutionData[], error: undefined }),
		(error: unknown) => ({ items: [] as INodeExecutionData[], error: error as NodeApiError }),
	);
	const listening = abortListeners.get(more.stop.signal)?.wakes.size ?? 0;
	expect(listening).toBe(0);
	return {
		...ended,
		...more,
		json: ended.items.map(({ json }) => json),
		shown: more.hints.map(({ message }) => message),
	};
}

const IMAGE = { type: 'n8n-nodes-generation-gateway.imageGeneration' };
const VIDEO = { type: 'n8n-nodes-generation-gateway.videoGeneration' };
const TOOL = { type: `${IMAGE.type}Tool` };
const BALANCE = { remain_balance: 1, used_balance: 1, used_credits: 1 };

describe('the operation that the form chooses', () => {
	const named = (value: string, name: string): Operation => ({
		...{ option: { name, value }, properties: [] },
		prepare: () => ({ read: async () => await Promise.resolve({ json: { value } }) }),
	});
	const operations: Choices<Operation> = [named('first', 'First One'), named('second', 'Second One')];
	const resources: Choices<Resource> = [
		{ option: { name: 'A', value: 'a' }, operations: [named('first', 'First of A')] },
		{ option: { name: 'B', value: 'b' }, operations },
	];
	const context = (parameters: IDataObject) => lightContext({ parameters, input: [{ json: {} }] }).context;
	const chosen = async (parameters: IDataObject) =>
		(await untilDone(executeOperation(context(parameters), operations)))[0]?.[0]?.json.value;

	test('the operation is the one of the form, or else the first', async () => {
		expect(await chosen({ operation: 'second' })).toBe('second');
		expect(await chosen({})).toBe('first');
	});

	test('the operation is one of the resource of the form, or else of the first resource', async () => {
		const ofResource = async (parameters: IDataObject) =>
			(await untilDone(executeResource(context(parameters), resources)))[0]?.[0]?.json.value;
		expect(await ofResource({ resource: 'b', operation: 'second' })).toBe('second');
		expect(await ofResource({})).toBe('first');
		await expect(ofResource({ resource: 'a', operation: 'second' })).rejects.toThrow('Operation is "second"');
		await expect(ofResource({ resource: 'c' })).rejects.toMatchObject({
			message: expect.stringContaining('Resource is "c"') as string,
			description: expect.stringContaining('Choose one of A, B.') as string,
		});
	});

	test('an operation that this version does not have is a mistake of the first item, which names those that it has', async () => {
		await expect(chosen({ operation: 'third' })).rejects.toMatchObject({
			message: 'Operation is "third", which this node does not have',
			description: expect.stringContaining('Choose one of First One, Second One.') as string,
			context: { itemIndex: 0 },
			node: { name: NODE.name },
		});
	});

	test('a hidden step of a wait takes the place of the operation', async () => {
		const asked: string[] = [];
		const stepOf = (operation: string) => {
			asked.push(operation);
			return async () => await Promise.resolve([{ json: { step: operation } }]);
		};
		expect((await run({ durable: { stepOf }, parameters: { operation: 'durablePollTasks' } })).json).toEqual([
			{ step: 'durablePollTasks' },
		]);
		await run({ durable: { stepOf } });
		expect(asked).toEqual(['durablePollTasks', '']);
		expect((await run({ durable: {} })).json).toEqual([{ read: true }]);
	});
});

describe('the options of a run', () => {
	const limitsOf = async (options: IDataObject) => (await run({ options })).seen.run?.limits;

	test('the limits of a run are those of its options, or else the usual ones and those of the account', async () => {
		expect(await limitsOf({})).toEqual({ concurrency: 50, requestsPerSecond: 100 });
		expect(await limitsOf({ requestsPerSecond: 7, concurrentTasks: 3 })).toEqual({
			concurrency: 3,
			requestsPerSecond: 7,
		});
		const { error } = await run({ options: { requestsPerSecond: 0 } });
		expect(error?.message).toContain('Requests per Second');
	});

	test('all that the items of a run share begins empty', async () => {
		const { seen } = await run();
		expect(seen.run).toMatchObject({ files: new Map(), notSent: new Map(), hints: new Set(), limits: {} });
		expect([seen.run?.credits, seen.run?.batch, seen.run?.background, seen.run?.purchases]).toEqual(Array(4));
	});

	test('several items share one answer of the service', async () => {
		const get = jest.fn(async () => await Promise.resolve({ a: 1 }));
		await run({ items: 3, prepare: read(async ({ shared }) => await shared('models', get)) });
		expect(get).toHaveBeenCalledTimes(1);
	});

	describe('a run whose orders can go on in another execution', () => {
		const batchOf = async (given: Given) => {
			const { seen, error } = await run({ durable: {}, ...given });
			expect(error).toBeUndefined();
			return seen.run?.batch;
		};
		const survive = { surviveRestarts: true };

		test('a run goes on elsewhere with Survive Restarts, or with a workflow that gets the results', async () => {
			const BATCH = {
				...{ name: 'generation-gateway execution own, run 0, try 0', places: 50, requestsPerSecond: 100 },
				...{ stopsAtError: true, waves: 0 },
			};
			expect(await batchOf({ options: survive })).toEqual(BATCH);
			expect(await batchOf({ options: { ...survive, concurrentTasks: 3 }, continues: true })).toEqual({
				...{ ...BATCH, places: 3, stopsAtError: false },
			});
			const background = { workflowId: 'w', name: 'W', eachItem: false, executions: {} };
			const readBackground = async () => await Promise.resolve(background);
			const { seen } = await run({ durable: { readBackground } });
			// The node has succeeded: the other workflow decides what becomes of an error.
			expect([seen.run?.background, seen.run?.batch]).toEqual([background, { ...BATCH, stopsAtError: false }]);
			expect(await batchOf({})).toBeUndefined();
			expect(await batchOf({ options: survive, durable: undefined })).toBeUndefined();
		});

		test('a run that goes on elsewhere knows Retry On Fail, its rows in the purchase log, and the credits that are to be reported', async () => {
			const retry = { retryOnFail: true, maxTries: 4, waitBetweenTries: 10 };
			expect((await batchOf({ options: survive, node: retry }))?.retry).toEqual({ tries: 4, pauseMs: 10, tried: 1 });
			expect(await batchOf({ options: { ...survive, reportCredits: true } })).toHaveProperty('credits', {});
			const known = { 'n8n-nodes-base.executeWorkflowTrigger': {}, 'n8n-nodes-base.dataTable': {} };
			const logged = { options: survive, credential: { purchaseLog: true } };
			const more = { getKnownNodeTypes: () => known };
			expect((await batchOf({ ...logged, more }))?.log).toMatchObject({ workflow_id: 'w', execution: 'own' });
			for (const given of [logged, { ...logged, credential: {}, more: { getMode: () => 'retry' } }])
				for (const name of ['log', 'retry', 'credits']) expect(await batchOf(given)).not.toHaveProperty(name);
		});

		test('a run stays in memory where n8n cannot sleep, and a hint says why', async () => {
			const obstacle = jest.fn(async () => await Promise.resolve('It cannot.'));
			const { seen, shown } = await run({ durable: { obstacle }, options: survive });
			expect([seen.run?.batch, shown]).toEqual([undefined, ['It cannot.']]);
			const asked = await run({ durable: { obstacle }, options: {} });
			const tool = await run({ durable: { obstacle }, options: survive, node: TOOL });
			expect([asked.shown, tool.seen.run?.batch, tool.seen.run?.hints]).toEqual([[], undefined, new Set()]);
			expect(obstacle).toHaveBeenCalledTimes(1);
		});
	});
});

describe('the progress of a run', () => {
	/** Waits as for a task, and longer than until the first line. */
	const waits = read(async (run) => {
		run.progress.orders = [acceptedOrder(0)];
		await sleep(3_000);
	});
	const streaming = { isStreaming: () => true };
	const task = { waitsFor: 'task' as Unfinished };

	test('lines are in the console, and name what is waited for', async () => {
		expect((await run({ prepare: waits, operation: task, node: IMAGE })).lines).toEqual(['Image queued']);
		expect((await run({ prepare: waits, operation: task, node: VIDEO })).lines).toEqual(['Video queued']);
		expect((await run({ prepare: waits, operation: { waitsFor: 'asset' } })).lines).toEqual([]);
	});

	test.each<[string, IDataObject, object, object, boolean]>([
		['it is wanted', { streamProgress: true }, streaming, IMAGE, true],
		['nobody wants it', {}, streaming, {}, false],
		['the answer is not streamed', { streamProgress: true }, { isStreaming: () => false }, {}, false],
		['this n8n streams nothing', { streamProgress: true }, {}, {}, false],
		['an agent waits', { streamProgress: true }, streaming, TOOL, false],
	])('lines are streamed or not, where %s', async (_, options, more, node, isStreamed) => {
		const { chunks, error } = await run({ prepare: waits, operation: task, options, more, node });
		expect(error).toBeUndefined();
		expect(chunks).toEqual(isStreamed ? ['begin ', 'item Image queued\n', 'end '] : []);
	});

	test('the orders of a run are those that progress is about, and a request that is sent again is a line', async () => {
		const { seen, traced } = await run({ prepare: bought(), product: {}, items: 2 });
		expect(seen.run?.progress.orders.map(({ item }) => item)).toEqual([0, 1]);
		expect(traced).toHaveBeenCalledTimes(1);
		const prepare = read(async ({ client }) => await client.getUserBalance());
		const answer = (_: unknown, count: number) => (count < 3 ? 503 : BALANCE);
		expect((await run({ prepare, answer })).lines.join()).toMatch(/503.*next try in/);
	});
});

describe('the end of a run', () => {
	test('a run is traced with its orders and requests, also one that fails', async () => {
		const prepare: PrepareItem = async (item, { client }) => {
			await client.getUserBalance();
			return await bought({ model: 'gamma' })(item, {} as never);
		};
		const answer = () => BALANCE;
		const { traced } = await run({ prepare, answer, product: {} });
		const tracing = { 'gateway.ids': 'task-0', 'gateway.models': 'gamma', 'gateway.requests': 1 };
		expect(traced.mock.calls).toEqual([[{ tracing }]]);
		const output = () => {
			throw trouble('rejected');
		};
		expect((await run({ prepare, answer, product: { output } })).traced.mock.calls).toEqual([[{ tracing }]]);
	});

	test('what was accepted is in the custom data of the execution, and a retry need not know what has ended well', async () => {
		const finished = await run({
			prepare: bought({ then: 'read' }),
			product: { read: async () => await Promise.resolve({}) },
		});
		expect([...finished.custom.values()]).toEqual(['task-0']);
		expect(finished.memory.node).toEqual({});
	});

	test('a retry knows what was accepted where an item has failed', async () => {
		const output = ({ item, task }: Order) => {
			if (item === 1) throw trouble('rejected');
			return { json: { task_id: task?.taskId } };
		};
		const { json, memory } = await run({ prepare: bought(), product: { output }, items: 2, continues: true });
		expect(json).toMatchObject([{ task_id: 'task-0' }, { error: 'x' }]);
		expect(Object.keys(memory.node?.generationGatewayTasks ?? {})).toEqual(expect.arrayContaining(['0.0', '0.1']));
	});

	test('a stop ends what waits to be sent again, at once, and the run has no output', async () => {
		const prepare: PrepareItem = async (_, { client }) => {
			await client.getUserBalance().catch(() => {});
			return { read: async () => await Promise.resolve({ json: {} }) };
		};
		const light = operationRun({ prepare, answer: () => 503, items: 2 });
		const beganMs = Date.now();
		const running = light.runIt();
		await jest.advanceTimersByTimeAsync(100);
		light.stop.abort();
		expect(await running).toEqual([[]]);
		expect(Date.now() - beganMs).toBeLessThan(1_000);
		expect(light.sent).toHaveLength(1);
	});

	test('nothing is sent any more when a run has failed, whatever still waits for another try', async () => {
		const prepare: PrepareItem = ({ index }, { client }) => ({
			read: async () => {
				if (index === 0) return { json: (await client.getUserBalance()) as never };
				return await Promise.reject(trouble('rejected'));
			},
		});
		const { error, sent } = await run({ prepare, answer: () => 503, items: 2 });
		expect(error?.context.itemIndex).toBe(1);
		await jest.advanceTimersByTimeAsync(60_000);
		expect(sent.length).toBeLessThanOrEqual(1);
	});

	test('others know of a run that may spend credits, while it lasts', async () => {
		const during: number[] = [];
		const counting =
			(prepare: PrepareItem): PrepareItem =>
			(item, all) => {
				during.push(spendingRuns.size);
				return prepare(item, all);
			};
		await run({ prepare: counting(bought()), product: {} });
		await run({ prepare: counting(read()) });
		expect(during).toEqual([1, 0]);
		const report = { product: {}, options: { reportCredits: true }, prepare: bought(), answer: () => BALANCE };
		const both = [report, report].map((given) => operationRun({ ...given, credential: { apiKey: 'sk-same' } }));
		const outputs = await Promise.all(both.map(async ({ runIt }) => await runIt()));
		for (const [items] of outputs) expect(items?.[0]?.json).toMatchObject({ run_credits: 0, run_credits_shared: true });
	});

	test('the credits of a run are read before its first purchase and after its end, where they are to be reported', async () => {
		const answer = (_: unknown, count: number) => ({ ...BALANCE, used_credits: 10 + count });
		const report = { reportCredits: true };
		const { json, sent } = await run({ prepare: bought(), product: {}, options: report, answer });
		expect([json[0]?.run_credits, sent.length]).toEqual([1, 2]);
		const prepare: PrepareItem = (item, all) => (item.index === 0 ? done(0) : bought()(item, all));
		expect((await run({ prepare, items: 2, product: {}, options: report, answer })).json[0]?.run_credits).toBe(1);
		const nothing = await run({ prepare: () => done(0), product: {}, options: report, answer });
		expect([nothing.json[0]?.run_credits, nothing.sent.length]).toEqual([undefined, 0]);
	});

	test('the purchase log notes the credits of a run at its orders', async () => {
		const noteRun = jest.spyOn(PurchaseLog.prototype, 'noteRun').mockImplementation(() => {});
		const prepare: PrepareItem = (item, all) =>
			item.index === 0 ? done(0) : item.index === 1 ? read()(item, all) : bought()(item, all);
		const credential = { purchaseLog: true };
		const given = {
			prepare,
			credential,
			product: {},
			items: 3,
			options: { reportCredits: true },
			answer: () => BALANCE,
		};
		await run(given);
		expect(noteRun.mock.calls).toEqual([[0, '']]);
		noteRun.mockRestore();
	});

	test('an order of an earlier try that waits elsewhere is an item without fields where nothing can be handed over', async () => {
		const prepare: PrepareItem = (_, all) => {
			all.background = { workflowId: 'w', name: 'W', eachItem: false, executions: { 'known-0': 'sub' } };
			return acceptedOrder(0);
		};
		expect((await run({ prepare, product: {} })).json).toEqual([{}]);
	});

	test('orders that have not ended go on elsewhere, with all that is known of the run', async () => {
		const startDurableWait = jest.fn(async () => await Promise.resolve([{ json: { waits: true } }]));
		const prepare: PrepareItem = ({ index }) => (index === 0 ? acceptedOrder(0) : done(1));
		const given = { prepare, product: {}, items: 2, durable: { startDurableWait }, options: { surviveRestarts: true } };
		const { json, seen } = await run(given);
		expect(json).toEqual([{ waits: true }]);
		expect(startDurableWait).toHaveBeenCalledWith(seen.run, [
			expect.objectContaining({ order: expect.objectContaining({ item: 0, state: 'accepted' }) as object }),
			expect.objectContaining({ order: expect.objectContaining({ item: 1, state: 'ended' }) as object }),
		]);
		expect((await run({ ...given, prepare: () => done(0), items: 1 })).json).toEqual([{ task_id: 'done' }]);
		expect(startDurableWait).toHaveBeenCalledTimes(1);
	});
});

describe('the hints of a run', () => {
	const completed = read(() => ({ task_id: 'a', status: 'completed', url: 'https://files.test/a.png' }));
	const running = read(() => ({ task_id: 'a', status: 'queued' }));

	test.each<[string, PrepareItem, Partial<Operation>, string[]]>([
		['a task that runs', running, { waitsFor: 'task' }, [HINTS.oneTaskRunning({ buys: true })]],
		['an asset', running, { waitsFor: 'asset' }, [HINTS.oneAssetProcessed()]],
		['a result that expires', completed, { describes: 'task' }, [HINTS.urlsExpire()]],
		['nothing, where the operation is about something else', completed, {}, []],
	])('a hint is about %s', async (_, prepare, operation, expected) => {
		const { hints } = await run({ prepare, operation });
		expect(hints).toEqual(expected.map((message) => ({ message, location: 'outputPane' })));
	});

	test('a task of another operation was not bought now', async () => {
		const option = { name: 'Wait for Task', value: 'waitForTask' };
		const { shown } = await run({ prepare: running, operation: { waitsFor: 'task', option } });
		expect(shown).toEqual([HINTS.oneTaskRunning({ buys: false })]);
	});

	test('hints name the fields that a model does not have, and what the items have said, as text', async () => {
		const prepare: PrepareItem = (item, run) => {
			run.notSent.set('Gamma', new Set(['Size', 'Style']));
			run.hints.add('<b>');
			return read()(item, run);
		};
		expect((await run({ prepare })).shown).toEqual([
			HINTS.notSent({ labels: 'Size and Style', model: 'Gamma' }),
			'‹b›',
		]);
		expect((await run({ prepare, node: TOOL })).hints).toEqual([]);
		expect((await run({ prepare, more: { addExecutionHints: undefined } })).json).toEqual([{ read: true }]);
	});

	test('hints of an order are those of its run', async () => {
		const output = (order: Order, _: unknown, tools: { hints: Set<string> }) => {
			tools.hints.add(`of ${order.item}`);
			return { json: {} };
		};
		const { shown } = await run({ prepare: bought(), product: { output }, items: 2 });
		expect(shown).toEqual(['of 0', 'of 1']);
		expect((await run({ prepare: () => done(0), product: {} })).shown).toEqual([]);
	});
});

describe('the error of a run', () => {
	const fails = read(() => {
		throw gatewayError('timedOut', { thing: 'task', id: 'a', after: '1 min' });
	});
	const textOf = ({ error }: Awaited<ReturnType<typeof run>>) => error?.description ?? '';

	test('the advice of an error is that for the operation, the execution and the reader', async () => {
		const plain = textOf(await run({ prepare: fails }));
		expect(plain).toContain('Retry this execution');
		expect(plain).toContain('it continues the task');
		const called = await run({ prepare: fails, more: { getMode: () => 'integrated' } });
		expect(textOf(called)).toContain('Retry execution own of this workflow');
		const { error } = await run({ prepare: fails, node: TOOL });
		expect(error?.message).toContain('call a tool for Wait for Task');
		const option = { name: 'Wait for Task', value: 'waitForTask' };
		expect(textOf(await run({ prepare: fails, operation: { option } }))).toContain('that costs nothing');
	});

	test('a run that cannot begin is refused with the first item, and with Continue with each', async () => {
		const broken: Given = { credential: { baseUrl: '' }, items: 2, node: { onError: 'continueRegularOutput' } };
		const { error, sent } = await run(broken);
		expect([error?.message, error?.context.itemIndex, sent]).toEqual([expect.stringContaining('Base URL'), 0, []]);
		expect(error?.node.name).toBe(NODE.name);
		const { json } = await run({ ...broken, continues: true });
		expect(json).toMatchObject([{ error: error?.message }, { error: error?.message }]);
		const passOn = { options: { includeInputFields: true } };
		const input = [{ json: { task_id: 'other', kept: 1 } }];
		const passed = await run({ ...broken, continues: true, parameters: passOn, input });
		expect(passed.json).toMatchObject([{ task_id: 'other', kept: 1 }]);
		const other = { ...broken, continues: true, parameters: passOn, input, operation: { describes: 'task' as const } };
		const [json0] = (await run(other)).json;
		expect([json0?.kept, json0?.task_id]).toEqual([1, undefined]);
	});

	test('what n8n itself refuses goes out as it is', async () => {
		const refusal = new Error('There is no such credential');
		const more = { getCredentials: async () => await Promise.reject(refusal) };
		expect((await run({ more })).error).toBe(refusal);
	});

	test('the fields of another task in the input are not passed on by an operation that describes one', async () => {
		const parameters = { options: { includeInputFields: true } };
		const input = [{ json: { task_id: 'other', kept: 1 } }];
		expect((await run({ parameters, input })).json).toEqual([{ read: true, task_id: 'other', kept: 1 }]);
		expect((await run({ parameters, input, operation: { describes: 'task' } })).json).toEqual([
			{ read: true, kept: 1 },
		]);
	});
});
