import type { Clock } from '../clock';
import type { PollerClaim } from '../orders/handOver';
import { outlasting } from './outlasting';
import { wordsOf } from '../text';
import { GAPS } from './gap';
import { journalRow, LEASE, nameOfRun, parseRow, type RunColumns, type RunIdentity } from './row';
import { NoTableError, type JournalTable } from './table';

export interface Claiming {
	columns: Omit<RunColumns, 'run'>;
	identity: RunIdentity;
	table: Pick<JournalTable, 'insertAndLook'>;
	clock: Clock;
	/** The name of the lease to write. */
	lease: string;
	/** The lease of the last poller that was started, or that of the execution of the node; absent where there is none. */
	lastLease?: string;
}

/**
 * Writes the lease of a poller before its supervisor starts it, and looks for those before it. From the moment at which the lease is
 * in the table, nothing else sends: a poller that reads the rows after that sees all that was sent.
 *
 * Where the lease of the last poller is not there, a person has cleared the table: rows that are missing mean nothing then.
 */
export async function claimForPoller(claiming: Claiming): Promise<PollerClaim> {
	const { columns, identity, table, clock, lastLease } = claiming;
	const run = nameOfRun(identity);
	let error: string | undefined;
	// Each try has a name of its own: an insert that was given up may come after that of an execution that has taken over.
	const names: string[] = [];
	const insert = async () => {
		const attempt = `${claiming.lease}.${names.length}`;
		names.push(attempt);
		const row = journalRow.parse({ ...columns, run, attempt, state: LEASE, key_hash: run });
		return await table.insertAndLook([row], [run]).catch((thrown: unknown) => {
			if (!(thrown instanceof NoTableError)) throw thrown;
			error = wordsOf(thrown);
			return [];
		});
	};
	const found = await outlasting(clock, insert).catch((thrown: unknown) => {
		error = wordsOf(thrown);
		return [];
	});
	const lease = names.at(-1) ?? '';
	const ignored = names.slice(0, -1);
	const named = { lease, ...(ignored.length > 0 && { ignored }) };
	if (error !== undefined) return { ...named, error: error.slice(0, 500) };
	const there = new Set(found.map((row) => parseRow(row)?.attempt));
	const isGone = [lease, lastLease].some((name) => name !== undefined && !there.has(name));
	return { ...named, ...(isGone && { gap: GAPS.rowsRemoved }) };
}
