import type { INodeProperties } from 'n8n-workflow';
import { DEFAULT_REQUESTS_PER_SECOND } from '../../core/http/requestLimiter';
import { MOST_REQUESTS_PER_SECOND } from '../../core/http/requestWindow';
import { MOST_CONCURRENT_TASKS } from '../../core/orders/batch';
import { MAX_OUTPUT_FIELD_LENGTH, MAX_RESULT_PATH_LENGTH } from '../../core/orders/order';
import { MAX_RUN_LENGTH, type SubmitAgain } from '../../core/orders/runs';
import { toProperty } from '../../core/models/toProperties';
import type { ChoiceField, FieldReader, NumberField, TextField } from './fieldReader';
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
	description:
		'How many tasks this node waits for at the same time. 1 runs them one by one. With Return Immediately, it only limits the requests. The value of the first item applies.',
};

/** The same for what submits no tasks. */
export const concurrentItemsOption: NumberField = {
	...concurrentTasksOption,
	description:
		'How many items to process at the same time. 1 processes them one by one. The value of the first item applies.',
};

export const downloadLinkOption: INodeProperties = {
	displayName: 'Download Link',
	name: 'downloadLink',
	type: 'boolean',
	default: true,
	description:
		"Whether to return links to n8n's own copies of the files as download_url and download_urls. They open without signing in, for up to 30 days, as long as n8n keeps the execution.",
};

export const fileNameOption: INodeProperties = {
	displayName: 'File Name',
	name: 'fileName',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.prompt }}',
	description:
		'A name for the downloaded file, without extension. Further files get _1, _2 and so on. Leave empty for the name that the service gives, or else the task ID.',
};

export const includeInputOption: INodeProperties = {
	displayName: 'Include Input Fields',
	name: 'includeInputFields',
	type: 'boolean',
	default: true,
	description: 'Whether to pass the fields of the input item through to the output',
	displayOptions: hiddenInTools,
};

export const onTimeoutOption: ChoiceField<'error' | 'return'> = {
	displayName: 'On Timeout',
	name: 'onTimeout',
	type: 'options',
	options: [
		{
			name: 'Return the Unfinished Task',
			value: 'return',
			description: 'Return it as it is. You can wait for it again later.',
		},
		{
			name: 'Stop With an Error',
			value: 'error',
			description: 'The error has its ID. You can wait for it again later.',
		},
	],
	default: 'error',
	description: 'What to do when the timeout is reached',
};

export const outputFieldOption: TextField = {
	displayName: 'Put Output File in Field',
	name: 'outputField',
	type: 'string',
	default: 'data',
	maxLength: MAX_OUTPUT_FIELD_LENGTH,
	placeholder: 'e.g. data',
	hint: 'The name of the output binary field to put the file in; further files get _1, _2 and so on',
	displayOptions: hiddenInTools,
};

export const pollIntervalOption: NumberField = {
	displayName: 'Polling Interval (Seconds)',
	name: 'pollIntervalSeconds',
	type: 'number',
	min: 1,
	max: 86_400,
	default: 5,
	hint: '1 to 86400',
	description:
		'How often to check. Without this option, the node plans each check, which is faster and needs fewer requests.',
};

export const reportCreditsOption: INodeProperties = {
	displayName: 'Report Credits',
	name: 'reportCredits',
	type: 'boolean',
	default: true,
	description:
		'Whether to return the credits that the account has used during this run, as run_credits in the first item. The value of the first item applies.',
};

export const purchaseKeyOption: INodeProperties = {
	displayName: 'Purchase Key',
	name: 'purchaseKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.order_id }}',
	description:
		'Items with the same key are bought once in 30 days, in all executions of this project. Later ones get the same task and its result. Needs Purchase Log in the credential.',
};

export const requestsPerSecondOption: NumberField = {
	displayName: 'Requests per Second',
	name: 'requestsPerSecond',
	type: 'number',
	min: 1,
	max: MOST_REQUESTS_PER_SECOND,
	default: DEFAULT_REQUESTS_PER_SECOND,
	hint: '1 to 1000',
	description:
		'Maximum requests per second of this run. The credential has the limit for all runs together. The value of the first item applies.',
};

export const resultPathOption: TextField = {
	displayName: 'Result Path',
	name: 'resultPath',
	type: 'string',
	default: '',
	maxLength: MAX_RESULT_PATH_LENGTH,
	placeholder: 'e.g. content.video_url',
	description:
		"The path of the result URLs in the service's record, if the node does not find them. Names and indexes, separated by dots. A name also applies to each entry of a list.",
};

export const streamProgressOption: INodeProperties = {
	displayName: 'Stream Progress',
	name: 'streamProgress',
	type: 'boolean',
	default: true,
	description:
		'Whether to send lines such as "Video 40 %, about 2 min left" while waiting, if the chat or webhook that starts the workflow streams its response. The value of the first item applies.',
};

export const submitAgainOption: TextField = {
	displayName: 'Submit Again for Run',
	name: 'submitAgainForRun',
	type: 'string',
	default: '',
	maxLength: MAX_RUN_LENGTH,
	placeholder: 'e.g. 1234.0',
	description:
		'The run that an error names. A retry then submits its request again, although the service may have accepted it: you may pay twice. For any other run, it changes nothing.',
};

/** An expression that gives nothing names no run: that buys nothing. */
export function readSubmitAgain(options: FieldReader): SubmitAgain {
	const submitAgainFor = options.text(submitAgainOption);
	return submitAgainFor === '' ? {} : { submitAgainFor };
}

export const surviveRestartsOption: INodeProperties = {
	displayName: 'Survive Restarts',
	name: 'surviveRestarts',
	type: 'boolean',
	default: true,
	description:
		'Whether the wait continues after n8n restarts. If another workflow calls this one, it must call it once with all items. The value of the first item applies.',
	builderHint: {
		propertyHint:
			'Turn it on in production, instead of a loop with a Wait node. It has no effect where a webhook, a chat or a form of the workflow waits for the answer. Leave it off in a workflow that another workflow or an agent calls for an answer.',
	},
	displayOptions: hiddenInTools,
};

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
	description: 'How long to wait for the task. If not added, Survive Restarts waits for 24 hours.',
});

export const imageTimeoutOption = timeoutOption(10);
export const videoTimeoutOption = timeoutOption(30);

/** For a task that has to be submitted first. */
export const forNewTask = (option: NumberField): NumberField => ({
	...option,
	description:
		'How long to wait for an accepted task; to submit it to a busy account can take as long again. If not added, Survive Restarts and Start a Workflow wait for 24 hours.',
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
