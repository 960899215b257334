/**
 * Waits; resolves early when the signal aborts (the caller checks the signal), or after `atMostMs`, where the caller
 * wants to see whether it still is to wait.
 */
export type Sleep = (delayMs: number, signal?: AbortSignal, atMostMs?: number) => Promise<void>;

/** What the core needs of the world around it. Times are milliseconds. */
export interface Clock {
	now: () => number;
	/**
	 * Milliseconds since any moment, by a clock that nobody sets. Absent where `now` is one already: the clock of a
	 * computer can be set back by hours, and what waits for a moment would wait for hours more.
	 */
	elapsed?: () => number;
	sleep: Sleep;
	/** A number in [0, 1). */
	random: () => number;
}

/** The same clock, which from here on only runs: by it durations are measured, and waits end. */
export function steady(clock: Clock): Clock {
	const { elapsed, random, sleep } = clock;
	if (elapsed === undefined) return clock;
	const startedAtMs = clock.now() - elapsed();
	return { now: () => startedAtMs + elapsed(), random, sleep };
}

/** The longest piece of work without a break. Twice as long, and n8n answers everybody else twice as late. */
const LONGEST_WORK_MS = 10;

/**
 * For loops over many items: returns a function that takes a break when one is due. Until then n8n, which does
 * everything in one thread, answers nobody: an `await` alone does not let anything else run.
 */
export function takingBreaks(clock: Clock): () => Promise<void> {
	const { now, sleep } = steady(clock);
	let sinceMs = now();
	return async () => {
		if (now() - sinceMs < LONGEST_WORK_MS) return;
		await sleep(1);
		sinceMs = now();
	};
}
