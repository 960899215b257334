import { isPlainObject, type JsonObject } from '../json';

/**
 * Fields of answers, read with tolerance: most of what the service answers is not shown in the contract, so a value of
 * another type counts as absent, and a number may come as text.
 */
export function looseNumber(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value.replace(/%$/, '')) : value;
	return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

export function looseText(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

/** Both levels of an answer that is flat or wrapped in `data` (field notes), the inner one first. */
export function flatten(answer: unknown): JsonObject | undefined {
	if (!isPlainObject(answer)) return undefined;
	return isPlainObject(answer.data) ? { ...answer, ...answer.data } : answer;
}

/** One text of an answer, under the first of the names that is there. */
export function textIn(answer: unknown, ...names: string[]): string | undefined {
	const fields = flatten(answer) ?? {};
	return names.map((name) => looseText(fields[name])).find((text) => text !== undefined);
}
