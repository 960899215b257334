/** Executions that run at the same time share the limits of their account: its pace, and the tasks that it can run at once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { playAccount, type AccountCase, type Runs } from './support/accountRuns.mts';
import { startInstance, type Instance } from './support/instance.mts';
import { withSlowdown } from './support/slowdown.mts';

/**
 * A machine that is busy with other suites sees ends late, and requests arrive closer together than they left. On an idle one
 * it is 1.2 (`npm run bench -- account`).
 */
const MOST_TIMES = 2.5;
/** The same work on the same machine, where the credential says what the account can run. */
const MOST_TIMES_OF_KNOWN = 1.35;
const MOST_PER_SECOND = 66;
/** While it is learned: 10 to 50, by how soon answers are seen. An account that learns nothing gets 700. */
const MOST_429 = 150;
/** Ten executions of twenty tasks of two seconds, twenty at once: 20 s at best. */
const crowd = { executions: 10, items: 20 };
const account = { places: 20, taskMs: 2_000 };

let instance: Instance;
before(async () => {
	instance = await startInstance();
});
after(() => instance?.close());

async function play(wanted: AccountCase, groups: Runs[]) {
	const { result, slowdown } = await withSlowdown(playAccount(instance, wanted, groups));
	return { ...result, slowdown };
}

type Played = Awaited<ReturnType<typeof play>>;

function assertShared({ refused, mostPerSecond, ms, limitMs, tasks, slowdown }: Played, wanted: { tasks: number }) {
	assert.deepEqual(refused, []);
	assert.equal(tasks, wanted.tasks);
	assert.ok(mostPerSecond <= MOST_PER_SECOND * slowdown, `${mostPerSecond} requests in a second`);
	const times = ms / limitMs / slowdown;
	assert.ok(
		times <= MOST_TIMES,
		`${ms} ms, ${times.toFixed(2)} times the limit, on a machine ${slowdown} times as slow`,
	);
}

test('with Tasks at Once there is no 429 at all; without it, that is learned, nothing is refused, and it takes hardly longer', async () => {
	const known = await play({ ...account, credential: { tasksAtOnce: 20 } }, [crowd]);
	assertShared(known, { tasks: 200 });
	assert.equal(known.answers429, 0);
	const learned = await play(account, [crowd]);
	assertShared(learned, { tasks: 200 });
	assert.ok(learned.answers429 <= MOST_429, `${learned.answers429} answers of 429`);
	// Other suites may have begun between the two.
	const again = await play({ ...account, credential: { tasksAtOnce: 20 } }, [crowd]);
	const knownMs = Math.max(known.ms, again.ms);
	const busier = Math.max(1, learned.slowdown / Math.max(known.slowdown, again.slowdown));
	assert.ok(learned.ms <= knownMs * MOST_TIMES_OF_KNOWN * busier, `${learned.ms} ms, ${knownMs} ms where it is known`);
});

test('fifty executions of one item get through five places', async () => {
	const seen = await play({ places: 5, taskMs: 3_000 }, [{ executions: 50, items: 1 }]);
	assertShared(seen, { tasks: 50 });
});

test('executions of one item get the next free places beside one of many', async () => {
	const afterMs = 5_000;
	// All of the many wait for a place.
	const options = { concurrentTasks: 300 };
	const seen = await play({ ...account, options }, [
		{ executions: 1, items: 300 },
		{ executions: 10, items: 1, afterMs },
	]);
	assertShared(seen, { tasks: 310 });
	const [, others = Infinity] = seen.others;
	// Behind the rest of the many it would be some two hundred.
	assert.ok(others <= 4 * account.places, `${others} tasks of the many were accepted first`);
});
