/** The items of a run side by side: how many at once, what an error ends, and what a refusal holds back. */
import type { GatewayErrorKind } from '../../core/errors';
import { DELIVERIES_IN_PARALLEL, runJobs, type Job } from '../../core/orders/jobs';
import { deferred, flushPromises, sharedClock, trouble } from './support';

describe('runJobs', () => {
	test('jobs keep their order and the cap', async () => {
		let running = 0;
		let peak = 0;
		const jobs = Array.from(
			{ length: 9 },
			(_, index): Job<number> => ({
				run: async () => {
					peak = Math.max(peak, ++running);
					for (let i = 0; i < 10 - index; i++) await Promise.resolve();
					running--;
					return index;
				},
			}),
		);
		const outcomes = await runJobs(jobs, { concurrency: 3, continueOnError: false });
		expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
		expect(peak).toBe(3);
	});

	test('jobs are given up at once, but a submission in flight is answered first', async () => {
		const answer = deferred<string>();
		let repeatEnded = false;
		const ids: string[] = [];
		const jobs: Array<Job<string>> = [
			{
				run: async ({ submitting }) => {
					ids.push(
						await submitting(async (stopRetrying) => {
							stopRetrying.addEventListener('abort', () => (repeatEnded = true));
							return await answer.promise;
						}),
					);
					return await new Promise(() => {});
				},
			},
			{ run: async () => await Promise.reject(trouble('taskFailed')) },
			{ run: async () => await new Promise(() => {}) },
		];
		let done = false;
		const running = runJobs(jobs, { concurrency: 3, continueOnError: false }).then((outcomes) => {
			done = true;
			return outcomes;
		});
		await flushPromises();
		expect([done, repeatEnded]).toEqual([false, true]);
		answer.resolve('task-9');
		const outcomes = await running;
		expect(ids).toEqual(['task-9']);
		expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual(['stopped', 'taskFailed', 'stopped']);
	});

	test('what was still being prepared when another item failed is not submitted', async () => {
		const upload = deferred<void>();
		const answer = deferred<string>();
		const submit = jest.fn(async () => 'task-2');
		const running = runJobs<string>(
			[
				{ run: async ({ submitting }) => await submitting(async () => await answer.promise) },
				{ run: async ({ submitting }) => await upload.promise.then(async () => await submitting(submit)) },
				{ run: async () => await Promise.reject(trouble('taskFailed')) },
				{ run: async ({ submitting }) => await submitting(submit) },
			],
			{ concurrency: 3, continueOnError: false },
		);
		await flushPromises();
		upload.resolve();
		await flushPromises();
		answer.resolve('task-1');
		const outcomes = await running;
		expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual([
			false,
			'notSubmitted',
			'taskFailed',
			'notSubmitted',
		]);
		expect(submit).not.toHaveBeenCalled();
	});
});

describe('what one refusal holds back', () => {
	const ended = async (jobs: Array<Job<string>>, options = {}) =>
		(await runJobs(jobs, { concurrency: 1, continueOnError: true, ...options })).map((outcome) =>
			outcome.ok ? outcome.value : outcome.error.kind,
		);
	const submits = (value: string, scope?: string): Job<string> => ({
		scope,
		run: async ({ submitting }) => await submitting(async () => value),
	});
	const failing = (kind: GatewayErrorKind) => async () => await Promise.reject(trouble(kind));
	const url = async () => await Promise.resolve('url');
	const refused = (kind: GatewayErrorKind, scope?: string): Job<string> => ({
		scope,
		run: async ({ submitting }) => await submitting(failing(kind)),
	});
	const uploads = (upload: () => Promise<string>, scope?: string): Job<string> => ({
		scope,
		run: async ({ submitting, uploading }) => {
			const url = await uploading(upload);
			return await submitting(async () => url);
		},
	});

	test.each<[string, Array<Job<string>>, string[]]>([
		[
			'403 for a model holds back that model only',
			[refused('permission', 'a'), submits('x', 'a'), submits('y', 'b'), submits('z')],
			['permission', 'notSubmitted', 'y', 'z'],
		],
		[
			'402 for a model holds back everything',
			[refused('balance', 'a'), submits('x', 'a'), submits('y', 'b')],
			['balance', 'notSubmitted', 'notSubmitted'],
		],
		[
			'403 for an upload holds back uploads, not the model',
			[uploads(failing('permission'), 'a'), uploads(url, 'a'), submits('x', 'a')],
			['permission', 'notSubmitted', 'x'],
		],
		[
			'402 for an upload holds back everything',
			[uploads(failing('balance')), submits('x')],
			['balance', 'notSubmitted'],
		],
		[
			'other trouble with an upload ends its item only',
			[uploads(failing('unavailable')), submits('x')],
			['unavailable', 'x'],
		],
		[
			'403 for a model holds back the uploads for it',
			[refused('permission', 'a'), uploads(url, 'a'), uploads(url, 'b')],
			['permission', 'notSubmitted', 'url'],
		],
	])('%s', async (_, jobs, expected) => {
		expect(await ended(jobs)).toEqual(expected);
	});

	test('a few files are uploaded in parallel, with the reading of each; the next ones follow in turn', async () => {
		const begun: number[] = [];
		const answers = Array.from({ length: 20 }, () => deferred<string>());
		const running = runJobs(
			answers.map(({ promise }, index) =>
				uploads(async () => {
					begun.push(index);
					return await promise;
				}),
			),
			{ concurrency: 50, continueOnError: true },
		);
		await flushPromises();
		expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
		answers[3]?.resolve('url');
		await flushPromises();
		expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
		answers.forEach(({ resolve }) => resolve('url'));
		expect((await running).every(({ ok }) => ok)).toBe(true);
		expect(begun).toHaveLength(20);
	});

	test('what waits for another try is not sent again, and says why', async () => {
		const waits: Job<string> = {
			scope: 'a',
			run: async ({ submitting }) =>
				await submitting(
					async (stopRetrying) =>
						await new Promise<string>((_, reject) =>
							stopRetrying.addEventListener('abort', () => reject(trouble('stopped'))),
						),
				),
		};
		expect(await ended([waits, refused('permission', 'a'), submits('y', 'b')], { concurrency: 3 })).toEqual([
			'notSubmitted',
			'permission',
			'y',
		]);
	});
});

describe('deliveries', () => {
	const TASK_MS = 1_000;
	const DELIVERY_MS = 60_000;
	const START_MS = 1_000_000;
	/** Jobs that submit, wait and deliver; `log` says what happened when, in seconds from the start. */
	const batch = (
		count: number,
		options: { concurrency: number; continueOnError?: boolean; signal?: AbortSignal },
		deliver?: (index: number) => Promise<unknown>,
	) => {
		const clock = sharedClock();
		const log: string[] = [];
		const note = (what: string) => log.push(`${(clock.at - START_MS) / 1000} s: ${what}`);
		let delivering = 0;
		const seen = { peak: 0 };
		const jobs = Array.from(
			{ length: count },
			(_, index): Job<number> => ({
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
			}),
		);
		const running = runJobs(jobs, { continueOnError: false, ...options });
		return { clock, log, seen, running };
	};

	test('deliveries hold no task back: the next one is submitted while the first is delivered', async () => {
		const { clock, log, running } = batch(3, { concurrency: 1 });
		const outcomes = await clock.run(running);
		expect(log).toEqual([
			'0 s: task 0',
			'1 s: task 1',
			'1 s: delivery 0',
			'2 s: task 2',
			'2 s: delivery 1',
			'3 s: delivery 2',
		]);
		expect(outcomes).toEqual([0, 1, 2].map((value) => ({ ok: true, value })));
	});

	test('deliveries run in parallel only in small numbers, in the order in which the tasks end', async () => {
		const count = 3 * DELIVERIES_IN_PARALLEL;
		const { clock, log, seen, running } = batch(count, { concurrency: count });
		const outcomes = await clock.run(running);
		expect(seen.peak).toBe(DELIVERIES_IN_PARALLEL);
		expect(clock.at - START_MS).toBe(TASK_MS + 3 * DELIVERY_MS);
		expect(log.slice(count).map((line) => line.split('delivery ')[1])).toEqual(
			Array.from({ length: count }, (_, index) => String(index)),
		);
		expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual([...outcomes.keys()]);
	});

	test('a stop ends the deliveries that run and those that wait for their turn at that moment, and none begins after it', async () => {
		const stop = new AbortController();
		const count = DELIVERIES_IN_PARALLEL + 2;
		const first = deferred<void>();
		const { clock, log, running } = batch(
			count,
			{ concurrency: count, continueOnError: true, signal: stop.signal },
			async () => await first.promise,
		);
		const stopping = clock.sleep(5_000).then(() => stop.abort());
		const outcomes = await clock.run(running);
		await stopping;
		expect(clock.at - START_MS).toBe(5_000);
		expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual(
			Array.from({ length: count }, () => 'stopped'),
		);
		first.resolve();
		await flushPromises();
		expect(log.filter((line) => line.includes('delivery'))).toHaveLength(DELIVERIES_IN_PARALLEL);
	});

	test('a delivery that ends badly ends the others, and holds back the tasks that have not been submitted', async () => {
		const { clock, log, running } = batch(6, { concurrency: 1 }, async (index) => {
			if (index === 0) await clock.sleep(2_500);
			if (index === 0) throw trouble('download');
			await new Promise(() => {});
		});
		const outcomes = await clock.run(running);
		expect(clock.at - START_MS).toBe(TASK_MS + 2_500);
		expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual([
			'download',
			'stopped',
			'stopped',
			'stopped',
			'notSubmitted',
			'notSubmitted',
		]);
		expect(log.filter((line) => line.includes('task'))).toHaveLength(4);
	});
});
