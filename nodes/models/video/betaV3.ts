import type { ModelSpec } from '../../../core/models/spec';
import { imagesField, optionalPromptField } from '../commonFields';

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
			description: 'What the video should show. English is recommended. Can be empty if there is an image.',
			remark: 'text, required without an image',
		},
		{
			...imagesField,
			description:
				'One image is the first frame, two are the first and the last frame. You can enter an asset reference such as asset://pa_123 instead of a URL.',
			remark: 'at most 2 http(s) URLs, binary fields or `asset://` references',
		},
	],
	optionalFields: [
		{
			displayName: 'Aspect Ratio',
			name: 'aspectRatio',
			type: 'string',
			default: '16:9',
			placeholder: 'e.g. 16:9',
			description: 'Width to height',
			wire: 'aspect_ratio',
			open: 'all',
		},
		{
			displayName: 'Duration (Seconds)',
			name: 'duration',
			type: 'number',
			min: 1,
			integer: true,
			default: 5,
			description: 'Length of the video. Usually 5; text to video also supports 15.',
			wire: 'duration',
			open: 'all',
		},
		{
			displayName: 'Mode',
			name: 'mode',
			type: 'options',
			options: [
				{ name: 'Pro (1080p)', value: 'pro' },
				{ name: 'Standard (720p)', value: 'std' },
			],
			default: 'std',
			description: 'Quality of the video',
			wire: 'mode',
			open: 'all',
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
			advice: 'One image is the first frame, two are the first and the last frame. The model is not known to use more.',
		},
	],
};
