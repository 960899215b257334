/** Who waits for the answer of a workflow, by the nodes around: the same in n8n's engine is in `answerAwaited.test.ts`. */
import type { IExecuteFunctions, NodeTypeAndVersion, WorkflowExecuteMode } from 'n8n-workflow';
import { answerAwaited } from '../../nodes/durable/answerAwaited';

type Around = Omit<NodeTypeAndVersion, 'name' | 'typeVersion' | 'disabled'> & { name?: string; disabled?: boolean };
const named = ({ name = 'Start', disabled = false, ...node }: Around): NodeTypeAndVersion => ({
	...{ typeVersion: 1, disabled, name },
	...node,
});

interface World {
	mode?: WorkflowExecuteMode;
	parents: Around[];
	following?: Around[];
	/** Names of the nodes that have not run. */
	idle?: string[];
}

/** The name of the node whose caller waits. */
function awaited({ mode = 'webhook', parents, following = [], idle = [] }: World): string | undefined {
	const withParameters = (nodes: Around[]) => (name: string, options?: { includeNodeParameters?: boolean }) =>
		name === ''
			? []
			: nodes.map(named).map((node) => (options?.includeNodeParameters ? node : { ...node, parameters: {} }));
	const context = {
		getMode: () => mode,
		getNode: () => ({ name: 'Node' }),
		getParentNodes: (...given: [string]) => (given[0] === 'Node' ? withParameters(parents)(...given) : []),
		getChildNodes: (...given: [string]) => (given[0] === 'Start' ? withParameters(following)(...given) : []),
		getWorkflowDataProxy: (item: number) => ({
			$: (name: string) => ({ isExecuted: item === 0 && !idle.includes(name) }),
		}),
	};
	return answerAwaited(context as unknown as IExecuteFunctions);
}

const WEBHOOK = 'n8n-nodes-base.webhook';
const FORM = 'n8n-nodes-base.formTrigger';
const CHAT = '@n8n/n8n-nodes-langchain.chatTrigger';
const webhook = (responseMode?: string): Around => ({ type: WEBHOOK, parameters: { responseMode } });
const form: Around = { type: FORM, parameters: { responseMode: 'lastNode' } };
const respond: Around = { name: 'Respond', type: 'n8n-nodes-base.respondToWebhook', parameters: {} };
const page: Around = { name: 'Page', type: 'n8n-nodes-base.form', parameters: {} };
const wait = (resume: string): Around => ({ name: 'Wait', type: 'n8n-nodes-base.wait', parameters: { resume } });

test.each<[string, World, string | undefined]>([
	['a webhook answers with the last node', { parents: [webhook('lastNode')] }, 'Start'],
	['a webhook streams', { parents: [webhook('streaming')] }, 'Start'],
	['a webhook has answered at once', { parents: [webhook('onReceived')] }, undefined],
	['a trigger says nothing of an answer', { parents: [webhook()] }, undefined],
	['a retry, for which nobody waits', { mode: 'retry', parents: [webhook('lastNode')] }, undefined],
	['the trigger has not run', { parents: [webhook('lastNode')], idle: ['Start'] }, undefined],
	['the trigger is disabled', { parents: [{ ...webhook('lastNode'), disabled: true }] }, undefined],
	[
		'another one has run',
		{ parents: [{ ...webhook('lastNode'), name: 'Idle' }, webhook('lastNode')], idle: ['Idle'] },
		'Start',
	],
	['nothing is before the node', { parents: [] }, undefined],
	['a chat waits for the last node by itself', { parents: [{ type: CHAT, parameters: { options: {} } }] }, 'Start'],
	['a chat without options, too', { parents: [{ type: CHAT, parameters: {} }] }, 'Start'],
	['a chat of which n8n tells no parameters, too', { parents: [{ type: CHAT }] }, 'Start'],
	[
		'a chat that streams',
		{ parents: [{ type: CHAT, parameters: { options: { responseMode: 'streaming' } } }] },
		'Start',
	],
	['a chat is no webhook', { parents: [{ type: CHAT, parameters: { responseMode: 'onReceived' } }] }, 'Start'],
])('somebody waits for the answer or not: %s', (_, world, name) => {
	expect(awaited(world)).toBe(name);
});

test.each<[string, World, string | undefined]>([
	['it has', { parents: [webhook('responseNode')], following: [respond] }, undefined],
	['it has, among others', { parents: [webhook('responseNode')], following: [page, respond] }, undefined],
	[
		'it has to a chat',
		{ parents: [{ type: CHAT, parameters: { options: { responseMode: 'responseNode' } } }], following: [respond] },
		undefined,
	],
	['it has not run', { parents: [webhook('responseNode')], following: [respond], idle: ['Respond'] }, 'Start'],
	['it is disabled', { parents: [webhook('responseNode')], following: [{ ...respond, disabled: true }] }, 'Start'],
	['only others have run', { parents: [webhook('responseNode')], following: [page] }, 'Start'],
	['it does not answer for the workflow', { parents: [webhook('lastNode')], following: [respond] }, 'Start'],
])('nobody waits once Respond to Webhook has responded: %s', (_, world, name) => {
	expect(awaited(world)).toBe(name);
});

test.each<[string, World, string | undefined]>([
	['a page', { parents: [form], following: [page] }, undefined],
	['a page among others', { parents: [form], following: [respond, page] }, undefined],
	['a page by Wait', { parents: [form], following: [wait('form')] }, undefined],
	['a Wait that is no page', { parents: [form], following: [wait('timeInterval')] }, 'Start'],
	[
		'another node with such a parameter',
		{ parents: [form], following: [{ ...wait('form'), type: 'n8n-nodes-base.set' }] },
		'Start',
	],
	['a page that is disabled', { parents: [form], following: [{ ...page, disabled: true }] }, 'Start'],
	['no page', { parents: [form] }, 'Start'],
	['a page behind a webhook', { parents: [webhook('lastNode')], following: [page] }, 'Start'],
])('a browser waits for the next page of a form by itself: %s', (_, world, name) => {
	expect(awaited(world)).toBe(name);
});
