import type { JournalRow } from './row';

/** n8n offers no table that the journal could use: found out by looking, so nothing was written. */
export class NoTableError extends Error {
	override readonly name = 'NoTableError';
}

/** The claims to look for once rows are in the table: leases of the run, and attempts under the same Purchase Keys. */
export interface Look {
	/** Values of the column `key_hash`. The first one is that of the run. */
	claims: string[];
	/** Rows up to this number are older than the execution. Ignored where there are several claims. */
	afterId: number;
}

/** The table of the journal, wherever it is. Rows are added only. */
export interface JournalTable {
	/** The highest number of a row that this process had seen when the execution began. */
	readonly seenId: number;
	/** The ID of the table, as soon as it is known: a person may rename it, and then another one has the name. */
	readonly id?: string;
	/**
	 * Adds rows, waits until everybody can see them, and reads all rows with these claims, the newest first. Rejects where the rows
	 * may or may not be there; with `NoTableError` where they surely are not, because there is no table for them.
	 */
	insertAndLook: (rows: JournalRow[], look: Look) => Promise<unknown[]>;
	/** Reads the rows with these claims, the newest first. */
	look: (look: Look) => Promise<unknown[]>;
	/** Adds a row without a hurry. Resolves when it is there, or was given up; never rejects. */
	insertLater: (row: JournalRow) => Promise<void>;
	/** Begins to write the rows that wait. Resolves when they have been written, or cannot be. */
	flush: () => Promise<void>;
	/**
	 * All rows whose column `run` is like the pattern, the oldest first. Rejects where not all of them can be read.
	 *
	 * @param pattern see `patternOfRun`
	 */
	rowsOfRun: (pattern: string) => Promise<unknown[]>;
	/** The rows of a Purchase Key in the table that has the name now, the newest first. Rejects where they cannot be read. */
	rowsOfKey: (keyHash: string) => Promise<unknown[]>;
	/** The rows of these requests, the newest first. Rejects where they cannot be read. */
	rowsOfRequests: (requestHashes: string[]) => Promise<unknown[]>;
}
