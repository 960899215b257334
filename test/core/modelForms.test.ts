/** The form of several models, by models written here. */
import type { INodeProperties } from 'n8n-workflow';
import { markRequired } from '../../core/models/markRequired';
import {
	allowedValues,
	isNumeric,
	isVisible,
	toBodySpec,
	type FieldSpec,
	type ModelSpec,
} from '../../core/models/spec';
import { toModelOptions, toOptions, toProperties, toProperty } from '../../core/models/toProperties';
import { choice, field } from '../support/bodySpecs';

const EXPRESSION = { _cnd: { startsWith: '=' } };
const not = (value: string) => [{ _cnd: { not: value } }];
const show = (conditions: Record<string, string[]>) => ({ displayOptions: { show: conditions } });
const modelOf = (id: string, fields: FieldSpec[], optionalFields?: FieldSpec[]): ModelSpec => ({
	...{ id, summary: `Is ${id}`, fields, rules: [] },
	...(optionalFields && { optionalFields }),
});
const formOf = (...models: ModelSpec[]) => toProperties(models);
const plain = (path: string, more: Partial<INodeProperties> = {}) => ({
	...{ displayName: path.toUpperCase(), name: path, type: 'string', default: '' },
	...more,
});

test('the dropdown has all models and the way to others, sorted', () => {
	const options = toModelOptions([modelOf('z-1', []), modelOf('a-1', [])]);
	expect(options.map(({ name, value }) => [name, value])).toEqual([
		['a-1', 'a-1'],
		['Other Model (by ID)', 'custom'],
		['z-1', 'z-1'],
	]);
	expect(options[2]).toEqual({ name: 'z-1', value: 'z-1', description: 'Is z-1' });
});

test("a property has none of the keys of ours, and all of n8n's", () => {
	const ours: Required<Omit<FieldSpec, keyof INodeProperties>> = {
		...{ bodyPath: 'a', bodyValues: {}, scale: 1, units: { field: 'a', of: {} }, sentAlong: {}, shape: 'name' },
		...{ notSent: '', min: 1, max: 1, integer: true, maxLength: 1, format: 'url', reasons: {}, docNote: 'a' },
		...{ extraValues: 'all', inOptions: true, alwaysSent: true },
	};
	const theirs = plain('a', { hint: 'h', typeOptions: { rows: 2 } }) as INodeProperties;
	expect(toProperty({ ...theirs, ...ours } as INodeProperties)).toEqual(theirs);
});

describe('a required field', () => {
	test('a required field is marked for each choice, and not marked where a choice is an expression', () => {
		const b = { ...plain('b'), required: true, ...show({ model: ['m', 'n'], a: ['1', '2'] }) } as INodeProperties;
		const marked = (model: string, a: string) => ({
			...plain('b', { required: true }),
			displayOptions: { hide: { model: not(model), a: not(a) } },
		});
		expect(markRequired(b, b.displayOptions!.show!)).toEqual([
			marked('m', '1'),
			marked('m', '2'),
			marked('n', '1'),
			marked('n', '2'),
			{ ...plain('b'), displayOptions: { show: { model: ['m', 'n'], a: [EXPRESSION] } } },
		]);
		expect(markRequired(b, { model: ['m'], a: undefined })).toHaveLength(1);
	});

	test('a required field is marked for each of its models', () => {
		const b = field('b', { required: true });
		expect(formOf(modelOf('m', [b]), modelOf('n', [b]), modelOf('o', []))).toEqual([
			{ ...plain('b', { required: true }), displayOptions: { hide: { model: not('m') } } },
			{ ...plain('b', { required: true }), displayOptions: { hide: { model: not('n') } } },
			{ ...plain('b'), ...{ displayOptions: { show: { model: [EXPRESSION] } } } },
		]);
	});
});

describe('the fields of several models', () => {
	test('a field that models share to the letter is one property', () => {
		const b = field('b');
		expect(formOf(modelOf('m', [b]), modelOf('n', [b]), modelOf('o', [field('b', { hint: 'h' })]))).toEqual([
			plain('b', show({ model: ['m', 'n'] })),
			plain('b', { hint: 'h', ...show({ model: ['o'] }) }),
		]);
	});

	test('the fields of each model keep their order', () => {
		const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((name) => field(name));
		const names = formOf(modelOf('m', [a!, c!, e!]), modelOf('n', [b!, c!, d!, e!])).map(({ name }) => name);
		expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
		const turned = formOf(modelOf('m', [a!, b!]), modelOf('n', [b!, a!])).map(({ name }) => name);
		expect(turned).toEqual(['a', 'b']);
		const first = formOf(modelOf('m', [b!, c!]), modelOf('n', [a!, b!, c!])).map(({ name }) => name);
		expect(first).toEqual(['a', 'b', 'c']);
	});

	test('a field of a choice is hidden for all other choices and models, but not for an expression', () => {
		const a = choice('a', ['1', '2', '3']);
		const b = field('b', show({ '/a': ['2'] }));
		const c = field('c', show({ other: ['2'] }));
		const d = field('d', { displayOptions: { show: { 'x/y': ['1'], a: undefined } } });
		const xy = choice('x/y', ['1', '2']);
		const form = formOf(
			modelOf('m', [a, b]),
			modelOf('n', [a, b]),
			modelOf('o', [c]),
			modelOf('p', [field('z', { type: 'options', options: [] }), xy, a, d]),
		);
		expect(form.find(({ name }) => name === 'b')?.displayOptions).toEqual({
			hide: { model: ['o', 'p', 'custom'], '/a': ['1', '3'] },
		});
		expect(form.find(({ name }) => name === 'c')?.displayOptions).toEqual({
			hide: { model: ['m', 'n', 'p', 'custom'], other: [] },
		});
		expect(form.find(({ name }) => name === 'd')?.displayOptions).toEqual({
			hide: { model: ['m', 'n', 'o', 'custom'], 'x/y': ['2'], a: ['1', '2', '3'] },
		});
	});

	test('where defaults differ between models, each has its own, and a hidden one says that nobody chose', () => {
		const a = (value: string) => field('a', { default: value });
		const hidden = { displayName: 'A', name: 'a', type: 'hidden', default: '', ...shownFor(EXPRESSION) };
		expect(formOf(modelOf('m', [a('x'), field('b')]), modelOf('n', [a('y'), field('b')]))).toEqual([
			plain('a', { default: 'x', ...show({ model: ['m'] }) }),
			hidden,
			plain('a', { default: 'y', ...show({ model: ['n'] }) }),
			hidden,
			plain('b', show({ model: ['m', 'n'] })),
		]);
		// Of one model, two fields of one name are for different choices.
		const [one, two] = [field('a', { default: 'x' }), field('a', { default: 'y' })];
		expect(formOf(modelOf('m', [one, two])).map(({ type }) => type)).toEqual(['string', 'string']);
	});

	test.each<[string[], string[]]>([
		[
			['a', 'z'],
			['The a', 'The z', 'Service Default'],
		],
		[
			['z', ''],
			['The z', 'The '],
		],
	])('a dropdown of %j whose default differs has an option for no choice', (values, names) => {
		const form = formOf(
			modelOf('m', [choice('a', values, { default: values[0] })]),
			modelOf('n', [choice('a', values, { default: values[1] ?? 'q' })]),
		);
		expect(form[0]?.options?.map((option) => 'name' in option && option.name).sort()).toEqual([...names].sort());
	});

	test.each([
		['A', 'Service Default', 'T'],
		['A', 'Service Default'],
	])('the option for no choice stands in the order of the names: %s', (...names) => {
		const options = names.map((name) => ({ name, value: name }));
		const a = (value: string) => field('a', { type: 'options', options, default: value });
		const [property] = formOf(modelOf('m', [a('A')]), modelOf('n', [a('T')]));
		const added = { name: 'Service Default', value: '' };
		expect(property?.options).toEqual([...options.slice(0, 2), added, ...options.slice(2)]);
	});

	function shownFor(condition: object) {
		return { displayOptions: { show: { model: [condition] } } };
	}
});

describe('the fields that can be added', () => {
	const collection = (options: unknown[], displayOptions: object) =>
		expect.objectContaining({
			type: 'collection',
			name: 'optionalFields',
			default: {},
			options,
			displayOptions,
		}) as object;

	test('of the fields that can be added, each model has its own', () => {
		const [b, c, d] = [field('b'), field('c', show({ a: ['1'] })), field('d')];
		const form = formOf(modelOf('m', [], [d, c]), modelOf('n', [], [b, d]));
		const of = (id: string, conditions: Record<string, string[]> = {}) => show({ '/model': [id], ...conditions });
		const entries = [plain('b', of('n')), plain('c', of('m', { a: ['1'] })), plain('d')];
		expect(form).toEqual([collection(entries, { show: { model: ['m', 'n'] } })]);
	});

	test('where all fields that can be added depend on one choice, their list depends on it, too', () => {
		const a = choice('a', ['1', '2']);
		const [b, c] = ['b', 'c'].map((name) => field(name, show({ '/a': ['1'] })));
		const list = ({ name }: INodeProperties) => name === 'optionalFields';
		expect(formOf(modelOf('m', [a], [b!, c!])).find(list)?.displayOptions).toEqual({
			hide: { model: ['custom'], '/a': ['2'] },
		});
		expect(formOf(modelOf('m', [a], [b!, field('d')])).find(list)?.displayOptions).toEqual({ show: { model: ['m'] } });
		for (const others of [
			[field('d'), b!],
			[b!, c!, field('d')],
		])
			expect(formOf(modelOf('m', [a], others)).find(list)?.displayOptions).toEqual({ show: { model: ['m'] } });
	});

	test('a list in one model may have the name of another field in the next', () => {
		const list = field('a', { type: 'collection', options: [plain('b') as INodeProperties] });
		const form = formOf(modelOf('m', [list]), modelOf('n', [field('a')]));
		expect(form.map(({ options }) => options)).toEqual([[plain('b', show({ '/model': ['m'] }))], undefined]);
	});

	test('of rows with several values, each model has its own values', () => {
		const rows = (...values: string[]) =>
			field('images', {
				type: 'fixedCollection',
				options: [
					{ displayName: 'Image', name: 'image', values: values.map((name) => plain(name) as INodeProperties) },
					{ displayName: 'Other', name: 'other', values: [plain('o') as INodeProperties] },
				],
			});
		const form = formOf(modelOf('m', [rows('url')]), modelOf('n', [rows('url', 'role')]));
		expect(form.map(({ type }) => type)).toEqual(['fixedCollection', 'hidden']);
		expect(form[0]).toMatchObject({
			options: [
				{ name: 'image', values: [plain('url'), plain('role', show({ '/model': ['n'] }))] },
				{ name: 'other', values: [plain('o')] },
			],
			displayOptions: { show: { model: ['m', 'n'] } },
		});
	});

	test('a field of the Options is there, for its models, and not in the form', () => {
		const b = field('b', { inOptions: true });
		const models = [modelOf('m', [b, field('a')]), modelOf('n', [b])];
		expect(toOptions(models)).toEqual([plain('b', show({ '/model': ['m', 'n'] }))]);
		expect(formOf(...models)).toEqual([plain('a', show({ model: ['m'] }))]);
	});
});

describe('specifications', () => {
	test('a form without a model is a specification of what it sends', () => {
		const sent = field('a');
		const option = field('b');
		const unsent = toProperty(choice('c', ['x']));
		const notice = { displayName: 'N', name: 'n', type: 'notice' as const, default: '' };
		expect(toBodySpec([sent, unsent, notice, choice('d', ['x'])], [option, unsent], { constants: { k: 1 } })).toEqual({
			fields: [sent, choice('d', ['x'])],
			choices: [unsent],
			optionalFields: [{ ...option, inOptions: true }],
			rules: [],
			constants: { k: 1 },
		});
		expect(toBodySpec([sent])).toEqual({ fields: [sent], choices: [], optionalFields: [], rules: [] });
	});

	test.each<[FieldSpec['displayOptions'], boolean]>([
		[undefined, true],
		[{ show: { a: ['1'] } }, true],
		[{ show: { '/a': ['0', '1'] } }, true],
		[{ show: { a: ['2'] } }, false],
		[{ show: { a: ['1'], b: ['1'] } }, false],
		[{ show: { a: ['1'], b: ['2'] } }, true],
		[{ hide: { a: ['1'] } }, false],
		[{ hide: { a: ['2'], b: ['2'] } }, false],
		[{ hide: { a: ['2'] } }, true],
		[{ show: { a: ['1'] }, hide: { b: ['2'] } }, false],
		[{ show: { a: undefined } }, false],
		[{ show: { 'b/c': ['3'] } }, true],
	])('a field with %j is shown: %p', (displayOptions, isShown) => {
		const values: Record<string, unknown> = { a: '1', b: '2', 'b/c': '3' };
		expect(isVisible(field('x', { displayOptions }), (name) => values[name])).toBe(isShown);
	});

	test('a number is one in a text field, too', () => {
		const kinds = [{ type: 'number' }, { shape: 'number' }, { shape: 'unixSeconds' }, {}, { shape: 'name' }] as const;
		expect(kinds.map((more) => isNumeric(field('a', more)))).toEqual([true, true, true, false, false]);
	});

	test('the values of a choice are those of its options', () => {
		const options = [...choice('a', ['x', 'y']).options!, { displayName: 'G', name: 'g', values: [] }];
		expect(allowedValues(field('a', { type: 'options', options }))).toEqual(['x', 'y']);
		expect(allowedValues(field('a', { type: 'options' }))).toBeUndefined();
		expect(allowedValues(field('a', { type: 'collection', options }))).toBeUndefined();
	});
});
