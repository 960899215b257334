/** Whoever watches a wait hears when its polls begin, how long it still takes, and of each poll that gets no answer. */
import { GatewayError } from '../../core/errors';
import type { PollStatus } from '../../core/polling/pollTarget';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { waitForTask } from '../../core/polling/waitForTask';
import type { WaitWatcher } from '../../core/polling/waitWatcher';
import { fakeClock, trouble } from './support';

const DONE = { state: 'done' as const, status: 'completed' };

/** The calls to a watcher of a task whose polls are these, every 10 s. */
async function watch(polls: Array<PollStatus | GatewayError>, classifyError?: () => 'passing') {
	const clock = fakeClock();
	const startedAtMs = clock.at;
	const heard: string[] = [];
	const ages: unknown[] = [];
	let estimate: (() => unknown) | undefined;
	const watcher: WaitWatcher = {
		begun: (timeLeft) => {
			estimate = timeLeft;
			heard.push('begun');
		},
		retrying: ({ kind }, waitMs) => heard.push(`${kind}, again in ${waitMs} ms`),
	};
	const left = [...polls];
	await waitForTask(
		{
			thing: 'task',
			task: { taskId: 'task-1', status: 'queued', elapsedMs: 0 },
			fetch: async () => {
				ages.push(estimate?.());
				const poll = left.length > 1 ? left.shift() : left[0];
				if (poll instanceof GatewayError) throw poll;
				return await Promise.resolve(poll as PollStatus);
			},
			statusOf: (record) => record,
			toFailure: () => new GatewayError('taskFailed', 'x'),
			classifyError,
		},
		{
			...{ clock, startedAtMs, acceptedAtMs: startedAtMs, timeoutMs: 600_000, onTimeout: 'error', watcher },
			...{ survivalTable: () => new SurvivalTable(), backlogMs: () => 0 },
			plan: { kind: 'fixed', intervalMs: 10_000 },
		},
	);
	return { heard, ages };
}

test('a wait begins once, and each poll without an answer is said, with the time until the next', async () => {
	const { heard } = await watch([trouble('unavailable'), trouble('unreachable'), DONE]);
	expect(heard).toEqual(['begun', 'unavailable, again in 10000 ms', 'unreachable, again in 10000 ms']);
});

test('whoever watches a wait is not told that a new task is not known yet', async () => {
	const { heard } = await watch([trouble('notFound'), DONE]);
	expect(heard).toEqual(['begun']);
});

test('an error that means that a task has not finished is an answer to whoever watches', async () => {
	const { heard } = await watch([trouble('rejected'), DONE], () => 'passing');
	expect(heard).toEqual(['begun']);
});

test('the time left counts from the acceptance of the task', async () => {
	const { ages } = await watch([{ state: 'pending', status: 'queued' }, { state: 'pending', status: 'queued' }, DONE]);
	const aboutMs = ages.map((age) => (age as { aboutMs: number }).aboutMs);
	expect(aboutMs).toHaveLength(3);
	// After a while, those that would have ended quickly are ruled out.
	expect(aboutMs[0]).toBeLessThan(aboutMs[1]);
	expect(aboutMs[1]).toBeLessThan(aboutMs[2]);
	// One that has run for half an hour takes about a quarter of an hour more.
	expect(aboutMs[2]).toBeLessThan(300_000);
});
