import { invalidRequest } from '../../http/refusal.mts';
import type { FieldReader } from '../fields.mts';
import { checkUrlOrAsset, type LinkCheck } from '../links.mts';
import { given, type VideoRules } from './common.mts';

const ASPECT_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'];
const RESOLUTIONS = ['480p', '720p', '1080p'];
const FRAMES = ['first_frame', 'last_frame'] as const;

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
	if (fields.has('image_urls') && fields.has('image_with_roles')) {
		throw invalidRequest('image_urls and image_with_roles cannot be used together');
	}
	const images = [...framesFromUrls(fields, check), ...framesWithRoles(fields, check)];
	return given({ prompt, duration, aspect_ratio: aspectRatio, resolution, audio, images });
};

/** One image is the first frame, two are first and last; of more, only the first two are used. */
function framesFromUrls(fields: FieldReader, check: LinkCheck): RoledImage[] {
	const urls = fields.strings('image_urls') ?? [];
	urls.forEach((url, index) => checkUrlOrAsset(url, `image_urls[${index}]`, check));
	return FRAMES.flatMap((role, index) => {
		const url = urls[index];
		return url === undefined ? [] : [{ url, role }];
	});
}

function framesWithRoles(fields: FieldReader, check: LinkCheck): RoledImage[] {
	let index = -1;
	const images = fields.objects('image_with_roles', (entry) => {
		index += 1;
		const url = entry.requiredString('url');
		checkUrlOrAsset(url, `image_with_roles[${index}].url`, check);
		const role = entry.requiredString('role');
		if (role === 'reference_image') {
			throw invalidRequest(
				`image_with_roles[${index}].role: alpha-video-1-5-pro does not support reference_image`,
			);
		}
		return { url, role: entry.requiredString('role', { oneOf: FRAMES }) };
	});
	for (const role of FRAMES) {
		if ((images ?? []).filter((image) => image.role === role).length > 1) {
			throw invalidRequest(`image_with_roles: at most one ${role}`);
		}
	}
	return images ?? [];
}
