/** Executions that run at the same time share the limits of their account: its pace, and the tasks that it can run at once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { playAccount, type Seen } from './support/accountRuns.mts';
import { startInstance, type Instance } from './support/instance.mts';

const limit = { timeout: 200_000 };
/** Ten executions of twenty tasks of two seconds, twenty at once: 20 s at best. */
const crowd = { executions: 10, items: 20 };
const account = { places: 20, taskMs: 2_000 };

let instance: Instance;
before(async () => {
	instance = await startInstance();
});
after(() => instance?.close());

function assertShared({ refused, mostPerSecond, ms, limitMs, tasks }: Seen, wanted: { tasks: number; times: number }) {
	assert.deepEqual(refused, []);
	assert.equal(tasks, wanted.tasks);
	assert.ok(mostPerSecond <= 60, `${mostPerSecond} requests in a second`);
	assert.ok(ms <= limitMs * wanted.times, `${ms} ms, ${(ms / limitMs).toFixed(2)} times the limit`);
}

test('what the account can run at once is learned, and nothing is refused', limit, async () => {
	const seen = await playAccount(instance, account, [crowd]);
	assertShared(seen, { tasks: 200, times: 1.3 });
	assert.ok(seen.answers429 <= 25, `${seen.answers429} answers of 429`);
});

test('with Tasks at Once there is no 429 at all', limit, async () => {
	const seen = await playAccount(instance, { ...account, credential: { tasksAtOnce: 20 } }, [crowd]);
	assertShared(seen, { tasks: 200, times: 1.2 });
	assert.equal(seen.answers429, 0);
});

test('a hundred executions of one item get through five places', limit, async () => {
	const seen = await playAccount(instance, { places: 5, taskMs: 3_000 }, [{ executions: 100, items: 1 }]);
	assertShared(seen, { tasks: 100, times: 1.3 });
});

test('executions of one item get the next free places beside one of many', limit, async () => {
	const alone = await playAccount(instance, account, [{ executions: 10, items: 1 }]);
	const seen = await playAccount(instance, account, [
		{ executions: 1, items: 300 },
		{ executions: 10, items: 1, afterMs: 5_000 },
	]);
	assertShared(seen, { tasks: 310, times: 1.3 });
	const [, tookMs = Infinity] = seen.tookMs;
	const [aloneMs = 0] = alone.tookMs;
	// All places become free within the length of a task.
	const mostMs = account.taskMs + 1.25 * aloneMs;
	assert.ok(tookMs <= mostMs, `${tookMs} ms, ${mostMs} ms at most`);
});
