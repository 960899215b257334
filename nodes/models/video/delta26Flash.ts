import { invalidInput, type GatewayError } from '../../../core/errors';
import { getPath, isUnset, type JsonObject } from '../../../core/json';
import { imagesOf } from '../../../core/models/images';
import type { FieldSpec, ModelSpec } from '../../../core/models/model';
import { atMost, audioField, imagesField, openDurationField, optionalPromptField } from '../commonFields';

const imageOrVideos = 'Give either one image or reference video URLs: a prompt alone is not enough for this model.';

const referenceUrlsField: FieldSpec = {
	displayName: 'Reference Video URLs',
	name: 'referenceUrls',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Video',
	default: {},
	description: 'Videos to work from. Leave empty if you add an image.',
	options: [
		{
			displayName: 'Video',
			name: 'video',
			values: [
				{
					displayName: 'URL',
					name: 'url',
					// Not required: n8n would refuse a URL in the place of a row, because the row has no such field.
					type: 'string',
					default: '',
					placeholder: 'e.g. https://example.com/clip.mp4',
					description: 'Public http(s) URL of the video',
				},
			],
		},
	],
	bodyPath: 'metadata.reference_urls',
	shape: 'urls',
	docNote: 'http(s) URLs; the service then uses its model `delta-2.6-r2v-flash`',
};

/** Contract 4.4.4. What resolution and duration allow is not shown: any of their type passes. */
export const delta26Flash: ModelSpec = {
	id: 'delta-2.6-flash',
	summary: 'Fast: from one image, or from reference videos',
	fields: [
		{
			...optionalPromptField,
			description:
				'What the video should show. As far as the documentation of the service shows, you can leave it empty.',
			hint: 'This model also needs one image or reference videos',
		},
		{ ...openDurationField, extraValues: 'values' },
		{
			displayName: 'Resolution',
			name: 'resolution',
			type: 'string',
			default: '',
			placeholder: 'e.g. 1080p',
			description:
				"A resolution label such as 1080p, in the model's own words. A higher one usually costs more. Leave empty for the default of the service.",
			bodyPath: 'resolution',
		},
		{
			...imagesField,
			description: 'The image to create the video from. Leave empty if you add reference videos.',
			docNote: 'exactly 1 http(s) URL or binary field',
		},
		referenceUrlsField,
		audioField,
	],
	rules: [
		{ advice: imageOrVideos, refuse: refuseBothAndNone },
		atMost(1, imagesField, 'The model takes exactly one image.'),
	],
};

function refuseBothAndNone(body: JsonObject): GatewayError | undefined {
	const labels = `${imagesField.displayName} and ${referenceUrlsField.displayName}`;
	const hasVideos = !isUnset(getPath(body, referenceUrlsField.bodyPath));
	// Images under other names count as an input, but the contract says of none that it goes with no other.
	if (hasVideos && !isUnset(body.image_urls)) return invalidInput(`${labels} cannot be used together`, imageOrVideos);
	if (hasVideos || !isUnset(body.image_urls) || imagesOf(body).length > 0) return undefined;
	return invalidInput(`One of ${labels} is required`, imageOrVideos);
}
