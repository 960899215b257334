import { namingTask } from '../../../core/errors';
import { prepareRun } from '../../run/run';
import type { Operation } from '../../run/operation';
import { includeInputOption, optionsCollection, requestsPerSecondOption } from '../../form/options';
import { runItems } from '../../run/runItems';
import { readVerificationId, verificationIdField } from '../fields';
import { toVerificationOutput } from '../verificationOutput';

/** Get: link, vendor token and the seconds left (contract 4.6, step 2). */
export const getVerification: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		description: 'Get the link for the person, and how long it is still valid',
		action: 'Get a verification',
	},
	properties: [verificationIdField, optionsCollection([includeInputOption, requestsPerSecondOption])],
	execute: async (context) => {
		const { client } = await prepareRun(context);
		return await runItems(context, {
			prepare: (itemIndex) => {
				const taskId = readVerificationId(context, itemIndex);
				const task = { taskId, status: 'unknown', elapsedMs: 0 };
				return { run: async () => ({ json: toVerificationOutput(await namingTask(task, client.avatars.getVerification(taskId))) }) };
			},
		});
	},
};
