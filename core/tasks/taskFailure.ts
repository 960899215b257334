import { GatewayError } from '../errors';
import type { TaskRecord } from '../records/taskRecord';
import { findExplanation, quote, shorten } from '../http/serviceErrors';

/** The error that a record with the state `failed` stands for (contract 3.1). */
export function explainFailedTask(taskId: string, record: TaskRecord): GatewayError {
	const explanation = findExplanation(record.refusal);
	return new GatewayError('taskFailed', `The service could not finish task ${taskId}`, {
		serviceMessage: record.refusal.message,
		serviceCode: record.refusal.code,
		permanent: explanation?.permanent,
		description: [
			quote(record.refusal),
			`The status of the task is "${record.status}".`,
			explanation?.permanent
				? explanation.advice
				: 'The task has ended for good. A retry of this execution creates it anew.',
		]
			.filter(Boolean)
			.join(' '),
	});
}

/** `completed` without a URL anywhere: the service's fault, but paid for, so the raw record is shown. */
export function explainMissingResult(taskId: string, record: TaskRecord, elapsedMs: number): GatewayError {
	return new GatewayError('noResult', `Task ${taskId} is complete, but the service gave no result URL`, {
		task: { taskId, status: record.status, progress: record.progress, elapsedMs },
		permanent: true,
		description: `Ask the operator of the service with this ID; Get Task reads the task again. The record: ${shorten(JSON.stringify(record.raw), 1500)}`,
	});
}

/** Results that came inside the record instead of as a URL, as some values of `response_format` give them. */
export function hasInlineResult(record: TaskRecord): boolean {
	return /"b64_json"\s*:\s*"/.test(JSON.stringify(record.raw));
}
