import { makeOrder } from '../../../core/orders/states';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { readBody } from '../../run/readBody';
import { createAgainOption, groupOption, properties, tokenBody } from '../fields';
import { tokenProduct, type AboutToken } from '../tokenProduct';

/** Create: a token with its own quota, expiry and models (contract 4.3). */
export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Create an API key and get it',
		action: 'Create API key',
	},
	properties,
	describes: 'token',
	prepare: (item) => {
		// It may limit the key.
		item.options.assertNotLost(groupOption);
		const body = readBody(item, tokenBody);
		const submitAgain = item.options.flag(createAgainOption);
		const about: AboutToken = { body, simplify: item.options.simplifies, submitAgain };
		const request = { body, hash: hashOf('token', body), submitAgain };
		return makeOrder({ item: item.index, thing: 'token', kind: '', request, then: 'nothing', about });
	},
	product: tokenProduct,
};
