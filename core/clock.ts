/** Waits; resolves early when the signal aborts (the caller checks the signal). */
export type Sleep = (delayMs: number, signal?: AbortSignal) => Promise<void>;

/** What the core needs of the world around it. Times are milliseconds. */
export interface Clock {
	now: () => number;
	sleep: Sleep;
	/** A number in [0, 1). */
	random: () => number;
}
