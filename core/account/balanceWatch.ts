import { z } from 'zod';
import { CREDITS_PER_USD } from './balance';
import { gatewayError } from '../errors';

/** When a falling balance is to be told of: once per crossing of the threshold. */
export interface BalanceThreshold {
	credits: number;
	/** Credits above the threshold at which the next crossing counts again. */
	marginCredits: number;
}

/** What is remembered between two polls. Absent: nothing has been told yet. */
export type BalanceWatchState = z.infer<typeof watchState>;

const watchState = z.object({
	/** The threshold that was told of. With another one the watch starts afresh. */
	firedBelowCredits: z.number().optional(),
});

/** What n8n has kept; anything else counts as nothing. */
export function parseWatchState(stored: unknown): BalanceWatchState {
	return watchState.catch({}).parse(stored);
}

export function toCredits(amount: number, unit: 'credits' | 'usd'): number {
	return unit === 'usd' ? Number((amount * CREDITS_PER_USD).toFixed(6)) : amount;
}

/**
 * Whether this poll is one to tell of, and what to remember. An account without a limit is never below. A
 * balance without credits does not count: it throws, and what is remembered stays.
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
