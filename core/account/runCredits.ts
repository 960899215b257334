import { z } from 'zod';
import type { JsonObject } from '../json';
import { CREDITS_PER_USD, rounded } from './balance';

/** Notes of a run about the credits of its account. They are stored with its orders. */
export const creditsNote = z.object({
	/** The used credits before its first purchase. Absent where they could not be read. */
	usedBefore: z.number().optional(),
});

export type CreditsNote = z.infer<typeof creditsNote>;

/** The most characters of the models of a run: a row in the purchase log has no more. */
const LONGEST_MODELS = 200;

/** The models of the tasks of a run, as its row in the purchase log has them. */
export function modelsOf(tasks: ReadonlyArray<{ model?: string }>): string {
	const models = [...new Set(tasks.flatMap(({ model }) => model ?? []))].sort();
	return models.join(', ').slice(0, LONGEST_MODELS);
}

/** The used credits of an account (contract 2.1). Undefined when the service does not say. */
export function usedCreditsOf({ used_credits: used }: JsonObject): number | undefined {
	// A number that is too large for JavaScript is Infinity, which nothing can store.
	return typeof used === 'number' && Number.isFinite(used) ? used : undefined;
}

/** The credits that were used between two readings, and the same in USD, without the noise of binary fractions. */
export function creditsBetween(usedBefore: number, balance: JsonObject): { credits: number; usd: number } | undefined {
	const usedAfter = usedCreditsOf(balance);
	if (usedAfter === undefined) return undefined;
	const credits = rounded(usedAfter - usedBefore);
	return { credits, usd: rounded(credits / CREDITS_PER_USD) };
}
