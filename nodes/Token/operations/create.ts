import { makeOrder } from '../../../core/orders/states';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { createAgainOption, properties } from '../fields';
import { readTokenBody } from '../tokenForm';
import { tokenProduct, type AboutToken } from '../tokenProduct';

/** Create: a token with its own quota, expiry and models (contract 4.3). */
export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Create a token and get its key',
		action: 'Create token',
	},
	properties,
	prepare: (item) => {
		const body = readTokenBody(item);
		const submitAgain = item.options.flag(createAgainOption);
		const about: AboutToken = { body, simplify: item.options.simplifies, submitAgain };
		const request = { body, hash: hashOf('token', body), submitAgain };
		return makeOrder({ item: item.index, thing: 'token', kind: '', request, then: 'nothing', about });
	},
	product: tokenProduct,
};
