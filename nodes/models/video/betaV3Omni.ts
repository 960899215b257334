import type { ModelSpec } from '../../../core/models/spec';
import { audioField } from '../commonFields';
import { betaOmniFields, betaOmniOtherFields, betaOmniRules } from './betaOmniFields';

/** Contract 4.4.2. */
export const betaV3Omni: ModelSpec = {
	id: 'beta-v3-omni',
	summary: 'From text, images or a reference video; with audio',
	fields: [...betaOmniFields, { ...audioField, displayOptions: { show: { referenceVideo: ['none'] } } }],
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
