/** An execution that polled is gone: what Keep Waiting makes of what n8n has kept of it, and what nobody buys again. */
import {
	ManualExecutionCancelledError,
	SystemShutdownExecutionCancelledError,
	type IDataObject,
	type INodeExecutionData,
} from 'n8n-workflow';
import type { Order } from '../../core/orders/order';
import { lastWakeUp } from '../../core/processMemory';
import { runHandingOver, type Tail } from '../support/handingOver.mts';
import { pause, prompts, quick, quickSandbox, type Sandbox } from '../support/nodes.mts';
import { detailsOf, endedRow, orderOf, withOrder } from '../support/orders.mts';
import { ProcessedData, useProcessedData } from '../support/processedData.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => {
	sandbox.reset();
	useProcessedData(new ProcessedData());
});
afterAll(() => useProcessedData(new ProcessedData()));

const run = async (...given: Tail<Parameters<typeof runHandingOver>>) => await runHandingOver(sandbox, ...given);
const posts = () => sandbox.requests.filter(({ method }) => method === 'POST');

/** Rows of a run of four: the first was accepted, the others are to be submitted. */
async function rowsOfFour(options: IDataObject = {}, items = prompts('a', 'b', 'c', 'd')) {
	const { handed } = await run(
		{
			operation: 'generate',
			prompt: '={{ $json.prompt }}',
			options: { ...quick, surviveRestarts: true, concurrentTasks: 1, ...options },
		},
		items,
		{ settings: { onError: 'continueErrorOutput' } },
	);
	sandbox.requests.length = 0;
	return JSON.parse(JSON.stringify(handed[0])) as INodeExecutionData[];
}

const change = (row: INodeExecutionData | undefined, of: (order: Order) => object) => {
	if (row === undefined) throw new Error('There is no such row');
	return withOrder(row, { ...orderOf(row), ...of(orderOf(row)) });
};
const outputs = (rows: INodeExecutionData[] | IDataObject[]) => ({ data: { main: [rows] } });

/** Keep Waiting is woken with an error, after one round. `stored` is what n8n has of the execution that polled. */
const wakeUpAfter = async (
	rows: INodeExecutionData[],
	{ saved, runs = [], error }: { saved?: INodeExecutionData[]; runs?: object[]; error?: object },
) =>
	await run({ operation: 'durableKeepWaiting' }, rows, {
		kept: { contextData: { flow: { rounds: 1, polledBy: 'dead' } } },
		stored: {
			dead: {
				resultData: { error, runData: { Start: [outputs(rows)], 'Poll Tasks': runs } },
				executionData: { nodeExecutionStack: [], contextData: saved ? { 'node:Poll Tasks': { rows: saved } } : {} },
			},
		},
	});

const endsOf = (items: INodeExecutionData[]) => items.map((item) => orderOf(item).end?.as);
const reasonsOf = (items: INodeExecutionData[]) =>
	items.map((item) => orderOf(item).end?.error?.details.reason?.name ?? orderOf(item).end?.as);

test('of an execution that has polled to its end, the ends count, and not what it had got at its beginning', async () => {
	const rows = await rowsOfFour();
	const ended = rows.map((row, item) => endedRow(row, { task_id: `t${item}`, status: 'completed' }));
	const { items, handed } = await wakeUpAfter(rows, {
		runs: [outputs([{ json: { running: 1 } }] as never), outputs(ended)],
	});
	expect([handed, endsOf(items)]).toEqual([[], rows.map(() => 'done')]);
});

test('an end that cannot be read is no obstacle to the others', async () => {
	const rows = await rowsOfFour();
	const ended = rows.map((row, item) => endedRow(row, { task_id: `t${item}`, status: 'completed' }));
	ended[1] = withOrder(ended[1] as INodeExecutionData, { ...orderOf(ended[1] as INodeExecutionData), model: 7 });
	const { items, handed } = await wakeUpAfter(rows, { runs: [outputs(ended)] });
	expect([handed, reasonsOf(items)]).toEqual([[], ['done', 'storedItemUnreadable', 'done', 'done']]);
});

test('of an execution that polls in the place of a dead one, and that a person stops before it has slept, the next round knows', async () => {
	const rows = await rowsOfFour();
	const saved = [
		rows[0],
		endedRow(rows[1] as INodeExecutionData, { task_id: 't', status: 'completed' }),
		rows[2],
		rows[3],
	];
	const stopped = { ...new ManualExecutionCancelledError('second'), executionId: 'second' };
	const play = async (flow: IDataObject, failure?: object) =>
		await run({ operation: 'durableKeepWaiting' }, rows, {
			failure,
			settings: { onError: 'continueRegularOutput' },
			kept: { contextData: { flow } },
			stored: {
				dead: {
					resultData: { runData: { Start: [outputs(rows)] } },
					executionData: { contextData: { 'node:Poll Tasks': { rows: saved } } },
				},
				second: {
					resultData: {
						runData: {},
						error: { ...new ManualExecutionCancelledError('second') },
					},
				},
			},
		});
	const { handed, contextData } = await play({ rounds: 1, polledBy: 'dead' }, stopped);
	expect([handed.length, contextData?.flow?.parked]).toEqual([1, 'second']);
	const next = await play({ ...contextData?.flow });
	// What the dead one had saved counts: the one in its place was stopped before it had saved anything.
	expect([next.handed, reasonsOf(next.items).slice(0, 2)]).toEqual([[], ['waitingInterrupted', 'done']]);
	// Where it has slept for nobody yet, the node would go on in memory.
	expect((await play({}, stopped)).contextData?.flow?.parked).toBeUndefined();
});

describe('an execution that polls and that a person has stopped', () => {
	const stop = () => ({ ...new ManualExecutionCancelledError('7') });

	test('an execution that polls and that a person has stopped is followed by no other one: what has ended has, and the rest ends with what is known of it', async () => {
		const rows = await rowsOfFour();
		const batch = { ...orderOf(rows[0] as INodeExecutionData).batch, waves: 1 };
		const saved = [
			change(rows[0], () => ({ batch })),
			change(rows[1], ({ request }) => ({ batch, request: { ...request, wave: 0 } })),
			change(rows[2], () => ({ batch })),
			endedRow(
				change(rows[3], () => ({ batch })),
				{ task_id: 't', status: 'completed' },
			),
		];
		const table = new ProcessedData();
		table.rows.set('wf 1', [String(batch.name), `${batch.name}, wave 0`]);
		useProcessedData(table);
		const { items, handed } = await wakeUpAfter(rows, { saved, error: stop() });
		expect([handed, reasonsOf(items)]).toEqual([
			[],
			['waitingInterrupted', 'outcomeStillUnknown', 'submissionStopped', 'done'],
		]);
		expect(orderOf(items[0] as INodeExecutionData).task?.taskId).toBe(detailsOf(rows[0] as INodeExecutionData).task_id);
		expect(posts()).toEqual([]);
	});

	test('an execution that polls and that a person has stopped may have sent a wave that n8n has not saved: nobody says of these items that they were not submitted', async () => {
		const rows = await rowsOfFour({ concurrentTasks: 2 });
		const { batch } = orderOf(rows[3] as INodeExecutionData);
		const table = new ProcessedData();
		table.rows.set('wf 1', [`${batch?.name}, wave 0`]);
		useProcessedData(table);
		const { items } = await wakeUpAfter(rows, { error: stop() });
		expect(reasonsOf(items)).toEqual([
			'waitingInterrupted',
			'waitingInterrupted',
			'outcomeStillUnknown',
			'outcomeStillUnknown',
		]);
	});

	test('an execution that polls and that a person has stopped leaves every item in doubt where n8n cannot say which waves were sent', async () => {
		const rows = await rowsOfFour();
		const table = new ProcessedData();
		jest.spyOn(table.rows, 'get').mockImplementation(() => {
			throw new Error('no database');
		});
		useProcessedData(table);
		const { items } = await wakeUpAfter(rows, { error: stop() });
		expect(reasonsOf(items).slice(1)).toEqual(Array(3).fill('outcomeStillUnknown'));
	});
});

test.each([
	['an orderly end of n8n has ended', { ...new SystemShutdownExecutionCancelledError('7') }],
	['a crash has ended', { message: 'Workflow did not finish, possible out-of-memory issue' }],
	['n8n says nothing about', undefined],
])('an execution that polls and that %s is followed by another one', async (_, error) => {
	const rows = await rowsOfFour();
	const { handed } = await wakeUpAfter(rows, { saved: rows, error });
	expect(handed[0]?.map((row) => orderOf(row).state)).toEqual(['accepted', 'planned', 'planned', 'planned']);
});

test('a click on Retry of one that is gone sends nothing: another one has taken over, and its names are gone', async () => {
	const rows = await rowsOfFour();
	const { items } = await run({ operation: 'durablePollTasks' }, rows, { mode: 'retry' });
	expect(reasonsOf(items)).toEqual(['waitingInterrupted', ...Array<string>(3).fill('outcomeStillUnknown')]);
	expect(sandbox.requests).toEqual([]);
});

describe('a retry by a person of the execution that waits', () => {
	/** @param waits what n8n has of the execution that waits */
	const retry = async (rows: INodeExecutionData[], flow: IDataObject, stored: Record<string, object> = {}) =>
		await run({ operation: 'durableKeepWaiting' }, rows, { mode: 'retry', kept: { contextData: { flow } }, stored });

	test('a retry by a person of the execution that waits buys nothing where n8n has pruned the execution that polled, and has no names of it: what was accepted goes on', async () => {
		const rows = await rowsOfFour();
		const { handed } = await retry(rows, { rounds: 1, polledBy: 'pruned' });
		expect(handed[0]?.map((row) => orderOf(row).state)).toEqual(['accepted', 'ended', 'ended', 'ended']);
		expect(reasonsOf(handed[0] as INodeExecutionData[]).slice(1)).toEqual(Array(3).fill('outcomeStillUnknown'));
		await run({ operation: 'durablePollTasks' }, handed[0] as INodeExecutionData[]);
		// It goes on in memory while its execution sleeps: until it has seen the end.
		const seen = () => sandbox.requests.at(-1)?.at ?? 0;
		while (sandbox.tasks.some(({ endsAt }) => endsAt >= seen())) await pause(20);
		expect(posts()).toEqual([]);
	});

	test('a retry by a person of the execution that waits buys nothing before its first sleep, too, and no try is left to buy again what fails', async () => {
		const rows = await rowsOfFour();
		const retries = rows.map((row) =>
			change(row, ({ batch }) => ({ batch: { ...batch, retry: { tries: 3, pauseMs: 0, tried: 1 } } })),
		);
		const { handed } = await retry(retries, {});
		expect(handed[0]?.map((row) => [orderOf(row).state, orderOf(row).batch?.retry])).toEqual([
			['accepted', undefined],
			...Array<unknown>(3).fill(['ended', undefined]),
		]);
	});

	test('a retry by a person of the execution that waits buys nothing the second time, either: the first one may have submitted the rest, and has removed its names', async () => {
		const rows = await rowsOfFour();
		const dead = { resultData: { runData: { Start: [outputs(rows)] } }, executionData: { nodeExecutionStack: [] } };
		for (let clicks = 0; clicks < 2; clicks++) {
			const { handed } = await retry(rows, { rounds: 1, polledBy: 'dead' }, { dead });
			expect(reasonsOf(handed[0] as INodeExecutionData[]).slice(1)).toEqual(Array(3).fill('outcomeStillUnknown'));
		}
	});

	test('a retry by a person of the execution that waits hands out the ends that there are', async () => {
		const rows = await rowsOfFour();
		const ended = rows.map((row, item) => endedRow(row, { task_id: `t${item}`, status: 'completed' }));
		const dead = { resultData: { runData: { 'Poll Tasks': [outputs(ended)] } } };
		const { items, handed } = await retry(rows, { rounds: 1, polledBy: 'dead' }, { dead });
		expect([handed, endsOf(items)]).toEqual([[], rows.map(() => 'done')]);
	});
});

describe('where n8n keeps so many names, and drops the oldest', () => {
	/** The execution that polled, and all that n8n had saved of it, is gone; the next one takes over. */
	const takeOver = async (namesLeft: (run: string) => string[]) => {
		const rows = await rowsOfFour();
		const table = new ProcessedData();
		table.rows.set('wf 1', namesLeft(String(orderOf(rows[0] as INodeExecutionData).batch?.name)));
		useProcessedData(table);
		const { handed } = await wakeUpAfter(rows, {});
		let contextData: Record<string, IDataObject> = {};
		for (;;) {
			const polled = await run({ operation: 'durablePollTasks' }, handed[0] as INodeExecutionData[], {
				kept: { contextData },
			});
			contextData = polled.contextData ?? {};
			if (polled.items.some(({ json }) => json.error)) return { reasons: reasonsOf(polled.items), names: table.all() };
		}
	};

	test('a run whose own name is gone submits nothing after a crash: the names of its waves may be gone, too', async () => {
		const { reasons, names } = await takeOver(() => []);
		expect(reasons).toEqual(['done', ...Array<string>(3).fill('outcomeStillUnknown')]);
		expect(posts()).toEqual([]);
		expect(names.filter((name) => !String(name).includes(', wave '))).toEqual([]);
	});

	test('a run whose own name is there submits after a crash what no wave has sent', async () => {
		const { reasons } = await takeOver((run) => [run]);
		expect(reasons).toEqual(Array(4).fill('done'));
		expect(posts()).toHaveLength(3);
	});
});

test('trouble of a minute does not use up all rounds: after three of them n8n takes a minute for each', async () => {
	const rows = await rowsOfFour();
	/** Nothing listens there, which is noted. */
	const asleep = [[{ json: { details: { resume_url: 'http://localhost/webhook-waiting/7?signature=s' } } }]];
	const isCalled = async (rounds: number, withinMs: number) => {
		lastWakeUp.why = undefined;
		await run({ operation: 'durableKeepWaiting' }, rows, {
			kept: { contextData: { flow: { rounds, polledBy: 'dead' } } },
			asleep,
		});
		for (let ms = 0; ms < withinMs && lastWakeUp.why === undefined; ms += 50) await pause(50);
		return lastWakeUp.why !== undefined;
	};
	expect([await isCalled(0, 20_000), await isCalled(2, 20_000)]).toEqual([true, true]);
	expect([await isCalled(3, 500), await isCalled(49, 500)]).toEqual([false, false]);
	lastWakeUp.why = undefined;
});
