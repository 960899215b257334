import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { generationGatewayApiTest } from '../connection/credentialTest';
import { resourceProperties, resourceSubtitle, type Choices, type Resource } from '../run/operation';
import { executeResource } from '../run/runOperation';
import { createGroup } from './operations/createGroup';
import { createVerification } from './operations/createVerification';
import { getAsset } from './operations/getAsset';
import { getVerification } from './operations/getVerification';
import { getVerificationResult } from './operations/getVerificationResult';
import { uploadAsset } from './operations/uploadAsset';

/** In the order of the dropdowns: a new node begins with the first of each. */
export const resources: Choices<Resource> = [
	{ option: { name: 'Asset', value: 'asset' }, operations: [uploadAsset, getAsset] },
	{ option: { name: 'Group', value: 'group' }, operations: [createGroup] },
	{
		option: { name: 'Verification', value: 'verification' },
		operations: [createVerification, getVerification, getVerificationResult],
	},
];

export class Avatar implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Gateway Avatar',
		name: 'avatar',
		icon: { light: 'file:../../icons/avatar.svg', dark: 'file:../../icons/avatar.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: `={{ ${resourceSubtitle(resources)} }}`,
		description: 'Verify real people, create avatar groups, and upload assets for videos',
		defaults: { name: 'Gateway Avatar' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		builderHint: {
			searchHint:
				'Makes people for videos. Made-up person: group create, then asset upload. Real person: verification create returns a link, and verification getResult the group; then asset upload. The documentation of the service does not show which field of a video takes the reference of the asset: have the user try one video first.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-generation-gateway.videoGeneration',
					relationHint:
						'Makes the video. Which field takes the reference of the asset is not documented: the URL of an image is an assumption, so try one video first',
				},
				{
					nodeType: 'n8n-nodes-generation-gateway.avatarVerificationTrigger',
					relationHint: 'Starts a workflow when a person comes back from the verification, passed or not',
				},
			],
		},
		credentials: [{ name: 'generationGatewayApi', required: true, testedBy: 'generationGatewayApiTest' }],
		properties: resourceProperties(resources, 'asset'),
	};

	methods = { credentialTest: { generationGatewayApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeResource(this, resources);
	}
}
