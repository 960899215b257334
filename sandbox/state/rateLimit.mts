import { Refusal, wordsFor } from '../http/refusal.mts';

const WINDOW_MS = 1_000;

/**
 * At most so many requests pass within any one second (a sliding window); beyond, 429 with
 * `Retry-After: 1`. Refused requests do not fill the window.
 */
export class RateLimit {
	private passed: number[] = [];
	/** The number of refused requests. */
	refused = 0;

	constructor(private readonly perSecond: number) {}

	check(now: number): void {
		if (this.perSecond === 0 || this.perSecond === Infinity) return;
		while ((this.passed[0] ?? Infinity) <= now - WINDOW_MS) this.passed.shift();
		if (this.passed.length >= this.perSecond) {
			this.refused += 1;
			const { message, code } = wordsFor(429);
			throw new Refusal(429, message, code, { 'retry-after': '1' });
		}
		this.passed.push(now);
	}

	clear(): void {
		this.passed = [];
		this.refused = 0;
	}
}
