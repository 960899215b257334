/** The items of a run side by side: how many at once, what an error ends, and what a refusal holds back. */
import type { GatewayErrorKind } from '../../core/errors';
import { runJobs, type Job } from '../../core/engine/jobs';
import { deferred, flushPromises, sharedClock, trouble } from './support';

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
});

test('deliveries hold no task back: the next one is submitted while the first is delivered', async () => {
	const clock = sharedClock();
	const startMs = clock.at;
	const log: string[] = [];
	const note = (what: string) => log.push(`${(clock.at - startMs) / 1000} s: ${what}`);
	const jobs = [0, 1, 2].map(
		(index): Job<number> => ({
			run: async ({ submitting, delivering, signal }) => {
				await submitting(async () => note(`task ${index}`));
				await clock.sleep(1_000, signal);
				return await delivering(async () => {
					note(`delivery ${index}`);
					await clock.sleep(60_000, signal);
					return index;
				});
			},
		}),
	);
	const outcomes = await clock.run(runJobs(jobs, { concurrency: 1, continueOnError: false }));
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
