import { NodeHelpers, type IDataObject, type IExecuteFunctions, type INodeParameters } from 'n8n-workflow';
import { asGatewayError, GatewayError } from '../../core/errors';
import type { ModelSpec } from '../../core/models/spec';
import { ImageGeneration } from '../../nodes/ImageGeneration/ImageGeneration.node';
import { describe as describeError } from '../../nodes/errors/advice';
import { planRequest as planItem, type PlannedRequest } from '../../nodes/generation/planRequest';
import { Item } from '../../nodes/run/item';
import { imageModels, videoModels } from '../../nodes/models';
import { VideoGeneration } from '../../nodes/VideoGeneration/VideoGeneration.node';

export type Kind = 'image' | 'video';
export const MODELS: Record<Kind, readonly ModelSpec[]> = { image: imageModels, video: videoModels };
const DESCRIPTIONS = { image: new ImageGeneration().description, video: new VideoGeneration().description };

/**
 * What Generate would send for these node parameters, completed with the form's defaults by n8n itself.
 * `allShown`: the model is an expression, so that n8n shows, and keeps, the fields of every model.
 */
export function planRequest(kind: Kind, parameters: IDataObject, allShown = false): PlannedRequest {
	const description = DESCRIPTIONS[kind];
	const stored = { operation: 'generate', ...parameters } as INodeParameters;
	const filled = NodeHelpers.getNodeParameters(description.properties, stored, true, allShown, null, description) ?? {};
	const context = {
		getNodeParameter: (name: string, _itemIndex: number, fallback: unknown) => filled[name] ?? fallback,
		getNode: () => ({ parameters: stored }),
		getInputData: () => [{ json: {} }],
	} as unknown as IExecuteFunctions;
	return planItem(new Item(context, 0, { json: {} }), MODELS[kind]);
}

/** The refusal of these parameters, or undefined when they may be sent. */
export function refusalOf(kind: Kind, parameters: IDataObject): { message: string; description: string } | undefined {
	try {
		planRequest(kind, parameters);
		return undefined;
	} catch (thrown) {
		expect(thrown).toBeInstanceOf(GatewayError);
		const error = asGatewayError(thrown);
		return { message: error.message, description: describeError(error) };
	}
}
