import { gatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { TOKEN_NAME_LENGTH } from '../../core/limits';
import { show } from '../../core/text';
import {
	allowedModelsField,
	amountField,
	dailyLimitOption,
	expiresAtField,
	groupOption,
	monthlyLimitOption,
	nameField,
	quotaField,
} from './fields';

/** The fields of the request (contract 4.3) that have a check, each as the form calls it; one that is not there is left to the service. */
const CHECKS: Record<string, { label: string; check: (value: unknown, label: string) => void }> = {
	expired_time: { label: expiresAtField.displayName, check: checkSeconds },
	unlimited_quota: { label: quotaField.displayName, check: checkFlag },
	remain_quota: { label: amountField.displayName, check: checkUnits },
	remain_credits: { label: amountField.displayName, check: checkAmount },
	daily_credits: { label: dailyLimitOption.displayName, check: checkAmount },
	monthly_credits: { label: monthlyLimitOption.displayName, check: checkAmount },
	model_limits_enabled: { label: 'model_limits_enabled', check: checkFlag },
	model_limits: { label: allowedModelsField.displayName, check: checkText },
	group: { label: groupOption.displayName, check: checkText },
};

/**
 * Everything that is sent, Additional Fields included: what the contract forbids, and negative amounts. What else helps against slips, such
 * as an expiry in the past, is checked where the form is read. Throws a `badInput` error that names the field.
 */
export function checkTokenBody(body: JsonObject): void {
	checkName(body.name);
	for (const [name, { label, check }] of Object.entries(CHECKS)) {
		if (body[name] !== undefined) check(body[name], label);
	}
}

/** Counted as the service does: characters, not bytes or UTF-16 units. */
function checkName(name: unknown): void {
	const { displayName: label } = nameField;
	if (name === undefined || name === null || String(name).trim() === '')
		throw gatewayError('fieldEmpty', { label, enter: 'Enter a name for the token.' });
	checkText(name, label);
	const { length } = [...String(name)];
	if (length > TOKEN_NAME_LENGTH) throw gatewayError('tokenNameTooLong', { label, length, max: TOKEN_NAME_LENGTH });
}

function checkSeconds(value: unknown, label: string): void {
	if (!Number.isInteger(value)) throw gatewayError('notUnixSeconds', { label, value: show(value) });
}

function checkFlag(value: unknown, label: string): void {
	if (typeof value !== 'boolean')
		throw gatewayError('notAChoice', { label, value: show(value), allowed: 'true or false' });
}

function checkAmount(value: unknown, label: string): void {
	if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
		throw gatewayError('amountNotANumber', { label, value: show(value) });
}

function checkUnits(value: unknown, label: string): void {
	checkAmount(value, label);
	if (!Number.isInteger(value)) throw gatewayError('amountNotWhole', { label, value: show(value) });
}

function checkText(value: unknown, label: string): void {
	if (typeof value !== 'string') throw gatewayError('notText', { label, value: show(value) });
}
