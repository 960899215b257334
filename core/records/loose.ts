import { isPlainObject, type JsonObject } from '../json';

/**
 * Fields of answers, read with tolerance: most of what the service answers is not shown in the contract, so a value of
 * another type counts as absent, and a number may come as text.
 */
function looseNumber(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value.replace(/%$/, '')) : value;
	return Number.isFinite(number) ? (number as number) : undefined;
}

/** Percent, 0 to 100. */
export function looseProgress(value: unknown): number | undefined {
	const progress = looseNumber(value);
	return progress === undefined ? undefined : Math.min(100, Math.max(0, progress));
}

/** More than this many seconds are milliseconds: the year 5138. */
const MOST_SECONDS = 1e11;

/** Unix seconds from seconds, milliseconds or a date as text: how the service writes a time is not shown everywhere. */
export function looseTime(value: unknown): number | undefined {
	const number = looseNumber(value);
	if (number !== undefined) return number > MOST_SECONDS ? Math.floor(number / 1000) : number;
	const parsed = typeof value === 'string' ? parseDate(value) : NaN;
	return Number.isNaN(parsed) ? undefined : Math.floor(parsed / 1000);
}

/** The same, where 0, -1 and the year 1 say that there is none. */
export function looseExpiry(value: unknown): number | undefined {
	const time = looseTime(value);
	return (time ?? 0) > 0 ? time : undefined;
}

/** A date as text in Unix milliseconds; NaN for what is none. */
export function parseDate(text: string): number {
	return Date.parse(withZone(text.trim()));
}

/** The minutes and seconds of a time of day, and what stands behind them in a text. */
const TIME_OF_DAY = /:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(.*)/;

/** Read as they are written: anything else makes 2001 of the year 1. */
const ISO_DATE = /^\d{4}(-\d\d){0,2}$/;
const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:/i;

/** The zone of the machine says nothing about the service: a time without a zone is UTC. */
function withZone(text: string): string {
	const rest = TIME_OF_DAY.exec(text)?.[1] ?? '';
	const hasZone = !/^([ap]m)?\s*(\d{4})?$/i.test(rest);
	if (ISO_DATE.test(text)) return text;
	if (rest === '' && ISO_TIME.test(text)) return `${text.replace(' ', 'T')}Z`;
	// "UTC" is understood behind a space only.
	return hasZone ? text : `${text.replace(/T(?=\d+:)/i, ' ')} UTC`;
}

export function looseText(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

/** Both levels of an answer that is flat or wrapped in `data` (field notes), the inner one first. */
export function bothLevels(answer: unknown): JsonObject | undefined {
	if (!isPlainObject(answer)) return undefined;
	return isPlainObject(answer.data) ? { ...answer, ...answer.data } : answer;
}

/** The values of both levels under a name, in any spelling of it; the one as it is given first. */
function valuesIn(answer: unknown, name: string): unknown[] {
	const fields = bothLevels(answer) ?? {};
	return [
		fields[name],
		...Object.keys(fields)
			.filter(isName(name))
			.map((key) => fields[key]),
	];
}

/** The ID under a name, as the service writes it: a number goes back as a number. */
export function idIn(answer: unknown, name: string): string | number | undefined {
	return valuesIn(answer, name)
		.map((id) => (Number.isSafeInteger(id) ? (id as number) : looseText(id)))
		.find((id) => id !== undefined);
}

/** One text of an answer, under the first of the names that is there. */
export function textIn(answer: unknown, ...names: string[]): string | undefined {
	return names
		.flatMap((name) => valuesIn(answer, name))
		.map(looseText)
		.find((text) => text !== undefined);
}

/** The IDs of an object under a name, in any spelling of it, as text. */
export const idsUnder = (object: JsonObject, name: string) =>
	Object.keys(object)
		.filter(isName(name))
		.map((key) => looseText(object[key]))
		.filter((id) => id !== undefined);

/** A name can have megabytes, and none that means something is so long. */
const LONGEST_NAME = 100;

/** True for a name in any spelling of it. */
export const isName = (name: string) => (key: string) =>
	key.length <= LONGEST_NAME && toPlainName(key) === toPlainName(name);

/** `taskId`, `TaskID` and `task_id` are one name. */
const toPlainName = (name: string) => name.replace(/[_-]/g, '').toLowerCase();
