/** The runs of a process that use the same key share the limits of its account. */
import { accountOf } from '../../core/account/accounts';
import { accounts } from '../../core/processMemory';
import { fakeClock, flushPromises, sharedClock } from './support';

const limits = { requestsPerSecond: 60, concurrentTasks: 20 };
const clock = fakeClock();
const of = (name: string, wanted = limits) => accountOf(name, wanted, clock);

test('the limits of an account are those of the credential that was used last; what was learned stays', () => {
	const { places, pace } = of('key');
	expect([places.most, Math.round(1000 / pace.ofRun().spacingMs)]).toEqual([20, 60]);
	const same = of('key', { requestsPerSecond: 60, concurrentTasks: 5 });
	expect(same.pace).toBe(pace);
	const changed = of('key', { requestsPerSecond: 7, concurrentTasks: Infinity });
	expect([changed.places, changed.pace]).toEqual([places, pace]);
	expect([changed.places.most, Math.round(1000 / changed.pace.ofRun().spacingMs)]).toEqual([Infinity, 7]);
});

test('more places than before are for those that wait already', async () => {
	const shared = sharedClock();
	const of = (concurrentTasks: number) => accountOf('raised', { requestsPerSecond: 60, concurrentTasks }, shared);
	const { places } = of(1);
	const run = places.ofRun();
	const begun: number[] = [];
	for (const number of [1, 2, 3])
		void run.take({ timeoutMs: 60_000, sinceMs: run.nowMs() }).then(() => begun.push(number));
	await flushPromises();
	expect(begun).toEqual([1]);
	of(2);
	await flushPromises();
	expect(begun).toEqual([1, 2]);
});

test('two credentials with one key share the pace, whichever is used last', async () => {
	const shared = sharedClock();
	const sentAtMs: number[] = [];
	const startRun = async (requestsPerSecond: number) => {
		const pace = accountOf('shared', { requestsPerSecond, concurrentTasks: Infinity }, shared).pace.ofRun();
		for (let request = 0; request < 20; request++) await pace.acquire().then(() => sentAtMs.push(shared.at));
	};
	const work = async () => {
		const runs: Array<Promise<void>> = [];
		for (let run = 0; run < 20; run++) {
			runs.push(startRun(run % 2 === 0 ? 60 : 30));
			await shared.sleep(50);
		}
		await Promise.all(runs);
	};
	await shared.run(work());
	const inSecondFrom = (from: number) => sentAtMs.filter((at) => at >= from && at < from + 1000).length;
	expect(sentAtMs).toHaveLength(400);
	expect(Math.max(...sentAtMs.map(inSecondFrom))).toBeLessThanOrEqual(60);
});

test('the last thousand accounts are kept', () => {
	const first = of('first');
	for (let key = 0; key < 999; key++) of(`key ${key}`);
	expect(of('first')).toBe(first);
	of('one more');
	of('and one');
	expect(accounts.size).toBe(1_000);
	expect(of('first')).toBe(first);
});
