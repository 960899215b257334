import { gatewayError, type GatewayError } from '../errors';
import { getPath, isUnset, type JsonObject } from '../json';
import { isFileContent } from '../urls';
import { allFields, IMAGE_ROLES_PATH, IMAGE_URLS_PATH, type BodySpec, type FieldSpec } from './spec';

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
	const hasField = (name: string) => {
		const isIts = ({ bodyPath, shape }: FieldSpec) =>
			bodyPath === name || (shape === 'imagesWithRoles' && name === IMAGE_ROLES_PATH);
		return allFields(spec).some(isIts) || spec.otherFields?.some(isIts);
	};
	return IMAGE_NAMES.filter((name) => !hasField(name))
		.filter((name) => imagesAt(body, name).some(isFileContent))
		.map((name) => gatewayError('imageIsFile', { label: name }));
}

/** The images under a name: an address, as it is or with its role, or a list with one in each entry. */
function imagesAt(body: JsonObject, name: string): unknown[] {
	const value = getPath(body, name);
	const isOne = typeof value === 'string' || !isUnset(getPath(value, 'url'));
	const images: unknown[] = Array.isArray(value) ? value : isOne ? [value] : [];
	return images.map((image) => getPath(image, 'url') ?? image).filter((image) => !isUnset(image));
}
