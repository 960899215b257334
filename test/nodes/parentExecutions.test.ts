/** Who waits for an execution that works for others: when n8n is asked, and what its answers mean. */
import { sleep, type IExecuteFunctions, type IRunExecutionData } from 'n8n-workflow';
import {
	outermostOf,
	ParentExecutions,
	parentIdOf,
	waitingFor,
	whileParentsWait,
} from '../../nodes/durable/parentExecutions';

beforeEach(() => jest.useFakeTimers({ now: 1_800_000_000_000 }));
afterEach(() => jest.useRealTimers());

type Saved = Record<string, Partial<IRunExecutionData> | 'deleted' | undefined>;

/** The execution "own", which "parent" has called, which "root" has called; n8n takes so long to answer. */
function world(saved: Saved, { tookMs = 0, isCalled = true, mode = 'integrated', outermost = '' } = {}) {
	const reads: string[] = [];
	const stop = new AbortController();
	const context = {
		getExecutionId: () => 'own',
		getMode: () => mode,
		getExecutionContext: () => ({ parentExecutionId: isCalled ? 'parent' : undefined }),
		getExecutionCancelSignal: () => stop.signal,
		getExecutionDataById: async (id: string) => {
			reads.push(id);
			jest.setSystemTime(Date.now() + tookMs);
			const data = await Promise.resolve(saved[id]);
			if (data === undefined) throw new Error('the data cannot be read');
			if (data === 'deleted') return undefined;
			return { resultData: { runData: {} }, ...data };
		},
	} as unknown as IExecuteFunctions;
	const store: { parents?: unknown } = {};
	// Orders that were refused have no batch.
	const orders = [{}, { batch: {} }, { batch: { outermost: outermost || undefined } }] as never;
	const parents = new ParentExecutions(context, store, orders);
	/** The executions that were read in between. */
	const readIn = async (work: () => Promise<unknown>) => {
		reads.length = 0;
		const result = await work();
		return { result, reads: [...reads] };
	};
	const ask = async (options?: { now?: boolean }) => await readIn(async () => await parents.isGone(options));
	return { context, parents, store, stop, reads, readIn, ask };
}

const calledBy = (executionId: string, shouldResume?: boolean): Partial<IRunExecutionData> => ({
	parentExecution: { executionId, workflowId: 'w', shouldResume },
});
/** Saved while it sleeps for these sub-executions. */
const asleepFor = (...waitingChildExecutionIds: string[]) =>
	({
		waitTill: new Date(4e12),
		executionData: { nodeExecutionStack: [{ metadata: { waitingChildExecutionIds } }] },
	}) as unknown as Partial<IRunExecutionData>;
const stopped = {
	resultData: { runData: {}, error: { message: 'cancelled' } },
} as unknown as Partial<IRunExecutionData>;
/** It has ended with an error of its own. */
const failed = {
	resultData: { runData: {}, error: { message: 'x', reason: 'shutdown' } },
} as unknown as Partial<IRunExecutionData>;
const endedBy = (reason: string) =>
	({ resultData: { runData: {}, error: { message: 'cancelled', reason } } }) as unknown as Partial<IRunExecutionData>;
const asleep = (): Saved => ({
	own: calledBy('parent'),
	parent: { ...asleepFor('other', 'own'), ...calledBy('root') },
	root: asleepFor('parent'),
});

describe('the question whether somebody still waits', () => {
	test('the question whether somebody still waits is put to all around once, and then to those who have been found', async () => {
		const { ask } = world(asleep());
		expect(await ask()).toEqual({ result: false, reads: ['own', 'parent', 'root'] });
		jest.setSystemTime(Date.now() + 500);
		expect(await ask()).toEqual({ result: false, reads: ['parent', 'root'] });
	});

	test('the question whether somebody still waits is known to those who take over what the node remembers', async () => {
		const { ask, store, context, readIn } = world(asleep());
		await ask();
		const memory = JSON.parse(JSON.stringify(store)) as object;
		expect(memory).toEqual({
			parents: { around: ['parent', 'root'], wasAwaited: true, atMs: Date.now(), tookMs: 0 },
		});
		const next = new ParentExecutions(context, memory, []);
		expect(await readIn(async () => await next.isGone())).toEqual({ result: false, reads: [] });
		expect((await readIn(async () => await next.isGone({ now: true }))).reads).toEqual(['parent', 'root']);
	});

	test.each([
		[0, 500],
		[1, 600],
		[5, 3_000],
		[100, 10_000],
	])(
		'the question whether somebody still waits is put again after at most half a percent of the time: where each answer takes %d ms, after %d ms',
		async (tookMs, pauseMs) => {
			const { ask, parents } = world(asleep(), { tookMs });
			const beganMs = Date.now();
			await ask();
			expect(parents.pauseMs).toBe(pauseMs);
			jest.setSystemTime(beganMs + pauseMs - 1);
			expect((await ask()).reads).toEqual([]);
			jest.setSystemTime(beganMs + pauseMs);
			expect((await ask()).reads).toEqual(['parent', 'root']);
		},
	);

	test('the question whether somebody still waits is put at once where the clock was set back', async () => {
		const { ask } = world(asleep());
		await ask();
		jest.setSystemTime(Date.now() - 1);
		expect((await ask()).reads).toEqual(['parent', 'root']);
	});

	test.each(['own', 'parent', 'root'])(
		'the question whether somebody still waits is answered with no where %s has been stopped',
		async (id) => {
			expect((await world({ ...asleep(), [id]: stopped }).ask()).result).toBe(true);
			const later = asleep();
			const { ask } = world(later);
			await ask();
			later[id] = stopped;
			expect((await ask({ now: true })).result).toBe(id !== 'own');
		},
	);

	test('the question whether somebody still waits is answered with no where the nearest has slept for this execution, and sleeps for another one', async () => {
		const saved = asleep();
		const { ask } = world(saved);
		await ask();
		saved.parent = { ...asleepFor('another'), ...calledBy('root') };
		expect((await ask({ now: true })).result).toBe(true);
		expect((await ask({ now: true })).result).toBe(true);
	});

	test.each<[string, Partial<IRunExecutionData>]>([
		['sleeps for another one', asleepFor('another')],
		['is awake', { ...asleepFor('own'), waitTill: undefined }],
		['has nothing to go on with', { waitTill: new Date(4e12) }],
		['has nothing left to do', { waitTill: new Date(4e12), executionData: { nodeExecutionStack: [] } } as never],
	])(
		'the question whether somebody still waits is not answered with no where the nearest %s, and was never seen asleep for this execution',
		async (_, parent) => {
			const saved: Saved = { ...asleep(), parent: { ...parent, ...calledBy('root') } };
			const { ask } = world(saved);
			expect(await ask()).toEqual({ result: false, reads: ['own', 'parent', 'root'] });
			expect((await ask({ now: true })).result).toBe(false);
			saved.parent = asleep().parent;
			expect((await ask({ now: true })).result).toBe(false);
			saved.parent = parent;
			expect((await ask({ now: true })).result).toBe(true);
		},
	);

	test('the question whether somebody still waits goes by the nearest only: another one around may sleep for whom it likes', async () => {
		const saved = asleep();
		const { ask } = world(saved);
		await ask();
		saved.root = asleepFor('another');
		expect((await ask({ now: true })).result).toBe(false);
	});

	test('the question whether somebody still waits is not asked of who does not wait', async () => {
		const saved = { ...asleep(), parent: { ...asleepFor('own'), ...calledBy('root', false) }, root: stopped };
		expect(await world(saved).ask()).toEqual({ result: false, reads: ['own', 'parent'] });
		expect(await world({ own: {} }).ask()).toEqual({ result: false, reads: ['own'] });
	});

	test('the question whether somebody still waits begins anew where n8n could not say who is around', async () => {
		const saved: Saved = { ...asleep(), parent: undefined };
		const { ask, store } = world(saved);
		expect(await ask()).toEqual({ result: false, reads: ['own', 'parent'] });
		expect(store.parents).toMatchObject({ wasAwaited: false });
		expect(store.parents).not.toHaveProperty('around', expect.anything());
		saved.parent = asleep().parent;
		expect(await ask({ now: true })).toEqual({ result: false, reads: ['own', 'parent', 'root'] });
	});

	test('the question whether somebody still waits goes on with the others where one of them cannot be read', async () => {
		const saved: Saved = asleep();
		const { ask } = world(saved);
		await ask();
		saved.parent = undefined;
		expect(await ask({ now: true })).toEqual({ result: false, reads: ['parent', 'root'] });
		saved.root = stopped;
		expect((await ask({ now: true })).result).toBe(true);
	});

	test.each(['parent', 'root'])('nobody waits any more where the %s was deleted', async (deleted) => {
		const saved: Saved = asleep();
		const { ask, store } = world(saved);
		expect((await ask()).result).toBe(false);
		saved[deleted] = 'deleted';
		expect((await ask({ now: true })).result).toBe(true);
		// Whoever goes on in its place has to know whom it asks for.
		expect(store.parents).toMatchObject({ around: ['parent', 'root'] });
	});

	test.each(['parent', 'root'])(
		'where it is not known yet who is around, one that cannot be found may still be saved; after 30 s it was deleted: %s',
		async (deleted) => {
			const saved: Saved = { ...asleep(), [deleted]: 'deleted' };
			const { ask, store } = world(saved);
			expect((await ask()).result).toBe(false);
			jest.setSystemTime(Date.now() + 29_000);
			expect((await ask({ now: true })).result).toBe(false);
			jest.setSystemTime(Date.now() + 1_000);
			expect((await ask({ now: true })).result).toBe(true);
			expect(store.parents).toMatchObject({ around: deleted === 'root' ? ['parent', 'root'] : ['parent'] });
		},
	);

	test('one that is saved late, cannot be read, or is the execution itself, was not deleted', async () => {
		const saved: Saved = { ...asleep(), root: 'deleted' };
		const { ask } = world(saved);
		await ask();
		jest.setSystemTime(Date.now() + 40_000);
		saved.root = undefined;
		expect((await ask({ now: true })).result).toBe(false);
		saved.root = 'deleted';
		expect((await ask({ now: true })).result).toBe(false);
		saved.root = asleepFor('parent');
		expect((await ask({ now: true })).result).toBe(false);
		const own = world({ own: 'deleted' });
		await own.ask();
		jest.setSystemTime(Date.now() + 40_000);
		expect((await own.ask({ now: true })).result).toBe(false);
	});

	test('the question whether somebody still waits ends after a hundred executions around one another', async () => {
		const { ask } = world(new Proxy({}, { get: (_, id) => calledBy(`${String(id)}+`) }));
		expect((await ask()).reads).toHaveLength(101);
		expect((await ask({ now: true })).reads).toHaveLength(100);
	});

	test.each([
		['none', undefined],
		['a text', 'x'],
		['names that are none', { around: 7, wasAwaited: true, atMs: 1, tookMs: 1 }],
		['more names than there can be', { around: Array(101).fill('x'), wasAwaited: false, atMs: 0, tookMs: 0 }],
		['times that are none', { atMs: 'x', tookMs: -5, wasAwaited: 'x' }],
	])('the question whether somebody still waits is put to all where the node remembers %s', async (_, parents) => {
		const { ask, store } = world(asleep());
		store.parents = parents;
		expect((await ask()).reads).toEqual(['own', 'parent', 'root']);
	});
});

test('a memory that is none says nothing of what was seen before', async () => {
	const { ask, store, parents } = world({ ...asleep(), parent: calledBy('root') });
	store.parents = 'x';
	expect(parents.pauseMs).toBe(500);
	expect((await ask()).result).toBe(false);
});

test('nobody has called an execution of which n8n says nothing', () => {
	expect(parentIdOf({} as IExecuteFunctions)).toBeUndefined();
	expect(parentIdOf({ getExecutionContext: () => undefined } as unknown as IExecuteFunctions)).toBeUndefined();
	expect(parentIdOf(world({}).context)).toBe('parent');
});

test('who waits for an execution is who has called it, unless that does not wait', () => {
	const data = (parent: Partial<IRunExecutionData>) => parent as IRunExecutionData;
	expect(waitingFor(data(calledBy('p')))).toBe('p');
	expect(waitingFor(data(calledBy('p', true)))).toBe('p');
	expect(waitingFor(data(calledBy('p', false)))).toBeUndefined();
	expect(waitingFor(data({}))).toBeUndefined();
});

describe('the wait until all around are asleep', () => {
	/** The time that it takes, in milliseconds. */
	async function waited(
		saved: Saved,
		more: Parameters<typeof world>[1] = {},
		before?: (of: ReturnType<typeof world>) => Promise<unknown>,
	) {
		const of = world(saved, more);
		await before?.(of);
		of.reads.length = 0;
		const beganMs = Date.now();
		let endedMs: number | undefined;
		void of.parents.untilAsleep().then(() => (endedMs = Date.now()));
		await jest.advanceTimersByTimeAsync(60_000);
		return { waitedMs: (endedMs ?? NaN) - beganMs, reads: of.reads };
	}

	test('the wait until all around are asleep is over at once where they are', async () => {
		expect(await waited(asleep())).toEqual({ waitedMs: 0, reads: ['parent', 'root'] });
		expect(await waited({}, { isCalled: false })).toEqual({ waitedMs: 0, reads: [] });
	});

	test('the wait until all around are asleep looks again every 200 ms, at each of them', async () => {
		const saved: Saved = { ...asleep(), parent: undefined, root: asleepFor('another') };
		void sleep(500).then(() => (saved.parent = asleep().parent));
		void sleep(900).then(() => (saved.root = asleep().root));
		const { waitedMs, reads } = await waited(saved);
		expect(waitedMs).toBe(1_000);
		expect(reads).toEqual(['parent', 'parent', 'parent', 'parent', 'root', 'root', 'root']);
	});

	test('the wait until all around are asleep ends after half a minute', async () => {
		expect((await waited({ ...asleep(), root: {} })).waitedMs).toBe(30_000);
	});

	test('the wait until all around are asleep does not wait for who has ended, nor for who does not wait', async () => {
		expect((await waited({ ...asleep(), parent: { ...stopped, ...calledBy('root') } })).reads).toEqual([
			'parent',
			'root',
		]);
		expect((await waited({ ...asleep(), parent: { ...asleepFor('own'), ...calledBy('root', false) } })).reads).toEqual([
			'parent',
		]);
	});

	test('the wait until all around are asleep is none where nobody waits any more', async () => {
		const saved = { ...asleep(), root: stopped };
		expect(await waited(saved, {}, async ({ parents }) => await parents.isGone())).toEqual({ waitedMs: 0, reads: [] });
	});
});

describe('work that goes on while somebody waits for it', () => {
	/** Work that ends by itself after so long, or when it is over. */
	const work = (forMs: number) => async (signal: AbortSignal) =>
		await new Promise<string>((resolve) => {
			signal.addEventListener('abort', () => resolve('ended'));
			void sleep(forMs).then(() => resolve('done'));
		});

	async function result(saved: Saved, forMs: number, during: (of: ReturnType<typeof world>) => void = () => {}) {
		const of = world(saved);
		const beganMs = Date.now();
		const ended = whileParentsWait(of.context, of.parents, work(forMs)).then((outcome) => ({
			...outcome,
			afterMs: Date.now() - beganMs,
		}));
		during(of);
		await jest.advanceTimersByTimeAsync(60_000);
		return { ...(await ended), reads: of.reads.length, timers: jest.getTimerCount() };
	}

	test('work that goes on while somebody waits for it ends by itself, and nobody is asked after it', async () => {
		expect(await result(asleep(), 1_200)).toMatchObject({ done: 'done', isOver: false, reads: 5 });
	});

	test('work that goes on while somebody waits for it is over soon after nobody waits any more', async () => {
		const saved = asleep();
		void sleep(700).then(() => (saved.root = stopped));
		expect(await result(saved, 30_000)).toMatchObject({ done: 'ended', isOver: true, afterMs: 1_000 });
	});

	test('work that goes on while somebody waits for it is over at once where the execution is stopped', async () => {
		const outcome = await result(asleep(), 30_000, ({ stop }) => void sleep(100).then(() => stop.abort()));
		expect(outcome).toMatchObject({ done: 'ended', isOver: true, afterMs: 100, reads: 0 });
	});

	test('work that fails while somebody waits for it asks nobody any more', async () => {
		const of = world(asleep());
		const failing = async () => await Promise.reject(new Error('no luck'));
		await expect(whileParentsWait(of.context, of.parents, failing)).rejects.toThrow('no luck');
		await jest.advanceTimersByTimeAsync(60_000);
		expect(of.reads).toEqual([]);
	});
});

describe('the outermost execution that waits', () => {
	test.each<[string, string | undefined, Saved, { mode?: string; isCalled?: boolean }]>([
		['nobody has called it', undefined, {}, { isCalled: false }],
		['it is a retry: whoever called the first try has ended', 'own', asleep(), { mode: 'retry' }],
		['all around it wait', undefined, asleep(), {}],
		['the nearest has failed', 'own', { ...asleep(), parent: failed }, {}],
		['the nearest has failed without a reason', 'own', { ...asleep(), parent: stopped }, {}],
		['the one around the nearest has failed', 'parent', { ...asleep(), root: failed }, {}],
		['the nearest was stopped', undefined, { ...asleep(), parent: endedBy('manual') }, {}],
		['the time of the nearest was over', undefined, { ...asleep(), parent: endedBy('timeout') }, {}],
		['one around it is not saved', undefined, { ...asleep(), parent: undefined }, {}],
		['the next does not wait', undefined, { ...asleep(), parent: calledBy('root', false), root: stopped }, {}],
	])('where %s, the outermost execution that waits is %s', async (_, expected, saved, options) => {
		expect(await outermostOf(world(saved, options).context)).toBe(expected);
	});

	test('the outermost execution that waits is not looked for in a circle for ever', async () => {
		const { context, reads } = world({ parent: calledBy('root'), root: calledBy('parent') });
		expect(await outermostOf(context)).toBeUndefined();
		expect(reads).toHaveLength(100);
	});

	test('who is around the outermost execution that waits is not asked', async () => {
		const saved: Saved = { ...asleep(), root: stopped };
		expect((await world(saved).ask()).result).toBe(true);
		const { ask } = world(saved, { outermost: 'parent' });
		expect(await ask()).toEqual({ result: false, reads: ['own', 'parent'] });
		saved.parent = stopped;
		expect((await ask({ now: true })).result).toBe(true);
	});

	test('nobody waits for those around the outermost execution to fall asleep', async () => {
		const saved: Saved = { parent: { ...asleepFor('own'), ...calledBy('root') }, root: {} };
		const { parents, readIn } = world(saved, { outermost: 'parent' });
		expect((await readIn(async () => await parents.untilAsleep())).reads).toEqual(['parent']);
	});
});
