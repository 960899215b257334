/**
 * Which callbacks have been told of: each once, however often a browser repeats them. What was told as not
 * verified may be told once more when it turns out to be verified.
 */
export class CallbackLog {
	private readonly told = new Map<string, { verified: boolean; atMs: number }>();

	/** Whether this callback is still to be told of. */
	isNew(key: string, verified: boolean, nowMs: number): boolean {
		this.forgetOld(nowMs);
		const before = this.told.get(key);
		return !before || (verified && !before.verified);
	}

	/** It counts as told from here on. */
	tell(key: string, verified: boolean, nowMs: number): void {
		this.told.delete(key);
		this.told.set(key, { verified, atMs: nowMs });
		this.forgetOld(nowMs);
	}

	/** Whether a lookup can still bring anything new. */
	isSettled(key: string, nowMs: number): boolean {
		this.forgetOld(nowMs);
		return this.told.get(key)?.verified === true;
	}

	get size(): number {
		return this.told.size;
	}

	/** A day is far longer than any link lives; the number bounds what a flood of made-up callbacks can take up. */
	private forgetOld(nowMs: number): void {
		for (const [key, { atMs }] of this.told) {
			if (nowMs - atMs < REMEMBER_FOR_MS && this.told.size <= MOST) return;
			this.told.delete(key);
		}
	}
}

const REMEMBER_FOR_MS = 24 * 3_600_000;
const MOST = 10_000;

/** Lets through at most so many of a kind within any one minute. */
export class PerMinute {
	private readonly passed = new Map<string, number[]>();

	constructor(private readonly most: number) {}

	allows(kind: string, nowMs: number): boolean {
		const recent = (this.passed.get(kind) ?? []).filter((atMs) => nowMs - atMs < 60_000);
		const allowed = recent.length < this.most;
		this.passed.set(kind, allowed ? [...recent, nowMs] : recent);
		return allowed;
	}
}
