import { invalidRequest } from '../../http/refusal.mts';
import type { Fields } from '../fields.mts';
import type { LinkCheck } from '../links.mts';
import { given, type VideoRules } from './common.mts';

const ASPECT_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'];
const RESOLUTIONS = ['480p', '720p', '1080p'];
const FRAMES = ['first_frame', 'last_frame'] as const;
const UNSUPPORTED_ROLE = 'reference_image';

interface RoledImage {
	url: string;
	role: string;
}

/** Contract section 4.4.1. */
export const alphaVideo15Pro: VideoRules = (fields, _body, check) => {
	const prompt = fields.requiredString('prompt');
	const duration = fields.integer('duration', { min: 4, max: 12 }) ?? 5;
	const aspectRatio = fields.string('aspect_ratio', { oneOf: ASPECT_RATIOS }) ?? '16:9';
	const metadata = fields.openObject('metadata');
	const resolution = metadata?.string('resolution', { oneOf: RESOLUTIONS }) ?? '720p';
	const audio = metadata?.boolean('audio');
	const positioned = framesFromUrls(fields, check);
	const withRoles = framesWithRoles(fields, check);
	if (positioned.length > 0 && withRoles.length > 0) {
		throw invalidRequest('image_urls and image_with_roles cannot be used together');
	}
	const images = [...positioned, ...withRoles];
	return given({ prompt, duration, aspect_ratio: aspectRatio, resolution, audio, images });
};

/** One image is the first frame, two are first and last; of more, only the first two are used. */
function framesFromUrls(fields: Fields, check: LinkCheck): RoledImage[] {
	const urls = fields.links('image_urls', check);
	return FRAMES.flatMap((role, index) => {
		const url = urls[index];
		return url === undefined ? [] : [{ url, role }];
	});
}

function framesWithRoles(fields: Fields, check: LinkCheck): RoledImage[] {
	const images = fields.objects('image_with_roles', (entry) => ({
		url: entry.link('url', check),
		role: entry.requiredString('role', { oneOf: [...FRAMES, UNSUPPORTED_ROLE] }),
	}));
	if (images.some(({ role }) => role === UNSUPPORTED_ROLE)) {
		throw invalidRequest(`image_with_roles: alpha-video-1-5-pro does not support ${UNSUPPORTED_ROLE}`);
	}
	for (const role of FRAMES) {
		if (images.filter((image) => image.role === role).length > 1) {
			throw invalidRequest(`image_with_roles: at most one ${role}`);
		}
	}
	return images;
}
