import { getPath, isPlainObject, isUnset, type JsonObject } from '../json';
import type { FieldSpec } from './model';
import { IMAGE_ROLES_PATH, IMAGE_URLS_PATH } from '../labels';

/** A file to upload to the service (contract 4.8). */
export interface ImageFile {
	fileName: string;
	mimeType: string;
	bytes: Uint8Array;
}

/** The file of an image that has no URL yet. */
export interface PendingFile {
	/** As the form calls it. */
	label: string;
	read: () => Promise<ImageFile>;
	/** Throws where it is no image. Sometimes only its first bytes tell. */
	check: () => Promise<void>;
	/** n8n's ID of it, and its name; undefined where n8n keeps the file in memory. */
	stored: () => { id: string; fileName: string } | undefined;
	/** Its content in base64, where n8n keeps it there. */
	inMemory?: string;
}

/**
 * An image that has no URL yet. It takes the place of its URL in the request body until the whole form is checked; then
 * it is uploaded. In JSON it is a text that tells its content from another one's.
 */
export class PendingUpload {
	constructor(
		public identity: string,
		readonly file: PendingFile,
	) {}

	toJSON(): string {
		return `upload of ${this.identity}`;
	}
}

/** Pending uploads by the references to them in a body that is plain JSON. */
export type PendingFiles = ReadonlyMap<string, Pick<PendingFile, 'read'>>;

/** The images of a body that are still to be uploaded, in its order. */
export function pendingUploads(value: unknown): PendingUpload[] {
	if (value instanceof PendingUpload) return [value];
	return typeof value === 'object' && value !== null ? Object.values(value).flatMap(pendingUploads) : [];
}

/** The body as plain JSON, with references in the place of its files. */
export function withReferences(body: JsonObject): { body: JsonObject; files: PendingFiles } {
	const files = new Map(pendingUploads(body).map((image) => [image.toJSON(), image.file]));
	return { body: JSON.parse(JSON.stringify(body)) as JsonObject, files };
}

/** The body with a URL in the place of each reference. */
export function withUploads(body: JsonObject, urls: ReadonlyMap<string, string>): JsonObject {
	if (urls.size === 0) return body;
	const replaced = (value: unknown): unknown => {
		if (typeof value === 'string') return urls.get(value) ?? value;
		if (Array.isArray(value)) return value.map(replaced);
		return isPlainObject(value) ? withUploads(value, urls) : value;
	};
	return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, replaced(value)]));
}

/** "Image 2", as its row in the form is called; a list that the form does not have goes by its own name. */
export function imageLabel({ displayName, options }: FieldSpec, index: number): string {
	const row = options?.find((option) => 'values' in option);
	return row === undefined ? `${displayName}, image ${index + 1},` : `${row.displayName} ${index + 1}`;
}

/**
 * Names under which gateways of this kind take images. Additional Fields may use one that the model's form does not
 * have: the contract does not show, for example, which field carries an asset (4.4.5).
 */
export const IMAGE_NAMES = [IMAGE_URLS_PATH, IMAGE_ROLES_PATH, 'reference_images', 'images', 'image_url', 'image'];

/** All images of the body, under whatever name. */
export function imagesOf(body: JsonObject): unknown[] {
	return IMAGE_NAMES.flatMap((name) => imagesAt(body, name));
}

/** The images under a name: an address, as it is or with its role, or a list with one in each entry. */
export function imagesAt(body: JsonObject, name: string): unknown[] {
	const value = getPath(body, name);
	const isOne = typeof value === 'string' || !isUnset(getPath(value, 'url'));
	const images: unknown[] = Array.isArray(value) ? value : isOne ? [value] : [];
	return images.map((image) => getPath(image, 'url') ?? image).filter((image) => !isUnset(image));
}

/** True when a prompt names a missing image. Only for a hint: it may be accepted, and other texts can look alike. */
export function namesMissingImage(body: JsonObject): boolean {
	const count = imagesOf(body).length;
	const named = [...String(body.prompt).matchAll(/<<<image_(-?\d+)>>>/g)].map((match) => Number(match[1]));
	return named.some((number) => number < 1 || number > count);
}
