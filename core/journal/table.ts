import type { JournalRow } from './row';
import type { Clock } from '../clock';

/** n8n offers no table that the journal could use: found out by looking, so nothing was written. */
export class NoTableError extends Error {
	override readonly name = 'NoTableError';
}

/** The table of the journal, wherever it is. Rows are added only. */
export interface JournalTable {
	/** The ID of the table, as soon as it is known: a person may rename it, and then another one has the name. */
	readonly id?: string;
	/**
	 * Adds rows, waits until all can see them, and reads all rows with these claims, the newest first; those from before the execution
	 * began may be left out. Rejects where the rows may or may not be there; with `NoTableError` where they surely are not, because there
	 * is no table for them.
	 *
	 * @param claims values of the column `key_hash`: first the run, for its leases, then Purchase Keys
	 */
	insertAndLook: (rows: JournalRow[], claims: string[]) => Promise<unknown[]>;
	/** Reads the rows with these claims, the newest first. */
	look: (claims: string[]) => Promise<unknown[]>;
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
	/** True where rows that were written since the first try of the execution began may have been removed: a run without any may have had some. */
	lacksRows: () => Promise<boolean>;
	/** The rows of a Purchase Key in the table that has the name now, the newest first. Rejects where they cannot be read. */
	rowsOfKey: (keyHash: string) => Promise<unknown[]>;
	/** The rows of these requests, the newest first. Rejects where they cannot be read. */
	rowsOfRequests: (requestHashes: string[]) => Promise<unknown[]>;
}

/** A database that is restarted is back within a minute. */
export const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000];

/**
 * Tries again while n8n's database may be away: what cannot be written there is not submitted, and an item that was not
 * submitted needs a person. Rejects with the last reason.
 */
export async function outlasting<T>(clock: Pick<Clock, 'sleep'>, write: () => Promise<T>): Promise<T> {
	for (const pauseMs of PAUSES_MS) {
		try {
			return await write();
		} catch {
			await clock.sleep(pauseMs);
		}
	}
	return await write();
}
