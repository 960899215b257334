import type { PurchaseRow } from './purchaseRow';

/** The table of the purchase log, wherever it is. Rows are added only. */
export interface PurchaseTable {
	/** Resolves when the row is in the table for everybody. Rejects where it may not be. */
	insert: (row: PurchaseRow) => Promise<void>;
	/** Adds a row that nobody waits for. */
	insertLater: (row: PurchaseRow) => void;
	/** Hands over the rows that nobody waits for. Never rejects. */
	flush: () => Promise<void>;
	/** All rows of the runs with these columns. Rejects where not all of them can be read. */
	rowsOfRun: (run: Pick<PurchaseRow, 'run' | 'workflow_id' | 'node_id'>) => Promise<unknown[]>;
	/** All rows of a Purchase Key. Rejects where not all of them can be read. */
	rowsOfKey: (keyHash: string) => Promise<unknown[]>;
}
