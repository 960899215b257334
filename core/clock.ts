/**
 * Waits; resolves early when the signal aborts (the caller checks the signal), or after `atMostMs`, where the caller
 * wants to see whether it still is to wait.
 */
export type Sleep = (delayMs: number, signal?: AbortSignal, atMostMs?: number) => Promise<void>;

/** What the core needs of the world around it. Times are milliseconds. */
export interface Clock {
	now: () => number;
	sleep: Sleep;
	/** A number in [0, 1). */
	random: () => number;
}

/** The longest piece of work without a break. Twice as long, and n8n answers everybody else twice as late. */
const LONGEST_WORK_MS = 10;

/**
 * For loops over many items: returns a function that takes a break when one is due. Until then n8n, which does
 * everything in one thread, answers nobody: an `await` alone does not let anything else run.
 */
export function takingBreaks({ now, sleep }: Clock): () => Promise<void> {
	let sinceMs = now();
	return async () => {
		if (now() - sinceMs < LONGEST_WORK_MS) return;
		await sleep(1);
		sinceMs = now();
	};
}
