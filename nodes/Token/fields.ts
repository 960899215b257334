import type { INodeProperties } from 'n8n-workflow';
import type { ChoiceField } from '../form/fieldReader';
import { simplifyField } from '../form/fields';
import { additionalFieldsOption, includeInputOption, optionsCollection } from '../form/options';
import { imageModels, videoModels } from '../models';

export const nameField: INodeProperties = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. Nightly pipeline',
	description: 'A name for the token. At most 50 characters.',
};

export const quotaField: ChoiceField<'limited' | 'unlimited'> = {
	displayName: 'Quota',
	name: 'quota',
	type: 'options',
	options: [
		{ name: 'Limited', value: 'limited', description: 'The token can spend a fixed amount' },
		{ name: 'Unlimited', value: 'unlimited', description: 'The token has no limit of its own' },
	],
	default: 'limited',
	description: 'How much the token can spend',
};

export const amountField: INodeProperties = {
	displayName: 'Amount',
	name: 'amount',
	// Text, so that it can be empty: with 0 as default, one click creates a key that cannot spend anything.
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. 5',
	description: 'How much the token can spend',
	displayOptions: { show: { quota: ['limited'] } },
};

/** The unit of the amount of a limited token. */
export type QuotaUnit = 'credits' | 'usd' | 'internalUnits';

export const unitField: ChoiceField<QuotaUnit> = {
	displayName: 'Unit',
	name: 'unit',
	type: 'options',
	options: [
		{ name: 'USD', value: 'usd', description: '1 USD is 200 credits' },
		{ name: 'Credits', value: 'credits', description: '200 credits are 1 USD' },
		{ name: 'Internal Units', value: 'internalUnits', description: '500000 units are 1 USD' },
	],
	default: 'usd',
	description: 'The unit of the amount',
	displayOptions: { show: { quota: ['limited'] } },
};

export const expiryField: ChoiceField<'date' | 'never'> = {
	displayName: 'Expiry',
	name: 'expiry',
	type: 'options',
	options: [
		{ name: 'At a Date', value: 'date' },
		{ name: 'Never', value: 'never' },
	],
	default: 'never',
	description: 'When the token expires',
};

export const expiresAtField: INodeProperties = {
	displayName: 'Expires At',
	name: 'expiresAt',
	type: 'dateTime',
	required: true,
	default: '',
	description: 'Date and time in the time zone of the workflow. An expression can also return Unix seconds.',
	displayOptions: { show: { expiry: ['date'] } },
};

export const allowedModelsField: INodeProperties = {
	displayName: 'Allowed Models',
	name: 'allowedModels',
	type: 'multiOptions',
	options: [...imageModels, ...videoModels]
		.map(({ id }) => ({ name: id, value: id }))
		.sort((a, b) => a.name.localeCompare(b.name)),
	default: [],
	description: 'The models that the token can use. Leave empty to allow all models.',
};

export const otherModelsField: INodeProperties = {
	displayName: 'Other Allowed Models',
	name: 'otherModels',
	type: 'string',
	typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Model' },
	default: [],
	placeholder: 'e.g. alpha-video-2-0',
	description: 'Models that are not in the list above, one per row',
};

const keyNotice: INodeProperties = {
	displayName:
		'The output contains the key of the new token as api_key, ready for a credential. The service shows the key only this once: store it before the workflow finishes. Like all output, it is also in the saved execution data.',
	name: 'keyNotice',
	type: 'notice',
	default: '',
};

export const createAgainOption: INodeProperties = {
	displayName: 'Submit Again',
	name: 'submitAgain',
	type: 'boolean',
	default: false,
	description: 'Whether a retry can create the token again if an earlier try created it, or if that is not known',
};

export const groupOption: INodeProperties = {
	displayName: 'Channel Group',
	name: 'group',
	type: 'string',
	default: '',
	description: 'The channel group that the token uses',
};

export const dailyLimitOption: INodeProperties = {
	displayName: 'Daily Limit (Credits)',
	name: 'dailyCredits',
	type: 'number',
	default: 0,
	description:
		'The most that the token can spend per day. Without this option, the service uses its default, which is 0.',
};

export const monthlyLimitOption: INodeProperties = {
	displayName: 'Monthly Limit (Credits)',
	name: 'monthlyCredits',
	type: 'number',
	default: 0,
	description:
		'The most that the token can spend per month. Without this option, the service uses its default, which is 0.',
};

export const properties: INodeProperties[] = [
	keyNotice,
	nameField,
	quotaField,
	amountField,
	unitField,
	expiryField,
	expiresAtField,
	allowedModelsField,
	otherModelsField,
	optionsCollection([
		additionalFieldsOption,
		includeInputOption,
		createAgainOption,
		groupOption,
		dailyLimitOption,
		monthlyLimitOption,
		simplifyField,
	]),
];
