import type { ModelSpec } from '../../core/models/spec';
import { gammaImage2 } from './image/gammaImage2';
import { alphaVideo15Pro } from './video/alphaVideo15Pro';
import { betaV3 } from './video/betaV3';
import { betaV3Omni } from './video/betaV3Omni';
import { betaVideoO1 } from './video/betaVideoO1';
import { delta26Flash } from './video/delta26Flash';

/** The image models, in the order of the docs; the first is the default. */
export const imageModels: ModelSpec[] = [gammaImage2];

/** The video models, in the order of the docs; the first is the default. */
export const videoModels: ModelSpec[] = [alphaVideo15Pro, betaV3Omni, betaVideoO1, betaV3, delta26Flash];
