import type { PollerClaim } from '../orders/handOver';

/** The run of another execution, as that has handed it over. */
export interface HandedOverRun {
	first: string;
	nextNumber: number;
	/** It has sent something. */
	isMarked: boolean;
	/** The lease that the supervisor has written for this execution, and what it has found. Absent where there is none yet. */
	claim?: PollerClaim;
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
	first: string;
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

/** The memory of an execution that begins. */
export function toMemory(
	executionId: string,
	{ isRetry, handedOver }: { isRetry: boolean; handedOver?: HandedOverRun },
): Memory {
	if (handedOver === undefined) return { executionId, leases: [], first: isRetry ? '' : executionId, nextNumber: 0 };
	const { claim, first, nextNumber, isMarked } = handedOver;
	const missed = { marks: !isMarked, rows: false };
	if (claim === undefined) return { executionId, leases: [], first, nextNumber, missed };
	const { lease, ignored = [] } = claim;
	return { executionId, leases: [...ignored, lease], lease, isClaimed: true, first, nextNumber, missed };
}
