import { toBodySpec, type FieldSpec } from '../../../core/models/spec';
import { makeOrder } from '../../../core/orders/states';
import { simplifyField } from '../../form/fields';
import { additionalFieldsOption, optionsCollection, readSubmitAgain, submitAgainOption } from '../../form/options';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { readBody } from '../../run/readBody';
import { groupProduct, type AboutGroup } from '../products/groupProduct';

const nameField: FieldSpec = {
	displayName: 'Name',
	name: 'groupName',
	type: 'string',
	default: '',
	placeholder: 'e.g. Spokesperson',
	description: 'A name for the group',
	bodyPath: 'name',
	shape: 'name',
	extraValues: 'all',
};

const descriptionField: FieldSpec = {
	displayName: 'Description',
	name: 'groupDescription',
	type: 'string',
	default: '',
	description: 'What the group is for',
	bodyPath: 'description',
	shape: 'name',
	extraValues: 'all',
};

/** The contract does not show it (4.7, step 1). */
export const groupBody = toBodySpec([nameField, descriptionField]);

/** Create: a private avatar group (contract 4.7, step 1). The group of a real person comes from a verification. */
export const createGroup: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Create a group for a private avatar',
		action: 'Create avatar group',
	},
	properties: [
		nameField,
		descriptionField,
		optionsCollection([additionalFieldsOption, submitAgainOption, simplifyField]),
	],
	describes: 'group',
	prepare: (item) => {
		const { body, chosen } = readBody(item, groupBody);
		const about: AboutGroup = { simplify: item.options.simplifies, body };
		return makeOrder({
			item: item.index,
			thing: 'group',
			kind: 'private',
			request: { body, hash: hashOf('group', chosen), ...readSubmitAgain(item.options) },
			then: 'nothing',
			about,
		});
	},
	product: groupProduct,
};
