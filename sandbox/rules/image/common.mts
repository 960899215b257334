import { imageCredits } from '../../state/prices.mts';
import type { Accepted } from '../../state/tasks.mts';
import type { Body, Fields } from '../fields.mts';
import type { LinkCheck } from '../links.mts';

/** The contract shows no maximum; this one only keeps a typing error from filling the memory. */
export const MOST_IMAGES = 1_000;

/** An image request, as a model understands it. */
export interface ImageRequest {
	effective: Body;
	/** The number of images. */
	n: number;
	/** Decides about the price. */
	resolution?: string;
	aspectRatio?: string;
	/** Width and height, such as `1024x1024`. */
	pixels?: string;
}

/** A model's rules: check a body of `POST /v1/images/generations`, refuse, or say what it means. */
export type ImageRules = (fields: Fields, body: Body, check: LinkCheck) => ImageRequest;

/** The values that every accepted image request has. */
export function acceptedImage(
	model: string,
	{ effective, n, resolution = '1K', aspectRatio = '1:1', pixels = '1024x1024' }: ImageRequest,
	unknownFields: string[],
): Accepted {
	const [width = 0, height = 0] = pixels.split('x').map(Number);
	return {
		kind: 'image',
		model,
		effective: { model, ...effective },
		unknownFields,
		credits: imageCredits(resolution, n),
		output: { files: n, width, height, aspectRatio },
	};
}
