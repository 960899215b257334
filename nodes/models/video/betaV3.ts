import type { ModelSpec } from '../../../core/models/spec';
import { imagesField, openDurationField, optionalPromptField } from '../commonFields';

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
		{
			kind: 'neededWithout',
			of: 'prompt',
			other: 'image_urls',
			advice: 'Text to video needs a prompt: enter one, or add an image.',
		},
		{
			kind: 'maxItems',
			of: 'image_urls',
			max: 2,
			inForm: true,
			advice:
				'One image is the first frame, two are the first and the last frame. The model is not known to use more: to send more, enter them as image_urls in Additional Fields.',
		},
	],
};
