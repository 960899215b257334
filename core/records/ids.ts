import { isPlainObject, parseJson } from '../json';

/**
 * An id in an answer whose end was cut off: what was paid for must not be lost to a broken bracket. `keys` are the
 * names that it may have, as alternatives of a regular expression.
 */
export function salvageId(text: string, keys: string): string | undefined {
	if (!/^\s*\{/.test(text)) return undefined;
	const whole = parseJson(text);
	// An answer that is whole may hold the ID of something else, such as that of the error itself.
	const searched = isPlainObject(whole) ? JSON.stringify({ ...whole, error: undefined }) : text;
	const found = new RegExp(`"(?:${keys})"\\s*:\\s*(?:("(?:[^"\\\\]|\\\\.)+")|(\\d+)\\s*[,}])`).exec(searched);
	const id = parseJson(found?.[1] ?? '');
	return typeof id === 'string' ? id : found?.[2];
}
