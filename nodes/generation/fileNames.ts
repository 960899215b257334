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

/** Undefined for a web page: that is no result, whatever its status. */
export function resultMimeType(
	contentType: string,
	url: string,
	kind: 'image' | 'video',
): string | undefined {
	const type = (/^[^;]*/.exec(contentType)?.[0] ?? '').trim().toLowerCase();
	if (type === 'text/html') return undefined;
	if (/^(image|video|audio)\//.test(type)) return type;
	const byName = EXTENSIONS[extensionOf(lastSegment(url))];
	return byName ?? (kind === 'image' ? 'image/png' : 'video/mp4');
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
