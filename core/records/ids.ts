import type { HttpResponse } from '../http/types';
import { isPlainObject, parseJson } from '../json';

/**
 * An id in an answer whose end was cut off: what was paid for must not be lost to a broken bracket. `keys` are the
 * names that it may have, as alternatives of a regular expression.
 */
export function salvageId({ text, body }: Pick<HttpResponse, 'text' | 'body'>, keys: string): string | undefined {
	if (!/^\s*\{/.test(text)) return undefined;
	// An answer that is whole may hold the ID of something else, such as that of the error itself.
	const searched = isPlainObject(body) ? JSON.stringify({ ...body, error: undefined }) : text;
	const found = new RegExp(`"(?:${keys})"\\s*:\\s*(?:("(?:[^"\\\\]|\\\\.)+")|(\\d+)\\s*[,}])`).exec(searched);
	const id = parseJson(found?.[1] ?? '');
	return typeof id === 'string' ? id : found?.[2];
}
