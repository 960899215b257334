/** 1 USD = 200 credits (contract 1), unless the service names another rate. */
export const CREDITS_PER_USD = 200;

/** What is left in USD; null for an account without a limit, or when the service does not say. */
export function remainUsd(balance: Record<string, unknown>): number | null {
	const { remain_credits: credits, credits_per_usd: rate, unlimited_quota: unlimited } = balance;
	if (unlimited === true || typeof credits !== 'number') return null;
	return credits / (typeof rate === 'number' && rate > 0 ? rate : CREDITS_PER_USD);
}
