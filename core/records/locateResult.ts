import { getPath, isUnset, valuesBelow, type JsonObject } from '../json';
import { isHttpUrl } from '../urls';
import { MOST_URLS, valuesAtPath } from './resultPath';
import { searchRecord, urlsOfInputs } from './resultSearch';
import type { TaskRecord } from './taskRecord';

export interface Located {
	urls: string[];
	/** The path of the URLs, if it is not one of the known ones. */
	foundAt?: string;
	/** The paths of possible results, if there are several: nothing is guessed then. */
	choices?: string[];
	/** The result is in the record itself. */
	isInline?: boolean;
}

/**
 * The only function that finds the result of a task: at the path that the user has entered, or else at the known paths,
 * or else anywhere in a completed record. In the record of an unfinished task, URLs of its inputs are no result, whatever
 * other name they also have there.
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
	const { locations, isInline } = searchRecord(raw, isRequestUrl);
	const [first] = locations;
	if (first === undefined) return { urls: [], isInline };
	const urls = new Set(first.urls);
	const agree = locations.every((each) => each.urls.length === urls.size && each.urls.every((url) => urls.has(url)));
	return agree ? { urls: first.urls, foundAt: first.path } : { urls: [], choices: locations.map(({ path }) => path) };
}

/**
 * The paths at which gateways of this kind were seen to put their results: the contract does not show any (2.3).
 * Thumbnails, and inputs that a record repeats in `metadata`, are not results.
 */
const KNOWN_PATHS = [
	'result.data',
	'result.urls',
	'result.url',
	'result.video_url',
	'result.image_url',
	'result.images',
	'result.videos',
	'data',
	'url',
	'urls',
	'video_url',
	'output',
	'outputs',
	'images',
	'videos',
	'result_url',
	'result_urls',
	'result',
	'metadata.result_urls',
	'metadata.result_url',
	'metadata.urls',
	'metadata.url',
	'metadata.video_url',
	'metadata.output',
	'metadata.outputs',
	'metadata.result',
].map((path) => path.split('.'));

const URL_KEYS = [['url'], ['video_url'], ['image_url']];

/**
 * The URLs at the first known path that has any.
 *
 * @param isRequestUrl true for the URLs of the request, where it is known: they are no result
 */
export function findResultUrls(record: JsonObject, isRequestUrl: (url: string) => boolean = () => false): string[] {
	const found = KNOWN_PATHS.map((path) => getPath(record, path)).filter((value) => value !== undefined);
	const lists = found
		.map((value) => urlsIn([value]).filter((url) => !isRequestUrl(url)))
		.filter((urls) => urls.length > 0);
	const first = lists[0] ?? [];
	// The first URL may only repeat one of a list: then the list is the result.
	return lists.reduce(
		(longest, list) => (list.length > longest.length && isWithin(first, list) ? list : longest),
		first,
	);
}

function isWithin(urls: string[], list: string[]): boolean {
	const listed = new Set(list);
	return urls.every((url) => listed.has(url));
}

/** The URLs at the path that the user has entered. */
export function urlsAtPath(record: JsonObject, path: string): string[] {
	return urlsIn(valuesAtPath(record, path));
}

/** The URLs in strings, objects with a URL, and lists of either; each once. Without recursion: values may be deep. */
function urlsIn(values: unknown[]): string[] {
	const urls = new Set<string>();
	const left = [...values].reverse();
	while (left.length > 0 && urls.size < MOST_URLS) {
		const value = left.pop();
		if (typeof value === 'string') {
			if (!urls.has(value) && isHttpUrl(value)) urls.add(value);
		} else if (Array.isArray(value)) {
			for (let index = value.length - 1; index >= 0; index--) left.push(value[index]);
		} else if (typeof value === 'object' && value !== null) {
			left.push(URL_KEYS.map((key) => getPath(value, key)).find((url) => !isUnset(url)));
		}
	}
	return [...urls];
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

/** A URL in its usual notation: services change the case of the host, or the encoding. */
function toComparable(url: string): string {
	try {
		return new URL(url).href;
	} catch {
		return url;
	}
}
