import { valuesBelow } from '../json';
import { findResultUrls, urlsAtPath } from './resultUrls';
import { searchRecord, urlsOfInputs } from './resultSearch';
import type { TaskRecord } from './taskRecord';

export interface Located {
	urls: string[];
	/** Where they stand, if it is not a place where results are known to stand. */
	foundAt?: string;
	/** Where the result may stand, if that is more than one place: nobody guesses then. */
	choices?: string[];
	/** The result is in the record itself. */
	isInline?: boolean;
}

/**
 * The result URLs of a record, the only place where they are found: where the user says, else where results are known
 * to stand, else anywhere in a completed record. What a task that has not finished repeats of its request, it has from
 * there, whatever else it is called.
 *
 * @param requestUrls the URLs of the request, where it is known: they are no result, wherever the record repeats them
 */
export function locateResult(
	{ raw, state }: TaskRecord,
	path = '',
	requestUrls: ReadonlySet<string> = new Set(),
): Located {
	const repeated = state === 'completed' ? new Set<string>() : urlsOfInputs(raw);
	const isRequestUrl = (url: string) =>
		repeated.has(url) || requestUrls.has(url) || (requestUrls.size > 0 && requestUrls.has(toComparable(url)));
	if (path !== '') {
		const named = urlsAtPath(raw, path);
		const others = named.filter((url) => !isRequestUrl(url));
		if (named.length > 0 && (others.length > 0 || state === 'completed'))
			return { urls: others.length > 0 ? others : named };
		return { urls: [], isInline: searchRecord(raw, () => true).isInline };
	}
	const known = findResultUrls(raw, isRequestUrl);
	if (known.length > 0 || state !== 'completed') return { urls: known };
	const { places, isInline } = searchRecord(raw, isRequestUrl);
	const [first] = places;
	if (first === undefined) return { urls: [], isInline };
	const urls = new Set(first.urls);
	const agree = places.every((place) => place.urls.length === urls.size && place.urls.every((url) => urls.has(url)));
	return agree ? { urls: first.urls, foundAt: first.path } : { urls: [], choices: places.map((place) => place.path) };
}

/** Every URL of a request, also those within a text. */
export function urlsOfRequest(body: unknown): Set<string> {
	const urls = new Set<string>();
	for (const [, value] of valuesBelow(body)) {
		if (typeof value !== 'string') continue;
		if (/^\s*http/i.test(value)) urls.add(toComparable(value.trim()));
		for (const [url] of value.matchAll(/https?:\/\/[^\s"'<>]+/gi)) {
			for (const each of [url, url.replace(/[.,;:!?)\]}]+$/, '')]) urls.add(each).add(toComparable(each));
		}
	}
	return urls;
}

/** Services write an address anew: with another case of the host, or encoded. */
function toComparable(url: string): string {
	try {
		return new URL(url).href;
	} catch {
		return url;
	}
}
