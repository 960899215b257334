import type { ModelSpec } from '../../../core/models/spec';
import { betaOmniFields, betaOmniOptionalFields, betaOmniOtherFields, betaOmniRules } from './betaOmniFields';

/** Contract 4.4.2. */
export const betaV3Omni: ModelSpec = {
	id: 'beta-v3-omni',
	summary: 'From text, images or a reference video; with audio',
	fields: [
		...betaOmniFields,
		{
			displayName: 'Audio',
			name: 'audio',
			type: 'boolean',
			displayOptions: { show: { referenceVideo: ['none'] } },
			default: false,
			description: 'Whether to generate sound that fits the video',
			wire: 'audio',
		},
	],
	optionalFields: betaOmniOptionalFields,
	otherFields: betaOmniOtherFields,
	rules: [
		...betaOmniRules,
		{
			kind: 'atMostOne',
			of: ['audio', 'video_list'],
			advice: 'Use either audio or a reference video: the service does not accept both.',
		},
	],
};
