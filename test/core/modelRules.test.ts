/** The checks between the fields of a request body, and of its images: each rule once. */
import type { JsonObject } from '../../core/json';
import { describeConditions, labelOf } from '../../core/models/describe';
import { namesMissingImage, withoutUnused } from '../../core/models/rules';
import type { FieldSpec, Rule } from '../../core/models/spec';
import { choice, field, reasonsOf, specOf, type Reason } from '../support/bodySpecs';

const A = 'https://a.example/a.png';
const B = 'https://a.example/b.png';
const ASSET = 'asset://pa_1';
const FILE = 'data:image/png;base64,AAAA';

describe('images with roles', () => {
	const spec = specOf([field('image_urls', { shape: 'imagesWithRoles' })]);
	const label = 'IMAGE_URLS';
	const second = `${label}, image 2,`;
	const NO_ROLES: Reason = [
		'valueNotAllowed',
		{ label, value: '"a"', allowed: 'objects with url and role', model: 'm' },
	];

	test.each<[string, unknown, Reason | undefined]>([
		['nothing', undefined, undefined],
		[
			'images with roles',
			[
				{ url: A, role: 'first_frame' },
				{ url: B, role: 'last_frame' },
			],
			undefined,
		],
		['no list', 'a', ['valueNotAllowed', { label, value: '"a"', allowed: 'a list', model: 'm' }]],
		['no object', [{ url: A, role: 'last_frame' }, 'a'], NO_ROLES],
		['no role', [{ url: A, role: 'last_frame' }, { url: A }], ['roleMissing', { label: second }]],
		[
			'another role',
			[
				{ url: A, role: 'last_frame' },
				{ url: A, role: 'reference_image' },
			],
			['roleNotSupported', { label: second, value: '"reference_image"', model: 'm' }],
		],
		[
			'no URL',
			[
				{ url: A, role: 'last_frame' },
				{ url: 'a', role: 'last_frame' },
			],
			['imageNotAUrl', { label: second, value: '"a"' }],
		],
		['one without a URL', [{ role: 'last_frame' }], ['imageEmpty', { label }]],
	])('%s is checked in the list of images with roles', (_, image_with_roles, reason) => {
		expect(reasonsOf(spec, { image_with_roles })).toEqual(reason === undefined ? [] : [reason]);
	});

	test('images without roles are checked in their own list', () => {
		expect(reasonsOf(spec, { image_urls: ['a'] })).toEqual([['imageNotAUrl', { label, value: '"a"' }]]);
	});

	test('an asset with a role is taken from Additional Fields only', () => {
		const body = { image_with_roles: [{ url: ASSET, role: 'first_frame' }] };
		expect(reasonsOf(spec, body)).toEqual([['assetNotAccepted', { label, value: `"${ASSET}"`, model: 'm' }]]);
		expect(reasonsOf(spec, body, body)).toEqual([]);
	});

	test('roles are checked for the field that has them, and for no other', () => {
		expect(reasonsOf(specOf([field('image_urls', { shape: 'images' })]), { image_with_roles: 'a' })).toEqual([]);
	});
});

describe('files in the place of images', () => {
	const names = ['image_urls', 'image_with_roles', 'reference_images', 'images', 'image_url', 'image'];

	test.each(names)('a file is refused under %s, where the form has no such field', (label) => {
		const spec = specOf([field('z')]);
		for (const value of [FILE, [A, FILE], [{ url: FILE }]])
			expect(reasonsOf(spec, { [label]: value })).toEqual([['imageIsFile', { label }]]);
		for (const value of [A, [A, { url: A }], 5, {}, [5], ['']]) expect(reasonsOf(spec, { [label]: value })).toEqual([]);
		expect(reasonsOf(specOf([], { id: undefined }), { [label]: FILE })).toEqual([]);
	});

	test('a field of the form looks for files itself', () => {
		const ofForm = [['imageIsFile', { label: 'IMAGES' }]];
		expect(reasonsOf(specOf([field('z'), field('images', { shape: 'images' })]), { images: [FILE] })).toEqual(ofForm);
		const others = { otherFields: [field('z'), field('images', { shape: 'images' })] };
		expect(reasonsOf(specOf([], others), { images: [FILE] })).toEqual(ofForm);
		const withRoles = specOf([field('z'), field('images', { shape: 'imagesWithRoles' })]);
		const image_with_roles = [{ url: FILE, role: 'first_frame' }];
		expect(reasonsOf(withRoles, { image_with_roles })).toEqual(ofForm);
		expect(reasonsOf(withRoles, { image: FILE })).toEqual([['imageIsFile', { label: 'image' }]]);
	});
});

describe('rules between fields', () => {
	const advice = 'Do so.';
	const atMostOne = (...of: string[]): Rule => ({ kind: 'atMostOne', of, advice });
	const exactlyOne = (...of: string[]): Rule => ({ kind: 'exactlyOne', of, advice });
	const maxItems = (of: string, max: number, more = {}): Rule => ({ kind: 'maxItems', of, max, advice, ...more });
	const inOneCase = { when: { path: 'b', is: 'x' } };
	const unique: Rule = { kind: 'uniqueRoles', of: 'a', advice };
	const mixed: Rule = { kind: 'rolesForAllOrNone', without: 'a', with: 'b', advice };
	const absent: Rule = { kind: 'absent', of: 'a', label: 'L', advice };
	const needed: Rule = { kind: 'neededWithout', of: 'a', other: 'b', advice };

	const excluded = (labels: string): Reason => ['fieldsExcludeEachOther', { labels, advice }];
	const oneOf = (labels: string): Reason => ['oneFieldRequired', { labels, advice }];
	const tooMany = (label: string, count: number, max: number): Reason => [
		'tooManyEntries',
		{ label, count, max, advice },
	];
	const twice = (count: string, role: string): Reason => ['roleTwice', { count, role, advice }];
	const empty: Reason = ['fieldEmpty', { label: 'A', enter: advice }];
	const other: Reason = ['fieldNotForModel', { label: 'L', path: 'a', model: 'n', advice }];

	const fields = ['a', 'b', 'c', 'd'].map((name) =>
		field(name, { shape: 'object', extraValues: 'all', displayName: name > 'b' ? 'SAME' : name.toUpperCase() }),
	);
	const reasonOf = (rule: Rule, body: JsonObject, additionalFields: JsonObject) =>
		reasonsOf(specOf(fields, { rules: [rule] }), body, additionalFields);

	test('a limit of the form is no limit of what Additional Fields have under another name', () => {
		const rule = maxItems('image_urls', 1, { inForm: true });
		expect(reasonOf(rule, { image_urls: [A], images: [A] }, { images: [A] })).toEqual([]);
		expect(reasonOf(rule, { image_urls: [A, A], images: [A] }, { images: [A] })).toEqual([tooMany('image_urls', 2, 1)]);
		expect(reasonOf(rule, { image_urls: [A, A] }, { image_urls: [A, A] })).toEqual([]);
	});

	test.each<[string, Rule, JsonObject, Reason | undefined]>([
		['none of two', atMostOne('a', 'b'), { a: false, b: '' }, undefined],
		['one of two', atMostOne('a', 'b'), { a: 'x' }, undefined],
		['both of two', atMostOne('a', 'b'), { a: 'x', b: 'y' }, excluded('A and B')],
		['fields of one label', atMostOne('a', 'c', 'd'), { a: 1, c: 1, d: 2 }, excluded('A and SAME (c) and SAME (d)')],
		['an image next to another field', atMostOne('image_urls', 'b'), { images: [A], b: 1 }, undefined],
		['none of two that are needed', exactlyOne('a', 'b'), {}, oneOf('A and B')],
		['one of two that are needed', exactlyOne('a', 'b'), { b: 'y' }, undefined],
		['both of two that are needed', exactlyOne('a', 'b'), { a: 'x', b: 'y' }, excluded('A and B')],
		['an image under another name', exactlyOne('image_urls', 'b'), { image: A }, undefined],
		['a value that is no image', exactlyOne('image_urls', 'b'), { image_urls: 5 }, undefined],
		['an image with its role', exactlyOne('image_urls', 'b'), { image: { url: A } }, undefined],
		[
			'an image and what is none',
			exactlyOne('image_urls', 'b'),
			{ b: 'y', image: { strength: 1 }, images: 5 },
			undefined,
		],
		[
			'only what is no image',
			exactlyOne('image_urls', 'b'),
			{ image: { url: '' }, images: true },
			oneOf('image_urls and B'),
		],
		['no image', exactlyOne('image_urls', 'b'), { b: 'y', image: null, images: [''] }, undefined],
		['as many as allowed', maxItems('a', 2), { a: [1, 2] }, undefined],
		['more than allowed', maxItems('a', 2), { a: [1, 2, 3] }, tooMany('A', 3, 2)],
		['no list', maxItems('a', 0), { a: 'xyz' }, undefined],
		[
			'one image, and another one under another name',
			maxItems('image_urls', 1),
			{ image_urls: [A], images: [A] },
			undefined,
		],
		['images under several names', maxItems('image_urls', 1), { image: A, images: [{ url: B }, ''] }, undefined],
		['more than allowed in one case', maxItems('a', 1, inOneCase), { a: [1, 2], b: 'x' }, tooMany('A', 2, 1)],
		['more in another case', maxItems('a', 1, inOneCase), { a: [1, 2], b: 'y' }, undefined],
		['each role once', unique, { a: [{ role: 'x' }, { role: 'y' }, {}, {}, 5] }, undefined],
		['no role, and a role twice', unique, { a: [{}, {}, { role: 'y' }, { role: 'y' }] }, twice('Two', 'y')],
		['a role twice', unique, { a: [{ role: 'x' }, { role: 'y' }, { role: 'y' }] }, twice('Two', 'y')],
		['a role three times', unique, { a: Array(3).fill({ role: 'last_frame' }) }, twice('3', 'Last Frame')],
		['the other role twice', unique, { a: Array(2).fill({ role: 'first_frame' }) }, twice('Two', 'First Frame')],
		['roles for all', mixed, { a: [], b: [1] }, undefined],
		['roles for none', mixed, { a: [1] }, undefined],
		['roles for some', mixed, { a: [1], b: [1] }, ['rolesMixed', { advice }]],
		['a field that the model does not have', absent, { a: null, model: 'n' }, other],
		['a field of another model that is off', absent, { a: false, model: 'n' }, undefined],
		['no field that the model does not have', absent, { model: 'n' }, undefined],
		['no text and no other', needed, {}, empty],
		['a text of spaces that Additional Fields give', needed, { a: ' ' }, undefined],
		['no text and a field that the form does not have', needed, { other: 1 }, undefined],
		['a text and no other', needed, { a: 'x' }, undefined],
		['a number and no other', needed, { a: 5 }, undefined],
		['no text and another', needed, { b: 'x' }, undefined],
		['more than are used', { kind: 'usesFirst', of: 'a', count: 1, advice }, { a: [1, 2] }, undefined],
		['a name of no image', { kind: 'imageReferences', prompt: 'a' }, { a: '<<<image_1>>>' }, undefined],
	])('a rule between fields holds, or says what is wrong: %s', (_, rule, body, reason) => {
		expect(reasonOf(rule, body, body)).toEqual(reason === undefined ? [] : [reason]);
	});

	test('Additional Fields may give more entries than the form, where the contract does not close it', () => {
		const rule = maxItems('a', 1, { inForm: true });
		expect(reasonOf(rule, { a: [{}, {}] }, { a: [] })).toEqual([]);
		expect(reasonsOf(specOf([], { rules: [rule] }), { a: [{}, {}] })).toEqual([tooMany('a', 2, 1)]);
	});

	test('of a list, only the entries that the service uses are sent', () => {
		const rules: Rule[] = [
			{ kind: 'usesFirst', of: 'a', count: 2, advice },
			{ kind: 'usesFirst', of: 'b', count: 1, advice },
			{ kind: 'uniqueRoles', of: 'c', advice },
		];
		const body = { a: [1, 2, 3], b: [1], c: [1, 2, 3], d: 4 };
		const used = withoutUnused(specOf([], { rules }), body);
		expect(used.body).toEqual({ ...body, a: [1, 2] });
		expect(used.shortened.map(({ of, count }) => [of, count])).toEqual([['a', 2]]);
		expect(body.a).toEqual([1, 2, 3]);
	});

	test.each<[unknown, boolean]>([
		['<<<image_1>>> and <<<image_2>>>', false],
		['<<<image_1>>> and <<<image_3>>>', true],
		['<<<image_0>>>', true],
		['<<<image_-1>>>', true],
		['<<<image_22>>>', true],
		['<<image_3>>', false],
		['image 3', false],
		[5, false],
		[undefined, false],
	])('a prompt of two images that says %j names a missing one: %p', (prompt, isMissing) => {
		const rules: Rule[] = [atMostOne('prompt'), { kind: 'imageReferences', prompt: 'prompt' }];
		const body = { prompt, image_urls: [A], images: [B] };
		expect(namesMissingImage(specOf([], { rules }), body)).toBe(isMissing);
		expect(namesMissingImage(specOf([], { rules: [atMostOne('prompt')] }), body)).toBe(false);
	});
});

describe('the fields of a request body in words', () => {
	const fields = [
		field('z', { options: [] }),
		field('image_urls'),
		choice('a/b', ['1', '2']),
		field('o.p'),
		field('o.q'),
	];

	test.each([
		['z', 'Z'],
		['image_with_roles', 'IMAGE_URLS'],
		['o', 'O.P'],
		['o.q', 'O.Q'],
		['p', 'p'],
		['q', 'q'],
	])('what writes to %s is called %s', (path, label) => {
		expect(labelOf(specOf(fields), path)).toBe(label);
	});

	test.each<[FieldSpec['displayOptions'], string[]]>([
		[undefined, []],
		[{ show: { 'a/b': ['1', '3', '2'] } }, ['A/B is The 1, 3 or The 2']],
		[{ show: { '/z': ['1'], 'o.p': ['2'] } }, ['Z is 1', 'O.P is 2']],
		[{ show: { '/other': [1, 2] } }, ['/other is 1 or 2']],
		[{ show: { z: undefined } }, ['Z is ']],
	])('the conditions %j are said as %j', (displayOptions, words) => {
		expect(describeConditions(specOf(fields), field('x', { displayOptions }))).toEqual(words);
	});
});
