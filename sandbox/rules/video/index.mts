import { invalidRequest } from '../../http/refusal.mts';
import type { Accepted } from '../../state/tasks.mts';
import { FieldReader, type Body } from '../fields.mts';
import type { LinkCheck } from '../links.mts';
import { alphaVideo15Pro } from './alphaVideo15Pro.mts';
import { anyBody } from './anyBody.mts';
import { betaV3 } from './betaV3.mts';
import { betaV3Omni, betaVideoO1 } from './betaOmni.mts';
import { acceptedVideo, type VideoRules } from './common.mts';
import { delta26Flash } from './delta26Flash.mts';

/** Contract section 4.4: one path, the model selects the rules. */
export const VIDEO_MODELS: Record<string, VideoRules> = {
	'alpha-video-1-5-pro': alphaVideo15Pro,
	'beta-v3-omni': betaV3Omni,
	'beta-video-o1': betaVideoO1,
	'beta-v3': betaV3,
	'delta-2.6-flash': delta26Flash,
	'alpha-video-2-0': anyBody,
};

/** Checks a body; `anyModel` lets a model through that the service does not know. */
export function readVideoRequest(body: Body, check: LinkCheck, { anyModel = false } = {}): Accepted {
	const fields = new FieldReader(body);
	const model = fields.requiredString('model');
	const rules = Object.hasOwn(VIDEO_MODELS, model) ? VIDEO_MODELS[model] : anyModel ? anyBody : undefined;
	if (!rules) throw invalidRequest(`model "${model}" is not known; known are ${Object.keys(VIDEO_MODELS).join(', ')}`);
	const effective = { model, ...rules(fields, body, check) };
	return acceptedVideo(model, effective, rules === anyBody ? [] : fields.unknownFields());
}
