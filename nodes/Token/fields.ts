import type { INodeProperties } from 'n8n-workflow';
import { CREDITS_PER_USD } from '../../core/account/balance';
import { TOKEN_NAME_LENGTH } from '../../core/limits';
import { toBodySpec, type FieldSpec } from '../../core/models/spec';
import { docsLink } from '../form/docsLink';
import { simplifyField } from '../form/fields';
import { additionalFieldsOption, optionsCollection, submitAgainOption } from '../form/options';
import { unitField } from '../form/unit';
import { otherField } from '../models/commonFields';
import { allowedModelsField, allowedModelsOfOtherShape } from './allowedModels';

const inCredits: FieldSpec['units'] = { field: unitField.name, of: { usd: { scale: CREDITS_PER_USD } } };

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
	units: inCredits,
	shape: 'number',
	min: 0,
	// They may give internal units instead (`remain_quota`), which these credits override.
	alwaysSent: false,
	// The contract sets no bound: a service may take -1 for no limit.
	extraValues: 'values',
	reasons: { type: 'amountNotANumber' },
};

/** Always there: with an unlimited quota, it is the unit of the daily and monthly limits. */
const amountUnitField: typeof unitField = { ...unitField, description: 'The unit of the amount and of the limits' };

export const expiresAtField: FieldSpec = {
	displayName: 'Expires At',
	name: 'expiresAt',
	type: 'dateTime',
	default: '',
	description:
		'Date and time in the time zone of the workflow. An expression can also return Unix seconds. Leave empty for an API key that never expires.',
	bodyPath: 'expired_time',
	shape: 'unixSeconds',
	integer: true,
	reasons: { type: 'notUnixSeconds' },
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

const limit: Pick<FieldSpec, 'units' | 'min' | 'extraValues' | 'reasons'> = {
	units: inCredits,
	min: 0,
	extraValues: 'values',
	reasons: { type: 'amountNotANumber' },
};

const dailyLimitOption: FieldSpec = {
	displayName: 'Daily Limit',
	name: 'dailyLimit',
	type: 'number',
	default: 0,
	description:
		'The most that the API key can spend per day, in the unit above. Without this option, the service uses 0; what 0 means is not documented.',
	bodyPath: 'daily_credits',
	...limit,
};

const monthlyLimitOption: FieldSpec = {
	displayName: 'Monthly Limit',
	name: 'monthlyLimit',
	type: 'number',
	default: 0,
	description:
		'The most that the API key can spend per month, in the unit above. Without this option, the service uses 0; what 0 means is not documented.',
	bodyPath: 'monthly_credits',
	...limit,
};

/** In internal units, which are whole. */
const remainQuota: FieldSpec = {
	...otherField('remain_quota', { type: 'number' }),
	integer: true,
	extraValues: 'values',
	reasons: { type: 'amountNotANumber', integer: 'amountNotWhole' },
};

const channelGroup: FieldSpec = otherField('group', { type: 'string' });

const modelLimitsEnabled: FieldSpec = otherField('model_limits_enabled', { type: 'boolean' });

const form: INodeProperties[] = [
	keyNotice,
	nameField,
	quotaField,
	amountField,
	amountUnitField,
	expiresAtField,
	allowedModelsField,
	allowedModelsOfOtherShape,
];

const options: INodeProperties[] = [
	additionalFieldsOption,
	createAgainOption,
	dailyLimitOption,
	monthlyLimitOption,
	simplifyField,
];

export const properties: INodeProperties[] = [...form, optionsCollection(options)];

/** The request (contract 4.3). An expiry of -1 is never. */
export const tokenBody = toBodySpec(form, options, {
	constants: { expired_time: -1 },
	otherFields: [remainQuota, modelLimitsEnabled, channelGroup],
});
