import { tryToParseDateTime, type INodeProperties } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import { show } from '../../core/text';

/** The end of the year 9999. What is later is counted in milliseconds, most likely. */
const LATEST_SECONDS = 253_402_300_799;

/** The latest moment that a date can hold, in milliseconds. */
const END_OF_TIME_MS = 8.64e15;

/**
 * Unix seconds of a date in the future, from the picker (without a zone: the workflow's) or from an expression. A date
 * of the past could be the last second of 1969, the -1 that means never.
 */
export function readUnixSeconds(value: unknown, { displayName: label }: INodeProperties, timeZone: string): number {
	const atMs = toUnixTime(value, label, timeZone);
	const seconds = Math.floor(atMs / 1000);
	if (seconds > LATEST_SECONDS) throw gatewayError('notUnixSeconds', { label, value: show(seconds) });
	if (atMs <= Date.now()) throw gatewayError('expiryInPast', { label, value: new Date(atMs).toISOString() });
	return seconds;
}

function toUnixTime(value: unknown, label: string, timeZone: string): number {
	if (value === undefined || value === '')
		throw gatewayError('fieldEmpty', {
			label,
			enter: 'Choose a date and time, e.g. 2030-01-31T12:00:00, or set Expiry to Never.',
		});
	const atMs = readUnixTime(value);
	if (Math.abs(atMs) <= END_OF_TIME_MS) return atMs;
	try {
		return tryToParseDateTime(value, timeZone).toMillis();
	} catch (cause) {
		throw gatewayError('notADate', { label, value: show(value) }, { cause });
	}
}

/** Of Unix seconds as a number or in digits; NaN for all else. Fewer than nine digits can be a year, or a date without hyphens. */
function readUnixTime(value: unknown): number {
	const isDigits = typeof value === 'string' && /^\s*\d{9,}\s*$/.test(value);
	if (typeof value !== 'number' && !isDigits) return NaN;
	const seconds = Number(value);
	return seconds > LATEST_SECONDS ? seconds : seconds * 1000;
}
