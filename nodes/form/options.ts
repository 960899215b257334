import type { INodeProperties } from 'n8n-workflow';
import { MOST_CONCURRENT_TASKS } from '../../core/orders/handOver';
import { MAX_OUTPUT_FIELD_LENGTH, MAX_RESULT_PATH_LENGTH, MAX_RUN_LENGTH } from '../../core/orders/order';
import type { SubmitAgain } from '../../core/orders/ledger';
import { toProperty } from '../../core/models/model';
import type { FieldReader, NumberField, TextField } from './fieldReader';
import { hiddenInTools } from './fields';

/** The entries of the Options collections. Each operation offers those that mean something to it. */
export const additionalFieldsOption: INodeProperties = {
	displayName: 'Additional Fields (JSON)',
	name: 'additionalFields',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. {"seed": 42}',
	description: 'Added to the request body, for fields that this form does not have. The value null removes a field.',
};

export const concurrentTasksOption: NumberField = {
	displayName: 'Concurrent Tasks',
	name: 'concurrentTasks',
	type: 'number',
	min: 1,
	max: MOST_CONCURRENT_TASKS,
	integer: true,
	default: 50,
	hint: `1 to ${MOST_CONCURRENT_TASKS}`,
	noDataExpression: true,
	description: 'How many tasks of this node run at the same time. Each one that ends starts the next.',
	displayOptions: hiddenInTools,
};

/** There is no file to name. */
const hiddenWithoutFile = { hide: { ...hiddenInTools?.hide, '/result': ['urlOnly'] } };

/** The same option for a form that may not wait for a result: then it is not there. */
export function hiddenWithoutWait<T extends INodeProperties>(option: T): T {
	return { ...option, displayOptions: { hide: { ...option.displayOptions?.hide, '/wait': ['dontWait'] } } };
}

/** For a task whose prompt is not known. */
export const fileNameOption: INodeProperties = {
	displayName: 'File Name',
	name: 'fileName',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.prompt }}',
	description: 'A name for the file, without extension. If not added, it is the one from the service or the task ID.',
	displayOptions: hiddenWithoutFile,
};

/** The same where the node knows the prompt. */
export const fileNameByPromptOption: INodeProperties = {
	...fileNameOption,
	description: 'A name for the file, without extension. If not added, it is made of the prompt and the task ID.',
};

export const outputFieldOption: TextField = {
	displayName: 'Put Output File in Field',
	name: 'outputField',
	type: 'string',
	default: 'data',
	maxLength: MAX_OUTPUT_FIELD_LENGTH,
	placeholder: 'e.g. data',
	hint: 'The name of the output binary field to put the file in; further files get _1, _2 and so on',
	displayOptions: hiddenWithoutFile,
};

export const pollIntervalOption: NumberField = {
	displayName: 'Polling Interval (Seconds)',
	name: 'pollIntervalSeconds',
	type: 'number',
	min: 1,
	max: 86_400,
	default: 5,
	hint: '1 to 86400',
	noDataExpression: true,
	description:
		'How often to check. Without this option, the node plans each check, which is faster and needs fewer requests.',
};

export const reportCreditsOption: INodeProperties = {
	displayName: 'Report Credits',
	name: 'reportCredits',
	type: 'boolean',
	default: true,
	noDataExpression: true,
	description: 'Whether to show in a hint what the account has used during this run',
};

export const purchaseKeyOption: INodeProperties = {
	displayName: 'Purchase Key',
	name: 'purchaseKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.order_id }}',
	description:
		'Items with the same key are bought only once in 30 days, in this project with this credential. Later ones get the same result. Needs n8n 2.41 or later.',
};

export const reuseOption: INodeProperties = {
	displayName: 'Reuse While Building',
	name: 'reuseWhileBuilding',
	type: 'boolean',
	default: true,
	noDataExpression: true,
	description:
		'Whether a manual execution returns the task that this node bought for the same request in the last 24 hours, instead of buying again. Needs n8n 2.41 or later.',
	displayOptions: hiddenInTools,
};

export const resultPathOption: TextField = {
	displayName: 'Result Path',
	name: 'resultPath',
	type: 'string',
	default: '',
	maxLength: MAX_RESULT_PATH_LENGTH,
	placeholder: 'e.g. content.video_url',
	description:
		"Where the result URLs are in the service's record, if the node does not find them: names and indexes, separated by dots",
};

export const splitFilesOption: INodeProperties = {
	displayName: 'Split Files Into Items',
	name: 'splitFiles',
	type: 'boolean',
	default: true,
	description: 'Whether to return one item for each file or URL, instead of one for each task',
	displayOptions: hiddenInTools,
};

export const submitAgainOption: TextField = {
	displayName: 'Submit Again for Run',
	name: 'submitAgainForRun',
	type: 'string',
	default: '',
	maxLength: MAX_RUN_LENGTH,
	placeholder: 'e.g. 1234.0',
	description:
		'The run that an error names. A retry then buys again what that run left unclear. Look in your account first: you might pay twice.',
};

/** An expression that gives nothing names no run: that buys nothing. */
export function readSubmitAgain(options: FieldReader): SubmitAgain {
	const submitAgainFor = options.text(submitAgainOption);
	return submitAgainFor === '' ? {} : { submitAgainFor };
}

/** Nothing is waited for longer than that, in memory or in n8n's database: 30 days. */
export const LONGEST_TIMEOUT_MINUTES = 43_200;

/** For a task that exists. */
const timeoutOption = (minutes: number): NumberField => ({
	displayName: 'Timeout (Minutes)',
	name: 'timeoutMinutes',
	type: 'number',
	max: LONGEST_TIMEOUT_MINUTES,
	default: minutes,
	hint: '0 to 43200, which is 30 days',
	description: 'How long to wait for the task. Across Restarts: 24 hours, if not added.',
});

/** The same for an operation that waits if the switch is on. */
export const timeoutOf = (waitField: INodeProperties, minutes: number): NumberField => ({
	...timeoutOption(minutes),
	description: 'How long to wait. After that, the item ends with an error that has the ID.',
	displayOptions: { show: { [`/${waitField.name}`]: [true] } },
});

export const imageTimeoutOption = timeoutOption(10);
export const videoTimeoutOption = timeoutOption(30);

/** For a task that has to be submitted first. */
export const forNewTask = (option: NumberField): NumberField => ({
	...option,
	description: 'How long to wait for each task. Across Restarts and In Another Workflow: 24 hours, if not added.',
});

export function optionsCollection(options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: options.map(toProperty).sort((a, b) => a.displayName.localeCompare(b.displayName)),
	};
}
