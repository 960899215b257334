import type { ChoiceField } from './fieldReader';

/** The unit of every amount of money in a form. */
export const unitField: ChoiceField<'usd' | 'credits'> = {
	displayName: 'Unit',
	name: 'unit',
	type: 'options',
	options: [
		{ name: 'USD', value: 'usd', description: '1 USD is 200 credits' },
		{ name: 'Credits', value: 'credits', description: '200 credits are 1 USD' },
	],
	default: 'usd',
	description: 'The unit of the amount',
};
