import { getPath, type JsonObject } from '../json';
import { isHttpUrl } from '../urls';

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
];

const URL_KEYS = ['url', 'video_url', 'image_url'];

export function findResultUrls(record: JsonObject): string[] {
	for (const place of RESULT_PLACES) {
		const urls = urlsIn(getPath(record, place));
		if (urls.length > 0) return [...new Set(urls)];
	}
	return [];
}

/** A string, an object with a URL in it, or an array of either. */
function urlsIn(value: unknown): string[] {
	if (Array.isArray(value)) return value.flatMap(urlsIn);
	if (typeof value === 'string') return isHttpUrl(value) ? [value] : [];
	if (typeof value !== 'object' || value === null) return [];
	const found = URL_KEYS.map((key) => getPath(value, key)).find((url) => url !== undefined);
	return found === undefined ? [] : urlsIn(found);
}

/** Results that came inside the record instead of as a URL, as some values of `response_format` give them. */
export function hasInlineResult(record: JsonObject): boolean {
	return /"b64_json"\s*:\s*"/.test(JSON.stringify(record));
}
