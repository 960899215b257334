import type { JsonObject } from '../json';

/** 1 USD = 200 credits, fixed (contract 1): thresholds, amounts and outputs all go by it. */
export const CREDITS_PER_USD = 200;

/**
 * The unit of `remain_balance` and `used_balance`, which the answer does not name. Credits do not depend on it
 * (contract 2.1).
 */
const DISPLAY_UNIT = 'USD, CNY or tokens, as the service is configured';

/** The balance of an account: what is left in credits and in USD first, and what the display unit counts last. */
export function toAccountBalance(balance: JsonObject): JsonObject {
	const { remain_credits, remain_balance, used_balance, ...rest } = creditsFirst(balance);
	return {
		remain_credits,
		remain_usd: remainUsd(balance),
		...rest,
		remain_balance,
		used_balance,
		balance_unit: DISPLAY_UNIT,
	};
}

/** The balance of an API key: what is left in credits and in USD first. Its shape is not shown (contract 4.2). */
export function toKeyBalance(balance: JsonObject): JsonObject {
	const { remain_credits, ...rest } = creditsFirst(balance);
	return { remain_credits, ...(remain_credits !== undefined && { remain_usd: remainUsd(balance) }), ...rest };
}

/** An answer with the credits before everything else. That it is a success goes without saying. */
function creditsFirst({ remain_credits, used_credits, ...rest }: JsonObject): JsonObject {
	delete rest.success;
	return { remain_credits, used_credits, ...rest };
}

/** The remaining balance in USD; null for an account without a limit, or when the service does not say. */
function remainUsd(balance: Record<string, unknown>): number | null {
	const { remain_credits: credits, unlimited_quota: unlimited } = balance;
	if (unlimited === true || typeof credits !== 'number') return null;
	return rounded(credits / CREDITS_PER_USD);
}

/** Without the noise of binary fractions. */
export function rounded(amount: number): number {
	return Math.round(amount * 1e6) / 1e6;
}
