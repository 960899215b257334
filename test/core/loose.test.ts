/** Fields of answers whose type nobody has promised. */
import { looseExpiry, looseNumber, looseText, looseTime, textIn, unwrap } from '../../core/records/loose';

test.each<[unknown, number | undefined]>([
	[7, 7],
	['7', 7],
	[' 7 ', 7],
	['7%', 7],
	['7% ', undefined],
	['7%%', undefined],
	['', undefined],
	['  ', undefined],
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
