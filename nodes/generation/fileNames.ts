/** What a result file is called and what it is, from whatever the file host tells. */
const EXTENSIONS: Record<string, string> = {
	png: 'image/png',
	jpg: 'image/jpeg',
	jpeg: 'image/jpeg',
	webp: 'image/webp',
	gif: 'image/gif',
	avif: 'image/avif',
	mp4: 'video/mp4',
	webm: 'video/webm',
	mov: 'video/quicktime',
};

/** What is no result file, whatever its status, in words: services tell what is wrong with an answer of these types. */
const NO_FILES: Array<[RegExp, string]> = [
	[/^(text\/html|application\/xhtml\+xml)$/, 'a web page'],
	[/[/+](x-)?(nd)?json$|\/json-/, 'JSON'],
	[/[/+]xml(-dtd)?$/, 'XML'],
	[/^text\//, 'text'],
];

/** What the file host sent instead of a file; undefined where it may be one. */
export function whatNoFile(contentType: string): string | undefined {
	const type = plainType(contentType);
	return isMedia(type) ? undefined : NO_FILES.find(([pattern]) => pattern.test(type))?.[1];
}

/** Undefined for what is no result file. */
export function resultMimeType(
	contentType: string,
	url: string,
	kind: 'image' | 'video',
): string | undefined {
	if (whatNoFile(contentType) !== undefined) return undefined;
	const type = plainType(contentType);
	if (isMedia(type)) return type;
	const byName = EXTENSIONS[extensionOf(lastSegment(url))];
	return byName ?? (kind === 'image' ? 'image/png' : 'video/mp4');
}

/** Without the parameters behind a semicolon. */
function plainType(contentType: string): string {
	return (/^[^;,]*/.exec(contentType)?.[0] ?? '').trim().toLowerCase();
}

function isMedia(type: string): boolean {
	return /^(image|video|audio)\//.test(type);
}

/** "0.png" or "output.mp4": the files of all tasks are called so, and in a folder one would replace the other. */
const SAYS_NOTHING = /^(\d+|(image|img|video|output|result|file|download)[-_]?\d*)(\.\w+)?$/i;

export function resultFileName(
	disposition: string,
	url: string,
	fallback: string,
	mimeType: string,
): string {
	const extended = /filename\*\s*=\s*(?:UTF-8'[^']*')?([^;]+)/i.exec(disposition)?.[1];
	const plain = /filename\s*=\s*(?:"([^"]*)"|([^;]+))/i.exec(disposition);
	const segment = lastSegment(url);
	const candidates = [
		extended === undefined ? '' : decode(extended),
		plain?.[1] ?? plain?.[2] ?? '',
		extensionOf(segment) in EXTENSIONS ? decode(segment) : '',
	];
	const name = candidates.map(clean).find((candidate) => candidate !== '' && !SAYS_NOTHING.test(candidate));
	if (name !== undefined) return name;
	const extension = Object.keys(EXTENSIONS).find((key) => EXTENSIONS[key] === mimeType) ?? mimeType.split('/')[1];
	return `${clean(fallback)}.${extension}`;
}

function lastSegment(url: string): string {
	try {
		return new URL(url).pathname.split('/').at(-1) ?? '';
	} catch {
		return '';
	}
}

function extensionOf(name: string): string {
	return /\.([a-z0-9]{2,5})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** No folders, no control characters, no reserved characters, not too long. */
function clean(name: string): string {
	return name
		.trim()
		.replace(/^.*[\\/]/, '')
		.replace(/[\p{Cc}<>:"|?*]/gu, '_')
		.replace(/^\.+/, '')
		.slice(-150);
}
