import type { INodeProperties } from 'n8n-workflow';
import type { ChoiceField } from './fieldReader';

/** An agent gets neither files nor the fields of an item. Older versions, such as 2.0, show the field in tools, too. */
export const hiddenInTools: INodeProperties['displayOptions'] = { hide: { '@tool': [true] } };

/** Fields that operations of several nodes share. */
export const taskIdField: INodeProperties = {
	displayName: 'Task ID',
	name: 'taskId',
	type: 'string',
	required: true,
	default: '',
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
	description: 'The model to use. The fields below depend on it.',
};

/** What Generate does once the tasks are accepted. */
export const whenDoneField: ChoiceField<'wait' | 'return'> = {
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
			name: 'Wait and Return the Result',
			value: 'wait',
			description: 'All items run in parallel, so they take about as long as the slowest',
		},
	],
	default: 'wait',
	description: 'What to do when a task has finished',
};

export const downloadResultField: INodeProperties = {
	displayName: 'Download Result',
	name: 'downloadResult',
	type: 'boolean',
	default: false,
	description: 'Whether to download the result files into binary fields. Result URLs expire, usually after 24 hours.',
	displayOptions: hiddenInTools,
};

export const simplifyField: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};
