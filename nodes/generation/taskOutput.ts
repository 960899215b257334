import type { IDataObject } from 'n8n-workflow';
import { pricesIn } from '../../core/records/prices';
import type { TaskRecord } from '../../core/records/taskRecord';
import { toIsoTime, toRecord, toSeconds, withoutEmpty, withoutErrors } from '../run/output';

export interface TaskOutputOptions {
	taskId: string;
	/** The result URLs; empty while there are none. */
	urls: string[];
	/** The model that was asked for, where the record names none. */
	model?: string;
	simplify: boolean;
	waitedMs?: number;
	/** Another item has bought it. */
	reused?: boolean;
}

/**
 * A task as an output item: first what the user came for, then the rest, prices as they came, and the raw record unless
 * simplified. Times are in ISO 8601. Never a top-level `error`: n8n takes that for a node that wants to be run again.
 */
export function toTaskOutput(record: TaskRecord, options: TaskOutputOptions): IDataObject {
	const { taskId, urls, model, simplify, waitedMs, reused } = options;
	return withoutEmpty({
		url: urls[0],
		task_id: taskId,
		status: record.state,
		reason: record.state === 'failed' ? (record.refusal.message ?? record.refusal.code ?? record.status) : undefined,
		progress: record.progress ?? (record.state === 'completed' ? 100 : undefined),
		model: record.model ?? model,
		reused,
		waited_seconds: waitedMs === undefined ? undefined : toSeconds(waitedMs),
		created_at: toIsoTime(record.createdAt),
		expires_at: toIsoTime(record.expiresAt),
		urls: urls.length > 0 ? urls : undefined,
		...withoutErrors(pricesIn(record.raw) as IDataObject),
		record: simplify ? undefined : toRecord(record.raw),
	});
}
