import type { Batch } from './batch';

/** The memory of names that survives a crash. */
export interface WaveNameStore {
	/** Writes the names of waves. Returns the waves whose names were written before. */
	record: (waves: number[]) => Promise<number[]>;
	/** False where names of this run may have been dropped. */
	isComplete: () => Promise<boolean>;
	forget: (waves: number[]) => Promise<void>;
}

/**
 * A run keeps the names of its last waves, this many, until it ends. Of earlier waves it keeps only every one whose number is
 * a multiple of this: they are enough to find the last wave, and do not push the names of other runs out of n8n's table.
 */
const KEPT_WAVES = 1000;
/** This many names are written again with the next one: a write of another process at the same moment may have undone them. */
const REPEATED_WAVES = 10;

/**
 * The names of the waves of a run. No number is left out, so that they can be counted. Names say nothing by being absent where
 * others of the run have been dropped.
 */
export class WaveNames {
	/** The first wave of which this execution has not written the name. */
	private unnamed?: number;

	constructor(
		private readonly store: WaveNameStore,
		private readonly batch: Pick<Batch, 'waves' | 'isTakenOver'>,
	) {}

	/** True where the wave may have been sent. Undefined where nobody can say. */
	async wasSent(wave: number): Promise<boolean | undefined> {
		if (await this.isNamed(wave)) return true;
		return (await this.store.isComplete()) ? false : undefined;
	}

	/** To ask for a name is to write it. */
	private async isNamed(wave: number): Promise<boolean> {
		return (await this.store.record([wave])).length > 0;
	}

	/**
	 * Counts the waves of a dead execution of which the orders know nothing: Infinity where nobody can say. The search writes the first name that is not
	 * there. No wave gets that number: even if the name were removed, a write of another process could bring it back, and it
	 * would look like a wave that was sent.
	 */
	async countUnsaved(): Promise<number> {
		const { batch, store } = this;
		if (!batch.isTakenOver) return 0;
		const isComplete = await store.isComplete();
		let wave = batch.waves;
		let landmark = (Math.floor(wave / KEPT_WAVES) + 1) * KEPT_WAVES;
		for (; await this.isNamed(landmark); landmark += KEPT_WAVES) wave = landmark;
		await store.forget([landmark]).catch(() => {});
		while (await this.isNamed(wave)) wave++;
		const unsaved = wave - batch.waves;
		batch.waves = wave + 1;
		return isComplete ? unsaved : Infinity;
	}

	/**
	 * Writes the name of a wave, and those before it that may be missing. Returns true where it was there already, or that of a
	 * number that the wave has taken with its own.
	 *
	 * @param own the first of these numbers
	 */
	async write(wave: number, own = wave): Promise<boolean> {
		const first = Math.min(this.unnamed ?? 0, own, wave - REPEATED_WAVES);
		const outdated = numbers(Math.max(0, (this.unnamed ?? wave) - KEPT_WAVES), wave + 1 - KEPT_WAVES);
		const known = await this.store.record(namesKept(wave + 1).filter((each) => each >= first));
		this.unnamed = wave + 1;
		const removed = outdated.filter((old) => old % KEPT_WAVES !== 0);
		if (removed.length > 0) await this.store.forget(removed).catch(() => {});
		return known.some((each) => each >= own);
	}
}

/** The waves of a run with so many of them whose names are there. */
export function namesKept(waves: number): number[] {
	return numbers(0, waves).filter((wave) => wave % KEPT_WAVES === 0 || wave + KEPT_WAVES >= waves);
}

/** The numbers from the first to the one before the end. */
function numbers(first: number, end: number): number[] {
	return Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
}
