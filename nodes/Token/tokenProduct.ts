import { z } from 'zod';
import { gatewayError } from '../../core/errors';
import { isPlainObject, type JsonObject } from '../../core/json';
import type { Order } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import { createdTokens } from '../../core/processMemory';
import type { TokenRecord } from '../../core/records/accountRecords';
import { HINTS } from '../run/hints';
import type { Run } from '../run/run';
import { toTokenOutput } from './tokenOutput';

/** The data of an order for a token, beside the request. */
export const aboutToken = z.object({
	body: z.custom<JsonObject>(isPlainObject),
	simplify: z.boolean(),
});

export type AboutToken = z.infer<typeof aboutToken>;

/** Tokens (contract 4.3). Such an order is never stored: the key would be stored with it. */
export function tokenProduct({ client, ledger }: Pick<Run, 'client' | 'ledger'>): Product<TokenRecord, never> {
	const { store, runIndex } = ledger.scope;
	const created = tokensOf(store);
	const keyOf = ({ item }: Order) => `${runIndex}.${item}`;
	return {
		status: 'created',
		create: async (order, body, attempt) => {
			const record = await client.createToken(body, attempt);
			created.set(keyOf(order), record);
			return record;
		},
		output: (order, _seen, { hints }) => {
			const { body, simplify } = aboutToken.parse(order.about);
			const token = created.get(keyOf(order));
			if (token === undefined)
				throw gatewayError('tokenKeyGone', { name: String(body.name), id: order.task?.taskId ?? '' });
			hints.add(HINTS.apiKeyOnce());
			if (hasNothingToSpend(body)) hints.add(HINTS.nothingToSpend());
			return { json: toTokenOutput(token, { simplify }) };
		},
	};
}

/** True for a limited token that has nothing to spend: the service's own default (contract 4.3), but seldom meant. */
function hasNothingToSpend({
	unlimited_quota: unlimited,
	remain_quota: quota = 0,
	remain_credits: credits = quota,
}: JsonObject): boolean {
	return unlimited !== true && credits === 0;
}

/**
 * Keys are shown once, so a second try (Retry On Fail) hands out what the first one got. In memory only, for as long as
 * the execution's ledger lives.
 */
function tokensOf(store: object): Map<string, TokenRecord> {
	const created = createdTokens.get(store) ?? new Map<string, TokenRecord>();
	createdTokens.set(store, created);
	return created;
}
