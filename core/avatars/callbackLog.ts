export interface ToldCallback {
	verified: boolean;
	/** Unix milliseconds. */
	atMs: number;
}

/**
 * Remembers the callbacks that have started the workflow: each does so once, however often a browser repeats it. One
 * that was not verified may do so once more when it turns out to be verified.
 */
export class CallbackLog {
	private readonly told = new Map<string, ToldCallback>();

	/** True while the workflow is still to be started for this callback. */
	isNew(key: string, { verified, atMs }: ToldCallback): boolean {
		this.forgetOld(atMs);
		const before = this.told.get(key);
		return !before || (verified && !before.verified);
	}

	/** Notes that the workflow is started for it. */
	tell(key: string, callback: ToldCallback): void {
		this.told.delete(key);
		this.told.set(key, callback);
		this.forgetOld(callback.atMs);
	}

	/** True when another lookup would bring nothing new. */
	isSettled(key: string, nowMs: number): boolean {
		this.forgetOld(nowMs);
		return this.told.get(key)?.verified === true;
	}

	/** Forgets callbacks after a day, which is far longer than any link lives, and the oldest beyond the bound. */
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

	constructor(readonly most: number) {}

	allows(kind: string, nowMs: number): boolean {
		// Those of a clock that was set back since are none of this minute.
		const recent = (this.passed.get(kind) ?? []).filter((atMs) => Math.abs(nowMs - atMs) < 60_000);
		const allowed = recent.length < this.most;
		this.passed.set(kind, allowed ? [...recent, nowMs] : recent);
		for (const [other, times] of this.passed)
			if (Math.abs(nowMs - Math.max(...times)) >= 60_000) this.passed.delete(other);
		return allowed;
	}
}
