/** Survive Restarts: whether the node can sleep in n8n's database, or why it has to wait in memory. */
import type { IExecuteFunctions, IRunExecutionData, NodeTypeAndVersion } from 'n8n-workflow';
import { obstacle } from '../../nodes/durable/obstacle';
import { NEEDED_NODES } from '../../nodes/durable/subWorkflow';
import { HINTS } from '../../nodes/run/hints';

type Saved = Partial<IRunExecutionData> | undefined;

interface Situation {
	workflowId?: string;
	executionId?: string;
	mode?: string;
	known?: string[];
	before?: NodeTypeAndVersion[];
	parentExecutionId?: string;
	saved?: Record<string, Saved>;
}

/** The reason to wait in memory where the workflow is in this situation, as a hint. */
async function obstacleIn({
	workflowId = 'w',
	executionId = 'own',
	mode = 'trigger',
	known = Object.keys(NEEDED_NODES),
	before = [],
	parentExecutionId,
	saved = {},
}: Situation) {
	const reads: string[] = [];
	const context = {
		getWorkflow: () => ({ id: workflowId }),
		getExecutionId: () => executionId,
		getKnownNodeTypes: () => Object.fromEntries(known.map((type) => [type, {}])),
		getMode: () => mode,
		getNode: () => ({ name: 'Node' }),
		getParentNodes: () => before,
		getChildNodes: () => [],
		getWorkflowDataProxy: () => ({ $: () => ({ isExecuted: true }) }),
		getExecutionContext: () => ({ parentExecutionId }),
		getExecutionDataById: async (id: string) => {
			reads.push(id);
			const data = await Promise.resolve(saved[id]);
			if (data === undefined) throw new Error('there is no such data');
			return { resultData: { runData: {} }, ...data };
		},
	} as unknown as IExecuteFunctions;
	return { hint: await obstacle(context), reads };
}

test('nothing stands in the way of a saved workflow that nobody has called', async () => {
	expect(await obstacleIn({})).toEqual({ hint: undefined, reads: [] });
});

test.each<[string, Situation, string]>([
	['a workflow that is not saved', { workflowId: '' }, HINTS.awake()],
	['an execution without an ID', { executionId: '' }, HINTS.awake()],
	['an evaluation', { mode: 'evaluation' }, HINTS.awakeInEvaluation()],
	['engine 2.0', { executionId: '0198c4f2-7c1a-7000-8000-000000000001' }, HINTS.awakeInEngine2()],
	[
		'an n8n without the node If',
		{ known: Object.keys(NEEDED_NODES).filter((type) => !type.endsWith('.if')) },
		HINTS.awakeWithoutNode({ node: 'If' }),
	],
	[
		'a webhook that waits',
		{
			before: [
				{
					name: 'Hook',
					type: 'n8n-nodes-base.webhook',
					typeVersion: 2,
					disabled: false,
					parameters: { responseMode: 'lastNode' },
				},
			],
		},
		HINTS.awakeForAnswer({ node: 'Hook' }),
	],
])('%s has the node wait in memory', async (_, situation, hint) => {
	expect((await obstacleIn(situation)).hint).toBe(hint);
});

test.each(['12345678', '1234567-x', 'g12345678-1', '123456789-1'])(
	'an execution of the ID %s is none of engine 2.0',
	async (executionId) => {
		expect((await obstacleIn({ executionId })).hint).toBeUndefined();
	},
);

describe('a workflow that another one has called', () => {
	const CALL = 'n8n-nodes-base.executeWorkflow';
	const items = (count: number) => ({ main: [Array.from({ length: count }, () => ({ json: {} }))] });
	/** Saved while it is at this node. */
	const at = (type: string, mode: string | undefined, count: number, metadata?: object) =>
		({
			executionData: { nodeExecutionStack: [{ node: { type, parameters: { mode } }, data: items(count), metadata }] },
		}) as unknown as Partial<IRunExecutionData>;
	/** The same with these lists of items. */
	const holding = (main: unknown, mode?: string) =>
		({
			executionData: { nodeExecutionStack: [{ node: { type: CALL, parameters: { mode } }, data: { main } }] },
		}) as unknown as Partial<IRunExecutionData>;
	const nothingLeft = { executionData: { nodeExecutionStack: [] } } as unknown as Partial<IRunExecutionData>;
	const calledBy = (executionId: string, shouldResume?: boolean) => ({
		parentExecution: { executionId, workflowId: 'w', shouldResume },
	});
	/** Saved before any node has run. */
	const given = (count: number, caller = 'caller') => ({ ...at('trigger', undefined, count), ...calledBy(caller) });
	/** Saved after nodes have run, of which the first one has had so many items. */
	const begun = (count: number, caller = 'caller') =>
		({
			...at(CALL, 'once', 1),
			resultData: {
				runData: {
					Second: [{ executionIndex: 1, data: items(9) }],
					Trigger: [{ executionIndex: 0, data: items(count) }],
				},
			},
			...calledBy(caller),
		}) as unknown as Partial<IRunExecutionData>;

	const sleeps = async (own: Saved, caller?: Saved, others: Record<string, Saved> = {}, mode?: string) => {
		const saved = { own, caller, ...others };
		const { hint, reads } = await obstacleIn({ parentExecutionId: 'caller', saved, mode });
		if (hint !== undefined) expect(hint).toBe(HINTS.awakeAmongOthers());
		return { sleeps: hint === undefined, reads };
	};

	test('an execution whose caller has failed sleeps, and so does a retry: nobody waits', async () => {
		const failed = { resultData: { runData: {}, error: { message: 'x' } } } as unknown as Saved;
		expect(await sleeps(given(1), failed)).toEqual({ sleeps: true, reads: ['own', 'caller'] });
		expect(await sleeps(given(1), at(CALL, 'each', 2), {}, 'retry')).toEqual({ sleeps: true, reads: ['caller'] });
		expect(await sleeps(given(1), undefined, {}, 'retry')).toEqual({ sleeps: true, reads: ['caller'] });
	});

	test('a retry stays awake where its caller has gone on and sleeps for something else: n8n would wake it', async () => {
		const waits = { waitTill: new Date(4e12) } as Saved;
		const hintIn = async (caller: Saved, mode?: string) =>
			(await obstacleIn({ parentExecutionId: 'caller', saved: { own: given(2), caller }, mode })).hint;
		expect(await hintIn(waits, 'retry')).toBe(HINTS.awakeForCaller());
		const failed = { ...waits, resultData: { runData: {}, error: { message: 'x' } } } as unknown as Saved;
		expect(await hintIn(failed, 'retry')).toBeUndefined();
		expect(await hintIn(waits, 'trigger')).toBeUndefined();
	});

	test.each<[string, Saved, Saved, boolean]>([
		['for each item', given(1), at(CALL, 'each', 2), false],
		['for each of one item', given(1), at(CALL, 'each', 1), true],
		['once', given(1), at(CALL, 'once', 2), true],
		['once, with the default of the mode', given(1), at(CALL, undefined, 2), true],
		['with several items', given(2), at('x', undefined, 1), true],
		['with several items, and is already under way', begun(2), at('x', undefined, 1), true],
		['with one item, and is already under way', begun(1), at('x', undefined, 1), false],
		['with several items by a manual execution', given(2), undefined, true],
		['with one item by who saves no progress', given(1), at('x', undefined, 1), false],
		['with one item by a manual execution', given(1), undefined, false],
		['by who has slept since', given(1), at(CALL, 'once', 2, { waitingChildExecutionIds: ['3'] }), false],
		['by who has never slept', given(1), at(CALL, 'once', 2, { waitingChildExecutionIds: [] }), true],
		['by who has nothing left to do', given(1), nothingLeft, false],
		['by who has saved nothing of what it does', given(1), {}, false],
		['by who has slept for nothing', given(1), at(CALL, 'once', 2, {}), true],
		['for each of items that cannot be seen', given(1), holding(undefined, 'each'), false],
		['for each of no list of items', given(1), holding([], 'each'), false],
		['for each of a list that is none', given(1), holding([null], 'each'), false],
		['with no list of items', { ...holding([]), ...calledBy('caller') }, at('x', undefined, 1), false],
		['with a list that is none', { ...holding([null]), ...calledBy('caller') }, at('x', undefined, 1), false],
		['with nothing in its data', { ...holding(undefined), ...calledBy('caller') }, at('x', undefined, 1), false],
		['with nothing to go on with', { ...nothingLeft, ...calledBy('caller') }, at('x', undefined, 1), false],
		['with no items that can be seen', calledBy('caller'), at(CALL, 'each', 2), false],
	])('%s', async (_, own, caller, expected) => {
		expect((await sleeps(own, caller)).sleeps).toBe(expected);
	});

	test('by one that does not wait is as one that nobody has called', async () => {
		const own = { ...given(1), ...calledBy('caller', false) };
		expect(await sleeps(own, at(CALL, 'each', 2))).toEqual({ sleeps: true, reads: ['own'] });
	});

	test('whose own data cannot be read waits in memory', async () => {
		expect(await sleeps(undefined, at(CALL, 'once', 2))).toEqual({ sleeps: false, reads: ['own'] });
	});

	test('by one that was called for each item', async () => {
		const caller = { ...at(CALL, 'once', 1), ...calledBy('outer') };
		expect(await sleeps(given(2), caller, { outer: at(CALL, 'each', 2) })).toEqual({
			sleeps: false,
			reads: ['own', 'caller', 'outer'],
		});
		expect((await sleeps(given(2), caller, { outer: at(CALL, 'once', 2) })).sleeps).toBe(true);
	});

	test('by a hundred others at most: a circle ends', async () => {
		const around = (depth: number) =>
			Object.fromEntries(Array.from({ length: depth }, (_, index) => [`${index}`, given(2, `${index + 1}`)]));
		expect((await sleeps(given(2, '0'), undefined, { ...around(99), 99: {} })).sleeps).toBe(false);
		expect((await sleeps(given(2, '0'), undefined, { ...around(98), 98: {} })).sleeps).toBe(true);
		expect((await sleeps(given(2, 'own'))).reads).toHaveLength(101);
	});
});
