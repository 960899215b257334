import { parseCallback } from '../../../core/avatars/callback';
import { rememberVerification, type RememberedVerification } from '../../../core/avatars/memory';
import { joinAnswers, type VerificationSession } from '../../../core/avatars/records';
import { gatewayError, namingTask } from '../../../core/errors';
import { simplifyField } from '../../form/fields';
import {
	additionalFieldsOption,
	includeInputOption,
	optionsCollection,
	requestsPerSecondOption,
} from '../../form/options';
import type { Item } from '../../run/item';
import type { Operation } from '../../run/operation';
import { purchase } from '../../run/purchase';
import { memoryOf } from '../../run/verificationMemory';
import { submitAgainOption } from '../fields';
import * as form from '../forms/verificationForm';
import { readRecordOutput } from '../record';
import { toVerificationOutput } from '../verificationOutput';

/** Life of the link (contract 3.3): an older session is of no use to anybody. */
const LINK_LIFETIME_MS = 120_000;

/** Create: opens a session in which a real person can verify themselves (contract 4.6, steps 1 and 2). */
export const createVerification: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Get a link for a real person to verify themselves',
		action: 'Create avatar verification',
	},
	properties: [
		form.sessionNotice,
		form.callbackUrlField,
		form.referenceField,
		form.readLinkField,
		simplifyField,
		optionsCollection([
			additionalFieldsOption,
			form.callbackFieldOption,
			includeInputOption,
			requestsPerSecondOption,
			submitAgainOption,
		]),
	],
	prepare: (item, run) => {
		const { body, callbackUrl, reference } = form.readVerificationForm(item);
		const submitAgain = item.options.flag(submitAgainOption);
		const readsLink = item.flag(form.readLinkField);
		const toRecord = readRecordOutput(item);
		const { avatars } = run.client;
		return async (controls) => {
			const { id: taskId, answer } = await purchase(run, item, controls, {
				thing: 'verification',
				request: body,
				submitAgain,
				status: 'created',
				create: async (noRepeat) => await avatars.createVerification(body, noRepeat),
				isUsable: ({ acceptedAtMs }) => Date.now() - acceptedAtMs < LINK_LIFETIME_MS,
			});
			// The session exists by now: whatever happens, the error names it.
			const task = item.concerns(taskId, answer?.status ?? 'created');
			const session: VerificationSession = readsLink
				? await namingTask(task, avatars.getVerification(taskId, true))
				: { taskId, raw: {} };
			if (session.vendorToken !== undefined) {
				const given = reference ?? parseCallback(callbackUrl ?? '').reference;
				remember(item, session.vendorToken, { taskId, reference: given, atMs: Date.now() });
			}
			if (readsLink && session.h5Link === undefined)
				throw gatewayError('noVerificationLink', { id: taskId, status: session.status }, { task });
			const status = answer?.status ?? session.status;
			const record = toRecord(joinAnswers(answer?.raw, session.raw));
			return {
				json: toVerificationOutput(
					{ ...session, status },
					{ verified: false, callback_url: callbackUrl, reference, ...record },
				),
			};
		};
	},
};

/** For a Gateway Avatar Verification Trigger in this workflow. A manual run leaves nothing behind. */
function remember({ context }: Item, vendorToken: string, verification: RememberedVerification): void {
	if (context.getMode() === 'manual') return;
	rememberVerification(memoryOf(context), vendorToken, verification);
}
