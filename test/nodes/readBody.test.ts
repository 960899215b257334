import type { IDataObject, IExecuteFunctions, INode } from 'n8n-workflow';
import { toBodySpec, type BodySpec, type FieldSpec } from '../../core/models/spec';
import type { FormValues } from '../../core/models/toBody';
import { toProperty } from '../../core/models/toProperties';
import { Item, Parameters } from '../../nodes/run/item';
import { readBody } from '../../nodes/run/readBody';

const region: FieldSpec = {
	displayName: 'Region',
	name: 'region',
	type: 'options',
	options: [
		{ name: 'Europe', value: 'europe' },
		{ name: 'Nowhere', value: 'nowhere' },
	],
	default: 'europe',
	bodyPath: 'place.region',
	bodyValues: { europe: 'eu', nowhere: false },
};
const hourlyLimit: FieldSpec = {
	displayName: 'Hourly Limit',
	name: 'hourly',
	type: 'number',
	default: 0,
	min: 0,
	max: 8,
	bodyPath: 'hourly_limit',
};
const comment: FieldSpec = {
	displayName: 'Comment',
	name: 'comment',
	type: 'string',
	default: '',
	maxLength: 3,
	shape: 'name',
	bodyPath: 'comment',
};
const spec = toBodySpec([region, comment], [hourlyLimit]);

/** @param stored where other than what it gives */
function read(parameters: IDataObject, fields: BodySpec = spec, stored = parameters, made?: FormValues): unknown {
	const context = {
		getNodeParameter: (name: string) => parameters[name] ?? null,
		getTimezone: () => 'Asia/Tokyo',
	} as unknown as IExecuteFunctions;
	const node = { parameters: stored } as unknown as INode;
	return readBody(new Item(new Parameters(context, node), 0, { json: {} }), fields, made);
}

test.each<[string, IDataObject, object]>([
	['the default of the form is sent, in the words of the body', {}, { place: { region: 'eu' } }],
	['a choice is sent as what it means', { region: 'nowhere' }, { place: { region: false } }],
	[
		'an option is sent when it is added',
		{ options: { hourly: '2.5' } },
		{ place: { region: 'eu' }, hourly_limit: 2.5 },
	],
	['a text is sent without the spaces around it', { comment: ' a b ' }, { place: { region: 'eu' }, comment: 'a b' }],
	[
		'Additional Fields replace what the form gives',
		{ options: { hourly: 1, additionalFields: { hourly_limit: 3, place: { region: 'eu', zone: 2 } } } },
		{ place: { region: 'eu', zone: 2 }, hourly_limit: 3 },
	],
])('a form is read as its fields say: %s', (_title, parameters, body) => {
	expect(read(parameters)).toEqual(body);
});

test.each<[IDataObject, string]>([
	[{ region: 'mars' }, 'Region is "mars": it must be europe or nowhere'],
	[{ comment: 'long' }, 'Comment has 4 characters: at most 3 are allowed'],
	[{ options: { hourly: 9 } }, 'Hourly Limit is 9: the service allows numbers from 0 to 8'],
	[
		{ options: { additionalFields: { hourly_limit: '2' } } },
		'Hourly Limit is "2": the service allows numbers from 0 to 8',
	],
	[{ options: { additionalFields: { comment: ['a'] } } }, 'Comment is ["a"], which is not text'],
	[{ options: { additionalFields: { place: { region: 'eu2' } } } }, 'Region is "eu2": it must be eu or false'],
	[{ options: { additionalFields: { place: 'eu' } } }, 'place is "eu": the service takes an object'],
])('%j is refused by the label of the field', (parameters, message) => {
	expect(() => read(parameters)).toThrow(expect.objectContaining({ message, kind: 'badInput' }) as Error);
});

describe('a field is read by its kind', () => {
	const of = (more: Partial<FieldSpec>, name = 'x'): FieldSpec => ({
		...{ displayName: name.toUpperCase(), name, type: 'string', default: '', bodyPath: name },
		...more,
	});
	const NOTHING_IN_X = 'The expression in X gave nothing';
	const names = of({ shape: 'names' });
	const date = of({ shape: 'unixSeconds' });
	const amount = of({ shape: 'number', required: true, description: 'The amount' });
	const needed = of({ shape: 'name', required: true, description: 'The name.' });
	const choice = toProperty(of({ type: 'options', options: [{ name: 'A', value: 'a' }] }, 'choice'));
	const forA: Partial<FieldSpec> = { displayOptions: { show: { choice: ['a'] } } };

	test.each<[string, FieldSpec, unknown, unknown]>([
		['names', names, [' a ', 'b'], 'a,b'],
		['a name alone', names, 'a', 'a'],
		['a name with a space', names, ['a b'], 'a b'],
		['no names', names, [], undefined],
		['no name', names, [''], undefined],
		['nothing', names, null, undefined],
		['a date in the zone of the workflow', date, '2100-01-01T09:00:00', 4_102_444_800],
		['an amount as text', amount, ' 5 ', 5],
		['an amount that may be empty', of({ shape: 'number' }), '', undefined],
		['a name', needed, ' a ', 'a'],
		['a name that may be empty', of({ shape: 'name' }), null, undefined],
		['any text', of({}), ' a ', 'a'],
		['a text that is needed', of({ required: true }), ' a ', 'a'],
	])('%s is read in the form: %j', (_title, field, value, sent) => {
		expect(read({ x: value as string }, toBodySpec([field]))).toEqual(sent === undefined ? {} : { x: sent });
	});

	test.each<[string, FieldSpec, unknown, unknown]>([
		['a date', date, '2100-01-01T09:00:00', 4_102_444_800],
		['an amount', amount, ' 5 ', 5],
		['a name', needed, ' a ', 'a'],
		['any text', of({}), ' a ', 'a'],
	])('%s is read in the Options: %j', (_title, field, value, x) => {
		expect(read({ options: { x: value as string } }, toBodySpec([], [field]))).toEqual({ x });
	});

	test.each<[string, FieldSpec, unknown, string]>([
		['an empty amount', amount, '', 'X is empty'],
		['an empty name', needed, ' ', 'X is empty'],
		['two names in one', names, ['a', 'b\nc'], 'X contains "b'],
		['names with a comma', names, ['a,b'], 'X contains "a,b"'],
		['what is no name', names, [5], 'X contains 5'],
	])('%s is refused: %j', (_title, field, value, message) => {
		expect(() => read({ x: value as string }, toBodySpec([field]))).toThrow(message);
	});

	test.each<[string, unknown, unknown]>([
		['nothing', undefined, '={{ $json.a }}'],
		['a list with nothing', ['a', undefined], ['a', '={{ $json.a }}']],
		['an empty list', [], '={{ $json.a }}'],
		['empty names', ['', ' '], ['={{ $json.a }}', '={{ $json.b }}']],
	])('an expression that gives %s in the place of names is refused: nobody would notice', (_title, value, stored) => {
		const form = { x: value as string };
		expect(() => read(form, toBodySpec([names]), { x: stored as string })).toThrow(NOTHING_IN_X);
	});

	test('no names that are no expression, and a name beside an empty one, are taken', () => {
		const stored = { x: '={{ $json.a }}' };
		expect(read({ x: [] }, toBodySpec([names]), { x: [] })).toEqual({});
		expect(read({ x: ['a', ''] }, toBodySpec([names]), stored)).toEqual({ x: 'a' });
	});

	test('a choice that an expression gives nothing for is refused: its default may mean another amount', () => {
		const stored = { region: '={{ $json.region }}' };
		expect(() => read({}, toBodySpec([region]), stored)).toThrow('The expression in Region gave nothing');
		expect(read({ region: 'nowhere' }, toBodySpec([region]), stored)).toEqual({ place: { region: false } });
	});

	test('an expression that gives nothing for an amount is refused where it is needed', () => {
		const stored = { x: '={{ $json.a }}' };
		expect(() => read({}, toBodySpec([amount]), stored)).toThrow(NOTHING_IN_X);
		expect(read({}, { fields: [of({ shape: 'number' })], rules: [] }, stored)).toEqual({});
	});

	test('only what the form shows is read, and a choice that is not sent decides over it', () => {
		const fields = toBodySpec([choice, of(forA)]);
		expect(read({ choice: 'a', x: 'y' }, fields)).toEqual({ x: 'y' });
		expect(() => read({ choice: 'b', x: 'y' }, fields)).toThrow('CHOICE is "b"');
		expect(read({ x: { wrong: 1 } }, toBodySpec([of({ ...forA, shape: 'name' })]))).toEqual({});
	});

	test('a limit that was added and is empty is refused, and one that was not added is not missed', () => {
		const other = of({ type: 'string' }, 'other');
		for (const hourly of ['', null]) expect(() => read({ options: { hourly } })).toThrow('Hourly Limit is empty');
		expect(read({ options: { other: '' } }, toBodySpec([], [hourlyLimit, other]))).toEqual({});
	});

	test('a value that is made of several fields takes the place of what was read', () => {
		expect(read({ x: 'y' }, toBodySpec([of({})]), {}, { x: 'z' })).toEqual({ x: 'z' });
	});
});
