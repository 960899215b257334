import { mergeDeep } from '../../../core/json';
import { parseJsonField } from '../../../core/models/toBody';
import { TaskLedger } from '../../../core/tasks/ledger';
import { createOnce } from '../../run/purchase';
import { prepareRun } from '../../run/run';
import { readLedgerScope } from '../../run/ledgerScope';
import type { Operation } from '../../run/operation';
import { additionalFieldsOption, includeInputOption, optionsCollection, requestsPerSecondOption } from '../../form/options';
import { readText } from '../../form/readParameters';
import { runItems, type ItemJob } from '../../run/runItems';
import { TaskLog } from '../../run/taskLog';
import { readItemOptions, readSubmitAgain, submitAgainOption } from '../fields';

/** Create: a private avatar group (contract 4.7, step 1). The group of a real person comes from a verification. */
export const createGroup: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Create a group for a private avatar',
		action: 'Create a group',
	},
	properties: [
		{
			displayName: 'Name',
			name: 'groupName',
			type: 'string',
			default: '',
			placeholder: 'e.g. Spokesperson',
			description: 'By which you will know the group',
		},
		{
			displayName: 'Description',
			name: 'groupDescription',
			type: 'string',
			default: '',
			description: 'What the group is for',
		},
		optionsCollection([additionalFieldsOption, includeInputOption, requestsPerSecondOption, submitAgainOption]),
	],
	execute: async (context) => {
		const { client } = await prepareRun(context);
		const ledger = new TaskLedger(readLedgerScope(context));
		const log = new TaskLog(context);
		return await runItems(context, {
			prepare: (itemIndex): ItemJob => {
				const { additionalFields } = readItemOptions(context, itemIndex);
				const submitAgain = readSubmitAgain(context, itemIndex);
				const name = readText(context, itemIndex, { name: 'groupName', displayName: 'Name' });
				const description = readText(context, itemIndex, { name: 'groupDescription', displayName: 'Description' });
				const form = { ...(name === '' ? {} : { name }), ...(description === '' ? {} : { description }) };
				const body = mergeDeep(form, parseJsonField('Additional Fields (JSON)', additionalFields));
				const job: ItemJob = {
					run: async (controls) => {
						const groupId = await createOnce(
							{
								ledger,
								log,
								itemIndex,
								thing: 'group',
								body,
								submitAgain,
								create: async (noRepeat) => await client.avatars.createGroup(body, noRepeat),
							},
							controls,
						);
						job.task = { taskId: groupId, status: 'created', elapsedMs: 0 };
						return { json: { group_id: groupId, ...form } };
					},
				};
				return job;
			},
			onSuccess: () => ledger.clearRun(),
		});
	},
};
