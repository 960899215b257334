import { namingTask } from '../../../core/errors';
import { simplifyField } from '../../form/fields';
import { optionsCollection } from '../../form/options';
import { existing } from '../../run/buy';
import { HINTS } from '../../run/hints';
import type { Operation } from '../../run/operation';
import { recordField } from '../../run/toItem';
import { toVerificationOutput, verificationIdField } from '../verification';

/** Get: link, vendor token and when the link expires (contract 4.6, step 2). */
export const getVerification: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		description: 'Get the link for the person, and how long it is still valid',
		action: 'Get avatar verification',
	},
	properties: [verificationIdField, optionsCollection([simplifyField])],
	prepare: (item, { client, hints }) => {
		const about = existing(item, 'verification', item.id(verificationIdField));
		const { task } = about;
		const record = recordField(item.options);
		const run = async () => {
			const session = await namingTask(task, client.avatars.getVerification(task.taskId));
			if (session.h5Link === undefined) hints.add(HINTS.noVerificationLink());
			return { json: toVerificationOutput(session, record(session.raw)) };
		};
		return { about, run };
	},
};
