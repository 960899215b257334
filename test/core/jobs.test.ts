import { AccountSlots } from '../../core/account/accountSlots';
import { createInSlot } from '../../core/orders/createInSlot';
import type { PurchaseSteps } from '../../core/orders/product';
import { runJobs, type Job, type JobControls } from '../../core/orders/jobs';
import { deferred, fakeClock, flushPromises, sharedClock, trouble } from './support';

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

	test('what is in flight already goes on at once, and the others wait until there are fewer than the cap', async () => {
		const ends = [1, 2, 3, 4, 5].map(() => deferred<number>());
		const begun: number[] = [];
		const jobs = ends.map(({ promise }, index): Job<number> => {
			return { run: async () => (begun.push(index), await promise) };
		});
		const running = runJobs(jobs, { concurrency: 1, inFlight: 3, continueOnError: false });
		for (const [ended, all] of [
			[0, 3],
			[2, 3],
			[1, 4],
			[3, 5],
		] as const) {
			await flushPromises();
			ends[ended]?.resolve(ended);
			await flushPromises();
			expect([ended, begun.length]).toEqual([ended, all]);
		}
		ends[4]?.resolve(4);
		expect((await running).map((outcome) => outcome.ok && outcome.value)).toEqual([0, 1, 2, 3, 4]);
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

	test.each(['authentication', 'balance', 'permission'] as const)(
		'after %s nothing more is submitted, also when the jobs continue',
		async (kind) => {
			let submitted = 0;
			const job = (fails: boolean): Job<string> => ({
				run: async ({ submitting }) =>
					await submitting(async () => {
						submitted++;
						if (fails) throw trouble(kind);
						return 'ok';
					}),
			});
			const outcomes = await runJobs([job(false), job(true), job(false), job(false)], {
				concurrency: 1,
				continueOnError: true,
			});
			expect(outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error.kind))).toEqual([
				'ok',
				kind,
				'notSubmitted',
				'notSubmitted',
			]);
			expect(submitted).toBe(2);
		},
	);

	test('once jobs are given up, no further one begins', async () => {
		const late = jest.fn(async () => 'late');
		const outcomes = await runJobs(
			[{ run: async () => await Promise.reject(trouble('notFound')) }, { run: late }, { run: late }],
			{ concurrency: 1, continueOnError: false },
		);
		expect(late).not.toHaveBeenCalled();
		expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual([
			'notFound',
			'notSubmitted',
			'notSubmitted',
		]);
	});

	test('other errors leave the rest of the jobs alone when they continue', async () => {
		const outcomes = await runJobs(
			[{ run: async () => await Promise.reject(trouble('taskFailed')) }, { run: async () => 'ok' }],
			{ concurrency: 1, continueOnError: true },
		);
		expect(outcomes.map(({ ok }) => ok)).toEqual([false, true]);
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

	test('after a stop nothing is submitted any more', async () => {
		const stop = new AbortController();
		const upload = deferred<void>();
		const submit = jest.fn(async () => 'task-1');
		const job: Job<string> = {
			run: async ({ submitting }) => await upload.promise.then(async () => await submitting(submit)),
		};
		const running = runJobs([job, job, job], { concurrency: 2, continueOnError: true, signal: stop.signal });
		await flushPromises();
		stop.abort();
		upload.resolve();
		expect((await running).map((outcome) => !outcome.ok && outcome.error.kind)).toEqual([
			'stopped',
			'stopped',
			'stopped',
		]);
		await flushPromises();
		expect(submit).not.toHaveBeenCalled();
	});

	test('many tasks take as long as the slowest one, however they are mixed', async () => {
		const clock = sharedClock();
		const jobs = Array.from(
			{ length: 50 },
			(_, index): Job<number> => ({
				run: async () => await clock.sleep(1000 * (1 + ((index * 7) % 50))).then(() => index),
			}),
		);
		const outcomes = await clock.run(runJobs(jobs, { concurrency: 50, continueOnError: false }));
		expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual([...jobs.keys()]);
		expect(clock.at - 1_000_000).toBe(50_000);
	});

	test('a stop ends jobs that do not notice it', async () => {
		const stop = new AbortController();
		const running = runJobs([{ run: async () => await new Promise(() => {}) }], {
			concurrency: 1,
			continueOnError: true,
			signal: stop.signal,
		});
		stop.abort();
		const [outcome] = await running;
		expect(outcome).toMatchObject({ ok: false, error: { kind: 'stopped' } });
	});

	test('where it stops at an error, nothing more is submitted, and what was accepted goes on', async () => {
		const [accepted, late] = [deferred<string>(), deferred<void>()];
		const submit = jest.fn();
		const running = runJobs<string>(
			[
				{ run: async () => await accepted.promise },
				{ run: async () => await Promise.reject(trouble('taskFailed')) },
				{
					run: async ({ submitting }) =>
						await late.promise.then(async () => await submitting(async () => submit() as never)),
				},
			],
			{ concurrency: 3, continueOnError: true, stopsSubmitting: true },
		);
		await flushPromises();
		late.resolve();
		await flushPromises();
		accepted.resolve('task-1');
		const outcomes = await running;
		expect(outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome.error.kind))).toEqual([
			...['task-1', 'taskFailed', 'notSubmitted'],
		]);
		expect(submit).not.toHaveBeenCalled();
	});

	test('when nothing more is to be submitted here, what was accepted goes on, and the others end as stopped', async () => {
		const [accepted, late] = [deferred<string>(), deferred<void>()];
		const submit = jest.fn();
		const end = new AbortController();
		const running = runJobs<string>(
			[
				{ run: async () => await accepted.promise },
				{
					run: async ({ submitting }) =>
						await late.promise.then(async () => await submitting(async () => submit() as never)),
				},
			],
			{ concurrency: 2, continueOnError: true, submitUntil: end.signal },
		);
		await flushPromises();
		end.abort();
		late.resolve();
		await flushPromises();
		accepted.resolve('task-1');
		const outcomes = await running;
		expect(outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome.error.kind))).toEqual(['task-1', 'stopped']);
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
	const refused = (kind: 'permission' | 'balance', scope?: string): Job<string> => ({
		scope,
		run: async ({ submitting }) => await submitting(async () => await Promise.reject(trouble(kind))),
	});
	const uploads = (upload: () => Promise<string>, scope?: string): Job<string> => ({
		scope,
		run: async ({ submitting, uploading }) => {
			const url = await uploading(upload);
			return await submitting(async () => url);
		},
	});

	test('403 for one model leaves the other models alone', async () => {
		expect(await ended([refused('permission', 'a'), submits('x', 'a'), submits('y', 'b'), submits('z')])).toEqual([
			'permission',
			'notSubmitted',
			'y',
			'z',
		]);
	});

	test('403 for one model is known to its other jobs, and to no others', async () => {
		const refused = deferred<void>();
		const heldBack = async (scope: string) => {
			const [, outcome] = await runJobs<string | undefined>(
				[
					{
						scope: 'the model a',
						run: async ({ submitting }) =>
							await submitting(async () => await Promise.reject(trouble('permission'))).finally(refused.resolve),
					},
					{
						scope,
						run: async (controls) => await refused.promise.then(flushPromises).then(() => controls.heldBack()?.kind),
					},
				],
				{ concurrency: 2, continueOnError: true },
			);
			return outcome?.ok && outcome.value;
		};
		expect([await heldBack('the model a'), await heldBack('the model b')]).toEqual(['notSubmitted', undefined]);
	});

	test.each([
		['402, where the others go on', 'balance', { continueOnError: true }],
		['402', 'balance', { continueOnError: false }],
		['any error, where the batch ends with it', 'badInput', { continueOnError: false }],
		['any error, where nothing more is submitted then', 'badInput', { continueOnError: true, stopsSubmitting: true }],
	] as const)('the place of what was refused goes to nobody who is held back: %s', async (_, kind, options) => {
		const slots = new AccountSlots({ ...fakeClock(), sleep: async () => await new Promise(() => {}) });
		slots.most = 1;
		const run = slots.ofRun();
		const sent: number[] = [];
		const jobs = [0, 1, 2].map((item) => ({
			run: async ({ submitting }: JobControls) =>
				await submitting(async (signal, failed) => {
					const create = async () => {
						sent.push(item);
						await flushPromises();
						throw trouble(kind);
					};
					// As a purchase log does, which writes down what has come of it.
					const record = async (steps: PurchaseSteps<never>) => await steps.create().finally(flushPromises);
					await createInSlot({ thing: 'task', then: 'poll' }, { slots: run }, { signal, failed }, { create, record });
				}),
		}));
		await runJobs(jobs, { concurrency: 3, ...options });
		expect(sent).toEqual([0]);
	});

	test('402 for one model ends submitting for all', async () => {
		expect(await ended([refused('balance', 'a'), submits('x', 'a'), submits('y', 'b'), submits('z')])).toEqual([
			'balance',
			'notSubmitted',
			'notSubmitted',
			'notSubmitted',
		]);
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

	test('an upload that waits for its turn is not sent where one before it was refused', async () => {
		const refused = deferred<string>();
		const later = jest.fn(async () => 'url');
		const running = ended([
			...Array.from({ length: 6 }, () => uploads(async () => await refused.promise)),
			uploads(later),
		]);
		await flushPromises();
		refused.reject(trouble('permission'));
		expect((await running)[6]).toBe('notSubmitted');
		expect(later).not.toHaveBeenCalled();
	});

	test('403 for an upload holds back uploads, not the model', async () => {
		const second = jest.fn(async () => 'url');
		expect(
			await ended([
				uploads(async () => await Promise.reject(trouble('permission')), 'a'),
				uploads(second, 'a'),
				submits('x', 'a'),
			]),
		).toEqual(['permission', 'notSubmitted', 'x']);
		expect(second).not.toHaveBeenCalled();
	});

	test('402 for an upload ends submitting', async () => {
		expect(await ended([uploads(async () => await Promise.reject(trouble('balance'))), submits('x')])).toEqual([
			'balance',
			'notSubmitted',
		]);
	});

	test('an upload for a model that is refused is not made', async () => {
		const upload = jest.fn(async () => 'url');
		expect(await ended([refused('permission', 'a'), uploads(upload, 'a'), uploads(upload, 'b')])).toEqual([
			'permission',
			'notSubmitted',
			'url',
		]);
		expect(upload).toHaveBeenCalledTimes(1);
	});

	test('other trouble with an upload ends that item only', async () => {
		expect(await ended([uploads(async () => await Promise.reject(trouble('unavailable'))), submits('x')])).toEqual([
			'unavailable',
			'x',
		]);
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

	test('a stop by the user is a stop, whatever was refused before', async () => {
		const stop = new AbortController();
		const late: Job<string> = {
			run: async ({ submitting }) =>
				await submitting(async () => {
					stop.abort();
					throw trouble('stopped');
				}),
		};
		expect(await ended([late, submits('x')], { signal: stop.signal })).toEqual(['stopped', 'stopped']);
	});

	test.each(['notSubmitted', 'stopped'] as const)('an item that is %s does not end the others', async (kind) => {
		const slow: Job<string> = { scope: 'b', run: async () => await flushPromises().then(() => 'done') };
		const heldBack: Job<string> = { run: async () => await Promise.reject(trouble(kind)) };
		expect(await ended([slow, heldBack, submits('next')], { concurrency: 2, continueOnError: false })).toEqual([
			'done',
			kind,
			'next',
		]);
	});
});

test('no jobs are done at once, and at least one runs at a time', async () => {
	expect(await runJobs([], { concurrency: 3, continueOnError: false })).toEqual([]);
	expect(await runJobs([{ run: async () => 'a' }], { concurrency: 0, continueOnError: false })).toEqual([
		{ ok: true, value: 'a' },
	]);
});
