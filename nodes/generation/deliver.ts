import type { GatewayClient, MediaKind } from '../../core/client';
import type { TaskReference } from '../../core/errors';
import { hasInlineResult } from '../../core/records/resultUrls';
import { NEW_TASK, type TaskRecord } from '../../core/records/taskRecord';
import { generationTask, missingResult } from '../../core/tasks/generationTask';
import { waitForTask, type WaitOptions } from '../../core/tasks/waitForTask';
import { downloadResultField, simplifyField } from '../form/fields';
import { outputFieldOption } from '../form/options';
import { isTool } from '../run/agentTools';
import type { Item, JobOutput } from '../run/item';
import { downloadResults } from './downloads';
import { toTaskOutput } from './taskOutput';

/** How one item wants its result. */
export interface Delivery {
	item: Item;
	kind: MediaKind;
	downloadResult: boolean;
	outputField: string;
	simplify: boolean;
	/** The model that was asked for, where the record names none. */
	model?: string;
	/** False: a record without a URL is passed on as it is, because the user asked for another response format. */
	urlExpected: boolean;
}

export function readDelivery(item: Item, kind: MediaKind): Delivery {
	return {
		item,
		kind,
		downloadResult: item.flag(downloadResultField) && !isTool(item.context.getNode()),
		outputField: item.options.text(outputFieldOption) || String(outputFieldOption.default),
		simplify: item.flag(simplifyField),
		urlExpected: true,
	};
}

/** Waits for a task, and delivers what came of it: the result, or at the timeout the unfinished task. */
export async function waitAndDeliver(client: GatewayClient, task: TaskReference, delivery: Delivery, options: WaitOptions & { signal: AbortSignal }): Promise<JobOutput> {
	const { record = NEW_TASK, timedOut, waitedMs } = await waitForTask(generationTask(task, async () => await client.fetchTask(delivery.kind, task.taskId)), options);
	if (!timedOut) return await deliver(record, task, delivery, { waitedMs, signal: options.signal });
	const { model, simplify } = delivery;
	return { json: { ...toTaskOutput(record, { taskId: task.taskId, model, simplify, waitedMs }), timed_out: true } };
}

/** A record as an output item, with its files. Throws where a completed one has no result. */
export async function deliver(
	record: TaskRecord,
	task: TaskReference,
	{ item, kind, downloadResult, outputField, simplify, model, urlExpected }: Delivery,
	{ waitedMs, signal }: { waitedMs?: number; signal: AbortSignal },
): Promise<JobOutput> {
	const { state, urls, raw } = record;
	const { taskId } = task;
	const isInline = urls.length === 0 && (!urlExpected || hasInlineResult(raw));
	if (state === 'completed' && urls.length === 0 && !isInline) throw missingResult(taskId, record, waitedMs ?? 0);
	Object.assign(task, { status: state, urls });
	const binary =
		downloadResult && urls.length > 0
			? await downloadResults(item.context, { urls, task: { ...task, elapsedMs: waitedMs ?? 0 }, kind, fieldName: outputField, signal })
			: undefined;
	return { json: toTaskOutput(record, { taskId, model, simplify: simplify && !isInline, waitedMs }), binary };
}
