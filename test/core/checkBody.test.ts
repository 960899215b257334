/** The checks of a request body, by specifications written here: each kind of field, and each bound. */
import type { JsonObject } from '../../core/json';
import { invalidInput } from '../../core/errors';
import { namesMissingImage } from '../../core/models/images';
import type { FieldSpec, ModelSpec, Rule } from '../../core/models/model';
import { choice, field, refusalsOf, specOf } from '../support/bodySpecs';

const A = 'https://a.example/a.png';
const B = 'https://a.example/b.png';
const ASSET = 'asset://pa_1';
const FILE = 'data:image/png;base64,AAAA';
const isFile = (label: string) => `${label} contains base64 data: the service accepts image URLs only`;

/** The message about the value of one field. */
const refusalOf = (more: Partial<FieldSpec>, value: unknown, source: 'form' | 'json', rest: Partial<ModelSpec> = {}) =>
	refusalsOf(specOf([field('x', more)], rest), { x: value }, source === 'json' ? { x: value } : {})[0];

const inForm = (value: string, allowed: string) => `X is ${value}: the form allows ${allowed}`;
const refused = (value: string, allowed: string) => `X is ${value}: m allows ${allowed}`;

describe('one field of a request body', () => {
	const text: Partial<FieldSpec> = {};
	const bounded: Partial<FieldSpec> = { type: 'number', min: 1, max: 5 };
	const options: Partial<FieldSpec> = choice('x', ['a', 'b', '', 'none'], { notSent: 'none' });
	const urls: Partial<FieldSpec> = { shape: 'urls' };
	const images: Partial<FieldSpec> = { shape: 'images' };
	const ASSET_REFUSED = `X is the asset reference "${ASSET}", which m does not accept`;

	test.each<[string, Partial<FieldSpec>, unknown, string | undefined]>([
		['text', text, 'a', undefined],
		['text', text, 5, refused('5', 'text')],
		['an empty text that is always sent', { alwaysSent: true }, '', 'X is empty'],
		['a text of three', { maxLength: 2 }, 'abc', 'X has 3 characters: m allows at most 2'],
		['no number', bounded, NaN, refused('NaN', 'numbers from 1 to 5')],
		['a number that was rounded', { type: 'number' }, 2 ** 60, refused('1152921504606847000', 'numbers')],
		['a URL that is no list', urls, A, refused(`"${A}"`, 'a list')],
		['two URLs in one text', urls, [`${A},${B}`], `X contains several URLs in one text: "${A},${B}"`],
		['two images in one text', images, [`${A} ; ${B}`], `X contains several URLs in one text: "${A} ; ${B}"`],
		['a URL with a comma', images, ['https://a.example/w_1,h_2/a.png'], undefined],
		['no second image', images, [A, null], 'X, image 2, is empty'],
		['what is like an asset among images', images, ['asset://'], 'X is "asset://", which does not name an asset'],
	])('%s is checked wherever it was entered', (_, more, value, refusal) => {
		for (const source of ['form', 'json'] as const)
			expect([source, refusalOf(more, value, source)]).toEqual([source, refusal]);
	});

	test.each<[string, Partial<FieldSpec>, unknown, string | undefined, string | undefined]>([
		['a greater number', { ...bounded, extraValues: 'values' }, 6, inForm('6', 'numbers from 1 to 5'), undefined],
		['any value', { ...bounded, extraValues: 'all' }, 'a', inForm('"a"', 'numbers from 1 to 5'), undefined],
		['no choice', options, 'c', refused('"c"', 'a, b or none'), refused('"c"', 'a or b')],
		['the choice that is not sent', options, 'none', undefined, refused('"none"', 'a or b')],
		['an asset among URLs', urls, [ASSET], ASSET_REFUSED, undefined],
	])('%s may be more than the form takes', (_, more, value, ofForm, ofJson) => {
		expect({ form: refusalOf(more, value, 'form'), json: refusalOf(more, value, 'json') }).toEqual({
			form: ofForm,
			json: ofJson,
		});
	});
});

describe('the fields that a request body must have', () => {
	const needed = field('b', { required: true });
	const shownFor = (...values: unknown[]) => ({ ...needed, displayOptions: { show: { '/a': values as string[] } } });
	const EMPTY = ['B is empty'];

	test.each<[string, FieldSpec[], JsonObject, string[]]>([
		['it is required', [needed], {}, EMPTY],
		['it is sent in any case', [field('b', { alwaysSent: true })], {}, EMPTY],
		['it is optional', [field('b')], {}, []],
		['the body makes the choice', [field('a'), shownFor('x')], { a: 'x' }, EMPTY],
		['the body makes another choice', [field('a', { default: 'x' }), shownFor('x')], { a: 'y' }, []],
		['the default makes the choice', [field('a', { default: 'x' }), shownFor('x')], {}, EMPTY],
		['its entry is there', [{ ...shownFor('x'), bodyPath: 'list.0.b' }], { list: [{}] }, EMPTY],
	])('an absent field is missed or not where %s', (_, fields, body, refusals) => {
		expect(refusalsOf(specOf([field('z', { default: 'x' }), ...fields]), body)).toEqual(refusals);
	});

	test('a field that the form does not have is checked where Additional Fields give it', () => {
		const spec = specOf([], { otherFields: [field('o.p', { type: 'boolean', required: true })] });
		expect(refusalsOf(spec, {})).toEqual([]);
		expect(refusalsOf(spec, { o: { p: true } })).toEqual([]);
		expect(refusalsOf(spec, { o: { p: 5 } })).toEqual(['O.P is 5: m allows true or false']);
	});
});

test('all that is wrong is said, containers first, then fields, images elsewhere, and rules', () => {
	const refuse = () => invalidInput('One of E and F is required', 'a');
	const rules: Rule[] = [{ advice: 'a', refuse }];
	const spec = specOf([field('b', { required: true }), field('o.p')], { rules });
	expect(refusalsOf(spec, { o: 5, image: FILE })).toEqual([
		...['o is 5: m takes an object', 'B is empty', isFile('image'), 'One of E and F is required'],
	]);
});

describe('images with roles', () => {
	const spec = specOf([field('image_urls', { shape: 'imagesWithRoles' })]);
	const label = 'IMAGE_URLS';
	const second = `${label}, image 2,`;
	const NO_ROLES = `${label} is "a": m allows objects with url and role`;

	test('each entry needs a URL and a role', () => {
		const of = (...image_with_roles: unknown[]) => refusalsOf(spec, { image_with_roles });
		const last = { url: A, role: 'last_frame' };
		expect(of({ url: A, role: 'first_frame' }, { url: B, role: 'last_frame' })).toEqual([]);
		expect(of(last, 'a')).toEqual([NO_ROLES]);
		expect(of(last, { url: A })).toEqual([`${second} has no role`]);
		expect(of(last, { url: 'a', role: 'last_frame' })).toEqual([`${second} is "a", which is not an http(s) URL`]);
		expect(of({ role: 'last_frame' })).toEqual([`${label} is empty`]);
	});
});

describe('files in the place of images', () => {
	const names = ['image_urls', 'image_with_roles', 'reference_images', 'images', 'image_url', 'image'];

	test.each(names)('a file is refused under %s, where the form has no such field', (label) => {
		const spec = specOf([field('z')]);
		for (const value of [FILE, [A, FILE], [{ url: FILE }]])
			expect(refusalsOf(spec, { [label]: value })).toEqual([isFile(label)]);
		for (const value of [A, [A, { url: A }], 5, {}, [5], ['']])
			expect(refusalsOf(spec, { [label]: value })).toEqual([]);
	});
});

test.each<[unknown, boolean]>([
	['<<<image_1>>> and <<<image_2>>>', false],
	['<<<image_1>>> and <<<image_3>>>', true],
	['<<<image_0>>>', true],
	['<<image_3>>', false],
	['image 3', false],
	[undefined, false],
])('a prompt of two images that says %j names a missing one: %p', (prompt, isMissing) => {
	expect(namesMissingImage({ prompt, image_urls: [A], images: [B] })).toBe(isMissing);
});

test('a text of commas is looked through in no time', () => {
	const beganMs = performance.now();
	expect(refusalOf({ shape: 'images' }, [`${A}${','.repeat(1_000_000)}`], 'form')).toBeUndefined();
	expect(performance.now() - beganMs).toBeLessThan(2_000);
});
