import type { INodeProperties } from 'n8n-workflow';

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
	description: 'The model that does the work. The fields below depend on it.',
};

export const waitForCompletionField: INodeProperties = {
	displayName: 'Wait for Completion',
	name: 'waitForCompletion',
	type: 'boolean',
	default: true,
	description: 'Whether to wait until the task has ended. Many items are waited for at once: they take about as long as the slowest. If turned off, the task ID is returned for Wait for Task.',
};

export const downloadResultField: INodeProperties = {
	displayName: 'Download Result',
	name: 'downloadResult',
	type: 'boolean',
	default: false,
	description: 'Whether to download the result files into binary fields. Result URLs expire, usually after 24 hours.',
};

export const simplifyField: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};
