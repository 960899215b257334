/** The fence of a run: only the execution with its newest lease sends, and only while no row of the run is missing. */
import { isPlainObject } from '../json';
import { GAP_CODE, type Gap, type RunRows, SENDS_NOTHING_CODE } from './replay';
import { isWitness, journalRow, LEASE, nameOfRun, parseRow } from './row';
import type { RunColumns, RunIdentity, StoredRow } from './row';
import type { Clock } from '../clock';
import type { HandOver, PollerClaim } from '../orders/handOver';
import { wordsOf } from '../text';
import { type JournalTable, NoTableError, outlasting } from './table';
import { gatewayError } from '../errors';
import { INTERRUPTED, UNREADABLE, type FoundMarks } from './marks';
import { TABLE_NAME } from '../labels';

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
	const isIgnored = ({ attempt, code }: StoredRow) =>
		code === SENDS_NOTHING_CODE || (attempt !== own && names.includes(attempt));
	const leases = rows.filter((row) => isOfRun(row) && !isIgnored(row)).sort((one, other) => other.id - one.id);
	const isOwn = ({ attempt }: StoredRow) => attempt === own;
	// One that only tells of a doubt outranks no other, either: rows were not read after it.
	const counting = takesOver ? leases.filter((row) => !isWitness(row) && row.code !== GAP_CODE) : leases;
	const [newest] = takesOver ? counting : counting.filter((row) => !isOwn(row));
	return { ...(newest !== undefined && !isOwn(newest) && { other: newest }), hasOwn: counting.some(isOwn) };
}

/** The reason why rows do not tell all that earlier tries have sent, for messages. */
export function gapOf(
	rows: RunRows,
	marks: FoundMarks | undefined,
	{ isOld, isFirstKnown = false }: { isOld: boolean; isFirstKnown?: boolean },
): string | undefined {
	if (marks === undefined) return UNREADABLE;
	if (marks.withoutRows) return INTERRUPTED;
	if (rows.gap !== undefined) return GAPS[rows.gap];
	if (marks.firstTries > 1 && !isFirstKnown) return GAPS.twoFirstTries;
	const isAnyMissing = marks.withRows && rows.nextNumber === 0;
	const isFirstMissing = marks.firstTries > 0 && !rows.leases.some(({ execution, first }) => execution === first);
	return isOld || isAnyMissing || isFirstMissing ? GAPS.rowsRemoved : undefined;
}

/** `gapOf` after a hand-over: a person may have removed rows since the supervisor has looked for the lease of the last poller. */
export function gapSinceHandOver(
	{ gap, leases, nextNumber }: RunRows,
	handedOver: HandedOverRun,
	ownLease?: string,
): string | undefined {
	if (gap !== undefined) return GAPS[gap];
	const { claim } = handedOver;
	const there = new Set(leases.map(({ attempt }) => attempt));
	const isGone = [ownLease, claim?.after].some((name) => name !== undefined && !there.has(name));
	return claim?.gap ?? (isGone || nextNumber < handedOver.nextNumber ? GAPS.rowsRemoved : undefined);
}

export const GAPS: Record<Gap, string> = {
	unreadable: `A row of this run in the data table ${TABLE_NAME} cannot be read: it was changed, or another version of this package has written it.`,
	otherNode: `The rows in the data table ${TABLE_NAME} are those of another node with this name.`,
	twoFirstTries: `Two executions began in the same millisecond, and n8n does not say which of them this one repeats.`,
	rowsRemoved: `Rows of this run are missing in the data table ${TABLE_NAME}.`,
	takenOverWithGap: `Rows of this run were missing in the data table ${TABLE_NAME} when it was retried before.`,
};

/** The words of a gap for an execution whose own lease is not there any more. */
export const ROWS_GONE = `rows of this run were removed from the data table ${TABLE_NAME}`;

/** The error of orders that another execution submits. */
export const submittedBy = ({ execution }: StoredRow) => gatewayError('submittedByOtherRetry', { execution });

/**
 * Writes the lease of a poller before its supervisor starts it, and looks for those before it. From the moment at which the lease is
 * in the table, nothing else sends: a poller that reads the rows after that sees all that was sent.
 *
 * A person has cleared the table if the lease of the last poller is not there: rows that are missing mean nothing then.
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
		const code = claiming.sends ? '' : SENDS_NOTHING_CODE;
		const row = journalRow.parse({ ...columns, run, attempt, state: LEASE, key_hash: run, code });
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

interface Claiming {
	columns: Omit<RunColumns, 'run'>;
	identity: RunIdentity;
	table: Pick<JournalTable, 'insertAndLook'>;
	clock: Clock;
	/** The name of the lease to write. */
	lease: string;
	/** The lease of the last poller that was started, or that of the execution of the node; absent where there is none. */
	lastLease?: string;
	/** Something may be left to send. */
	sends: boolean;
}

/** The facts that the tries of one execution share: n8n keeps them with the ledger. */
export interface Memory {
	executionId: string;
	/**
	 * Names of its leases, each of another try to write one. Where n8n has reported an error, the lease may be in the table, or come
	 * later: those before the one that counts are ignored.
	 */
	leases: string[];
	/** The one that counts. */
	lease?: string;
	/** A lease is there. */
	isClaimed?: boolean;
	/** It has handed the run over, but goes on with it. */
	isTakenBack?: boolean;
	/** A retry has claimed the run, and has read its rows since. Until then, it submits nothing. */
	hasTakenOver?: boolean;
	/** The execution of the first try; empty where it is not known. */
	first: string;
	/** It is, whatever rows and marks say: those of another execution that began in the same millisecond look like those of the run. */
	isFirstKnown?: boolean;
	nextNumber: number;
	/** See `KeyClaims`: the rows that orders with a Purchase Key wait for. */
	seenAtMs?: Record<string, number>;
	/** A retry has found none of the marks that a request leaves before it is sent, or none of the rows. */
	missed?: { marks: boolean; rows: boolean };
	isMarked?: boolean;
	/** The reason why it submits nothing without an ID, unless a person names it. */
	doubt?: string;
	/** A lease tells later retries of the doubt. */
	isDoubtTold?: boolean;
	/** The reason why it has no rows: n8n had no table for them before its first request. */
	withoutRows?: string;
}

/** The run of another execution, as that has handed it over. */
export interface HandedOverRun
	extends Pick<NonNullable<HandOver['run']>, 'first' | 'nextNumber' | 'isMarked' | 'ignored'> {
	/** The lease that the supervisor has written for this execution, and what it has found. Absent where there is none yet. */
	claim?: PollerClaim;
}

/**
 * The memory of an execution that begins.
 *
 * @param before that of the try which it repeats, where n8n has saved it
 */
export function toMemory(
	executionId: string,
	{ isRetry, handedOver }: { isRetry: boolean; handedOver?: HandedOverRun },
	before: Partial<Memory> = {},
): Memory {
	const begun = { executionId, leases: [], nextNumber: 0 };
	if (handedOver === undefined) {
		if (!isRetry) return { ...begun, first: executionId };
		const { first = '', isFirstKnown = first !== '' && first === before.executionId } = before;
		return { ...begun, first: isFirstKnown ? first : '', ...(isFirstKnown && { isFirstKnown }) };
	}
	const { claim, first, nextNumber, isMarked, ignored: leases = [] } = handedOver;
	const missed = { marks: !isMarked, rows: false };
	if (claim === undefined) return { executionId, leases, first, nextNumber, missed };
	const { lease, ignored = [] } = claim;
	return { executionId, leases: [...leases, ...ignored, lease], lease, isClaimed: true, first, nextNumber, missed };
}
