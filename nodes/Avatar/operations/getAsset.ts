import { gatewayError } from '../../../core/errors';
import { MAX_ID_LENGTH } from '../../../core/orders/order';
import type { TextField } from '../../form/fieldReader';
import { simplifyField } from '../../form/fields';
import { optionsCollection } from '../../form/options';
import { existing } from '../../run/buy';
import type { Operation } from '../../run/operation';
import { recordField } from '../../run/toItem';
import {
	assetTimeoutOption,
	avatarKindField,
	readAssetWait,
	toAssetOutput,
	waitForActiveField,
	waitUntilActive,
} from '../asset';

const assetIdField: TextField = {
	displayName: 'Asset ID',
	name: 'assetId',
	type: 'string',
	required: true,
	default: '',
	maxLength: MAX_ID_LENGTH,
	placeholder: 'e.g. {{ $json.asset_id }}',
	description: 'The asset_id that Upload returned',
};

/** Get: an asset that an earlier node, or an earlier execution, has uploaded (contract 4.6 step 5, 4.7 step 3). */
export const getAsset: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		description: 'Get an asset, and wait until videos can use it',
		action: 'Get avatar asset',
		builderHint: { propertyHint: 'Only for assets that are not waited for yet. By default, upload waits itself.' },
	},
	properties: [
		avatarKindField,
		assetIdField,
		waitForActiveField,
		optionsCollection([assetTimeoutOption, simplifyField]),
	],
	waitsFor: 'asset',
	describes: 'asset',
	prepare: (item, run) => {
		const kind = item.givenChoice(avatarKindField);
		// It may be given as the reference that videos take.
		const assetId = item.id(assetIdField).replace(/^asset:\/\//, '');
		if (assetId === '') throw gatewayError('fieldEmpty', { label: assetIdField.displayName });
		const toRecordField = recordField(item.options);
		const wait = readAssetWait(item, run);
		const about = existing(item, 'asset', assetId);
		return {
			about,
			run: async (controls) => {
				if (wait !== undefined) {
					const { record, json } = await waitUntilActive(run, controls, { about, kind, wait });
					return { json: { ...json, ...toRecordField(record?.raw) } };
				}
				// One check. An asset that has failed is no error of it: its status says so.
				const asset = await run.client.avatars.getAsset(kind, assetId);
				return { json: toAssetOutput(assetId, kind, asset, toRecordField(asset.raw)) };
			},
		};
	},
};
