import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { assetTarget } from '../../core/avatars/pollTargets';
import type { AvatarAsset, AvatarKind } from '../../core/avatars/records';
import type { JobControls } from '../../core/engine/jobs';
import type { OrderWait, Purchase } from '../../core/orders/order';
import type { ChoiceField } from '../form/fieldReader';
import { timeoutOf } from '../form/options';
import { readWait, waitFor } from '../run/buy';
import type { Item } from '../run/inputItem';
import type { Run } from '../run/nodeRun';
import { toSeconds, withoutEmpty } from '../run/toItem';

export const avatarKindField: ChoiceField<AvatarKind> = {
	displayName: 'Avatar Kind',
	name: 'avatarKind',
	type: 'options',
	options: [
		{ name: 'Private', value: 'private', description: 'A made-up person. The group comes from Group → Create.' },
		{
			name: 'Real',
			value: 'real',
			description: 'A real person who has passed a verification. The group comes from the verification.',
		},
	],
	default: 'private',
	description: 'Whether the person is made up or real',
};

export const waitForActiveField: INodeProperties = {
	displayName: 'Wait Until Active',
	name: 'waitForActive',
	type: 'boolean',
	default: true,
	description: 'Whether to wait until the asset is active. Videos can use it only then.',
};

export const assetTimeoutOption = timeoutOf(waitForActiveField, 10);

/** Undefined where the asset is not waited for. Throws where an expression gives nothing: the default would be "yes". */
export function readAssetWait(item: Item, run: Run): OrderWait | undefined {
	item.given(waitForActiveField);
	return item.flag(waitForActiveField) ? readWait(item, assetTimeoutOption, run) : undefined;
}

/** Waits until videos can use an asset (contract 3.2). Returns its last record, and the fields of its item. */
export async function waitUntilActive(
	run: Run,
	controls: JobControls,
	{ about, kind, wait }: { about: Purchase; kind: AvatarKind; wait: OrderWait },
): Promise<{ record?: AvatarAsset; json: IDataObject }> {
	const { client } = run;
	const { task = { taskId: '', elapsedMs: 0 }, acceptedAtMs: createdAtMs } = about;
	const target = assetTarget(
		task,
		async (beforeSend) => await client.avatars.fetchAsset(kind, task.taskId, beforeSend),
	);
	const survivalTable = client.survivalTable(`${kind} asset`);
	const { record, waitedMs } = await waitFor(run, controls, { about, target, wait, survivalTable, createdAtMs });
	const more = { waited_seconds: toSeconds(waitedMs) };
	return { record, json: toAssetOutput(task.taskId, kind, record ?? { status: 'processing' }, more) };
}

/** An asset as an output item. `reference` goes into the video node as it is. */
export function toAssetOutput(
	assetId: string,
	kind: AvatarKind,
	asset: Pick<AvatarAsset, 'status'> & Partial<AvatarAsset>,
	more: IDataObject = {},
): IDataObject {
	const { message, code } = asset.refusal ?? {};
	return withoutEmpty({
		reference: `asset://${assetId}`,
		asset_id: assetId,
		status: asset.status,
		avatar_kind: kind,
		group_id: asset.groupId,
		asset_type: asset.assetType,
		source_url: asset.sourceUrl,
		progress: asset.progress,
		reason: asset.state === 'failed' ? (message ?? code) : undefined,
		...more,
	});
}
