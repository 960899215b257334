import { prepareRun } from '../../run/run';
import { addHints } from '../../run/hints';
import type { Operation } from '../../run/operation';
import * as options from '../../form/options';
import { runItems } from '../../run/runItems';
import { assetIdField, avatarKindField, readAssetId, readAvatarKind, timeoutOption } from '../fields';
import { finishAsset, readWaitOptions } from '../finishAsset';

/** Wait for Asset: continues with an asset that an earlier node, or an earlier execution, has uploaded. */
export const waitForAsset: Operation = {
	option: {
		name: 'Wait for Asset',
		value: 'wait',
		description: 'Wait until an asset is active, so that videos can use it',
		action: 'Wait for an asset',
	},
	properties: [
		avatarKindField,
		assetIdField,
		options.optionsCollection([
			options.concurrentTasksOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			timeoutOption,
		]),
	],
	execute: async (context) => {
		const { client, concurrency } = await prepareRun(context);
		const output = await runItems(context, {
			concurrency,
			prepare: (itemIndex) => {
				const kind = readAvatarKind(context, itemIndex);
				const wait = readWaitOptions(context, itemIndex);
				const task = { taskId: readAssetId(context, itemIndex), status: 'unknown', elapsedMs: 0 };
				return { task, run: async ({ signal }) => ({ json: await finishAsset(client, kind, task, wait, signal) }) };
			},
		});
		addHints(context, output, 'asset');
		return output;
	},
};
