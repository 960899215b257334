import { toBodySpec, type FieldSpec } from '../../../core/models/spec';
import { idIn, textIn } from '../../../core/records/loose';
import { simplifyField } from '../../form/fields';
import { additionalFieldsOption, optionsCollection, submitAgainOption } from '../../form/options';
import { buying, toBuy } from '../../run/buy';
import type { Operation } from '../../run/operation';
import { withoutEmpty } from '../../run/output';
import { readBody } from '../../run/readBody';
import { recordField } from '../outputs';

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
	prepare: (item, run) => {
		const request = readBody(item, groupBody);
		const simplify = item.options.simplifies;
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
			return { json: { ...shown, ...recordField(simplify, answer?.raw) } };
		});
	},
};
