import { z } from 'zod';
import { isPlainObject, type JsonObject } from '../json';
import { looseText } from './loose';
import { LONGEST_ID } from './taskRecord';

/** An amount, not an ID: one that is so large that it came as text is a number again. */
const balanceNumber = z.preprocess(
	(value) => (typeof value === 'string' && /^-?\d{16,}$/.test(value) ? Number(value) : value),
	z.number().nullish(),
);

const userBalance = z
	.object({
		success: z.boolean().nullish(),
		remain_balance: balanceNumber,
		used_balance: balanceNumber,
		remain_credits: balanceNumber,
		used_credits: balanceNumber,
		credits_per_usd: balanceNumber,
		unlimited_quota: z.boolean().nullish(),
	})
	.passthrough()
	.refine((body) => body.remain_credits !== undefined || body.remain_balance !== undefined);

/** The user balance (contract 2.1), every field as it came. Undefined when the answer is something else. */
export function parseUserBalance(answer: unknown): JsonObject | undefined {
	return userBalance.safeParse(answer).data;
}

/** The record of a created token (contract 2.2) as it came, and its key as it is used. */
export interface TokenRecord {
	/** For the ledger; empty when the record has none. */
	id: string;
	/** `sk-` followed by the key (contract 5). */
	apiKey: string;
	raw: JsonObject;
	/** The whole answer as it came, with what it says beside the record (contract 4.3). */
	answer: JsonObject;
}

/** The random part of a key has so many characters (contract 2.2), and may itself begin with `sk-`. */
const KEY_LENGTH = 48;

const isWhole = (key: string) => key.startsWith('sk-') && key.length !== KEY_LENGTH;

/** Undefined when the answer holds no key: then no person will ever see it. */
export function parseTokenRecord(answer: unknown): TokenRecord | undefined {
	const raw = isPlainObject(answer) && isPlainObject(answer.data) ? answer.data : answer;
	const fields = z.object({ key: z.string().min(1) }).safeParse(raw);
	if (!isPlainObject(answer) || !isPlainObject(raw) || !fields.success) return undefined;
	const { key } = fields.data;
	const id = looseText(raw.id) ?? '';
	// The key must reach its output, whatever the ID is.
	return { id: id.length > LONGEST_ID ? '' : id, apiKey: isWhole(key) ? key : `sk-${key}`, raw, answer };
}
