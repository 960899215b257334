import { joinAnswers } from '../../../core/avatars/records';
import { asGatewayError } from '../../../core/errors';
import { simplifyField } from '../../form/fields';
import * as options from '../../form/options';
import type { Operation } from '../../run/operation';
import { purchase } from '../../run/purchase';
import { readWaitOptions } from '../../run/waitOptions';
import { toUploadOutput, waitForAssetOutput } from '../assetOutput';
import { avatarKindField, submitAgainOption, timeoutOption } from '../fields';
import * as form from '../forms/uploadForm';
import { readRecordOutput } from '../record';

/** Upload: takes a file into a group by its URL (contract 4.6 step 4, 4.7 step 2), and waits until videos can use it. */
export const uploadAsset: Operation = {
	option: {
		name: 'Upload',
		value: 'upload',
		description: 'Upload an image, a video or audio into an avatar group by its URL',
		action: 'Upload avatar asset',
	},
	properties: [
		avatarKindField,
		form.groupIdField,
		form.assetTypeField,
		form.sourceUrlField,
		form.waitForActiveField,
		simplifyField,
		options.optionsCollection([
			options.additionalFieldsOption,
			options.concurrentTasksOption,
			form.groupFieldOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			submitAgainOption,
			timeoutOption,
		]),
	],
	waitsFor: 'asset',
	prepare: (item, run) => {
		const { client, ledger } = run;
		const kind = item.choice(avatarKindField);
		const { body, groupIdName } = form.readUploadBody(item, kind);
		const waits = item.flag(form.waitForActiveField);
		const wait = readWaitOptions(item.options, timeoutOption);
		const submitAgain = item.options.flag(submitAgainOption);
		item.scope = `the group ${String(body[groupIdName])}`;
		const toRecord = readRecordOutput(item);
		return async (controls) => {
			const { id, answer } = await purchase(run, item, controls, {
				thing: 'asset',
				request: { ...body, kind },
				submitAgain,
				status: 'processing',
				create: async (noRepeat) => await client.avatars.uploadAsset(kind, body, noRepeat),
			});
			const sent = toUploadOutput(id, kind, body, groupIdName, answer);
			if (!waits) return { json: { ...sent, ...toRecord(answer?.raw ?? {}) } };
			try {
				const startedAtMs = Date.now();
				const acceptedAtMs = answer && startedAtMs;
				const task = item.task ?? item.concerns(id, 'processing');
				const { json, raw } = await waitForAssetOutput(client, kind, task, {
					...wait,
					startedAtMs,
					acceptedAtMs,
					signal: controls.signal,
				});
				return { json: { ...sent, ...json, ...toRecord(joinAnswers(answer?.raw, raw)) } };
			} catch (thrown) {
				// What could not be processed may be uploaded anew by a retry.
				const error = asGatewayError(thrown);
				if (error.kind === 'taskFailed') ledger.forget(item.index);
				throw error;
			}
		};
	},
};
