import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { AvatarAsset, AvatarKind } from '../../core/avatars/records';
import type { GatewayClient } from '../../core/client';
import { asGatewayError, GatewayError, type TaskReference } from '../../core/errors';
import { quote } from '../../core/http/serviceErrors';
import { waitForTask } from '../../core/tasks/waitForTask';
import { readFinishOptions } from '../generation/finishTask';
import { realClock } from '../connection/transport';
import { withoutEmpty } from '../run/withoutEmpty';
import { timeoutOption } from './fields';

export type AssetOutput = Pick<AvatarAsset, 'status'> & Partial<AvatarAsset>;

/** An asset as an output item. `reference` goes into the video node as it is. */
export function toAssetOutput(assetId: string, kind: AvatarKind, asset: AssetOutput, more: IDataObject = {}): IDataObject {
	return withoutEmpty({
		asset_id: assetId,
		reference: `asset://${assetId}`,
		status: asset.status,
		avatar_kind: kind,
		group_id: asset.groupId,
		asset_type: asset.assetType,
		source_url: asset.sourceUrl,
		progress: asset.progress,
		reason: asset.state === 'failed' ? (asset.refusal?.message ?? asset.refusal?.code) : undefined,
		...more,
	});
}

export type WaitOptions = Pick<ReturnType<typeof readFinishOptions>, 'timeoutMs' | 'onTimeout' | 'plan'>;

export function readWaitOptions(context: IExecuteFunctions, itemIndex: number, defaultMinutes = Number(timeoutOption.default)): WaitOptions {
	return readFinishOptions(context, itemIndex, defaultMinutes);
}

/** Waits until the asset is `active` (contract 3.2): only then may a video use it. */
export async function finishAsset(
	client: GatewayClient,
	kind: AvatarKind,
	task: TaskReference,
	options: WaitOptions,
	signal: AbortSignal,
	/** Unix milliseconds of the upload, when it has just been made: then the first look can wait. */
	acceptedAtMs?: number,
): Promise<IDataObject> {
	const { taskId: assetId } = task;
	const startedAtMs = Date.now();
	const waited = () => ({ waited_seconds: Math.round((Date.now() - startedAtMs) / 100) / 10 });
	let latest: AvatarAsset | undefined;
	try {
		const asset = await waitForTask({
			taskId: assetId,
			plan: options.plan,
			timeoutMs: options.timeoutMs,
			startedAtMs,
			acceptedAtMs,
			clock: realClock,
			signal,
			words: {
				subject: 'Asset',
				continueWith: 'It goes on being processed and is not lost: continue with Asset → Wait for Asset and this ID, or raise Timeout in the options.',
			},
			read: async () => (latest = await client.avatars.readAsset(kind, assetId)),
			watch: ({ state, status, progress }) => {
				Object.assign(task, { status, progress, elapsedMs: Date.now() - startedAtMs });
				return { state, status, progress };
			},
			explainFailure: (failed) => explainUnusableAsset(assetId, failed),
		});
		return toAssetOutput(assetId, kind, asset, waited());
	} catch (thrown) {
		const error = asGatewayError(thrown);
		if (error.kind !== 'taskTimedOut' || options.onTimeout !== 'return') throw error;
		return toAssetOutput(assetId, kind, latest ?? { status: 'processing' }, { ...waited(), timed_out: true });
	}
}

function explainUnusableAsset(assetId: string, { status, refusal }: AvatarAsset): GatewayError {
	return new GatewayError('taskFailed', `The service could not process the asset ${assetId}`, {
		serviceMessage: refusal.message,
		serviceCode: refusal.code,
		description: [
			quote(refusal),
			`The status of the asset is "${status}", and it cannot be used. Check the file behind Source URL, then upload it again.`,
		]
			.filter(Boolean)
			.join(' '),
	});
}
