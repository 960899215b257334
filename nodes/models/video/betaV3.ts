import { gatewayError, type GatewayError } from '../../../core/errors';
import { isUnset, type JsonObject } from '../../../core/json';
import { imagesOf } from '../../../core/models/images';
import type { ModelSpec } from '../../../core/models/model';
import { IMAGE_ROLES_PATH } from '../../../core/labels';
import { atMost, imagesField, openDurationField, optionalPromptField } from '../commonFields';

const promptOrImage = 'Text to video needs a prompt: enter one, or add an image.';

/**
 * Contract 4.4.3. Its full parameter table is not shown: only some fields and values were seen. The form offers those;
 * Additional Fields may give others.
 */
export const betaV3: ModelSpec = {
	id: 'beta-v3',
	summary: 'From text, or from a first (and last) frame',
	acceptsAssets: true,
	fields: [
		{
			...optionalPromptField,
			description:
				'What the video should show. English is recommended. With an image, you can leave it empty, as far as the documentation of the service shows.',
			docNote: 'text, required without an image',
		},
		{
			displayName: 'Mode',
			name: 'mode',
			type: 'options',
			options: [
				{ name: 'Pro (1080p)', value: 'pro' },
				{ name: 'Service Default', value: '' },
				{ name: 'Standard (720p)', value: 'std' },
			],
			default: '',
			description: "Quality of the video, in the model's own words. Pro usually costs more.",
			bodyPath: 'mode',
			notSent: '',
			extraValues: 'all',
		},
		{
			...openDurationField,
			description:
				'Length of the video. 5 is usual, text to video also supports 15. A longer one usually costs more. Leave empty for the default of the service.',
			extraValues: 'all',
		},
		{
			displayName: 'Aspect Ratio',
			name: 'aspectRatio',
			type: 'string',
			default: '',
			placeholder: 'e.g. 16:9',
			description: "Width to height, in the model's own words. Leave empty for the default of the service.",
			bodyPath: 'aspect_ratio',
			extraValues: 'all',
		},
		{
			...imagesField,
			description:
				'One image is the first frame, two are the first and the last frame. You can try an asset reference such as asset://pa_123; that the model takes it is not documented.',
			docNote: 'at most 2 http(s) URLs, binary fields or `asset://` references',
		},
	],
	rules: [
		{ advice: promptOrImage, refuse: refuseNothing },
		atMost(
			2,
			imagesField,
			'One image is the first frame, two are the first and the last frame. The model is not known to use more: to send more, enter them as image_urls in Additional Fields.',
			(_body, additionalFields) => additionalFields.image_urls === undefined,
		),
	],
};

function refuseNothing(body: JsonObject, additionalFields: JsonObject): GatewayError | undefined {
	const { prompt } = body;
	const isEmpty = isUnset(prompt) || (typeof prompt === 'string' && prompt.trim() === '');
	const known = ['model', IMAGE_ROLES_PATH, ...betaV3.fields.map(({ bodyPath }) => bodyPath)];
	// The contract does not show all fields of the model: one that the form does not have may take the place of the text.
	const isOpen = additionalFields.prompt !== undefined || Object.keys(body).some((name) => !known.includes(name));
	return isEmpty && !isOpen && isUnset(body.image_urls) && imagesOf(body).length === 0
		? gatewayError('fieldEmpty', { label: optionalPromptField.displayName, enter: promptOrImage })
		: undefined;
}
