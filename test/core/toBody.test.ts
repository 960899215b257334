/** Request bodies of forms, by specifications written here: each kind of field once. */
import type { JsonObject } from '../../core/json';
import { pendingUploads, withReferences, withUploads } from '../../core/models/images';
import { hiddenChoices, toBody, toChosen, withoutUnused, type FormValues } from '../../core/models/body';
import type { FieldSpec, ModelSpec, Rule } from '../../core/models/model';
import { choice, field, pending, specOf } from '../support/bodySpecs';

const A = 'https://a.example/a.png';
const B = 'https://a.example/b.png';

/** The body without the name of its model. */
function bodyOf(fields: FieldSpec[], values: FormValues, more: Partial<ModelSpec> = {}, additionalFields?: JsonObject) {
	const { model, ...body } = toBody(specOf(fields, more), values, additionalFields);
	expect(model).toBe('m');
	return body;
}

test('a body begins with its model, and with what is sent with every request', () => {
	const spec = specOf([field('a')], { constants: { c: 1 } });
	expect(Object.entries(toBody(spec, { a: 'x' }))).toEqual(Object.entries({ model: 'm', c: 1, a: 'x' }));
});

describe('the value of a field goes into the body', () => {
	const number: Partial<FieldSpec> = { type: 'number' };

	test.each<[string, FieldSpec[], FormValues, JsonObject]>([
		['a text', [field('a')], { a: ' x ' }, { a: 'x' }],
		['a URL of spaces', [field('a', { format: 'url' })], { a: ' \n' }, {}],
		['a number in a text field', [field('a')], { a: 5 }, { a: '5' }],
		['an empty text', [field('a', { default: 'x' })], { a: '' }, {}],
		['a value deep in the body', [field('a.0.b', { name: 'a' })], { a: 'x' }, { a: [{ b: 'x' }] }],
		['a number as text', [field('a', number)], { a: ' 2.5 ' }, { a: 2.5 }],
		['the word for true', [field('a', { type: 'boolean' })], { a: 'true' }, { a: true }],
		['an empty choice', [choice('a', ['x', 'y'], { default: 'y' })], { a: '' }, { a: 'y' }],
		['a number that is chosen', [numbers('a')], { a: '5' }, { a: 5 }],
		['a choice with a space, as a sheet has it', [choice('a', ['16:9', '9:16'])], { a: '16:9 ' }, { a: '16:9' }],
		['the choice that is not sent', [choice('a', ['x', 'y'], { notSent: 'x' })], { a: 'x' }, {}],
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

	test('a choice that goes with no other is sent although it is not shown, so that a rule can refuse it', () => {
		const hidden = ['b', 'd'].map((name) =>
			field(name, { displayOptions: { show: { a: ['x'] } }, ...(name === 'b' ? { sentHidden: true } : {}) }),
		);
		expect(bodyOf(hidden, { b: '1', d: '3' })).toEqual({ b: '1' });
		expect(bodyOf(hidden, { b: '', d: '3' })).toEqual({});
	});
});

describe('what is chosen', () => {
	const none = choice('a', ['x', 'y'], { default: 'x', notSent: 'y' });

	test.each<[string, FieldSpec[], FormValues, JsonObject]>([
		['the default', [field('a', { default: 'x' })], { a: 'x' }, {}],
		['nothing', [field('a', { default: 'x' })], {}, {}],
		['the default of a number, as text', [field('a', { type: 'number', default: 1 })], { a: ' 1 ' }, {}],
		['another value', [field('a.b', { default: 'x', name: 'a' })], { a: 'y' }, { a: { b: 'y' } }],
		['an emptied default', [field('a', { default: 'x' })], { a: '' }, { a: null }],
		['an empty field that begins so', [field('a')], { a: ' ' }, {}],
		['the choice that is not sent', [none], { a: 'y' }, { a: null }],
		['no image', [field('a', { shape: 'images', default: {} })], { a: [] }, {}],
		['an image', [field('a', { shape: 'images', default: {} })], { a: [{ reference: A }] }, { a: [A] }],
	])('%s', (_, fields, values, form) => {
		const spec = specOf(fields, { constants: { c: 1 } });
		expect(toChosen(spec, values)).toStrictEqual({ model: 'm', form, additionalFields: {} });
	});

	test('Additional Fields count as they were given', () => {
		expect(toChosen(specOf([]), {}, { a: null })).toStrictEqual({
			model: 'm',
			form: {},
			additionalFields: { a: null },
		});
	});
});

describe('Additional Fields', () => {
	test('Additional Fields are merged in last', () => {
		expect(bodyOf([field('a.b', { name: 'a' })], { a: 'x' }, {}, { a: { c: 1 }, d: null })).toEqual({
			a: { b: 'x', c: 1 },
		});
	});

	const withoutEmpty = (body: JsonObject) => JSON.parse(JSON.stringify(body)) as JsonObject;

	test('what the service would not use is checked, and neither sent nor chosen', () => {
		const refuse: NonNullable<Rule['refuse']> = jest.fn();
		const rules: Rule[] = [
			{ advice: '', refuse, shorten: ({ model, a, c }) => withoutEmpty({ model, a, c }) },
			{ advice: '' },
		];
		const spec = specOf([field('a'), field('b')], { rules });
		const body = toBody(spec, { a: 'x', b: 'y' }, { c: 1 });
		expect(refuse).toHaveBeenCalledWith({ model: 'm', a: 'x', b: 'y', c: 1 }, { c: 1 });
		expect(withoutUnused(spec, body, {})).toEqual({ model: 'm', a: 'x', c: 1 });
		expect(toChosen(spec, { a: 'x', b: 'y' }).form).toEqual({ a: 'x' });
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
