import { checkAssetsAnywhere, checkLinksAnywhere } from '../links.mts';
import type { VideoRules } from './common.mts';

const IMAGE_FIELDS = ['image_urls', 'image_with_roles', 'images', 'image_url', 'image', 'reference_images'];

/**
 * A model whose generation fields are not shown, such as `alpha-video-2-0`: whatever it holds passes, a prompt or none.
 * Only asset references must be usable wherever they stand (contract sections 3.2 and 4.4.5), and no image may be base64
 * data (section 7).
 */
export const anyBody: VideoRules = (_fields, body, check) => {
	for (const name of IMAGE_FIELDS) checkLinksAnywhere(body[name], name, check);
	checkAssetsAnywhere(body, '', check);
	return { ...body };
};
