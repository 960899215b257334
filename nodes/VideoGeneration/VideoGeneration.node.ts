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
import { video } from '../generation/media';
import { videoModels } from '../models';
import { operationProperties, operationSubtitle, type Choices, type Operation } from '../run/operation';
import { executeOperation } from '../run/runOperation';

/** In the order of the dropdown. */
export const operations: Choices<Operation> = [generate(video), getResult(video)];

export class VideoGeneration implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Gateway Video',
		name: 'videoGeneration',
		icon: { light: 'file:../../icons/video.svg', dark: 'file:../../icons/video.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: `={{ $parameter["operation"] !== "generate" ? ${operationSubtitle(operations)} : $parameter["model"] === "custom" ? $parameter["customModelId"] || "other model" : $parameter["model"] }}`,
		description: 'Generate videos from text, images or other videos, many in parallel',
		defaults: { name: 'Gateway Video' },
		waitingNodeTooltip: 'Waiting for the results. It is safe to restart n8n.',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		builderHint: {
			searchHint: generationHint,
			extraTypeDefContent: [generationExample('video', videoModels[0].id)],
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-generation-gateway.imageGeneration',
					relationHint: 'Makes the first frame or a reference image: pass its url',
				},
				{
					nodeType: 'n8n-nodes-generation-gateway.avatar',
					relationHint:
						'Makes a reference to a person. Which field of a video takes it is not documented: try one video first',
				},
				{
					nodeType: 'n8n-nodes-generation-gateway.token',
					relationHint: 'Creates a key with a budget, for the credential of an agent that generates',
				},
			],
		},
		credentials: [{ name: 'generationGatewayApi', required: true, testedBy: 'generationGatewayApiTest' }],
		properties: operationProperties({ option: { name: 'Video', value: 'video' }, operations }, 'generate'),
	};

	methods = { credentialTest: { generationGatewayApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeOperation(this, operations, durable);
	}
}
