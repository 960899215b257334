import { marksWithRows, type WriteAheadLog, type WriteAheadScope, type WriteAheadStore } from '../orders/writeAheadLog';

/** The marks that earlier tries of a run have left in n8n's table of processed data. */
export interface FoundMarks {
	/** A try has sent a request after its row. */
	withRows: boolean;
	/** The number of first tries that have done so: 2 stands for more, too. */
	firstTries: number;
	/** A try has sent requests without rows, or may have. */
	withoutRows: boolean;
}

/**
 * The marks of runs with rows, from before the first request of a try: one for all tries, and one for each first try. A retry that
 * finds the first one knows that rows must be there; with the other one, also those of the first try. Without them, a table that a
 * person has cleared would look like a run that has sent nothing.
 *
 * A run without rows writes names of its own (`writeAheadLog.ts`): a retry that finds these submits nothing, whatever rows there
 * are.
 */
export class Marks {
	private readonly ofRun: string;

	private readonly slots: string[];

	/** The marks of this try. */
	private own: string[] = [];

	constructor(
		scope: Pick<WriteAheadScope, 'execution' | 'runIndex'>,
		private readonly withoutRows: Pick<WriteAheadLog, 'wasFound' | 'name'>,
		private readonly store?: WriteAheadStore,
	) {
		[this.ofRun = '', ...this.slots] = marksWithRows(scope);
	}

	/** The marks of earlier tries. To ask is to write: what was not there is removed again. */
	async find(): Promise<FoundMarks> {
		const withoutRows = await this.withoutRows.wasFound();
		const names = [this.ofRun, ...this.slots];
		const found = await this.record(names);
		await this.store?.remove(names.filter((name) => !found.includes(name)));
		return {
			withRows: found.length > 0,
			firstTries: found.filter((name) => this.slots.includes(name)).length,
			withoutRows,
		};
	}

	/**
	 * Writes the mark of a try, and asks for one of this very execution: n8n 1.x hands an execution whose worker is gone on under the
	 * same ID. Returns `taken` where another process has sent something for it; `beside` where another try of the run may have, or
	 * another execution that began in the same millisecond.
	 *
	 * @param isFirst false: a retry
	 */
	async write(isFirst: boolean): Promise<'alone' | 'beside' | 'taken'> {
		const [slot = '', next = ''] = this.slots;
		this.own = [this.withoutRows.name, this.ofRun, ...(isFirst ? [slot] : [])];
		const found = await this.record(this.own);
		if (found.includes(this.withoutRows.name)) return 'taken';
		if (found.includes(slot)) {
			this.own.push(next);
			await this.record([next]);
		}
		return found.length === 0 ? 'alone' : 'beside';
	}

	/** Writes the same marks again: a retry that has asked for them at the same moment takes them for its own, and removes them. */
	async writeAgain(): Promise<void> {
		await this.record(this.own);
	}

	private async record(names: string[]): Promise<string[]> {
		if (this.store === undefined) throw new Error('n8n has no table of processed data');
		return await this.store.record(names);
	}
}
