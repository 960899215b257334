import { isMedia, typeByName } from './mediaTypes';

/** A whole http(s) address, and nothing beside it. */
export function isHttpUrl(value: unknown): value is string {
	return typeof value === 'string' && /^https?:\/\/[^/\s]\S*$/i.test(value) && URL.canParse(value);
}

/** True for several addresses in one text, as sheets have them: they would be paid for as one that leads nowhere. */
export function isSeveralUrls(value: unknown): boolean {
	return typeof value === 'string' && /[^,;|\s][,;|\s]+(https?|asset):\/\//i.test(value);
}

/** No server takes a longer one, and to encode one of megabytes takes n8n seconds. */
export const LONGEST_URL = 16_384;

/**
 * The http(s) address that a value of an answer is meant as: services leave spaces in it, or a line break after it.
 * Undefined for any other text, and for several addresses.
 */
export function parseHttpUrl(value: unknown): string | undefined {
	const given = typeof value === 'string' && value.length <= LONGEST_URL ? value : '';
	return isHttpUrl(given) ? given : encodedUrl(given);
}

function encodedUrl(given: string): string | undefined {
	const text = given.trim();
	const isOne = /^https?:\/\/[^/\s]/i.test(text) && !/[^\S ]| \S*:\/\//.test(text);
	return isOne && URL.canParse(text) ? new URL(text).href : undefined;
}

/** No relative address is longer. A picture in base64 may begin with a slash, too. */
const LONGEST_RELATIVE = 2_000;

/** A relative address: after a slash, a dot or the API's `v1`, or the path of a medium. `/9j/` is a JPEG in base64. */
const RELATIVE =
	/^(?!\/9j\/)(\/{1,2}[^/\s\\]|\.{1,2}\/[^\s\\]|v1\/)[^\s\\]*$|^[\w~%.-]+(\/[\w~%@=+.-]+)+(\.[a-z]\w{1,4}|\/content)(\?[^\s\\]*)?$/i;
/** Any path that is no type of a file. */
const ANY_PATH = /^(?!(image|video|audio|text|application)\/[\w.+-]+$)[\w~%.-]+(\/[\w~%@=+.-]+)+(\?[^\s\\]*)?$/i;

/**
 * The address of a result that a record gives, also one without a host, such as `/v1/videos/7/content` or `//host/a.mp4`: it
 * is meant against the Base URL. `/v1` is where the API is, behind a path of the Base URL, too.
 */
export const parseResultUrl = (value: unknown, baseUrl?: string): string | undefined =>
	parseHttpUrl(value) ?? against(baseUrl, value, (text) => RELATIVE.test(text) && isOfMedium(text));

/** The same at a place that a person has entered: there, any path is meant as one. */
export const parseUrlAtPath = (value: unknown, baseUrl?: string): string | undefined =>
	parseResultUrl(value, baseUrl) ?? against(baseUrl, value, (text) => ANY_PATH.test(text));

function isOfMedium(text: string): boolean {
	const path = text.replace(/\?.*/s, '');
	return /^[/.]|^v1\/|\/content$/.test(path) || isMedia(typeByName(path) ?? '');
}

/** The address of a text that is relative to the Base URL; undefined of any other. */
function against(baseUrl: string | undefined, value: unknown, isRelative: (text: string) => boolean) {
	const text = typeof value === 'string' && value.length <= LONGEST_RELATIVE ? value.trim() : '';
	if (baseUrl === undefined || !isRelative(text)) return undefined;
	const address = /^\/v1\//.test(text) ? baseUrl + text : text;
	return URL.canParse(address, `${baseUrl}/`) ? new URL(address, `${baseUrl}/`).href : undefined;
}

/**
 * Any address that a browser can open, also one that opens an app, such as `myapp://verified`. A host with a port and
 * without `https://` is none, although it reads like one.
 */
export function isUrl(value: unknown): value is string {
	if (typeof value !== 'string' || /^https?:/i.test(value)) return isHttpUrl(value);
	return /^[a-z][a-z\d+.-]*:(?!\d)\S+$/i.test(value) && URL.canParse(value);
}

/** A data URI, or bare base64: the file itself where its address should be. */
export function isFileContent(value: unknown): boolean {
	return typeof value === 'string' && (/^data:/i.test(value) || /^[A-Za-z0-9+/=\r\n]{100,}$/.test(value));
}

/** A picture, a video or a sound itself, where its address could be. */
export function isMediaDataUri(value: unknown): boolean {
	return typeof value === 'string' && /^data:(image|video|audio)\//i.test(value);
}

/** A reference to an avatar asset (contract 4.4.5, which sets no form of the ID). */
export function isAssetReference(value: unknown): value is string {
	return typeof value === 'string' && /^asset:\/\/.*\S/.test(value);
}

/** The same, or what was meant as one. */
export function isAssetLike(value: unknown): value is string {
	return typeof value === 'string' && /^asset:\/\//i.test(value);
}

/** True for an address of the same scheme, host and port as the Base URL. */
export function isAtOrigin(url: string | URL, baseUrl: string): boolean {
	return new URL(url).origin === new URL(baseUrl).origin;
}

/** False for a text that leads to another path, or to none, as a part of one. */
export const isPathPart = (text: string): boolean => !/^\.{0,2}$|\p{Surrogate}/u.test(text);
