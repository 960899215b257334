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
import { getAccountBalance } from './operations/getAccountBalance';
import { getApiKeyBalance } from './operations/getApiKeyBalance';

/** In the order of the dropdown. */
export const operations: Choices<Operation> = [getAccountBalance, getApiKeyBalance];

export class Balance implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Gateway Balance',
		name: 'balance',
		icon: { light: 'file:../../icons/balance.svg', dark: 'file:../../icons/balance.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: `={{ ${operationSubtitle(operations)} }}`,
		description: 'Check the balance of the account or the API key',
		defaults: { name: 'Gateway Balance' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		builderHint: {
			searchHint:
				'Reads the balance. Before a batch, set Stop If Below: the node then passes its items on, or stops the workflow. To be told when the balance runs low, use the trigger instead of a schedule with this node.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-generation-gateway.balanceTrigger',
					relationHint: 'Starts a workflow when the balance falls below a threshold',
				},
				{
					nodeType: 'n8n-nodes-generation-gateway.imageGeneration',
					relationHint: 'Spends credits on images',
				},
				{
					nodeType: 'n8n-nodes-generation-gateway.videoGeneration',
					relationHint: 'Spends credits on videos',
				},
			],
		},
		credentials: [{ name: 'generationGatewayApi', required: true, testedBy: 'generationGatewayApiTest' }],
		properties: operationProperties({ option: { name: 'Balance', value: 'balance' }, operations }, 'getAccountBalance'),
	};

	methods = { credentialTest: { generationGatewayApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeOperation(this, operations);
	}
}
