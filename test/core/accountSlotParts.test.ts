/** The parts of the slots of an account: what was learned of their number, and who gets ready for one. */
import { LearnedLimit } from '../../core/account/learnedLimit';
import { Readiness } from '../../core/account/readiness';
import { fakeClock } from './support';

describe('the number of tasks that was learned', () => {
	test('the number of tasks that was learned is none until the service refuses one, and grows with what fits', () => {
		const limit = new LearnedLimit(fakeClock());
		limit.fitted(3);
		expect(limit.tasks).toBe(Infinity);
		limit.refused(5, 0);
		limit.fitted(4);
		expect(limit.tasks).toBe(5);
		limit.fitted(6);
		expect(limit.tasks).toBe(6);
	});

	test('the number of tasks that was learned grows by ever more after tries of one more that have fitted, until one is refused', () => {
		const limit = new LearnedLimit(fakeClock());
		limit.refused(5, 0);
		const grown = [1, 2, 3].map(() => (limit.grow(), limit.tasks));
		limit.refused(9, 0);
		limit.grow();
		expect([...grown, limit.tasks]).toEqual([6, 8, 12, 10]);
	});

	test('one more task may be tried ever later while none fits, after a minute at most, and soon after one has', () => {
		const clock = fakeClock();
		const limit = new LearnedLimit(clock);
		const pauseMs = (askedMs = 0) => (limit.refused(5, askedMs), limit.probeAtMs - clock.at);
		expect([limit.probeAtMs, pauseMs(), pauseMs(7_000), pauseMs(3_600_000)]).toEqual([0, 1_000, 7_000, 60_000]);
		const later = Array.from({ length: 7 }, () => (limit.probeRefused(), pauseMs()));
		expect(later).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
		limit.grow();
		expect(limit.probeAtMs - clock.at).toBe(100);
		expect(pauseMs()).toBe(1_000);
	});
});

describe('getting ready', () => {
	const begin = () => jest.fn<void, []>();
	const addTo = (readiness: Readiness, run: object, count: number) =>
		Array.from({ length: count }, () => {
			const begun = begin();
			return { begun, forget: readiness.add(run, begun) };
		});
	const begunOf = (orders: ReturnType<typeof addTo>) =>
		orders.filter(({ begun }) => begun.mock.calls.length > 0).length;

	test('ten orders of a run get ready although no slot is free, in the order in which they came, each once', () => {
		const readiness = new Readiness();
		const [run, other] = [addTo(readiness, {}, 12), addTo(readiness, {}, 1)];
		readiness.serve(0);
		readiness.serve(0);
		expect([begunOf(run), begunOf(run.slice(0, 10)), begunOf(other)]).toEqual([10, 10, 1]);
		expect(run[0]?.begun).toHaveBeenCalledTimes(1);
	});

	test('more orders get ready where slots are free, and one more for each that has its slot', () => {
		const readiness = new Readiness();
		const key = {};
		const run = addTo(readiness, key, 30);
		readiness.serve(12);
		expect(begunOf(run)).toBe(12);
		for (let placed = 0; placed < 3; placed++) readiness.left(key);
		readiness.serve(0);
		expect(begunOf(run)).toBe(13);
		readiness.serve(12);
		expect(begunOf(run)).toBe(15);
	});

	test('an order that has given up does not get ready, and nothing is kept of its run', () => {
		const readiness = new Readiness();
		const [first, second] = addTo(readiness, {}, 2);
		const kept = () => Object.values(readiness).flatMap((value) => (value instanceof Map ? [...value.keys()] : []));
		first?.forget();
		readiness.serve(5);
		expect([first?.begun.mock.calls.length, second?.begun.mock.calls.length]).toEqual([0, 1]);
		expect(kept()).toEqual([]);
		second?.forget();
		readiness.serve(5);
		expect(second?.begun).toHaveBeenCalledTimes(1);
	});
});
