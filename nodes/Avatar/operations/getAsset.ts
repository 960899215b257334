import type { AvatarKind } from '../../../core/avatars/records';
import { makeOrder } from '../../../core/orders/states';
import { simplifyField } from '../../form/fields';
import { optionsCollection } from '../../form/options';
import type { Read } from '../../run/item';
import type { Operation } from '../../run/operation';
import type { Run } from '../../run/run';
import { readWait } from '../../run/waitOptions';
import { toAssetOutput } from '../assetOutput';
import {
	assetIdField,
	assetTimeoutOption,
	avatarKindField,
	readAssetId,
	readWaitForActive,
	waitForActiveField,
} from '../fields';
import { assetProduct, type AboutAsset } from '../products/assetProduct';
import { recordField } from '../record';

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
		const taskId = readAssetId(item);
		const about: AboutAsset = { simplify: item.options.simplifies };
		if (!readWaitForActive(item)) return readOnce(run, { kind, taskId, ...about });
		return makeOrder({
			item: item.index,
			thing: 'asset',
			kind,
			task: { taskId, elapsedMs: 0 },
			then: 'poll',
			wait: readWait(item, assetTimeoutOption, run),
			about,
		});
	},
	product: assetProduct,
};

/** One check. An asset that has failed is no error of it: its status says so. */
function readOnce(
	{ client }: Run,
	{ kind, taskId, simplify }: { kind: AvatarKind; taskId: string; simplify: boolean },
): Read {
	const read = async () => {
		const asset = await client.avatars.getAsset(kind, taskId);
		return { json: toAssetOutput(taskId, kind, asset, recordField({ simplify }, asset.raw)) };
	};
	return { task: { taskId, elapsedMs: 0 }, read };
}
