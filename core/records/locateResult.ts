import { getPath, isContainer, isPlainObject, isUnset, type JsonObject, valuesBelow } from '../json';
import { isMedia, typeByName } from '../mediaTypes';
import {
	isFileContent,
	isHttpUrl,
	isMediaDataUri,
	LONGEST_URL,
	parseHttpUrl,
	parseResultUrl,
	parseUrlAtPath,
} from '../urls';
import { stateOf, type TaskRecord } from './taskRecord';
import { beginningOf } from '../text';
import { parseRefusal } from './refusals';
import { looseText } from './loose';
import { appendName, flattened, listsOnPath, valuesAtPath } from './resultPath';

export interface Located {
	urls: string[];
	/** The path of the URLs, if it is not one of the known ones. */
	foundAt?: string;
	/** The paths of possible results, if there are several: nothing is guessed then. */
	choices?: string[];
	/** The result is in the record itself. */
	isInline?: boolean;
	/** A picture, a video or a sound is in the record as a data URI, and nothing else: in one that has not ended, it may be an input. */
	hasDataUri?: boolean;
	/** The service names more parts than it has made. */
	missing?: MissingParts;
}

/** The facts about a task that its record need not have. */
export interface TaskFacts {
	/** Relative addresses are read against it. */
	baseUrl?: string;
	/** A poster beside a video is not the result. */
	kind?: 'image' | 'video';
}

/**
 * The only function that finds the result of a task: at the path that the user has entered, or else at the known paths,
 * or else anywhere in a completed record. URLs of inputs, and files of another kind, only where that has nothing else.
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
	const toUrl = remembering((value) => parseResultUrl(value, baseUrl));
	const inputs = once(() => urlsOfInputs(raw, toUrl));
	const others = once(() => urlsOfOtherKinds(raw, kind, toUrl));
	const isRequested = (url: string) => requestUrls.size > 0 && requestUrls.has(toComparable(url));
	const isInput = (url: string) => isRequested(url) || inputs().has(url);
	const isNoResult = (url: string) => isInput(url) || others().has(url);
	const isCompleted = state === 'completed';
	if (path !== '') {
		const named = urlsIn(valuesAtPath(raw, path), (value) => parseUrlAtPath(value, baseUrl));
		const own = named.filter((url) => !(isCompleted ? isRequested : isInput)(url));
		const urls = own.length === 0 && isCompleted ? named : own;
		if (urls.length === 0)
			return {
				...{ urls, isInline: searchRecord(raw, () => undefined).isInline },
				hasDataUri: valuesAtPath(raw, path).some(isMediaDataUri) || undefined,
			};
		return { urls, ...missingAt(record, path, urls, toUrl) };
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
		if (at !== undefined) return { ...located, ...missingAt(record, at, located.urls, toUrl) };
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
	const { locations, isInline, hasDataUri } = searchRecord(raw, toFoundUrl);
	const [first] = locations;
	if (first === undefined) return { urls: [], isInline, hasDataUri };
	const found = new Set(first.urls);
	const agree = locations.every((each) => each.urls.length === found.size && each.urls.every((url) => found.has(url)));
	return agree
		? { urls: first.urls, foundAt: first.path, at: first.path }
		: { urls: [], choices: locations.map(({ path }) => path) };
}

/** The same, once for each text: a record is looked through several times, and an address may have to be encoded. */
function remembering(toUrl: ToUrl): ToUrl {
	const known = new Map<string, string | undefined>();
	return (value) => {
		if (typeof value !== 'string' || value.length > LONGEST_URL) return undefined;
		if (!known.has(value)) known.set(value, toUrl(value));
		return known.get(value);
	};
}

/** The value of a function, which is called at most once, and only if it is needed: records may be large. */
function once<T>(make: () => T): () => T {
	let made: { value: T } | undefined;
	return () => (made ??= { value: make() }).value;
}

/** The address of a file at an unknown place: a relative one only where it ends as those of files do. */
function toFileUrl(value: unknown, baseUrl: string | undefined): string | undefined {
	if (typeof value !== 'string' || value.length > LONGEST_URL || isHttpUrl(value)) return parseHttpUrl(value);
	const url = parseHttpUrl(value) === undefined ? parseResultUrl(value, baseUrl) : undefined;
	const path = url === undefined ? '' : new URL(url).pathname;
	return typeByName(path) !== undefined || /\/content(\/\w+)?$/.test(path) ? url : undefined;
}

/**
 * The URL in the answer of an image upload: where the results of tasks are found, too, because the contract does not
 * show it (4.8), a relative one last. Undefined where several places may have it.
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
	...['data', 'urls', 'url', 'video_url', 'image_url', 'images', 'videos'].map((name) => `result.${name}`),
	...['data', 'url', 'urls', 'video_url', 'output', 'outputs', 'images', 'videos'],
	...['result_url', 'result_urls', 'result'],
	...['result_urls', 'result_url', 'urls', 'url', 'video_url', 'output', 'outputs', 'result'].map(
		(name) => `metadata.${name}`,
	),
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
	const found = [...flattened(value, (entry) => within(entry, toUrl))].map(toUrl);
	return [...new Set(found.filter((url) => url !== undefined))];
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

/** The URL that a value is, if it is one that counts. */
export type ToUrl = (value: unknown) => string | undefined;

/** Names of inputs that a record repeats: those of the contract (4.4 to 4.7), and others that say so. */
const INPUT = /^(image_urls|image_with_roles|video_list|inputs?|request|param(eter)?s|(input|reference|source)_.+)$/;
/** Names below which no result is, beside inputs: links to other pages, reasons. */
const NEVER_BELOW = new Set([
	...['callback_url', 'webhook_url', 'h5_link', 'docs', 'help', 'error', 'errors'],
	...['delete_url', 'viewer_url', 'url_viewer', 'status_url', 'cancel_url'],
	'__proto__',
]);
/** Names of previews, and of the frames that a video begins or ends with. */
const PREVIEW = /thumb|preview|poster|(first|last)_?frame|(^|_)covers?(_|$|image|img|pic|photo|url)/;

/** The levels that are searched: the path of a result is shown. */
const MOST_LEVELS = 1000;
/** More possible results than a person would choose from. */
const MOST_LOCATIONS = 5;

/** Characters: more than a thousand levels of short names have. */
const LONGEST_PLACE = 10_000;

/** A path in a record. All entries of a list have the same path. */
class ResultLocation {
	readonly urls = new Set<string>();

	private readonly inner = new Map<string, ResultLocation>();

	readonly isSearched: boolean;

	constructor(
		readonly path = '',
		private readonly level = 0,
		name = '',
	) {
		const saysOtherwise = NEVER_BELOW.has(name) || INPUT.test(name) || PREVIEW.test(name);
		// A hint names the place, and the order keeps the hint: a name can have megabytes.
		this.isSearched = level <= MOST_LEVELS && path.length <= LONGEST_PLACE && !saysOtherwise;
	}

	at(name: string): ResultLocation {
		const known = this.inner.get(name);
		if (known) return known;
		const location = new ResultLocation(
			appendName(this.path, name.slice(0, LONGEST_PLACE + 1)),
			this.level + 1,
			toSnakeCase(name),
		);
		this.inner.set(name, location);
		return location;
	}
}

/** A name can have a megabyte: its beginning tells what it means. */
const LONGEST_NAME = 200;

/** `imageUrls`, `image-urls` and `IMAGE_URLS` mean the same. */
function toSnakeCase(name: string): string {
	return name
		.slice(0, LONGEST_NAME)
		.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
		.replace(/[-\s]+/g, '_')
		.toLowerCase();
}

/**
 * Searches the whole record for values that may be a result. Without recursion: a record may be deep.
 *
 * @param toUrl the URL that a value is, if it may be a result
 * @returns the locations, the nearest to the top first, or that the result is in the record itself, as some values of
 *   `response_format` give it; and whether it has a data URI
 */
function searchRecord(record: unknown, toUrl: ToUrl) {
	const found = new Set<ResultLocation>();
	const queue: Array<{ values: object; location: ResultLocation }> = [];
	let hasDataUri: true | undefined;

	const visit = (value: unknown, location: ResultLocation, name?: string) => {
		const url = isContainer(value) ? undefined : toUrl(value);
		const isDataUri = isMediaDataUri(value);
		// Most values are none of these, and need no location of their own.
		if (!isContainer(value) && url === undefined && !isDataUri) return;
		const own = name === undefined ? location : location.at(name);
		if (!own.isSearched) return;
		if (isDataUri) hasDataUri = true;
		if (isContainer(value)) queue.push({ values: value, location: own });
		if (url === undefined) return;
		own.urls.add(url);
		found.add(own);
	};

	visit(record, new ResultLocation());
	// It grows meanwhile.
	for (const { values, location } of queue) {
		if (found.size >= MOST_LOCATIONS) break;
		if (Array.isArray(values)) for (const value of values) visit(value, location);
		else {
			const inner = values as Record<string, unknown>;
			if (typeof inner.b64_json === 'string' && inner.b64_json !== '')
				return { locations: [], isInline: true, hasDataUri };
			for (const name of Object.keys(inner)) {
				if (found.size >= MOST_LOCATIONS) break;
				visit(inner[name], location, name);
			}
		}
	}
	const locations = [...found].map(({ path, urls }) => ({ path, urls: [...urls] }));
	return { locations, isInline: false, hasDataUri };
}

/** The URLs that a record gives as inputs of its task. */
export function urlsOfInputs(record: unknown, toUrl: ToUrl): Set<string> {
	const urls = new Set<string>();
	const below = new Set<unknown>();
	for (const [name, value, container] of valuesBelow(record)) {
		const isInput = below.has(container) || (name !== undefined && INPUT.test(toSnakeCase(name)));
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
	const plain = toSnakeCase(name);
	const [kind, another] = Object.entries(KIND_NAMES).filter(([, pattern]) => pattern.test(plain));
	return another === undefined ? kind?.[0] : undefined;
}

/**
 * The URLs of files of another kind than the task's: by the extension, or else only at places whose names say so. Such as
 * the poster beside a video, or a playlist. None where the kind of the task is not known.
 */
function urlsOfOtherKinds(record: unknown, kind: 'image' | 'video' | undefined, toUrl: ToUrl): Set<string> {
	const others = new Set<string>();
	if (kind === undefined) return others;
	const own = new Set<string>();
	const kinds = new Map<unknown, string | undefined>();
	for (const [name = '', value, container] of valuesBelow(record)) {
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

/** The parts of a result that a completed record lists, and that the service has not made. */
export interface MissingParts {
	count: number;
	/** In the service's words. */
	reason?: string;
}

const MOST_REASONS = 3;
const LONGEST_REASON = 300;

/**
 * The entries without a result in the lists on the way to the result of a completed record, such as the third one of
 * `[{url}, {url}, {error: {message}}]`: a part of a batch must not pass for all of it.
 */
function missingAt(
	{ raw, state }: Pick<TaskRecord, 'raw' | 'state'>,
	path: string,
	found: string[],
	toUrl: ToUrl,
): Pick<Located, 'missing'> {
	if (state !== 'completed') return {};
	const urls = new Set(found);
	const missing = listsOnPath(raw, path)
		.map((list) => list.filter((entry) => !hasResult(entry, urls, toUrl)))
		.reduce((most, entries) => (entries.length > most.length ? entries : most), []);
	if (missing.length === 0) return {};
	const reasons = new Set(missing.map(reasonOf).filter((reason) => reason !== undefined));
	const reason = [...reasons].slice(0, MOST_REASONS).join('; ');
	return { missing: { count: missing.length, ...(reason === '' ? {} : { reason }) } };
}

/** True also for an entry that is meant as something else: a text beside the pictures, or the file itself. */
function hasResult(entry: unknown, urls: ReadonlySet<string>, toUrl: ToUrl): boolean {
	if (!isContainer(entry))
		return !isUnset(entry) && (typeof entry !== 'string' || toUrl(entry) !== undefined || isFileContent(entry));
	let hasAny = false;
	for (const [, value] of valuesBelow(entry)) {
		if (isContainer(value)) continue;
		const url = toUrl(value);
		if ((url !== undefined && urls.has(url)) || isFileContent(value)) return true;
		hasAny ||= url !== undefined;
	}
	return (hasAny || (isPlainObject(entry) && typeof entry.text === 'string')) && reasonOf(entry) === undefined;
}

/** The reason that an entry gives, in the service's words. */
function reasonOf(entry: unknown): string | undefined {
	if (typeof entry === 'string') return entry.trim() === '' ? undefined : beginningOf(entry.trim(), LONGEST_REASON);
	if (!isPlainObject(entry)) return undefined;
	const { message, code } = parseRefusal(entry);
	const status = looseText(entry.status);
	const hasFailed = status !== undefined && stateOf(status) === 'failed';
	const reason = message ?? code ?? looseText(entry.finish_reason) ?? (hasFailed ? status : undefined);
	return reason === undefined ? undefined : beginningOf(reason, LONGEST_REASON);
}
