import { checkWebUrl } from '../links.mts';
import { given, type VideoRules } from './common.mts';

/**
 * Contract section 4.4.3. Only some fields were seen: the modes are known, any whole number of seconds
 * and any well-formed ratio pass, and of more than two images the first two are used.
 */
export const betaV3: VideoRules = (fields, _body, check) => {
	const prompt = fields.requiredString('prompt');
	const mode = fields.string('mode', { oneOf: ['std', 'pro'] });
	const duration = fields.integer('duration', { min: 1 });
	const aspectRatio = fields.string('aspect_ratio', { pattern: /^\d+:\d+$/ });
	const images = fields.strings('image_urls') ?? [];
	images.forEach((url, index) => checkWebUrl(url, `image_urls[${index}]`, check));
	return given({ prompt, mode, duration, aspect_ratio: aspectRatio, images: images.slice(0, 2) });
};
