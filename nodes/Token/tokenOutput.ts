import type { IDataObject } from 'n8n-workflow';
import type { TokenRecord } from '../../core/records/accountRecords';
import { looseTime } from '../../core/records/loose';
import { toIsoTime, toRecord, withoutEmpty } from '../run/output';

/**
 * A new token (contract 2.2) as an output item: first the key as it is used, its name, limit and expiry, then what else
 * limits it and the ID by which the account lists it, and the whole answer unless simplified.
 */
export function toTokenOutput({ apiKey, raw, answer }: TokenRecord, { simplify }: { simplify: boolean }): IDataObject {
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
	return withoutEmpty(shown as IDataObject);
}

/** Null: never, which the service writes as -1. */
const toExpiry = (seconds?: number) => (seconds === -1 ? null : toIsoTime(seconds));
