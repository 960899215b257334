import type { ModelSpec } from '../../../core/models/spec';
import { imagesField, promptField } from '../commonFields';

/** Contract 4.4.3. Its full parameter table is not shown: whatever is not known is optional and unchecked. */
export const betaV3: ModelSpec = {
	id: 'beta-v3',
	summary: 'Text to video, and from a first or a first and a last frame',
	fields: [
		{ ...promptField, description: 'What the video should show. English is recommended.' },
		{
			...imagesField,
			description: 'One image is the first frame, two are first and last frame',
			remark: 'at most 2 http(s) URLs or binary fields',
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
		},
		{
			displayName: 'Duration',
			name: 'duration',
			type: 'number',
			typeOptions: { minValue: 1, numberPrecision: 0 },
			default: 5,
			description: 'Length of the video in seconds. 5 is usual; text to video also supports 15.',
			wire: 'duration',
			unit: 'seconds',
		},
		{
			displayName: 'Mode',
			name: 'mode',
			type: 'options',
			options: [
				{ name: 'Pro (1080P)', value: 'pro' },
				{ name: 'Standard (720P)', value: 'std' },
			],
			default: 'std',
			description: 'Quality of the video',
			wire: 'mode',
		},
	],
	rules: [
		{
			kind: 'maxItems',
			of: 'image_urls',
			max: 2,
			advice: 'The model uses a first and a last frame only; the service would ignore further images.',
		},
	],
};
