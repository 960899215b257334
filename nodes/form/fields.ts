import type { INodeProperties } from 'n8n-workflow';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import type { ChoiceField, TextField } from './fieldReader';

const DOCS = 'https://github.com/generation-gateway-nodes/n8n-nodes-generation-gateway/blob/HEAD/docs';

/** A link to a page of the documentation, for a notice: it says in two lines what counts, the page says the rest. */
export const docsLink = (page: string) => `<a href="${DOCS}/${page}" target="_blank">More</a>`;

/** An agent gets neither files nor the fields of an item. Older versions, such as 2.0, show the field in tools, too. */
export const hiddenInTools: INodeProperties['displayOptions'] = { hide: { '@tool': [true] } };

/** Fields that operations of several nodes share. */
export const taskIdField: TextField = {
	displayName: 'Task ID',
	name: 'taskId',
	type: 'string',
	required: true,
	default: '',
	maxLength: MAX_ID_LENGTH,
	placeholder: 'e.g. {{ $json.task_id }}',
	description: 'The task_id that Generate returned',
};

/** Its options and its default are those of the node's models. */
export const modelField: INodeProperties = {
	displayName: 'Model',
	name: 'model',
	type: 'options',
	options: [],
	default: '',
	description: 'The model to use. Changing it clears the fields that the new model does not have.',
};

export const customModelIdField: TextField = {
	displayName: 'Model ID',
	name: 'customModelId',
	type: 'string',
	default: '',
	maxLength: MAX_ID_LENGTH,
	description: 'The identifier of the model',
};

export const customBodyField: INodeProperties = {
	displayName: 'Body (JSON)',
	name: 'customBody',
	type: 'json',
	default: '{\n  "prompt": ""\n}',
	description: 'The request body without the model. Enter images as URLs or asset references such as asset://pa_123.',
};

/** The ways to wait: of all of them, the form shows those that the operation has. */
export type Waiting = 'untilReady' | 'acrossRestarts' | 'inAnotherWorkflow' | 'dontWait';

/** Of Generate. */
export const waitField: ChoiceField<Waiting> = {
	displayName: 'Wait',
	name: 'wait',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Until Ready',
			value: 'untilReady',
			description: 'All items run in parallel, so they take about as long as the slowest',
		},
		{
			name: 'Until Ready, Across Restarts',
			value: 'acrossRestarts',
			description:
				'The same, and the wait goes on after n8n restarts. Before a wait of weeks, such as for an approval, store the files: n8n removes them with old executions. Needs n8n 2.41 or later.',
			// Where an older n8n shows it in a tool, it counts as Until Ready.
			displayOptions: hiddenInTools,
		},
		{
			name: 'In Another Workflow',
			value: 'inAnotherWorkflow',
			description: 'Return now. When all results are ready, another workflow starts with them.',
		},
		{
			name: "Don't Wait",
			value: 'dontWait',
			description: 'Return the task IDs now. Get the results later with Get Result.',
		},
	],
	default: 'untilReady',
	description: 'How to wait for the result',
	builderHint: {
		propertyHint:
			'Use untilReady in most workflows, and acrossRestarts in production for anything that takes minutes. Use inAnotherWorkflow if nothing can wait: a chat, or a webhook that must answer soon. Use dontWait only if a later step gets the result with getResult, or if the node is executed alone and not in a workflow: n8n gives it 30 to 60 seconds there, then get the result later with getResult.',
	},
};

/** Of Get Result, which submits nothing. */
export const waitForResultField: ChoiceField<Waiting> = {
	...waitField,
	options: [
		...waitField.options.slice(0, 2),
		{ name: "Don't Wait", value: 'dontWait', description: 'Return the task as it is now' },
	],
	builderHint: undefined,
};

const whenStarting = { show: { wait: ['inAnotherWorkflow'] } };

/** The fields of In Another Workflow. */
export const workflowField: INodeProperties = {
	displayName: 'Workflow',
	name: 'workflowId',
	type: 'workflowSelector',
	required: true,
	default: '',
	description: 'The workflow to start with the results',
	displayOptions: whenStarting,
};

export const workflowNotice: INodeProperties = {
	displayName: `The workflow must be published and start with the trigger <b>When Executed by Another Workflow</b>. ${docsLink('guides/background.md')}`,
	name: 'workflowNotice',
	type: 'notice',
	default: '',
	displayOptions: whenStarting,
};

export const passAlongField: INodeProperties = {
	displayName: 'Pass Along (JSON)',
	name: 'passAlong',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. {{ { "chatId": $json.chatId } }}',
	description:
		'What the workflow needs to know about this item. It arrives as pass_along next to the result. At most 64 kB.',
	displayOptions: whenStarting,
};

/** The forms in which a result is wanted. */
export const resultField: ChoiceField<'file' | 'fileAndLink' | 'urlOnly'> = {
	displayName: 'Result',
	name: 'result',
	type: 'options',
	options: [
		{ name: 'File', value: 'file', description: 'Download the files into binary fields' },
		{
			name: 'File and Link',
			value: 'fileAndLink',
			description:
				"The same, and links to n8n's own copies. They open without signing in, for up to 30 days, as long as n8n keeps the execution.",
		},
		{
			name: 'URL Only',
			value: 'urlOnly',
			description: 'Return the URLs of the service. They usually expire, for example after 24 hours.',
		},
	],
	default: 'file',
	description: 'What to return of a finished task',
	builderHint: {
		propertyHint:
			'Keep file if a later node sends, uploads, edits or stores the file, which is then in the binary field data. Do not store a result URL: it usually expires.',
	},
	displayOptions: hiddenInTools,
};

/** At the foot of Generate, where n8n's HTTP Request node has one, too. A longer text would not fit in one line. */
export const costNotice: INodeProperties = {
	displayName: 'Stopping does not cancel the tasks: you still pay for them.',
	name: 'costNotice',
	type: 'notice',
	default: '',
	displayOptions: hiddenInTools,
};

export const simplifyField: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** The unit of every amount of money in a form. */
export const unitField: ChoiceField<'usd' | 'credits'> = {
	displayName: 'Unit',
	name: 'unit',
	type: 'options',
	options: [
		{ name: 'USD', value: 'usd', description: '1 USD is 200 credits' },
		{ name: 'Credits', value: 'credits', description: '200 credits are 1 USD' },
	],
	default: 'usd',
	description: 'The unit of the amount',
};
