/** The checks of the fields of a request body, by specifications written here: each kind of field and each bound once. */
import type { JsonObject } from '../../core/json';
import type { BodySpec, FieldSpec, Rule } from '../../core/models/spec';
import { choice, field, pending, reasonsOf, specOf, type Reason } from '../support/bodySpecs';

const A = 'https://a.example/a.png';
const B = 'https://a.example/b.png';
const ASSET = 'asset://pa_1';
const FILE = 'data:image/png;base64,AAAA';

/** The reason for the value of one field. */
const reasonOf = (more: Partial<FieldSpec>, value: unknown, source: 'form' | 'json', rest: Partial<BodySpec> = {}) =>
	reasonsOf(specOf([field('x', more)], rest), { x: value }, source === 'json' ? { x: value } : {})[0];

const X = { label: 'X' };
const shown = (value: string) => ({ ...X, value });
const inForm = (value: string, allowed: string): Reason => [
	'valueNotInForm',
	{ ...X, value, allowed, model: 'm', path: 'x' },
];
const refused = (value: string, allowed: string): Reason => ['valueNotAllowed', { ...X, value, allowed, model: 'm' }];

describe('one field of a request body', () => {
	const text: Partial<FieldSpec> = {};
	const bounded: Partial<FieldSpec> = { type: 'number', min: 1, max: 5 };
	const whole: Partial<FieldSpec> = { ...bounded, integer: true };
	const amount: Partial<FieldSpec> = { ...whole, reasons: { integer: 'amountNotWhole', type: 'amountNotANumber' } };
	const options: Partial<FieldSpec> = choice('x', ['a', 'b', '', 'none'], { notSent: 'none' });
	const words: Partial<FieldSpec> = { ...options, bodyValues: { a: 1, b: 2, none: 'none', empty: '' } };
	const urls: Partial<FieldSpec> = { shape: 'urls' };
	const fromOne: Partial<FieldSpec> = { ...whole, max: undefined };
	const images: Partial<FieldSpec> = { shape: 'images' };
	const rows = { ...images, options: [{ displayName: 'Image', name: 'image', values: [] }] };
	const address: Partial<FieldSpec> = { format: 'address', reasons: { format: 'callbackNotAUrl' } };
	const source: Partial<FieldSpec> = { format: 'url', reasons: { format: 'sourceNotAUrl', file: 'sourceIsFile' } };

	const TOO_LONG: Reason = ['tokenNameTooLong', { ...X, length: 3, max: 2 }];
	const ASSET_REFUSED: Reason = ['assetNotAccepted', { ...shown(`"${ASSET}"`), model: 'm' }];

	test.each<[string, Partial<FieldSpec>, unknown, Reason | undefined]>([
		['text', text, 'a', undefined],
		['text', text, 5, refused('5', 'text')],
		['an empty text', text, '', undefined],
		['a text of spaces', text, ' ', undefined],
		['a required text', { required: true }, 'a', undefined],
		['a text that is always sent', { alwaysSent: true }, 'a', undefined],
		['a required text of spaces', { required: true }, ' ', ['fieldEmpty', X]],
		['an empty text that is always sent', { alwaysSent: true }, '', ['fieldEmpty', X]],
		['an empty text that is required', { required: true, alwaysSent: false }, '', ['fieldEmpty', X]],
		['a text of two signs of four bytes', { maxLength: 2 }, '𝒳𝒴', undefined],
		['a text of three', { maxLength: 2 }, 'abc', ['textTooLong', { ...X, length: 3, max: 2, model: 'm' }]],
		['a name of three', { maxLength: 2, reasons: { maxLength: 'tokenNameTooLong' } }, 'abc', TOO_LONG],
		['the least number', bounded, 1, undefined],
		['the greatest number', bounded, 5, undefined],
		['a broken number', bounded, 2.5, undefined],
		['a number below', bounded, 0.9, refused('0.9', 'numbers from 1 to 5')],
		['a number above', bounded, 5.1, refused('5.1', 'numbers from 1 to 5')],
		['a number as text', bounded, '2', refused('"2"', 'numbers from 1 to 5')],
		['no number', bounded, NaN, refused('NaN', 'numbers from 1 to 5')],
		['any number', { type: 'number' }, -1e15, undefined],
		['a number that was rounded', { type: 'number' }, 2 ** 60, refused('1152921504606847000', 'numbers')],
		['a number in a text field', { shape: 'number' }, 7, undefined],
		['no number in a text field', { shape: 'number', max: 3 }, 'a', refused('"a"', 'numbers')],
		['a date', { shape: 'unixSeconds' }, 7, undefined],
		['no date', { shape: 'unixSeconds', reasons: { type: 'notUnixSeconds' } }, 'a', ['notUnixSeconds', shown('"a"')]],
		['a whole number', whole, 2, undefined],
		['no whole number', whole, 2.5, refused('2.5', 'whole numbers from 1 to 5')],
		['a whole number that was rounded', fromOne, 2 ** 60, refused('1152921504606847000', 'whole numbers from 1')],
		['a broken amount', amount, 2.5, ['amountNotWhole', shown('2.5')]],
		['a broken amount above', amount, 5.5, ['amountNotANumber', shown('5.5')]],
		['an amount above', amount, 6, ['amountNotANumber', shown('6')]],
		['a choice', options, 'a', undefined],
		['a meaning of a choice', words, 2, undefined],
		['true', { type: 'boolean' }, true, undefined],
		['false', { type: 'boolean' }, false, undefined],
		['a word for true', { type: 'boolean' }, 'true', refused('"true"', 'true or false')],
		['an object', { shape: 'object' }, {}, undefined],
		['a list in the place of an object', { shape: 'object' }, [], refused('[]', 'an object')],
		['URLs', urls, [A, B], undefined],
		['a URL that is no list', urls, A, refused(`"${A}"`, 'a list')],
		['no URL', urls, [A, 'b', 'c'], ['notAUrl', shown('"b"')]],
		['no text', urls, [5], ['notAUrl', shown('5')]],
		['a URL', { format: 'url' }, A, undefined],
		['an address in the place of a URL', { format: 'url' }, 'myapp://a', ['notAUrl', shown('"myapp://a"')]],
		['an address', address, 'myapp://a', undefined],
		['no address', address, 'a', ['callbackNotAUrl', shown('"a"')]],
		['a file in the place of an address', address, 'data:', ['callbackNotAUrl', shown('"data:"')]],
		['a source', source, A, undefined],
		['a source that only an app opens', source, 'myapp://a', ['sourceNotAUrl', shown('"myapp://a"')]],
		['a file in the place of a source', source, FILE, ['sourceIsFile', X]],
		['a source that is no text', source, 5, ['sourceNotAUrl', shown('5')]],
		['images', images, [A, pending('a')], undefined],
		['an image that is no list', images, A, refused(`"${A}"`, 'a list')],
		['no image', images, [''], ['imageEmpty', X]],
		['no second image', images, [A, null], ['imageEmpty', { label: 'X, image 2,' }]],
		['no second image of a form with rows', rows, [A, '', 5], ['imageEmpty', { label: 'Image 2' }]],
		['an image that is no text', images, [5], ['imageNotAUrl', shown('5')]],
		['an image that cannot be a text', images, [{ toString: 5 }], ['imageNotAUrl', shown('{"toString":5}')]],
		['an image without an address', images, ['a.png'], ['imageNotAUrl', shown('"a.png"')]],
		['the file of an image', images, [FILE], ['imageIsFile', X]],
		['what is like an asset among images', images, ['asset://'], ['notAnAssetReference', shown('"asset://"')]],
	])('%s is checked wherever it was entered', (_, more, value, reason) => {
		for (const source of ['form', 'json'] as const)
			expect([source, reasonOf(more, value, source)]).toEqual([source, reason]);
	});

	test.each<[string, Partial<FieldSpec>, unknown, Reason | undefined, Reason | undefined]>([
		['a greater number', { ...bounded, extraValues: 'values' }, 6, inForm('6', 'numbers from 1 to 5'), undefined],
		['a smaller number', { ...bounded, extraValues: 'values' }, 0, inForm('0', 'numbers from 1 to 5'), undefined],
		[
			'a broken number',
			{ ...whole, extraValues: 'values' },
			6.5,
			refused('6.5', 'whole numbers from 1 to 5'),
			refused('6.5', 'whole numbers'),
		],
		['any value', { ...bounded, extraValues: 'all' }, 'a', inForm('"a"', 'numbers from 1 to 5'), undefined],
		[
			'a number that JSON cannot write',
			{ ...bounded, extraValues: 'all' },
			Infinity,
			refused('Infinity', 'numbers from 1 to 5'),
			undefined,
		],
		['no choice', options, 'c', refused('"c"', 'a, b or none'), refused('"c"', 'a or b')],
		['an empty choice', options, '', refused('""', 'a, b or none'), refused('""', 'a or b')],
		['the choice that is not sent', options, 'none', undefined, refused('"none"', 'a or b')],
		['a choice instead of its meaning', words, 'a', refused('"a"', '1, 2 or none'), refused('"a"', '1 or 2')],
		['an asset among URLs', urls, [ASSET], ASSET_REFUSED, undefined],
		['an asset as a URL', { format: 'url' }, ASSET, ASSET_REFUSED, undefined],
		[
			'what is like an asset among URLs',
			urls,
			['asset://'],
			['notAUrl', shown('"asset://"')],
			['notAnAssetReference', shown('"asset://"')],
		],
		['an asset among images', images, [ASSET], ASSET_REFUSED, undefined],
	])('%s may be more than the form takes', (_, more, value, ofForm, ofJson) => {
		expect({ form: reasonOf(more, value, 'form'), json: reasonOf(more, value, 'json') }).toEqual({
			form: ofForm,
			json: ofJson,
		});
	});

	test('an asset is an image where the model takes assets', () => {
		expect(reasonOf(images, [ASSET], 'form', { acceptsAssets: true })).toBeUndefined();
		expect(reasonOf(images, ['asset://'], 'form', { acceptsAssets: true })?.[0]).toBe('notAnAssetReference');
	});

	test.each<[string, Partial<FieldSpec>, unknown, Reason]>([
		['a text of another type', text, 5, ['notText', shown('5')]],
		['no choice', options, 'c', ['notAChoice', { ...shown('"c"'), allowed: 'a, b or none' }]],
		[
			'no number',
			bounded,
			'a',
			['valueNotAllowed', { ...shown('"a"'), allowed: 'numbers from 1 to 5', model: 'the service' }],
		],
		['an asset', urls, [ASSET], ['assetNotAccepted', { ...shown(`"${ASSET}"`), model: 'the service' }]],
	])('%s is refused without a word about a model where there is none', (_, more, value, reason) => {
		expect(reasonOf(more, value, 'form', { id: undefined })).toEqual(reason);
	});
});

describe('the fields that a request body must have', () => {
	const needed = field('b', { required: true });
	const shownFor = (...values: unknown[]) => ({ ...needed, displayOptions: { show: { '/a': values as string[] } } });
	const EMPTY: Reason[] = [['fieldEmpty', { label: 'B' }]];

	test.each<[string, FieldSpec[], JsonObject, Reason[]]>([
		['it is required', [needed], {}, EMPTY],
		['it is not required', [field('b')], {}, []],
		['it is sent in any case', [field('b', { alwaysSent: true })], {}, EMPTY],
		['only the form requires it', [field('b', { required: true, alwaysSent: false })], {}, []],
		['the body makes the choice', [field('a'), shownFor('x')], { a: 'x' }, EMPTY],
		['the body makes another choice', [field('a', { default: 'x' }), shownFor('x')], { a: 'y' }, []],
		['the default makes the choice', [field('a', { default: 'x' }), shownFor('x')], {}, EMPTY],
		['no choice is sent', [field('a', { default: 'x', notSent: 'n' }), shownFor('n')], {}, EMPTY],
		['no choice is sent', [field('a', { default: 'x', notSent: 'n' }), shownFor('x')], {}, []],
		['the choice has other words', [field('a', { default: 'x', bodyValues: { x: 'x' } }), shownFor('x')], {}, []],
		['the choice is no field', [shownFor('x')], { a: 'x' }, []],
		['its entry is there', [{ ...shownFor('x'), bodyPath: 'list.0.b' }], { list: [{}] }, EMPTY],
		[
			'its entry, the eleventh, is there',
			[{ ...shownFor('x'), bodyPath: 'list.10.b' }],
			{ list: Array(11).fill({}) },
			EMPTY,
		],
		['its entry is not there', [{ ...shownFor('x'), bodyPath: 'list.10.b' }], { list: [{}, {}] }, []],
		['its object is no entry', [{ ...shownFor('x'), bodyPath: 'c.b' }], { c: {} }, []],
		['another field of its path is shown', [shownFor('x'), { ...field('b'), displayName: 'C' }], {}, []],
		['it comes first of its path', [needed, { ...needed, displayName: 'C' }], {}, EMPTY],
	])('an absent field is missed or not where %s', (_, fields, body, reasons) => {
		expect(reasonsOf(specOf([field('z', { default: 'x' }), ...fields]), body)).toEqual(reasons);
	});

	test('a value of a field that is not shown is checked where it is the only one of its path', () => {
		const hidden = field('b', { type: 'boolean', displayOptions: { show: { '/a': ['x'], c: ['y'] } } });
		const wrong = [
			['valueNotAllowed', { label: 'B', value: '5', allowed: 'true or false when /a is x and c is y', model: 'm' }],
		];
		expect(reasonsOf(specOf([field('y'), field('z'), hidden]), { b: 5 })).toEqual(wrong);
		expect(reasonsOf(specOf([hidden, hidden]), { b: 5 })).toEqual([]);
	});

	test('a field that the form does not have is checked where Additional Fields give it', () => {
		const spec = specOf([], { otherFields: [field('o.p', { type: 'boolean', required: true })] });
		expect(reasonsOf(spec, {})).toEqual([]);
		expect(reasonsOf(spec, { o: { p: true } })).toEqual([]);
		expect(reasonsOf(spec, { o: { p: 5 } }).map(([name]) => name)).toEqual(['valueNotAllowed']);
	});

	test('an optional field is checked like the others', () => {
		const spec = specOf([], { optionalFields: [field('b', { type: 'boolean' })] });
		expect(reasonsOf(spec, { b: 5 }).map(([name]) => name)).toEqual(['valueNotAllowed']);
	});

	test.each<[JsonObject, string, string, string]>([
		[{ o: 'a' }, 'o', '"a"', 'an object'],
		[{ o: [] }, 'o', '[]', 'an object'],
		[{ o: { v2: 5 } }, 'o.v2', '5', 'an object'],
		[{ l: {} }, 'l', '{}', 'a list'],
		[{ l: null }, 'l', 'null', 'a list'],
		[{ l: ['a'] }, 'l.0', '"a"', 'an object'],
		[{ k: {} }, 'k', '{}', 'a list'],
	])('what holds fields must be able to hold them: %j', (body, label, value, allowed) => {
		const spec = specOf([field('o.v2.2d.p'), field('l.0.p'), field('k.10.p')]);
		expect(reasonsOf(spec, body)).toEqual([['valueOfWrongType', { label, value, allowed, model: 'm' }]]);
		expect(reasonsOf(spec, { o: { v2: { '2d': {} } }, l: [{}], k: [] })).toEqual([]);
	});
});

test('all that is wrong is said, containers first, then fields, images elsewhere, and rules', () => {
	const rules: Rule[] = [{ kind: 'exactlyOne', of: ['e', 'f'], advice: 'a' }];
	const spec = specOf([field('b', { required: true }), field('o.p')], { rules });
	const names = ['valueOfWrongType', 'fieldEmpty', 'imageIsFile', 'oneFieldRequired'];
	expect(reasonsOf(spec, { o: 5, image: FILE }).map(([name]) => name)).toEqual(names);
});
