import type { IDataObject } from 'n8n-workflow';
import type { TaskRecord } from '../../core/records/taskRecord';
import { toIsoTime, toRecord, toSeconds, withoutEmpty } from '../run/output';

export interface TaskOutputOptions {
	taskId: string;
	/** The result URLs; empty while there are none. */
	urls: string[];
	/** The model that was asked for, where the record names none. */
	model?: string;
	simplify: boolean;
	waitedMs?: number;
}

/**
 * A task as an output item: `task_id, model, status, progress, url, urls, expires_at, created_at` (and both with
 * `_iso`), `waited_seconds`, and the raw record unless simplified. Never a top-level `error`: n8n takes that for a
 * node that wants to be run again.
 */
export function toTaskOutput(record: TaskRecord, options: TaskOutputOptions): IDataObject {
	const { taskId, urls, model, simplify, waitedMs } = options;
	return withoutEmpty({
		task_id: taskId,
		model: record.model ?? model,
		status: record.state,
		progress: record.progress ?? (record.state === 'completed' ? 100 : undefined),
		url: urls[0],
		urls: urls.length > 0 ? urls : undefined,
		expires_at: record.expiresAt,
		expires_at_iso: toIsoTime(record.expiresAt),
		created_at: record.createdAt,
		created_at_iso: toIsoTime(record.createdAt),
		waited_seconds: waitedMs === undefined ? undefined : toSeconds(waitedMs),
		reason: record.state === 'failed' ? (record.refusal.message ?? record.refusal.code ?? record.status) : undefined,
		record: simplify ? undefined : toRecord(record.raw),
	});
}
