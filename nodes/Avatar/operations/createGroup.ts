import type { INodeProperties } from 'n8n-workflow';
import { mergeDeep } from '../../../core/json';
import { textIn } from '../../../core/records/loose';
import { simplifyField } from '../../form/fields';
import {
	additionalFieldsOption,
	includeInputOption,
	optionsCollection,
	requestsPerSecondOption,
} from '../../form/options';
import type { Operation } from '../../run/operation';
import { withoutEmpty } from '../../run/output';
import { purchase } from '../../run/purchase';
import { submitAgainOption } from '../fields';
import { readRecordOutput } from '../record';

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
		simplifyField,
		optionsCollection([additionalFieldsOption, includeInputOption, requestsPerSecondOption, submitAgainOption]),
	],
	prepare: (item, run) => {
		const name = item.text(nameField);
		const description = item.text(descriptionField);
		const form = { ...(name === '' ? {} : { name }), ...(description === '' ? {} : { description }) };
		const body = mergeDeep(form, item.options.json(additionalFieldsOption));
		const submitAgain = item.options.flag(submitAgainOption);
		const toRecord = readRecordOutput(item);
		return async (controls) => {
			const { id, answer } = await purchase(run, item, controls, {
				thing: 'group',
				request: body,
				submitAgain,
				status: 'created',
				create: async (noRepeat) => await run.client.avatars.createGroup(body, noRepeat),
			});
			// What the service calls it counts; where it does not say, what was sent.
			const [shownName, shownDescription] = ['name', 'description'].map(
				(field) => textIn(answer?.raw, field) ?? textIn(body, field),
			);
			const shown = withoutEmpty({ group_id: id, name: shownName, description: shownDescription });
			return { json: { ...shown, ...toRecord(answer?.raw ?? {}) } };
		};
	},
};
