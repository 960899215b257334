import { getPath, isContainer, isPlainObject, isUnset, valuesBelow, type JsonObject } from '../json';
import { typeByName } from '../mediaTypes';
import { isHttpUrl, parseHttpUrl, parseResultUrl } from '../urls';
import { missingParts, type MissingParts } from './missingParts';
import { flattened, listsOnPath, MOST_ENTRIES, MOST_URLS, valuesAtPath } from './resultPath';
import { searchRecord, urlsOfInputs, urlsOfOtherKinds, type ToUrl } from './resultSearch';
import type { TaskRecord } from './taskRecord';

export interface Located {
	urls: string[];
	/** The path of the URLs, if it is not one of the known ones. */
	foundAt?: string;
	/** The paths of possible results, if there are several: nothing is guessed then. */
	choices?: string[];
	/** The result is in the record itself. */
	isInline?: boolean;
	/** The service names more parts than it has made. */
	missing?: MissingParts;
}

/** The facts about a task that its record need not have. */
interface TaskFacts {
	/** Relative addresses are read against it. */
	baseUrl?: string;
	/** A poster beside a video is not the result. */
	kind?: 'image' | 'video';
}

/**
 * The only function that finds the result of a task: at the path that the user has entered, or else at the known paths,
 * or else anywhere in a completed record. URLs of its inputs, and files of another kind than the task's, are a result only
 * where a completed record has nothing else.
 *
 * @param requestUrls what `urlsOfRequest` found, where the request is known: no result, wherever the record repeats it
 */
export function locateResult(
	record: Pick<TaskRecord, 'raw' | 'state'>,
	path = '',
	requestUrls: ReadonlySet<string> = new Set(),
	{ baseUrl, kind }: TaskFacts = {},
): Located {
	const { raw, state } = record;
	const toUrl = (value: unknown) => parseResultUrl(value, baseUrl);
	const inputs = once(() => urlsOfInputs(raw, toUrl));
	const others = once(() => urlsOfOtherKinds(raw, kind, toUrl));
	const isRequested = (url: string) => requestUrls.has(toComparable(url));
	const isInput = (url: string) => isRequested(url) || inputs().has(url);
	const isNoResult = (url: string) => isInput(url) || others().has(url);
	const isCompleted = state === 'completed';
	if (path !== '') {
		const named = urlsIn(valuesAtPath(raw, path), (value) => parseResultUrl(value, baseUrl, true));
		const own = named.filter((url) => !(isCompleted ? isRequested : isInput)(url));
		const urls = own.length === 0 && isCompleted ? named : own;
		if (urls.length === 0) return { urls, isInline: searchRecord(raw, () => undefined).isInline };
		return { urls, ...(isCompleted ? missingAt(raw, path, urls, toUrl) : {}) };
	}
	for (const isExcluded of isCompleted ? [isNoResult, isInput, isRequested] : [isNoResult]) {
		let excludesAny = false;
		const among = (url: string | undefined) => {
			if (url === undefined || !isExcluded(url)) return url;
			excludesAny = true;
			return undefined;
		};
		const { at, ...located } = locateAmong(
			record,
			(value) => among(toUrl(value)),
			(value) => among(toFileUrl(value, baseUrl)),
		);
		if (at !== undefined) return { ...located, ...(isCompleted ? missingAt(raw, at, located.urls, toUrl) : {}) };
		if (located.choices || located.isInline || !excludesAny || isExcluded === isRequested) return located;
	}
	return { urls: [] };
}

/**
 * The URLs at a known path, or else at any place.
 *
 * @param toFoundUrl the address in a value at any place: there, a text may be any other path, too
 * @returns also the path of the URLs, `at`, if there are any
 */
function locateAmong(
	{ raw, state }: Pick<TaskRecord, 'raw' | 'state'>,
	toUrl: ToUrl,
	toFoundUrl: ToUrl,
): Located & { at?: string } {
	const known = findResultUrls(raw, toUrl);
	if (known.urls.length > 0 || state !== 'completed') return known;
	const { locations, isInline } = searchRecord(raw, toFoundUrl);
	const [first] = locations;
	if (first === undefined) return { urls: [], isInline };
	const found = new Set(first.urls);
	const agree = locations.every((each) => each.urls.length === found.size && each.urls.every((url) => found.has(url)));
	return agree
		? { urls: first.urls, foundAt: first.path, at: first.path }
		: { urls: [], choices: locations.map(({ path }) => path) };
}

/** The value of a function, which is called at most once, and only if it is needed: records may be large. */
function once<T>(make: () => T): () => T {
	let made: { value: T } | undefined;
	return () => (made ??= { value: make() }).value;
}

/** The address of a file at an unknown place: a relative one only where it ends as those of files do. */
function toFileUrl(value: unknown, baseUrl: string | undefined): string | undefined {
	if (isHttpUrl(value)) return value;
	const url = parseHttpUrl(value) === undefined ? parseResultUrl(value, baseUrl) : undefined;
	const path = url === undefined ? '' : new URL(url).pathname;
	return typeByName(path) !== undefined || /\/content(\/\w+)?$/.test(path) ? url : undefined;
}

/** The parts of a result that the lists on the way to it name, and do not have. */
function missingAt(raw: JsonObject, path: string, urls: string[], toUrl: ToUrl): Pick<Located, 'missing'> {
	const missing = missingParts(listsOnPath(raw, path), new Set(urls), toUrl);
	return missing === undefined ? {} : { missing };
}

/**
 * The URL in the answer of an image upload, such as `{"success": true, "data": {"url": "https://…"}}`: where the results of
 * tasks are found, too, because the contract does not show it (4.8), a relative one last. Undefined where several places
 * may have it.
 */
export function parseUploadUrl(answer: unknown, baseUrl: string): string | undefined {
	const raw = isPlainObject(answer) ? answer : { data: answer };
	const find = (base?: string) =>
		locateResult({ raw, state: 'completed' }, '', undefined, { baseUrl: base, kind: 'image' }).urls[0];
	return find() ?? find(baseUrl);
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
];

const URL_KEYS = ['url', 'video_url', 'image_url'];

/** The URLs at the first known path that has any. */
function findResultUrls(record: JsonObject, toUrl: ToUrl): { urls: string[]; at?: string } {
	const lists = KNOWN_PATHS.map((at) => ({ at, urls: urlsIn(getPath(record, at), toUrl) })).filter(
		({ urls }) => urls.length > 0,
	);
	const first: { urls: string[]; at?: string } = lists[0] ?? { urls: [] };
	// The first URL may only repeat one of a list: then the list is the result.
	return lists.reduce(
		(longest, list) => (list.urls.length > longest.urls.length && isWithin(first.urls, list.urls) ? list : longest),
		first,
	);
}

function isWithin(urls: string[], list: string[]): boolean {
	const listed = new Set(list);
	return urls.every((url) => listed.has(url));
}

/** The URLs in strings, objects with a URL, and lists of either; each once. */
function urlsIn(value: unknown, toUrl: ToUrl): string[] {
	const urls = new Set<string>();
	let seen = 0;
	for (const each of flattened(value, (entry) => within(entry, toUrl))) {
		const url = toUrl(each);
		if (url !== undefined) urls.add(url);
		if (urls.size === MOST_URLS || ++seen === MOST_ENTRIES) break;
	}
	return [...urls];
}

function within(value: unknown, toUrl: ToUrl): unknown[] | undefined {
	if (!isPlainObject(value)) return Array.isArray(value) ? value : undefined;
	const own = URL_KEYS.map((key) => value[key]);
	return [own.find((url) => !isUnset(url) && (isContainer(url) || toUrl(url) !== undefined))];
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
