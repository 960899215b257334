/** The parameters of one item, as n8n gives them. */
import type { IDataObject, IExecuteFunctions, INode } from 'n8n-workflow';
import { holdsExpression } from '../../nodes/form/fieldReader';
import { Item, Parameters } from '../../nodes/run/item';

/** The parameters as they are stored, and as n8n evaluates them for each item. */
function parametersOf(stored: IDataObject, evaluated: (name: string, item: number) => unknown) {
	const reads: string[] = [];
	const getNodeParameter = (name: string, item: number, fallback: unknown) => {
		reads.push(`${name} of ${item}`);
		return evaluated(name, item) ?? fallback;
	};
	const node = { parameters: stored } as unknown as INode;
	const context = { getNodeParameter } as unknown as IExecuteFunctions;
	const parameters = new Parameters(context, node);
	return { parameters, reads, itemAt: (index: number) => new Item(parameters, index, { json: { index } }) };
}

test('what holds no expression is read once for all items', () => {
	const stored = { fixed: 'a', list: ['a', { b: 'c' }], made: '={{ 1 }}', some: ['a', { b: '={{ 1 }}' }] };
	const { parameters, reads } = parametersOf(stored, (name) => `value of ${name}`);
	for (const name of [...Object.keys(stored), 'absent'])
		for (const item of [0, 1]) expect(parameters.read(name, item)).toBe(`value of ${name}`);
	expect(reads).toEqual([
		...['fixed of 0', 'list of 0', 'made of 0', 'made of 1', 'some of 0', 'some of 1'],
		...['absent of 0', 'absent of 1'],
	]);
});

test('a parameter without a value is null, and read once, too', () => {
	const { parameters, reads } = parametersOf({ a: undefined }, () => undefined);
	expect([parameters.read('a', 0), parameters.read('a', 1)]).toEqual([null, null]);
	expect(reads).toEqual(['a of 0']);
});

test.each<[unknown, boolean]>([
	['={{ 1 }}', true],
	['a = b', false],
	[1, false],
	[null, false],
	[undefined, false],
	[{ a: [{ b: '=c' }] }, true],
	[{ a: [{ b: 'c' }] }, false],
	[[], false],
])('%j holds an expression: %p', (stored, holds) => {
	expect(holdsExpression(stored)).toBe(holds);
});

test('an item knows its place, its input and its node, and which of its fields are expressions', () => {
	const { itemAt, parameters } = parametersOf({ a: '=b', c: 'd' }, (name, item) => `${name} of ${item}`);
	const item = itemAt(1);
	expect([item.index, item.input, item.node, item.context]).toEqual([
		...[1, { json: { index: 1 } }],
		...[parameters.node, parameters.context],
	]);
	expect([item.value({ name: 'a' }), item.isExpression('a'), item.isExpression('c')]).toEqual(['a of 1', true, false]);
});

describe('the Options of an item', () => {
	test('the Options are read as a whole and once for each item', () => {
		const { itemAt, reads } = parametersOf({ options: { a: '={{ 1 }}' } }, (_, item) => ({ a: item, b: null }));
		const { options } = itemAt(3);
		expect([options.value({ name: 'a' }), options.value({ name: 'b' }), options.has({ name: 'b' })]).toEqual([
			...[3, undefined],
			true,
		]);
		expect(options.has({ name: 'c' })).toBe(false);
		expect(reads).toEqual(['options of 3']);
	});

	test('where one of the Options cannot be resolved, the others are read by themselves', () => {
		const { itemAt } = parametersOf({ options: { a: '={{ 1 }}', b: '={{ nothing }}' } }, (name, item) => {
			if (name !== 'options.a') throw new Error('cannot be resolved');
			return `a of ${item}`;
		});
		const { options } = itemAt(2);
		expect(options.value({ name: 'a' })).toBe('a of 2');
		expect(() => options.value({ name: 'b' })).toThrow('cannot be resolved');
	});

	test('the Options know which of them are expressions', () => {
		const { itemAt } = parametersOf({ options: { a: '={{ 1 }}', b: '1' } }, () => ({}));
		const { options } = itemAt(0);
		expect([options.isExpression('a'), options.isExpression('b'), options.isExpression('c')]).toEqual([
			...[true, false],
			false,
		]);
		expect(
			parametersOf({}, () => undefined)
				.itemAt(0)
				.options.isExpression('a'),
		).toBe(false);
	});

	test.each<[unknown, boolean]>([
		[undefined, true],
		[{ simplify: true }, true],
		[{ simplify: false }, false],
		[{ simplify: 'false' }, false],
		[{ simplify: undefined }, true],
		[{ simplify: null }, true],
		[{ simplify: '' }, true],
		[{ other: false }, true],
	])('an item with the Options %j is simplified: %p', (given, simplifies) => {
		expect(parametersOf({}, () => given).itemAt(0).options.simplifies).toBe(simplifies);
	});
});
