import { runTasks, type TaskJob } from '../../core/tasks/runTasks';
import { deferred, settle, sharedClock, trouble } from './support';

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

	test('a stop ends jobs that do not notice it', async () => {
		const stop = new AbortController();
		const running = runTasks([{ run: async () => await new Promise(() => {}) }], { concurrency: 1, continueOnError: true, signal: stop.signal });
		stop.abort();
		const [outcome] = await running;
		expect(outcome).toMatchObject({ ok: false, error: { kind: 'stopped' } });
	});
});
