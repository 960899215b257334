import { z } from 'zod';
import { rounded } from './balance';
import { usedCreditsOf } from './runCredits';
import { gatewayError } from '../errors';

/** The part of a threshold by which the balance has to rise above it: a refund of a task must not start the workflow again. */
const RECOVERY_MARGIN = 0.05;

/** Kept between two polls. Absent: the workflow has not been started yet. */
export type BalanceWatchState = z.infer<typeof watchState>;

const watchState = z.object({
	/** The threshold that has started the workflow. Another threshold starts the watch again. */
	firedBelowCredits: z.number().optional(),
	/** The used credits at the last check since then; after a restart those of the event, with which n8n saves them. */
	usedCredits: z.number().optional().catch(undefined),
	/** The most credits that the account has had so far, what is used included: more of them were bought since. */
	grantedCredits: z.number().optional().catch(undefined),
});

/** Beside it, n8n keeps whose balance it is. Another account starts the watch again. */
const storedState = watchState.extend({ account: z.string() });

/** The names of the fields that n8n keeps. */
export const watchStateKeys = Object.keys(storedState.shape);

/** The state that n8n has kept of this account; anything else counts as none. */
export function parseWatchState(stored: unknown, account: string): BalanceWatchState {
	const { account: ofAccount, ...state } = storedState.safeParse(stored).data ?? {};
	return ofAccount === account ? state : {};
}

/**
 * Says if this poll starts the workflow, and the state to keep. An account without a limit is never below. A balance without credits
 * throws, and the state stays.
 */
export function watchBalance(
	balance: Record<string, unknown>,
	thresholdCredits: number,
	state: BalanceWatchState,
): { fires: boolean; state: BalanceWatchState } {
	const { remain_credits: credits, unlimited_quota: unlimited } = balance;
	if (unlimited === true) return { fires: false, state: {} };
	if (typeof credits !== 'number') throw gatewayError('creditsUnknown', {});
	const use = useSince(credits, usedCreditsOf(balance), state);
	const hasRecovered = credits + use.regained >= thresholdCredits + rounded(thresholdCredits * RECOVERY_MARGIN);
	const hasFired = state.firedBelowCredits === thresholdCredits && !hasRecovered;
	const fires = !hasFired && credits < thresholdCredits;
	return { fires, state: { ...((hasFired || fires) && { firedBelowCredits: thresholdCredits }), ...use.state } };
}

/**
 * The credits that were used since the last check may have come on top of those that are left, after a recovery that
 * was not seen. But a service may book them as used later than it takes them: so only where more were given than ever.
 */
function useSince(
	credits: number,
	used: number | undefined,
	{ usedCredits: usedBefore, grantedCredits: grantedBefore = -Infinity }: BalanceWatchState,
): { regained: number; state: BalanceWatchState } {
	if (used === undefined) return { regained: 0, state: {} };
	const granted = rounded(credits + used);
	// The service has begun to count from 0. Some less was given back.
	if (usedBefore === undefined || used < usedBefore / 2)
		return { regained: 0, state: { usedCredits: used, grantedCredits: granted } };
	return {
		regained: granted > grantedBefore ? Math.max(0, used - usedBefore) : 0,
		state: { usedCredits: used, grantedCredits: Math.max(granted, grantedBefore) },
	};
}
