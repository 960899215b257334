import type { IDataObject } from 'n8n-workflow';
import { parseAsset, type AvatarAsset, type AvatarKind } from '../../core/avatars/records';
import type { JsonObject } from '../../core/json';
import { idIn, textIn } from '../../core/records/loose';
import { withoutEmpty } from '../run/output';

type AssetOutput = Pick<AvatarAsset, 'status'> & Partial<AvatarAsset>;

/** An asset as an output item. `reference` goes into the video node as it is. */
export function toAssetOutput(
	assetId: string,
	kind: AvatarKind,
	asset: AssetOutput,
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

interface Upload {
	assetId: string;
	avatarKind: AvatarKind;
	groupId: unknown;
	/** Of the creating request, as far as it is known. */
	body: JsonObject;
	answer?: { raw: JsonObject };
}

/** An asset that has just been uploaded. What the service says of it counts; where it does not say, what was sent. */
export function toUploadOutput({ assetId, avatarKind, groupId, body, answer }: Upload): IDataObject {
	const shown = (name: string) => textIn(answer?.raw, name) ?? textIn(body, name);
	return toAssetOutput(assetId, avatarKind, {
		...(parseAsset(answer?.raw) ?? { status: 'processing' }),
		groupId: idIn(answer?.raw, 'group_id') ?? idIn({ group_id: groupId }, 'group_id'),
		assetType: shown('asset_type'),
		sourceUrl: shown('source_url'),
	});
}
