import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { generationGatewayApiTest } from '../connection/credentialTest';
import { operationProperties, operationSubtitle, type Choices, type Operation } from '../run/operation';
import { executeOperation } from '../run/runOperation';
import { create } from './operations/create';

/** In the order of the dropdown. */
export const operations: Choices<Operation> = [create];

export class Token implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Gateway API Key Creator',
		name: 'token',
		icon: { light: 'file:../../icons/token.svg', dark: 'file:../../icons/token.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: `={{ ${operationSubtitle(operations)} }}`,
		description: 'Create API keys with a quota, an expiry date and allowed models',
		defaults: { name: 'Gateway API Key Creator' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// Not a tool: an agent must not mint keys that spend money.
		usableAsTool: undefined,
		builderHint: {
			searchHint:
				'Creates a key with a budget: an amount, an expiry and allowed models, which are up to the service. Put api_key into a second credential and give that to the tool of an agent. The key is shown once.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-generation-gateway.imageGeneration',
					relationHint: 'Spends the budget of the key, also as a tool of an agent',
				},
				{
					nodeType: 'n8n-nodes-generation-gateway.videoGeneration',
					relationHint: 'The same for videos',
				},
			],
		},
		credentials: [{ name: 'generationGatewayApi', required: true, testedBy: 'generationGatewayApiTest' }],
		properties: operationProperties({ option: { name: 'API Key', value: 'token' }, operations }, 'create'),
	};

	methods = { credentialTest: { generationGatewayApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeOperation(this, operations);
	}
}
