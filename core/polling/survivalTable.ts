/**
 * Learns the durations of one kind of task: of those that reached an age, the share that finished soon after.
 *
 * It works as actuaries do it. Ages are divided into bins; each bin counts the tasks that reached it and the tasks that
 * finished in it. A running task counts as having reached every bin that it has outlived, so a batch teaches itself,
 * but only while it is waited for. A finished task is spread over the interval between its last two polls, as the table
 * would have expected it: the moment of the poll would teach the lateness of the polls.
 */

/** A span of ages, in milliseconds. Within it, every moment is as likely as another. */
export interface Bin {
	readonly fromMs: number;
	readonly toMs: number;
}

/** The end of a bin, as a multiple of its beginning. Larger blurs tasks that take equally long; smaller learns chance. */
const GROWTH = 1.3;
/** The end of the first bin, in milliseconds. It places the grid: a task that ends just behind an edge is seen later. */
const YOUNGEST_MS = 500;
/** The end of the last bin, in milliseconds: of older tasks nothing is believed. */
const OLDEST_MS = 86_400_000;
/**
 * The guess before anything is learned: between these ages each order of magnitude is equally likely, in milliseconds.
 * Twice the lower end sees new short tasks later by that second; twice the upper end changes little.
 */
const PRIOR_FROM_MS = 1_000;
const PRIOR_TO_MS = 1_800_000;
/** The weight of that guess, in tasks. Twice as much learns more slowly; half takes the first task for the rule. */
const PRIOR_TASKS = 0.5;
/** The share of earlier tasks that one more leaves. Nearer to 1 recovers more slowly when the service changes. */
const FADING = 0.9;

export const BINS: readonly Bin[] = makeBins();

function makeBins(): Bin[] {
	const bins: Bin[] = [{ fromMs: 0, toMs: YOUNGEST_MS }];
	for (let fromMs = YOUNGEST_MS; fromMs < OLDEST_MS; fromMs *= GROWTH) bins.push({ fromMs, toMs: fromMs * GROWTH });
	return bins;
}

/** Tasks that have reached a bin, and those that have finished in it: no whole numbers, because earlier ones fade. */
interface Count {
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
	private readonly counts = PRIOR.map((count) => ({ ...count }));

	/** For each bin, the running tasks that have outlived it. */
	private readonly outlived = BINS.map(() => 0);

	/** Tasks that are being waited for. */
	running = 0;

	/** Tasks that were learned. */
	learned = 0;

	/** Of the tasks that reach a bin, the share that finishes in it. */
	shareFinished(index: number): number {
		const { reached, finished } = this.counts[index] as Count;
		return finished / (reached + (this.outlived[index] as number));
	}

	/** Counts a running task that was seen at the second age after the first one. The second is 0 when it runs no more. */
	seenRunning(beforeMs: number, ageMs: number): void {
		for (const [index, { toMs }] of BINS.entries())
			this.outlived[index] = (this.outlived[index] as number) + Number(toMs <= ageMs) - Number(toMs <= beforeMs);
	}

	/** Learns a task that has finished between these ages; not one that is older than any bin. */
	learn(fromMs: number, toMs: number): void {
		const shares = this.densities().map((density, index) => {
			const bin = BINS[index] as Bin;
			const withinMs = Math.max(0, Math.min(bin.toMs, toMs) - Math.max(bin.fromMs, fromMs));
			// Never nothing, or it could not be learned.
			return Math.max(density, 1e-6 / (bin.toMs - bin.fromMs)) * withinMs;
		});
		const sum = shares.reduce((total, share) => total + share, 0);
		if (sum === 0) return;
		this.learned++;
		let running = 1;
		for (const [index, count] of this.counts.entries()) {
			const prior = PRIOR[index] as Count;
			const finished = (shares[index] as number) / sum;
			const reached = (BINS[index] as Bin).fromMs < toMs ? running : 0;
			count.reached = prior.reached + FADING * (count.reached - prior.reached) + reached;
			count.finished = prior.finished + FADING * (count.finished - prior.finished) + finished;
			running = Math.max(0, running - finished);
		}
	}

	/** For each bin, the probability per millisecond that a new task ends in it. */
	densities(): number[] {
		let running = 1;
		return BINS.map(({ fromMs, toMs }, index) => {
			const finished = running * this.shareFinished(index);
			running -= finished;
			return finished / (toMs - fromMs);
		});
	}
}
