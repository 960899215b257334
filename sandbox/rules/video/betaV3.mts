import { given, hasImagesElsewhere, type VideoRules } from './common.mts';

/**
 * Contract section 4.4.3. Only some fields and values were seen, and no types: whatever stands in mode, duration and
 * aspect ratio passes, and of more than two images the first two are used. Without an image the video is made from the
 * prompt, so there must be one.
 */
export const betaV3: VideoRules = (fields, _body, check) => {
	const mode = fields.any('mode', ['std', 'pro']);
	const duration = fields.any('duration', [5, 15]);
	const aspectRatio = fields.any('aspect_ratio', ['16:9']);
	const images = fields.links('image_urls', check);
	const prompt =
		images.length > 0 || hasImagesElsewhere(fields) ? fields.string('prompt') : fields.requiredString('prompt');
	return given({ prompt, mode, duration, aspect_ratio: aspectRatio, images: images.slice(0, 2) });
};
