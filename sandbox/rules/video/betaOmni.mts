import { invalidRequest } from '../../http/refusal.mts';
import type { Fields } from '../fields.mts';
import type { LinkCheck } from '../links.mts';
import { given, hasImagesElsewhere, type VideoRules } from './common.mts';

const IMAGE_REFERENCE = /<<<image_\d+>>>/;

interface ReferenceVideo {
	video_url: string;
	refer_type?: string;
	keep_original_sound?: string;
}

/** Contract section 4.4.2, `beta-v3-omni`. */
export const betaV3Omni: VideoRules = (fields, _body, check) => {
	const audio = fields.boolean('audio') ?? false;
	const effective = readOmni(fields, check);
	if (audio && effective.video_list.length > 0) {
		throw invalidRequest('audio and video_list cannot be used together');
	}
	return given({ ...effective, audio });
};

/** Contract section 4.4.2, `beta-video-o1`: the same fields. Audio is only for the other one; that it is off is no audio. */
export const betaVideoO1: VideoRules = (fields, _body, check) => {
	if (fields.boolean('audio')) throw invalidRequest('audio is only for beta-v3-omni');
	return given({ ...readOmni(fields, check) });
};

function readOmni(fields: Fields, check: LinkCheck) {
	const prompt = fields.requiredString('prompt');
	const mode = fields.string('mode', { oneOf: ['std', 'pro'] }) ?? 'std';
	const asked = fields.integer('duration', { oneOf: [5, 10] }) ?? 5;
	const aspectRatio = fields.string('aspect_ratio', { oneOf: ['16:9', '9:16', '1:1'] }) ?? '16:9';
	fields.openObject('metadata');
	const images = fields.links('image_urls', check);
	const videos = readVideos(fields, check);
	const duration = (videos[0]?.refer_type === 'base' && secondsOf(videos[0].video_url)) || asked;
	if (videos[0]?.refer_type === 'feature' && images.length > 1) {
		throw invalidRequest('image_urls: with refer_type feature only one image, the first frame, is allowed');
	}
	return {
		prompt: promptWithReference(prompt, images.length),
		mode,
		duration,
		aspect_ratio: aspectRatio,
		image_urls: images,
		video_list: videos,
		// Which field carries an asset is not shown (section 4.4.5), so images under other names are known, too.
		images_elsewhere: hasImagesElsewhere(fields) || undefined,
	};
}

/**
 * With images and no reference to any, the service refers to the first one itself (rule 1). A reference to an image that is
 * not there is not among the rejected conditions (section 7).
 */
function promptWithReference(prompt: string, images: number): string {
	return images > 0 && !IMAGE_REFERENCE.test(prompt) ? `<<<image_1>>>${prompt}` : prompt;
}

function readVideos(fields: Fields, check: LinkCheck): ReferenceVideo[] {
	const videos = fields.objects('video_list', (entry): ReferenceVideo => {
		const videoUrl = entry.link('video_url', check);
		const referType = entry.string('refer_type', { oneOf: ['base', 'feature'] });
		if (referType === 'base') checkLength(videoUrl);
		return {
			video_url: videoUrl,
			refer_type: referType,
			keep_original_sound: entry.string('keep_original_sound'),
		};
	});
	if (videos.length > 1) throw invalidRequest(`video_list takes at most 1 entry, not ${videos.length}`);
	return videos;
}

/**
 * Rule 2: a base video lasts 3 to 10 seconds, and the result as long as it. The sandbox fetches nothing; it takes the length
 * from a query parameter `seconds`, if the URL has one.
 */
function checkLength(videoUrl: string): void {
	const seconds = secondsOf(videoUrl);
	if (seconds !== undefined && (seconds < 3 || seconds > 10)) {
		throw invalidRequest(`video_list[0].video_url: a base video must last 3 to 10 seconds, not ${seconds}`);
	}
}

function secondsOf(videoUrl: string): number | undefined {
	const seconds = URL.canParse(videoUrl) ? new URL(videoUrl).searchParams.get('seconds') : null;
	return seconds === null ? undefined : Number(seconds);
}
