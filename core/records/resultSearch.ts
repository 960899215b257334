import { isContainer, valuesBelow } from '../json';
import { isMedia, typeByName } from '../mediaTypes';
import { appendName, MOST_ENTRIES, MOST_URLS } from './resultPath';

/** The URL that a value is, if it is one that counts. */
export type ToUrl = (value: unknown) => string | undefined;

/** Names of inputs that a record repeats. */
const INPUTS = new Set([
	...['image_urls', 'reference_images', 'reference_urls', 'image_with_roles', 'video_list', 'source_url'],
	...['input', 'inputs', 'request', 'params', 'parameters'],
]);
/** Names below which no result is: inputs, links to other pages, reasons. */
const NEVER_BELOW = new Set([
	...INPUTS,
	...['callback_url', 'webhook_url', 'h5_link', 'docs', 'help', 'error', 'errors'],
	...['delete_url', 'viewer_url', 'url_viewer', 'status_url', 'cancel_url'],
	'__proto__',
]);
/** Names of previews, and of the frames that a video begins or ends with. */
const PREVIEW = /thumb|preview|poster|(first|last)_?frame|(^|_)covers?(_|$|image|img|pic|photo|url)/;

/** The levels that are searched, and in each list or object `MOST_ENTRIES`. */
const MOST_LEVELS = 1000;
/** More possible results than a person would choose from. */
const MOST_LOCATIONS = 5;

/** A path in a record. All entries of a list have the same path. */
class ResultLocation {
	private inner?: Map<string, ResultLocation>;

	private collected?: Set<string>;

	readonly isSearched: boolean;

	constructor(
		readonly path = '',
		private readonly level = 0,
		name = '',
	) {
		this.isSearched = level <= MOST_LEVELS && !NEVER_BELOW.has(name) && !PREVIEW.test(name);
	}

	get urls(): Set<string> {
		return (this.collected ??= new Set());
	}

	at(name: string): ResultLocation {
		this.inner ??= new Map();
		const known = this.inner.get(name);
		if (known) return known;
		const location = new ResultLocation(appendName(this.path, name), this.level + 1, toSnakeCase(name));
		this.inner.set(name, location);
		return location;
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
	/** The nearest to the top of the record comes first. */
	locations: Array<{ path: string; urls: string[] }>;
	/** The result came inside the record instead of as a URL, as some values of `response_format` give it. */
	isInline: boolean;
}

/**
 * Searches the whole record for values that may be a result. Without recursion: a record may be deep.
 *
 * @param toUrl the URL that a value is, if it may be a result
 */
export function searchRecord(record: unknown, toUrl: ToUrl): Found {
	const found = new Set<ResultLocation>();
	const queue: Array<{ values: object; location: ResultLocation }> = [];

	const visit = (value: unknown, location: ResultLocation, name?: string) => {
		const url = isContainer(value) ? undefined : toUrl(value);
		// Most values are neither, and need no location of their own.
		if (!isContainer(value) && url === undefined) return;
		const own = name === undefined ? location : location.at(name);
		if (!own.isSearched) return;
		if (isContainer(value)) queue.push({ values: value, location: own });
		else if (url !== undefined && own.urls.size < MOST_URLS) {
			own.urls.add(url);
			found.add(own);
		}
	};

	visit(record, new ResultLocation());
	// It grows meanwhile.
	for (const { values, location } of queue) {
		if (found.size >= MOST_LOCATIONS) break;
		if (Array.isArray(values)) for (const value of values.slice(0, MOST_ENTRIES)) visit(value, location);
		else {
			const inner = values as Record<string, unknown>;
			if (hasInline(inner)) return { locations: [], isInline: true };
			for (const name of Object.keys(inner).slice(0, MOST_ENTRIES)) {
				if (found.size >= MOST_LOCATIONS) break;
				visit(inner[name], location, name);
			}
		}
	}
	return { locations: [...found].map(({ path, urls }) => ({ path, urls: [...urls] })), isInline: false };
}

/** The values of a record that are read for their names: breadth first, so that no name near the top is missed. */
const MOST_NAMED = 50_000;

function* firstValuesBelow(record: unknown): ReturnType<typeof valuesBelow> {
	let seen = 0;
	for (const each of valuesBelow(record)) {
		if (++seen > MOST_NAMED) return;
		yield each;
	}
}

/** The URLs that a record gives as inputs of its task. */
export function urlsOfInputs(record: unknown, toUrl: ToUrl): Set<string> {
	const urls = new Set<string>();
	const below = new Set<unknown>();
	for (const [name, value, container] of firstValuesBelow(record)) {
		const isInput = below.has(container) || (name !== undefined && INPUTS.has(toSnakeCase(name)));
		if (!isInput) continue;
		const url = toUrl(value);
		if (url !== undefined) urls.add(url);
		else below.add(value);
	}
	return urls;
}

/** The kinds of files that names say they are. A name that says two says neither. */
const KIND_NAMES = {
	image: /(^|_)(images?|pictures?|photos?|imgs?)(_|$)/,
	video: /(^|_)videos?(_|$)/,
	audio: /(^|_)audios?(_|$)/,
};

function kindByName(name: string): string | undefined {
	const [kind, another] = Object.entries(KIND_NAMES).filter(([, pattern]) => pattern.test(toSnakeCase(name)));
	return another === undefined ? kind?.[0] : undefined;
}

/**
 * The URLs of files of another kind than the task's: by the extension, or else only at places whose names say so. Such as
 * the poster beside a video, or a playlist. None where the kind of the task is not known.
 */
export function urlsOfOtherKinds(record: unknown, kind: 'image' | 'video' | undefined, toUrl: ToUrl): Set<string> {
	const others = new Set<string>();
	if (kind === undefined) return others;
	const own = new Set<string>();
	const kinds = new Map<unknown, string | undefined>();
	for (const [name = '', value, container] of firstValuesBelow(record)) {
		const named = kindByName(name) ?? kinds.get(container);
		const url = isContainer(value) ? undefined : toUrl(value);
		if (isContainer(value)) kinds.set(value, named);
		else if (url !== undefined) {
			const type = typeByName(new URL(url).pathname);
			const found = type === undefined ? named : isMedia(type) ? type.replace(/\/.*/, '') : 'none';
			(found === undefined || found === kind ? own : others).add(url);
		}
	}
	return new Set([...others].filter((url) => !own.has(url)));
}

function hasInline(values: Record<string, unknown>): boolean {
	return typeof values.b64_json === 'string' && values.b64_json !== '';
}
