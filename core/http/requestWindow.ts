/** The largest limit, whatever number is given: the window keeps one time per request. */
export const MOST_REQUESTS_PER_SECOND = 1000;

/** The length of the window, a little above a second: requests that leave a second apart may arrive a little closer. */
export const WINDOW_MS = 1030;
/**
 * Requests that may leave at the same moment keep this share of the even spacing, so that they do not arrive all at
 * once.
 */
const SHORTEST_SPACING = 0.5;

/** A sliding window: no more than `most` requests leave within it. */
export class RequestWindow {
	most = 1;

	/** The times of the last requests, in a ring: as many as the largest limit needs. */
	private readonly leftAtMs: number[] = [];

	private left = 0;

	constructor(requestsPerSecond: number) {
		this.limitTo(requestsPerSecond);
	}

	get spacingMs(): number {
		return 1000 / this.most;
	}

	get lastAtMs(): number {
		return this.backAtMs(1);
	}

	/** Changes the limit. What has left counts for the new one, too. */
	limitTo(requestsPerSecond: number): void {
		this.most = Math.max(1, Math.floor(Math.min(MOST_REQUESTS_PER_SECOND, requestsPerSecond)) || 1);
	}

	/** The time from which one more may leave. */
	freeAtMs(slowedToMs: number): number {
		const spacingMs = Math.max(slowedToMs, this.spacingMs * SHORTEST_SPACING);
		return Math.max(this.lastAtMs + spacingMs, this.backAtMs(this.most) + WINDOW_MS);
	}

	leaves(nowMs: number): void {
		this.leftAtMs[this.left++ % MOST_REQUESTS_PER_SECOND] = nowMs;
	}

	/** The time of the request that left so many ago: 1 is the last one. */
	private backAtMs(requests: number): number {
		return this.leftAtMs[(this.left - requests) % MOST_REQUESTS_PER_SECOND] ?? -Infinity;
	}
}
