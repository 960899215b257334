import type { IDataObject, IExecuteFunctions, INode } from 'n8n-workflow';
import { toBodySpec, type FieldSpec } from '../../core/models/spec';
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

function read(parameters: IDataObject): unknown {
	const context = { getNodeParameter: (name: string) => parameters[name] ?? null } as unknown as IExecuteFunctions;
	const node = { parameters } as unknown as INode;
	return readBody(new Item(new Parameters(context, node), 0, { json: {} }), spec);
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
