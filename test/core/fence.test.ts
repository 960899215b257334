/**
 * The fence of the journal: a first try and the retries that take its run over, alive or dead, in whatever sequence their rows,
 * looks, marks and requests come. An item is bought once. Answers are lost, the service is full, and a person clears the table.
 */
import { seeded } from '../support/simulation';
import { readPropertySettings } from '../support/propertySettings.mts';
import { makeWorld, planned, type Insert, type Start, type WorldOptions } from './journalWorld';

const { seed, runs = 200 } = readPropertySettings('fence');

type Choose = <T>(...of: T[]) => T;

/** One walk: all that happens in it follows from its number. */
async function walk(number: number) {
	const random = seeded(number);
	const choose: Choose = (...of) => of[Math.floor(random() * of.length)] as never;
	const isTrue = (share: number) => random() < share;
	// Most steps are short; at any of them, a process may fall silent.
	const delays = () => (isTrue(0.04) ? 500 + 3_000 * random() : 1 + choose(5, 20, 100) * random());
	const answers: WorldOptions['answers'] = () =>
		isTrue(0.8) ? 'accepted' : choose('full' as const, 'full' as const, 'lost' as const);
	const world = makeWorld({ delays, answers, isSqlite: isTrue(0.5), databaseAheadMs: choose(0, 5_000, -5_000) });
	const { clock } = world;
	const items = choose([0], [0, 1], [0, 1, 2]);
	const inserts = () => [0, 1, 2].map(() => (isTrue(0.8) ? 'good' : choose<Insert>('lost', 'late', 'never')));
	const isAlone = isTrue(0.1);
	const ends: string[] = [];

	const execute = async (start: Start, afterMs: number, triesLeft: number): Promise<void> => {
		await clock.sleep(afterMs);
		const execution = world.start({ ...start, troubles: { inserts: inserts() } });
		if (isTrue(0.25)) void clock.sleep(400 * random()).then(execution.kill);
		const outcome = await Promise.race([execution.run(items.map((item) => planned(item))), execution.died]);
		if (outcome !== 'died') ends.push(...outcome);
		// Retry On Fail.
		const isWhole = outcome === 'died' || outcome.every((end) => end.startsWith('task'));
		if (!isWhole && triesLeft > 0) await execute({ ...start, memory: execution.memory }, 1, triesLeft - 1);
	};
	const retryAfterMs = () => choose(0, 50, 200, 1_000) * random();
	const triesLeft = () => choose(0, 0, 1);
	const executions = [
		...(isAlone ? [] : [execute({}, 0, triesLeft())]),
		...['8', '9'].map(
			async (executionId) => await execute({ executionId, isRetry: true }, retryAfterMs(), triesLeft()),
		),
	];
	const clears = async () => {
		await clock.sleep(choose(50, 300, 2_000) * random());
		// No rule sees a first try that has been silent from before its first row until after the clear.
		if (isAlone || world.steps.includes('7 looks')) world.clear();
	};
	if (isTrue(0.4)) void clears();
	await world.run(Promise.all(executions));
	// Requests that are on their way, of those that have died.
	await clock.runUntil(clock.at + 10_000);
	const most = Math.max(0, ...items.map((item) => world.bought.filter((each) => each === item).length));
	return { most, ends, steps: world.steps };
}

test('however a first try and two retries meet, no item is bought twice', async () => {
	const seen = new Map<string, number>();
	for (let number = 0; number < runs; number++) {
		const { most, ends, steps } = await walk(seed + number);
		if (most > 1) throw new Error(`Walk ${seed + number}, bought ${most} times:\n${steps.join('\n')}`);
		for (const end of ends) {
			const kind = end.startsWith('task') ? 'bought' : end;
			seen.set(kind, (seen.get(kind) ?? 0) + 1);
		}
	}
	// Where one of these is missing, the walks are not what they should be.
	for (const kind of ['bought', 'outcomeStillUnknown', 'submittedByOtherRetry', 'submissionNotRecorded'])
		expect([kind, (seen.get(kind) ?? 0) > runs / 50]).toEqual([kind, true]);
});

test('a first try that comes back between two retries, when its rows are gone, and leaves its mark after they have looked for it', async () => {
	expect((await walk(1_079_608_580)).most).toBe(1);
});
