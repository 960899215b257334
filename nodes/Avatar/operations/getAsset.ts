import { simplifyField } from '../../form/fields';
import { includeInputOption, optionsCollection, requestsPerSecondOption } from '../../form/options';
import type { Operation } from '../../run/operation';
import { toAssetOutput } from '../assetOutput';
import { assetIdField, avatarKindField, readAssetId } from '../fields';
import { readRecordOutput } from '../record';

/** Get: reads an asset once (contract 4.6 step 5, 4.7 step 3). */
export const getAsset: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		description: 'Check once whether an asset can be used',
		action: 'Get avatar asset',
		builderHint: { propertyHint: 'For a single check. To wait until an asset is active, use wait instead of a loop.' },
	},
	properties: [
		avatarKindField,
		assetIdField,
		optionsCollection([includeInputOption, requestsPerSecondOption, simplifyField]),
	],
	describes: 'asset',
	prepare: (item, { client }) => {
		const kind = item.givenChoice(avatarKindField);
		const assetId = readAssetId(item);
		const toRecord = readRecordOutput(item);
		const read = async () => {
			const asset = await client.avatars.getAsset(kind, assetId);
			return { json: toAssetOutput(assetId, kind, asset, toRecord(asset.raw)) };
		};
		return { task: { taskId: assetId, elapsedMs: 0 }, read };
	},
};
