import type { Clock } from '../clock';
import type { PurchaseRow, RunColumns } from './purchaseRow';

/**
 * The columns by which the rows of a run and its retries are found. Those of a node have its ID or its name: n8n retries
 * the node of the saved workflow that has the name, also a new one of that name, or by its ID where it was renamed.
 */
export type RunOfNode = Pick<PurchaseRow, 'origin' | 'workflow_id' | 'node_id' | 'node'>;

/** The table of the purchase log, wherever it is. Rows are added only. */
export interface PurchaseTable {
	/** Resolves when the row is in the table for everybody. Rejects where it may not be. */
	insert: (row: PurchaseRow) => Promise<void>;
	/** Adds a row that nobody waits for. */
	insertLater: (row: PurchaseRow) => void;
	/** Begins to write these rows. Resolves when they have been written, or cannot be. */
	flush: () => Promise<void>;
	/** All rows of the runs with these columns. Rejects where not all of them can be read. */
	rowsOfRun: (run: RunOfNode) => Promise<unknown[]>;
	/** Those of them that other executions have written since the row with this number. Rejects as above. */
	rowsOfOthers: (run: RunOfNode & Pick<PurchaseRow, 'execution'>, since: number) => Promise<unknown[]>;
	/**
	 * The rows of a Purchase Key, or the newest 1,000. Rejects where they cannot be read. Older ones are refused attempts:
	 * whoever finds a purchase, or an unknown outcome, adds no row.
	 */
	rowsOfKey: (keyHash: string) => Promise<unknown[]>;
}

/** The surroundings of the log of a run. */
export interface LogPorts {
	columns: RunColumns;
	table: PurchaseTable;
	clock: Clock;
	/** The execution that writes: not always the one that is in the rows. */
	executionId: string;
	/** The reason why this n8n cannot keep a log, if there is one. */
	obstacle?: string;
	/** The last row that a retry has found when it began: see `lastSeenRow` of the log. */
	lastSeenRow?: number;
	/** Remembers, where it survives a crash, that something may be bought without a row. Rejects where it cannot. */
	rememberGap: () => Promise<void>;
	/** True where an earlier try has. */
	hasGap: () => Promise<boolean>;
	/** Tells the user why rows are missing. */
	tell: (why: string) => void;
}
