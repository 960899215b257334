import type { JsonObject } from '../json';

/** 1 USD = 200 credits (contract 1), unless the service names another rate. */
export const CREDITS_PER_USD = 200;

/**
 * The unit of `remain_balance` and `used_balance`, which the answer does not name. Credits do not depend on it
 * (contract 2.1).
 */
const DISPLAY_UNIT = 'USD, CNY or tokens, as the service is configured';

/** The balance as it came, with its unit and what is left in USD. */
export function withUnits(balance: JsonObject): JsonObject {
	return { balance_unit: DISPLAY_UNIT, ...balance, remain_usd: remainUsd(balance) };
}

/** The remaining balance in USD; null for an account without a limit, or when the service does not say. */
function remainUsd(balance: Record<string, unknown>): number | null {
	const { remain_credits: credits, credits_per_usd: rate, unlimited_quota: unlimited } = balance;
	if (unlimited === true || typeof credits !== 'number') return null;
	return credits / (typeof rate === 'number' && rate > 0 ? rate : CREDITS_PER_USD);
}
