import type { IDataObject } from 'n8n-workflow';

/** Output without the fields that nobody knows: an empty column in the editor says less than none. */
export function withoutEmpty(fields: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** As it is shown: with one decimal. */
export function toSeconds(ms: number): number {
	return Math.round(ms / 100) / 10;
}
