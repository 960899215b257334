import { GatewayError, type GatewayErrorKind } from '../../core/errors';
import { RequestLimiter } from '../../core/requestLimiter';
import { TaskLedger } from '../../core/tasks/ledger';
import { nextLookDelayMs } from '../../core/tasks/pollSchedule';
import { runTasks, type TaskJob } from '../../core/tasks/runTasks';
import { waitForTask, type Watched } from '../../core/tasks/waitForTask';
import { fakeClock } from './support';

type Look = Partial<Watched> | GatewayError;
const trouble = (kind: GatewayErrorKind, details = {}) => new GatewayError(kind, 'x', details);

/** Waits for a task whose looks give these in turn; the last one again and again. */
function wait(looks: Look[], options: { timeoutMs?: number; intervalMs?: number; signal?: AbortSignal } = {}) {
	const clock = fakeClock();
	let taken = 0;
	const ended = waitForTask<Watched>({
		taskId: 'task-1',
		clock,
		startedAtMs: clock.at,
		timeoutMs: options.timeoutMs ?? 600_000,
		plan: { kind: 'fixed', intervalMs: options.intervalMs ?? 10_000 },
		signal: options.signal,
		read: async () => {
			const look = looks[Math.min(taken++, looks.length - 1)];
			if (look instanceof GatewayError) throw look;
			return { state: 'pending', status: 'in_progress', ...look };
		},
		watch: (record) => record,
		explainFailure: () => new GatewayError('taskFailed', 'The service could not finish task task-1'),
	}).then((record) => ({ record, error: undefined }), (error: GatewayError) => ({ record: undefined, error }));
	return { clock, ended, looks: () => taken };
}

describe('waitForTask', () => {
	test.each(['unreachable', 'unavailable', 'rateLimited'] as const)('rides out %s until the task is done', async (kind) => {
		const { ended, looks } = wait([trouble(kind), {}, trouble(kind), { state: 'done', status: 'completed' }]);
		expect((await ended).record?.state).toBe('done');
		expect(looks()).toBe(4);
	});

	test.each(['authentication', 'balance', 'permission', 'rejected'] as const)('%s is final and names the task', async (kind) => {
		const { error } = await wait([{ progress: 30 }, trouble(kind, { httpStatus: 401 })]).ended;
		expect(error?.kind).toBe(kind);
		expect(error?.message).toContain('task-1');
		expect(error?.task).toMatchObject({ taskId: 'task-1', status: 'in_progress', progress: 30, elapsedMs: 20_000 });
	});

	test('not found is ridden out for 30 s, and final after that', async () => {
		const early = wait([trouble('notFound'), trouble('notFound'), { state: 'done' }]);
		expect((await early.ended).record?.state).toBe('done');
		const late = wait([trouble('notFound')]);
		expect((await late.ended).error?.kind).toBe('notFound');
		expect(late.looks()).toBe(3);
	});

	test('a failed task names itself, and nothing sleeps after a final status', async () => {
		const { ended, clock, looks } = wait([{ state: 'failed', status: 'failed', progress: 80 }]);
		expect((await ended).error?.task).toMatchObject({ taskId: 'task-1', status: 'failed', progress: 80 });
		expect([clock.slept.length, looks()]).toEqual([1, 1]);
	});

	test('the deadline is looked at once, and then the error names task, state and how to go on', async () => {
		const { ended, clock, looks } = wait([{ progress: 12 }], { timeoutMs: 25_000 });
		const { error } = await ended;
		expect(error?.kind).toBe('taskTimedOut');
		expect(error?.message).toBe('Task task-1 has not finished within 25 s (last status: in_progress, 12 %)');
		expect(error?.description).toMatch(/Wait for Task/);
		expect(looks()).toBe(3);
		expect(clock.at).toBe(1_025_000);
	});

	test('Retry-After wins over the plan, unless it lies past the deadline: then it ends now', async () => {
		const patient = wait([trouble('rateLimited', { retryAfterMs: 60_000 }), { state: 'done' }]);
		await patient.ended;
		expect(patient.clock.slept).toEqual([10_000, 60_000]);
		const record = wait([{ retryAfterMs: 20_000 }, { state: 'done' }]);
		await record.ended;
		expect(record.clock.slept).toEqual([10_000, 20_000]);
		const hopeless = wait([trouble('rateLimited', { retryAfterMs: 3_600_000 })]);
		expect((await hopeless.ended).error).toMatchObject({ kind: 'taskTimedOut', task: { taskId: 'task-1' } });
		expect(hopeless.clock.slept).toEqual([10_000]);
	});

	test('a stop ends it before the next look, with the task', async () => {
		const stop = new AbortController();
		stop.abort();
		const { ended, looks } = wait([{}], { signal: stop.signal });
		expect((await ended).error).toMatchObject({ kind: 'stopped', task: { taskId: 'task-1' } });
		expect(looks()).toBe(0);
	});
});

describe('runTasks', () => {
	const deferred = <T>() => {
		let resolve!: (value: T) => void;
		let reject!: (error: unknown) => void;
		const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
		return { promise, resolve, reject };
	};
	const settle = async () => {
		for (let i = 0; i < 20; i++) await Promise.resolve();
	};

	test('keeps the order of the jobs and the cap', async () => {
		let running = 0;
		let peak = 0;
		const jobs = Array.from({ length: 9 }, (_, index): TaskJob<number> => ({
			run: async () => {
				peak = Math.max(peak, ++running);
				for (let i = 0; i < 10 - index; i++) await Promise.resolve();
				running--;
				return index;
			},
		}));
		const outcomes = await runTasks(jobs, { concurrency: 3, continueOnError: false });
		expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
		expect(peak).toBe(3);
	});

	test('gives up at once, but lets a submission in flight answer first', async () => {
		const answer = deferred<string>();
		let repeatEnded = false;
		const ids: string[] = [];
		const jobs: Array<TaskJob<string>> = [
			{
				run: async ({ submitting }) => {
					ids.push(await submitting(async (noRepeat) => {
						noRepeat.addEventListener('abort', () => (repeatEnded = true));
						return await answer.promise;
					}));
					return await new Promise(() => {});
				},
			},
			{ run: async () => await Promise.reject(trouble('taskFailed')) },
			{ run: async () => await new Promise(() => {}) },
		];
		let done = false;
		const running = runTasks(jobs, { concurrency: 3, continueOnError: false }).then((outcomes) => {
			done = true;
			return outcomes;
		});
		await settle();
		expect([done, repeatEnded]).toEqual([false, true]);
		answer.resolve('task-9');
		const outcomes = await running;
		expect(ids).toEqual(['task-9']);
		expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual(['stopped', 'taskFailed', 'stopped']);
	});

	test.each(['authentication', 'balance', 'permission'] as const)('after %s nothing more is submitted, also when it continues', async (kind) => {
		let submitted = 0;
		const job = (fails: boolean): TaskJob<string> => ({
			run: async ({ submitting }) =>
				await submitting(async () => {
					submitted++;
					if (fails) throw trouble(kind);
					return 'ok';
				}),
		});
		const outcomes = await runTasks([job(false), job(true), job(false), job(false)], { concurrency: 1, continueOnError: true });
		expect(outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error.kind))).toEqual(['ok', kind, 'notSubmitted', 'notSubmitted']);
		expect(submitted).toBe(2);
	});

	test('other errors leave the rest alone when it continues', async () => {
		const outcomes = await runTasks([{ run: async () => await Promise.reject(trouble('taskFailed')) }, { run: async () => 'ok' }], { concurrency: 1, continueOnError: true });
		expect(outcomes.map(({ ok }) => ok)).toEqual([false, true]);
	});

	test('a stop ends jobs that do not notice it', async () => {
		const stop = new AbortController();
		const running = runTasks([{ run: async () => await new Promise(() => {}) }], { concurrency: 1, continueOnError: true, signal: stop.signal });
		stop.abort();
		const [outcome] = await running;
		expect(outcome).toMatchObject({ ok: false, error: { kind: 'stopped' } });
	});
});

describe('TaskLedger', () => {
	const open = (store: Record<string, unknown>, executionId = 'e1', runIndex = 0) => new TaskLedger({ store, executionId, runIndex });

	test('within one execution the item alone decides; in a retried execution the request decides too', () => {
		const store = {};
		open(store).accepted(0, 'hash-a', 'task-1', 5);
		expect(open(store).find(0, 'hash-b')?.taskId).toBe('task-1');
		expect(open(store, 'e2').find(0, 'hash-b')).toBeUndefined();
		expect(open(store, 'e2').find(0, 'hash-a')?.taskId).toBe('task-1');
		// From then on it belongs to that execution.
		expect(open(store, 'e2').find(0, 'hash-b')?.taskId).toBe('task-1');
	});

	test('loops and other items are separate purchases', () => {
		const store = {};
		open(store).accepted(0, 'h', 'task-1', 5);
		expect(open(store, 'e1', 1).find(0, 'h')).toBeUndefined();
		expect(open(store).find(1, 'h')).toBeUndefined();
	});

	test('remembers an unknown outcome, forgets on demand, and leaves nothing behind', () => {
		const store = {};
		const ledger = open(store);
		ledger.outcomeUnknown(0, 'h', 5);
		expect(ledger.find(0, 'h')).toEqual({ hash: 'h', executionId: 'e1', acceptedAtMs: 5 });
		ledger.forget(0);
		expect(ledger.find(0, 'h')).toBeUndefined();
		ledger.accepted(1, 'h', 'task-1', 5);
		ledger.clearRun();
		expect(store).toEqual({});
	});

	test('a thousand items stay small', () => {
		const store = {};
		for (let item = 0; item < 1000; item++) open(store).accepted(item, 'x'.repeat(22), `vid_${'x'.repeat(30)}`, 1_795_253_083_867);
		expect(JSON.stringify(store).length).toBeLessThan(300_000);
	});
});

describe('RequestLimiter', () => {
	test('never passes more than the rate plus its burst within a second', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(40, clock);
		const times: number[] = [];
		for (let i = 0; i < 200; i++) {
			await limiter.acquire();
			times.push(clock.at);
		}
		const busiest = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
		expect(busiest).toBeLessThanOrEqual(61);
		expect(clock.at - 1_000_000).toBeGreaterThan(4000);
		expect(clock.at - 1_000_000).toBeLessThan(5000);
	});

	test('a 429 holds back everything, and what follows goes at half the pace', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(10, clock);
		limiter.holdBack(30_000);
		await limiter.acquire();
		expect(clock.at).toBe(1_030_000);
		await limiter.acquire();
		expect(clock.at).toBe(1_030_200);
	});
});

describe('nextLookDelayMs', () => {
	const automatic = (looks: Array<[number, number?]>, at: number) =>
		nextLookDelayMs(looks.map(([seconds, progress]) => ({ atMs: seconds * 1000, progress })), at * 1000, { kind: 'automatic' }, () => 0) / 1000;

	test('a fixed plan is fixed', () => {
		expect(nextLookDelayMs([{ atMs: 5000, progress: 50 }], 5000, { kind: 'fixed', intervalMs: 7000 }, () => 1)).toBe(7000);
	});

	test('a steady task is looked at just behind its expected end', () => {
		const delay = automatic([[5, 10], [25, 50]], 25);
		expect(delay).toBeGreaterThan(25);
		expect(delay).toBeLessThan(27);
	});

	test('never less than a second, and within a minute', () => {
		expect(automatic([[50, 97], [51, 98]], 51)).toBeGreaterThanOrEqual(1);
		expect(automatic([[600, 2], [1200, 4]], 1200)).toBeLessThanOrEqual(62);
	});
});
