import type { Clock } from '../clock';
import type { RunColumns } from './purchaseRow';
import type { PurchaseTable } from './purchaseTable';

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
