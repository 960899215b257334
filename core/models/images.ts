import { gatewayError, type GatewayError } from '../errors';
import { asArray, getPath, isPlainObject, isUnset, type JsonObject } from '../json';
import { show } from '../text';
import { isAssetLike, isAssetReference, isFileContent, isHttpUrl } from '../urls';
import { checkList, notAllowed, takerOf } from './describe';
import { ROLES, type FieldSpec, type BodySpec, type ValueSource } from './spec';

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
 * Checks a list of images: public URLs, pending uploads, and asset references where the model takes them or where
 * Additional Fields give the list, because the contract does not show which field carries them (4.4.5).
 */
export function checkImages(
	spec: BodySpec,
	field: FieldSpec,
	value: unknown,
	source: ValueSource,
): GatewayError | undefined {
	const images = asArray(value);
	const takesAssets = source === 'json' || spec.acceptsAssets === true;
	const index = images.findIndex(
		(image) => !(image instanceof PendingUpload || isHttpUrl(image) || (takesAssets && isAssetReference(image))),
	);
	if (index === -1) return undefined;
	const image = images[index];
	const label = images.length === 1 ? field.displayName : imageLabel(field, index);
	if (isUnset(image)) return gatewayError('imageEmpty', { label });
	if (isAssetReference(image))
		return gatewayError('assetNotAccepted', { label, value: show(image), model: takerOf(spec) });
	if (isAssetLike(image)) return gatewayError('notAnAssetReference', { label, value: show(image) });
	return isFileContent(image)
		? gatewayError('imageIsFile', { label })
		: gatewayError('imageNotAUrl', { label, value: show(image) });
}

export function checkRoles(
	spec: BodySpec,
	field: FieldSpec,
	value: unknown,
	source: ValueSource,
): GatewayError | undefined {
	if (value === undefined) return undefined;
	const noList = checkList(spec, field, value);
	if (noList) return noList;
	const noObject = asArray(value).find((entry) => !isPlainObject(entry));
	if (noObject !== undefined) return notAllowed(spec, field, noObject, 'objects with url and role');
	const entries = asArray(value).map((entry, index) => ({
		label: imageLabel(field, index),
		url: getPath(entry, 'url'),
		role: getPath(entry, 'role'),
	}));
	const without = entries.find(({ role }) => isUnset(role));
	if (without) return gatewayError('roleMissing', { label: without.label });
	const wrong = entries.find(({ role }) => !ROLES.some((known) => known === role));
	if (wrong)
		return gatewayError('roleNotSupported', { label: wrong.label, value: show(wrong.role), model: takerOf(spec) });
	return checkImages(
		spec,
		field,
		entries.map(({ url }) => url),
		source,
	);
}
