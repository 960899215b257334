import {
	NodeConnectionTypes,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';
import { generationGatewayApiTest } from '../connection/credentialTest';
import { checkBalance, thresholdFields } from './checkBalance';

export class BalanceTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Gateway Balance Trigger',
		name: 'balanceTrigger',
		icon: { light: 'file:../../icons/balance.svg', dark: 'file:../../icons/balance.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ "below " + $parameter["threshold"] + ($parameter["unit"] === "usd" ? " USD" : " credits") }}',
		// n8n lists this trigger and Gateway Balance as one entry, with this text.
		description: 'Checks the balance, and starts the workflow when it falls below a threshold',
		defaults: { name: 'Gateway Balance Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		polling: true,
		builderHint: {
			searchHint: 'Checks the balance itself, so do not add a schedule. Starts once when it falls below the threshold.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-generation-gateway.balance',
					relationHint: 'Reads the balance at any time',
				},
			],
		},
		credentials: [{ name: 'generationGatewayApi', required: true, testedBy: 'generationGatewayApiTest' }],
		triggerPanel: {
			header: 'See the balance as it is now',
			executionsHelp: {
				inactive:
					'While you build the workflow, fetch a test event: it shows the balance as it is, whatever the threshold. Once the workflow is published, n8n checks the balance at the poll times, and the workflow starts when it falls below the threshold.',
				active:
					'n8n checks the balance at the poll times. The workflow starts when it falls below the threshold, and not again until it has recovered. A test event shows the balance as it is now.',
			},
			activationHint: 'Once the workflow is published, n8n checks the balance at the poll times.',
		},
		properties: thresholdFields,
	};

	methods = { credentialTest: { generationGatewayApiTest } };

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await checkBalance(this);
	}
}
