import type { INodeProperties } from 'n8n-workflow';
import { CREDITS_PER_USD } from '../../core/account/balance';
import { TOKEN_NAME_LENGTH } from '../../core/limits';
import { toBodySpec, type FieldSpec } from '../../core/models/spec';
import { docsLink } from '../form/docsLink';
import { simplifyField } from '../form/fields';
import { additionalFieldsOption, includeInputOption, optionsCollection } from '../form/options';
import { imageModels, videoModels } from '../models';
import { otherField } from '../models/commonFields';

const nameField: FieldSpec = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. Nightly pipeline',
	description: 'A name for the API key. At most 50 characters.',
	bodyPath: 'name',
	shape: 'name',
	maxLength: TOKEN_NAME_LENGTH,
	reasons: { maxLength: 'tokenNameTooLong' },
};

const quotaField: FieldSpec = {
	displayName: 'Quota',
	name: 'quota',
	type: 'options',
	options: [
		{ name: 'Limited', value: 'limited', description: 'The API key can spend a fixed amount' },
		{ name: 'Unlimited', value: 'unlimited', description: 'The API key has no limit of its own' },
	],
	default: 'limited',
	description: 'How much the API key can spend',
	bodyPath: 'unlimited_quota',
	bodyValues: { unlimited: true, limited: false },
};

const amountField: FieldSpec = {
	displayName: 'Amount',
	name: 'amount',
	// Text, so that it can be empty: with 0 as default, one click creates a key that cannot spend anything.
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. 5',
	description: 'How much the API key can spend',
	displayOptions: { show: { quota: ['limited'] } },
	bodyPath: 'remain_credits',
	// Only one of them is sent: credits of 0 would override the internal units.
	units: { field: 'unit', of: { usd: { scale: CREDITS_PER_USD }, internalUnits: { bodyPath: 'remain_quota' } } },
	shape: 'number',
	min: 0,
	// The contract sets no bound: a service may take -1 for no limit.
	extraValues: 'values',
	reasons: { type: 'amountNotANumber' },
};

const unitField: INodeProperties = {
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

const expiryField: INodeProperties = {
	displayName: 'Expiry',
	name: 'expiry',
	type: 'options',
	options: [
		{ name: 'At a Date', value: 'date' },
		{ name: 'Never', value: 'never' },
	],
	default: 'never',
	description: 'When the API key expires',
};

const expiresAtField: FieldSpec = {
	displayName: 'Expires At',
	name: 'expiresAt',
	type: 'dateTime',
	required: true,
	default: '',
	description: 'Date and time in the time zone of the workflow. An expression can also return Unix seconds.',
	displayOptions: { show: { expiry: ['date'] } },
	bodyPath: 'expired_time',
	shape: 'unixSeconds',
	integer: true,
	reasons: { type: 'notUnixSeconds' },
};

/** Both lists are one field of the request. */
const modelLimits: Pick<FieldSpec, 'bodyPath' | 'shape' | 'sentAlong'> = {
	bodyPath: 'model_limits',
	shape: 'names',
	sentAlong: { model_limits_enabled: true },
};

const allowedModelsField: FieldSpec = {
	displayName: 'Allowed Models',
	name: 'allowedModels',
	type: 'multiOptions',
	options: [...imageModels, ...videoModels]
		.map(({ id }) => ({ name: id, value: id }))
		.sort((a, b) => a.name.localeCompare(b.name)),
	default: [],
	description: 'The models that the API key can use. Leave empty to allow all models.',
	...modelLimits,
};

const otherModelsField: FieldSpec = {
	displayName: 'Other Allowed Models',
	name: 'otherModels',
	type: 'string',
	typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Model' },
	default: [],
	placeholder: 'e.g. my-video-model',
	description: 'Models that are not in the list above, one per row',
	...modelLimits,
};

const keyNotice: INodeProperties = {
	displayName: `The service shows the key only once: store api_key before the workflow finishes. ${docsLink('nodes/token.md')}`,
	name: 'keyNotice',
	type: 'notice',
	default: '',
};

export const createAgainOption: INodeProperties = {
	displayName: 'Submit Again',
	name: 'submitAgain',
	type: 'boolean',
	default: true,
	description: 'Whether a retry creates the API key again if an earlier try has created it, or may have',
};

export const groupOption: FieldSpec = {
	displayName: 'Channel Group',
	name: 'group',
	type: 'string',
	default: '',
	description: 'The channel group that the API key uses',
	bodyPath: 'group',
	shape: 'name',
};

const dailyLimitOption: FieldSpec = {
	displayName: 'Daily Limit (Credits)',
	name: 'dailyCredits',
	type: 'number',
	default: 0,
	description: 'Maximum credits per day. Without this option, the service uses 0; what 0 means is not documented.',
	bodyPath: 'daily_credits',
	min: 0,
	extraValues: 'values',
	reasons: { type: 'amountNotANumber' },
};

const monthlyLimitOption: FieldSpec = {
	displayName: 'Monthly Limit (Credits)',
	name: 'monthlyCredits',
	type: 'number',
	default: 0,
	description: 'Maximum credits per month. Without this option, the service uses 0; what 0 means is not documented.',
	bodyPath: 'monthly_credits',
	min: 0,
	extraValues: 'values',
	reasons: { type: 'amountNotANumber' },
};

/** In internal units, which are whole. */
const remainQuota: FieldSpec = {
	...amountField,
	bodyPath: 'remain_quota',
	integer: true,
	reasons: { type: 'amountNotANumber', integer: 'amountNotWhole' },
};

const modelLimitsEnabled: FieldSpec = otherField('model_limits_enabled', { type: 'boolean' });

const form: INodeProperties[] = [
	keyNotice,
	nameField,
	quotaField,
	amountField,
	unitField,
	expiryField,
	expiresAtField,
	allowedModelsField,
	otherModelsField,
];

const options: INodeProperties[] = [
	additionalFieldsOption,
	includeInputOption,
	createAgainOption,
	groupOption,
	dailyLimitOption,
	monthlyLimitOption,
	simplifyField,
];

export const properties: INodeProperties[] = [...form, optionsCollection(options)];

/** The request (contract 4.3). An expiry of -1 is never. */
export const tokenBody = toBodySpec(form, options, {
	constants: { expired_time: -1 },
	otherFields: [remainQuota, modelLimitsEnabled],
});
