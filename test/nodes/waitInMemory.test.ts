/** A run that was to sleep waits in memory instead: n8n refuses, or nothing is left to wait for. */
import { HINTS } from '../../nodes/run/hints';
import { done, durableRun } from '../support/durableRun.mts';
import type { LightOptions } from '../support/lightContext.mts';
import { acceptedOrder, plannedOrder } from '../support/orders.mts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const running = { object: 'generation.task', id: 'known-0', model: 'gamma-image-2', status: 'processing', progress: 1 };

describe('the node waits in memory', () => {
	test.each<[string, LightOptions['execute'], string]>([
		[
			'n8n refuses the sub-execution',
			() => {
				throw new Error('No access');
			},
			'No access',
		],
		[
			'n8n throws something without words',
			() => {
				throw 'odd' as unknown as Error;
			},
			'odd',
		],
		['the sub-execution does not fall asleep', () => ({ waitTill: null }), 'it did not fall asleep'],
	])('results are wanted all the same where %s: the node waits in memory, and says why', async (_, execute, words) => {
		const { start, hints, logged, happened, executeData, clear } = durableRun({ execute });
		const items = await start([acceptedOrder(0), plannedOrder(1)]);
		expect(items.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
		expect([...hints]).toEqual([HINTS.awakeRefused({ words })]);
		expect(logged).toContain(
			`Generation Gateway: n8n did not run the sub-execution (${words}), node "Node" waits in memory, execution own`,
		);
		expect(happened.filter((each) => !each.startsWith('deferred')).sort()).toEqual([
			...['ended', 'finished 0', 'finished 0', 'finished 1', 'finished 1'],
		]);
		expect(executeData).toEqual({});
		expect(clear).toHaveBeenCalledTimes(1);
	});

	test('nothing sleeps where nothing is left to wait for: the errors are the output, and a retry knows what was bought', async () => {
		const defer = async () => await Promise.reject(new Error('locked'));
		const { start, executed, happened, clear } = durableRun({
			writeAhead: { defer },
			more: { continueOnFail: () => true },
		});
		const items = await start([done(0), plannedOrder(1)]);
		expect(items.map(({ json }) => json.task_id ?? typeof json.error)).toEqual(['done', 'string']);
		expect(executed).toEqual([]);
		expect(happened).toEqual(['finished 0', 'finished 1', 'ended']);
		expect(clear).not.toHaveBeenCalled();
	});

	test('the names are ended where the run fails, too', async () => {
		const defer = async () => await Promise.reject(new Error('locked'));
		const { start, happened } = durableRun({ writeAhead: { defer } });
		await expect(start([plannedOrder(0)])).rejects.toThrow();
		expect(happened.at(-1)).toBe('ended');
	});

	test('an n8n without cancel signals waits in memory, too', async () => {
		const { start } = durableRun({
			execute: () => ({ waitTill: null }),
			more: { getExecutionCancelSignal: () => undefined },
		});
		expect(await start([acceptedOrder(0)])).toMatchObject([{ json: { status: 'completed' } }]);
	});

	test('a task that is polled much later is waited for until then, and no longer', async () => {
		const startedAtMs = Date.now();
		const { start, sent } = durableRun({
			execute: () => ({ waitTill: null }),
			answer: ({ method }) => (method === 'GET' && Date.now() - startedAtMs < 300_000 ? { ...running } : undefined),
		});
		// Longer than the shortest sleep, which the engine asks for.
		const plan = { kind: 'fixed' as const, intervalMs: 100_000 };
		const order = acceptedOrder(0, { wait: { plan, timeoutMs: 600_000, onTimeout: 'error' } });
		expect(await start([order])).toMatchObject([{ json: { status: 'completed' } }]);
		expect(sent.map(({ atMs }) => Math.round((atMs - startedAtMs) / 100_000))).toEqual([1, 2, 3]);
	});

	test('what the ends of orders tell is in the hints', async () => {
		const order = done(0);
		if (order.end) order.end.hints = ['The file is large.'];
		const { start, hints } = durableRun();
		await start([order]);
		expect([...hints]).toEqual(['The file is large.']);
	});

	test('a stop ends the wait without an output', async () => {
		const { start, stop, happened } = durableRun({
			execute: () => {
				void Promise.resolve().then(() => stop.abort());
				throw new Error('No access');
			},
			answer: ({ method }) => (method === 'GET' ? { ...running } : undefined),
		});
		expect(await start([acceptedOrder(0)])).toEqual([]);
		expect(happened).toEqual(['stopped', 'ended']);
	});
});
