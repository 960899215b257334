import { valuesBelow } from '../json';
import { isHttpUrl } from '../urls';
import { appendName, MOST_URLS } from './resultPath';

/** Below these names stands what was asked for. */
const INPUTS = new Set([
	...['image_urls', 'reference_images', 'reference_urls', 'image_with_roles', 'video_list', 'source_url'],
	...['input', 'inputs', 'request', 'params', 'parameters'],
]);
/** Below these, too, what leads elsewhere, or what tells why: never a result. */
const NEVER_BELOW = new Set([
	...INPUTS,
	...['callback_url', 'webhook_url', 'h5_link', 'docs', 'help', 'error', 'errors'],
	'__proto__',
]);
/** A picture of the result is not the result, and neither is a frame that it began or ended with. */
const PREVIEW = /thumb|preview|poster|(first|last)_?frame|(^|_)covers?(_|$|image|img|pic|photo|url)/;

/** A record is as large and as deep as the service likes. What lies beyond is no result that anybody meant. */
const MOST_VALUES = 1_000_000;
/** Of one list, or of one object. */
const MOST_ENTRIES = 20_000;
const MOST_LEVELS = 1000;
const MOST_PLACES = 5;

/** A place in a record. All entries of a list are one place. */
class ResultLocation {
	readonly isSearched: boolean;

	private inner?: Map<string, ResultLocation>;

	private collected?: Set<string>;

	constructor(
		readonly path = '',
		private readonly level = 0,
		name = '',
	) {
		const plain = toSnakeCase(name);
		this.isSearched = level <= MOST_LEVELS && !NEVER_BELOW.has(plain) && !PREVIEW.test(plain);
	}

	get urls(): Set<string> {
		return (this.collected ??= new Set());
	}

	at(name: string): ResultLocation {
		this.inner ??= new Map();
		const known = this.inner.get(name);
		if (known) return known;
		const place = new ResultLocation(appendName(this.path, name), this.level + 1, name);
		this.inner.set(name, place);
		return place;
	}
}

/** `imageUrls`, `image-urls` and `IMAGE_URLS` mean the same. */
function toSnakeCase(name: string): string {
	return name
		.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
		.replace(/[-\s]+/g, '_')
		.toLowerCase();
}

export interface Found {
	/** No more than anybody wants to choose from. The nearest to the top comes first. */
	places: Array<{ path: string; urls: string[] }>;
	/** The result came inside the record instead of as a URL, as some values of `response_format` give it. */
	isInline: boolean;
}

/**
 * Looks through the whole record for values that are a URL as a whole. Without recursion: what is to be looked at
 * waits in a queue.
 */
export function searchRecord(record: unknown, isRequestUrl: (url: string) => boolean): Found {
	const found = new Set<ResultLocation>();
	const queue: Array<{ values: unknown; place: ResultLocation }> = [{ values: record, place: new ResultLocation() }];
	let looks = 0;

	const look = (value: unknown, place: ResultLocation, name?: string) => {
		looks++;
		const isContainer = typeof value === 'object' && value !== null;
		// Most values are neither, and need no place of their own.
		if (!isContainer && !(typeof value === 'string' && /^http/i.test(value))) return;
		const own = name === undefined ? place : place.at(name);
		if (!own.isSearched) return;
		if (isContainer) queue.push({ values: value, place: own });
		else if (own.urls.size < MOST_URLS && !own.urls.has(value) && isHttpUrl(value) && !isRequestUrl(value)) {
			own.urls.add(value);
			found.add(own);
		}
	};

	for (let next = 0; next < queue.length && looks < MOST_VALUES && found.size < MOST_PLACES; next++) {
		const { values, place } = queue[next] as (typeof queue)[number];
		if (Array.isArray(values)) for (const value of values.slice(0, MOST_ENTRIES)) look(value, place);
		else {
			const inner = values as Record<string, unknown>;
			if (hasInline(inner)) return { places: [], isInline: true };
			for (const name of Object.keys(inner).slice(0, MOST_ENTRIES)) {
				if (found.size >= MOST_PLACES) break;
				look(inner[name], place, name);
			}
		}
	}
	return { places: [...found].map(({ path, urls }) => ({ path, urls: [...urls] })), isInline: false };
}

/** The URLs that a record gives as inputs of its task. */
export function urlsOfInputs(record: unknown): Set<string> {
	const urls = new Set<string>();
	const below = new Set<unknown>();
	for (const [name, value, container] of valuesBelow(record)) {
		if (!below.has(container) && (name === undefined || !INPUTS.has(toSnakeCase(name)))) continue;
		if (typeof value === 'string') {
			if (isHttpUrl(value)) urls.add(value);
		} else below.add(value);
	}
	return urls;
}

function hasInline(values: Record<string, unknown>): boolean {
	return Object.hasOwn(values, 'b64_json') && typeof values.b64_json === 'string' && values.b64_json !== '';
}
