/** Stops, the time without jumps, and breaks in long work. */
import { onAbort, untilAborted } from '../../core/abort';
import { steady, takingBreaks } from '../../core/clock';
import { deferred, fakeClock } from './support';

describe('a stop', () => {
	test('a stop wakes each of those who listen once, and nobody who has been forgotten', () => {
		const stop = new AbortController();
		const [first, second, third] = [jest.fn(), jest.fn(), jest.fn()];
		onAbort(stop.signal, first);
		const forget = onAbort(stop.signal, second);
		onAbort(stop.signal, third);
		forget();
		stop.abort();
		expect([first, second, third].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
	});

	test('a stop has one listener, however many wait for it: Node takes more for a leak', () => {
		const { signal } = new AbortController();
		const listen = jest.spyOn(signal, 'addEventListener');
		for (let waiting = 0; waiting < 20; waiting++) onAbort(signal, () => {});
		expect(listen.mock.calls.map(([, , options]) => options)).toEqual([{ once: true }]);
	});

	test('a signal that nobody waits for any more has no listener: Node would keep one of AbortSignal.any for ever', () => {
		const { signal } = new AbortController();
		const listeners = new Set<unknown>();
		jest.spyOn(signal, 'addEventListener').mockImplementation((_, listener) => void listeners.add(listener));
		jest.spyOn(signal, 'removeEventListener').mockImplementation((_, listener) => void listeners.delete(listener));
		const [forgetFirst, forgetSecond] = [onAbort(signal, () => {}), onAbort(signal, () => {})];
		forgetFirst();
		expect(listeners.size).toBe(1);
		forgetSecond();
		expect(listeners.size).toBe(0);
	});

	test('a stop ends the wait for an answer, which has no result then', async () => {
		const stop = new AbortController();
		const answer = deferred<string>();
		const waiting = untilAborted(answer.promise, stop.signal);
		stop.abort();
		expect(await waiting).toBeUndefined();
		expect(await untilAborted(Promise.resolve('it'), new AbortController().signal)).toBe('it');
		expect(await untilAborted(Promise.resolve('it'))).toBe('it');
	});
});

test('a clock that somebody sets goes on without a jump', () => {
	const times = { now: 5_000, elapsed: 70 };
	const sleep = async () => await Promise.resolve();
	const random = () => 0.5;
	const clock = steady({ now: () => times.now, elapsed: () => times.elapsed, sleep, random });
	expect(clock.now()).toBe(5_000);
	Object.assign(times, { now: 1_000, elapsed: 80 });
	expect(clock.now()).toBe(5_010);
	expect([clock.sleep, clock.random]).toEqual([sleep, random]);
	const plain = fakeClock();
	expect(steady(plain)).toBe(plain);
});

test('long work takes a break of a millisecond every ten', async () => {
	const clock = fakeClock();
	const breakIfDue = takingBreaks(clock);
	for (const passedMs of [9, 1, 9.5, 0.5, 10, 0]) {
		clock.at += passedMs;
		await breakIfDue();
	}
	expect(clock.slept).toEqual([1, 1, 1]);
});
