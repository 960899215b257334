/**
 * Learns the durations of one kind of task: of those that reached an age, the share that finished soon after.
 *
 * It works as actuaries do it. Ages are divided into bins; each bin counts the tasks that reached it and the tasks that
 * finished in it. A running task counts as having reached every bin that it has outlived, so a batch teaches itself;
 * one that nobody waits for any more (timeout, stop) is taken out again. When a finished task really finished is not
 * known, only the polls before and after: it is spread over that interval as the table would have expected it. Taking
 * the moment of the poll instead would teach the lateness of the polls.
 */

/** A span of ages, in milliseconds. Within it, every moment is as likely as another. */
export interface Bin {
	readonly fromMs: number;
	readonly toMs: number;
}

/**
 * The end of a bin, as a multiple of its beginning. Larger blurs tasks that take equally long; smaller sees patterns
 * where there is chance.
 */
const GROWTH = 1.3;
/**
 * The end of the first bin, in milliseconds. No poll comes before, but it places the grid: a task that ends just behind
 * an edge is seen later.
 */
const YOUNGEST_MS = 500;
/**
 * The end of the last bin, in milliseconds. Half or twice: no difference, because of older tasks nothing is believed.
 */
const OLDEST_MS = 86_400_000;
/**
 * The guess before anything is learned: between these ages each order of magnitude is equally likely, in milliseconds.
 * Twice the lower end sees new short tasks later by that second; twice the upper end changes little.
 */
const PRIOR_FROM_MS = 1_000;
const PRIOR_TO_MS = 1_800_000;
/** The weight of that guess, in tasks. Twice as much learns more slowly; half takes the first task for the rule. */
const PRIOR_TASKS = 0.5;
/**
 * The share of earlier tasks that is kept when one more has finished. Nearer to 1 recovers more slowly when the service
 * changes.
 */
const FADING = 0.9;

export const BINS: readonly Bin[] = makeBins();

function makeBins(): Bin[] {
	const bins: Bin[] = [{ fromMs: 0, toMs: YOUNGEST_MS }];
	for (let fromMs = YOUNGEST_MS; fromMs < OLDEST_MS; fromMs *= GROWTH) bins.push({ fromMs, toMs: fromMs * GROWTH });
	return bins;
}

interface Count {
	/**
	 * Tasks that have reached the bin, and those that have finished in it. Earlier tasks count less, so these are no
	 * whole numbers.
	 */
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
	learned = 0;

	/** Of the tasks that reach a bin, the share that finishes in it. */
	shareFinished(index: number): number {
		const { reached, finished } = this.counts[index] as Count;
		return finished / reached;
	}

	/** A new task that is being waited for. */
	begin(): Observation {
		this.running++;
		return new Observation(this);
	}

	/** @internal Counts a task that has outlived the bin. Returns the number of tasks learned so far. */
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

	/** The probability of each bin, for a task that has finished between these ages. */
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

/** One task in the table, until it has finished or nobody waits for it any more. */
export class Observation {
	private lastCheckMs = 0;

	/** For each bin that it has outlived, the number of tasks learned until then. */
	private readonly counted: number[] = [];

	private over = false;

	constructor(private readonly table: SurvivalTable) {}

	/** Tasks of its kind that are being waited for, this one included. */
	get running(): number {
		return this.table.running;
	}

	/** It was unfinished at this age. */
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
