import { z } from 'zod';

/** Waits. Resolves early when the signal aborts, or after `atMostMs`: the caller checks the signal, or waits on. */
export type Sleep = (delayMs: number, signal?: AbortSignal, atMostMs?: number) => Promise<void>;

/** A time that is stored, in Unix milliseconds: no date can be later. */
export const unixMs = z.number().min(0).max(8.64e15);

/** The time, as the core needs it. All times are milliseconds. */
export interface Clock {
	now: () => number;
	/**
	 * Milliseconds since any moment, by a clock that cannot be set. Absent where `now` is such a clock. The clock of a
	 * computer can be set back by hours, and a wait until a certain time would take these hours longer.
	 */
	elapsed?: () => number;
	sleep: Sleep;
	/** A number in [0, 1). */
	random: () => number;
}

/** The same clock without jumps: for durations and deadlines. */
export function steady(clock: Clock): Clock {
	const { elapsed, random, sleep } = clock;
	if (elapsed === undefined) return clock;
	const startedAtMs = clock.now() - elapsed();
	return { now: () => startedAtMs + elapsed(), random, sleep };
}

/** The most that a time may lie ahead of the clock, in milliseconds: less comes from rounding. */
const AHEAD_MS = 1_000;

/** True for a time that has not come yet: another computer has noted it, or the clock was set back since. */
export function isAhead(atMs: number, nowMs: number): boolean {
	return atMs > nowMs + AHEAD_MS;
}

/** The longest piece of work without a break. Twice as long, and n8n answers all others twice as late. */
const LONGEST_WORK_MS = 10;

/**
 * Returns a function for loops over many items, which takes a break when one is due. n8n does everything in one thread,
 * so without a break it answers no request: an `await` alone lets nothing else run.
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
