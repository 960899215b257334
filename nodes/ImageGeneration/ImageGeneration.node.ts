import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { generationGatewayApiTest } from '../connection/credentialTest';
import { durable } from '../durable/handOver';
import { generationExample, generationHint } from '../generation/builderHint';
import { generate } from '../generation/generate';
import { getResult } from '../generation/getResult';
import { image } from '../generation/media';
import { imageModels } from '../models';
import { operationProperties, operationSubtitle, type Choices, type Operation } from '../run/operation';
import { executeOperation } from '../run/runOperation';
import { uploadImage } from './operations/uploadImage';

/** In the order of the dropdown. */
export const operations: Choices<Operation> = [generate(image), getResult(image), uploadImage];

export class ImageGeneration implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Gateway Image',
		name: 'imageGeneration',
		icon: { light: 'file:../../icons/image.svg', dark: 'file:../../icons/image.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: `={{ $parameter["operation"] !== "generate" ? ${operationSubtitle(operations)} : $parameter["model"] === "custom" ? $parameter["customModelId"] || "other model" : $parameter["model"] }}`,
		description: 'Generate images from text or other images, many in parallel',
		defaults: { name: 'Gateway Image' },
		waitingNodeTooltip: 'Waiting for the results. It is safe to restart n8n.',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		builderHint: {
			searchHint: generationHint,
			extraTypeDefContent: [generationExample('image', imageModels[0].id)],
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-generation-gateway.videoGeneration',
					relationHint: 'Turns an image into a video: pass the url of the image',
				},
				{
					nodeType: 'n8n-nodes-generation-gateway.token',
					relationHint: 'Creates a key with a budget, for the credential of an agent that generates',
				},
			],
		},
		credentials: [{ name: 'generationGatewayApi', required: true, testedBy: 'generationGatewayApiTest' }],
		properties: operationProperties({ option: { name: 'Image', value: 'image' }, operations }, 'generate'),
	};

	methods = { credentialTest: { generationGatewayApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeOperation(this, operations, durable);
	}
}
