import { CREDITS_PER_USD } from '../../core/account/balance';
import { mergeDeep, type JsonObject } from '../../core/json';
import { show } from '../../core/text';
import { formError } from '../errors/formErrors';
import { allowedModelsField, amountField, dailyLimitOption, expiresAtField, monthlyLimitOption, nameField, type QuotaUnit } from './fields';

export interface TokenForm {
	name: string;
	/** Unix milliseconds; undefined: never expires. */
	expiresAtMs?: number;
	/** Undefined: unlimited. */
	quota?: { unit: QuotaUnit; amount: unknown };
	modelLimits: unknown[];
	dailyCredits?: unknown;
	monthlyCredits?: unknown;
	group: string;
}

const MAX_NAME_LENGTH = 50;

/** The body of the request (contract 4.3), checked. Throws a `badInput` error that names the field. */
export function toTokenBody(form: TokenForm, additionalFields: JsonObject, nowMs: number): JsonObject {
	const body: JsonObject = {
		name: form.name,
		expired_time: form.expiresAtMs === undefined ? -1 : Math.floor(form.expiresAtMs / 1000),
		unlimited_quota: form.quota === undefined,
		...(form.quota === undefined ? {} : toQuota(form.quota.unit, form.quota.amount)),
		...toLimit('daily_credits', dailyLimitOption.displayName, form.dailyCredits),
		...toLimit('monthly_credits', monthlyLimitOption.displayName, form.monthlyCredits),
		...toModelLimits(form.modelLimits),
		...(form.group === '' ? {} : { group: form.group }),
	};
	const merged = mergeDeep(body, additionalFields);
	checkName(merged.name);
	checkExpiry(merged.expired_time, nowMs);
	return merged;
}

/** Only what was chosen is sent: a `remain_credits` of 0 would override `remain_quota`. 1 USD = 200 credits. */
function toQuota(unit: QuotaUnit, given: unknown): JsonObject {
	const { displayName: label } = amountField;
	const amount = toAmount(label, given);
	if (amount <= 0) throw formError('amountZero', { label, value: show(given) });
	if (unit === 'internalUnits') {
		if (Number.isInteger(amount)) return { remain_quota: amount };
		throw formError('amountNotWhole', { label, value: show(given) });
	}
	// Without the crumbs of binary fractions: 0.07 USD are 14 credits, not 14.000000000000002.
	return { remain_credits: unit === 'usd' ? Number((amount * CREDITS_PER_USD).toFixed(6)) : amount };
}

function toLimit(wire: string, label: string, given: unknown): JsonObject {
	return given === undefined || given === '' ? {} : { [wire]: toAmount(label, given) };
}

function toAmount(label: string, given: unknown): number {
	const amount = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
	if (typeof amount === 'number' && Number.isFinite(amount) && amount >= 0) return amount;
	throw formError('noAmount', { label, value: show(given ?? '') });
}

function toModelLimits(given: unknown[]): JsonObject {
	const models = given.map((model) => (typeof model === 'string' ? model.trim() : model)).filter((model) => model !== '');
	const wrong = models.find((model) => typeof model !== 'string' || /[,\s]/.test(model));
	if (wrong !== undefined) throw formError('notOneModel', { label: allowedModelsField.displayName, value: show(wrong) });
	return models.length === 0 ? {} : { model_limits_enabled: true, model_limits: [...new Set(models)].join(',') };
}

/** Counted as the service does: characters, not bytes or UTF-16 units. */
function checkName(name: unknown): void {
	const { displayName: label } = nameField;
	if (typeof name !== 'string' || name === '') throw formError('fieldEmpty', { label, enter: 'Enter a name by which you will know the token.' });
	const { length } = [...name];
	if (length > MAX_NAME_LENGTH) throw formError('nameTooLong', { label, length, max: MAX_NAME_LENGTH });
}

function checkExpiry(seconds: unknown, nowMs: number): void {
	if (seconds === -1) return;
	if (typeof seconds === 'number' && Number.isFinite(seconds) && seconds * 1000 > nowMs) return;
	const value = typeof seconds === 'number' && Math.abs(seconds) < 1e12 ? new Date(seconds * 1000).toISOString() : show(seconds);
	throw formError('expired', { label: expiresAtField.displayName, value });
}
