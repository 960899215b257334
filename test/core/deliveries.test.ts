import { DELIVERIES_IN_PARALLEL, runJobs, type Job } from '../../core/orders/jobs';
import { deferred, flushPromises, sharedClock, trouble } from './support';

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

	test('a delivery that ends badly gives its turn on when the batch continues', async () => {
		const count = DELIVERIES_IN_PARALLEL + 1;
		const { clock, running } = batch(count, { concurrency: count, continueOnError: true }, async (index) => {
			if (index < DELIVERIES_IN_PARALLEL) throw trouble('download');
		});
		const outcomes = await clock.run(running);
		expect(outcomes.map(({ ok }) => ok)).toEqual([
			...Array.from({ length: DELIVERIES_IN_PARALLEL }, () => false),
			true,
		]);
	});
});
