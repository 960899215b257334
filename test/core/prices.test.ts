import { pricesIn } from '../../core/records/prices';

test.each([
	['cost', { cost: 0.02 }],
	['a price as text', { price_usd: '0.02' }],
	['camel case', { creditsUsed: 12 }],
	['zero', { credits: 0 }],
	['an object', { cost: { amount: 0.02, currency: 'USD' } }],
	['the units of the service', { quota: 10_000 }],
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
	['a name that is too long', { [`cost_${'x'.repeat(200)}`]: 1 }],
	['an object with more than a price', { cost: { details: { a: 1 } } }],
	['a list', { costs: [1, 2] }],
])('%s is no price', (_, fields) => {
	expect(pricesIn(fields)).toEqual({});
});

test('a record of very many prices gives a few', () => {
	const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`cost_${index}`, index]));
	expect(Object.keys(pricesIn(many))).toHaveLength(20);
});
