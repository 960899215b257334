import type { INodeProperties } from 'n8n-workflow';
import type { ChoiceField } from '../form/fieldReader';
import { docsLink, simplifyField, unitField } from '../form/fields';
import { additionalFieldsOption, optionsCollection, submitAgainOption } from '../form/options';
import { allowedModelsField, allowedModelsOfOtherShape } from './allowedModels';

export const nameField: INodeProperties = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. Nightly pipeline',
	description: 'A name for the API key. At most 50 characters.',
};

export const quotaField: ChoiceField<'limited' | 'unlimited'> = {
	displayName: 'Quota',
	name: 'quota',
	type: 'options',
	options: [
		{ name: 'Limited', value: 'limited', description: 'The API key can spend a fixed amount' },
		{ name: 'Unlimited', value: 'unlimited', description: 'The API key has no limit of its own' },
	],
	default: 'limited',
	description: 'How much the API key can spend',
};

export const amountField: INodeProperties = {
	displayName: 'Amount',
	name: 'amount',
	// Text, as the limits below, so that it can be empty: with 0 as default, one click creates a key that cannot spend anything.
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. 5',
	description: 'How much the API key can spend',
	displayOptions: { show: { quota: ['limited'] } },
};

/** Always there: with an unlimited quota, it is the unit of the daily and monthly limits. */
const amountUnitField: typeof unitField = { ...unitField, description: 'The unit of the amount and of the limits' };

export const expiresAtField: INodeProperties = {
	displayName: 'Expires At',
	name: 'expiresAt',
	type: 'dateTime',
	default: '',
	description:
		'Date and time in the time zone of the workflow. An expression can also return Unix seconds. Leave empty for an API key that never expires.',
};

const keyNotice: INodeProperties = {
	displayName: `The service shows the key only once: store api_key before the workflow finishes. ${docsLink('reference/api-key-creator.md')}`,
	name: 'keyNotice',
	type: 'notice',
	default: '',
};

const createAgainOption: typeof submitAgainOption = {
	...submitAgainOption,
	description:
		'The run that an error names. A retry then creates the API key again, although that run may have created it. For any other run, it changes nothing.',
};

export const dailyLimitOption: INodeProperties = {
	displayName: 'Daily Limit',
	name: 'dailyLimit',
	type: 'string',
	default: '',
	placeholder: 'e.g. 5',
	description:
		'The most that the API key can spend per day, in the unit above. Without this option, the service uses 0; what 0 means is not documented.',
};

export const monthlyLimitOption: INodeProperties = {
	displayName: 'Monthly Limit',
	name: 'monthlyLimit',
	type: 'string',
	default: '',
	placeholder: 'e.g. 5',
	description:
		'The most that the API key can spend per month, in the unit above. Without this option, the service uses 0; what 0 means is not documented.',
};

export const properties: INodeProperties[] = [
	keyNotice,
	nameField,
	quotaField,
	amountField,
	amountUnitField,
	expiresAtField,
	allowedModelsField,
	allowedModelsOfOtherShape,
	optionsCollection([additionalFieldsOption, createAgainOption, dailyLimitOption, monthlyLimitOption, simplifyField]),
];
