import { simplifyField } from '../../form/fields';
import * as options from '../../form/options';
import { readWaitOptions } from '../../run/waitOptions';
import type { Operation } from '../../run/operation';
import { waitForAssetOutput } from '../assetOutput';
import { assetIdField, avatarKindField, readAssetId, timeoutOption } from '../fields';
import { readRecordOutput } from '../record';

/** Wait for Asset: continues with an asset that an earlier node, or an earlier execution, has uploaded. */
export const waitForAsset: Operation = {
	option: {
		name: 'Wait for Asset',
		value: 'wait',
		description: 'Wait until an asset is active, so that videos can use it',
		action: 'Wait for avatar asset',
		builderHint: { propertyHint: 'Only for assets that nobody waits for yet. By default, upload waits itself.' },
	},
	properties: [
		avatarKindField,
		assetIdField,
		simplifyField,
		options.optionsCollection([
			options.concurrentTasksOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			timeoutOption,
		]),
	],
	waitsFor: 'asset',
	prepare: (item, { client }) => {
		const kind = item.choice(avatarKindField);
		const wait = readWaitOptions(item.options, timeoutOption);
		const task = item.concerns(readAssetId(item));
		const toRecord = readRecordOutput(item);
		return async ({ signal }) => {
			const { json, raw } = await waitForAssetOutput(client, kind, task, { ...wait, startedAtMs: Date.now(), signal });
			return { json: { ...json, ...toRecord(raw) } };
		};
	},
};
