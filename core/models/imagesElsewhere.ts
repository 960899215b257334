import { gatewayError, type GatewayError } from '../errors';
import { getPath, type JsonObject } from '../json';
import { isFileContent } from '../urls';
import { allFields, IMAGE_ROLES_PATH, IMAGE_URLS_PATH, type BodySpec } from './spec';

/**
 * Names under which gateways of this kind take images. Additional Fields may use one that the model's form does not
 * have: the contract does not show, for example, which field carries an asset (4.4.5).
 */
const IMAGE_NAMES = [IMAGE_URLS_PATH, IMAGE_ROLES_PATH, 'reference_images', 'images', 'image_url', 'image'];

/** All images of the body, under whatever name. */
export function imagesOf(body: JsonObject): unknown[] {
	return IMAGE_NAMES.flatMap((name) => imagesAt(body, name));
}

/** True for a path that has images, so that those under another name count with them. */
export const holdsImages = (path: string): boolean => IMAGE_NAMES.includes(path);

/** Refuses base64 data as an image, also where the form has no such field: the service accepts none (contract 7). */
export function checkImagesElsewhere(spec: BodySpec, body: JsonObject): GatewayError[] {
	const own = new Set([...allFields(spec), ...(spec.otherFields ?? [])].map(({ bodyPath }) => bodyPath));
	if (allFields(spec).some(({ shape }) => shape === 'imagesWithRoles')) own.add(IMAGE_ROLES_PATH);
	return IMAGE_NAMES.filter((name) => !own.has(name))
		.filter((name) => imagesAt(body, name).some((image) => typeof image === 'string' && isFileContent(image)))
		.map((name) => gatewayError('imageIsFile', { label: name }));
}

/** The images under a name: a text is one, and a list has one in each entry, as it is or with its role. */
function imagesAt(body: JsonObject, name: string): unknown[] {
	const value = getPath(body, name);
	const images: unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
	return images.map((image) => getPath(image, 'url') ?? image).filter((image) => image !== undefined && image !== '');
}
