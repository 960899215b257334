/**
 * Times of the service, as they are read on a machine that is not in UTC.
 *
 * @jest-environment ./test/support/aheadOfUtc.cjs
 */
import { parseVerificationSession } from '../../core/avatars/records';
import { retryAfterMs } from '../../core/http/retry';
import { parseDate } from '../../core/records/loose';
import { parseTaskRecord } from '../../core/records/taskRecord';
import { json } from './support';

const SECONDS = Date.UTC(2027, 0, 15, 8, 0, 0) / 1000;

const taskTimes = (time: unknown) => {
	const { createdAt, expiresAt } = parseTaskRecord({ id: 'a', created_at: time, expires_at: time })!;
	return [createdAt, expiresAt];
};

test('the machine is not in UTC', () => {
	expect(new Date(0).getTimezoneOffset()).toBe(640);
});

test.each([
	SECONDS,
	SECONDS * 1000,
	String(SECONDS),
	'2027-01-15T08:00:00Z',
	'2027-01-15T08:00:00.000Z',
	'2027-01-15T09:00:00+01:00',
	'2027-01-15 09:00:00 +0100',
	'2027-01-15 03:00:00 EST',
	'Fri, 15 Jan 2027 08:00:00 GMT',
	'Fri, 15 Jan 2027 09:00:00 +0100',
	// without a zone: UTC
	'2027-01-15T08:00:00',
	'2027-01-15T08:00',
	'2027-01-15 08:00:00',
	' 2027-01-15 08:00:00.123456 ',
	'2027/01/15 08:00:00',
	'Fri, 15 Jan 2027 08:00:00',
	'Fri Jan 15 08:00:00 2027',
	'Jan 15, 2027 8:00 AM',
])('the time %j is read as 2027-01-15 08:00 UTC', (time) => {
	expect(taskTimes(time)).toEqual([SECONDS, SECONDS]);
	expect(parseVerificationSession({ data: { expires_at: time } }).expiresAt).toBe(SECONDS);
});

test.each(['2027-01-15', '2027/01/15', 'Jan 15, 2027'])('a day begins in UTC: %s', (day) => {
	expect(taskTimes(day)).toEqual([SECONDS - 8 * 3600, SECONDS - 8 * 3600]);
});

test.each<[string, number]>([
	['2027', Date.UTC(2027, 0)],
	['2027-01', Date.UTC(2027, 0)],
	['2027-1-15', Date.UTC(2027, 0, 15)],
	['0001-01-01', -62_135_596_800_000],
	['0001-01-01 00:00', -62_135_596_800_000],
	['Oct 15, 2027 08:00', Date.UTC(2027, 9, 15, 8)],
	['2027-01-15T08:00:00.250Z', SECONDS * 1000 + 250],
	['Jan 15, 2027 8:00:00 pm', SECONDS * 1000 + 43_200_000],
	['2027-01-15T08:00:00+14:00', SECONDS * 1000 - 50_400_000],
	['Jan 15, 2027 08:00:00 PST', SECONDS * 1000 + 28_800_000],
	['Jan 15, 2027 8:00 a.m.', NaN],
])('the date %j is %d ms', (text, ms) => {
	expect(parseDate(text)).toBe(ms);
});

test.each(['', 'soon', 'tomorrow at 08:00', {}, [], null, true])('%j is no time', (value) => {
	expect(taskTimes(value)).toEqual([undefined, undefined]);
});

test.each(['Fri, 15 Jan 2027 08:00:00 GMT', 'Friday, 15-Jan-27 08:00:00 GMT', 'Fri Jan 15 08:00:00 2027'])(
	'each form of an HTTP date is read in UTC as Retry-After: %s',
	(date) => {
		expect(retryAfterMs(json(429, {}, { 'retry-after': date }), SECONDS * 1000 - 7_000)).toBe(7_000);
	},
);
