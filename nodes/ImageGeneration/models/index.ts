import type { ModelSpec } from '../../../core/model/spec';
import { gammaImage2 } from './gammaImage2';

/** The image models, in the order of the README; the first is the default. */
export const imageModels: ModelSpec[] = [gammaImage2];
