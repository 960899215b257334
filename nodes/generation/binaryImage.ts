import { createHash } from 'crypto';
import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { takingBreaks } from '../../core/clock';
import { invalidInput, stoppedError } from '../../core/errors';
import { isPlainObject, type JsonObject } from '../../core/json';
import { PendingUpload } from '../../core/models/images';
import { extensionOf, SIGNATURE_BYTES, typeByContent } from '../../core/mediaTypes';
import { realClock } from '../connection/transport';
import { readingFile } from '../errors/toNodeError';
import { toText } from '../form/fieldReader';
import { asBeforeRenamed } from '../run/requestHash';
import type { Item } from '../run/inputItem';
import type { Run } from '../run/nodeRun';
import { FILES_IN_JSON } from '../run/toItem';

const FIELD_LABEL = 'Input Binary Field';

/** Bytes that are hashed without a break. */
const PIECE_BYTES = 4_000_000;

/**
 * The image in a binary field of the item, to be uploaded. Throws a `badInput` error that names the image or the field.
 *
 * @param given the name of the field, or the file itself, as an expression gives it: of any item of any node
 * @param number of the image, where the form takes several; from 1
 */
export function readBinaryImage(item: Item, given: unknown, number?: number): PendingUpload {
	const label = number === undefined ? FIELD_LABEL : `Image ${number}`;
	const fieldLabel = number === undefined ? FIELD_LABEL : `${label}: ${FIELD_LABEL}`;
	const { data, name } = isPlainObject(given)
		? readFileObject(item, given, fieldLabel)
		: readNamed(item, given, label, fieldLabel);

	// A service may take it, and the task would be paid for.
	if (data.bytes === 0 || (data.id === undefined && data.data === ''))
		throw invalidInput(
			`${label}: the binary field "${name}" is an empty file`,
			'Choose a field that contains an image.',
		);

	const { mimeType = '', fileName, fileExtension } = data;
	const isNamedImage = mimeType.startsWith('image/');
	let type = { mimeType, extension: fileExtension || (isNamedImage ? extensionOf(mimeType) : 'png') };
	const describeFile = () => ({ mimeType: type.mimeType, fileName: fileName ?? `image.${type.extension}` });
	return new PendingUpload(data.id === undefined ? '' : asBeforeRenamed(data.id), {
		label: fieldLabel,
		read: async () => {
			const { fileName, ...described } = describeFile();
			const bytes = await readingFile({ label: fieldLabel, fileName }, async () => await readFile(item, data));
			return { bytes, fileName, ...described };
		},
		check: async () => {
			const start = async () => await readStart(item, data);
			if (isNamedImage) return;
			const known = typeByContent(await readingFile({ label: fieldLabel, fileName: name }, start));
			if (!known?.startsWith('image/'))
				throw invalidInput(
					`${label}: the binary field "${name}" is not an image`,
					`Its type is ${mimeType || 'unknown'}. Choose a field that contains an image.`,
				);
			type = { mimeType: known, extension: extensionOf(known) };
		},
		stored: () => (data.id === undefined ? undefined : { id: data.id, fileName: describeFile().fileName }),
		inMemory: data.id === undefined ? data.data : undefined,
	});
}

interface NamedFile {
	data: IBinaryData;
	/** For messages. */
	name: string;
}

function readNamed(item: Item, given: unknown, label: string, fieldLabel: string): NamedFile {
	const name = toText(given, fieldLabel);
	const data = findFile(item, name);
	if (data !== undefined) return { data, name };
	const there = binaryFieldsOf(item).join(', ');
	if (name === '')
		throw invalidInput(
			`${fieldLabel} is empty`,
			`Enter the name of a binary field${there && ` (the item has ${there})`}, or an expression that returns a file from another node.`,
		);
	throw invalidInput(
		`${label}: the item has no binary field "${name}"`,
		`${there === '' ? 'It has no binary data at all.' : `It has: ${there}.`} Enter the name of a binary field of the input item.`,
	);
}

function readFileObject(item: Item, given: JsonObject, fieldLabel: string): NamedFile {
	const data = resolveFile(item, given as unknown as IBinaryData) ?? findWithoutContent(item, given);
	if (data === undefined)
		throw invalidInput(
			`${fieldLabel} is an object, but not a file`,
			'Enter the name of a binary field, or an expression that returns one file.',
		);
	return { data, name: data.fileName ?? 'file' };
}

/** Finds a file by its description: where files are kept in memory, `{{ $binary.data }}` lacks only the content. */
function findWithoutContent({ input }: Item, given: JsonObject): IBinaryData | undefined {
	const isSame = ({ data, ...rest }: IBinaryData) =>
		data !== undefined && JSON.stringify(rest) === JSON.stringify(given);
	const [found, another] = Object.values(input.binary ?? {}).filter(isSame);
	return another === undefined ? found : undefined;
}

/** The names of the files of an item, wherever n8n holds them. */
export function binaryFieldsOf(item: Item): string[] {
	const { binary = {}, json } = item.input;
	const inJson = json[FILES_IN_JSON];
	const names = [...Object.keys(binary), ...Object.keys(isPlainObject(inJson) ? inJson : {}), ...Object.keys(json)];
	return [...new Set(names)].filter((name) => name !== FILES_IN_JSON && findFile(item, name) !== undefined);
}

/** n8n knows how the workflow holds its files, so it decides what counts; in the JSON, a path leads to them. */
function findFile(item: Item, name: string): IBinaryData | undefined {
	const held = item.input.binary?.[name];
	return held ?? resolveFile(item, name) ?? resolveFile(item, `${FILES_IN_JSON}[${JSON.stringify(name)}]`);
}

function resolveFile({ context, index }: Item, nameOrFile: string | IBinaryData): IBinaryData | undefined {
	try {
		return context.helpers.assertBinaryData(index, nameOrFile);
	} catch {
		return undefined;
	}
}

async function readFile({ context, index }: Item, data: IBinaryData): Promise<Uint8Array> {
	// n8n takes nothing for a file that has no type.
	return await context.helpers.getBinaryDataBuffer(index, { ...data, mimeType: data.mimeType ?? '' });
}

/** The first bytes, without reading a stored file to its end. */
async function readStart(item: Item, data: IBinaryData): Promise<Uint8Array> {
	// Four characters are three bytes.
	if (data.id === undefined) return await readFile(item, { ...data, data: data.data.slice(0, 2 * SIGNATURE_BYTES) });
	let start = new Uint8Array();
	for await (const chunk of await item.context.helpers.getBinaryStream(data.id)) {
		start = new Uint8Array([...start, ...(chunk as Uint8Array).subarray(0, SIGNATURE_BYTES)]);
		if (start.length >= SIGNATURE_BYTES) break;
	}
	return start;
}

interface Identifying {
	item: Item;
	run: Run;
	/** The item has a Purchase Key. */
	isKeyed: boolean;
	hash: () => string;
}

/**
 * Tells files by their content, which is read to its end: n8n's ID of a file is another one in each execution, while the request
 * stays the same, for a Purchase Key and for a retry after a crash, which runs the nodes before again. Files are checked, unless
 * their task exists.
 */
export async function identifyFiles(images: PendingUpload[], { item, run, isKeyed, hash }: Identifying): Promise<void> {
	if (images.length === 0) return;
	for (const image of images) {
		const { inMemory } = image.file;
		if (inMemory !== undefined) image.identity = await hashOf([Buffer.from(inMemory, 'latin1')]);
	}
	const entry = () => {
		const own = hash();
		const found = run.ledger.find(item.index, own);
		return found?.hash === own ? found : undefined;
	};
	const known = entry();
	// Under a Purchase Key the request has to be the same in every execution.
	if (known === undefined || isKeyed) for (const image of images) await identifyByContent(item, image, run);
	if ((known ?? entry())?.taskId === undefined) for (const { file } of images) await file.check();
}

async function identifyByContent({ context }: Item, image: PendingUpload, { fileHash }: Run): Promise<void> {
	const { label, stored } = image.file;
	const file = stored();
	if (file === undefined) return;
	const { id, fileName } = file;
	const hash = async () => await hashOfStored(context, id);
	image.identity = await fileHash(id, async () => await readingFile({ label, fileName }, hash));
}

async function hashOfStored(context: IExecuteFunctions, id: string): Promise<string> {
	const stream = await context.helpers.getBinaryStream(id);
	const forget = onAbort(context.getExecutionCancelSignal(), () => stream.destroy(stoppedError()));
	try {
		return await hashOf(stream as AsyncIterable<Uint8Array>);
	} finally {
		forget();
	}
}

/** A file that n8n keeps in its database, or in memory, comes in one piece. */
async function hashOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
	const hash = createHash('sha256');
	const breakIfDue = takingBreaks(realClock);
	for await (const chunk of chunks) {
		for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
			await breakIfDue();
			hash.update(chunk.subarray(from, from + PIECE_BYTES));
		}
	}
	return hash.digest('base64');
}
