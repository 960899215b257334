/** Values of a form, whatever an expression gives, and dates. */
import { DateTime } from 'luxon';
import type { GatewayError } from '../../core/errors';
import { describe as describeError } from '../../core/errors/describe';
import { readUnixSeconds } from '../../nodes/form/dates';
import { FieldReader, OptionsReader, toText } from '../../nodes/form/fieldReader';

const reader = (value: unknown, isExpression = false) =>
	new FieldReader(() => value, { field: isExpression ? '={{ $json.x }}' : value });
const field = (more: object = {}) =>
	({ displayName: 'Field', name: 'field', type: 'string', default: '', ...more }) as never;
/** The result, or the message of the refusal, or what `as` tells of it. */
function outcome(read: () => unknown, as = ({ message }: GatewayError): unknown => refused(message)): unknown {
	try {
		return read();
	} catch (thrown) {
		return as(thrown as GatewayError);
	}
}
const refused = (message: unknown) => ({ message });

test.each([
	[undefined, true, true],
	[null, true, false],
	[undefined, false, false],
])(
	'a field that holds %j, from an expression or not (%s), is one whose expression gave nothing: %s',
	(value, isExpression, expected) => {
		const thrown = () => reader(value, isExpression).assertNotLost(field());
		if (expected)
			expect(outcome(thrown)).toEqual(refused('Field is empty: its expression returned nothing for this item'));
		else expect(thrown).not.toThrow();
	},
);

test.each<[unknown, unknown]>([
	['  x ', 'x'],
	[null, ''],
	[7, '7'],
	[7n, '7'],
	[NaN, refused('L is NaN, which is not text')],
	[2 ** 53, refused('L is the number 9007199254740992, which has been rounded')],
	[{}, refused('L is {}, which is not text')],
])('%p as a text is %j', (value, expected) => {
	expect(outcome(() => toText(value, 'L'))).toEqual(expected);
});

test.each<[unknown, unknown]>([
	[new Date(0), '1970-01-01T00:00:00.000Z'],
	[DateTime.fromISO('2030-01-31T12:00:00+01:00', { setZone: true }), '2030-01-31T12:00:00.000+01:00'],
	[new Date(NaN), refused('Field is null, which is not text')],
])('a date is a text in every field, as n8n makes it in lists and collections: %p is %j', (value, expected) => {
	expect(outcome(() => reader(value).text(field()))).toEqual(expected);
});

test.each<[unknown, object, unknown]>([
	['', { default: 5 }, 5],
	[0, { default: 5 }, 0],
	['7.5', {}, 7.5],
	['7.5', { integer: true }, 7],
	[' ', {}, refused('Field is " ": it must be a number, 0 or more')],
	[Infinity, {}, refused('Field is Infinity: it must be a number, 0 or more')],
	[0.9, { min: 1 }, refused('Field is 0.9: it must be a number, 1 or more')],
	[9.1, { max: 9 }, refused('Field is 9.1: it must be 9 or less')],
	[2 ** 53, {}, refused('Field is 9007199254740992: it must be 9007199254740991 or less')],
])('the number of %p with %j is %j', (value, more, expected) => {
	expect(outcome(() => reader(value).number(field(more)))).toEqual(expected);
});

test.each<[unknown, unknown, unknown]>([
	[undefined, true, true],
	['', true, true],
	['true', false, true],
	[false, true, false],
	['false', true, false],
	[1, true, refused('Field is 1: it must be true or false')],
])('a switch that is %p with the default %p is %j', (value, byDefault, expected) => {
	expect(outcome(() => reader(value).flag(field({ default: byDefault })))).toEqual(expected);
});

test.each([
	[{ description: 'A name. At most 5 characters.', placeholder: 'e.g. Cat' }, 'Enter a name, e.g. Cat.'],
	[{ description: 'A name' }, 'Enter a name.'],
])('the advice for an empty field is the first sentence about it: %j', (more, advice) => {
	expect(outcome(() => reader('').requiredText(field(more)), describeError)).toBe(`${advice} Nothing was sent.`);
});

test('a switch of the Options that was not added is off, whatever its default', () => {
	const added = (value: unknown) => new OptionsReader(() => value).flag(field({ default: true }));
	expect([added(undefined), added(true), added(false)]).toEqual([false, true, false]);
});

test('a choice is one of those that there are', () => {
	const choices = field({
		default: 'a',
		options: [
			{ name: 'A', value: 'a' },
			{ name: 'B', value: 'b' },
		],
	});
	const choose = (value: unknown, isExpression = false) =>
		outcome(() => reader(value, isExpression).givenChoice(choices));
	expect([choose('b'), choose(undefined), choose('b', true)]).toEqual(['b', 'a', 'b']);
	const gaveNothing = refused('Field is empty: its expression returned nothing for this item');
	expect([choose(undefined, true), choose('', true)]).toEqual([gaveNothing, gaveNothing]);
	expect([choose('c'), choose('')]).toEqual(['"c"', '""'].map((is) => refused(`Field is ${is}: it must be a or b`)));
});

test.each<[unknown, unknown]>([
	['  ', {}],
	['{"a":1}', { a: 1 }],
	['[1]', refused('Field must be a JSON object')],
	['{"a":', refused('Field is not valid JSON')],
	['{"a":9007199254740993}', refused('Field contains the number 9007199254740993, which cannot be sent exactly')],
	[`{"a":${'9'.repeat(70)}}`, refused(`Field contains the number ${'9'.repeat(60)}…, which cannot be sent exactly`)],
	[{ a: { b: 2 ** 53, c: NaN } }, refused('Field contains the number 9007199254740992, which cannot be sent exactly')],
	[
		{ at: new Date(0), b: [{ c: new Date(1) }] },
		{ at: '1970-01-01T00:00:00.000Z', b: [{ c: '1970-01-01T00:00:00.001Z' }] },
	],
	[new Date(0), refused('Field is not valid JSON')],
	[{ a: undefined, b: { c: undefined, d: null } }, { b: { d: null } }],
])('the JSON of %j is %j', (value, expected) => {
	expect(outcome(() => reader(value).json(field()))).toEqual(expected);
});

describe('a date', () => {
	beforeEach(() => jest.useFakeTimers({ now: Date.UTC(2026, 0, 1) }));
	afterEach(() => jest.useRealTimers());
	const label = field({ displayName: 'L' });
	const read = (value: unknown, zone = 'Europe/Berlin') =>
		outcome(() => readUnixSeconds(reader(value).given(label), label, zone));

	test.each<[unknown, unknown]>([
		['2027-01-01T12:00:00', Date.UTC(2027, 0, 1, 11) / 1000],
		['2027-01-01T12:00:00Z', Date.UTC(2027, 0, 1, 12) / 1000],
		['1800000000', 1_800_000_000],
		[1_800_000_000_999, 1_800_000_000],
		['soon', refused('L is "soon", which is not a date')],
		// As Unix time: the years 8402 and 2613.
		['203001311200', refused('L is "203001311200", which is not a date')],
		[' 20300131120000 ', refused('L is " 20300131120000 ", which is not a date')],
		// Unix time all the same.
		['2030013112000', 2_030_013_112],
		[203001311200, refused('L is 203001311200, which is not a date')],
		['-1800000000', refused('L is "-1800000000", which is not a date')],
		[Date.UTC(2026, 0, 1) / 1000, refused('L is 2026-01-01T00:00:00.000Z, which is not in the future')],
		[Date.UTC(2026, 0, 1) / 1000 + 1, Date.UTC(2026, 0, 1) / 1000 + 1],
	])('a date of %p is %j', (value, expected) => {
		expect(read(value)).toEqual(expected);
	});

	const noon = Date.UTC(2030, 0, 31, 11) / 1000;
	test.each<[unknown, number]>([
		['20300131', Date.UTC(2030, 0, 30, 23) / 1000],
		['20300131T120000', noon],
		['2030-01', Date.UTC(2029, 11, 31, 23) / 1000],
		['2030-W05-4', Date.UTC(2030, 0, 30, 23) / 1000],
		[' 2030-01-31 12:00:00 ', noon],
		['2030-01-31 12:00:00 +01:00', noon],
		['Thu, 31 Jan 2030 11:00:00 GMT', noon],
		[new Date(noon * 1000), noon],
		[DateTime.fromSeconds(noon), noon],
	])('%p is a date with one meaning, in the time zone of the workflow if it names none', (value, seconds) => {
		expect(read(value)).toBe(seconds);
	});

	const noDates: unknown[] = [
		...['45', '2027', '203001', 'next 45', '12:00', '1/31/2030', '31.01.2030', '2030-02-31', '2030-01-31 25:00'],
		...[['2030-01-31'], true, new Date(NaN), DateTime.invalid('none')],
	];
	test.each(noDates.map((value) => [value]))('%p could mean anything, or is no date, and is refused', (value) => {
		expect(read(value)).toEqual(refused(expect.stringMatching(/^L is .*, which is not a date$/s)));
	});
});
