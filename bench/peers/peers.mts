/** The ways to make videos in n8n that are compared: their workflows, and how their requests are counted. */
import { sandboxKey, type Instance } from '../../test/n8n/support/instance.mts';
import { packageType, type TestNode } from '../../test/n8n/support/workflow.mts';
import type { StandIn } from './standIn.mts';

export type PeerName = 'package' | 'loop' | 'gemini';

export interface Peer {
	/** For the terminal. */
	name: PeerName;
	/** The last one puts out the files. */
	nodes: (model: string) => TestNode[];
	/** Those that do not lead from one node to the next. */
	connections?: Record<string, unknown>;
	service: { reset: () => void; requests: () => number };
	/** Works on one task after the other, so that the time of many is known from the time of one. */
	inTurn?: boolean;
}

/** As the stand-in's service calls one of its models. */
const veo = 'models/veo-3.1-generate-preview';

export async function makePeers({ rest, sandbox }: Instance, standIn: StandIn): Promise<Peer[]> {
	const requests = () => sandbox.stats().apiRequests + sandbox.stats().fileRequests;
	const credential = async (type: string, data: object) => {
		const { id, name } = await rest.request('POST', '/rest/credentials', { name: type, type, data });
		return { [type]: { id, name } };
	};
	const header = await credential('httpHeaderAuth', { name: 'x-goog-api-key', value: sandboxKey });
	const gemini = await credential('googlePalmApi', { host: standIn.baseUrl, apiKey: sandboxKey });
	return [
		{ name: 'package', nodes: packageNodes, service: { reset: () => sandbox.reset(), requests } },
		{
			name: 'loop',
			nodes: () => loopNodes(`${standIn.baseUrl}/v1beta`, header),
			connections: { If: { main: ['Download', 'Wait'].map((node) => [{ node, type: 'main', index: 0 }]) } },
			service: standIn,
		},
		{ name: 'gemini', nodes: () => geminiNodes(gemini), service: standIn, inTurn: true },
	];
}

function packageNodes(model: string): TestNode[] {
	return [
		{
			name: 'Generate',
			type: packageType('videoGeneration'),
			parameters: { model, prompt: '={{ $json.prompt }}', result: 'file' },
		},
	];
}

/**
 * The nodes that n8n's documentation and templates show for such services: all items pass through the nodes together,
 * and unfinished ones go round again.
 */
function loopNodes(url: string, credentials: object): TestNode[] {
	const http = (name: string, parameters: Record<string, unknown>): TestNode => ({
		name,
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: { authentication: 'genericCredentialType', genericAuthType: 'httpHeaderAuth', ...parameters },
		credentials,
	});
	const submitUrl = `${url}/${veo}:predictLongRunning`;
	const jsonBody = '={{ JSON.stringify({ instances: [{ prompt: $json.prompt }] }) }}';
	const condition = {
		id: '1',
		leftValue: '={{ $json.done === true }}',
		rightValue: '',
		operator: { type: 'boolean', operation: 'true', singleValue: true },
	};
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 };
	return [
		http('Submit', { method: 'POST', url: submitUrl, sendBody: true, specifyBody: 'json', jsonBody }),
		{ name: 'Wait', type: 'n8n-nodes-base.wait', typeVersion: 1.1, parameters: { amount: 10 } },
		http('Get Status', { url: `=${url}/{{ $json.name }}` }),
		{
			name: 'If',
			type: 'n8n-nodes-base.if',
			typeVersion: 2.2,
			parameters: { conditions: { options, combinator: 'and', conditions: [condition] } },
		},
		http('Download', {
			url: '={{ $json.response.generateVideoResponse.generatedSamples[0].video.uri }}',
			options: { response: { response: { responseFormat: 'file' } } },
		}),
	];
}

function geminiNodes(credentials: object): TestNode[] {
	const modelId = { __rl: true, mode: 'id', value: veo };
	const parameters = { resource: 'video', operation: 'generate', modelId, prompt: '={{ $json.prompt }}' };
	return [{ name: 'Gemini', type: '@n8n/n8n-nodes-langchain.googleGemini', typeVersion: 1.2, parameters, credentials }];
}
