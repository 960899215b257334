import { extensionOf, isMedia, isPlaylist, isToldByContent, typeByContent, typeByName } from '../../core/mediaTypes';
import { CONTROLS } from '../../core/text';

/** Types that are no result file: services describe trouble in answers of these types, whatever the status. */
const NO_FILES: Array<[RegExp, string]> = [
	[/^(text\/html|application\/xhtml\+xml)$/, 'a web page'],
	[/[/+](x-)?(nd)?json$|\/json-/, 'JSON'],
	[/[/+]xml(-dtd)?$/, 'XML'],
	[/^text\//, 'text'],
];

/** The kind of answer that the file host sent instead of a file, in words; undefined where it may be one. */
export function describeNoFile(contentType: string): string | undefined {
	const type = plainType(contentType);
	return isMedia(type) || isPlaylist(type) ? undefined : NO_FILES.find(([pattern]) => pattern.test(type))?.[1];
}

/** The same for a header alone. Hosts call any file plain text: only its first bytes tell. */
export function describeNoFileByHeader(contentType: string): string | undefined {
	return plainType(contentType) === 'text/plain' ? undefined : describeNoFile(contentType);
}

/**
 * The type of a result file: the medium that its first bytes tell; the one that the header names where they tell none, or where it
 * knows better; or else that of the names of the file. What is no medium keeps its type; a header that calls it one is wrong.
 *
 * @param start the first bytes of the file
 */
export function resultMimeType(contentType: string, file: FileNamed, start: Uint8Array): string {
	const told = plainType(contentType);
	const content = typeByContent(start);
	const isVague = /^$|octet-stream|\*|^application\/(x-)?(binary|unknown|(force-)?download)$/.test(told);
	const tellsMedium = isMedia(told) && !isVague;
	if (content === undefined) {
		if (tellsMedium || describeNoFile(told) !== undefined) return told;
		return namesOf(file).map(typeByName).find(Boolean) ?? (isVague ? UNKNOWN_TYPE : told);
	}
	if (isMedia(content)) return tellsMedium && knowsBetter(told, content) ? told : content;
	// An SVG may begin as any other XML does. Documents of many kinds are a zip.
	const isTrue = isMedia(told) ? told.endsWith('+xml') && content.endsWith('/xml') : !isVague && !isPlaylist(content);
	return isTrue ? told : content;
}

/**
 * True for a header that names a kind of what the first bytes tell: some formats begin as another one does, such as an animated PNG, and a
 * container of videos may hold sound alone.
 */
function knowsBetter(told: string, content: string): boolean {
	const [kind, kindOfContent] = [told, content].map((type) => type.replace(/\/.*/, ''));
	return kind === kindOfContent ? !isToldByContent(told) : kind === 'audio' && kindOfContent === 'video';
}

const UNKNOWN_TYPE = 'application/octet-stream';

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

/** Such as "0.png" or "output.mp4": the files of all tasks have it, and in a folder one would replace the other. */
const SAYS_NOTHING = /^(\d+|(image|img|video|output|result|file|download)[-_]?\d*)(\.\w+)?$/i;

/** A result file as its host names it. */
interface FileNamed {
	/** The header Content-Disposition; empty where there is none. */
	disposition: string;
	/** The address in the record, then the one that redirects led to. */
	urls: string[];
}

/** The facts about a result file before it is stored. */
export interface ResultFile extends FileNamed {
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
	 * @param fallback without an extension: for a file without a name
	 */
	nameOf(file: ResultFile, fallback: string): string {
		const { wanted } = this;
		const name = wanted === '' ? (nameOfService(file) ?? clean(fallback)) : wanted;
		return this.distinct(withExtension(name, file));
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

function nameOfService(file: ResultFile): string | undefined {
	const ofAddress = pathsOf(file).filter((path) => typeByName(path) !== undefined || keptExtension(path, file));
	const candidates = [...namesInHeader(file), ...ofAddress.map(decode)].map(clean);
	return candidates.find((candidate) => candidate !== '' && !SAYS_NOTHING.test(candidate));
}

/** The extension of a name that a file keeps because it is no medium, and the name does not call it one. */
function keptExtension(name: string, { mimeType }: ResultFile): string | undefined {
	return isMedia(mimeType) || isMedia(typeByName(name) ?? '') ? undefined : /\.([a-z]\w{0,7})$/i.exec(name)?.[1];
}

function namesOf(file: FileNamed): string[] {
	return [...namesInHeader(file), ...pathsOf(file)];
}

function namesInHeader({ disposition }: FileNamed): string[] {
	const extended = /filename\*\s*=\s*(?:UTF-8'[^']*')?([^;]+)/i.exec(disposition)?.[1];
	const plain = /filename\s*=\s*(?:"([^"]*)"|([^;]+))/i.exec(disposition);
	return [extended === undefined ? '' : decode(extended), (plain?.[1] ?? plain?.[2] ?? '').trim()];
}

const pathsOf = ({ urls }: FileNamed) => urls.map((url) => new URL(url).pathname);

/** Adds the extension of what the file is. One that means the same type stays; one that means another is replaced. */
function withExtension(name: string, file: ResultFile): string {
	const kept = namesOf(file)
		.map((each) => keptExtension(each, file))
		.find(Boolean);
	const extension = kept ?? extensionOf(file.mimeType);
	const type = typeByName(name);
	if (type === file.mimeType || name.toLowerCase().endsWith(`.${extension.toLowerCase()}`)) return name;
	return `${type === undefined ? name : name.replace(/\.\w+$/, '')}.${extension}`;
}

/** Cleans a file name of the user, which may be a whole prompt. Empty where nothing of it can be in a name. */
export function cleanFileName(name: string): string {
	// Here, because `clean` keeps the end of a name.
	const start = [...name.trim().slice(0, MOST_READ)].map((character) => (/[\\/]/.test(character) ? '_' : character));
	return clean(beginningThatFits(start).join('')).replace(/[.\s]+$/, '');
}

/** Characters of the prompt, and those of the task ID, in the name of a file. */
const OF_THE_PROMPT = 40;
const OF_THE_ID = 12;
/** Enough to find as many letters in. */
const MOST_READ = 1_000;

/**
 * A name for the files of a task: the beginning of its prompt, and the end of its ID, by which no two tasks have the same one.
 * Letters and digits of any script, and dashes: safe on each file system, in S3 and in URLs.
 */
export function nameByPrompt(prompt: string, taskId: string): string {
	const words = toDashes(prompt.slice(0, MOST_READ).normalize('NFC')).replace(/^[-\p{M}]+/u, '');
	const start = [...words].slice(0, OF_THE_PROMPT).join('');
	const end = toDashes(taskId).slice(-OF_THE_ID);
	return [start, end]
		.map((part) => part.replace(/^-+|-+$/g, ''))
		.filter((part) => part !== '')
		.join('-');
}

const toDashes = (text: string) => text.replace(/[^\p{L}\p{M}\p{N}]+/gu, '-');

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** The longest name, in bytes: a file system takes 255, and an extension and a number come after it. */
const LONGEST_NAME = 200;

/** As many of these characters as a name has room for. */
function beginningThatFits(characters: string[]): string[] {
	let bytes = 0;
	const end = characters.findIndex((character) => (bytes += Buffer.byteLength(character)) > LONGEST_NAME);
	return end === -1 ? characters : characters.slice(0, end);
}

/** No folders, no control characters (also those that reverse the text), no reserved characters, not too long. */
function clean(name: string): string {
	const path = name.trim();
	const cleaned = path
		.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
		.replace(CONTROLS, '_')
		.replace(/[<>:"|?*]/g, '_')
		.replace(/^\.+/, '');
	return beginningThatFits([...cleaned.slice(-MOST_READ)].reverse())
		.reverse()
		.join('');
}
