import { invalidInput, type GatewayError } from '../../../core/errors';
import { asArray, getPath, isUnset } from '../../../core/json';
import type { ModelSpec } from '../../../core/models/model';
import { ROLE_LABELS } from '../../../core/labels';
import { audioField, imagesWithRolesField, promptField } from '../commonFields';

const rolesForAll =
	'Set Role of every image, or leave all By Position: the service takes either plain images or images with roles.';

const eachRoleOnce = 'There can be only one First Frame and one Last Frame.';

/** Contract 4.4.1. */
export const alphaVideo15Pro: ModelSpec = {
	id: 'alpha-video-1-5-pro',
	summary: 'From text, or from a first (and last) frame; with audio',
	acceptsAssets: true,
	fields: [
		promptField,
		{
			displayName: 'Duration (Seconds)',
			name: 'duration',
			type: 'number',
			min: 4,
			max: 12,
			integer: true,
			default: 5,
			description: 'Length of the video. A longer one usually costs more.',
			hint: '4 to 12',
			bodyPath: 'duration',
		},
		{
			displayName: 'Aspect Ratio',
			name: 'aspectRatio',
			type: 'options',
			options: [
				{ name: 'Landscape 16:9', value: '16:9' },
				{ name: 'Landscape 21:9', value: '21:9' },
				{ name: 'Landscape 4:3', value: '4:3' },
				{ name: 'Portrait 3:4', value: '3:4' },
				{ name: 'Portrait 9:16', value: '9:16' },
				{ name: 'Square 1:1', value: '1:1' },
			],
			default: '16:9',
			description: "Width to height, in the model's own words",
			bodyPath: 'aspect_ratio',
		},
		{
			displayName: 'Resolution',
			name: 'resolution',
			type: 'options',
			options: [
				{ name: '480p', value: '480p' },
				{ name: '720p', value: '720p' },
				{ name: '1080p', value: '1080p' },
			],
			default: '720p',
			description: "Resolution of the video, in the model's own words. A higher one usually costs more.",
			bodyPath: 'metadata.resolution',
		},
		{
			...imagesWithRolesField,
			description:
				'One image is the first frame, two are the first and the last frame. You can try an asset reference such as asset://pa_123; that the model takes it is not documented.',
			docNote: 'http(s) URLs, binary fields or `asset://` references; 2 are used',
		},
		{ ...audioField, bodyPath: 'metadata.audio' },
	],
	rules: [
		{
			advice: rolesForAll,
			refuse: ({ image_urls: plain, image_with_roles: withRoles }) =>
				isUnset(plain) || isUnset(withRoles)
					? undefined
					: invalidInput('Role is By Position for some images, and set for others', rolesForAll),
		},
		{
			advice: 'Without roles, the service uses only the first two images, so the node uploads and sends only those.',
			shorten: (body) => (Array.isArray(body.image_urls) ? { ...body, image_urls: body.image_urls.slice(0, 2) } : body),
		},
		{ advice: eachRoleOnce, refuse: ({ image_with_roles: images }) => refuseRoleTwice(asArray(images ?? [])) },
	],
};

function refuseRoleTwice(images: unknown[]): GatewayError | undefined {
	const roles = images.map((image) => getPath(image, 'role')).filter((role) => typeof role === 'string');
	const twice = roles.find((role, index) => roles.indexOf(role) !== index);
	if (twice === undefined) return undefined;
	const count = roles.filter((role) => role === twice).length;
	const role = ROLE_LABELS[twice] ?? twice;
	return invalidInput(`${count === 2 ? 'Two' : count} images have the role ${role}`, eachRoleOnce);
}
