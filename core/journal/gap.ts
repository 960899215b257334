import { gatewayError } from '../errors';
import { INTERRUPTED, UNREADABLE, type FoundMarks } from './marks';
import type { HandedOverRun } from './memory';
import type { Gap, RunRows } from './replay';
import { TABLE_NAME } from '../labels';
import type { StoredRow } from './row';

/** The reason why rows do not tell all that earlier tries have sent, for messages. */
export function gapOf(rows: RunRows, marks: FoundMarks | undefined, isOld: boolean): string | undefined {
	if (marks === undefined) return UNREADABLE;
	if (marks.withoutRows) return INTERRUPTED;
	if (rows.gap !== undefined) return GAPS[rows.gap];
	if (marks.firstTries > 1) return GAPS.twoFirstTries;
	const isAnyMissing = marks.withRows && rows.nextNumber === 0;
	const isFirstMissing = marks.firstTries > 0 && !rows.leases.some(({ execution, first }) => execution === first);
	return isOld || isAnyMissing || isFirstMissing ? GAPS.rowsRemoved : undefined;
}

/** The same after a hand-over: a person may have removed rows since the supervisor has looked for the lease of the last poller. */
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

/** The same for an execution whose own lease is not there any more. */
export const ROWS_GONE = `rows of this run were removed from the data table ${TABLE_NAME}`;

/** The error of orders that another execution submits. */
export const submittedBy = ({ execution }: StoredRow) => gatewayError('submittedByOtherRetry', { execution });
