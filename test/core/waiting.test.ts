/** The end of a wait: its result, its error, and the lesson for the survival table. */
import { stoppedError, type GatewayError } from '../../core/errors';
import { BINS, SurvivalTable } from '../../core/polling/survivalTable';
import { MAX_POLLS, type KeptWait, type Poll } from '../../core/polling/planner';
import { waitForTask, type WaitOptions } from '../../core/polling/waitForTask';
import type { PollTarget, PollStatus } from '../../core/polling/pollTarget';
import { fakeClock, trouble } from './support';

type Seen = Partial<PollStatus> | GatewayError;
const START_MS = 1_000_000;
const sharesOf = (table: SurvivalTable) => BINS.map((_, index) => table.shareFinished(index));
const isNew = (table: SurvivalTable) =>
	sharesOf(table).every((share, index) => Math.abs(share - new SurvivalTable().shareFinished(index)) < 1e-9);

/** A wait, every 10 s, that sees these in turn; the last one again and again. `requestMs`: how long each poll takes. */
function wait(
	seen: Seen[],
	more: Partial<WaitOptions> = {},
	{
		classifyError,
		requestMs = 0,
		onLook,
	}: {
		classifyError?: PollTarget<PollStatus>['classifyError'];
		requestMs?: number;
		onLook?: (poll: number) => unknown;
	} = {},
) {
	const clock = fakeClock();
	const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
	const table = new SurvivalTable();
	const looksS: number[] = [];
	const ended = waitForTask<PollStatus>(
		{
			thing: 'task',
			task,
			fetch: async () => {
				looksS.push((clock.at - START_MS) / 1000);
				clock.at += requestMs;
				onLook?.(looksS.length);
				const poll = seen[Math.min(looksS.length, seen.length) - 1];
				if (poll instanceof Error) throw poll;
				return { state: 'pending', status: 'in_progress', ...poll };
			},
			statusOf: (record) => record,
			toFailure: () => trouble('taskFailed'),
			classifyError,
		},
		{
			survivalTable: () => table,
			backlogMs: () => 0,
			clock,
			onTimeout: 'error',
			startedAtMs: clock.at,
			acceptedAtMs: clock.at,
			timeoutMs: 600_000,
			plan: { kind: 'fixed', intervalMs: 10_000 },
			...more,
		},
	);
	const outcome = ended.then(
		(waited) => ({ waited, error: undefined }),
		(error: GatewayError) => ({ waited: undefined, error }),
	);
	return { clock, task, table, looksS, outcome };
}

describe('what a wait returns', () => {
	test('a wait returns the record of a finished task, and how long the waiting took', async () => {
		const done = { state: 'done', status: 'completed', progress: 100 } as const;
		const { outcome, task } = wait([{ progress: 30 }, done], { startedAtMs: START_MS - 5_000 }, { requestMs: 200 });
		expect((await outcome).waited).toEqual({ record: done, timedOut: false, waitedMs: 25_200 });
		expect(task).toEqual({ taskId: 'task-1', status: 'completed', progress: 100, elapsedMs: 25_000 });
	});

	test('a wait that may time out returns what was seen last, and that it is not the end', async () => {
		const { outcome, table } = wait([{ progress: 30 }, { progress: 40 }], { onTimeout: 'return', timeoutMs: 25_000 });
		expect((await outcome).waited).toEqual({
			record: { state: 'pending', status: 'in_progress', progress: 40 },
			trouble: undefined,
			timedOut: true,
			waitedMs: 25_000,
		});
		// Whether it would have finished soon, nobody knows.
		expect([table.running, isNew(table)]).toEqual([0, true]);
	});

	test('a wait returns why the last poll got no answer', async () => {
		const lost = trouble('unreachable');
		expect(
			(await wait([{ progress: 30 }, lost], { onTimeout: 'return', timeoutMs: 25_000 }).outcome).waited,
		).toMatchObject({ record: { progress: 30 }, trouble: lost, timedOut: true });
		expect((await wait([lost], { onTimeout: 'return', timeoutMs: 5_000 }).outcome).waited).toEqual({
			record: undefined,
			trouble: lost,
			timedOut: true,
			waitedMs: 5_000,
		});
		expect(
			(await wait([lost, {}], { onTimeout: 'return', timeoutMs: 20_000 }).outcome).waited?.trouble,
		).toBeUndefined();
	});

	test('a wait that may time out also returns where the service asks for more time than there is', async () => {
		const { outcome, looksS } = wait([{ retryAfterMs: 100_000 }], { onTimeout: 'return', timeoutMs: 60_000 });
		expect((await outcome).waited).toMatchObject({ timedOut: true, waitedMs: 10_000 });
		expect(looksS).toEqual([10]);
	});
});

describe('what the service asks for', () => {
	test.each<[string, number, number[]]>([
		['ends before the deadline: it is waited for', 49_999, [10, 59.999, 60]],
		['ends at the deadline: that is too late', 50_000, [10]],
	])('a pause that the service asks for %s', async (_, retryAfterMs, looksS) => {
		const one = wait([{ retryAfterMs }, {}], { timeoutMs: 60_000 });
		expect((await one.outcome).error?.kind).toBe('taskTimedOut');
		expect(one.looksS).toEqual(looksS);
	});

	test('a pause that the service asks for counts from its answer, and is said where it ends the wait', async () => {
		for (const seen of [{ retryAfterMs: 90_000 }, trouble('rateLimited', { retryAfterMs: 90_000 })]) {
			const { error } = await wait([seen], { timeoutMs: 60_000 }, { requestMs: 2_000 }).outcome;
			expect(error?.details.reason).toEqual({
				name: 'timedOutEarly',
				data: { thing: 'task', id: 'task-1', asked: '1 min 30 s', left: '48 s' },
			});
			expect(error?.task).toMatchObject({ taskId: 'task-1', elapsedMs: 10_000 });
		}
	});

	test('a pause that the service asks for is over with the next answer that does not ask', async () => {
		const { looksS, outcome } = wait([
			trouble('rateLimited', { retryAfterMs: 25_000 }),
			trouble('unavailable'),
			{ retryAfterMs: 15_000 },
			{},
			{ state: 'done' },
		]);
		await outcome;
		expect(looksS).toEqual([10, 35, 40, 55, 60]);
	});
});

describe('the time of a poll', () => {
	test('an interval is kept, a plan is made anew each second: what others teach may bring the poll forward', async () => {
		const sleeps = async (plan: WaitOptions['plan']) => {
			const clock = fakeClock();
			const asked = new Set<number | undefined>();
			const { sleep } = clock;
			clock.sleep = async (ms, signal, atMostMs) => (asked.add(atMostMs), await sleep(ms, signal, atMostMs));
			await wait([{ state: 'done' }], { clock, plan, startedAtMs: clock.at, acceptedAtMs: clock.at }).outcome;
			return [...asked];
		};
		expect(await sleeps({ kind: 'automatic' })).toEqual([1_000]);
		expect(await sleeps({ kind: 'fixed', intervalMs: 10_000 })).toEqual([undefined]);
	});

	test.each([
		[0.9, 9.9991],
		[1, 10],
	])('a timer that is %d ms early does for a poll, unless that is a whole millisecond', async (earlyMs, atS) => {
		const clock = fakeClock();
		const { sleep } = clock;
		let early = earlyMs;
		clock.sleep = async (ms, signal) => {
			await sleep(ms - early, signal);
			early = 0;
		};
		const pollsMs: number[] = [];
		await waitForTask<PollStatus>(
			{
				thing: 'task',
				task: { taskId: 'task-1', elapsedMs: 0 },
				fetch: async () => (pollsMs.push(clock.at - START_MS), { state: 'done', status: '' }),
				statusOf: (record) => record,
				toFailure: () => trouble('taskFailed'),
			},
			{
				survivalTable: () => new SurvivalTable(),
				backlogMs: () => 0,
				clock,
				onTimeout: 'error',
				startedAtMs: clock.at,
				acceptedAtMs: clock.at,
				timeoutMs: 600_000,
				plan: { kind: 'fixed', intervalMs: 10_000 },
			},
		);
		expect(pollsMs).toEqual([expect.closeTo(1_000 * atS, 3)]);
	});

	test.each<[string, number | undefined, number]>([
		['its age is known', 12_000, 2],
		['it is said to be of this moment', 0, 7],
		['it is said to be a day old, which nobody believes', 86_400_000, 7],
		['it is said to be a little less than that', 86_399_000, 2],
		['nothing is said', undefined, 7],
	])('a task of unknown age is polled first, and then at the multiples of its age: %s', async (_, ageMs, secondS) => {
		const { looksS, outcome } = wait(
			[{ createdAtMs: ageMs === undefined ? undefined : START_MS - ageMs, model: 'm' }, { state: 'done' }],
			{ acceptedAtMs: undefined, plan: { kind: 'fixed', intervalMs: 7_000 } },
		);
		await outcome;
		expect(looksS).toEqual([0, secondS]);
	});

	test('a task of unknown age whose first poll gets no answer counts from the beginning of the wait', async () => {
		const { looksS, outcome } = wait([trouble('unavailable'), {}, { state: 'done' }], {
			acceptedAtMs: undefined,
			startedAtMs: START_MS - 3_000,
		});
		await outcome;
		expect(looksS).toEqual([0, 7, 17]);
	});
});

describe('what a wait teaches', () => {
	/** The counts of a table after a task that was seen running at these ages, and finished at this one. */
	const lesson = (pendingMs: number[], finishedMs?: number) => {
		const table = new SurvivalTable();
		const life = table.begin();
		for (const ageMs of pendingMs) life.pending(ageMs);
		if (finishedMs !== undefined) life.finished(finishedMs);
		return sharesOf(table);
	};

	test('a wait teaches between which polls the task has finished; a poll without an answer says nothing of that', async () => {
		const { table, outcome } = wait([{}, trouble('unavailable'), { state: 'done' }]);
		await outcome;
		expect(sharesOf(table)).toEqual(lesson([10_000], 30_000));
		expect(table.running).toBe(0);
	});

	test('a wait teaches the end of a task that has failed, too', async () => {
		const { table, outcome } = wait([{}, { state: 'failed' }]);
		expect((await outcome).error?.kind).toBe('taskFailed');
		expect(sharesOf(table)).toEqual(lesson([10_000], 20_000));
	});

	test('a wait teaches that a task still runs while it is waited for', async () => {
		const seen: boolean[] = [];
		const one = wait([{}, {}, trouble('rejected')], {}, { onLook: () => seen.push(isNew(one.table)) });
		await one.outcome;
		expect(seen).toEqual([true, false, false]);
		expect([one.table.running, isNew(one.table)]).toEqual([0, true]);
	});

	test('a wait teaches nothing of a task that had ended before: nobody knows when', async () => {
		const { table, outcome } = wait([{ state: 'done' }], { acceptedAtMs: undefined });
		expect((await outcome).waited).toMatchObject({ timedOut: false, waitedMs: 0 });
		expect([table.running, isNew(table)]).toEqual([0, true]);
	});

	test('a wait teaches the table of the model that the first answer names', async () => {
		const asked: Array<string | undefined> = [];
		const survivalTable = (model?: string) => (asked.push(model), new SurvivalTable());
		await wait([{ model: 'm' }, { model: 'n' }, { state: 'done' }], { acceptedAtMs: undefined, survivalTable }).outcome;
		await wait([trouble('unavailable'), { model: 'm' }, { state: 'done' }], { acceptedAtMs: undefined, survivalTable })
			.outcome;
		await wait([{ model: 'm' }, { state: 'done' }], { survivalTable }).outcome;
		expect(asked).toEqual(['m', undefined, undefined]);
	});

	test('a part of a wait teaches the later part what was seen', async () => {
		const polls: Poll[] = [{ atMs: 4_000, progress: 10 }];
		const { outcome } = wait([{ progress: 30 }, trouble('unavailable'), { state: 'done' }], { kept: { polls } });
		await outcome;
		expect(polls).toEqual([
			{ atMs: 4_000, progress: 10 },
			{ atMs: 10_000, progress: 30 },
			{ atMs: 20_000, failed: true },
		]);
	});

	test('only the latest polls are kept', async () => {
		const kept: KeptWait = {};
		await wait([...Array<object>(MAX_POLLS + 3).fill({}), { state: 'done' }], { kept }).outcome;
		expect(kept.polls?.map(({ atMs }) => atMs / 10_000)).toEqual(
			Array.from({ length: MAX_POLLS }, (_, index) => index + 4),
		);
	});

	test('where nobody knows when it was accepted, earlier polls do not count', async () => {
		const kept = { polls: [{ atMs: 5_000, progress: 90 }] };
		await wait([{ state: 'done' }], { acceptedAtMs: undefined, kept }).outcome;
		expect(kept.polls).toEqual([]);
	});

	test('what is kept goes by the clock of the computer, whatever that of the wait shows, also when it is set', async () => {
		const kept: KeptWait = {};
		const stop = new AbortController();
		const wallClock = { now: () => 5_000 };
		const onLook = (poll: number) => {
			wallClock.now = () => 9_000_000;
			if (poll === 2) stop.abort();
		};
		const first = wait([{ retryAfterMs: 300_000 }, {}], { kept, wallClock, signal: stop.signal }, { onLook });
		await first.outcome;
		expect(first.looksS).toEqual([10, 310]);
		expect(kept.notBeforeMs).toBe(9_300_000);
		const until = { notBeforeMs: 9_200_000 };
		const later = wait([{}, { state: 'done' }], { kept: until, wallClock, acceptedAtMs: undefined });
		await later.outcome;
		expect(later.looksS).toEqual([200, 210]);
	});

	test('a pause that the service has asked for is kept, and holds for the later part', async () => {
		const kept: KeptWait = {};
		const stop = new AbortController();
		const onLook = (poll: number) => poll === 2 && stop.abort();
		await wait([{ retryAfterMs: 300_000 }, {}], { kept, signal: stop.signal }, { onLook }).outcome;
		expect(kept.notBeforeMs).toBe(START_MS + 310_000);
		await wait([{ state: 'done' }], { kept }).outcome;
		expect(kept.notBeforeMs).toBeUndefined();
		const later = wait([{}, { state: 'done' }], { kept: { notBeforeMs: START_MS + 200_000 }, acceptedAtMs: undefined });
		await later.outcome;
		expect(later.looksS).toEqual([200, 210]);
	});

	describe('a refused task that is accepted', () => {
		const refused = trouble('permission', { httpStatus: 403 });

		test('is asked for 30 s in all, also where the execution sleeps meanwhile', async () => {
			const kept: KeptWait = {};
			const stop = new AbortController();
			const onLook = (poll: number) => poll === 3 && stop.abort();
			await wait([refused, refused, {}], { kept, signal: stop.signal }, { onLook }).outcome;
			expect(kept.contradictedSinceMs).toBe(START_MS + 10_000);
			const since = { contradictedSinceMs: START_MS - 5_000 };
			const later = wait([refused], { kept: since });
			expect((await later.outcome).error).toMatchObject({ kind: 'permission' });
			expect(later.looksS).toEqual([10, 20, 25]);
			const asleepForLong = wait([refused], { kept: { contradictedSinceMs: START_MS - 500_000 } });
			await asleepForLong.outcome;
			expect(asleepForLong.looksS).toEqual([0]);
		});

		test('goes by the clock of the computer where it sleeps, and begins again where that was set back', async () => {
			const wallClock = { now: () => 9_000_000 };
			const later = wait([refused], { kept: { contradictedSinceMs: 8_985_000 }, wallClock });
			await later.outcome;
			expect(later.looksS).toEqual([10, 15]);
			const ahead: KeptWait = { contradictedSinceMs: 99_000_000 };
			const setBack = wait([refused], { kept: ahead, wallClock });
			await setBack.outcome;
			expect(setBack.looksS).toEqual([10, 20, 30, 40]);
			expect(ahead.contradictedSinceMs).toBe(9_010_000);
		});

		test('is forgotten after another answer, of whatever kind', async () => {
			for (const other of [{}, trouble('unavailable')]) {
				const kept: KeptWait = { contradictedSinceMs: START_MS };
				const stop = new AbortController();
				const onLook = (poll: number) => poll === 2 && stop.abort();
				await wait([other, {}], { kept, signal: stop.signal }, { onLook }).outcome;
				expect(kept).not.toHaveProperty('contradictedSinceMs');
			}
		});

		test.each([
			['503', 'authentication', { httpStatus: 503, retryAfterMs: 50_000 }, [10, 60, 110, 160]],
			['429', 'balance', { httpStatus: 429, retryAfterMs: 50_000 }, [10, 60, 110, 160]],
			['502', 'notFound', { httpStatus: 502 }, [10, 20, 30, 40]],
		] as const)(
			'is a temporary problem where the status is %s, whatever the words (%s)',
			async (_, kind, details, looks) => {
				const odd = wait([trouble(kind, details)], { timeoutMs: 600_000 });
				expect((await odd.outcome).error).toMatchObject({ kind: 'taskTimedOut' });
				expect(odd.looksS.slice(0, 4)).toEqual(looks);
				expect(odd.looksS.length).toBeLessThan(62);
			},
		);

		test.each(['error', 'return'] as const)(
			'is what a wait ends with where its deadline comes first, whatever On Timeout is: %s',
			async (onTimeout) => {
				const soon = wait([{}, refused], { timeoutMs: 35_000, onTimeout });
				expect((await soon.outcome).error).toMatchObject({ kind: 'permission', task: { taskId: 'task-1' } });
				expect(soon.looksS).toEqual([10, 20, 30, 35]);
				const asked = wait([trouble('balance', { retryAfterMs: 3_600_000 })], { timeoutMs: 35_000, onTimeout });
				expect((await asked.outcome).error).toMatchObject({ kind: 'balance' });
				const asleep = { contradictedSinceMs: START_MS - 1_000, notBeforeMs: START_MS + 50_000 };
				const unasked = wait([refused], { timeoutMs: 35_000, onTimeout, kept: asleep });
				expect((await unasked.outcome).error?.kind).toBe(onTimeout === 'error' ? 'taskTimedOut' : undefined);
				const lost = wait([trouble('notFound')], { timeoutMs: 35_000, onTimeout });
				const { error, waited } = await lost.outcome;
				expect([error?.kind, waited?.timedOut]).toEqual(
					onTimeout === 'error' ? ['taskTimedOut', undefined] : [undefined, true],
				);
				const busy = wait([refused, trouble('unavailable')], { timeoutMs: 35_000, onTimeout });
				expect((await busy.outcome).error?.kind).toBe(onTimeout === 'error' ? 'taskTimedOut' : undefined);
			},
		);

		test('is told after 30 s, whatever pause the service asks for', async () => {
			const asked = wait([trouble('balance', { httpStatus: 402, retryAfterMs: 3_600_000 })]);
			expect((await asked.outcome).error).toMatchObject({ kind: 'balance' });
			expect(asked.looksS).toEqual([10, 40]);
			const briefly = wait([trouble('balance', { httpStatus: 402, retryAfterMs: 14_000 })]);
			await briefly.outcome;
			expect(briefly.looksS).toEqual([10, 24, 38, 40]);
		});
	});

	test('a wait teaches nothing of what had finished before its first poll would have come', async () => {
		const late = wait([{ state: 'done' }], { acceptedAtMs: START_MS - 300_000 });
		await late.outcome;
		expect(isNew(late.table)).toBe(true);
		const early = wait([{ state: 'done' }], { acceptedAtMs: START_MS - 400 });
		await early.outcome;
		expect(isNew(early.table)).toBe(false);
	});
});

test('a wait that another clock has begun an hour from now is planned from the first answer: earlier polls do not count', async () => {
	const polls = [{ atMs: 5_000, progress: 90 }];
	const { looksS, outcome } = wait([{}, { state: 'done' }], { acceptedAtMs: START_MS + 3_600_000, kept: { polls } });
	expect((await outcome).waited?.timedOut).toBe(false);
	expect(looksS).toEqual([0, 10]);
	expect(polls).toEqual([{ atMs: 0, progress: undefined }]);
});

describe('what a poll without an answer means', () => {
	test('a poll without an answer ends with the error that its kind of thing says', async () => {
		const { error } = await wait([trouble('rejected')], {}, { classifyError: () => trouble('notFound') }).outcome;
		expect(error).toMatchObject({ kind: 'notFound', task: { taskId: 'task-1', elapsedMs: 10_000 } });
	});

	test('a poll without an answer passes where its kind of thing says so: it has not finished, and that is known', async () => {
		const { looksS, table, outcome } = wait(
			[trouble('rejected'), trouble('rejected'), { state: 'done' }],
			{},
			{ classifyError: () => 'passing' },
		);
		expect((await outcome).waited?.timedOut).toBe(false);
		expect(looksS).toEqual([10, 20, 30]);
		const expected = new SurvivalTable();
		const life = expected.begin();
		life.pending(20_000);
		life.finished(30_000);
		expect(sharesOf(table)).toEqual(sharesOf(expected));
	});

	test('the half minute in which a thing may not be found begins when its kind does not let that pass any more', async () => {
		let polls = 0;
		const { outcome } = wait(
			[trouble('notFound'), trouble('notFound'), { state: 'done' }],
			{ plan: { kind: 'fixed', intervalMs: 40_000 } },
			{ classifyError: () => (polls++ === 0 ? 'passing' : undefined) },
		);
		expect((await outcome).error).toBeUndefined();
	});

	test('a kind of thing is told when the wait has first polled, and when now', async () => {
		const times: object[] = [];
		const classifyError = (_: GatewayError, poll: object) => (times.push(poll), 'passing' as const);
		await wait([trouble('rejected'), trouble('rejected'), { state: 'done' }], {}, { classifyError, requestMs: 100 })
			.outcome;
		expect(times).toEqual([
			{ atMs: START_MS + 10_000, firstAtMs: START_MS + 10_000 },
			{ atMs: START_MS + 20_000, firstAtMs: START_MS + 10_000 },
		]);
	});

	test.each([
		[29_999, undefined],
		[30_000, 'notFound'],
	])(
		'a task that is not found passes for half a minute: %d ms after the first poll the error is %s',
		async (intervalMs, kind) => {
			const { outcome } = wait([trouble('notFound'), trouble('notFound'), { state: 'done' }], {
				plan: { kind: 'fixed', intervalMs },
			});
			expect((await outcome).error?.kind).toBe(kind);
		},
	);

	test('an error that names a task is not about this poll', async () => {
		const named = trouble('unavailable', { task: { taskId: 'other', elapsedMs: 0 } });
		expect((await wait([named, { state: 'done' }]).outcome).error).toBe(named);
	});

	test('the words of the service are quoted at the deadline', async () => {
		const lost = trouble('unavailable', { serviceMessage: 'w', serviceCode: 'c' });
		const { error } = await wait([{ progress: 30 }, lost], { timeoutMs: 25_000 }).outcome;
		expect(error?.details).toMatchObject({
			reason: {
				name: 'timedOut',
				data: { thing: 'task', id: 'task-1', after: '25 s', status: 'in_progress', progress: 30, trouble: 'x' },
			},
			serviceMessage: 'w',
			serviceCode: 'c',
		});
	});
});

describe('a stop', () => {
	test.each<[string, Seen]>([
		['whose answer is good', { state: 'done' }],
		['whose answer is bad', trouble('authentication')],
		['without an answer', trouble('unavailable')],
	])('a stop during a poll %s ends the wait, with the task', async (_, seen) => {
		const stop = new AbortController();
		const { outcome, looksS, table } = wait([seen], { signal: stop.signal }, { onLook: () => stop.abort() });
		expect((await outcome).error).toMatchObject({ kind: 'stopped', task: { taskId: 'task-1', elapsedMs: 10_000 } });
		expect(looksS).toHaveLength(1);
		expect(table.running).toBe(0);
	});

	test('a stop that a poll reports is a stop', async () => {
		expect((await wait([stoppedError()]).outcome).error).toMatchObject({
			kind: 'stopped',
			message: 'The execution was stopped',
			task: { taskId: 'task-1' },
		});
	});

	test('a stop ends a wait of unknown age as well', async () => {
		const stop = new AbortController();
		stop.abort();
		expect((await wait([{}], { signal: stop.signal, acceptedAtMs: undefined }).outcome).error?.kind).toBe('stopped');
	});
});
