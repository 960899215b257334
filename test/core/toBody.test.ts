/** Request bodies of forms, by specifications written here: each kind of field once. */
import type { JsonObject } from '../../core/json';
import { pendingUploads, withReferences, withUploads } from '../../core/models/images';
import type { BodySpec, FieldSpec, Rule } from '../../core/models/spec';
import { hiddenChoices, toBody, toChosen, type FormValues } from '../../core/models/toBody';
import { choice, field, pending, specOf } from '../support/bodySpecs';

const A = 'https://a.example/a.png';
const B = 'https://a.example/b.png';

/** The body without the name of its model. */
function bodyOf(fields: FieldSpec[], values: FormValues, more: Partial<BodySpec> = {}, additionalFields?: JsonObject) {
	return toBody(specOf(fields, { id: undefined, ...more }), values, additionalFields);
}

test('a body begins with its model, and with what is sent with every request', () => {
	const spec = specOf([field('a')], { constants: { c: 1 } });
	expect(Object.entries(toBody(spec, { a: 'x' }))).toEqual(Object.entries({ model: 'm', c: 1, a: 'x' }));
	expect(toBody({ ...spec, id: undefined }, {})).toStrictEqual({ c: 1 });
});

describe('the value of a field goes into the body', () => {
	const number: Partial<FieldSpec> = { type: 'number' };
	const scaled: Partial<FieldSpec> = { ...number, scale: 200 };
	const units = choice('unit', ['h', 'd'], { default: 'h', notSent: 'h', extraValues: 'all' });
	const inUnits: Partial<FieldSpec> = {
		...number,
		scale: 2,
		units: { field: 'unit', of: { d: { scale: 48 } } },
	};
	const words = choice('a', ['x', 'y', 'z'], { bodyValues: { x: false, y: 2, z: 'z' } });

	test.each<[string, FieldSpec[], FormValues, JsonObject]>([
		['a text', [field('a')], { a: ' x ' }, { a: 'x' }],
		['a URL of spaces', [field('a', { format: 'url' })], { a: ' \n' }, {}],
		['a number in a text field', [field('a')], { a: 5 }, { a: '5' }],
		['an empty text', [field('a', { default: 'x' })], { a: '' }, {}],
		['a value deep in the body', [field('a.0.b', { name: 'a' })], { a: 'x' }, { a: [{ b: 'x' }] }],
		['a number as text', [field('a', number)], { a: ' 2.5 ' }, { a: 2.5 }],
		['a number of another size', [field('a', scaled)], { a: '0.07' }, { a: 14 }],
		['a number in another unit', [field('a', inUnits), units], { a: 3, unit: 'd' }, { a: 144, unit: 'd' }],
		['the word for true', [field('a', { type: 'boolean' })], { a: 'true' }, { a: true }],
		['an empty choice', [choice('a', ['x', 'y'], { default: 'y' })], { a: '' }, { a: 'y' }],
		['a choice by its meaning', [words], { a: 'x' }, { a: false }],
		['a number that is chosen', [numbers('a')], { a: '5' }, { a: 5 }],
		['the choice that is not sent', [choice('a', ['x', 'y'], { notSent: 'x' })], { a: 'x' }, {}],
		['what goes along', [field('a', { sentAlong: { b: 1 } })], { a: 'x' }, { a: 'x', b: 1 }],
		['names', [field('a', { shape: 'names' })], { a: ['x', '', 'y', 'x'] }, { a: 'x,y' }],
		['names of two fields', [names('a'), names('b')], { a: ['x', 'y'], b: ['y', 'z'] }, { n: 'x,y,z' }],
		['images', [field('a', { shape: 'images' })], { a: [{ reference: A }, { reference: B }] }, { a: [A, B] }],
		[
			'images with roles',
			[field('image_urls', { shape: 'imagesWithRoles' })],
			{
				image_urls: [
					{ reference: A, role: '' },
					{ reference: B, role: 'last_frame' },
				],
			},
			{ image_urls: [A], image_with_roles: [{ url: B, role: 'last_frame' }] },
		],
	])('%s is written as its field says', (_, fields, values, body) => {
		expect(bodyOf(fields, values)).toStrictEqual(body);
	});

	/** A choice of numbers. */
	function numbers(path: string) {
		return field(path, { type: 'options', options: [4, 5].map((value) => ({ name: `${value} s`, value })) });
	}

	/** One of several fields whose names go into one value. */
	function names(name: string) {
		return { ...field(name, { shape: 'names' }), bodyPath: 'n' };
	}
});

describe('fields of some choices', () => {
	const size = (more: Partial<FieldSpec>, ...of: string[]) =>
		field('size', { ...more, displayOptions: { show: { '/a': of } } });
	const fields = [
		field('z', { default: '' }),
		choice('a', ['x', 'y'], { default: 'x' }),
		...[size({ default: '1' }, 'x'), size({ default: '2' }, 'y')],
	];

	test('only the field of the choice is sent, with its default', () => {
		expect(bodyOf(fields, {})).toEqual({ a: 'x', size: '1' });
		expect(bodyOf(fields, { a: '' })).toEqual({ a: 'x', size: '1' });
		expect(bodyOf(fields, { a: 'y', size: '3' })).toEqual({ a: 'y', size: '3' });
	});

	test('an optional field is sent where it was added, without a default', () => {
		const more = { optionalFields: [field('b', { default: 'x' }), size({}, 'y')] };
		expect(bodyOf(fields.slice(0, 2), { size: '1' }, more)).toEqual({ a: 'x' });
		expect(bodyOf([], { b: 'y' }, more)).toEqual({ b: 'y' });
		expect(bodyOf([], { b: null }, more)).toStrictEqual({});
	});

	test.each<[string, FormValues, string[]]>([
		['a value', { b: 'z' }, ['B']],
		['no switch', { b: 'false' }, []],
		['its default', { b: 'd' }, []],
		['the choice that is not sent', { b: 'n' }, []],
		['a value, and is shown', { a: 'x', b: 'z' }, []],
	])('a field that is not shown has %s: %j', (_, values, hidden) => {
		const b = { default: 'd', notSent: 'n' };
		const spec = specOf([
			field('a', { default: 'y' }),
			field('b', { ...b, displayOptions: { show: { a: ['x'] } } }),
			field('b', { ...b, displayOptions: { show: { c: ['1'] } }, displayName: 'B' }),
		]);
		expect([...new Set(hiddenChoices(spec, values).map(({ displayName }) => displayName))]).toEqual(hidden);
	});

	test('a choice that goes with no other is sent although it is not shown, so that this is said', () => {
		const rules: Rule[] = [{ kind: 'atMostOne', of: ['b', 'c'], advice: '' }];
		const hidden = ['b', 'd'].map((name) => field(name, { displayOptions: { show: { a: ['x'] } } }));
		const values = { b: '1', c: '2', d: '3' };
		expect(() => bodyOf([...hidden, field('c')], values, { rules })).toThrow(/B and C/);
		expect(bodyOf(hidden, values, { rules })).toEqual({ b: '1' });
		expect(bodyOf(hidden, values, { rules: [{ kind: 'usesFirst', of: 'b', count: 1, advice: '' }] })).toEqual({});
		expect(bodyOf(hidden, values, { rules: [{ kind: 'exactlyOne', of: ['b'], advice: '' }, ...rules] })).toEqual({
			b: '1',
		});
	});
});

describe('what is chosen', () => {
	const unit = choice('unit', ['usd', 'credits'], { default: 'usd' });
	const amount = field('amount', {
		...{ shape: 'number', default: '5' },
		units: { field: 'unit', of: { usd: { scale: 200 } } },
	});
	const none = choice('a', ['x', 'y'], { default: 'x', notSent: 'y' });

	test.each<[string, FieldSpec[], FormValues, JsonObject]>([
		['the default', [field('a', { default: 'x' })], { a: 'x' }, {}],
		['nothing', [field('a', { default: 'x' })], {}, {}],
		['the default of a number, as text', [field('a', { type: 'number', default: 1 })], { a: ' 1 ' }, {}],
		['another value', [field('a.b', { default: 'x', name: 'a' })], { a: 'y' }, { a: { b: 'y' } }],
		['an emptied default', [field('a', { default: 'x' })], { a: '' }, { a: null }],
		['an empty field that begins so', [field('a')], { a: ' ' }, {}],
		['the choice that is not sent', [none], { a: 'y' }, { a: null }],
		['the default of the unit that the form begins with', [amount], { amount: '5', unit: 'usd' }, {}],
		['it in another unit', [amount], { amount: '5', unit: 'credits' }, { amount: 5 }],
		['no image', [field('a', { shape: 'images', default: {} })], { a: [] }, {}],
		['an image', [field('a', { shape: 'images', default: {} })], { a: [{ reference: A }] }, { a: [A] }],
	])('%s', (_, fields, values, form) => {
		const spec = specOf(fields, { choices: [unit], constants: { c: 1 } });
		expect(toChosen(spec, values)).toStrictEqual({ model: 'm', form, additionalFields: {} });
	});

	test('an option counts when it was added, with its default, too, and Additional Fields as they were given', () => {
		const spec = specOf([], { id: undefined, optionalFields: [field('a', { default: 'x' })] });
		expect(toChosen(spec, {}, { a: null })).toStrictEqual({ form: {}, additionalFields: { a: null } });
		expect(toChosen(spec, { a: 'x' })).toStrictEqual({ form: { a: 'x' }, additionalFields: {} });
	});
});

describe('Additional Fields', () => {
	test('Additional Fields are merged in last', () => {
		expect(bodyOf([field('a.b', { name: 'a' })], { a: 'x' }, {}, { a: { c: 1 }, d: null })).toEqual({
			a: { b: 'x', c: 1 },
		});
	});

	test('a switch that is off is not sent next to what it goes with at most alone', () => {
		const fields = [field('on', { type: 'boolean' }), field('b')];
		const rules: Rule[] = [
			{ kind: 'usesFirst', of: 'b', count: 1, advice: '' },
			{ kind: 'atMostOne', of: ['on', 'b'], advice: '' },
		];
		const values = { on: false, b: 'x' };
		expect(bodyOf(fields, values, { rules })).toEqual({ b: 'x' });
		expect(bodyOf(fields, { on: false }, { rules })).toEqual({ on: false });
		expect(bodyOf(fields, values)).toEqual(values);
		expect(bodyOf(fields, values, { rules }, { on: false })).toEqual(values);
		expect(bodyOf(fields, values, { rules: [{ kind: 'exactlyOne', of: ['on', 'b'], advice: '' }] })).toEqual(values);
	});
});

describe('images that are still to be uploaded', () => {
	const [one, two] = [pending('one'), pending('two')];
	const body = { a: one, b: [{ url: two }, A, null], c: 5 };

	test('they have references until a URL takes the place of each, in the order of the body', () => {
		expect(pendingUploads(body)).toEqual([one, two]);
		const { body: plain, files } = withReferences(body);
		expect(plain).toEqual({ a: 'upload of one', b: [{ url: 'upload of two' }, A, null], c: 5 });
		expect([...files.values()]).toEqual([one.file, two.file]);
		const urls = new Map([
			['upload of one', A],
			['upload of two', B],
		]);
		expect(withUploads(plain, urls)).toEqual({ a: A, b: [{ url: B }, A, null], c: 5 });
	});
});
