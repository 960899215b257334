import { z } from 'zod';
import { CREDITS_PER_USD } from './balance';
import { gatewayError } from '../errors';

/** A balance that falls below it starts the workflow, once per crossing. */
export interface BalanceThreshold {
	credits: number;
	/** The balance has to rise this far above the threshold before it can start the workflow again. */
	marginCredits: number;
}

/** Kept between two polls. Absent: the workflow has not been started yet. */
export type BalanceWatchState = z.infer<typeof watchState>;

const watchState = z.object({
	/** The threshold that has started the workflow. Another threshold starts the watch again. */
	firedBelowCredits: z.number().optional(),
});

/** The state that n8n has kept; anything else counts as none. */
export function parseWatchState(stored: unknown): BalanceWatchState {
	return watchState.catch({}).parse(stored);
}

export function toCredits(amount: number, unit: 'credits' | 'usd'): number {
	return unit === 'usd' ? Number((amount * CREDITS_PER_USD).toFixed(6)) : amount;
}

/**
 * Says if this poll starts the workflow, and the state to keep. An account without a limit is never below. A balance
 * without credits throws, and the state stays.
 */
export function watchBalance(
	balance: Record<string, unknown>,
	threshold: BalanceThreshold,
	state: BalanceWatchState,
): { fires: boolean; state: BalanceWatchState } {
	const { remain_credits: credits, unlimited_quota: unlimited } = balance;
	if (unlimited === true) return { fires: false, state: {} };
	if (typeof credits !== 'number') throw gatewayError('creditsUnknown', {});
	const hasFired = state.firedBelowCredits === threshold.credits;
	if (hasFired) {
		const isBack = credits >= threshold.credits + threshold.marginCredits;
		return { fires: false, state: isBack ? {} : state };
	}
	const fires = credits < threshold.credits;
	return { fires, state: fires ? { firedBelowCredits: threshold.credits } : {} };
}
