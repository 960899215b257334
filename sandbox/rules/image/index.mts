import type { Accepted } from '../../state/tasks.mts';
import { FieldReader, type Body } from '../fields.mts';
import type { LinkCheck } from '../links.mts';
import { acceptedImage, MOST_IMAGES, type ImageRules } from './common.mts';
import { gammaImage2 } from './gammaImage2.mts';

/** Contract section 4.5: one path, the model selects the rules. */
export const IMAGE_MODELS: Record<string, ImageRules> = {
	'gamma-image-2': gammaImage2,
};

/** A model that the service does not know, let through by a directive: any fields, square images. */
const anyBody: ImageRules = (fields, body) => {
	const prompt = fields.requiredString('prompt');
	const n = fields.integer('n', { min: 1, max: MOST_IMAGES }) ?? 1;
	return { effective: { ...body, prompt, n }, n };
};

/** Checks a body; `anyModel` lets a model through that the service does not know. */
export function readImageRequest(body: Body, check: LinkCheck, { anyModel = false } = {}): Accepted {
	const fields = new FieldReader(body);
	const model = fields.requiredString('model', anyModel ? {} : { oneOf: Object.keys(IMAGE_MODELS) });
	const rules = (Object.hasOwn(IMAGE_MODELS, model) && IMAGE_MODELS[model]) || anyBody;
	const request = rules(fields, body, check);
	return acceptedImage(model, request, rules === anyBody ? [] : fields.unknownFields());
}
