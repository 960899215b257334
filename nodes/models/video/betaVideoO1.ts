import type { ModelSpec } from '../../../core/models/spec';
import { betaOmniFields, betaOmniOtherFields, betaOmniRules } from './betaOmniFields';

/** Contract 4.4.2: the reasoning-enhanced variant, without audio. */
export const betaVideoO1: ModelSpec = {
	id: 'beta-video-o1',
	summary: 'From text, images or a reference video; with more reasoning',
	fields: betaOmniFields,
	otherFields: betaOmniOtherFields,
	rules: [
		...betaOmniRules,
		{
			kind: 'absent',
			of: 'audio',
			label: 'Audio',
			advice: 'As far as the documentation of the service shows, this model makes no audio.',
		},
	],
};
