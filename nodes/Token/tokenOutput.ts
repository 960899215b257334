import type { IDataObject } from 'n8n-workflow';
import type { JsonObject } from '../../core/json';
import type { TokenRecord } from '../../core/records/accountRecords';
import { toRecord, withoutEmpty } from '../run/output';

/** Beside the record (contract 4.3). */
const ABOUT = ['success', 'message', 'credits_per_usd'];

/** Of the record (contract 2.2). */
const FIELDS = [
	'id',
	'user_id',
	'key',
	'status',
	'name',
	'created_time',
	'accessed_time',
	'expired_time',
	'remain_quota',
	'remain_credits',
	'unlimited_quota',
	'used_quota',
	'used_credits',
	'daily_credits',
	'monthly_credits',
	'model_limits_enabled',
	'model_limits',
	'group',
	'cross_group_retry',
];

/** A new token as an output item: the key as it is used, the fields that the contract lists, and unless simplified the answer. */
export function toTokenOutput({ apiKey, raw, answer }: TokenRecord, { simplify }: { simplify: boolean }): IDataObject {
	return withoutEmpty({
		api_key: apiKey,
		...pick(answer, ABOUT),
		...pick(raw, FIELDS),
		record: simplify ? undefined : toRecord(answer),
	});
}

function pick(record: JsonObject, names: string[]): IDataObject {
	return Object.fromEntries(names.map((name) => [name, record[name] as IDataObject[string]]));
}
