import type { IDataObject } from 'n8n-workflow';
import { isDeeperThan, isPlainObject, withinLevels, type JsonObject } from '../../core/json';
import { pricesIn } from '../../core/records/prices';

/** Removes fields without a value: an empty column in the editor says less than none. */
export function withoutEmpty(fields: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * Fields of an item's JSON that n8n reads as a report about the node: for an `error` it runs the node again, which buys
 * again, or sends the item to the error branch; by `$error` it replaces the item.
 */
const READ_BY_N8N = ['error', '$error'];

/** Removes the fields that n8n would misread, where others have chosen the names. */
export function withoutErrors(fields: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(fields).filter(([name]) => !READ_BY_N8N.includes(name)));
}

/** The fields that come with an `error` of ours in an item. */
const OF_AN_ERROR = ['code', 'details', 'http_status'];

/** The kind of thing that an output item describes. */
export type Described = 'task' | 'asset' | 'group' | 'session' | 'verification' | 'balance' | 'token';

/** The JSON field of an item that holds its files, in workflows with the setting `binaryMode: 'combined'`. */
export const FILES_IN_JSON = '_files';

/** The fields of an item with the addresses or files of a result. */
const OF_A_RESULT = ['url', 'urls', 'download_url', 'download_urls', FILES_IN_JSON];

/** The other fields of an item that describes a task. */
const OF_A_TASK = [
	...['task_id', 'record', 'missing_results', 'missing_reason'],
	...['status', 'reason', 'progress', 'timed_out', 'waited_seconds', 'created_at', 'expires_at', 'model'],
	...['reused', 'earlier_task_ids', 'execution_id', 'run_credits', 'run_credits_shared'],
];

/** Of the fields that name a price, those that hardly anything but a task has: the `price` of a product stays. */
const isOfATask = (name: string) => /cost|credit|usage|bill|charge/i.test(name);

/** The other fields of an asset or verification. */
const OF_A_WAIT = ['reason', 'progress', 'timed_out', 'waited_seconds', 'status', 'result_code', 'next_step', 'record'];

/** The proof that a person has passed: whatever names it so, it is that of somebody else. */
const PROOF = ['verified', 'group_id', 'verify_status'];

const isOfSession = (input: IDataObject) => 'vendor_token' in input || 'h5_link' in input;

const ofVerification = (input: IDataObject) => [
	...PROOF,
	...(isOfSession(input) || 'verified' in input ? ['confirmed', ...OF_A_WAIT] : []),
];

/**
 * The fields of an input item that would pass for those of the thing that the output describes, where it has none itself.
 * Names that anybody may use only where the item describes a thing that has them.
 */
const FIELDS_OF: Record<Described, (input: IDataObject) => string[]> = {
	task: (input) => [
		...OF_A_RESULT,
		...('task_id' in input ? [...OF_A_TASK, ...Object.keys(pricesIn(input)).filter(isOfATask)] : []),
	],
	asset: (input) => [
		...('asset_id' in input ? ['asset_id', 'reference'] : []),
		...('asset_id' in input || 'task_id' in input ? OF_A_WAIT : []),
	],
	group: () => ['group_id'],
	session: (input) => [
		...['h5_link', 'vendor_token', 'link_expired', ...ofVerification(input)],
		...(isOfSession(input) ? ['task_id', 'expires_at'] : []),
	],
	verification: ofVerification,
	balance: () => [
		...['remain_credits', 'remain_usd', 'used_credits', 'credits_per_usd', 'unlimited_quota'],
		...['remain_balance', 'used_balance'],
	],
	token: (input) => [
		...['api_key', 'remain_credits', 'unlimited_quota', 'daily_credits', 'monthly_credits', 'model_limits'],
		...('api_key' in input ? ['id', 'expires_at'] : []),
	],
};

/**
 * The fields of an input item that the output passes on. Not an error of an earlier try, with its code: a workflow that
 * acts on it would buy again. Nor what the item says of another thing of the kind that the output describes.
 */
export function toPassOn(input: IDataObject, describes?: Described): IDataObject {
	const left = new Set([
		...('error' in input ? OF_AN_ERROR : []),
		...('error' in input && isPlainObject(input.details) ? ['message'] : []),
		...(describes === undefined ? [] : FIELDS_OF[describes](input)),
	]);
	return Object.fromEntries(Object.entries(withoutErrors(input)).filter(([name]) => !left.has(name)));
}

/**
 * An answer as the fields of an item. If n8n would misread one of them, the whole answer is in `record`, as with
 * Simplify off.
 */
export function toFields(answer: JsonObject): IDataObject {
	const fields = withoutErrors(toRecord(answer));
	return READ_BY_N8N.some((name) => name in answer) ? { ...fields, record: toRecord(answer) } : fields;
}

/** The most levels of a record: n8n cannot save much more. */
const MOST_LEVELS = 500;

/** An answer as it came, as one field of an output item. */
export function toRecord(raw: JsonObject): IDataObject {
	return (isDeeperThan(raw, MOST_LEVELS) ? withinLevels(raw, MOST_LEVELS) : raw) as IDataObject;
}

/** Seconds with one decimal. */
export function toSeconds(ms: number): number {
	return Math.round(ms / 100) / 10;
}

/** A larger number is in milliseconds, as some services give it: in seconds it would be the year 5138. */
const MOST_SECONDS = 1e11;

/** A time of the service (Unix seconds) as ISO 8601 in UTC, as n8n's date functions take it. Undefined for what is no time. */
export function toIsoTime(unixSeconds = NaN): string | undefined {
	const date = new Date(unixSeconds > MOST_SECONDS ? unixSeconds : unixSeconds * 1000);
	return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
