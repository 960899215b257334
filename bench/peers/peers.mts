/** The ways to make videos in n8n that are compared: their workflows, and how their requests are counted. */
import { sandboxKey, type Instance } from '../../test/n8n/support/instance.mts';
import { packageType, type TestNode } from '../../test/n8n/support/workflow.mts';
import type { StandIn } from './standIn.mts';

export type PeerName = 'package' | 'loop' | 'openai';

export interface Peer {
	/** For the terminal. */
	name: PeerName;
	/** The last one puts out the videos. */
	nodes: (model: string) => TestNode[];
	/** Those that do not lead from one node to the next. */
	connections?: Record<string, unknown>;
	isVideo: (item: { json: { status?: string }; binary?: object }) => boolean;
	service: { reset: () => void; requests: () => number };
	/** Works on one task after the other, so that the time of many is known from the time of one. */
	inTurn?: boolean;
}

export async function makePeers(instance: Instance, standIn: StandIn): Promise<Peer[]> {
	const { rest, sandbox } = instance;
	const service = { reset: () => sandbox.reset(), requests: () => sandbox.stats().apiRequests };
	const isVideo: Peer['isVideo'] = ({ json }) => json.status === 'completed';
	const credential = async (type: string, data: object) => {
		const { id, name } = await rest.request('POST', '/rest/credentials', { name: type, type, data });
		return { [type]: { id, name } };
	};
	const header = await credential('httpHeaderAuth', { name: 'Authorization', value: `Bearer ${sandboxKey}` });
	const openAi = await credential('openAiApi', { apiKey: sandboxKey, url: standIn.baseUrl });
	const url = `${sandbox.baseUrl}/v1/videos/generations`;
	return [
		{ name: 'package', nodes: packageNodes, isVideo, service },
		{
			name: 'loop',
			nodes: (model) => loopNodes(url, header, model),
			connections: { If: { main: [[], [{ node: 'Wait', type: 'main', index: 0 }]] } },
			isVideo,
			service,
		},
		{
			name: 'openai',
			nodes: () => openAiNodes(openAi),
			isVideo: ({ binary }) => binary !== undefined,
			service: standIn,
			inTurn: true,
		},
	];
}

function packageNodes(model: string): TestNode[] {
	return [
		{
			name: 'Generate',
			type: packageType('videoGeneration'),
			parameters: { model, prompt: '={{ $json.prompt }}', result: 'urlOnly' },
		},
	];
}

/**
 * The nodes that n8n's documentation and templates show for such services: all items pass through the nodes together,
 * and unfinished ones go round again.
 */
function loopNodes(url: string, credentials: object, model: string): TestNode[] {
	const http = (name: string, parameters: Record<string, unknown>): TestNode => ({
		name,
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: { authentication: 'genericCredentialType', genericAuthType: 'httpHeaderAuth', ...parameters },
		credentials,
	});
	const jsonBody = `={{ JSON.stringify({ model: '${model}', prompt: $json.prompt }) }}`;
	const condition = {
		id: '1',
		leftValue: '={{ $json.status }}',
		rightValue: 'completed',
		operator: { type: 'string', operation: 'equals' },
	};
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 };
	return [
		http('Submit', { method: 'POST', url, sendBody: true, specifyBody: 'json', jsonBody }),
		{ name: 'Wait', type: 'n8n-nodes-base.wait', typeVersion: 1.1, parameters: { amount: 10 } },
		http('Get Status', { url: `=${url}/{{ $json.id }}` }),
		{
			name: 'If',
			type: 'n8n-nodes-base.if',
			typeVersion: 2.2,
			parameters: { conditions: { options, combinator: 'and', conditions: [condition] } },
		},
	];
}

function openAiNodes(credentials: object): TestNode[] {
	const modelId = { __rl: true, mode: 'id', value: 'sora-2' };
	const parameters = { resource: 'video', operation: 'generate', modelId, prompt: '={{ $json.prompt }}' };
	return [{ name: 'OpenAI', type: '@n8n/n8n-nodes-langchain.openAi', typeVersion: 2.3, parameters, credentials }];
}
