import type { ModelSpec } from '../../core/models/model';
import { gammaImage2 } from './image/gammaImage2';
import { alphaVideo15Pro } from './video/alphaVideo15Pro';
import { betaV3Omni, betaVideoO1 } from './video/betaOmni';
import { betaV3 } from './video/betaV3';
import { delta26Flash } from './video/delta26Flash';

/** The first is the default. */
export type Registry = readonly [ModelSpec, ...ModelSpec[]];

/** The image models, in the order of the docs. */
export const imageModels: Registry = [gammaImage2];

/** The video models, in the order of the docs. */
export const videoModels: Registry = [alphaVideo15Pro, betaV3Omni, betaVideoO1, betaV3, delta26Flash];

/** The IDs of the models that have a field, by its name in the request: some have it in `metadata`. */
export function modelsWith(bodyPath: string): string[] {
	const nameIn = (path: string) => path.split('.').at(-1);
	return [...imageModels, ...videoModels]
		.filter((model) => model.fields.some((field) => nameIn(field.bodyPath) === nameIn(bodyPath)))
		.map(({ id }) => id);
}

/** The IDs of the models that take asset references. */
export function assetTakers(): string[] {
	return [...imageModels, ...videoModels].filter(({ acceptsAssets }) => acceptsAssets).map(({ id }) => id);
}
