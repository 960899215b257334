import type { IDataObject } from 'n8n-workflow';
import { assetTarget } from '../../core/avatars/pollTargets';
import type { AvatarAsset, AvatarKind } from '../../core/avatars/records';
import type { JobControls } from '../../core/engine/jobs';
import type { OrderWait, Purchase } from '../../core/orders/order';
import { waitFor, readWait } from '../run/buy';
import type { Item } from '../run/inputItem';
import { toSeconds } from '../run/toItem';
import type { Run } from '../run/nodeRun';
import { assetTimeoutOption, waitForActiveField } from './fields';
import { toAssetOutput } from './outputs';

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
	const target = assetTarget(task, async () => await client.avatars.fetchAsset(kind, task.taskId));
	const survivalTable = client.survivalTable(`${kind} asset`);
	const { record, waitedMs } = await waitFor(run, controls, { about, target, wait, survivalTable, createdAtMs });
	const more = { waited_seconds: toSeconds(waitedMs) };
	return { record, json: toAssetOutput(task.taskId, kind, record ?? { status: 'processing' }, more) };
}
