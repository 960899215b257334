import { invalidRequest } from '../../http/refusal.mts';
import { given, hasImagesElsewhere, type VideoRules } from './common.mts';

/**
 * Contract section 4.4.4. Either one image or reference videos; a prompt alone is not enough. What resolution, duration
 * and audio allow is not shown: anything of their type passes.
 */
export const delta26Flash: VideoRules = (fields, _body, check) => {
	const prompt = fields.string('prompt');
	const resolution = fields.string('resolution');
	const duration = fields.integer('duration');
	const audio = fields.boolean('audio');
	const images = fields.links('image_urls', check);
	const videos = fields.openObject('metadata')?.links('reference_urls', check) ?? [];
	const imagesElsewhere = hasImagesElsewhere(fields);
	if (images.length > 0 && videos.length > 0) {
		throw invalidRequest('image_urls and metadata.reference_urls cannot be used together');
	}
	if (images.length === 0 && videos.length === 0 && !imagesElsewhere) {
		throw invalidRequest('delta-2.6-flash needs image_urls or metadata.reference_urls');
	}
	if (images.length > 1) throw invalidRequest(`image_urls takes exactly 1 image, not ${images.length}`);
	const upstreamModel = videos.length > 0 ? 'delta-2.6-r2v-flash' : 'delta-2.6-flash';
	return given({
		prompt,
		resolution,
		duration,
		audio,
		image_urls: images,
		reference_urls: videos,
		upstream_model: upstreamModel,
	});
};
