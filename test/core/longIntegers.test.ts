import { SAME_IN_PIPELINES } from '../support/propertySettings.mts';
import fc from 'fast-check';
import { parseJson } from '../../core/json';
import { firstChangedNumber, isInexact } from '../../core/longIntegers';
import { costOf, parsingMs } from '../support/hostile.mts';

/** JSON values in which whole numbers of any length stand as `bigint`. */
const tree = fc.letrec<{ value: unknown }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 4 },
		fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
		fc.bigInt({ min: BigInt(Number.MAX_SAFE_INTEGER) - 3n, max: BigInt(Number.MAX_SAFE_INTEGER) + 3n }),
		fc.double({ noNaN: true, noDefaultInfinity: true }),
		fc.string(),
		fc.stringMatching(/^[\\"0-9]{0,40}$/),
		fc.constantFrom(true, null),
		fc.array(tie('value'), { maxLength: 4 }),
		fc.dictionary(fc.stringMatching(/^[\\"0-9a-z]{1,20}$/), tie('value'), { maxKeys: 4 }),
	),
})).value;

function write(value: unknown): string {
	if (typeof value === 'bigint') return String(value);
	if (Array.isArray(value)) return `[ ${value.map(write).join(' ,')}]`;
	if (typeof value !== 'object' || value === null) return JSON.stringify(value);
	return `{${Object.entries(value)
		.map(([name, inner]) => `${JSON.stringify(name)}: ${write(inner)}`)
		.join(',')}\n}`;
}

const isSafe = (value: bigint) => Number.isSafeInteger(Number(value));

/** The same as it should be read. */
function expected(value: unknown): unknown {
	if (typeof value === 'bigint') return isSafe(value) ? Number(value) : String(value);
	// -0 and 1e21 are written as whole numbers by JSON.stringify, or not.
	if (typeof value === 'number') return JSON.parse(JSON.stringify(value)) as unknown;
	if (Array.isArray(value)) return value.map(expected);
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, expected(inner)]));
}

const hasLongInteger = (value: unknown): boolean =>
	typeof value === 'bigint'
		? !isSafe(value)
		: typeof value === 'object' && value !== null && Object.values(value).some(hasLongInteger);

/** `JSON.stringify` writes these as whole numbers of 17 to 21 digits, which are what is rounded. */
const writesLongInteger = (value: unknown): boolean =>
	typeof value === 'number'
		? /^-?\d{16,}$/.test(String(value)) && !Number.isSafeInteger(value)
		: typeof value === 'object' && value !== null && Object.values(value).some(writesLongInteger);

test('a whole number that would be rounded is read as text, digit for digit, and everything else as ever', () => {
	fc.assert(
		fc.property(tree, (value) => {
			fc.pre(!writesLongInteger(value));
			expect(parseJson(write(value))).toEqual(expected(value));
		}),
		{ numRuns: 500, ...SAME_IN_PIPELINES },
	);
});

test('a number in a form is found if, and only if, it would be changed', () => {
	fc.assert(
		fc.property(tree, (value) => {
			fc.pre(!writesLongInteger(value));
			expect(firstChangedNumber(write(value)) !== undefined).toBe(hasLongInteger(value));
		}),
		{ numRuns: 500, ...SAME_IN_PIPELINES },
	);
});

test.each([
	['{"a": 1e999}', '1e999'],
	['{"a": -1e999, "b": 12345678901234567890}', '-1e999'],
	['{"a": "12345678901234567890"}', undefined],
	['{"12345678901234567890": 1}', undefined],
	['{"a\\\\": 12345678901234567890}', '12345678901234567890'],
	['{"a": 1e300, "b": 1234567890123456, "c": 0.1234567890123456}', undefined],
	['12345678901234567890', '12345678901234567890'],
	['{"a": 12345678901234567.5}', undefined],
	['""12345678901234567890', '12345678901234567890'],
	['{"id', undefined],
])('the first number in %s that would be changed is %s', (json, number) =>
	expect(firstChangedNumber(json)).toBe(number),
);

test.each([
	[2 ** 53, true],
	[2 ** 53 - 1, false],
	[-(2 ** 53), true],
	[0.5, false],
	[NaN, true],
	[Infinity, true],
	[1n, true],
	['12345678901234567890', false],
])('the value %p is inexact: %p', (value, inexact) => expect(isInexact(value)).toBe(inexact));

test('a large answer of texts, quotes and backslashes is read in time', async () => {
	const text = `{"id":12345678901234567890,"a":"${'x1\\\\\\"'.repeat(400_000)}"}`;
	const { result, cpuSeconds } = await costOf(async () => await Promise.resolve(parseJson(text)));
	expect(result).toMatchObject({ id: '12345678901234567890' });
	expect(cpuSeconds * 1000).toBeLessThan(100 * parsingMs());
});
