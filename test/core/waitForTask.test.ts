import { GatewayError } from '../../core/errors';
import type { HttpResponse } from '../../core/http/types';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { makeOrder } from '../../core/orders/states';
import { generationTasks } from '../../core/orders/generationTasks';
import { waitForTask } from '../../core/polling/waitForTask';
import type { PollStatus } from '../../core/polling/pollTarget';
import { describe as describeError } from '../../core/errors/describe';
import { fakeClock, HTML, json, scriptedClient, sharedClock, trouble } from './support';

type Poll = Partial<PollStatus> | GatewayError;

/** A task whose polls are these. */
const pendingTask = (
	fetch: () => Promise<PollStatus>,
	toFailure = () => new GatewayError('taskFailed', 'The service could not finish task task-1'),
	status: string | null = 'queued',
) => ({
	thing: 'task' as const,
	task: { taskId: 'task-1', status: status ?? undefined, elapsedMs: 0 },
	fetch,
	statusOf: (record: PollStatus) => record,
	toFailure,
});

/** Nothing learned, and no line of requests. */
const alone = () => {
	const table = new SurvivalTable();
	return { survivalTable: () => table, backlogMs: () => 0 };
};

/** Waits for a task whose polls give these in turn; the last one again and again. */
function wait(
	polls: Poll[],
	options: {
		timeoutMs?: number;
		intervalMs?: number;
		acceptedAtMs?: number;
		status?: string | null;
		signal?: AbortSignal;
	} = {},
) {
	const clock = fakeClock();
	const startedAtMs = clock.at;
	let taken = 0;
	const retries: string[] = [];
	const ended = waitForTask(
		pendingTask(
			async () => {
				const poll = polls[Math.min(taken++, polls.length - 1)];
				if (poll instanceof GatewayError) throw poll;
				return { state: 'pending', status: 'in_progress', ...poll };
			},
			undefined,
			options.status,
		),
		{
			...alone(),
			clock,
			onTimeout: 'error',
			startedAtMs: clock.at,
			acceptedAtMs: 'acceptedAtMs' in options ? options.acceptedAtMs : clock.at,
			timeoutMs: options.timeoutMs ?? 600_000,
			plan: { kind: 'fixed', intervalMs: options.intervalMs ?? 10_000 },
			signal: options.signal,
			watcher: { begun: () => {}, retrying: ({ kind }) => retries.push(kind) },
		},
	).then(
		({ record }) => ({ record, error: undefined }),
		(error: GatewayError) => ({ record: undefined, error }),
	);
	return { clock, startedAtMs, ended, polls: () => taken, retries: () => retries };
}

describe('waitForTask', () => {
	test.each(['unreachable', 'unavailable', 'rateLimited'] as const)(
		'a wait rides out %s until the task is done',
		async (kind) => {
			const { ended, polls } = wait([trouble(kind), {}, trouble(kind), { state: 'done', status: 'completed' }]);
			expect((await ended).record?.state).toBe('done');
			expect(polls()).toBe(4);
		},
	);

	describe.each([
		[400, 'rejected'],
		[401, 'authentication'],
		[402, 'balance'],
		[403, 'permission'],
		[405, 'rejected'],
		[410, 'rejected'],
		[422, 'contentPolicy'],
	] as const)('%i for a poll', (httpStatus, kind) => {
		const refused = trouble(kind, { httpStatus });

		test('is ridden out where the task is known to be accepted', async () => {
			const passing = wait([refused, refused, {}, refused, { state: 'done' }]);
			expect((await passing.ended).record?.state).toBe('done');
			expect(passing.retries()).toEqual([kind, kind, kind]);
		});

		test('is final after two minutes without another answer of a task that was seen, and names it', async () => {
			const lasting = wait([{ progress: 30 }, refused]);
			const { error } = await lasting.ended;
			expect(error?.kind).toBe(kind);
			expect(error?.message).toContain('task-1');
			expect(error?.task).toMatchObject({ taskId: 'task-1', status: 'in_progress', progress: 30, elapsedMs: 140_000 });
			expect(lasting.polls()).toBe(14);
		});

		test('is ridden out where only the time of the acceptance is known', async () => {
			const accepted = wait([refused, { state: 'done' }], { status: null });
			expect((await accepted.ended).record?.state).toBe('done');
		});

		test('is told at once where nothing has been answered about the task', async () => {
			const unknown = wait([refused, { state: 'done' }], { acceptedAtMs: undefined, status: null });
			expect((await unknown.ended).error?.kind).toBe(kind);
			expect(unknown.polls()).toBe(1);
		});

		test('is ridden out once there was an answer', async () => {
			const answered = wait([{}, refused, { state: 'done' }], { acceptedAtMs: undefined, status: null });
			expect((await answered.ended).record?.state).toBe('done');
			// Before a sleep, say.
			const before = wait([refused, { state: 'done' }], { acceptedAtMs: undefined, status: 'in_progress' });
			expect((await before.ended).record?.state).toBe('done');
		});
	});

	test.each([409, 423, 425])(
		'%i for a poll means that the task is there, also where nothing is known of it',
		async (httpStatus) => {
			const locked = trouble('rejected', { httpStatus });
			const waiting = wait([locked, { state: 'done' }], { acceptedAtMs: undefined, status: null });
			expect((await waiting.ended).record?.state).toBe('done');
		},
	);

	test('the grace for a refusal grows with the age of a task that was seen', async () => {
		const refused = trouble('permission', { httpStatus: 403 });
		const seen = Array.from({ length: 90 }, () => ({}));
		const lasting = wait([...seen, refused], { timeoutMs: 7_200_000 });
		expect((await lasting.ended).error?.kind).toBe('permission');
		// It was 910 s old then.
		expect(lasting.clock.at - lasting.startedAtMs).toBe(910_000 * 1.25);
	});

	describe.each([
		['a redirect', trouble('unexpectedAnswer', { httpStatus: 301 })],
		['a page', trouble('unexpectedAnswer', { httpStatus: 200 })],
		['a no without a reason', trouble('rejected', { httpStatus: 200, serviceMessage: 'Try no. 5' })],
		['an answer without a status', trouble('unavailable', { httpStatus: 200 })],
	])('%s in the place of a status', (_, error) => {
		test('is ridden out while it may pass', async () => {
			expect((await wait([error, error, error, { state: 'done' }]).ended).record?.state).toBe('done');
		});

		test('ends the wait when it has stayed the same for three minutes and five polls', async () => {
			const often = wait([error]);
			expect((await often.ended).error).toMatchObject({ kind: error.kind, task: { taskId: 'task-1' } });
			expect(often.clock.at - often.startedAtMs).toBe(10_000 + 180_000);
			const rarely = wait([error], { intervalMs: 60_000, timeoutMs: 7_200_000 });
			expect((await rarely.ended).error?.kind).toBe(error.kind);
			expect(rarely.polls()).toBe(5);
		});

		test('counts anew after any other answer', async () => {
			const other = trouble('unavailable', { httpStatus: 503 });
			const fifteen = Array.from({ length: 15 }, () => error);
			const passing = wait([...fifteen, other, ...fifteen, {}, ...fifteen, { state: 'done' }]);
			expect((await passing.ended).record?.state).toBe('done');
		});
	});

	test('an answer whose words differ in numbers and IDs only is the same', async () => {
		const error = (number: number) =>
			trouble('rejected', { httpStatus: 200, serviceMessage: `Request ${number}0ab12cd34ef failed at ${number} s` });
		const waiting = wait(Array.from({ length: 60 }, (_, index) => error(index)));
		expect((await waiting.ended).error?.kind).toBe('rejected');
		expect(waiting.clock.at - waiting.startedAtMs).toBe(10_000 + 180_000);
	});

	const lost = trouble('notFound');
	const MS_OF_404 = 30_000;

	test('a 404 ends the wait when nothing else was answered for 30 s', async () => {
		const early = wait([lost, lost, { state: 'done' }]);
		expect((await early.ended).record?.state).toBe('done');
		const late = wait([lost]);
		expect((await late.ended).error?.kind).toBe('notFound');
		expect([late.polls(), late.clock.at - late.startedAtMs]).toEqual([4, 10_000 + MS_OF_404]);
	});

	test('a 404 of a task that was long known, or is polled late, may pass, too: it is asked for once more at the end', async () => {
		const passing = wait([{}, lost, { state: 'done' }], { intervalMs: 60_000 });
		expect((await passing.ended).record?.state).toBe('done');
		// Its status was seen, so it may take two minutes.
		expect(passing.clock.at - passing.startedAtMs).toBe(180_000);
		const gone = wait([lost], { intervalMs: 60_000 });
		expect((await gone.ended).error?.kind).toBe('notFound');
		expect([gone.polls(), gone.clock.at - gone.startedAtMs]).toEqual([2, 60_000 + MS_OF_404]);
	});

	test('a 404 counts anew after anything else, and trouble after it is polled with the usual pauses', async () => {
		const known = wait([lost, lost, {}, lost, lost, lost, { state: 'done' }]);
		expect((await known.ended).record?.state).toBe('done');
		const unavailable = trouble('unavailable');
		const failing = wait([lost, lost, lost, unavailable, lost, lost, lost, { state: 'done' }]);
		expect((await failing.ended).record?.state).toBe('done');
		const down = wait([lost, unavailable], { timeoutMs: 200_000 });
		expect((await down.ended).error?.kind).toBe('taskTimedOut');
		expect(down.polls()).toBe(20);
	});

	test('a failed task names itself, and nothing sleeps after a final status', async () => {
		const { ended, clock, polls } = wait([{ state: 'failed', status: 'failed', progress: 80 }]);
		expect((await ended).error?.task).toMatchObject({ taskId: 'task-1', status: 'failed', progress: 80 });
		expect([clock.slept.length, polls()]).toEqual([1, 1]);
	});

	test('the deadline is polled once, and then the error names task, state and how to go on', async () => {
		const { ended, clock, polls } = wait([{ progress: 12 }], { timeoutMs: 25_000 });
		const { error } = await ended;
		expect(error?.kind).toBe('taskTimedOut');
		expect(error?.message).toBe('Task task-1 has not finished within 25 s (last status: in_progress, 12 %)');
		expect(describeError(error!)).toMatch(/Wait for Task/);
		expect(error?.task).toEqual({ taskId: 'task-1', status: 'in_progress', progress: 12, elapsedMs: 25_000 });
		expect(polls()).toBe(3);
		expect(clock.at).toBe(1_025_000);
	});

	test('Retry-After wins over the plan of polls, unless it lies past the deadline: then the wait ends now', async () => {
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
	] as const)('a task whose deadline is over is polled once all the same: %j', async (poll, kind) => {
		const { ended, clock, polls } = wait([poll], { timeoutMs: 0 });
		expect((await ended).error?.kind).toBe(kind);
		expect([polls(), clock.at]).toEqual([1, 1_000_000]);
	});

	test('a task that was accepted earlier is polled as soon as the plan says, the timeout counts from now', async () => {
		const { ended, clock, polls } = wait([{ progress: 12 }], { acceptedAtMs: 1_000_000 - 7_000, timeoutMs: 25_000 });
		expect((await ended).error?.kind).toBe('taskTimedOut');
		expect(clock.slept).toEqual([3_000, 10_000, 10_000, 2_000]);
		expect(polls()).toBe(4);
	});

	test.each([
		[
			'its age from the record: half done after 50 s, which one reading does not make certain',
			1_000_000 - 50_000,
			[15, 30],
		],
		['a clock that is ahead: as from acceptance', 1_000_000 + 50_000, [4, 5]],
		['a clock that is days off: as from acceptance', -1_000_000_000, [4, 5]],
		['no age: as from acceptance', undefined, [4, 5]],
	])('a task of unknown age is polled at once, then by plan: %s', async (_, createdAtMs, [fromS, toS]) => {
		const clock = fakeClock();
		const looksS: number[] = [];
		const poll = async () => {
			looksS.push((clock.at - 1_000_000) / 1000);
			return {
				state: looksS.length > 1 ? ('done' as const) : ('pending' as const),
				status: 'in_progress',
				progress: 50,
				createdAtMs,
			};
		};
		await waitForTask(pendingTask(poll), {
			...alone(),
			clock,
			startedAtMs: clock.at,
			timeoutMs: 200_000,
			plan: { kind: 'automatic' },
			onTimeout: 'error',
		});
		expect(looksS).toHaveLength(2);
		expect(looksS[0]).toBe(0);
		expect(looksS[1]).toBeGreaterThan(fromS);
		expect(looksS[1]).toBeLessThan(toS);
	});

	test('a stop in the middle of a pause ends a wait at that moment', async () => {
		const clock = sharedClock();
		const stop = new AbortController();
		const read = jest.fn();
		const waiting = waitForTask(pendingTask(read), {
			...alone(),
			clock,
			signal: stop.signal,
			onTimeout: 'error',
			startedAtMs: clock.at,
			acceptedAtMs: clock.at,
			timeoutMs: 600_000,
			plan: { kind: 'fixed', intervalMs: 60_000 },
		});
		const stopping = clock.sleep(2_000).then(() => stop.abort());
		await expect(clock.run(waiting)).rejects.toMatchObject({ kind: 'stopped', task: { taskId: 'task-1' } });
		await stopping;
		expect(clock.at).toBe(1_002_000);
		expect(read).not.toHaveBeenCalled();
	});

	test('a stop ends a wait before the next poll, with the task', async () => {
		const stop = new AbortController();
		stop.abort();
		const { ended, polls } = wait([{}], { signal: stop.signal });
		expect((await ended).error).toMatchObject({ kind: 'stopped', task: { taskId: 'task-1' } });
		expect(polls()).toBe(0);
	});
});

describe('waiting for the answers of the service', () => {
	const waitFor = async (answers: Array<HttpResponse | string>, timeoutMs = 600_000) => {
		const { client, clock, sent } = scriptedClient(answers);
		const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
		const order = makeOrder({ item: 0, thing: 'task', kind: 'video', then: 'poll', task });
		const target = generationTasks(client).target!(order, task);
		const options = {
			...alone(),
			clock,
			timeoutMs,
			onTimeout: 'error',
			startedAtMs: clock.at,
			acceptedAtMs: clock.at,
			plan: { kind: 'automatic' },
		} as const;
		const outcome = await waitForTask(target, options).then(
			({ record }) => record?.status,
			(error: GatewayError) => error,
		);
		return { outcome, polls: sent.length, elapsedMs: clock.at - 1_000_000 };
	};
	const done = json(200, { id: 'task-1', status: 'completed' });

	test.each<[string, HttpResponse | string]>([
		['no connection', 'ECONNREFUSED'],
		['a reset', 'ECONNRESET'],
		['a time-out', 'ECONNABORTED'],
		['408', json(408, '')],
		['429', json(429, {})],
		['500', json(500, { error: { code: 'internal_error', message: 'x' } })],
		['502 as a page', json(502, HTML)],
		['503 as a page', json(503, HTML)],
		['504 as a page', json(504, HTML)],
		['a page instead of JSON', json(200, HTML)],
		['truncated JSON', json(200, '{"id":"task-1","status":"comp')],
		['no status', json(200, {})],
		['success: false', json(200, { success: false, message: 'busy' })],
		['404 right after creation', json(404, { error: { code: 'task_not_found', message: 'x' } })],
		['404 in other words', json(400, { code: 'task_not_exist', message: 'task_not_exist', data: null })],
		['an unknown status word', json(200, { id: 'task-1', status: 'hibernating' })],
	])('a wait rides out the answer %s', async (_, answer) => {
		expect(await waitFor([answer, answer, done])).toMatchObject({ outcome: 'completed', polls: 3 });
	});

	test.each([
		[{ success: false, id: 'task-1', status: 'failed', error: { code: 'generation_failed', message: 'x' } }],
		[{ success: false, message: 'x', data: { task_id: 'task-1', status: 'FAILED' } }],
	])('a failed task that comes with success: false is final: %j', async (body) => {
		const { outcome, polls } = await waitFor([json(200, body)]);
		expect(outcome).toMatchObject({ kind: 'taskFailed' });
		expect(polls).toBe(1);
	});

	test.each([
		[{ success: false, status: 'error', message: 'busy' }],
		[{ success: false, id: 'request-7', status: 'failed' }],
	])('success: false without the ID of the task says nothing of the task: %j', async (body) => {
		expect(await waitFor([json(200, body), done])).toMatchObject({ outcome: 'completed', polls: 2 });
	});

	test('trouble to the end is told at the deadline, with what it was', async () => {
		const { outcome, elapsedMs } = await waitFor(
			[json(200, { id: 'task-1', status: 'Running', progress: 0 }), json(502, HTML)],
			60_000,
		);
		expect(outcome).toMatchObject({
			kind: 'taskTimedOut',
			task: { taskId: 'task-1', status: 'Running', elapsedMs: 60_000 },
		});
		expect(describeError(outcome as GatewayError)).toMatch(/service is not available/);
		expect(elapsedMs).toBe(60_000);
	});

	test.each([
		[401, 'authentication'],
		[402, 'balance'],
		[403, 'permission'],
	])(
		'a poll that is answered with %i is asked again for 30 s, then it is final and names the task',
		async (status, kind) => {
			const refused = json(status, { message: 'x' });
			expect(await waitFor([refused, refused, done])).toMatchObject({ outcome: 'completed' });
			const { outcome, elapsedMs } = await waitFor([refused]);
			expect(outcome).toMatchObject({ kind, task: { taskId: 'task-1' } });
			expect((outcome as GatewayError).message).toContain('task-1');
			expect(elapsedMs).toBeGreaterThanOrEqual(30_000);
			expect(elapsedMs).toBeLessThan(45_000);
		},
	);

	test('a Retry-After past the deadline ends a wait now', async () => {
		const { outcome, elapsedMs } = await waitFor([json(429, {}, { 'retry-after': '3600' }), done]);
		expect(outcome).toMatchObject({ kind: 'taskTimedOut' });
		expect(elapsedMs).toBeLessThan(10_000);
	});
});
