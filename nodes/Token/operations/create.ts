import type { IDataObject } from 'n8n-workflow';
import { gatewayError } from '../../../core/errors';
import type { JsonObject } from '../../../core/json';
import { createdTokens } from '../../../core/processMemory';
import type { TokenRecord } from '../../../core/records/accountRecords';
import { looseTime } from '../../../core/records/loose';
import { buying, toBuy } from '../../run/buy';
import { HINTS } from '../../run/hints';
import type { Operation } from '../../run/operation';
import { toIsoTime, toRecord, toValue, withoutEmpty } from '../../run/toItem';
import { properties } from '../fields';
import { readTokenRequest } from '../tokenRequest';

/** Create: a token with its own quota, expiry and models (contract 4.3). */
export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Create an API key and get it',
		action: 'Create API key',
	},
	properties,
	describes: 'token',
	prepare: (item, run) => {
		const request = readTokenRequest(item);
		const { body } = request;
		const simplify = item.options.simplifies;
		const { store, runIndex } = run.ledger.scope;
		const [tokens, key] = [tokensOf(store), `${runIndex}.${item.index}`];
		const creation = {
			status: 'created',
			send: async (...sent: Parameters<typeof run.client.createToken>) => {
				const record = await run.client.createToken(...sent);
				tokens.set(key, record);
				return record;
			},
		};
		return buying(run, toBuy(item, 'token', request), creation, ({ task }) => {
			const token = tokens.get(key);
			if (token === undefined) throw gatewayError('tokenKeyGone', { name: String(body.name), id: task.taskId });
			run.hints.add(HINTS.apiKeyOnce());
			if (hasNothingToSpend(body)) run.hints.add(HINTS.nothingToSpend());
			return { json: toTokenOutput(token, { simplify }) };
		});
	},
};

/**
 * Keys are shown once, so a second try (Retry On Fail) hands out what the first one got. In memory only, for as long as
 * the execution's ledger lives.
 */
function tokensOf(store: object): Map<string, TokenRecord> {
	const created = createdTokens.get(store) ?? new Map<string, TokenRecord>();
	createdTokens.set(store, created);
	return created;
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
 * A new token (contract 2.2) as an output item: first the key as it is used, its name, limit and expiry, then what else
 * limits it and the ID by which the account lists it, and the whole answer unless simplified.
 */
function toTokenOutput({ apiKey, raw, answer }: TokenRecord, { simplify }: { simplify: boolean }): IDataObject {
	const shown: Record<string, unknown> = {
		api_key: apiKey,
		name: raw.name,
		remain_credits: raw.remain_credits,
		expires_at: toExpiry(looseTime(raw.expired_time)),
		unlimited_quota: raw.unlimited_quota,
		daily_credits: raw.daily_credits,
		monthly_credits: raw.monthly_credits,
		// Without it, the list of models has no effect.
		model_limits_enabled: raw.model_limits_enabled,
		model_limits: raw.model_limits,
		id: raw.id,
		message: answer.message === '' ? undefined : answer.message,
		record: simplify ? undefined : toRecord(answer),
	};
	return withoutEmpty(Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, toValue(value)])));
}

/** Null: never, which the service writes as -1. */
const toExpiry = (seconds?: number) => (seconds === -1 ? null : toIsoTime(seconds));
