/** The write-ahead log's execution, run and call, and its use of n8n's table. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayError } from '../../core/errors';
import { OrderLedger } from '../../core/orders/ledger';
import type { PurchaseLog } from '../../core/purchases/purchaseLog';
import { readLedgerScope } from '../../nodes/run/ledgerScope';
import { createWriteAheadLog } from '../../nodes/run/writeAheadStore';
import { deferred, flushPromises } from '../core/support';

interface Situation {
	establishedAt?: number;
	/** n8n before it had names for executions. */
	isOld?: boolean;
	mode?: string;
	executionId?: string;
	runIndex?: number;
	isToolCall?: boolean;
	input?: unknown[];
	nodeContext?: Record<string, unknown>;
	store?: Record<string, unknown>;
	nodeId?: string;
	nodeType?: string;
	/** The output of the node's first run; an error where there is none. */
	firstRun?: Array<{ json: Record<string, unknown> }> | Error;
	helpers?: Record<string, unknown>;
	/** The purchase log. */
	purchases?: object;
}

/** A context with the parts that are used, and nothing else. */
function read({
	establishedAt,
	isOld,
	mode = 'trigger',
	executionId = '1',
	runIndex = 0,
	isToolCall = false,
	input = [{ a: 1 }],
	nodeContext = {},
	store = {},
	nodeId = 'n',
	nodeType = 'x',
	firstRun = [],
	helpers,
	purchases,
}: Situation = {}) {
	const table = {
		checkProcessedAndRecord: jest.fn(async (names: string[]) => ({ new: names, processed: [] as unknown[] })),
		removeProcessed: jest.fn(async () => {}),
	};
	const warn = jest.fn();
	const all = jest.fn(() => {
		if (firstRun instanceof Error) throw firstRun;
		return firstRun;
	});
	const context = {
		getExecutionContext: isOld ? undefined : () => (establishedAt === undefined ? undefined : { establishedAt }),
		getExecutionId: () => executionId,
		getInputData: () => input.map((json) => ({ json })),
		getMode: () => mode,
		getContext: (of: string) => (of === 'node' ? nodeContext : undefined),
		getNode: () => ({ name: 'Node', id: nodeId, type: nodeType }),
		getWorkflow: () => ({ id: 'w' }),
		getWorkflowDataProxy: () => ({ $runIndex: runIndex, $: (name: string) => (name === 'Node' ? { all } : undefined) }),
		isToolExecution: () => isToolCall,
		logger: { warn },
		helpers: helpers ?? table,
	} as unknown as IExecuteFunctions;
	const scope = readLedgerScope(context);
	const ledger = new OrderLedger({ ...scope, store });
	const log = createWriteAheadLog(context, ledger, purchases as PurchaseLog | undefined);
	return { log, scope, warn, all, ...table, declared: async () => await log.declare({ thing: 'task' }) };
}

const failure = async (work: Promise<unknown>) =>
	await work.then(
		() => undefined,
		(error: GatewayError) => error,
	);

test("the ledger of a run is in n8n's memory of the node", () => {
	const nodeContext = {};
	expect(read({ nodeContext }).scope.store).toBe(nodeContext);
});

describe('the name of the execution', () => {
	test('the name of the execution is what n8n says, the same in every retry', async () => {
		const { log } = read({ establishedAt: 5, mode: 'retry', executionId: '2' });
		expect(log.scope).toEqual({
			execution: 'established 5',
			isLasting: true,
			executionId: '2',
			runIndex: 0,
			isRetry: true,
		});
	});

	test.each([[{ isOld: true }], [{}]])('the name of the execution is the input where n8n says nothing: %j', (more) => {
		const { log } = read(more);
		expect(log.scope).toEqual({
			execution: 'input txP20qmJ6QfFhRanyLtId5',
			isLasting: false,
			executionId: '1',
			runIndex: 0,
			isRetry: false,
		});
		expect(read({ ...more, input: [{ a: 2 }] }).log.scope.execution).not.toBe(log.scope.execution);
	});

	test('an execution whose input refers to itself has a name as well', () => {
		const json: Record<string, unknown> = {};
		json.self = json;
		expect(read({ input: [json] }).log.scope.execution).toMatch(/^input .{22}$/);
	});
});

describe('the number of the run', () => {
	const made = [{ json: { isArtificialRecoveredEventItem: true } }];
	test.each<[string, Situation, number]>([
		['as n8n counts', { runIndex: 2, firstRun: made }, 2],
		['in a retry, too', { mode: 'retry', runIndex: 2, firstRun: [{ json: { a: 1 } }] }, 2],
		['also where the first run had no items', { mode: 'retry', runIndex: 2, firstRun: [] }, 2],
		['one less where n8n has made up the first run after a crash', { mode: 'retry', runIndex: 2, firstRun: made }, 1],
		[
			'one less where the crash has ended the first run',
			{ mode: 'retry', runIndex: 1, firstRun: new Error('no data') },
			0,
		],
		['the first is the first', { mode: 'retry', runIndex: 0, firstRun: new Error('no data') }, 0],
	])('the number of the run is that of n8n, less a run that only a crash has made: %s', (_, situation, runIndex) => {
		expect(read({ establishedAt: 5, ...situation }).log.scope.runIndex).toBe(runIndex);
	});

	test('a node that an agent runs has no output that tells: n8n keeps the number of its last run, but not over a crash', () => {
		const nodeContext = {};
		const noOutput = new Error('no data');
		const numberOf = (runIndex: number, mode: string, kept: Record<string, unknown> = nodeContext) =>
			read({ ...{ establishedAt: 5, nodeType: 'imageTool', firstRun: noOutput }, runIndex, mode, nodeContext: kept })
				.log.scope.runIndex;
		// Another try of a run has its number.
		expect([0, 1, 1].map((runIndex) => numberOf(runIndex, 'trigger'))).toEqual([0, 1, 1]);
		expect([2, 2, 3].map((runIndex) => numberOf(runIndex, 'retry'))).toEqual([2, 2, 3]);
		const afterCrash = {};
		expect([1, 2].map((runIndex) => numberOf(runIndex, 'retry', afterCrash))).toEqual([0, 1]);
		const first = { lastToolRun: { runIndex: 0, number: 0 } };
		expect(numberOf(2, 'trigger', { ...first })).toBe(2);
		expect(numberOf(2, 'retry', first)).toBe(1);
		expect(numberOf(1, 'retry', { lastToolRun: 'x' })).toBe(0);
	});

	test('the first output of the first run tells the number of the run', () => {
		expect(read({ mode: 'retry', runIndex: 2, firstRun: made }).all).toHaveBeenCalledWith(0, 0);
	});
});

describe('calls of an agent', () => {
	const call = (nodeContext: Record<string, unknown>, store: Record<string, unknown>, more: Situation = {}) =>
		read({ establishedAt: 5, isToolCall: true, runIndex: 9, nodeContext, store, ...more });

	test('calls of an agent are counted, and the tries of one call have its number', () => {
		const nodeContext = {};
		const [a, b, c] = [{}, {}, {}];
		expect([a, a, b, a, c, b].map((store) => call(nodeContext, store).log.scope.runIndex)).toEqual([0, 0, 1, 0, 2, 1]);
	});

	test('calls of an agent go on from the count that n8n has kept', () => {
		expect(call({ generationGatewayCalls: 5 }, {}).log.scope.runIndex).toBe(5);
		expect(call({ generationGatewayCalls: 5 }, { generationGatewayCalls: 2 }).log.scope.runIndex).toBe(2);
	});

	test('calls of an agent have no record where n8n has no name for the execution', async () => {
		const { declared, checkProcessedAndRecord, log } = call(
			{ generationGatewayCalls: 5 },
			{},
			{ establishedAt: undefined },
		);
		await declared();
		expect(checkProcessedAndRecord).not.toHaveBeenCalled();
		expect(log.scope.runIndex).toBe(0);
	});

	test('calls of an agent have a record where n8n has a name for the execution', async () => {
		const { declared, checkProcessedAndRecord } = call({}, {});
		await declared();
		expect(checkProcessedAndRecord).toHaveBeenCalledTimes(1);
	});
});

describe('n8n’s table', () => {
	const place = ['node', { mode: 'entries', maxEntries: 5000 }];
	test('n8n’s table is written for the node, and keeps the newest 5,000', async () => {
		const { log, declared, checkProcessedAndRecord, removeProcessed } = read();
		await declared();
		await log.end();
		expect(checkProcessedAndRecord.mock.calls).toEqual([
			[[expect.stringContaining('execution 1'), expect.stringContaining('slot 0')], ...place],
		]);
		expect(removeProcessed.mock.calls).toEqual([[checkProcessedAndRecord.mock.calls[0][0], ...place]]);
	});

	test('n8n’s table says what was there before', async () => {
		const { log, checkProcessedAndRecord } = read({ establishedAt: 5 });
		checkProcessedAndRecord.mockImplementation(async ([name]) => ({ new: [], processed: [name] }));
		expect(await failure(log.declare({ thing: 'task' }))).toMatchObject({ kind: 'outcomeUnknown' });
	});

	test.each<[string, Situation]>([
		['an execution without an ID', { executionId: '' }],
		['an n8n without the table', { helpers: {} }],
		[
			'one that cannot remove',
			{ helpers: { checkProcessedAndRecord: async () => await Promise.reject(new Error('x')) } },
		],
		['one that cannot record', { helpers: { removeProcessed: async () => await Promise.reject(new Error('x')) } }],
	])('n8n’s table is left alone by %s, and nothing is held up', async (_, situation) => {
		const { declared, checkProcessedAndRecord, warn } = read({ mode: 'retry', ...situation });
		await declared();
		expect(checkProcessedAndRecord).not.toHaveBeenCalled();
		expect(warn).not.toHaveBeenCalled();
	});

	test('n8n’s table is asked once more where the first time was in vain', async () => {
		const { declared, checkProcessedAndRecord, warn } = read({ mode: 'retry', establishedAt: 5 });
		checkProcessedAndRecord.mockRejectedValueOnce(new Error('UNIQUE constraint failed'));
		await declared();
		expect(checkProcessedAndRecord).toHaveBeenCalledTimes(2);
		expect(warn).not.toHaveBeenCalled();
	});

	test.each<[string, unknown, string]>([
		['words', new Error('database is locked'), 'database is locked'],
		['many words', new Error('x'.repeat(300)), 'x'.repeat(200)],
		['no words', 'y', ''],
	])('the log says that n8n’s table was asked twice in vain, with %s', async (_, thrown, words) => {
		const { declared, checkProcessedAndRecord, warn } = read({ mode: 'retry', establishedAt: 5 });
		checkProcessedAndRecord.mockRejectedValue(thrown);
		expect(await failure(declared())).toMatchObject({
			details: { reason: { data: { what: expect.stringContaining('could not read') } } },
		});
		expect(warn.mock.calls).toEqual([
			[`Generation Gateway: n8n's record of what is submitted could not be used (${words}), node "Node", execution 1`],
		]);
	});

	test('n8n’s table is used by one run of a node at a time, in the order in which they come, while other nodes do not wait', async () => {
		const order: string[] = [];
		const begin = (name: string, nodeId = 'n') => {
			const one = read({ nodeId, establishedAt: 5 });
			const access = deferred<{ new: string[]; processed: unknown[] }>();
			one.checkProcessedAndRecord.mockImplementation(async () => {
				order.push(name);
				return await access.promise;
			});
			return { done: one.declared(), end: () => access.resolve({ new: [], processed: [] }) };
		};
		const a = begin('a');
		const b = begin('b');
		begin('elsewhere', 'other');
		await flushPromises();
		expect(order).toEqual(['a', 'elsewhere']);
		a.end();
		await a.done;
		const c = begin('c');
		await flushPromises();
		expect(order).toEqual(['a', 'elsewhere', 'b']);
		b.end();
		await flushPromises();
		expect(order).toEqual(['a', 'elsewhere', 'b', 'c']);
		c.end();
		await c.done;
	});

	test('a use of n8n’s table that is in vain does not stop the next', async () => {
		const broken = read({ establishedAt: 5 });
		broken.checkProcessedAndRecord.mockRejectedValue(new Error('database is locked'));
		const next = read({ establishedAt: 6 });
		await Promise.all([broken.declared(), next.declared()]);
		expect(next.checkProcessedAndRecord).toHaveBeenCalledTimes(1);
	});
});

describe('with the purchase log', () => {
	/** A log whose rows tell of earlier tries, or not. */
	const logOf = (tries: object | undefined) => ({
		readEarlierTries: jest.fn(async () => await Promise.resolve(tries)),
		markGap: jest.fn(async () => await Promise.resolve()),
	});

	/** A run in whose way the first of its names is. */
	function begin(situation: Situation) {
		const one = read({ establishedAt: 5, ...situation });
		one.checkProcessedAndRecord.mockImplementationOnce(async ([first, ...others]) => ({
			new: others,
			processed: [first],
		}));
		return { ...one, recorded: () => one.checkProcessedAndRecord.mock.calls.flatMap(([names]) => names) };
	}

	test('the names of earlier tries are no obstacle for a retry where rows tell what came of them, and they stay', async () => {
		const purchases = logOf({});
		const { log, declared, recorded, removeProcessed } = begin({ mode: 'retry', purchases });
		await declared();
		await log.end();
		const removed = (removeProcessed.mock.calls as unknown[][]).flatMap(([names]) => names as string[]);
		expect(recorded().length).toBeGreaterThan(1);
		const [there, ...others] = recorded();
		expect([...removed].sort()).toEqual(others.sort());
		expect(removed).not.toContain(there);
		expect(purchases.readEarlierTries).toHaveBeenCalled();
	});

	test('where the user wants another one, the rows from then on tell nothing of earlier tries', async () => {
		const purchases = logOf(undefined);
		const { log } = begin({ mode: 'retry', purchases });
		await log.declare({ thing: 'task', request: { submitAgain: true } as never });
		expect(purchases.markGap).toHaveBeenCalledTimes(1);
	});

	test('the names of earlier tries are an obstacle where rows do not tell of them', async () => {
		const { declared } = begin({ mode: 'retry', purchases: logOf(undefined) });
		expect(await failure(declared())).toMatchObject({ kind: 'outcomeUnknown' });
		const without = await failure(begin({ mode: 'retry' }).declared());
		expect(without).toMatchObject({
			details: { reason: { data: { what: expect.not.stringContaining('could not read') as string } } },
		});
	});

	test('the rows are not read where no names were there, nor in a first try', async () => {
		const purchases = logOf({});
		await read({ establishedAt: 5, mode: 'retry', purchases }).declared();
		expect(await failure(begin({ purchases }).declared())).toMatchObject({ kind: 'outcomeUnknown' });
		expect(purchases.readEarlierTries).not.toHaveBeenCalled();
	});

	test('nothing is recorded in an n8n without the table', async () => {
		const purchases = logOf({});
		await read({ establishedAt: 5, mode: 'retry', helpers: {}, purchases }).declared();
		expect(purchases.readEarlierTries).not.toHaveBeenCalled();
	});
});
