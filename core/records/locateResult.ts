import { getPath, isPlainObject, isUnset, valuesBelow, type JsonObject } from '../json';
import { isHttpUrl, parseHttpUrl } from '../urls';
import { flattened, MOST_ENTRIES, MOST_URLS, valuesAtPath } from './resultPath';
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
 * @param requestUrls what `urlsOfRequest` found, where the request is known: no result, wherever the record repeats it
 */
export function locateResult(
	{ raw, state }: TaskRecord,
	path = '',
	requestUrls: ReadonlySet<string> = new Set(),
): Located {
	const repeated = state === 'completed' ? new Set<string>() : urlsOfInputs(raw);
	const isRequestUrl = (url: string) => repeated.has(url) || requestUrls.has(toComparable(url));
	if (path !== '') {
		const named = urlsIn(valuesAtPath(raw, path));
		const others = named.filter((url) => !isRequestUrl(url));
		const urls = others.length === 0 && state === 'completed' ? named : others;
		return urls.length > 0 ? { urls } : { urls, isInline: searchRecord(raw, () => true).isInline };
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

const URL_KEYS = ['url', 'video_url', 'image_url'];

/** The URLs at the first known path that has any. */
function findResultUrls(record: JsonObject, isRequestUrl: (url: string) => boolean): string[] {
	const lists = KNOWN_PATHS.map((path) => urlsIn(getPath(record, path)).filter((url) => !isRequestUrl(url))).filter(
		(urls) => urls.length > 0,
	);
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

/** The URLs in strings, objects with a URL, and lists of either; each once. */
function urlsIn(value: unknown): string[] {
	const urls = new Set<string>();
	let seen = 0;
	for (const each of flattened(value, within)) {
		const url = parseHttpUrl(each);
		if (url !== undefined) urls.add(url);
		if (urls.size === MOST_URLS || ++seen === MOST_ENTRIES) break;
	}
	return [...urls];
}

function within(value: unknown): unknown[] | undefined {
	if (isPlainObject(value)) return [URL_KEYS.map((key) => value[key]).find((url) => !isUnset(url))];
	return Array.isArray(value) ? value : undefined;
}

/** Not with a regular expression, which would take minutes for a megabyte of dots. */
function withoutPunctuation(url: string): string {
	let end = url.length;
	while (end > 0 && '.,;:!?)]}'.includes(url.charAt(end - 1))) end--;
	return url.slice(0, end);
}

/** Every URL of a request, also those within a text, in their usual notation. */
export function urlsOfRequest(body: unknown): Set<string> {
	const urls = new Set<string>();
	for (const [, value] of valuesBelow(body)) {
		if (typeof value !== 'string') continue;
		const parts = [...value.matchAll(/https?:\/\/[^\s"'<>]+/gi)].map(([url]) => url);
		// As a whole, a text may be a URL with spaces in it.
		const possible = [value, ...parts, ...parts.map(withoutPunctuation)];
		for (const url of possible.filter((text) => URL.canParse(text)).map(toComparable))
			if (isHttpUrl(url)) urls.add(url);
	}
	return urls;
}

/** A URL in its usual notation: services change the case of the host, or the encoding. */
const toComparable = (url: string) => new URL(url).href;
