/** Texts for people, of values from anywhere; and addresses. */
import { formatDuration, printable, roughDuration, show, toOutline, toRanges, wordsOf } from '../../core/text';
import { manyFields } from './support';
import { isAssetLike, isAssetReference, isFileContent, isHttpUrl, isUrl, parseHttpUrl } from '../../core/urls';

/** As expressions can give it. */
function containingItself(): object {
	const value: { self?: object } = {};
	return (value.self = value);
}

test.each<[unknown, string]>([
	[7, '7'],
	['x', '"x"'],
	['a "b"', '"a "b""'],
	[{ a: 1 }, '{"a":1}'],
	[null, 'null'],
	[undefined, 'undefined'],
	[NaN, 'NaN'],
	[7n, '7'],
	[[7n], '7'],
	[containingItself(), '[object Object]'],
	['x'.repeat(58), `"${'x'.repeat(58)}"`],
	['x'.repeat(59), `"${'x'.repeat(56)}…`],
])('in a message, %p is %s', (value, shown) => {
	expect(show(value)).toBe(shown);
});

test('nothing in a text moves the cursor, ends the line or reverses the text', () => {
	expect(printable('a\r\n\u0007b\u2028\u2029c\u202e\u2066d')).toBe('a b c d');
	expect(printable('a b\u00a0ü😀')).toBe('a b\u00a0ü😀');
	expect(wordsOf(new Error('a\r\n\u001bb'))).toBe('a b');
});

test('of a record its outline is shown', () => {
	const record = {
		long: 'x'.repeat(100),
		list: [1, 2, 3, 4, 5],
		few: [1, 2, 3],
		deep: { a: { b: { c: 1 } } },
		none: null,
	};
	expect(toOutline(record, 1_000)).toBe(
		`{ "long": "${'x'.repeat(80)}…", "list": [ 1, 2, 3, "… 2 more" ], "few": [ 1, 2, 3 ], "deep": { "a": { "b": { "c": 1 } } }, "none": null }`,
	);
	expect(toOutline({ a: { b: { c: { d: {} } } } })).toBe('{ "a": { "b": { "c": { "d": "…" } } } }');
	expect(toOutline([[[[[1]]]]])).toBe('[ [ [ [ "…" ] ] ] ]');
	expect(toOutline(Array(200).fill('x'.repeat(90)))).toHaveLength(271);
	expect(toOutline({ a: 'x'.repeat(90), b: 'x'.repeat(90) }, 50)).toHaveLength(51);
	expect(toOutline(Object.fromEntries(Array.from({ length: 9 }, (_, key) => [key, 'x'.repeat(90)])))).toHaveLength(401);
});

test('of a record with many fields only those are read that its outline has room for', () => {
	const { fields, seen } = manyFields(20_000);
	expect(toOutline({ fields })).toMatch(/^\{ "fields": \{ "f0": "value 0", .*…$/);
	expect(seen.read).toBeLessThanOrEqual(200);
});

test.each([
	[0, '0 s'],
	[1_250, '1.3 s'],
	[25_000, '25 s'],
	[59_950, '1 min'],
	[90_000, '1 min 30 s'],
	[600_000, '10 min'],
	[3_600_000, '1 h'],
	[5_400_000, '90 min'],
	[86_400_000, '24 h'],
])('%d ms are %s', (ms, words) => {
	expect(formatDuration(ms)).toBe(words);
});

test.each([
	[0, '1 s'],
	[9_500, '10 s'],
	[42_000, '40 s'],
	[94_500, '2 min'],
	[5_670_000, '2 h'],
	[10_800_000, '3 h'],
])('%d ms are about %s', (ms, words) => {
	expect(roughDuration(ms)).toBe(words);
});

test('numbers in a row are a range', () => {
	expect(toRanges([3, 5, 6, 7, 8, 10, 11, 20, 21, 22])).toBe('3, 5 to 8, 10, 11, 20 to 22');
	expect(toRanges([])).toBe('');
});

describe('addresses', () => {
	test.each<[unknown, boolean, boolean]>([
		['https://a.example/x?y#z', true, true],
		['HTTP://a.example', true, true],
		['https://', false, false],
		['https://a b', false, false],
		['https://a.example/x y', false, false],
		['myapp://verified', false, true],
		['my-app.2+x:verified', false, true],
		['localhost:5678', false, false],
		['myapp: verified', false, false],
		[' myapp://verified', false, false],
		['myapp://verified/a b', false, false],
		['/path', false, false],
		[['https://a.example'], false, false],
	])('%p: of the web %p, of any kind %p', (value, isOfWeb, isAny) => {
		expect([isHttpUrl(value), isUrl(value)]).toEqual([isOfWeb, isAny]);
	});

	test.each<[unknown, string | undefined]>([
		['https://A.example/as it', 'https://a.example/as%20it'],
		['https://A.example/as_it', 'https://A.example/as_it'],
		['\nHTTP://a.example/b ', 'http://a.example/b'],
		['https://a.example/a: b', 'https://a.example/a:%20b'],
		['https://a.example/a ftp://a.example/b c', undefined],
		['https://a.example/a b://c', undefined],
		['https://a.example/a\u00a0b', undefined],
		['https://a b.example/', undefined],
		[['https://a.example/A b'], undefined],
	])('%p is the one address %p', (value, address) => {
		expect(parseHttpUrl(value)).toBe(address);
	});

	test.each<[unknown, boolean]>([
		['data:image/png;base64,AAAA', true],
		[['data:image/png;base64,AAAA'], false],
		[{ toString: 'data:' }, false],
		['DATA:,', true],
		['x data:,', false],
		['A'.repeat(99), false],
		['Az09+/=\n'.repeat(13), true],
		[`${'A'.repeat(76)}\r\n${'A'.repeat(76)}\n`, true],
		[`${'a cat on a red sofa '.repeat(6)}`, false],
		[`${'A'.repeat(100)}.`, false],
		[`.${'A'.repeat(100)}`, false],
	])('%p is a file itself: %p', (value, isFile) => {
		expect(isFileContent(value)).toBe(isFile);
	});

	test.each<[unknown, boolean, boolean]>([
		['asset://pa_1', true, true],
		['ASSET://pa_1', false, true],
		['asset://', false, true],
		['asset://a/b', true, true],
		['asset://a b', true, true],
		['xasset://a', false, false],
		['asset:/a', false, false],
	])('%p is a reference to an asset: %p, or meant as one: %p', (value, isReference, isLike) => {
		expect([isAssetReference(value), isAssetLike(value)]).toEqual([isReference, isLike]);
	});
});
