import { ExecuteContext } from 'n8n-core';
import {
	createRunExecutionData,
	NodeHelpers,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyCollection,
	type INodeType,
} from 'n8n-workflow';
import { asGatewayError, GatewayError } from '../../core/errors';
import type { ModelSpec } from '../../core/models/model';
import { ImageGeneration } from '../../nodes/ImageGeneration/ImageGeneration.node';
import { describe as describeError } from '../../core/errors/describe';
import { planRequest as planItem, type PlannedRequest } from '../../nodes/generation/generate';
import { imageModels, videoModels } from '../../nodes/models';
import { Item, Parameters } from '../../nodes/run/inputItem';
import { VideoGeneration } from '../../nodes/VideoGeneration/VideoGeneration.node';
import { build } from './engine.mts';

export type Kind = 'image' | 'video';
/** Custom models are in both nodes. */
export const kindOf = ({ kind }: { kind: string }): Kind => (kind === 'image' ? 'image' : 'video');
export const MODELS: Record<Kind, readonly ModelSpec[]> = { image: imageModels, video: videoModels };
const NODES = { image: new ImageGeneration(), video: new VideoGeneration() };

/** The parameters of Generate, completed with the form's defaults by n8n itself. */
function fillIn(kind: Kind, stored: INodeParameters): INodeParameters {
	const { description } = NODES[kind];
	return NodeHelpers.getNodeParameters(description.properties, stored, true, false, null, description) ?? {};
}

const generate = (parameters: IDataObject) => ({ operation: 'generate', ...parameters }) as INodeParameters;

/**
 * The request of Generate for these node parameters, as n8n reads them. `modelAsExpression`: n8n then shows, and keeps, the
 * fields of every model.
 */
export function planRequest(kind: Kind, parameters: IDataObject, modelAsExpression = false): PlannedRequest {
	const model = modelAsExpression ? `={{ "${String(parameters.model)}" }}` : parameters.model;
	return planItem(itemOf(NODES[kind], generate({ ...parameters, model })), MODELS[kind]);
}

/** The form of a node with one item, as n8n reads it. */
export function itemOf(
	type: Pick<INodeType, 'description'>,
	parameters: IDataObject,
	input: INodeExecutionData = { json: {} },
): Item {
	const { workflow, additionalData, mode } = build({ node: type as INodeType, parameters });
	const node = workflow.getNode('Node') as INode;
	const items = [input];
	const data = { main: [items] };
	const context = new ExecuteContext(
		...([workflow, node, additionalData, mode, createRunExecutionData(), 0, items, data] as const),
		{ node, data, source: null },
		[],
	);
	return new Item(new Parameters(context, node), 0, input);
}

/** The refusal of these parameters, or undefined when they may be sent. */
export function refusalOf(kind: Kind, parameters: IDataObject): { message: string; description: string } | undefined {
	try {
		planRequest(kind, parameters);
		return undefined;
	} catch (thrown) {
		expect(thrown).toBeInstanceOf(GatewayError);
		const error = asGatewayError(thrown);
		const refusal = { message: error.message, description: describeError(error) };
		expect(refusal.description).toMatch(/Nothing was sent/);
		expect(`${refusal.message} ${refusal.description}`).not.toMatch(/error|problem|failure|mistake|undefined/i);
		return refusal;
	}
}

/**
 * The fields of Generate that n8n shows for these parameters, from top to bottom; of a collection the entries, and of a
 * list the fields of a row.
 */
export function shownProperties(kind: Kind, parameters: IDataObject): INodeProperties[] {
	const { description } = NODES[kind];
	const filled = fillIn(kind, generate(parameters));
	const isShown = (property: INodeProperties) => NodeHelpers.displayParameter(filled, property, null, description);
	const isShownInRow = (property: INodeProperties) =>
		NodeHelpers.displayParameter({ source: 'url' }, property, null, description, filled);
	return description.properties.filter(isShown).map((property): INodeProperties => {
		const { type, options = [] } = property;
		if (type === 'collection') return { ...property, options: (options as INodeProperties[]).filter(isShown) };
		if (type !== 'fixedCollection') return property;
		return {
			...property,
			options: (options as INodePropertyCollection[]).map((row) => ({
				...row,
				values: row.values.filter(isShownInRow),
			})),
		};
	});
}
