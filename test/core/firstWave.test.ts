/** The first submissions of a run whose orders go on in another execution. */
import { FirstWave } from '../../core/orders/firstWave';
import { deferred, flushPromises } from './support';

function wave(orders: number, places: number) {
	const timer = deferred<void>();
	const sleep = jest.fn(async () => await timer.promise);
	const made = new FirstWave({ now: () => 0, random: () => 0, sleep }, orders, places);
	return { made, sleep, timer };
}

test('the first wave is over when all places are taken', async () => {
	const { made } = wave(3, 2);
	const first = made.accepted();
	expect(made.signal.aborted).toBe(false);
	await Promise.all([first, made.accepted()]);
	expect(made.signal.aborted).toBe(true);
});

test('the first wave is over when nothing is left to submit: accepted, refused, or ended', async () => {
	const { made } = wave(3, 50);
	const waits = [made.accepted()];
	made.ended();
	expect(made.signal.aborted).toBe(false);
	waits.push(made.accepted());
	await Promise.all(waits);
	expect(made.signal.aborted).toBe(true);
});

test('the first wave is over half a second after its first request, however many it sends', async () => {
	const { made, sleep, timer } = wave(9, 9);
	expect(sleep).not.toHaveBeenCalled();
	made.begin();
	made.begin();
	expect(sleep.mock.calls).toEqual([[500, made.signal]]);
	timer.resolve();
	await flushPromises();
	expect(made.signal.aborted).toBe(true);
	await made.accepted();
});

test('the first wave is over half a second after an acceptance without a request, as of an earlier try', async () => {
	const { made, timer } = wave(9, 9);
	const wait = made.accepted();
	timer.resolve();
	await wait;
	expect(made.signal.aborted).toBe(true);
});

test.each([
	[250, false],
	[251, true],
])('the first wave is over when a request has to wait for %s ms: %s', (pauseMs, isOver) => {
	const { made } = wave(9, 9);
	made.putOff(pauseMs);
	expect(made.signal.aborted).toBe(isOver);
});

test('an order that was accepted keeps its place until the first wave is over', async () => {
	const { made } = wave(2, 2);
	const over = jest.fn();
	const first = made.accepted().then(over);
	await flushPromises();
	expect(over).not.toHaveBeenCalled();
	await made.accepted();
	await first;
	expect(over).toHaveBeenCalledTimes(1);
});
