import type { JsonObject } from '../json';

/** 1 USD = 200 credits, fixed (contract 1): thresholds, amounts and outputs all go by it. */
export const CREDITS_PER_USD = 200;

/** A unit in which a form takes amounts. */
export type Unit = 'usd' | 'credits';

/** Without the noise of binary fractions: 200 * 0.07 is 14. */
export function toCredits(amount: number, unit: Unit): number {
	return unit === 'usd' ? Number((amount * CREDITS_PER_USD).toPrecision(12)) : amount;
}

export function fromCredits(credits: number, unit: Unit): number {
	return unit === 'usd' ? Number((credits / CREDITS_PER_USD).toPrecision(12)) : credits;
}

/**
 * The balance of an account: what is left in credits and in USD first. Last come `remain_balance` and `used_balance`, in the
 * display unit of the service, which the answer does not name (contract 2.1).
 */
export function toAccountBalance(balance: JsonObject): JsonObject {
	const { remain_credits, remain_balance, used_balance, ...rest } = creditsFirst(balance);
	return { remain_credits, remain_usd: remainUsd(balance), ...rest, remain_balance, used_balance };
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
