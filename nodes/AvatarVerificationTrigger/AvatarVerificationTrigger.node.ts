import {
	NodeConnectionTypes,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { generationGatewayApiTest } from '../connection/credentialTest';
import { answerCallback } from './handleCallback';
import { docsLink } from '../form/fields';

/** The browser of the person comes here by a redirect, so by GET. The page is sent before the workflow starts. */
const callbackWebhook: IWebhookDescription = {
	name: 'default',
	httpMethod: 'GET',
	responseMode: 'onReceived',
	path: 'avatar-verification',
};

export class AvatarVerificationTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Gateway Avatar Trigger',
		name: 'avatarVerificationTrigger',
		icon: { light: 'file:../../icons/avatar.svg', dark: 'file:../../icons/avatar.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: 'on browser callback',
		description: 'Starts the workflow when a person has finished a verification in the browser',
		defaults: { name: 'Gateway Avatar Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		builderHint: {
			searchHint:
				'Starts when a real person has completed a verification. Its address is the callbackUrl of verification create.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-generation-gateway.avatar',
					relationHint: 'Creates the verification, and uploads assets to the group of the person',
				},
			],
		},
		credentials: [{ name: 'generationGatewayApi', required: true, testedBy: 'generationGatewayApiTest' }],
		webhooks: [callbackWebhook],
		triggerPanel: {
			header: 'Wait for one person to come back from the verification',
			executionsHelp: {
				inactive:
					'While you build the workflow, execute this step and create a verification with the Test URL as its Callback URL. When the person comes back, the callback appears here; confirmed is false in a test. Once the workflow is published, the Production URL starts it for each person.',
				active:
					'Each time a person comes back to the Production URL, the workflow starts. You can find these executions in the Executions list. To test, execute this step and use the Test URL as Callback URL.',
			},
			activationHint: 'Once the workflow is published, the Production URL starts it each time a person comes back.',
		},
		properties: [
			{
				// Its only choice needs no field. The node creator takes the line of the trigger from it.
				displayName: 'Event',
				name: 'event',
				type: 'hidden',
				noDataExpression: true,
				options: [
					{
						name: 'Verification Finished',
						value: 'verificationFinished',
						description: 'A person has finished a verification in the browser',
						action: 'On verification finished',
					},
				],
				default: 'verificationFinished',
				description: 'What starts the workflow',
			},
			{
				displayName: `Open Webhook URLs above, choose Production URL, and enter that URL as Callback URL in Gateway Avatar → Verification → Create, in this workflow. ${docsLink('reference/avatar-trigger.md')}`,
				name: 'callbackNotice',
				type: 'notice',
				default: '',
			},
		],
	};

	methods = { credentialTest: { generationGatewayApiTest } };

	/** Nothing is registered with the service: each verification brings its own callback URL. */
	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return true;
			},
			async create(this: IHookFunctions): Promise<boolean> {
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await answerCallback(this);
	}
}
