import type { ModelSpec } from '../../../core/model/spec';
import { alphaVideo15Pro } from './alphaVideo15Pro';
import { betaV3 } from './betaV3';
import { betaV3Omni } from './betaV3Omni';
import { betaVideoO1 } from './betaVideoO1';
import { delta26Flash } from './delta26Flash';

/** The video models, in the order of the README; the first is the default. */
export const videoModels: ModelSpec[] = [alphaVideo15Pro, betaV3Omni, betaVideoO1, betaV3, delta26Flash];
