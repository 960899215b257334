/** A wait for a task: the answers that pass, those that end it and when, its deadline, and its pace. */
import type { GatewayError } from '../../core/errors';
import { describe as describeError } from '../../core/errors/describe';
import type { HttpResponse } from '../../core/http/types';
import { taskTarget } from '../../core/engine/advance';
import { makeOrder } from '../../core/orders/states';
import { waitForTask } from '../../core/polling/waitForTask';
import type { KeptWait, PollStatus, PollTarget, WaitOptions } from '../../core/polling/waitForTask';
import { usualMs } from '../../core/polling/planner';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { fakeClock, HTML, json, scriptedClient, trouble } from './support';

type Seen = Partial<PollStatus> | GatewayError;
const START_MS = 1_000_000;
const DONE = { state: 'done', status: 'completed' } as const;

interface More extends Partial<WaitOptions> {
	intervalMs?: number;
	/** The status of the task that is known before the wait. */
	status?: string;
	classifyError?: PollTarget<PollStatus>['classifyError'];
	/** Each poll takes so long. */
	requestMs?: number;
	onLook?: (poll: number) => unknown;
}

/** A wait, every 10 s, that sees these in turn; the last one again and again. */
function wait(seen: Seen[], { intervalMs = 10_000, classifyError, requestMs = 0, onLook, ...more }: More = {}) {
	const clock = fakeClock();
	const task = { taskId: 'task-1', status: 'status' in more ? more.status : 'queued', elapsedMs: 0 };
	const table = new SurvivalTable();
	/** The seconds from the beginning at which it polls. */
	const looksS: number[] = [];
	const retries: string[] = [];
	const target: PollTarget<PollStatus> = {
		thing: 'task',
		task,
		fetch: async () => {
			looksS.push((clock.at - START_MS) / 1000);
			clock.at += requestMs;
			onLook?.(looksS.length);
			const poll = seen[Math.min(looksS.length, seen.length) - 1];
			if (poll instanceof Error) throw poll;
			return await Promise.resolve({ state: 'pending', status: 'in_progress', ...poll });
		},
		statusOf: (record) => record,
		toFailure: () => trouble('taskFailed'),
		classifyError,
	};
	const ended = waitForTask(target, {
		...{ survivalTable: () => table, backlogMs: () => 0, clock, timeoutMs: 600_000 },
		...{ startedAtMs: clock.at, acceptedAtMs: clock.at, plan: { kind: 'fixed', intervalMs } },
		watcher: { begun: () => {}, retrying: ({ kind }) => retries.push(kind) },
		...more,
	});
	const outcome = ended.then(
		(waited) => ({ waited, state: waited.record?.state, error: undefined }),
		(error: GatewayError) => ({ waited: undefined, state: undefined, error }),
	);
	return { clock, task, table, looksS, retries, outcome };
}

const endsWith = async (...given: Parameters<typeof wait>) => {
	const { state, error } = await wait(...given).outcome;
	return error?.kind ?? state;
};

describe('the result of a wait', () => {
	test('a wait returns the record of a finished task, and how long the waiting took', async () => {
		const { outcome, task } = wait([{ progress: 30 }, { ...DONE, progress: 100 }], {
			...{ startedAtMs: START_MS - 5_000, requestMs: 200 },
		});
		expect((await outcome).waited).toEqual({ record: { ...DONE, progress: 100 }, waitedMs: 25_200 });
		expect(task).toEqual({ taskId: 'task-1', status: 'completed', progress: 100, elapsedMs: 25_000 });
	});

	test('a failed task names itself, and nothing waits after a final status', async () => {
		const { outcome, looksS, clock } = wait([{ state: 'failed', status: 'failed', progress: 80 }]);
		expect((await outcome).error).toMatchObject({ kind: 'taskFailed', task: { taskId: 'task-1', progress: 80 } });
		expect([looksS, clock.at]).toEqual([[10], START_MS + 10_000]);
	});

	test('the deadline is polled once, and then the error names task, state and how to go on', async () => {
		const { outcome, looksS } = wait([{ progress: 12 }], { timeoutMs: 25_000 });
		const { error } = await outcome;
		expect(error?.kind).toBe('taskTimedOut');
		expect(error?.message).toBe('Task task-1 has not finished within 25 s (last status: in_progress, 12 %)');
		expect(describeError(error!)).toMatch(/^Raise Timeout/);
		expect(error?.task).toEqual({ taskId: 'task-1', status: 'in_progress', progress: 12, elapsedMs: 25_000 });
		expect(looksS).toEqual([10, 20, 25]);
	});

	test.each<[Seen, RegExp]>([
		[{}, /^It is still running\. /],
		[trouble('unavailable'), /^It may still be running\. .* The last check got no status: x\.$/],
	])('a wait that has timed out says that the task runs only where the last poll said so: %j', async (last, words) => {
		const { error } = await wait([{}, last], { timeoutMs: 15_000 }).outcome;
		expect(describeError(error!, { operation: 'getResult', recovery: 'runAgain' })).toMatch(words);
	});

	test.each([
		[DONE, 'done'],
		[{ status: 'queued' }, 'taskTimedOut'],
	] as const)('a task whose deadline is over is polled once: %j', async (poll, end) => {
		const { outcome, looksS } = wait([poll], { timeoutMs: 0 });
		const { error, state } = await outcome;
		expect([error?.kind ?? state, looksS]).toEqual([end, [0]]);
	});
});

describe('answers that pass', () => {
	const waitFor = async (answers: Array<HttpResponse | string>) => {
		const { client, clock, sent } = scriptedClient(answers);
		const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
		const order = makeOrder({ item: 0, thing: 'task', kind: 'video', then: 'poll', task });
		const table = new SurvivalTable();
		const outcome = await waitForTask(taskTarget(order, task, client), {
			...{ survivalTable: () => table, backlogMs: () => 0, clock, timeoutMs: 600_000 },
			...{ startedAtMs: clock.at, acceptedAtMs: clock.at, plan: { kind: 'automatic' } },
		}).then(
			({ record }) => record?.status,
			(error: GatewayError) => error.kind,
		);
		return [outcome, sent.length];
	};
	const done = json(200, { id: 'task-1', status: 'completed' });

	test.each<[string, HttpResponse | string]>([
		['no connection', 'ECONNREFUSED'],
		['401', json(401, { message: 'x' })],
		['500', json(500, { error: { code: 'internal_error', message: 'x' } })],
		['503 as a page', json(503, HTML)],
		['a page instead of JSON', json(200, HTML)],
		['no status', json(200, {})],
		['success: false', json(200, { success: false, message: 'busy' })],
		[
			'success: false with a status, but without an ID',
			json(200, { success: false, status: 'error', message: 'busy' }),
		],
		['the failure of another task', json(200, { success: false, id: 'request-7', status: 'failed' })],
		['404 right after creation', json(404, { error: { code: 'task_not_found', message: 'x' } })],
		['404 in other words', json(400, { code: 'task_not_exist', message: 'task_not_exist', data: null })],
		['an unknown status word', json(200, { id: 'task-1', status: 'hibernating' })],
	])('a wait rides out the answer %s', async (_, answer) => {
		expect(await waitFor([answer, answer, done])).toEqual(['completed', 3]);
	});

	test.each([
		['503', 'authentication', { httpStatus: 503, retryAfterMs: 50_000 }, [10, 60, 110, 160]],
		['502', 'notFound', { httpStatus: 502 }, [10, 20, 30, 40]],
	] as const)('a refusal is a temporary problem where the status is %s, whatever the words (%s)', async (...row) => {
		const [, kind, details, looksS] = row;
		const odd = wait([trouble(kind, details)]);
		expect((await odd.outcome).error).toMatchObject({ kind: 'taskTimedOut' });
		expect(odd.looksS.slice(0, 4)).toEqual(looksS);
	});

	test.each([409, 410, 423, 425])(
		'%i means that the task is there, also where nothing is known of it',
		async (status) => {
			const locked = trouble('rejected', { httpStatus: status });
			expect(await endsWith([locked, DONE], { acceptedAtMs: undefined, status: undefined })).toBe('done');
		},
	);
});

describe('answers that end a wait when they last', () => {
	const nothingKnown = { acceptedAtMs: undefined, status: undefined };

	test.each([
		[400, 'rejected'],
		[401, 'authentication'],
		[422, 'contentPolicy'],
	] as const)(
		'%i passes for a task that was accepted, ends the wait when it lasts, and names the task',
		async (...row) => {
			const [httpStatus, kind] = row;
			const refused = trouble(kind, { httpStatus });
			expect(await endsWith([refused, refused, {}, refused, DONE])).toBe('done');
			expect(await endsWith([refused, DONE], { status: undefined })).toBe('done');
			// Nothing was ever answered about the task: it may not be there.
			expect(await endsWith([refused, DONE], nothingKnown)).toBe(kind);
			expect(await endsWith([{}, refused, DONE], nothingKnown)).toBe('done');
			// Two minutes, because its status was seen.
			const { outcome, looksS } = wait([{ progress: 30 }, refused]);
			const { error } = await outcome;
			expect(error).toMatchObject({ kind, task: { taskId: 'task-1', status: 'in_progress', elapsedMs: 140_000 } });
			expect(error?.message).toContain('task-1');
			expect(looksS).toHaveLength(14);
		},
	);

	test('a refusal of a task that was never seen ends the wait after 30 s, whatever pause the service asks for', async () => {
		const asked = wait([trouble('balance', { httpStatus: 402, retryAfterMs: 3_600_000 })]);
		expect((await asked.outcome).error?.kind).toBe('balance');
		expect(asked.looksS).toEqual([10, 40]);
	});

	test('the grace for a refusal counts over sleeps of the execution', async () => {
		const refused = trouble('permission', { httpStatus: 403 });
		const kept: KeptWait = {};
		const stop = new AbortController();
		const onLook = (poll: number) => poll === 3 && stop.abort();
		await wait([refused, refused, {}], { kept, signal: stop.signal, onLook }).outcome;
		expect(kept.contradictedSinceMs).toBe(START_MS + 10_000);
		const later = wait([refused], { kept: { contradictedSinceMs: START_MS - 5_000 } });
		expect((await later.outcome).error).toMatchObject({ kind: 'permission' });
		expect(later.looksS).toEqual([10, 20, 25]);
	});

	test.each<[string, object]>([
		['by its polls', { kept: { polls: [{ atMs: 1 }] } }],
		['by its status, where nothing was answered since', { kept: { polls: [{ atMs: 1, failed: true }] } }],
	])(
		'a task that was seen before a sleep has the longer grace, also where the time of its acceptance is not known: %s',
		async (_, more) => {
			const seen = wait([trouble('notFound')], { acceptedAtMs: undefined, status: 'in_progress', ...more });
			expect((await seen.outcome).error).toMatchObject({ kind: 'notFound' });
			expect(seen.looksS.at(-1)).toBe(120);
		},
	);

	test('a refusal is told where the deadline comes before the end of its grace', async () => {
		const refused = trouble('permission', { httpStatus: 403 });
		const soon = wait([{}, refused], { timeoutMs: 35_000 });
		expect((await soon.outcome).error).toMatchObject({ kind: 'permission', task: { taskId: 'task-1' } });
		expect(soon.looksS).toEqual([10, 20, 30, 35]);
	});

	test('a 404 ends the wait when nothing else was answered for 30 s, or for two minutes where the task was seen', async () => {
		const lost = trouble('notFound');
		expect(await endsWith([lost, lost, DONE])).toBe('done');
		const late = wait([lost]);
		expect((await late.outcome).error?.kind).toBe('notFound');
		expect(late.looksS).toEqual([10, 20, 30, 40]);
		expect(await endsWith([{}, lost, DONE], { intervalMs: 60_000 })).toBe('done');
		const rarely = wait([lost], { intervalMs: 60_000 });
		expect((await rarely.outcome).error?.kind).toBe('notFound');
		expect(rarely.looksS).toEqual([60, 90]);
		expect(await endsWith([lost, lost, lost, trouble('unavailable'), lost, lost, lost, DONE])).toBe('done');
	});

	test.each([
		['a redirect', trouble('unexpectedAnswer', { httpStatus: 301 })],
		['a page', trouble('unexpectedAnswer', { httpStatus: 200 })],
		['a no without a reason', trouble('rejected', { httpStatus: 200, serviceMessage: 'Try no. 5' })],
	])('%s ends the wait when it has stayed the same for three minutes and five polls', async (_, error) => {
		const often = wait([error]);
		expect((await often.outcome).error).toMatchObject({ kind: error.kind, task: { taskId: 'task-1' } });
		expect(often.looksS.at(-1)).toBe(10 + 180);
		const rarely = wait([error], { intervalMs: 60_000, timeoutMs: 7_200_000 });
		expect((await rarely.outcome).error?.kind).toBe(error.kind);
		expect(rarely.looksS).toHaveLength(5);
		const fifteen = Array.from({ length: 15 }, () => error);
		const other = trouble('unavailable', { httpStatus: 503 });
		expect(await endsWith([...fifteen, other, ...fifteen, {}, ...fifteen, DONE])).toBe('done');
	});

	test('an answer whose words differ in numbers and IDs only is the same', async () => {
		const idOf = (number: number) => `req_2026${'gkzqwx'.charAt(number % 6)}Yh${number}Tp`;
		const error = (number: number) =>
			trouble('rejected', { httpStatus: 200, serviceMessage: `Busy at ${number} s (request id: ${idOf(number)})` });
		const waiting = wait(Array.from({ length: 60 }, (_, index) => error(index)));
		expect((await waiting.outcome).error?.kind).toBe('rejected');
		expect(waiting.looksS.at(-1)).toBe(10 + 180);
	});
});

describe('the pace of a wait', () => {
	test('Retry-After wins over the plan of polls, also over a sleep, and is over with the next answer that does not ask', async () => {
		const { looksS, outcome } = wait([
			...[trouble('rateLimited', { retryAfterMs: 25_000 }), trouble('unavailable'), { retryAfterMs: 15_000 }, {}, DONE],
		]);
		await outcome;
		expect(looksS).toEqual([10, 35, 40, 55, 60]);
		const kept: KeptWait = {};
		const stop = new AbortController();
		const onLook = (poll: number) => poll === 2 && stop.abort();
		await wait([{ retryAfterMs: 300_000 }, {}], { kept, signal: stop.signal, onLook }).outcome;
		expect(kept.notBeforeMs).toBe(START_MS + 310_000);
		const later = wait([DONE], { kept: { notBeforeMs: START_MS + 200_000 }, acceptedAtMs: undefined });
		await later.outcome;
		expect(later.looksS).toEqual([200]);
	});

	test('a Retry-After past the deadline counts until there, where the task is polled once more', async () => {
		for (const seen of [{ retryAfterMs: 90_000 }, trouble('rateLimited', { retryAfterMs: 90_000 })]) {
			const { outcome, looksS } = wait([seen, DONE], { timeoutMs: 60_000 });
			expect([(await outcome).state, looksS]).toEqual(['done', [10, 60]]);
		}
	});

	describe('a poll that the pace of the account holds back', () => {
		/** The first poll is due within seconds. A pause of the account lets it leave only after so long. */
		const LEFT_AFTER_MS = 41_000;
		const waitBehindPause = async (answers: HttpResponse[]) => {
			const { client, clock, sent } = scriptedClient(answers);
			const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
			const order = makeOrder({ item: 0, thing: 'task', kind: 'video', then: 'poll', task });
			const table = new SurvivalTable();
			client.holdBack(LEFT_AFTER_MS);
			const end = await waitForTask(taskTarget(order, task, client), {
				...{ survivalTable: () => table, backlogMs: () => client.backlogMs, clock, timeoutMs: 600_000 },
				...{ startedAtMs: clock.at, acceptedAtMs: clock.at, plan: { kind: 'automatic' } },
			}).then(
				({ record }) => record?.status,
				(error: GatewayError) => error.kind,
			);
			return { end, polls: sent.length, usual: usualMs(table), task };
		};
		const done = json(200, { id: 'task-1', status: 'completed' });

		test('it is not taken for one of the time at which it was due: the task may have taken until it has left', async () => {
			const { usual, task } = await waitBehindPause([done]);
			expect(usual).toBeGreaterThan(5_000);
			expect(task.elapsedMs).toBe(LEFT_AFTER_MS);
		});

		test('the 30 s for which a new task may be unknown begin when it leaves', async () => {
			const unknown = json(404, { error: { code: 'task_not_found', message: 'x' } });
			expect(await waitBehindPause([unknown, unknown, unknown, done])).toMatchObject({ end: 'completed', polls: 4 });
		});
	});

	test.each<[string, More, number[]]>([
		['as it is', {}, [14, 28, 42, 56, 70]],
		['with slow requests', { requestMs: 2_300 }, [14, 28, 42, 56, 70]],
		['of a task that is due', { acceptedAtMs: START_MS - 20_000 }, [0, 8, 22, 36, 50]],
	])('Polling Interval is exactly the multiples, from the acceptance on: %s', async (_, more, looksS) => {
		const waiting = wait([{}, trouble('unavailable'), {}, {}, DONE], { intervalMs: 14_000, ...more });
		await waiting.outcome;
		expect(waiting.looksS).toEqual(looksS);
	});

	test('a task that is not found right after its creation is polled again after 0.5, 1, 2 and 4 s', async () => {
		const { looksS, outcome } = wait([...Array<Seen>(4).fill(trouble('notFound')), DONE], {
			plan: { kind: 'automatic' },
		});
		await outcome;
		const gaps = looksS.slice(1).map((atS, index) => atS - (looksS[index] as number));
		expect(gaps).toEqual([0.5, 1, 2, 4].map((gapS) => expect.closeTo(gapS, 6) as number));
	});

	test.each<[string, number | undefined, number]>([
		['its age is known', 12_000, 2],
		['it is said to be of this moment', 0, 7],
		['it is said to be a day old, which is not believed', 86_400_000, 7],
		['nothing is said', undefined, 7],
	])('a task of unknown age is polled first, and then at the multiples of its age: %s', async (_, ageMs, secondS) => {
		const createdAtMs = ageMs === undefined ? undefined : START_MS - ageMs;
		const { looksS, outcome } = wait([{ createdAtMs }, DONE], { acceptedAtMs: undefined, intervalMs: 7_000 });
		await outcome;
		expect(looksS).toEqual([0, secondS]);
	});
});
