import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { generationGatewayApiTest } from '../connection/credentialTest';
import { durable } from '../durable/startDurableWait';
import { generationHint } from '../generation/builderHint';
import { operationProperties, operationSubtitle } from '../run/operation';
import { executeOperation } from '../run/runOperation';
import { operations } from './operations';

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
		waitingNodeTooltip:
			'Waiting for the tasks at the service. Their IDs are in the input of the execution named Survive Restarts, in the Executions list.',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		builderHint: {
			searchHint: generationHint,
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-generation-gateway.videoGeneration',
					relationHint: 'Turns an image into a video: pass the url of the image',
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
