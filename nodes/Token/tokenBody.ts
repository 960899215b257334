import { CREDITS_PER_USD } from '../../core/account/balance';
import { gatewayError } from '../../core/errors';
import { mergeDeep, type JsonObject } from '../../core/json';
import { show } from '../../core/text';
import { checkTokenBody } from './checkTokenBody';
import { allowedModelsField, expiresAtField, type QuotaUnit } from './fields';

/** The end of the year 9999. What is later is counted in milliseconds, most likely. */
export const LATEST_SECONDS = 253_402_300_799;

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

/** The body of the request (contract 4.3), checked as it is sent. Throws a `badInput` error that names the field. */
export function toTokenBody(form: TokenForm, additionalFields: JsonObject, nowMs: number): JsonObject {
	const body: JsonObject = {
		name: form.name,
		expired_time: form.expiresAtMs === undefined ? -1 : toSeconds(form.expiresAtMs, nowMs),
		unlimited_quota: form.quota === undefined,
		...(form.quota === undefined ? {} : toQuota(form.quota.unit, form.quota.amount)),
		...toLimit('daily_credits', form.dailyCredits),
		...toLimit('monthly_credits', form.monthlyCredits),
		...toModelLimits(form.modelLimits),
		...(form.group === '' ? {} : { group: form.group }),
	};
	const merged = mergeDeep(body, additionalFields);
	checkTokenBody(merged);
	return merged;
}

/** The last second of 1969 would be the -1 that means never: a date is never that. */
function toSeconds(expiresAtMs: number, nowMs: number): number {
	const { displayName: label } = expiresAtField;
	const seconds = Math.floor(expiresAtMs / 1000);
	if (seconds > LATEST_SECONDS) throw gatewayError('notUnixSeconds', { label, value: show(seconds) });
	if (expiresAtMs <= nowMs) throw gatewayError('expiryInPast', { label, value: new Date(expiresAtMs).toISOString() });
	return seconds;
}

/** Only what was chosen is sent: a `remain_credits` of 0 would override `remain_quota`. 1 USD = 200 credits. */
function toQuota(unit: QuotaUnit, given: unknown): JsonObject {
	const amount = toNumber(given);
	if (unit === 'internalUnits') return { remain_quota: amount };
	// A negative amount is shown as it was entered. Without the crumbs of binary fractions: 0.07 USD are 14 credits.
	const isConverted = unit === 'usd' && typeof amount === 'number' && amount >= 0;
	return { remain_credits: isConverted ? Number((amount * CREDITS_PER_USD).toFixed(6)) : amount };
}

/** A limited token that has nothing to spend: the service's own default (contract 4.3), but seldom meant. */
export function hasNothingToSpend({
	unlimited_quota: unlimited,
	remain_quota: quota = 0,
	remain_credits: credits = quota,
}: JsonObject): boolean {
	return unlimited !== true && credits === 0;
}

function toLimit(bodyPath: string, given: unknown): JsonObject {
	return given === undefined || given === '' ? {} : { [bodyPath]: toNumber(given) };
}

/** The number that a text holds. Everything else stays as it is, to be refused. */
function toNumber(given: unknown): unknown {
	const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : NaN;
	return Number.isNaN(number) ? given : number;
}

function toModelLimits(given: unknown[]): JsonObject {
	const models = given
		.map((model) => (typeof model === 'string' ? model.trim() : model))
		.filter((model) => model !== '');
	const wrong = models.find((model) => typeof model !== 'string' || /[,\s]/.test(model));
	if (wrong !== undefined)
		throw gatewayError('notOneModel', { label: allowedModelsField.displayName, value: show(wrong) });
	return models.length === 0 ? {} : { model_limits_enabled: true, model_limits: [...new Set(models)].join(',') };
}
