import type { IDataObject } from 'n8n-workflow';
import { isDeeperThan, withinLevels, type JsonObject } from '../../core/json';

/** Output without the fields that nobody knows: an empty column in the editor says less than none. */
export function withoutEmpty(fields: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * Fields that n8n takes for a report about the node, in the JSON of an item: for an `error` it runs the node
 * again, and buys anew, or sends the item to the error branch; by `$error` it replaces the item.
 */
const READ_BY_N8N = ['error', '$error'];

/** Fields that others have chosen the names of, without those that n8n would misread. */
export function withoutErrors(fields: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(fields).filter(([name]) => !READ_BY_N8N.includes(name)));
}

/** An answer, field by field. Where one cannot stand there, the whole answer is in `record`, as with Simplify off. */
export function toFields(answer: JsonObject): IDataObject {
	const fields = withoutErrors(toRecord(answer));
	return READ_BY_N8N.some((name) => name in answer) ? { ...fields, record: toRecord(answer) } : fields;
}

/** n8n cannot write down what is much deeper. */
const MOST_LEVELS = 500;

/** An answer as it came, as one field of an output item. */
export function toRecord(raw: JsonObject): IDataObject {
	return (isDeeperThan(raw, MOST_LEVELS) ? withinLevels(raw, MOST_LEVELS) : raw) as IDataObject;
}

/** As it is shown: with one decimal. */
export function toSeconds(ms: number): number {
	return Math.round(ms / 100) / 10;
}

/** More than this many seconds are milliseconds, which some services give: the year 5138. */
const MOST_SECONDS = 1e11;

/** A time of the service (Unix seconds) as ISO 8601 in UTC, as n8n's date functions take it. Undefined for what is no time. */
export function toIsoTime(unixSeconds: number | undefined): string | undefined {
	if (unixSeconds === undefined) return undefined;
	const date = new Date(unixSeconds > MOST_SECONDS ? unixSeconds : unixSeconds * 1000);
	return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
