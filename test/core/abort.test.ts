/** The listeners of a stop: a run may wait for hundreds of tasks at once, and for days. */
import { onAbort } from '../../core/abort';

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
