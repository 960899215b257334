import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { toCredits } from '../../../core/account/balance';
import { gatewayError, invalidInput, type GatewayError } from '../../../core/errors';
import type { JsonObject } from '../../../core/json';
import { TOKEN_NAME_LENGTH, UNITS_PER_USD } from '../../../core/limits';
import { isInexact } from '../../../core/longIntegers';
import { throwAll, toNumber } from '../../../core/models/body';
import { createdTokens } from '../../../core/processMemory';
import type { TokenRecord } from '../../../core/records/accountRecords';
import { looseTime } from '../../../core/records/loose';
import { show } from '../../../core/text';
import { LATEST_SECONDS, readUnixSeconds } from '../../form/dates';
import type { ChoiceField } from '../../form/fieldReader';
import { docsLink, simplifyField, unitField } from '../../form/fields';
import { additionalFieldsOption, optionsCollection, submitAgainOption } from '../../form/options';
import { buying, isOfForm, toBuy, toRequest, type FormRequest } from '../../run/buy';
import { HINTS } from '../../run/hints';
import type { Item } from '../../run/inputItem';
import type { Operation } from '../../run/operation';
import { recordField, toIsoTime, toValue, withoutEmpty } from '../../run/toItem';
import { allowedModelsField, allowedModelsOfOtherShape, readAllowedModels } from '../allowedModels';

const nameField: INodeProperties = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. Nightly pipeline',
	description: 'A name for the API key. At most 50 characters.',
};

const quotaField: ChoiceField<'limited' | 'unlimited'> = {
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

const amountField: INodeProperties = {
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

const expiresAtField: INodeProperties = {
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

const monthlyLimitOption: INodeProperties = {
	displayName: 'Monthly Limit',
	name: 'monthlyLimit',
	type: 'string',
	default: '',
	placeholder: 'e.g. 5',
	description:
		'The most that the API key can spend per month, in the unit above. Without this option, the service uses 0; what 0 means is not documented.',
};

/** Create: a token with its own quota, expiry and models (contract 4.3). */
export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Create an API key and get it',
		action: 'Create API key',
	},
	properties: [
		keyNotice,
		nameField,
		quotaField,
		amountField,
		amountUnitField,
		expiresAtField,
		allowedModelsField,
		allowedModelsOfOtherShape,
		optionsCollection([additionalFieldsOption, createAgainOption, dailyLimitOption, monthlyLimitOption, simplifyField]),
	],
	describes: 'token',
	prepare: (item, run) => {
		const request = readTokenRequest(item);
		const { body } = request;
		const record = recordField(item.options);
		const { store, runIndex } = run.ledger.scope;
		const [tokens, key] = [tokensOf(store), `${runIndex}.${item.index}`];
		const creation = {
			status: 'created',
			send: async (...sent: Parameters<typeof run.client.createToken>) => {
				const record = await run.client.createToken(...sent);
				tokens.set(key, record);
				return record;
			},
		};
		return buying(run, toBuy(item, 'token', request), creation, ({ task }) => {
			const token = tokens.get(key);
			if (token === undefined) throw gatewayError('tokenKeyGone', { name: String(body.name), id: task.taskId });
			run.hints.add(HINTS.apiKeyOnce());
			if (hasNothingToSpend(body)) run.hints.add(HINTS.nothingToSpend());
			return { json: { ...toTokenOutput(token), ...record(token.answer) } };
		});
	},
};

/** The request (contract 4.3), checked as it is sent. Throws a `badInput` error that names the field by its label. */
function readTokenRequest(item: Item): FormRequest {
	const expiry = item.given(expiresAtField);
	const timeZone = item.context.getTimezone();
	const expiresAt = expiry === undefined ? undefined : readUnixSeconds(expiry, expiresAtField, timeZone);
	const models = [...new Set(readAllowedModels(item))].join(',');
	const name = item.requiredText(nameField);
	const isUnlimited = item.givenChoice(quotaField) === 'unlimited';
	const amount = isUnlimited ? undefined : item.requiredText(amountField);
	const unit = item.givenChoice(unitField);
	// What is no number, or below 0, stays as it was entered, to be refused.
	const inCredits = (entered: unknown) => {
		const number = toNumber(entered);
		return typeof number === 'number' && number > 0 ? toCredits(number, unit) : number;
	};
	// A limit that was added and is empty would be none.
	const [daily, monthly] = [dailyLimitOption, monthlyLimitOption].map((option) =>
		item.options.has(option) ? inCredits(item.options.requiredText(option)) : undefined,
	);
	const request = toRequest(
		item,
		{
			name: { value: name },
			unlimited_quota: { value: isUnlimited, default: quotaField.default === 'unlimited' },
			remain_credits: { value: inCredits(amount) },
			expired_time: { value: expiresAt },
			model_limits: { value: models, default: allowedModelsField.default },
			daily_credits: { value: daily },
			monthly_credits: { value: monthly },
		},
		{ expired_time: -1 },
	);
	// Without it, a list of models has no effect.
	if (request.body.model_limits) request.body.model_limits_enabled ??= true;
	checkRequest(request);
	return request;
}

type Check = (given: { label: string; value: string }, value: unknown, isOfForm: boolean) => GatewayError | undefined;

const isText: Check = (given, value) => (typeof value === 'string' ? undefined : gatewayError('notText', given));

const isSwitch: Check = (given, value) =>
	typeof value === 'boolean' ? undefined : gatewayError('notAChoice', { ...given, allowed: 'true or false' });

/** The contract sets no bound: a service may take -1 for no limit, so Additional Fields may give it. */
const isAmount: Check = ({ label, value: shown }, value, isEntered) =>
	typeof value === 'number' && !isInexact(value) && (!isEntered || value >= 0)
		? undefined
		: invalidInput(`${label} is ${shown}: it must be a number, 0 or more`, `Change ${label} to a number.`);

/** In internal units, which are whole. */
const isWhole: Check = (given, value) =>
	isAmount(given, value, false) ??
	(Number.isSafeInteger(value)
		? undefined
		: invalidInput(
				`${given.label} is ${given.value}: internal units are whole numbers`,
				`Enter a whole number: ${UNITS_PER_USD} units are 1 USD.`,
			));

/** In milliseconds, it would be a key that never expires. */
const isTime: Check = ({ label, value: shown }, value) =>
	Number.isSafeInteger(value) && Number(value) <= LATEST_SECONDS
		? undefined
		: invalidInput(
				`${label} is ${shown}, which is not a time in Unix seconds`,
				'Enter a whole number of seconds, e.g. 1893456000, or -1 for a key that never expires.',
			);

const isName: Check = (given, value) => {
	const { label } = given;
	if (typeof value !== 'string') return gatewayError('notText', given);
	if (value.trim() === '') return gatewayError('fieldEmpty', { label });
	const { length } = [...value];
	const max = TOKEN_NAME_LENGTH;
	return length > max ? gatewayError('textTooLong', { label, length, max }) : undefined;
};

const CHECKS: Record<string, [label: string, Check]> = {
	name: [nameField.displayName, isName],
	unlimited_quota: [quotaField.displayName, isSwitch],
	remain_credits: [amountField.displayName, isAmount],
	expired_time: [expiresAtField.displayName, isTime],
	model_limits: [allowedModelsField.displayName, isText],
	daily_credits: [dailyLimitOption.displayName, isAmount],
	monthly_credits: [monthlyLimitOption.displayName, isAmount],
	// Fields of the contract that the form does not have: Additional Fields give them.
	remain_quota: ['remain_quota', isWhole],
	model_limits_enabled: ['model_limits_enabled', isSwitch],
	group: ['group', isText],
};

function checkRequest(request: FormRequest): void {
	const { body }: { body: JsonObject } = request;
	const found = Object.entries(CHECKS).map(([name, [label, check]]) => {
		const value = body[name];
		if (value !== undefined) return check({ label, value: show(value) }, value, isOfForm(request, name));
		// Only a name is needed.
		return name === 'name' ? gatewayError('fieldEmpty', { label }) : undefined;
	});
	const { displayName: amount } = amountField;
	const hasAmount = body.remain_credits !== undefined && isOfForm(request, 'remain_credits');
	const twice = invalidInput(
		`remain_quota and ${amount} are both given: the service would use ${amount} only`,
		`In Additional Fields, remove "remain_quota", or add "remain_credits": null, so that ${amount} is not sent.`,
	);
	throwAll([...found, hasAmount && body.remain_quota !== undefined ? twice : undefined]);
}

/** Keys are shown once: a second try (Retry On Fail) hands out what the first got. In memory, as long as the ledger. */
function tokensOf(store: object): Map<string, TokenRecord> {
	const created = createdTokens.get(store) ?? new Map<string, TokenRecord>();
	createdTokens.set(store, created);
	return created;
}

/** True for a limited token that has nothing to spend: the service's own default (contract 4.3), but seldom meant. */
function hasNothingToSpend({
	unlimited_quota: unlimited,
	remain_quota: quota = 0,
	remain_credits: credits = quota,
}: JsonObject): boolean {
	return unlimited !== true && credits === 0;
}

/**
 * A new token (contract 2.2) as an output item: first the key as it is used, its name, limit and expiry, then what else
 * limits it and the ID by which the account lists it.
 */
function toTokenOutput({ apiKey, raw, answer }: TokenRecord): IDataObject {
	const shown: Record<string, unknown> = {
		api_key: apiKey,
		name: raw.name,
		remain_credits: raw.remain_credits,
		expires_at: toExpiry(looseTime(raw.expired_time)),
		unlimited_quota: raw.unlimited_quota,
		daily_credits: raw.daily_credits,
		monthly_credits: raw.monthly_credits,
		// Without it, the list of models has no effect.
		model_limits_enabled: raw.model_limits_enabled,
		model_limits: raw.model_limits,
		id: raw.id,
		message: answer.message === '' ? undefined : answer.message,
	};
	return withoutEmpty(Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, toValue(value)])));
}

/** Null: never, which the service writes as -1. */
const toExpiry = (seconds?: number) => (seconds === -1 ? null : toIsoTime(seconds));
