/** The price of a task. The contract names no prices; these make a balance fall visibly. */

/** Contract section 1: fixed conversions. */
export const CREDITS_PER_USD = 200;
const QUOTA_UNITS_PER_USD = 500_000;
export const QUOTA_UNITS_PER_CREDIT = QUOTA_UNITS_PER_USD / CREDITS_PER_USD;

const CREDITS_PER_IMAGE: Record<string, number> = { '1K': 4, '2K': 8, '4K': 16 };
const CREDITS_PER_SECOND = 10;

export function imageCredits(resolution: string, n: number): number {
	return (CREDITS_PER_IMAGE[resolution] ?? 4) * n;
}

export function videoCredits(durationSeconds: number): number {
	return CREDITS_PER_SECOND * durationSeconds;
}
