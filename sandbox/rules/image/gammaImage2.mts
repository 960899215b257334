import { invalidRequest } from '../../http/refusal.mts';
import type { Fields } from '../fields.mts';
import type { LinkCheck } from '../links.mts';
import { MOST_IMAGES, type ImageRules } from './common.mts';

/** Contract section 4.5: pixel size per resolution; a size that is missing is unsupported. */
const PIXELS: Record<string, Record<string, string>> = {
	'1K': { '1:1': '1024x1024', '3:2': '1536x1024', '2:3': '1024x1536' },
	'2K': {
		'1:1': '2048x2048',
		'3:2': '2048x1360',
		'2:3': '1360x2048',
		'4:3': '2048x1536',
		'3:4': '1536x2048',
		'5:4': '2560x2048',
		'4:5': '2048x2560',
		'16:9': '2048x1152',
		'9:16': '1152x2048',
		'2:1': '2688x1344',
		'1:2': '1344x2688',
		'21:9': '2688x1152',
		'9:21': '1152x2688',
	},
	'4K': {
		'16:9': '3840x2160',
		'9:16': '2160x3840',
		'2:1': '3840x1920',
		'1:2': '1920x3840',
		'21:9': '3840x1648',
		'9:21': '1648x3840',
	},
};
const MAX_PROMPT_CHARACTERS = 32_000;

/** Contract section 4.5. */
export const gammaImage2: ImageRules = (fields, _body, check) => {
	const prompt = fields.requiredString('prompt', { maxLength: MAX_PROMPT_CHARACTERS });
	const resolution = fields.string('resolution', { oneOf: Object.keys(PIXELS) }) ?? '1K';
	const size = fields.string('size', { oneOf: Object.keys(PIXELS['2K'] ?? {}) }) ?? '1:1';
	const pixels = PIXELS[resolution]?.[size];
	if (pixels === undefined) throw invalidRequest(`size ${size} is unsupported at resolution ${resolution}`);
	const n = fields.integer('n', { min: 1, max: MOST_IMAGES }) ?? 1;
	const format = fields.string('response_format') ?? 'url';
	const images = references(fields, check);
	const effective = { prompt, size, resolution, n, response_format: format, reference_images: images };
	return { effective, n, resolution, aspectRatio: size, pixels };
};

/** `image_urls` is the older name of `reference_images`; which comes first of both is not shown. */
function references(fields: Fields, check: LinkCheck): string[] {
	return ['reference_images', 'image_urls'].flatMap((name) => fields.links(name, check));
}
