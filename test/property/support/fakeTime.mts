/**
 * Fake time for everything in this process: Jest's fake timers stand in for the clock of the product and of the
 * sandbox alike, and move on only when all that can go on has gone on.
 */

/** Requests that the sandbox works on right now: they need real turns of the event loop, not fake time. */
let working = 0;

const START_MS = Date.UTC(2026, 0, 1);
/** Turns without any work after which everything is taken to wait for the clock. */
const QUIET_TURNS = 3;
const MOST_TURNS = 20_000;

const nextTurn = async () => await new Promise<void>((resolve) => setImmediate(resolve));

export function startFakeTime(): void {
	jest.useFakeTimers({
		now: START_MS,
		doNotFake: ['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'],
	});
}

/** Every run begins at the same moment and with the same chances. */
export function restartFakeTime(randomness: number): void {
	jest.clearAllTimers();
	jest.setSystemTime(START_MS);
	jest.restoreAllMocks();
	jest.spyOn(Math, 'random').mockImplementation(randomNumbers(randomness));
}

export function endFakeTime(): void {
	jest.restoreAllMocks();
	jest.useRealTimers();
}

export const elapsedMs = () => Date.now() - START_MS;

/** The sandbox's sleep: while it sleeps, nothing is being worked on. */
export async function sleepInFakeTime(delayMs: number): Promise<void> {
	working--;
	await new Promise<void>((resolve) => setTimeout(resolve, delayMs));
	working++;
}

/**
 * Counts work that goes on in real time. Its result is handed on in a turn of the event loop of its own, so
 * that all that follows from one answer has followed before the next answer arrives.
 */
export async function inRealTime<T>(work: () => PromiseLike<T>): Promise<T> {
	working++;
	try {
		return await work();
	} finally {
		await nextTurn();
		working--;
	}
}

/** Lets time pass until the work has ended. */
export async function passTimeUntil<T>(work: Promise<T>): Promise<T> {
	let ended = false;
	const end = () => (ended = true);
	work.then(end, end);
	for (;;) {
		await settle();
		if (ended) return await work;
		if (jest.getTimerCount() === 0) throw new Error('Everything waits, and nothing is going to happen');
		jest.advanceTimersToNextTimer();
	}
}

/** Lets happen what is still on its way: answers that nobody waits for any more. */
export async function passRemainingTime(): Promise<void> {
	for (;;) {
		await settle();
		if (jest.getTimerCount() === 0) return;
		jest.advanceTimersToNextTimer();
	}
}

async function settle(): Promise<void> {
	let quiet = 0;
	for (let turn = 0; quiet < QUIET_TURNS; turn++) {
		if (turn > MOST_TURNS) throw new Error('An answer never comes');
		await nextTurn();
		quiet = working === 0 ? quiet + 1 : 0;
	}
}

/** Mulberry32: small, and good enough for jitter. */
function randomNumbers(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
