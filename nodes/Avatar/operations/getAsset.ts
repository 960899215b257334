import { prepareRun } from '../../run/run';
import type { Operation } from '../../run/operation';
import { includeInputOption, optionsCollection, requestsPerSecondOption } from '../../form/options';
import { runItems } from '../../run/runItems';
import { assetIdField, avatarKindField, readAssetId, readAvatarKind } from '../fields';
import { toAssetOutput } from '../finishAsset';

/** Get: looks once how an asset stands (contract 4.6 step 5, 4.7 step 3). */
export const getAsset: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		description: 'Look once whether an asset can be used',
		action: 'Get an asset',
	},
	properties: [avatarKindField, assetIdField, optionsCollection([includeInputOption, requestsPerSecondOption])],
	execute: async (context) => {
		const { client } = await prepareRun(context);
		return await runItems(context, {
			prepare: (itemIndex) => {
				const kind = readAvatarKind(context, itemIndex);
				const assetId = readAssetId(context, itemIndex);
				return { run: async () => ({ json: toAssetOutput(assetId, kind, await client.avatars.getAsset(kind, assetId)) }) };
			},
		});
	},
};
