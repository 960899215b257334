/** The types of result files by extension. */
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
	ico: 'image/vnd.microsoft.icon',
	mkv: 'video/x-matroska',
	avi: 'video/x-msvideo',
	mp3: 'audio/mpeg',
};

/**
 * The types that are no result file, whatever the status, in words: services describe trouble in answers of these
 * types.
 */
const NO_FILES: Array<[RegExp, string]> = [
	[/^(text\/html|application\/xhtml\+xml)$/, 'a web page'],
	[/[/+](x-)?(nd)?json$|\/json-/, 'JSON'],
	[/[/+]xml(-dtd)?$/, 'XML'],
	[/^text\//, 'text'],
];

/** The kind of answer that the file host sent instead of a file, in words; undefined where it may be one. */
export function describeNoFile(contentType: string): string | undefined {
	const type = plainType(contentType);
	return isMedia(type) ? undefined : NO_FILES.find(([pattern]) => pattern.test(type))?.[1];
}

/** Undefined for what is no result file. Where the host names no type of a medium, the names of the file tell. */
export function resultMimeType(
	contentType: string,
	file: Pick<ResultFile, 'disposition' | 'urls'>,
	kind: 'image' | 'video',
): string | undefined {
	if (describeNoFile(contentType) !== undefined) return undefined;
	const type = plainType(contentType);
	if (isMedia(type)) return type;
	const names = [...namesInHeader(file), ...pathsOf(file)];
	return names.map(typeByName).find((known) => known !== undefined) ?? (kind === 'image' ? 'image/png' : 'video/mp4');
}

/** No type is longer: the name of a file ends with a part of it. */
const LONGEST_TYPE = 100;

/** Without the parameters behind a semicolon. */
function plainType(contentType: string): string {
	return contentType
		.replace(/[;,].*/s, '')
		.trim()
		.toLowerCase()
		.slice(0, LONGEST_TYPE);
}

function isMedia(type: string): boolean {
	return /^(image|video|audio)\//.test(type);
}

/**
 * A name such as "0.png" or "output.mp4": the files of all tasks have it, and in a folder one would replace the other.
 */
const SAYS_NOTHING = /^(\d+|(image|img|video|output|result|file|download)[-_]?\d*)(\.\w+)?$/i;

/** The facts about a result file before its bytes come. */
export interface ResultFile {
	/** The header Content-Disposition; empty where there is none. */
	disposition: string;
	/** The address in the record, then the one that redirects led to. */
	urls: string[];
	mimeType: string;
}

/** Names the files of one item, at most a hundred: no two are the same, whatever the case of their letters. */
export class FileNames {
	private readonly used = new Set<string>();

	/** @param wanted as the user names them; empty: as the service does */
	constructor(private readonly wanted: string) {}

	/**
	 * The name of a result file, with the extension of what it is.
	 *
	 * @param fallback without an extension: for a file that nobody has named
	 */
	nameOf(file: ResultFile, fallback: string): string {
		const { wanted } = this;
		const extension =
			Object.keys(EXTENSIONS).find((key) => EXTENSIONS[key] === file.mimeType) ?? ofUnknown(file.mimeType);
		const name =
			wanted === ''
				? (nameOfService(file) ?? `${clean(fallback)}.${extension}`)
				: withExtension(wanted, file.mimeType, `${extension}`);
		return this.distinct(name);
	}

	/** Marks a name as used: the file has arrived. */
	use(name: string): void {
		this.used.add(name.toLowerCase());
	}

	private distinct(name: string): string {
		let distinct = name;
		for (let number = 1; this.used.has(distinct.toLowerCase()); number++)
			distinct = name.replace(/(\.\w+)?$/, `_${number}$1`);
		return distinct;
	}
}

/** The extension of another type, such as `heic` of `image/heic` and `flac` of `audio/x-flac`. */
function ofUnknown(mimeType: string): string {
	return mimeType.replace(/.*\/(x-)?|\+.*/g, '');
}

function nameOfService(file: ResultFile): string | undefined {
	const ofAddress = pathsOf(file).filter((path) => typeByName(path) !== undefined);
	const candidates = [...namesInHeader(file), ...ofAddress.map(decode)].map(clean);
	return candidates.find((candidate) => candidate !== '' && !SAYS_NOTHING.test(candidate));
}

function namesInHeader({ disposition }: Pick<ResultFile, 'disposition'>): string[] {
	const extended = /filename\*\s*=\s*(?:UTF-8'[^']*')?([^;]+)/i.exec(disposition)?.[1];
	const plain = /filename\s*=\s*(?:"([^"]*)"|([^;]+))/i.exec(disposition);
	return [extended === undefined ? '' : decode(extended), (plain?.[1] ?? plain?.[2] ?? '').trim()];
}

const pathsOf = ({ urls }: Pick<ResultFile, 'urls'>) => urls.map((url) => new URL(url).pathname);

/** Adds the extension. One that means the same type stays; one that means another type is replaced. */
function withExtension(name: string, mimeType: string, extension: string): string {
	const type = typeByName(name);
	if (type === mimeType) return name;
	return `${type === undefined ? name : name.replace(/\.\w+$/, '')}.${extension}`;
}

/**
 * Cleans a file name that the user has entered, which may be a whole prompt. Empty where nothing of it can be in a
 * name.
 */
export function cleanFileName(name: string): string {
	// Here, because `clean` keeps the end of a name.
	const start = name.trim().replace(/[\\/]/g, '_').slice(0, LONGEST_NAME);
	// No half of a character here, either.
	return clean(start.replace(/[\uD800-\uDBFF]$/, '')).replace(/[.\s]+$/, '');
}

function typeByName(name: string): string | undefined {
	return Object.entries(EXTENSIONS).find(([extension]) => name.toLowerCase().endsWith(`.${extension}`))?.[1];
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** The longest name, in characters. */
const LONGEST_NAME = 150;

/** No folders, no control characters, no reserved characters, not too long. */
function clean(name: string): string {
	const path = name.trim();
	return (
		path
			.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
			.replace(/[\p{Cc}<>:"|?*]/gu, '_')
			.replace(/^\.+/, '')
			.slice(-LONGEST_NAME)
			// A character may take two places, and half of it is none.
			.replace(/^[\uDC00-\uDFFF]/, '')
	);
}
