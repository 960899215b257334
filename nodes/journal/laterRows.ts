import type { JournalRow } from '../../core/journal/row';

/** Rows are written again after these pauses: the table may have been removed, or the database be locked. */
const PAUSES_MS = [500, 2000];

/** n8n writes so many rows at once as fast as was measured. */
const ROWS_AT_ONCE = 1000;

/** A row that waits until it is written. */
interface Later {
	row: JournalRow;
	failures: number;
	end: () => void;
}

interface Ports {
	/** Rejects where the rows may not be in the table. */
	write: (rows: JournalRow[]) => Promise<void>;
	/** Waits, but not longer than the execution lasts. */
	pause: (delayMs: number) => Promise<void>;
	isStopped: () => boolean;
	/** Rows could not be written in all tries. */
	giveUp: (count: number, why: unknown) => void;
	/** There is nothing more to write now. */
	rest: () => void;
}

/**
 * The rows that no request waits for: IDs and ends. While a write is under way, they gather, and then one write takes all of
 * them, because each costs n8n a sub-execution.
 */
export class LaterRows {
	private waiting: Later[] = [];

	private readonly promises = new Set<Promise<void>>();

	/** The inserts of other rows that are under way. */
	private inserts = 0;

	/** The writes of these rows that are under way: more than one only once the execution is stopped. */
	private writes = 0;

	constructor(private readonly ports: Ports) {}

	/** Resolves when the row is in the table, or was given up. */
	async add(row: JournalRow): Promise<void> {
		const ended = new Promise<void>((end) => this.waiting.push({ row, failures: 0, end }));
		this.promises.add(ended);
		this.begin();
		await ended;
		this.promises.delete(ended);
	}

	/** Resolves when all rows so far are in the table, or were given up. */
	async flush(): Promise<void> {
		this.begin();
		await Promise.all(this.promises);
	}

	/** Lets an insert of other rows take along those that wait. Where it rejects, they wait again. */
	async alongWith<T>(insert: (rows: JournalRow[]) => Promise<T>): Promise<T> {
		const along = this.take();
		this.inserts++;
		const work = insert(along.map(({ row }) => row));
		const ended = work.then(
			() => endAll(along),
			() => void this.waiting.unshift(...along),
		);
		void ended.then(() => {
			this.inserts--;
			this.begin();
		});
		return await work;
	}

	/** Once the execution is stopped, n8n may never tell how what is under way has ended. */
	private mayBegin(underWay: number): boolean {
		return this.waiting.length > 0 && (underWay === 0 || this.ports.isStopped());
	}

	private begin(): void {
		if (this.mayBegin(this.inserts + this.writes)) void this.writeWaiting().then(() => this.ports.rest());
	}

	private async writeWaiting(): Promise<void> {
		this.writes++;
		do {
			const rows = this.take();
			await this.ports.write(rows.map(({ row }) => row)).then(
				() => endAll(rows),
				async (why: unknown) => await this.waitAgain(rows, why),
			);
		} while (this.mayBegin(this.inserts));
		this.writes--;
	}

	private async waitAgain(rows: Later[], why: unknown): Promise<void> {
		for (const row of rows) row.failures++;
		const [again, givenUp] = partition(rows, ({ failures }) => failures <= PAUSES_MS.length);
		if (givenUp.length > 0) this.ports.giveUp(givenUp.length, why);
		endAll(givenUp);
		this.waiting.unshift(...again);
		const [first] = again;
		if (first !== undefined) await this.ports.pause(PAUSES_MS[first.failures - 1] ?? 0);
	}

	private take(): Later[] {
		return this.waiting.splice(0, ROWS_AT_ONCE);
	}
}

function endAll(rows: Later[]): void {
	for (const { end } of rows) end();
}

function partition<T>(all: T[], isFirst: (one: T) => boolean): [T[], T[]] {
	return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}
