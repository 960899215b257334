import type { INodeProperties } from 'n8n-workflow';
import { mergeDeep } from '../../../core/json';
import { makeOrder } from '../../../core/orders/states';
import { simplifyField } from '../../form/fields';
import {
	additionalFieldsOption,
	includeInputOption,
	optionsCollection,
	requestsPerSecondOption,
} from '../../form/options';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { submitAgainOption } from '../fields';
import { groupProduct, type AboutGroup } from '../products/groupProduct';

const nameField: INodeProperties = {
	displayName: 'Name',
	name: 'groupName',
	type: 'string',
	default: '',
	placeholder: 'e.g. Spokesperson',
	description: 'A name for the group',
};

const descriptionField: INodeProperties = {
	displayName: 'Description',
	name: 'groupDescription',
	type: 'string',
	default: '',
	description: 'What the group is for',
};

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
		optionsCollection([
			additionalFieldsOption,
			includeInputOption,
			requestsPerSecondOption,
			submitAgainOption,
			simplifyField,
		]),
	],
	prepare: (item) => {
		const name = item.text(nameField);
		const description = item.text(descriptionField);
		const form = { ...(name === '' ? {} : { name }), ...(description === '' ? {} : { description }) };
		const body = mergeDeep(form, item.options.json(additionalFieldsOption));
		const about: AboutGroup = { simplify: item.options.simplifies, body };
		return makeOrder({
			item: item.index,
			thing: 'group',
			kind: 'private',
			request: { body, hash: hashOf('group', body), submitAgain: item.options.flag(submitAgainOption) },
			then: 'nothing',
			about,
		});
	},
	product: groupProduct,
};
