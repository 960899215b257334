import { invalidRequest } from '../../http/refusal.mts';
import { checkLinksAnywhere } from '../links.mts';
import type { VideoRules } from './common.mts';

const IMAGE_FIELDS = ['image_urls', 'image_with_roles', 'images', 'image_url', 'content'];

/**
 * A model whose generation fields are not shown, such as `alpha-video-2-0`: a prompt or images, and
 * asset references anywhere must be usable (contract sections 3.2 and 4.4.5).
 */
export const anyBody: VideoRules = (fields, body, check) => {
	const prompt = fields.string('prompt');
	const hasImages = IMAGE_FIELDS.some((name) => {
		const value = body[name];
		return Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value !== '';
	});
	if ((prompt ?? '').trim() === '' && !hasImages) throw invalidRequest('prompt or images are required');
	checkLinksAnywhere(body, '', check);
	return { ...body };
};
