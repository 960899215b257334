import { getPath, type JsonObject } from '../json';
import { isHttpUrl } from '../urls';
import { MOST_URLS, valuesAtPath } from './resultPath';

/**
 * Finds the result URLs of a completed record. Where they stand is not shown in the contract (2.3), so every
 * place is tried in which gateways of this kind were seen to put them; the first that has any wins, so that
 * nothing is listed twice. Thumbnails, and inputs echoed in `metadata`, are not results.
 */
const RESULT_PLACES = [
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
].map((place) => place.split('.'));

const URL_KEYS = [['url'], ['video_url'], ['image_url']];

/** @param isRequestUrl tells the URLs of the request, where it is known: they are no result */
export function findResultUrls(record: JsonObject, isRequestUrl: (url: string) => boolean = () => false): string[] {
	const found = RESULT_PLACES.map((place) => getPath(record, place)).filter((value) => value !== undefined);
	const lists = found
		.map((value) => urlsIn([value]).filter((url) => !isRequestUrl(url)))
		.filter((urls) => urls.length > 0);
	const first = lists[0] ?? [];
	// One URL beside a list that it is of: the list is the result.
	return lists.reduce(
		(longest, list) => (list.length > longest.length && isWithin(first, list) ? list : longest),
		first,
	);
}

function isWithin(urls: string[], list: string[]): boolean {
	const listed = new Set(list);
	return urls.every((url) => listed.has(url));
}

/** What the user has named as the place of the result. */
export function urlsAtPath(record: JsonObject, path: string): string[] {
	return urlsIn(valuesAtPath(record, path));
}

/** From strings, objects with a URL in them, and lists of either; each once. Without recursion. */
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
			left.push(URL_KEYS.map((key) => getPath(value, key)).find((url) => url !== undefined));
		}
	}
	return [...urls];
}
