/**
 * What an execution leaves for those that follow, as 1.0.0 has stored it (test/stored/executions.json): each of them goes on by it,
 * and buys nothing that was bought, or may have been.
 */
import { ExecuteContext } from 'n8n-core';
import type { IDataObject, INodeExecutionData, IRunExecutionData, ITaskData } from 'n8n-workflow';
import { realClock } from '../../nodes/connection/transport';
import { STEPS } from '../../nodes/durable/subWorkflow';
import { fromItem, inItems, outcomeOf } from '../support/journalRuns.mts';
import { NODES, pause, quick, type Kind, type RunOptions } from '../support/nodes.mts';
import { handOverIn, orderOf } from '../support/orders.mts';
import { readStored } from '../support/stored.mts';
import { items, useStored } from '../support/storedRuns.mts';

const { runs, files, fillTable, creating, beganAtMs, first, restore, left, handOver, step } = useStored();

const FILE = 'executions.json';
const LOG_OFF = { credential: { advanced: true, purchaseLog: false } };
/** Longer than the files are exact. */
const LATER_MS = 600_000;
const FULL = 'Data table size limit exceeded';

/** The service makes no result, so the execution fails, and n8n keeps what it remembers. */
const form = (options: IDataObject = {}) => ({
	...fromItem,
	options: { ...quick, additionalFields: '{ "sandbox": "result=none" }', ...options },
});
const TEXTS = ['a cat', 'a dog'];
const again = (executionId: string, contextData?: Record<string, IDataObject>): RunOptions => ({
	mode: 'retry',
	kept: { executionId, establishedAt: beganAtMs(), contextData },
});
const manual = (executionId: string, laterMs = 0, contextData?: Record<string, IDataObject>): RunOptions => ({
	mode: 'manual',
	kept: { executionId, establishedAt: beganAtMs() + laterMs, contextData },
});
const run = async (options: RunOptions = {}, more: IDataObject = {}) =>
	await runs.run('image', form(more), { ...first(), items: items(...TEXTS), ...options });

/** An older n8n does not say when the first try of an execution began. */
const withoutTime = () => jest.spyOn(ExecuteContext.prototype, 'getExecutionContext').mockReturnValue(undefined);
/** The name of a run whose rows are missing, or that has none. */
const nameOfMarked = () => `${beganAtMs()}.0`;
const inDoubt = () => runs.sandbox.faults.add({ on: 'create', match: { promptIncludes: 'dog' }, do: '504' });

const onFailTwice: RunOptions = { settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 } };
/** As an agent of newer versions runs its tools. */
const asTool: RunOptions = {
	settings: { type: 'test.imageGenerationTool' },
	tools: [{ node: NODES.image, parameters: {} }],
};
const forAgent = { prompt: `={{ $fromAI('Prompt', 'what it is', 'string') }}`, options: form().options };
const calls = TEXTS.map((Prompt) => ({ Prompt }));
const token = { operation: 'create', name: 'a', quota: 'unlimited' };
const group = { resource: 'group', operation: 'create', groupName: 'Anna' };

interface Left {
	context: Record<string, IDataObject>;
	items: INodeExecutionData[];
	rows: { all: IDataObject[] };
}

const scenes: Record<string, () => Promise<{ data: IRunExecutionData; items?: INodeExecutionData[] } | void>> = {
	'Purchase Log is off': async () => await run(LOG_OFF),
	'n8n’s tables are full': async () => {
		runs.tables.faults.push(['insert', FULL]);
		return await run();
	},
	'n8n does not say when it began': async () => {
		withoutTime();
		const late = form({ additionalFields: '{ "sandbox": "duration=60s" }' });
		await runs.crash(late, { ...first(), items: items(...TEXTS) }, () => creating().length === 2);
	},
	'without rows, and submitted again': async () => {
		await run(LOG_OFF);
		return await run({ ...again('2'), ...LOG_OFF }, { submitAgainForRun: nameOfMarked() });
	},
	'in doubt': async () => {
		inDoubt();
		return await run(inItems);
	},
	'in doubt, and submitted again': async () => {
		inDoubt();
		await run(inItems);
		await runs.dieAtTheEnd();
		return await run({ ...again('2'), ...inItems }, { submitAgainForRun: '1.0' });
	},
	'a retry has found no rows, and has submitted again': async () => {
		await run();
		await runs.dieAtTheEnd();
		fillTable([]);
		return await run(again('2'), { submitAgainForRun: nameOfMarked() });
	},
	'taken back': async () => {
		let ofPoller: INodeExecutionData[] = [];
		const parameters = { ...form(), wait: 'acrossRestarts' };
		const begun = runs.begin('image', parameters, { ...first(), items: items(...TEXTS) }, async (_, __, given) => {
			({ handed: ofPoller } = await step(STEPS.keepWaiting, given.inputData ?? [], '100'));
			// Else, the names of its attempts would be those from before, because the files have one time for all.
			jest.spyOn(realClock, 'random').mockReturnValue(0.5);
			// The first one ends the run with its error: on a busy machine before the second one has been submitted.
			runs.sandbox.faults.add({ on: 'status', do: 'slow:2s' });
			throw new Error('n8n was away');
		});
		return { ...(await outcomeOf(begun)), items: ofPoller };
	},
	reused: async () => {
		await run(manual('1'));
		return await run(manual('2', LATER_MS), { reuseWhileBuilding: true });
	},
	'a second click': async () => {
		const late = { additionalFields: '{ "sandbox": "duration=60s" }' };
		const given = { ...manual('1'), items: items(...TEXTS) };
		const { promise } = runs.begin('image', form(late), given);
		while (runs.tables.rows.filter(({ state }) => state === 'accepted').length < 2) await pause(5);
		const second = await run(manual('2', LATER_MS), late);
		promise.cancel();
		await promise;
		return second;
	},
	'tries that have handed nothing over': async () => {
		runs.sandbox.faults.add({ on: 'create', times: -1, do: '400' });
		const { left: contextData } = await handOver(items('a cat'), {}, onFailTwice);
		return { data: { executionData: { contextData } } as never };
	},
	'a further try sleeps': async () => {
		const late = { additionalFields: '{ "sandbox": "duration=24h" }', pollIntervalSeconds: 120 };
		const { handed: start } = await handOver(items('a cat'), { options: late }, onFailTwice);
		const { handed } = await step(STEPS.keepWaiting, start, '100');
		const asleep = await step(STEPS.pollTasks, handed, '101');
		// The first poll is due.
		const atMs = Date.now() + 180_000;
		jest.spyOn(Date, 'now').mockImplementation(() => atMs);
		runs.sandbox.faults.add({ on: 'status', do: { merge: { status: 'failed', error: { code: 'x', message: 'x' } } } });
		const { left: contextData } = await step(STEPS.pollTasks, handed, '101', structuredClone(asleep.left));
		return { data: { executionData: { contextData } } as never, items: handed };
	},
	'a token': async () => await runs.run('token', token, first()),
	'a group': async () => await runs.run('avatar', group, first()),
	'calls of an agent': async () => (await runs.runTool('image', forAgent, calls, first())).run,
	'a tool of an agent': async () => await run(asTool),
};

test.each(Object.entries(scenes))('n8n has of an execution what the file has: %s', async (name, begin) => {
	const { data, items: handed } = (await begin()) ?? {};
	files.expect(FILE, { [name]: { context: data?.executionData?.contextData, items: handed, ...(await left()) } });
});

const AGO_MS = 600_000;
const UNKNOWN = 'outcome_still_unknown';
/** Another task, of the form that gives no result. */
const BOUGHT = 'no_result_url';

interface Follows extends RunOptions {
	executionId: string;
	/** It has what the node of the execution before remembers. */
	hasMemory?: boolean;
	/** It began later than the execution before: it is none of its retries. */
	laterMs?: number;
	/** The run that the form names as Submit Again for Run. */
	named?: () => string;
	reuseWhileBuilding?: boolean;
	/** False: n8n has dropped the oldest ones. */
	hasMarks?: boolean;
	texts?: string[];
}

/** An execution that follows: the IDs or codes of its items, and the number of requests that it has sent to buy something. */
async function follow(scene: string, { executionId, hasMemory, laterMs = 0, named, ...options }: Follows) {
	const { context } = await restore(readStored<Left>(FILE)[scene] as Left, AGO_MS, ...TEXTS);
	const { reuseWhileBuilding, texts = TEXTS, hasMarks = true, kept } = options;
	if (!hasMarks) runs.record.rows.clear();
	const establishedAt = beganAtMs(AGO_MS) + laterMs;
	const { json } = await run(
		{
			...{ ...inItems, ...options, items: items(...texts) },
			kept: { ...kept, executionId, establishedAt, contextData: hasMemory ? context : undefined },
		},
		{ ...(named && { submitAgainForRun: named() }), ...(reuseWhileBuilding && { reuseWhileBuilding }) },
	);
	return [...json.map(({ code, task_id: id }) => code ?? id), creating().length];
}

const onFail = (executionId: string): Follows => ({ mode: 'trigger', executionId, hasMemory: true });
const retry = (executionId: string): Follows => ({ mode: 'retry', executionId, hasMemory: true });
const afterCrash = (executionId: string): Follows => ({ mode: 'retry', executionId });
const byMark = () => `${beganAtMs(AGO_MS)}.0`;
const secondRound: RunOptions['kept'] = { runs: [{ data: { main: [[]] }, source: [] } as unknown as ITaskData] };

test.each<[scene: string, who: string, Follows, ends: unknown[]]>([
	['Purchase Log is off', 'Retry On Fail', { ...onFail('1'), ...LOG_OFF }, ['img_1', 'img_2', 0]],
	['Purchase Log is off', 'a retry', { ...retry('2'), ...LOG_OFF }, ['img_1', 'img_2', 0]],
	['Purchase Log is off', 'a retry after a crash', { ...afterCrash('2'), ...LOG_OFF }, [UNKNOWN, UNKNOWN, 0]],
	['Purchase Log is off', 'a retry after a crash, with rows', afterCrash('2'), [UNKNOWN, UNKNOWN, 0]],
	[
		'Purchase Log is off',
		'another process that n8n hands the execution to',
		{ ...LOG_OFF, mode: 'trigger', executionId: '1', laterMs: LATER_MS },
		[UNKNOWN, UNKNOWN, 0],
	],
	[
		'Purchase Log is off',
		'a retry by a person who names it',
		{ ...afterCrash('2'), ...LOG_OFF, named: byMark },
		[BOUGHT, BOUGHT, 2],
	],
	['n8n’s tables are full', 'Retry On Fail', onFail('1'), ['img_1', 'img_2', 0]],
	['n8n’s tables are full', 'a retry after a crash', afterCrash('2'), [UNKNOWN, UNKNOWN, 0]],
	[
		'without rows, and submitted again',
		'a retry after a crash, with the same name in the form',
		{ ...afterCrash('3'), ...LOG_OFF, named: byMark },
		[UNKNOWN, UNKNOWN, 0],
	],
	['in doubt', 'Retry On Fail', onFail('1'), ['img_1', UNKNOWN, 0]],
	['in doubt', 'a retry', retry('2'), ['img_1', UNKNOWN, 0]],
	['in doubt', 'a retry after a crash', afterCrash('2'), ['img_1', UNKNOWN, 0]],
	['in doubt', 'a retry by a person who names it', { ...retry('2'), named: () => '1.0' }, ['img_1', BOUGHT, 1]],
	[
		'in doubt',
		'a retry by a person who names it, after a crash',
		{ ...afterCrash('2'), named: () => '1.0' },
		['img_1', BOUGHT, 1],
	],
	[
		'in doubt, and submitted again',
		'a retry after a crash, with the same name in the form',
		{ ...afterCrash('3'), named: () => '1.0' },
		['img_1', 'img_2', 0],
	],
	['in doubt, and submitted again', 'Retry On Fail of the retry', { ...retry('2') }, ['img_1', 'img_2', 0]],
	[
		'a retry has found no rows, and has submitted again',
		'a retry after a crash, with an item more, when n8n has dropped the marks',
		{ ...afterCrash('3'), texts: [...TEXTS, 'a bird'], hasMarks: false },
		['img_1', 'img_2', UNKNOWN, 0],
	],
	['taken back', 'Retry On Fail', onFail('1'), ['img_1', 'img_2', 0]],
	['taken back', 'a retry after a crash', afterCrash('2'), ['img_1', 'img_2', 0]],
	['reused', 'a retry', { ...retry('3'), laterMs: LATER_MS }, ['img_1', 'img_2', 0]],
	[
		'reused',
		'a later execution that reuses',
		{ mode: 'manual', executionId: '3', laterMs: 2 * LATER_MS, reuseWhileBuilding: true },
		['img_1', 'img_2', 0],
	],
	[
		'reused',
		'the next round of a loop, which gets tasks of its own',
		{ ...onFail('2'), mode: 'manual', laterMs: LATER_MS, reuseWhileBuilding: true, kept: secondRound },
		[BOUGHT, BOUGHT, 2],
	],
	[
		'a second click',
		'Retry On Fail',
		{ ...onFail('2'), mode: 'manual', laterMs: LATER_MS },
		['already_running', 'already_running', 0],
	],
	['a tool of an agent', 'a retry', { ...retry('2'), ...asTool }, ['img_1', 'img_2', 0]],
])('by what was stored, no request is sent that was not asked for: %s, then %s', async (scene, _, follows, ends) => {
	const seen = await follow(scene, follows);
	expect(seen).toEqual(files.read(ends));
});

test('where n8n does not say when an execution began, the mark of its input tells', async () => {
	withoutTime();
	expect(await follow('n8n does not say when it began', afterCrash('2'))).toEqual([UNKNOWN, UNKNOWN, 0]);
});

test.each<[string, Kind, IDataObject, unknown]>([
	['a token', 'token', token, 'token_key_gone'],
	['a group', 'avatar', group, 'pg_1'],
])('after a crash, a retry creates none again: %s', async (name, kind, parameters, end) => {
	await restore(readStored<Left>(FILE)[name] as Left, AGO_MS);
	const kept = { executionId: '2', establishedAt: beganAtMs(AGO_MS) };
	const { json } = await runs.run(kind, parameters, { mode: 'retry', kept, ...inItems });
	expect([json[0]?.code ?? json[0]?.group_id, creating()]).toEqual([end, []]);
});

test('after a crash, the calls of an agent get the tasks of the calls before', async () => {
	await restore(readStored<Left>(FILE)['calls of an agent'] as Left, AGO_MS, ...TEXTS);
	const execution = { mode: 'retry' as const, kept: { executionId: '2', establishedAt: beganAtMs(AGO_MS) } };
	const { answers } = await runs.runTool('image', forAgent, calls, execution);
	const seen = answers.map(({ text, error }) => error ?? /img_\w+/.exec(text ?? '')?.[0]);
	expect([seen, creating()]).toEqual([files.read(['img_1', 'img_2']), []]);
});

test('the next calls of an agent in the same execution get tasks of their own', async () => {
	const { context } = await restore(readStored<Left>(FILE)['calls of an agent'] as Left, AGO_MS, ...TEXTS);
	const kept = { executionId: '1', establishedAt: beganAtMs(AGO_MS), contextData: context };
	await runs.runTool('image', forAgent, calls, { mode: 'trigger', kept });
	expect(creating()).toHaveLength(2);
});

test('a further try of a node counts the tries before, and tells the execution that goes on', async () => {
	const { context } = await restore(readStored<Left>(FILE)['tries that have handed nothing over'] as Left, 0);
	const kept = { ...first().kept, contextData: context };
	const { handed } = await handOver(items('a cat'), {}, { ...onFailTwice, kept });
	expect(handOverIn(handed)?.retry?.tried).toBe(3);
});

test('a poller whose run was taken back submits nothing', async () => {
	const stored = readStored<Left>(FILE)['taken back'] as Left;
	const { items: given, rows } = await restore(stored, AGO_MS, 'a cat');
	// The node has written its lease, and nothing more yet.
	const back = rows.all.findIndex(({ attempt }) => /-back/.test(String(attempt)));
	fillTable(rows.all.slice(0, back + 1));
	const { items: ended } = await step(STEPS.pollTasks, given, '101');
	expect(ended.map((item) => orderOf(item).end).map((end) => end?.error?.details.reason?.name ?? end?.as)).toEqual([
		'done',
		'submittedByOtherRetry',
	]);
	expect(creating()).toEqual([]);
});

test('a poller that wakes up counts the tries before it slept', async () => {
	const failing = 'a cat [[sandbox fail]]';
	const stored = readStored<Left>(FILE)['a further try sleeps'] as Left;
	const { items: given, context } = await restore(stored, 2 * AGO_MS, failing, failing);
	const { items: ended } = await step(STEPS.pollTasks, given, '101', context);
	expect(ended.map((item) => orderOf(item).end?.error?.details.reason?.name)).toEqual(['taskFailed']);
	expect(creating()).toEqual([]);
});
