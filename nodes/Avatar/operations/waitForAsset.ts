import { makeOrder } from '../../../core/orders/states';
import { simplifyField } from '../../form/fields';
import * as options from '../../form/options';
import { readWaitOptions } from '../../run/waitOptions';
import type { Operation } from '../../run/operation';
import { assetProduct, type AboutAsset } from '../products/assetProduct';
import { assetIdField, avatarKindField, readAssetId, timeoutOption } from '../fields';

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
		options.optionsCollection([
			options.concurrentItemsOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			timeoutOption,
			simplifyField,
		]),
	],
	waitsFor: 'asset',
	describes: 'asset',
	prepare: (item) => {
		const about: AboutAsset = { simplify: item.options.simplifies };
		return makeOrder({
			item: item.index,
			thing: 'asset',
			kind: item.givenChoice(avatarKindField),
			task: { taskId: readAssetId(item), elapsedMs: 0 },
			then: 'poll',
			wait: readWaitOptions(item.options, timeoutOption),
			about,
		});
	},
	product: assetProduct,
};
