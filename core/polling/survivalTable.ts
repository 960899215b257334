/**
 * How old tasks of one kind get: of those that reached an age, what share finished soon after.
 *
 * It works as actuaries do it. Ages are divided into bins; each bin counts the tasks that reached it and the tasks
 * that finished in it. A running task counts as having reached every bin that it has outlived, so a batch teaches
 * itself; one that is given up (timeout, stop) is taken out again. When a finished task really finished is not known,
 * only the checks before and after: it is spread over that interval as the table would have expected it. Taking the
 * moment of the check instead would teach the lateness of the checks.
 */

/** A span of ages within which one moment is as likely as another. Milliseconds. */
export interface Bin {
	readonly fromMs: number;
	readonly toMs: number;
}

/** Width of a bin, by its age. Twice the width blurs tasks that take equally long; half believes in accidents. */
const GROWTH = 1.3;
/** Where the first bin ends. No check comes before, but it places the grid: what lies just behind an edge is seen later. Milliseconds. */
const YOUNGEST_MS = 500;
/** Where the last bin ends. Half or twice: no difference, because of older tasks nothing is believed. Milliseconds. */
const OLDEST_MS = 86_400_000;
/**
 * With nothing learned, each order of magnitude between these ages is equally likely. Twice as much at the lower end
 * sees new short tasks later by that second; twice as much at the upper end changes little. Milliseconds.
 */
const PRIOR_FROM_MS = 1_000;
const PRIOR_TO_MS = 1_800_000;
/** How many tasks that guess weighs. Twice as much learns more slowly; half takes the first task for the rule. */
const PRIOR_TASKS = 0.5;
/** What is left of earlier tasks when one more has finished. Nearer to 1 heals more slowly when the service changes. */
const FADING = 0.9;

export const BINS: readonly Bin[] = makeBins();

function makeBins(): Bin[] {
	const bins: Bin[] = [{ fromMs: 0, toMs: YOUNGEST_MS }];
	for (let fromMs = YOUNGEST_MS; fromMs < OLDEST_MS; fromMs *= GROWTH) bins.push({ fromMs, toMs: fromMs * GROWTH });
	return bins;
}

interface Count {
	/** Tasks that reached the bin, and those of them that finished in it. They fade, so they are no whole numbers. */
	reached: number;
	finished: number;
}

const PRIOR: readonly Count[] = makePrior();

function makePrior(): Count[] {
	let reached = PRIOR_TASKS;
	return BINS.map(({ fromMs, toMs }) => {
		const startMs = Math.max(fromMs, PRIOR_FROM_MS);
		// Of those that get older than half of the upper end, half finish before they are twice as old.
		const share = toMs <= startMs ? 0 : Math.log(toMs / startMs) / Math.log(Math.max(2, PRIOR_TO_MS / startMs));
		const count = { reached, finished: reached * share };
		reached -= count.finished;
		return count;
	});
}

export class SurvivalTable {
	private readonly counts: Count[] = PRIOR.map((count) => ({ ...count }));

	/** Tasks that are being waited for. */
	running = 0;

	/** Changes whenever a count does. */
	version = 0;

	/** Tasks that were learned. */
	private learned = 0;

	/** Of those that reach a bin, the share that finishes in it. */
	shareFinished(index: number): number {
		const { reached, finished } = this.counts[index] as Count;
		return finished / reached;
	}

	/** A task that is waited for from now on. */
	begin(): Observation {
		this.running++;
		return new Observation(this);
	}

	/** @internal Another task has outlived the bin. Returns when, in finished tasks. */
	outlived(index: number): number {
		(this.counts[index] as Count).reached++;
		this.version++;
		return this.learned;
	}

	/** @internal Takes out what `outlived` has counted. */
	takeOut(index: number, since: number): void {
		(this.counts[index] as Count).reached -= FADING ** (this.learned - since);
		this.version++;
	}

	/** @internal */
	learn(fromMs: number, toMs: number): void {
		const shares = this.spread(fromMs, toMs);
		this.learned++;
		this.version++;
		let rest = 1;
		for (const [index, count] of this.counts.entries()) {
			const prior = PRIOR[index] as Count;
			count.reached = prior.reached + FADING * (count.reached - prior.reached);
			count.finished = prior.finished + FADING * (count.finished - prior.finished);
			const share = shares.get(index);
			if (share === undefined) continue;
			count.reached += rest;
			count.finished += share;
			rest = Math.max(0, rest - share);
		}
	}

	/** How likely the table holds each bin to be, for a task that has finished between these ages. */
	private spread(fromMs: number, toMs: number): Map<number, number> {
		const shares = new Map<number, number>();
		let alive = 1;
		let sum = 0;
		for (const [index, bin] of BINS.entries()) {
			if (bin.fromMs >= toMs) break;
			const withinMs = Math.min(bin.toMs, toMs) - Math.max(bin.fromMs, fromMs);
			if (withinMs <= 0) continue;
			// Never nothing, or it could not be learned.
			const share = Math.max(alive * this.shareFinished(index), 1e-6) * (withinMs / (bin.toMs - bin.fromMs));
			alive *= 1 - this.shareFinished(index);
			shares.set(index, share);
			sum += share;
		}
		for (const [index, share] of shares) shares.set(index, share / sum);
		return shares;
	}
}

/** One task in the table, from its beginning until it has finished or is given up. */
export class Observation {
	private lastCheckMs = 0;

	/** Per bin that it has outlived: when it was counted. */
	private readonly counted: number[] = [];

	private over = false;

	constructor(private readonly table: SurvivalTable) {}

	/** How many tasks of its kind are being waited for, this one included. */
	get running(): number {
		return this.table.running;
	}

	/** It still ran at this age. */
	pending(ageMs: number): void {
		for (let index = this.counted.length; (BINS[index]?.toMs ?? Infinity) <= ageMs; index++)
			this.counted.push(this.table.outlived(index));
		this.lastCheckMs = Math.max(this.lastCheckMs, ageMs);
	}

	/** It had finished at this age. */
	finished(ageMs: number): void {
		if (this.end() && ageMs > this.lastCheckMs) this.table.learn(this.lastCheckMs, ageMs);
	}

	/** It is not waited for any more. */
	abandoned(): void {
		if (this.end()) for (const [index, since] of this.counted.entries()) this.table.takeOut(index, since);
	}

	private end(): boolean {
		if (this.over) return false;
		this.over = true;
		this.table.running--;
		return true;
	}
}
