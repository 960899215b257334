import type { INodeProperties } from 'n8n-workflow';
import { idIn, textIn } from '../../../core/records/loose';
import { simplifyField } from '../../form/fields';
import { additionalFieldsOption, optionsCollection, submitAgainOption } from '../../form/options';
import { buying, toBuy, toRequest } from '../../run/buy';
import type { Operation } from '../../run/operation';
import { recordField, withoutEmpty } from '../../run/toItem';

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
		optionsCollection([additionalFieldsOption, submitAgainOption, simplifyField]),
	],
	describes: 'group',
	prepare: (item, run) => {
		// The group would have none, and the service has no request that renames or deletes one.
		item.assertNotLost(nameField);
		// The contract does not show the body (4.7, step 1): Additional Fields may give anything.
		const request = toRequest(item, {
			name: { value: item.text(nameField), default: nameField.default },
			description: { value: item.text(descriptionField), default: descriptionField.default },
		});
		const record = recordField(item.options);
		const { avatars } = run.client;
		const creation = { status: 'created', send: avatars.createGroup.bind(avatars) };
		return buying(run, toBuy(item, 'group', request), creation, ({ task, answer }) => {
			// The service's answer counts; where it has no name, the request does.
			const [name, description] = ['name', 'description'].map(
				(field) => textIn(answer?.raw, field) ?? textIn(request.body, field),
			);
			const given = idIn(answer?.raw, 'group_id');
			const shown = withoutEmpty({
				group_id: String(given) === task.taskId ? given : task.taskId,
				...{ name, description },
			});
			return { json: { ...shown, ...record(answer?.raw) } };
		});
	},
};
