import { GatewayError } from '../errors';

/** 1 USD = 200 credits (contract 1), unless the service names another rate. */
export const CREDITS_PER_USD = 200;

/** What is left in USD; null for an account without a limit, or when the service does not say. */
export function remainUsd(balance: Record<string, unknown>): number | null {
	const { remain_credits: credits, credits_per_usd: rate, unlimited_quota: unlimited } = balance;
	if (unlimited === true || typeof credits !== 'number') return null;
	return credits / (typeof rate === 'number' && rate > 0 ? rate : CREDITS_PER_USD);
}

/** Throws when fewer credits are left than wanted. An account without a limit always has enough. */
export function checkCredits(balance: Record<string, unknown>, wantedCredits: number): void {
	const { remain_credits: credits, unlimited_quota: unlimited } = balance;
	if (unlimited === true) return;
	if (typeof credits !== 'number') {
		throw new GatewayError('balance', 'The service does not say how many credits are left', {
			description: 'Stop Below needs this number. Remove the option, or check the credential.',
		});
	}
	if (credits >= wantedCredits) return;
	throw new GatewayError('balance', `${credits} credits are left, fewer than the ${wantedCredits} of Stop Below`, {
		description: 'Add credits to the account, or lower Stop Below, then run the workflow again.',
	});
}
