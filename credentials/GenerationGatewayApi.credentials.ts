import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { DEFAULT_REQUESTS_PER_SECOND, MOST_REQUESTS_PER_SECOND } from '../core/account/pace';
import { cleanApiKey, DEFAULT_PATHS, DEFAULT_UPLOAD_FIELD } from '../core/settings';

/** An imported credential may hold a switch as a text. n8n withholds hidden fields from the nodes: they would have their defaults. */
const ON = [true, 'true'];

/** The key and the address of the service. Tested by `nodes/connection/credentialTest.ts`. */
export class GenerationGatewayApi implements ICredentialType {
	name = 'generationGatewayApi';

	displayName = 'Generation Gateway API';

	icon = {
		light: 'file:../icons/generationGateway.svg',
		dark: 'file:../icons/generationGateway.dark.svg',
	} as const;

	documentationUrl =
		'https://github.com/generation-gateway-nodes/n8n-nodes-generation-gateway/blob/HEAD/docs/reference/credential.md';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://gateway.example.com',
			description: 'Address of the service, with or without /v1 at the end',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: 'From the key management page of your account',
		},
		// Plain fields: n8n's form of a credential draws no collections.
		{
			displayName: 'Advanced',
			name: 'advanced',
			type: 'boolean',
			default: false,
			description:
				'Whether to show and use further settings: private network, limits, custom paths and purchase log. While this is off, their defaults apply.',
		},
		{
			displayName: 'Private Network',
			name: 'privateNetwork',
			type: 'boolean',
			default: false,
			description:
				'Whether the service is in your private network. The Base URL may then start with http:// on another machine, which sends the API key unencrypted. Result files may be downloaded from private addresses, such as 10.0.0.5.',
			displayOptions: { show: { advanced: ON } },
		},
		{
			displayName: 'Requests per Second',
			name: 'requestsPerSecond',
			type: 'number',
			default: DEFAULT_REQUESTS_PER_SECOND,
			hint: `1 to ${MOST_REQUESTS_PER_SECOND}`,
			description: 'Maximum requests per second to this account, for all executions of this n8n process together',
			displayOptions: { show: { advanced: ON } },
		},
		{
			displayName: 'Concurrent Tasks of the Account',
			name: 'concurrentTasks',
			type: 'number',
			default: '',
			placeholder: 'e.g. 20',
			hint: '1 to 10000',
			description:
				'How many tasks your account can run at the same time. All executions of this n8n process share them. If empty, n8n finds out when the service refuses a task.',
			displayOptions: { show: { advanced: ON } },
		},
		{
			displayName: 'Custom Paths',
			name: 'customPaths',
			type: 'boolean',
			default: false,
			description: 'Whether your service uses different paths. Enter paths, not full URLs.',
			displayOptions: { show: { advanced: ON } },
		},
		{
			displayName: 'Image Task Status Path',
			name: 'imageStatusPath',
			type: 'string',
			default: DEFAULT_PATHS.imageStatusPath,
			placeholder: `e.g. ${DEFAULT_PATHS.imageStatusPath}`,
			description: 'Path to check an image task. Enter {task_id} where its ID goes.',
			displayOptions: { show: { advanced: ON, customPaths: ON } },
		},
		{
			displayName: 'Image Upload Field',
			name: 'imageUploadField',
			type: 'string',
			default: DEFAULT_UPLOAD_FIELD,
			placeholder: `e.g. ${DEFAULT_UPLOAD_FIELD}`,
			description: 'Name of the form field that contains the image',
			displayOptions: { show: { advanced: ON, customPaths: ON } },
		},
		{
			displayName: 'Image Upload Form Fields (JSON)',
			name: 'imageUploadFields',
			type: 'json',
			default: '',
			placeholder: 'e.g. {"purpose": "vision"}',
			description: 'Further fields of the form in which images are uploaded, if your service needs any',
			displayOptions: { show: { advanced: ON, customPaths: ON } },
		},
		{
			displayName: 'Image Upload Path',
			name: 'imageUploadPath',
			type: 'string',
			default: DEFAULT_PATHS.imageUploadPath,
			placeholder: `e.g. ${DEFAULT_PATHS.imageUploadPath}`,
			description: 'Path to upload images',
			displayOptions: { show: { advanced: ON, customPaths: ON } },
		},
		{
			displayName: 'Video Task Status Path',
			name: 'videoStatusPath',
			type: 'string',
			default: DEFAULT_PATHS.videoStatusPath,
			placeholder: `e.g. ${DEFAULT_PATHS.videoStatusPath}`,
			description: 'Path to check a video task. Enter {task_id} where its ID goes.',
			displayOptions: { show: { advanced: ON, customPaths: ON } },
		},
		{
			displayName: 'Purchase Log',
			name: 'purchaseLog',
			type: 'boolean',
			default: true,
			description:
				'Whether to write everything that is bought into the data table "Gateway Purchases" of the project. With it, a retry goes on after a crash, and you find every task ID. While Advanced is off, this is on.',
			displayOptions: { show: { advanced: ON } },
		},
	];

	/** A function instead of an expression, so that a pasted `Bearer ` prefix and spaces are tolerated. */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		return {
			...requestOptions,
			headers: {
				...requestOptions.headers,
				Authorization: `Bearer ${cleanApiKey(credentials.apiKey)}`,
			},
		};
	}
}
