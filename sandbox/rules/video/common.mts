import { videoCredits } from '../../state/prices.mts';
import type { Accepted } from '../../state/tasks.mts';
import type { Body, Fields } from '../fields.mts';
import type { LinkCheck } from '../links.mts';

/** A model's rules: check a body of `POST /v1/videos/generations`, refuse, or say what it means. */
export type VideoRules = (fields: Fields, body: Body, check: LinkCheck) => Body;

/** The values that every accepted video request has. */
export function acceptedVideo(model: string, effective: Body, unknownFields: string[]): Accepted {
	const { duration, aspect_ratio: aspectRatio } = effective;
	return {
		kind: 'video',
		model,
		effective,
		unknownFields,
		credits: videoCredits(typeof duration === 'number' && duration > 0 ? duration : 5),
		output: {
			files: 1,
			width: 320,
			height: 180,
			aspectRatio: typeof aspectRatio === 'string' ? aspectRatio : '16:9',
		},
	};
}

const OTHER_IMAGE_NAMES = ['image_with_roles', 'reference_images', 'images', 'image_url', 'image'];

/**
 * Images in a field that the model's table does not have. What becomes of them is not shown, but the request is not one of
 * a prompt alone.
 */
export function hasImagesElsewhere(fields: Fields): boolean {
	return OTHER_IMAGE_NAMES.some((name) => {
		const value = fields.has(name) ? fields.any(name, []) : undefined;
		if (Array.isArray(value)) return value.length > 0;
		const url = typeof value === 'object' && value !== null ? (value as { url?: unknown }).url : value;
		return url !== false && String(url ?? '') !== '';
	});
}

/** Leaves out what was not given. */
export function given(fields: Body): Body {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
