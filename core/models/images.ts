import { z } from 'zod';
import { asArray, checkList, show, type ModelIssue } from './issues';
import { getPath, isUnset } from '../json';
import { ROLES, type FieldSpec, type ModelSpec } from './spec';

/** What may stand in a list of images: public URLs, asset references where the model takes them, pending uploads. */
export function checkImages(
	model: ModelSpec,
	field: FieldSpec,
	value: unknown,
	pendingUploads: ReadonlySet<string>,
): ModelIssue | undefined {
	const images = asArray(value);
	const index = images.findIndex((image) => !isImage(model, image, pendingUploads));
	if (index === -1) return undefined;
	const image = images[index];
	const name = images.length === 1 ? field.displayName : `${field.displayName}, image ${index + 1},`;
	if (isUnset(image)) {
		return { message: `${name} is empty`, advice: 'Enter a URL, choose Binary Field as its source, or remove the row.' };
	}
	if (typeof image === 'string' && image.startsWith('asset://')) {
		return {
			message: `${name} is the asset reference ${show(image)}, which ${model.id} does not accept`,
			advice: 'Avatar assets can be used with alpha-video-1-5-pro and with Custom Model.',
		};
	}
	return typeof image === 'string' && isFileContent(image)
		? {
				message: `${name} holds base64 data: the service accepts image URLs only`,
				advice: 'Set the source of the image to Binary Field: the image is then uploaded first.',
			}
		: {
				message: `${name} is ${show(image)}, which is not an http(s) URL`,
				advice: 'Enter a public address that starts with https:// or http://, or set the source to Binary Field.',
			};
}

function isImage(model: ModelSpec, image: unknown, pendingUploads: ReadonlySet<string>): boolean {
	if (typeof image !== 'string') return false;
	if (pendingUploads.has(image) || isPublicUrl(image)) return true;
	return model.acceptsAssets === true && /^asset:\/\/[^\s/]+$/.test(image);
}

export function checkRoles(
	model: ModelSpec,
	field: FieldSpec,
	value: unknown,
	pendingUploads: ReadonlySet<string>,
): ModelIssue | undefined {
	if (value === undefined) return undefined;
	const noList = checkList(model, field, value);
	if (noList) return noList;
	const entries = asArray(value).map((entry) => ({ url: getPath(entry, 'url'), role: getPath(entry, 'role') }));
	const wrong = entries.find(({ role }) => !ROLES.some((known) => known === role));
	if (wrong) {
		return {
			message: `${field.displayName} uses the role ${show(wrong.role)}: ${model.id} allows ${ROLES.join(', ')}`,
			advice: 'Choose First Frame or Last Frame as role.',
		};
	}
	return checkImages(model, field, entries.map(({ url }) => url), pendingUploads);
}

/** A data URI, or bare base64: the file itself where its address should be. */
export function isFileContent(text: string): boolean {
	return /^data:/i.test(text) || /^[A-Za-z0-9+/=\s]{100,}$/.test(text);
}

export function isPublicUrl(value: unknown): boolean {
	return typeof value === 'string' && /^https?:\/\/[^/\s]\S*$/i.test(value) && z.string().url().safeParse(value).success;
}
