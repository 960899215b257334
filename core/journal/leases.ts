import { isPlainObject } from '../json';
import type { Memory } from './memory';
import { GAPS } from './gap';
import { GAP_CODE } from './replay';
import {
	isWitness,
	journalRow,
	LEASE,
	nameOfRun,
	parseRow,
	type RunColumns,
	type RunIdentity,
	type StoredRow,
} from './row';
import type { Clock } from '../clock';
import type { PollerClaim } from '../orders/handOver';
import { wordsOf } from '../text';
import { type JournalTable, NoTableError, outlasting } from './table';

/**
 * The lease of another execution that goes on with the run, and whether the own one is there; undefined where a row cannot be read.
 *
 * @param found the rows of a look
 * @param own.takesOver false: a first try, which any other lease stops
 */
export function leasesIn(
	found: readonly unknown[],
	{ run, memory, takesOver }: { run: string; memory: Memory; takesOver: boolean },
): { other?: StoredRow; hasOwn: boolean } | undefined {
	const { leases: names, lease: own, first } = memory;
	// A row of a Purchase Key that cannot be read stops the orders of this key only.
	const isOfKey = (value: unknown) =>
		isPlainObject(value) && typeof value.key_hash === 'string' && value.key_hash !== run;
	const rows = found.filter((value) => !isOfKey(value)).map(parseRow);
	if (!rows.every((row) => row !== undefined)) return undefined;
	const isOfRun = (row: StoredRow) =>
		row.state === LEASE && row.run === run && (row.first === '' || first === '' || row.first === first);
	// One whose insert was given up may come after that of an execution that has taken over.
	const isIgnored = ({ attempt }: StoredRow) => attempt !== own && names.includes(attempt);
	const leases = rows.filter((row) => isOfRun(row) && !isIgnored(row)).sort((one, other) => other.id - one.id);
	const isOwn = ({ attempt }: StoredRow) => attempt === own;
	// One that only tells of a doubt outranks no other, either: rows were not read after it.
	const counting = takesOver ? leases.filter((row) => !isWitness(row) && row.code !== GAP_CODE) : leases;
	const [newest] = takesOver ? counting : counting.filter((row) => !isOwn(row));
	return { ...(newest !== undefined && !isOwn(newest) && { other: newest }), hasOwn: counting.some(isOwn) };
}

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
