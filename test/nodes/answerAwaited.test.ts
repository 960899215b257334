/** Across Restarts where somebody waits for the answer of the workflow: n8n answers as soon as an execution sleeps. */
import type { IDataObject } from 'n8n-workflow';
import { startHandingOver } from '../support/handingOver.mts';
import { prompts, quick, quickSandbox, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const WEBHOOK = 'n8n-nodes-base.webhook';
const FORM = 'n8n-nodes-base.formTrigger';
const CHAT = '@n8n/n8n-nodes-langchain.chatTrigger';

/** Runs the node behind the trigger. Returns whether it slept, and who it says waits for the answer. */
async function run(
	[triggerType, triggerParameters]: [string, IDataObject],
	{ parameters = {}, ...options }: RunOptions & { parameters?: IDataObject } = {},
) {
	const surviving = { operation: 'generate', prompt: 'a', wait: 'acrossRestarts', options: quick, ...parameters };
	const ofRun: RunOptions = { mode: 'webhook', items: prompts('a'), triggerType, triggerParameters, ...options };
	const { promise } = startHandingOver(
		sandbox,
		surviving,
		ofRun,
		async () => await Promise.resolve({ executionId: '7', data: [null], waitTill: new Date(4e12) }),
	);
	const { data, waitTill } = await promise;
	const task = data.resultData.runData.Node?.[0];
	const [, node] = (task?.hints ?? [])
		.map(({ message }) => /^Across Restarts has no effect here: (.*) waits for the answer/.exec(message))
		.find((match) => match !== null) ?? [undefined, undefined];
	return { sleeps: waitTill !== undefined, node, status: task?.data?.main[0]?.[0]?.json.status };
}

const inMemory = { sleeps: false, node: '"Start"', status: 'completed' };
const asleep = { sleeps: true, node: undefined, status: 'waiting' };

test.each<[string, IDataObject, typeof inMemory | typeof asleep]>([
	[WEBHOOK, { responseMode: 'onReceived' }, asleep],
	[WEBHOOK, { responseMode: 'lastNode' }, inMemory],
	[WEBHOOK, { responseMode: 'streaming' }, inMemory],
	[FORM, { responseMode: 'lastNode' }, inMemory],
	[FORM, {}, asleep],
	[CHAT, { options: {} }, inMemory],
	['n8n-nodes-base.scheduleTrigger', {}, asleep],
	['n8n-nodes-base.executeWorkflowTrigger', {}, asleep],
])(
	'a run that %s with %j has started sleeps only if nobody waits for its answer',
	async (type, parameters, expected) => {
		expect(await run([type, parameters])).toEqual(expected);
	},
);

const WAITING: [string, IDataObject] = [WEBHOOK, { responseMode: 'lastNode' }];
const RESPONDING: [string, IDataObject] = [WEBHOOK, { responseMode: 'responseNode' }];
const respond = { name: 'Respond', type: 'n8n-nodes-base.respondToWebhook', after: 'Start' };
const ending = { name: 'Ending', type: 'n8n-nodes-base.form', parameters: { operation: 'completion' }, after: 'Node' };
const waitFor = (parameters: IDataObject) => ({
	name: 'Wait',
	type: 'n8n-nodes-base.wait',
	parameters,
	after: 'Start',
	before: 'Node',
});

test.each<[string, [string, IDataObject], RunOptions, typeof inMemory | typeof asleep]>([
	['a test of the webhook', WAITING, { mode: 'manual' }, inMemory],
	['an evaluation', ['n8n-nodes-base.evaluationTrigger', {}], { mode: 'evaluation' }, { ...inMemory, node: undefined }],
	['a retry, for which nobody waits', WAITING, { mode: 'retry' }, asleep],
	['Respond to Webhook has responded', RESPONDING, { others: [respond] }, asleep],
	['Respond to Webhook has run, but the last node responds', WAITING, { others: [respond] }, inMemory],
	['Respond to Webhook comes only afterwards', RESPONDING, { others: [{ ...respond, after: 'Node' }] }, inMemory],
	['a form that shows an ending page', [FORM, { responseMode: 'lastNode' }], { others: [ending] }, asleep],
	[
		'a form with a page by Wait',
		[FORM, { responseMode: 'lastNode' }],
		{ others: [{ ...waitFor({ resume: 'form' }), after: 'Node', before: undefined }] },
		asleep,
	],
	[
		'another trigger of the workflow, which has not started it',
		['n8n-nodes-base.scheduleTrigger', {}],
		{ others: [{ name: 'Webhook', type: WEBHOOK, parameters: { responseMode: 'lastNode' }, before: 'Node' }] },
		asleep,
	],
	[
		'the one that calls a Wait node to resume',
		['n8n-nodes-base.scheduleTrigger', {}],
		{ others: [waitFor({ resume: 'webhook', responseMode: 'lastNode' })] },
		{ ...inMemory, node: '"Wait"' },
	],
])('a run sleeps only if nobody waits for its answer: %s', async (_, trigger, options, expected) => {
	expect(await run(trigger, options)).toMatchObject(expected);
});

test('a workflow that is started with the results returns at once, whoever waits', async () => {
	const parameters = { wait: 'inAnotherWorkflow', workflowId: { __rl: true, mode: 'id', value: 'other' } };
	const { node, status } = await run(WAITING, { parameters });
	expect([node, status]).toEqual([undefined, 'queued']);
});
