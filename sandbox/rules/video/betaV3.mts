import { given, hasImagesElsewhere, type VideoRules } from './common.mts';

/**
 * Contract section 4.4.3. Only some fields and values were seen, no types, and not which fields are needed: whatever stands
 * in mode, duration and aspect ratio passes, with or without a prompt. What becomes of more than two images is not shown.
 */
export const betaV3: VideoRules = (fields, _body, check) => {
	const mode = fields.any('mode', ['std', 'pro']);
	const duration = fields.any('duration', [5, 15]);
	const aspectRatio = fields.any('aspect_ratio', ['16:9']);
	const images = fields.links('image_urls', check);
	const prompt = fields.string('prompt');
	// Which field carries an asset is not shown (section 4.4.5), so images under other names are known, too.
	const imagesElsewhere = hasImagesElsewhere(fields) || undefined;
	return given({ prompt, mode, duration, aspect_ratio: aspectRatio, images, images_elsewhere: imagesElsewhere });
};
