import { pricesIn } from '../../core/records/prices';
import { manyFields } from './support';

const WORDS = [
	...['cost', 'costs', 'price', 'prices', 'pricing', 'credit', 'credits', 'fee', 'fees', 'charge', 'charged'],
	...['charges', 'billed', 'billing', 'quota'],
];

const fields = (count: number) =>
	Object.fromEntries(Array.from({ length: count }, (_, index) => [`cost_${index}`, index]));

test.each([
	['cost', { cost: 0.02 }],
	['a price as text', { price_usd: '0.02' }],
	['camel case', { creditsUsed: 12 }],
	['an object', { cost: { amount: 0.02, currency: 'USD' } }],
	['the units of the service', { quota: 10_000 }],
	['each word', Object.fromEntries(WORDS.map((word, index) => [word, index]))],
	['a text of 100 characters', { cost: 'x'.repeat(100) }],
	['an object of 20 fields', { cost: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [at, 1])) }],
])('what names a price comes out as it is: %s', (_, fields) => {
	expect(pricesIn({ id: 'task_1', status: 'completed', ...fields })).toEqual(fields);
});

test('in an object, what names a price comes out under its name', () => {
	expect(pricesIn({ usage: { total_tokens: 5, total_cost: 0.3 }, result: { data: [{ cost: 1 }] } })).toEqual({
		usage: { total_cost: 0.3 },
	});
});

test.each([
	['other names', { accost: 1, costume: 'red', priceless: true, created_at: 5 }],
	['nothing', { cost: null, price: '' }],
	['a text that is too long', { cost: 'x'.repeat(101) }],
	['an object with more than a price', { cost: { details: { a: 1 } } }],
	['a list', { costs: [1, 2] }],
	['yes or no', { charged: true }],
	[
		'an object of 21 fields that are none',
		{ price: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [at, 1])) },
	],
	['an object without one', { usage: { total_tokens: 5 } }],
])('%s is no price', (_, fields) => {
	expect(pricesIn(fields)).toEqual({});
});

test('a record of very many prices gives the first 20', () => {
	expect(Object.keys(pricesIn(fields(1000)))).toHaveLength(20);
	expect(pricesIn({ usage: fields(1000) })).toEqual({ usage: fields(20) });
});

test('in a record with many fields prices are looked for among the first 1,000', () => {
	const { fields, seen } = manyFields(20_000, { cost: 1 });
	expect(pricesIn({ ...fields, late_cost: 1 })).toEqual({ cost: 1 });
	seen.read = 0;
	expect(pricesIn(fields)).toEqual({ cost: 1 });
	expect(pricesIn({ usage: fields })).toEqual({ usage: { cost: 1 } });
	expect(seen.read).toBeLessThanOrEqual(2_000);
});
