import type { JsonObject } from '../../core/json';
import { show } from '../../core/text';
import { formError } from '../errors/formErrors';
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

const MAX_NAME_LENGTH = 50;
/** The end of the year 9999. What is later is counted in milliseconds, most likely. */
export const LATEST_SECONDS = 253_402_300_799;

/** The fields of the request (contract 4.3) that have a check, each as the form calls it; one that is not there is left to the service. */
const CHECKS: Record<string, { label: string; check: (value: unknown, label: string, nowMs: number) => void }> = {
	expired_time: { label: expiresAtField.displayName, check: (seconds, _label, nowMs) => checkExpiry(seconds, nowMs) },
	unlimited_quota: { label: quotaField.displayName, check: checkFlag },
	remain_quota: { label: amountField.displayName, check: checkUnits },
	remain_credits: { label: amountField.displayName, check: checkCredits },
	daily_credits: { label: dailyLimitOption.displayName, check: checkCredits },
	monthly_credits: { label: monthlyLimitOption.displayName, check: checkCredits },
	model_limits_enabled: { label: 'model_limits_enabled', check: checkFlag },
	model_limits: { label: allowedModelsField.displayName, check: checkModels },
	group: { label: groupOption.displayName, check: checkText },
};

/** Everything that is sent, Additional Fields included. Throws a `badInput` error that names the field. */
export function checkTokenBody(body: JsonObject, nowMs: number): void {
	checkName(body.name);
	for (const [name, { label, check }] of Object.entries(CHECKS)) {
		if (body[name] !== undefined) check(body[name], label, nowMs);
	}
}

/** Counted as the service does: characters, not bytes or UTF-16 units. */
function checkName(name: unknown): void {
	const { displayName: label } = nameField;
	if (name === undefined || name === null || String(name).trim() === '')
		throw formError('fieldEmpty', { label, enter: 'Enter a name for the token.' });
	checkText(name, label);
	const { length } = [...String(name)];
	if (length > MAX_NAME_LENGTH) throw formError('nameTooLong', { label, length, max: MAX_NAME_LENGTH });
}

/** Unix seconds in the future, or -1: never. */
function checkExpiry(seconds: unknown, nowMs: number): void {
	if (seconds === -1) return;
	const { displayName: label } = expiresAtField;
	if (typeof seconds !== 'number' || !Number.isInteger(seconds) || Math.abs(seconds) > LATEST_SECONDS) {
		throw formError('noUnixSeconds', { label, value: show(seconds) });
	}
	assertFuture(seconds * 1000, nowMs);
}

export function assertFuture(atMs: number, nowMs: number): void {
	if (atMs <= nowMs)
		throw formError('expired', { label: expiresAtField.displayName, value: new Date(atMs).toISOString() });
}

function checkFlag(value: unknown, label: string): void {
	if (typeof value !== 'boolean') throw formError('noChoice', { label, value: show(value), allowed: 'true or false' });
}

function checkCredits(value: unknown, label: string): void {
	if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
		throw formError('noAmount', { label, value: show(value) });
}

function checkUnits(value: unknown, label: string): void {
	checkCredits(value, label);
	if (!Number.isInteger(value)) throw formError('amountNotWhole', { label, value: show(value) });
}

function checkModels(value: unknown, label: string): void {
	checkText(value, label);
	if (value === '') return;
	const wrong = String(value)
		.split(',')
		.find((model) => model === '' || /\s/.test(model));
	if (wrong !== undefined) throw formError('notOneModel', { label, value: show(wrong) });
}

function checkText(value: unknown, label: string): void {
	if (typeof value !== 'string') throw formError('noText', { label, value: show(value) });
}
