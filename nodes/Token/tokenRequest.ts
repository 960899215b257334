import { toCredits } from '../../core/account/balance';
import { gatewayError, invalidInput, type GatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { TOKEN_NAME_LENGTH, UNITS_PER_USD } from '../../core/limits';
import { isInexact } from '../../core/longIntegers';
import { throwAll, toNumber } from '../../core/models/body';
import { show } from '../../core/text';
import { readUnixSeconds } from '../form/dates';
import type { FieldReader } from '../form/fieldReader';
import { unitField } from '../form/fields';
import { isOfForm, toRequest, type FormRequest } from '../run/buy';
import type { Item } from '../run/inputItem';
import { allowedModelsField, readAllowedModels } from './allowedModels';
import { amountField, dailyLimitOption, expiresAtField, monthlyLimitOption, nameField, quotaField } from './fields';

/**
 * The request (contract 4.3), checked as it is sent. An expiry of -1 is never. Throws a `badInput` error that names the field by
 * its label.
 */
export function readTokenRequest(item: Item): FormRequest {
	const expiry = item.given(expiresAtField);
	const expiresAt = expiry === undefined ? undefined : toSeconds(item, expiry);
	const models = [...new Set(readAllowedModels(item))].join(',');
	const name = item.requiredText(nameField);
	const isUnlimited = item.givenChoice(quotaField) === 'unlimited';
	const amount = isUnlimited ? undefined : item.requiredText(amountField);
	const inCredits = creditsIn(item);
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

const toSeconds = (item: Item, expiry: unknown) => readUnixSeconds(expiry, expiresAtField, item.context.getTimezone());

/** Amounts in the unit that was chosen. What is no number, or below 0, stays as it was entered, to be refused. */
function creditsIn(item: FieldReader): (amount: unknown) => unknown {
	const unit = item.givenChoice(unitField);
	return (entered) => {
		const amount = toNumber(entered);
		return typeof amount === 'number' && amount > 0 ? toCredits(amount, unit) : amount;
	};
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

const isTime: Check = ({ label, value: shown }, value) =>
	Number.isSafeInteger(value)
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
