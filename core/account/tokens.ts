import { z } from 'zod';
import { CREDITS_PER_USD } from './balance';
import { GatewayError } from '../errors';
import { show } from '../models/issues';
import { isPlainObject, mergeDeep, type Body } from '../json';

/** The record of a created token (contract 2.2) as it came, and its key as it is used. */
export interface TokenRecord {
	/** For the ledger; empty when the record has none. */
	id: string;
	/** `sk-` followed by the key (contract 5.2). */
	apiKey: string;
	raw: Record<string, unknown>;
}

/** Undefined when the answer holds no key: then nobody will ever see it. */
export function readTokenRecord(answer: unknown): TokenRecord | undefined {
	const raw = isPlainObject(answer) && isPlainObject(answer.data) ? answer.data : answer;
	const fields = z.object({ key: z.string().min(1), id: z.union([z.number(), z.string()]).nullish() }).safeParse(raw);
	if (!isPlainObject(raw) || !fields.success) return undefined;
	const { key, id } = fields.data;
	return { id: String(id ?? ''), apiKey: key.startsWith('sk-') ? key : `sk-${key}`, raw };
}

/** How the amount of a limited token is given. */
export type QuotaUnit = 'credits' | 'usd' | 'internalUnits';

export interface TokenForm {
	name: unknown;
	/** Unix milliseconds; undefined: never expires. */
	expiresAtMs?: number;
	/** Undefined: unlimited. */
	quota?: { unit: QuotaUnit; amount: unknown };
	modelLimits: unknown[];
	dailyCredits?: unknown;
	monthlyCredits?: unknown;
	group?: unknown;
}

const MAX_NAME_LENGTH = 50;
const AMOUNT_LABEL = 'Amount';

/** The body of the request (contract 4.3), checked. Throws a `badInput` error that names the field. */
export function toTokenBody(form: TokenForm, additionalFields: Body, nowMs: number): Body {
	const body: Body = {
		name: typeof form.name === 'string' ? form.name.trim() : form.name,
		expired_time: form.expiresAtMs === undefined ? -1 : Math.floor(form.expiresAtMs / 1000),
		unlimited_quota: form.quota === undefined,
		...(form.quota === undefined ? {} : toQuota(form.quota.unit, form.quota.amount)),
		...readLimit('daily_credits', 'Daily Limit (Credits)', form.dailyCredits),
		...readLimit('monthly_credits', 'Monthly Limit (Credits)', form.monthlyCredits),
		...toModelLimits(form.modelLimits),
		...(form.group === undefined || form.group === '' ? {} : { group: form.group }),
	};
	const merged = mergeDeep(body, additionalFields);
	checkName(merged.name);
	checkExpiry(merged.expired_time, nowMs);
	return merged;
}

/**
 * Only what was chosen is sent: a `remain_credits` of 0 would override `remain_quota`. 1 USD = 200 credits.
 */
function toQuota(unit: QuotaUnit, given: unknown): Body {
	const amount = readAmount(AMOUNT_LABEL, given);
	if (amount <= 0) {
		throw invalid(AMOUNT_LABEL, `${AMOUNT_LABEL} is ${show(given)}: a limited token needs more than 0`, 'Enter what the token may spend, or choose Unlimited as quota.');
	}
	if (unit === 'internalUnits') {
		if (Number.isInteger(amount)) return { remain_quota: amount };
		throw invalid(AMOUNT_LABEL, `${AMOUNT_LABEL} is ${show(given)}: internal units are whole numbers`, 'Enter a whole number (500000 units are 1 USD), or choose another unit.');
	}
	// Without the crumbs of binary fractions: 0.07 USD are 14 credits, not 14.000000000000002.
	return { remain_credits: unit === 'usd' ? Number((amount * CREDITS_PER_USD).toFixed(6)) : amount };
}

function readLimit(wire: string, label: string, given: unknown): Body {
	return given === undefined || given === '' ? {} : { [wire]: readAmount(label, given) };
}

function readAmount(label: string, given: unknown): number {
	const amount = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
	if (typeof amount === 'number' && Number.isFinite(amount) && amount >= 0) return amount;
	throw invalid(label, `${label} is ${show(given ?? '')}: a number from 0 is allowed`, `Change ${label} to a number.`);
}

function toModelLimits(given: unknown[]): Body {
	const models = given.map((model) => (typeof model === 'string' ? model.trim() : model)).filter((model) => model !== '');
	const wrong = models.find((model) => typeof model !== 'string' || /[,\s]/.test(model));
	if (wrong !== undefined) {
		throw invalid('Allowed Models', `Allowed Models holds ${show(wrong)}, which is not one model`, 'Enter one model in each row, without commas and spaces.');
	}
	if (models.length === 0) return {};
	return { model_limits_enabled: true, model_limits: [...new Set(models)].join(',') };
}

/** Counted as the service does: characters, not bytes or UTF-16 units. */
function checkName(name: unknown): void {
	if (typeof name !== 'string' || name === '') {
		throw invalid('Name', 'Name is empty', 'Enter a name by which you will know the token.');
	}
	const { length } = [...name];
	if (length > MAX_NAME_LENGTH) {
		throw invalid('Name', `Name has ${length} characters: at most ${MAX_NAME_LENGTH} are allowed`, 'Shorten the name.');
	}
}

function checkExpiry(seconds: unknown, nowMs: number): void {
	if (seconds === -1) return;
	if (typeof seconds === 'number' && Number.isFinite(seconds) && seconds * 1000 > nowMs) return;
	const when = typeof seconds === 'number' && Math.abs(seconds) < 1e12 ? new Date(seconds * 1000).toISOString() : show(seconds);
	throw invalid('Expires At', `Expires At is ${when}, which is not in the future`, 'Choose a later date, or Never as expiry.');
}

function invalid(field: string, message: string, advice: string): GatewayError {
	return new GatewayError('badInput', message, { field, description: `${advice} Nothing was sent.` });
}
