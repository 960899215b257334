import { marksWithRows, type WriteAheadLog, type WriteAheadScope, type WriteAheadStore } from '../orders/writeAheadLog';

/** The marks that earlier tries of a run have left in n8n's table of processed data. */
export interface FoundMarks {
	/** The number of first tries that have sent a request, each after its row: 2 stands for more, too. */
	withRows: number;
	/** A try has sent requests without rows, or may have. */
	withoutRows: boolean;
}

/**
 * The marks of runs with rows: one for each first try, from before its first request. A retry that finds one knows that rows must
 * be there. Without it, a table that a person has cleared would look like a run that has sent nothing.
 *
 * A run without rows writes names of its own (`writeAheadLog.ts`): a retry that finds these submits nothing, whatever rows there
 * are.
 */
export class Marks {
	private readonly slots: string[];

	constructor(
		scope: Pick<WriteAheadScope, 'execution' | 'runIndex'>,
		private readonly withoutRows: Pick<WriteAheadLog, 'wasFound' | 'name'>,
		private readonly store?: WriteAheadStore,
	) {
		this.slots = marksWithRows(scope);
	}

	/** The marks of earlier tries. To ask is to write: what was not there is removed again. */
	async find(): Promise<FoundMarks> {
		const withoutRows = await this.withoutRows.wasFound();
		const found = await this.record(this.slots);
		await this.store?.remove(this.slots.filter((slot) => !found.includes(slot)));
		return { withRows: found.length, withoutRows };
	}

	/**
	 * Writes the mark of a try, and asks for one of this very execution: n8n 1.x hands an execution whose worker is gone on under the
	 * same ID. Returns `taken` where another process has sent something for it; `beside` where another try of the run may have, or
	 * another execution that began in the same millisecond.
	 *
	 * @param isFirst false: a retry leaves the mark of the first try, or takes its place
	 */
	async write(isFirst: boolean): Promise<'alone' | 'beside' | 'taken'> {
		const [slot = '', next = ''] = this.slots;
		const found = await this.record([this.withoutRows.name, slot]);
		if (found.includes(this.withoutRows.name)) return 'taken';
		if (!found.includes(slot)) return 'alone';
		if (isFirst) await this.record([next]);
		return 'beside';
	}

	private async record(names: string[]): Promise<string[]> {
		if (this.store === undefined) throw new Error('n8n has no table of processed data');
		return await this.store.record(names);
	}
}
