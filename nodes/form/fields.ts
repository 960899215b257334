import type { INodeProperties } from 'n8n-workflow';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import { docsLink } from './docsLink';
import type { ChoiceField, TextField } from './fieldReader';

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
	description:
		'The model to use. When you change it, n8n keeps what you have entered in fields that both models have, and clears the others.',
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

/** The field that says what Generate does once the tasks are accepted. */
export const whenDoneField: ChoiceField<'wait' | 'startWorkflow' | 'return'> = {
	displayName: 'When Done',
	name: 'whenDone',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Return Immediately',
			value: 'return',
			description: 'Return the task IDs without waiting. Get the results with Wait for Task.',
		},
		{
			name: 'Start a Workflow',
			value: 'startWorkflow',
			description:
				'Return the task IDs, and start another workflow with the results when they are ready. Survives restarts of n8n.',
		},
		{
			name: 'Wait and Return the Result',
			value: 'wait',
			description: 'All items run in parallel, so they take about as long as the slowest',
		},
	],
	default: 'wait',
	description: 'What to do when a task has finished',
	builderHint: {
		propertyHint:
			'Use wait in most workflows. Use startWorkflow if nothing can wait for minutes: a chat, or a webhook that must answer soon. Use return only if a later step gets the result with waitForTask.',
	},
};

const whenStarting = { show: { whenDone: ['startWorkflow'] } };

/** The fields of Start a Workflow. */
export const workflowField: INodeProperties = {
	displayName: 'Workflow',
	name: 'workflowId',
	type: 'workflowSelector',
	required: true,
	default: '',
	description: 'The workflow to start. The value of the first item applies.',
	displayOptions: whenStarting,
};

export const workflowNotice: INodeProperties = {
	displayName: `The workflow must be published and start with the trigger <b>When Executed by Another Workflow</b>. ${docsLink('background.md')}`,
	name: 'workflowNotice',
	type: 'notice',
	default: '',
	displayOptions: whenStarting,
};

export const startModeField: ChoiceField<'allItems' | 'eachItem'> = {
	displayName: 'Mode',
	name: 'startMode',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Run Once for All Items',
			value: 'allItems',
			description: 'Start the workflow when the last task has finished',
		},
		{
			name: 'Run Once for Each Item',
			value: 'eachItem',
			description: 'Start the workflow for each task as soon as it has finished',
		},
	],
	default: 'allItems',
	description: 'How often to start the workflow',
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

export const downloadResultField: INodeProperties = {
	displayName: 'Download Result',
	name: 'downloadResult',
	type: 'boolean',
	default: true,
	description:
		'Whether to download the result files into binary fields. Result URLs usually expire, for example after 24 hours.',
	builderHint: {
		propertyHint:
			'Turn it on if a later node sends, uploads, edits or stores the file, which is then in the binary field data. Do not store a result URL: it usually expires.',
	},
	displayOptions: hiddenInTools,
};

/** At the foot of a form that waits, where n8n's HTTP Request node has one, too. In one line. */
export const consoleNotice: INodeProperties = {
	displayName: 'Stop does not stop the task or its cost. ID: console (F12)',
	name: 'consoleNotice',
	type: 'notice',
	default: '',
	displayOptions: { hide: { '@tool': [true] } },
};

/** In one line, below the other one. n8n shows Debug in editor beside Retry. */
export const debugNotice: INodeProperties = {
	displayName: 'Debug in editor buys again. Retry continues the tasks',
	name: 'debugNotice',
	type: 'notice',
	default: '',
	displayOptions: { hide: { '@tool': [true] } },
};

export const simplifyField: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};
