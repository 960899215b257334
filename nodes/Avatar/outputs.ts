import type { IDataObject } from 'n8n-workflow';
import type { AvatarAsset, AvatarKind, VerificationSession } from '../../core/avatars/records';
import type { JsonObject } from '../../core/json';
import { toIsoTime, toRecord, withoutEmpty } from '../run/toItem';

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

/** A verification session as an output item. The status `completed` (contract 3.3) says that it exists, not that anybody passed. */
export function toVerificationOutput(session: VerificationSession, more: IDataObject = {}): IDataObject {
	const { taskId, h5Link, vendorToken, expiresAt, status } = session;
	return withoutEmpty({
		h5_link: h5Link,
		task_id: taskId,
		vendor_token: vendorToken,
		expires_at: toIsoTime(expiresAt),
		link_expired: expiresAt === undefined ? undefined : expiresAt * 1000 <= Date.now(),
		status,
		...more,
	});
}

/** The service's answer as it came, as the field `record`; nothing with Simplify on. */
export function recordField(simplify: boolean, raw: JsonObject = {}): IDataObject {
	return simplify ? {} : { record: toRecord(raw) };
}
