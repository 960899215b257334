import type { INodeProperties } from 'n8n-workflow';
import type { ChoiceField } from '../form/fieldReader';
import { additionalFieldsOption, includeInputOption, optionsCollection } from '../form/options';
import { imageModels, videoModels } from '../models';

export const nameField: INodeProperties = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. Nightly pipeline',
	description: 'By which you will know the token. At most 50 characters.',
};

export const quotaField: ChoiceField<'limited' | 'unlimited'> = {
	displayName: 'Quota',
	name: 'quota',
	type: 'options',
	options: [
		{ name: 'Limited', value: 'limited', description: 'The token may spend a fixed amount' },
		{ name: 'Unlimited', value: 'unlimited', description: 'The token may spend all that the account has' },
	],
	default: 'limited',
	description: 'How much the token may spend',
};

export const amountField: INodeProperties = {
	displayName: 'Amount',
	name: 'amount',
	type: 'number',
	required: true,
	typeOptions: { minValue: 0 },
	default: 0,
	description: 'What the token may spend. 0 is the default of the service.',
	displayOptions: { show: { quota: ['limited'] } },
};

/** How the amount of a limited token is given. */
export type QuotaUnit = 'credits' | 'usd' | 'internalUnits';

export const unitField: ChoiceField<QuotaUnit> = {
	displayName: 'Unit',
	name: 'unit',
	type: 'options',
	options: [
		{ name: 'Credits', value: 'credits', description: '200 credits are 1 USD' },
		{ name: 'Internal Units', value: 'internalUnits', description: '500000 units are 1 USD' },
		{ name: 'USD', value: 'usd', description: '1 USD is 200 credits' },
	],
	default: 'credits',
	description: 'What the amount is counted in',
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
	description: 'Until when the token can be used',
};

export const expiresAtField: INodeProperties = {
	displayName: 'Expires At',
	name: 'expiresAt',
	type: 'dateTime',
	required: true,
	default: '',
	description: 'In the time zone of the workflow. An expression may also give Unix seconds.',
	displayOptions: { show: { expiry: ['date'] } },
};

export const allowedModelsField: INodeProperties = {
	displayName: 'Allowed Models',
	name: 'allowedModels',
	type: 'multiOptions',
	options: [...imageModels, ...videoModels].map(({ id }) => ({ name: id, value: id })).sort((a, b) => a.name.localeCompare(b.name)),
	default: [],
	description: 'The only models that the token may use. Without any it may use all.',
};

export const otherModelsField: INodeProperties = {
	displayName: 'Other Allowed Models',
	name: 'otherModels',
	type: 'string',
	typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Model' },
	default: [],
	placeholder: 'e.g. alpha-video-2-0',
	description: 'Models that are not in the list above, one in each row',
};

const keyNotice: INodeProperties = {
	displayName: 'The key of the new token comes out as api_key, ready for a credential; key is the same without sk- at the start. The service shows it only this once: store it before the workflow ends. It stays in the saved execution data, like all output.',
	name: 'keyNotice',
	type: 'notice',
	default: '',
};

export const createAgainOption: INodeProperties = {
	displayName: 'Submit Again',
	name: 'submitAgain',
	type: 'boolean',
	default: false,
	description: 'Whether a retry may create the token again when it was created in an earlier try, or may have been',
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
	typeOptions: { minValue: 0 },
	default: 0,
	description: 'The most that the token may spend in a day. Without this option the service takes its default, which is 0.',
};

export const monthlyLimitOption: INodeProperties = {
	displayName: 'Monthly Limit (Credits)',
	name: 'monthlyCredits',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description: 'The most that the token may spend in a month. Without this option the service takes its default, which is 0.',
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
	]),
];
