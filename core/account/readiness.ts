/** The orders of one run that get ready while no slot is free: when one becomes free, the next task is there. */
const MOST_AHEAD = 10;

/**
 * Orders that get ready for a slot, which takes a moment: the row of a purchase is written before its request. They do that
 * before they have a slot, so that it does not stay empty meanwhile; but only those that are next, because after a crash
 * nobody knows of them whether they were sent.
 */
export class Readiness {
	/** The number of those that are getting ready, or are ready and wait, by run. */
	private readonly ahead = new WeakMap<object, number>();

	/** Those that may not yet, by run. */
	private readonly waiting = new Map<object, Set<() => void>>();

	private count = 0;

	/** Notes that an order of the run wants to get ready. Returns a function that forgets it, as long as it has not begun. */
	add(run: object, begin: () => void): () => void {
		const waiting = this.waiting.get(run) ?? new Set();
		this.waiting.set(run, waiting.add(begin));
		return () => this.forget(run, begin);
	}

	/** Notes that one that has begun has its slot, or has given up. */
	left(run: object): void {
		this.countOne(run, -1);
	}

	/** Lets those begin that may, where so many slots are free. */
	serve(free: number): void {
		for (const [run, waiting] of this.waiting) {
			for (const begin of waiting) {
				if ((this.ahead.get(run) ?? 0) >= MOST_AHEAD && this.count >= free) break;
				this.forget(run, begin);
				this.countOne(run, 1);
				begin();
			}
		}
	}

	private forget(run: object, begin: () => void): void {
		const waiting = this.waiting.get(run);
		waiting?.delete(begin);
		if (waiting?.size === 0) this.waiting.delete(run);
	}

	private countOne(run: object, more: 1 | -1): void {
		this.count += more;
		this.ahead.set(run, (this.ahead.get(run) ?? 0) + more);
	}
}
