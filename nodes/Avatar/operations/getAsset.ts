import { includeInputOption, optionsCollection, requestsPerSecondOption } from '../../form/options';
import type { Operation } from '../../run/operation';
import { toAssetOutput } from '../assetOutput';
import { assetIdField, avatarKindField, readAssetId } from '../fields';

/** Get: one look at an asset (contract 4.6 step 5, 4.7 step 3). */
export const getAsset: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		description: 'Look once whether an asset can be used',
		action: 'Get an asset',
	},
	properties: [avatarKindField, assetIdField, optionsCollection([includeInputOption, requestsPerSecondOption])],
	prepare: (item, { client }) => {
		const kind = item.choice(avatarKindField);
		const assetId = readAssetId(item);
		return async () => ({ json: toAssetOutput(assetId, kind, await client.avatars.getAsset(kind, assetId)) });
	},
};
