import type { IDataObject } from 'n8n-workflow';
import { isDeeperThan, isPlainObject, withinLevels, type JsonObject } from '../../core/json';
import { looseTime } from '../../core/records/loose';

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

/** The JSON field of an item that holds its files, in workflows with the setting `binaryMode: 'combined'`. */
export const FILES_IN_JSON = '_files';

/** The fields that come with an `error` of ours in an item. */
const OF_AN_ERROR = ['code', 'details', 'http_status'];

/**
 * The fields of an item that passes through. Not an error of an earlier node, with its code: a workflow that acts on it would
 * take it for one of this node.
 */
export function toPassOn(input: IDataObject): IDataObject {
	const left = 'error' in input ? [...OF_AN_ERROR, ...(isPlainObject(input.details) ? ['message'] : [])] : [];
	return Object.fromEntries(Object.entries(withoutErrors(input)).filter(([name]) => !left.includes(name)));
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

/** A time of the service (Unix seconds) as ISO 8601 in UTC, as n8n's date functions take it. Undefined for what is no time. */
export function toIsoTime(unixSeconds?: number): string | undefined {
	const date = new Date((looseTime(unixSeconds) ?? NaN) * 1000);
	return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
