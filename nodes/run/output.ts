import type { IDataObject } from 'n8n-workflow';

/** Output without the fields that nobody knows: an empty column in the editor says less than none. */
export function withoutEmpty(fields: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
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
