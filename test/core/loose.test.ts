/** Fields of answers whose type nobody has promised. */
import {
	looseExpiry,
	looseNumber,
	looseProgress,
	looseText,
	looseTime,
	parseDate,
	textIn,
	unwrap,
} from '../../core/records/loose';

test.each<[unknown, number | undefined]>([
	[7, 7],
	[0, 0],
	['7', 7],
	[' 7 ', 7],
	['7%', 7],
	['7% ', undefined],
	['7%%', undefined],
	['%7', undefined],
	['', undefined],
	['  ', undefined],
	['seven', undefined],
	[NaN, undefined],
	[Infinity, undefined],
	['Infinity', undefined],
	[true, undefined],
	[null, undefined],
	[[7], undefined],
])('the number in %j is %j', (value, number) => {
	expect(looseNumber(value)).toBe(number);
});

test.each<[unknown, number | undefined]>([
	[1_800_000_000, 1_800_000_000],
	[1_800_000_000.5, 1_800_000_000.5],
	[1e11, 1e11],
	[1e11 + 1, 1e8],
	[1_800_000_000_999, 1_800_000_000],
	['1970-01-01T00:00:01.900Z', 1],
	[{}, undefined],
	['soon', undefined],
])('the time in %j is the second %j', (value, seconds) => {
	expect(looseTime(value)).toBe(seconds);
});

test.each<[unknown, number | undefined]>([
	[1_800_000_000, 1_800_000_000],
	[1, 1],
	[0, undefined],
	[-1, undefined],
	['0001-01-01', undefined],
	['soon', undefined],
])('the expiry in %j is the second %j, or there is none', (value, seconds) => {
	expect(looseExpiry(value)).toBe(seconds);
});

test.each<[unknown, number | undefined]>([
	[50, 50],
	['50%', 50],
	[0, 0],
	[-1, 0],
	[100.5, 100],
	[1e300, 100],
	['soon', undefined],
])('the progress in %j is %j percent', (value, percent) => {
	expect(looseProgress(value)).toBe(percent);
});

const EIGHT_MS = Date.UTC(2027, 0, 15, 8);

test.each<[string, number]>([
	['2027', Date.UTC(2027, 0)],
	['2027-01', Date.UTC(2027, 0)],
	['2027-01-15', Date.UTC(2027, 0, 15)],
	['2027-1-15', Date.UTC(2027, 0, 15)],
	['0001', -62_135_596_800_000],
	['0001-01', -62_135_596_800_000],
	['0001-01-01', -62_135_596_800_000],
	['0001-01-01T00:00:00', -62_135_596_800_000],
	['0001-01-01 00:00', -62_135_596_800_000],
	['Oct 15, 2027 08:00', Date.UTC(2027, 9, 15, 8)],
	[' 2027-01-15T08:00:00Z ', EIGHT_MS],
	['2027-01-15T08:00:00.250Z', EIGHT_MS + 250],
	['2027-01-15T09:00+01:00', EIGHT_MS],
	['2027-01-15 09:00 GMT+0100', EIGHT_MS],
	['2027-01-15T08:00', EIGHT_MS],
	['2027-01-15t08:00:00', EIGHT_MS],
	['2027-01-15 8:00 am', EIGHT_MS],
	['2027-01-15T8:00', EIGHT_MS],
	['2027-01-15T08:00 AM', EIGHT_MS],
	['Fri 2027-01-15 08:00:00', EIGHT_MS],
	['Jan 15, 2027 8:00 a.m.', NaN],
	['2027-01-15 8:00', EIGHT_MS],
	['2027-01-15 08:00 AM', EIGHT_MS],
	['Jan 15, 2027 08:00:00AM', NaN],
	['Jan 15, 2027 8:00:00 pm', EIGHT_MS + 43_200_000],
	['Fri Jan 15 08:00:00  2027', EIGHT_MS],
	['2027-01-15 08:00:00.250', EIGHT_MS + 250],
	['2027-01-15T08:00:00+14:00', EIGHT_MS - 50_400_000],
	['Jan 15, 2027 08:00:00 PST', EIGHT_MS + 28_800_000],
])('the date %j is %d', (text, ms) => {
	expect(parseDate(text)).toBe(ms);
});

test.each<[unknown, string | undefined]>([
	[' a ', 'a'],
	[7, '7'],
	['', undefined],
	['  ', undefined],
	[true, undefined],
	[null, undefined],
	[{}, undefined],
])('the text in %j is %j', (value, text) => {
	expect(looseText(value)).toBe(text);
});

test('of an answer that is wrapped in "data" the inner level comes first', () => {
	expect(unwrap({ id: 1, data: { id: 2 }, message: 'm' })).toEqual({ id: 2, data: { id: 2 }, message: 'm' });
	expect([unwrap({ id: 1 }), unwrap({ id: 1, data: [2] }), unwrap('x')]).toEqual([
		{ id: 1 },
		{ id: 1, data: [2] },
		undefined,
	]);
});

test('the first name under which an answer has a text counts', () => {
	expect(textIn({ a: '', b: ' x ', c: 'y' }, 'a', 'b', 'c')).toBe('x');
	expect([textIn({ data: { b: 5 } }, 'b'), textIn({ a: null }, 'a'), textIn(undefined, 'a')]).toEqual([
		...['5', undefined],
		undefined,
	]);
});
