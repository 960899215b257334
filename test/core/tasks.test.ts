import { stringify } from 'flatted';
import { GatewayError, type GatewayErrorKind } from '../../core/errors';
import type { HttpResponse } from '../../core/http/types';
import { RequestLimiter } from '../../core/http/requestLimiter';
import { LifeTable } from '../../core/polling/lifeTable';
import { generationTask } from '../../core/tasks/generationTask';
import { TaskLedger } from '../../core/tasks/ledger';
import { DELIVERIES_IN_PARALLEL, runTasks, type TaskJob } from '../../core/tasks/runTasks';
import { waitForTask, type Watched } from '../../core/tasks/waitForTask';
import { describe as describeError } from '../../nodes/errors/advice';
import { deferred, fakeClock, HTML, json, scriptedClient, settle, sharedClock } from './support';

type Look = Partial<Watched> | GatewayError;
const trouble = (kind: GatewayErrorKind, details = {}) => new GatewayError(kind, 'x', details);

/** A task whose looks are these. */
const pendingTask = (fetch: () => Promise<Watched>, toFailure = () => new GatewayError('taskFailed', 'The service could not finish task task-1')) => ({
	thing: 'task' as const,
	task: { taskId: 'task-1', status: 'queued', elapsedMs: 0 },
	fetch,
	watch: (record: Watched) => record,
	toFailure,
});

/** Nothing learned, and no line of requests. */
const alone = () => {
	const table = new LifeTable();
	return { lifeTable: () => table, backlogMs: () => 0 };
};

/** Waits for a task whose looks give these in turn; the last one again and again. */
function wait(looks: Look[], options: { timeoutMs?: number; intervalMs?: number; acceptedAtMs?: number; signal?: AbortSignal } = {}) {
	const clock = fakeClock();
	let taken = 0;
	const ended = waitForTask(pendingTask(async () => {
			const look = looks[Math.min(taken++, looks.length - 1)];
			if (look instanceof GatewayError) throw look;
			return { state: 'pending', status: 'in_progress', ...look };
		}), {
		...alone(),
		clock,
		onTimeout: 'error',
		startedAtMs: clock.at,
		acceptedAtMs: 'acceptedAtMs' in options ? options.acceptedAtMs : clock.at,
		timeoutMs: options.timeoutMs ?? 600_000,
		plan: { kind: 'fixed', intervalMs: options.intervalMs ?? 10_000 },
		signal: options.signal,
	}).then(({ record }) => ({ record, error: undefined }), (error: GatewayError) => ({ record: undefined, error }));
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
		expect(describeError(error!)).toMatch(/Wait for Task/);
		expect(error?.task).toEqual({ taskId: 'task-1', status: 'in_progress', progress: 12, elapsedMs: 25_000 });
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

	test.each([
		[{ state: 'done', status: 'completed' }, undefined],
		[{ status: 'queued' }, 'taskTimedOut'],
	] as const)('a task whose deadline is over is looked at once all the same: %j', async (look, kind) => {
		const { ended, clock, looks } = wait([look], { timeoutMs: 0 });
		expect((await ended).error?.kind).toBe(kind);
		expect([looks(), clock.at]).toEqual([1, 1_000_000]);
	});

	test('a task that was accepted earlier is looked at as soon as the plan says, the timeout counts from now', async () => {
		const { ended, clock, looks } = wait([{ progress: 12 }], { acceptedAtMs: 1_000_000 - 7_000, timeoutMs: 25_000 });
		expect((await ended).error?.kind).toBe('taskTimedOut');
		expect(clock.slept).toEqual([3_000, 10_000, 10_000, 2_000]);
		expect(looks()).toBe(4);
	});

	test.each([
		['its age from the record: half done after 50 s, which one reading does not make certain', 1_000_000 - 50_000, [15, 30]],
		['a clock that is ahead: as from acceptance', 1_000_000 + 50_000, [4, 5]],
		['a clock that is days off: as from acceptance', -1_000_000_000, [4, 5]],
		['no age: as from acceptance', undefined, [4, 5]],
	])('a task of unknown age is looked at at once, then by plan: %s', async (_, createdAtMs, [fromS, toS]) => {
		const clock = fakeClock();
		const looksS: number[] = [];
		const look = async () => {
			looksS.push((clock.at - 1_000_000) / 1000);
			return { state: looksS.length > 1 ? ('done' as const) : ('pending' as const), status: 'in_progress', progress: 50, createdAtMs };
		};
		await waitForTask(pendingTask(look), { ...alone(), clock, startedAtMs: clock.at, timeoutMs: 200_000, plan: { kind: 'automatic' }, onTimeout: 'error' });
		expect(looksS).toHaveLength(2);
		expect(looksS[0]).toBe(0);
		expect(looksS[1]).toBeGreaterThan(fromS);
		expect(looksS[1]).toBeLessThan(toS);
	});

	test('a stop in the middle of a pause ends it at that moment', async () => {
		const clock = sharedClock();
		const stop = new AbortController();
		const read = jest.fn();
		const waiting = waitForTask(pendingTask(read), {
			...alone(), clock, signal: stop.signal, onTimeout: 'error',
			startedAtMs: clock.at, acceptedAtMs: clock.at, timeoutMs: 600_000, plan: { kind: 'fixed', intervalMs: 60_000 },
		});
		const stopping = clock.sleep(2_000).then(() => stop.abort());
		await expect(clock.run(waiting)).rejects.toMatchObject({ kind: 'stopped', task: { taskId: 'task-1' } });
		await stopping;
		expect(clock.at).toBe(1_002_000);
		expect(read).not.toHaveBeenCalled();
	});

	test('a stop ends it before the next look, with the task', async () => {
		const stop = new AbortController();
		stop.abort();
		const { ended, looks } = wait([{}], { signal: stop.signal });
		expect((await ended).error).toMatchObject({ kind: 'stopped', task: { taskId: 'task-1' } });
		expect(looks()).toBe(0);
	});
});

describe('waiting for the answers of the service', () => {
	const waitFor = async (answers: Array<HttpResponse | string>, timeoutMs = 600_000) => {
		const { client, clock, sent } = scriptedClient(answers);
		const target = generationTask({ taskId: 'task-1', status: 'queued', elapsedMs: 0 }, async () => await client.fetchTask('video', 'task-1'));
		const options = { ...alone(), clock, timeoutMs, onTimeout: 'error', startedAtMs: clock.at, acceptedAtMs: clock.at, plan: { kind: 'automatic' } } as const;
		const outcome = await waitForTask(target, options).then(({ record }) => record?.status, (error: GatewayError) => error);
		return { outcome, looks: sent.length, elapsedMs: clock.at - 1_000_000 };
	};
	const done = json(200, { id: 'task-1', status: 'completed' });

	test.each<[string, HttpResponse | string]>([
		['no connection', 'ECONNREFUSED'], ['a reset', 'ECONNRESET'], ['a time-out', 'ECONNABORTED'],
		['408', json(408, '')], ['429', json(429, {})], ['500', json(500, { error: { code: 'internal_error', message: 'x' } })],
		['502 as a page', json(502, HTML)], ['503 as a page', json(503, HTML)], ['504 as a page', json(504, HTML)],
		['a page instead of JSON', json(200, HTML)], ['truncated JSON', json(200, '{"id":"task-1","status":"comp')],
		['no status', json(200, {})], ['success: false', json(200, { success: false, message: 'busy' })],
		['404 right after creation', json(404, { error: { code: 'task_not_found', message: 'x' } })],
		['an unknown status word', json(200, { id: 'task-1', status: 'hibernating' })],
	])('%s is ridden out', async (_, answer) => {
		expect(await waitFor([answer, answer, done])).toMatchObject({ outcome: 'completed', looks: 3 });
	});

	test.each([
		[{ success: false, id: 'task-1', status: 'failed', error: { code: 'generation_failed', message: 'x' } }],
		[{ success: false, message: 'x', data: { task_id: 'task-1', status: 'FAILED' } }],
	])('a failed task that comes with success: false is final: %j', async (body) => {
		const { outcome, looks } = await waitFor([json(200, body)]);
		expect(outcome).toMatchObject({ kind: 'taskFailed' });
		expect(looks).toBe(1);
	});

	test.each([[{ success: false, status: 'error', message: 'busy' }], [{ success: false, id: 'request-7', status: 'failed' }]])(
		'success: false without the ID of the task says nothing of the task: %j',
		async (body) => {
			expect(await waitFor([json(200, body), done])).toMatchObject({ outcome: 'completed', looks: 2 });
		},
	);

	test('trouble to the end is told at the deadline, with what it was', async () => {
		const { outcome, elapsedMs } = await waitFor([json(200, { id: 'task-1', status: 'Running', progress: 0 }), json(502, HTML)], 60_000);
		expect(outcome).toMatchObject({ kind: 'taskTimedOut', task: { taskId: 'task-1', status: 'Running', elapsedMs: 60_000 } });
		expect(describeError(outcome as GatewayError)).toMatch(/service is not available/);
		expect(elapsedMs).toBe(60_000);
	});

	test.each([[401, 'authentication'], [402, 'balance'], [403, 'permission']])('%i is final and names the task', async (status, kind) => {
		const { outcome, looks } = await waitFor([json(status, { message: 'x' }), done]);
		expect(outcome).toMatchObject({ kind, task: { taskId: 'task-1' } });
		expect((outcome as GatewayError).message).toContain('task-1');
		expect(looks).toBe(1);
	});

	test('a Retry-After past the deadline ends it now', async () => {
		const { outcome, elapsedMs } = await waitFor([json(429, {}, { 'retry-after': '3600' }), done]);
		expect(outcome).toMatchObject({ kind: 'taskTimedOut' });
		expect(elapsedMs).toBeLessThan(10_000);
	});
});

describe('runTasks', () => {
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

	test('once it has given up, no further job begins', async () => {
		const late = jest.fn(async () => 'late');
		const outcomes = await runTasks([{ run: async () => await Promise.reject(trouble('notFound')) }, { run: late }, { run: late }], { concurrency: 1, continueOnError: false });
		expect(late).not.toHaveBeenCalled();
		expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual(['notFound', 'notSubmitted', 'notSubmitted']);
	});

	test('other errors leave the rest alone when it continues', async () => {
		const outcomes = await runTasks([{ run: async () => await Promise.reject(trouble('taskFailed')) }, { run: async () => 'ok' }], { concurrency: 1, continueOnError: true });
		expect(outcomes.map(({ ok }) => ok)).toEqual([false, true]);
	});

	test('what was still being prepared when another item failed is not submitted', async () => {
		const upload = deferred<void>();
		const answer = deferred<string>();
		const submit = jest.fn(async () => 'task-2');
		const running = runTasks<string>(
			[
				{ run: async ({ submitting }) => await submitting(async () => await answer.promise) },
				{ run: async ({ submitting }) => await upload.promise.then(async () => await submitting(submit)) },
				{ run: async () => await Promise.reject(trouble('taskFailed')) },
				{ run: async ({ submitting }) => await submitting(submit) },
			],
			{ concurrency: 3, continueOnError: false },
		);
		await settle();
		upload.resolve();
		await settle();
		answer.resolve('task-1');
		const outcomes = await running;
		expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual([false, 'notSubmitted', 'taskFailed', 'notSubmitted']);
		expect(submit).not.toHaveBeenCalled();
	});

	test('after a stop nothing is submitted any more', async () => {
		const stop = new AbortController();
		const upload = deferred<void>();
		const submit = jest.fn(async () => 'task-1');
		const job: TaskJob<string> = { run: async ({ submitting }) => await upload.promise.then(async () => await submitting(submit)) };
		const running = runTasks([job, job, job], { concurrency: 2, continueOnError: true, signal: stop.signal });
		await settle();
		stop.abort();
		upload.resolve();
		expect((await running).map((outcome) => !outcome.ok && outcome.error.kind)).toEqual(['stopped', 'stopped', 'stopped']);
		await settle();
		expect(submit).not.toHaveBeenCalled();
	});

	test('many tasks take as long as the slowest one, however they are mixed', async () => {
		const clock = sharedClock();
		const jobs = Array.from({ length: 50 }, (_, index): TaskJob<number> => ({
			run: async () => await clock.sleep(1000 * (1 + ((index * 7) % 50))).then(() => index),
		}));
		const outcomes = await clock.run(runTasks(jobs, { concurrency: 50, continueOnError: false }));
		expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual([...jobs.keys()]);
		expect(clock.at - 1_000_000).toBe(50_000);
	});

	describe('deliveries', () => {
		const TASK_MS = 1_000;
		const DELIVERY_MS = 60_000;
		const START_MS = 1_000_000;
		/** Jobs that submit, wait and deliver; `log` says what happened when, in seconds from the start. */
		const batch = (count: number, options: { concurrency: number; continueOnError?: boolean; signal?: AbortSignal }, deliver?: (index: number) => Promise<unknown>) => {
			const clock = sharedClock();
			const log: string[] = [];
			const note = (what: string) => log.push(`${(clock.at - START_MS) / 1000} s: ${what}`);
			let delivering = 0;
			const seen = { peak: 0 };
			const jobs = Array.from({ length: count }, (_, index): TaskJob<number> => ({
				run: async (controls) => {
					await controls.submitting(async () => note(`task ${index}`));
					await clock.sleep(TASK_MS, controls.signal);
					return await controls.delivering(async () => {
						note(`delivery ${index}`);
						seen.peak = Math.max(seen.peak, ++delivering);
						await (deliver?.(index) ?? clock.sleep(DELIVERY_MS, controls.signal));
						delivering--;
						return index;
					});
				},
			}));
			const running = runTasks(jobs, { continueOnError: false, ...options });
			return { clock, log, seen, running };
		};

		test('hold no task back: the next one is submitted while the first is delivered', async () => {
			const { clock, log, running } = batch(3, { concurrency: 1 });
			const outcomes = await clock.run(running);
			expect(log).toEqual(['0 s: task 0', '1 s: delivery 0', '1 s: task 1', '2 s: delivery 1', '2 s: task 2', '3 s: delivery 2']);
			expect(outcomes).toEqual([0, 1, 2].map((value) => ({ ok: true, value })));
		});

		test('run in parallel only in small numbers, in the order in which the tasks end', async () => {
			const count = 3 * DELIVERIES_IN_PARALLEL;
			const { clock, log, seen, running } = batch(count, { concurrency: count });
			const outcomes = await clock.run(running);
			expect(seen.peak).toBe(DELIVERIES_IN_PARALLEL);
			expect(clock.at - START_MS).toBe(TASK_MS + 3 * DELIVERY_MS);
			expect(log.slice(count).map((line) => line.split('delivery ')[1])).toEqual(Array.from({ length: count }, (_, index) => String(index)));
			expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual([...outcomes.keys()]);
		});

		test('a stop ends those that run and those that wait for their turn at that moment, and none begins after it', async () => {
			const stop = new AbortController();
			const count = DELIVERIES_IN_PARALLEL + 2;
			const first = deferred<void>();
			const { clock, log, running } = batch(count, { concurrency: count, continueOnError: true, signal: stop.signal }, async () => await first.promise);
			const stopping = clock.sleep(5_000).then(() => stop.abort());
			const outcomes = await clock.run(running);
			await stopping;
			expect(clock.at - START_MS).toBe(5_000);
			expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual(Array.from({ length: count }, () => 'stopped'));
			first.resolve();
			await settle();
			expect(log.filter((line) => line.includes('delivery'))).toHaveLength(DELIVERIES_IN_PARALLEL);
		});

		test('one that ends badly ends the others, and holds back the tasks that have not been submitted', async () => {
			const { clock, log, running } = batch(6, { concurrency: 1 }, async (index) => {
				if (index === 0) await clock.sleep(2_500);
				if (index === 0) throw trouble('download');
				await new Promise(() => {});
			});
			const outcomes = await clock.run(running);
			expect(clock.at - START_MS).toBe(TASK_MS + 2_500);
			expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual(['download', 'stopped', 'stopped', 'stopped', 'notSubmitted', 'notSubmitted']);
			expect(log.filter((line) => line.includes('task'))).toHaveLength(4);
		});

		test('one that ends badly gives its turn on when the batch continues', async () => {
			const count = DELIVERIES_IN_PARALLEL + 1;
			const { clock, running } = batch(count, { concurrency: count, continueOnError: true }, async (index) => {
				if (index < DELIVERIES_IN_PARALLEL) throw trouble('download');
			});
			const outcomes = await clock.run(running);
			expect(outcomes.map(({ ok }) => ok)).toEqual([...Array.from({ length: DELIVERIES_IN_PARALLEL }, () => false), true]);
		});
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

	test('a thousand accepted tasks add less than 300 kB to the execution data', () => {
		const store = {};
		const ledger = open(store, '1234567');
		for (let item = 0; item < 1000; item++) {
			const unique = String(item).padStart(4, '0');
			ledger.accepted(item, `${unique}${'h'.repeat(18)}`, `task_${unique}${'x'.repeat(32)}`, 1_795_253_083_867 + item);
		}
		// As n8n keeps it, and as plain JSON.
		const context = { contextData: { 'node:Gateway Image Generation': store } };
		expect(stringify(context).length).toBeLessThan(300_000);
		expect(JSON.stringify(context).length).toBeLessThan(300_000);
		expect(JSON.stringify(context).length).toBeGreaterThan(60_000);
	});
});

describe('RequestLimiter', () => {
	test('however many may leave, there is a break after a few in a row: n8n has others to answer', async () => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(10_000, clock);
		const leftAtMs = new Map<number, number>();
		const requests = Array.from({ length: 200 }, async () => await limiter.acquire().then(() => leftAtMs.set(clock.at, (leftAtMs.get(clock.at) ?? 0) + 1)));
		await clock.run(Promise.all(requests));
		expect(Math.max(...leftAtMs.values())).toBeLessThanOrEqual(10);
		expect(leftAtMs.size).toBeLessThanOrEqual(50);
	});

	/** The moments, in milliseconds, at which requests that all want to go at once may go. */
	const pass = async (count: number, perSecond: number, during: (limiter: RequestLimiter, clock: ReturnType<typeof sharedClock>) => Promise<void> = async () => {}) => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(perSecond, clock);
		const times: number[] = [];
		const requests = Array.from({ length: count }, async () => await limiter.acquire().then(() => times.push(clock.at - 1_000_000)));
		await clock.run(Promise.all([...requests, during(limiter, clock)]));
		return times;
	};
	const busiestSecond = (times: number[]) => Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));

	test.each([100, 60, 10, 3, 2, 1])('at %i per second no second ever sees more, and 95 %% of it is reached for as long as there is work', async (perSecond) => {
		const times = await pass(perSecond * 20, perSecond);
		expect(busiestSecond(times)).toBeLessThanOrEqual(perSecond);
		const sustained = (times.length - perSecond) / ((times.at(-1) as number) - (times[perSecond - 1] as number));
		expect(sustained * 1000).toBeGreaterThanOrEqual(0.95 * perSecond);
	});

	test('half a request more than one is one: no second ever sees more than the option', async () => {
		expect(busiestSecond(await pass(10, 1.5))).toBe(1);
	});

	test('saves up no more than that while nothing is sent', async () => {
		const clock = sharedClock();
		const limiter = new RequestLimiter(60, clock);
		clock.at += 3_600_000;
		const times: number[] = [];
		await clock.run(Promise.all(Array.from({ length: 100 }, async () => await limiter.acquire().then(() => times.push(clock.at)))));
		expect(busiestSecond(times)).toBeLessThanOrEqual(60);
	});

	test('a hold stops also those that were waiting for their turn', async () => {
		const times = await pass(60, 10, async (limiter, clock) => {
			await clock.sleep(1000);
			limiter.holdBack(5000);
		});
		expect(times.filter((at) => at > 1000 && at < 6000)).toEqual([]);
		expect(times).toHaveLength(60);
		expect(busiestSecond(times)).toBeLessThanOrEqual(10);
	});

	test('a hold lasts a minute at most, so that the tasks behind it meet their deadlines', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(10, clock);
		limiter.holdBack(3_600_000);
		await limiter.acquire();
		expect(clock.at).toBe(1_060_000);
	});

	test('a stop ends the waiting for a turn', async () => {
		const clock = sharedClock();
		const stop = new AbortController();
		const limiter = new RequestLimiter(10, clock);
		limiter.holdBack(30_000);
		const waiting = limiter.acquire(stop.signal);
		stop.abort();
		await waiting;
		expect(clock.at).toBe(1_000_000);
	});

	test('good answers bring the pace back', async () => {
		const clock = fakeClock();
		const limiter = new RequestLimiter(10, clock);
		limiter.holdBack(10_000);
		for (let i = 0; i < 20; i++) limiter.recover();
		await limiter.acquire();
		await limiter.acquire();
		expect(clock.at).toBe(1_010_050);
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
