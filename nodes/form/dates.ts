import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { invalidInput, type GatewayError } from '../../core/errors';
import { show } from '../../core/text';

/** The end of the year 9999. What is later is counted in milliseconds, most likely. */
export const LATEST_SECONDS = 253_402_300_799;

/** The latest moment that a date can hold, in milliseconds. */
const END_OF_TIME_MS = 8.64e15;

/**
 * Unix seconds of a date in the future, from the picker (without a zone: the workflow's) or from an expression. A date
 * of the past could be the last second of 1969, the -1 that means never.
 */
export function readUnixSeconds(value: unknown, { displayName: label }: INodeProperties, timeZone: string): number {
	const atMs = toUnixTime(value, label, timeZone);
	const seconds = Math.floor(atMs / 1000);
	if (seconds > LATEST_SECONDS) throw notADate(label, value);
	if (atMs <= Date.now())
		throw invalidInput(
			`${label} is ${new Date(atMs).toISOString()}, which is not in the future`,
			'Choose a later date, or clear Expires At for an API key that never expires.',
		);
	return seconds;
}

function toUnixTime(value: unknown, label: string, timeZone: string): number {
	const atMs = typeof value === 'string' ? readText(value.trim(), timeZone) : toMs(value);
	if (Math.abs(atMs) <= END_OF_TIME_MS) return atMs;
	throw notADate(label, value);
}

const notADate = (label: string, value: unknown): GatewayError =>
	invalidInput(
		`${label} is ${show(value)}, which is not a date`,
		'Enter a date and time, e.g. 2030-01-31T12:00:00, or Unix seconds, e.g. 1893456000. Or clear the field for an API key that never expires.',
	);

/** As `yyyyMMddHHmm` and `yyyyMMddHHmmss` write it: as Unix time, it would be a moment centuries away. */
const COMPACT_DATE = /^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{4}(\d\d)?$/;

/** Of Unix time, in seconds or milliseconds. NaN where it is neither. */
function toMs(unixTime: unknown): number {
	if (typeof unixTime !== 'number') return NaN;
	if (COMPACT_DATE.test(String(unixTime))) return NaN;
	return unixTime > LATEST_SECONDS ? unixTime : unixTime * 1000;
}

/** A year and at least a month or week: a time alone, or a number of days, must not become some date. */
const BEGINS_WITH_DATE = /^([+-]\d\d)?\d{4}(-|(W\d{2,3}|\d{4})(T|$))/;

/** As SQL has it. Without the day, its reader takes the year for a time of today. */
const HAS_DAY = /-\d\d-\d\d/;

/**
 * Unix milliseconds of Unix seconds in digits, or of a date in one of the written forms that have one meaning only; NaN of
 * all else. `Date.parse` takes "45" for the year 2045, and reads many forms in the time zone of the server.
 */
function readText(text: string, zone: string): number {
	if (/^\d{9,}$/.test(text)) return toMs(Number(text));
	const forms = BEGINS_WITH_DATE.test(text) ? [DateTime.fromISO] : [DateTime.fromHTTP, DateTime.fromRFC2822];
	if (HAS_DAY.test(text)) forms.push(DateTime.fromSQL);
	return forms.map((parse) => parse(text, { zone }).toMillis()).find((ms) => !Number.isNaN(ms)) ?? NaN;
}
