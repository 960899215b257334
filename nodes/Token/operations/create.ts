import { makeOrder } from '../../../core/orders/states';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { readBody } from '../../run/readBody';
import { readUnixSeconds } from '../../form/dates';
import { readSubmitAgain } from '../../form/options';
import type { Item } from '../../run/item';
import { readAllowedModels, allowedModelsField } from '../allowedModels';
import { expiresAtField, properties, tokenBody } from '../fields';
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
		const { body, chosen } = readBody(item, tokenBody, {
			[expiresAtField.name]: readExpiry(item),
			[allowedModelsField.name]: readAllowedModels(item),
		});
		const about: AboutToken = { body, simplify: item.options.simplifies };
		const request = { body, hash: hashOf('token', chosen), ...readSubmitAgain(item.options) };
		return makeOrder({ item: item.index, thing: 'token', kind: '', request, then: 'nothing', about });
	},
	product: tokenProduct,
};

/** Undefined where the field is empty: the API key never expires. */
function readExpiry(item: Item): number | undefined {
	const value = item.given(expiresAtField);
	return value === undefined ? undefined : readUnixSeconds(value, expiresAtField, item.context.getTimezone());
}
