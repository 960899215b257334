import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { GatewayClient, MediaKind } from '../../core/client';
import { asGatewayError, type TaskReference } from '../../core/errors';
import type { TaskRecord } from '../../core/records/taskRecord';
import { explainFailedTask, explainMissingResult, hasInlineResult } from '../../core/tasks/taskFailure';
import type { PollPlan } from '../../core/tasks/pollSchedule';
import { waitForTask } from '../../core/tasks/waitForTask';
import { isTool } from '../run/agentTools';
import { downloadResults } from './binary';
import { downloadResultField, simplifyField } from './fields';
import { outputFieldOption } from '../form/options';
import { readBoolean, readNumber, toText } from '../form/readParameters';
import { toTaskOutput } from './taskOutput';
import { realClock } from '../connection/transport';

/** How one item wants its task waited for and handed out. */
export interface FinishOptions {
	timeoutMs: number;
	onTimeout: 'error' | 'return';
	plan: PollPlan;
	downloadResult: boolean;
	outputField: string;
	simplify: boolean;
	/** A record without a URL is passed on as it is: the user asked for another response format. */
	urlExpected: boolean;
}

export function readFinishOptions(
	context: IExecuteFunctions,
	itemIndex: number,
	defaultTimeoutMinutes: number,
): FinishOptions {
	const options = context.getNodeParameter('options', itemIndex, {}) as IDataObject;
	return {
		timeoutMs: readNumber(options.timeoutMinutes, 'Timeout (Minutes)', 0, defaultTimeoutMinutes) * 60_000,
		onTimeout: options.onTimeout === 'return' ? 'return' : 'error',
		plan:
			options.pollIntervalSeconds === undefined
				? { kind: 'automatic' }
				: { kind: 'fixed', intervalMs: readNumber(options.pollIntervalSeconds, 'Polling Interval (Seconds)', 1, 10) * 1000 },
		downloadResult: readBoolean(context, itemIndex, downloadResultField) && !isTool(context.getNode()),
		outputField: toText(options.outputField, outputFieldOption.displayName) || String(outputFieldOption.default),
		simplify: readBoolean(context, itemIndex, simplifyField),
		urlExpected: true,
	};
}

/** A task that exists: waits for it, checks what came out, downloads the files. */
export async function finishTask(
	context: IExecuteFunctions,
	client: GatewayClient,
	known: { kind: MediaKind; task: TaskReference; model?: string; startedAtMs: number; acceptedAtMs?: number },
	options: FinishOptions,
	signal: AbortSignal,
): Promise<Pick<INodeExecutionData, 'json' | 'binary'>> {
	const { kind, task, model, startedAtMs, acceptedAtMs } = known;
	const { taskId } = task;
	let latest: TaskRecord | undefined;
	try {
		const record = await waitForTask({
			taskId,
			plan: options.plan,
			timeoutMs: options.timeoutMs,
			startedAtMs,
			acceptedAtMs,
			clock: realClock,
			signal,
			read: async () => (latest = await client.readTask(kind, taskId)),
			watch: ({ state, status, progress, createdAt, retryAfterMs }) => {
				Object.assign(task, { status, progress, elapsedMs: Date.now() - startedAtMs });
				return {
					state: state === 'completed' ? 'done' : state === 'failed' ? 'failed' : 'pending',
					status,
					progress,
					createdAtMs: createdAt === undefined ? undefined : createdAt * 1000,
					retryAfterMs,
				};
			},
			explainFailure: (failed) => explainFailedTask(taskId, failed),
		});
		return await handOut(context, record, known, options, signal);
	} catch (thrown) {
		const error = asGatewayError(thrown);
		if (error.kind === 'taskTimedOut' && options.onTimeout === 'return') {
			const unfinished = latest ?? { state: 'queued', status: 'queued', urls: [], refusal: {}, raw: {} };
			const waitedMs = Date.now() - startedAtMs;
			const json = toTaskOutput(unfinished, { taskId, model, simplify: options.simplify, waitedMs });
			return { json: { ...json, timed_out: true } };
		}
		throw error;
	}
}

/** A record that has ended well, as an output item with its files. */
export async function handOut(
	context: IExecuteFunctions,
	record: TaskRecord,
	known: { kind: MediaKind; task: TaskReference; model?: string; startedAtMs?: number },
	options: FinishOptions,
	signal: AbortSignal,
): Promise<Pick<INodeExecutionData, 'json' | 'binary'>> {
	const { kind, task, model, startedAtMs } = known;
	const waitedMs = startedAtMs === undefined ? undefined : Date.now() - startedAtMs;
	const inline = record.urls.length === 0 && (!options.urlExpected || hasInlineResult(record));
	if (record.state === 'completed' && record.urls.length === 0 && !inline) {
		throw explainMissingResult(task.taskId, record, waitedMs ?? 0);
	}
	Object.assign(task, { status: record.state, urls: record.urls });
	let binary: IBinaryKeyData | undefined;
	if (options.downloadResult && record.urls.length > 0) {
		binary = await downloadResults(context, {
			urls: record.urls,
			task: { ...task, elapsedMs: waitedMs ?? 0 },
			kind,
			fieldName: options.outputField,
			signal,
		});
	}
	const simplify = options.simplify && !inline;
	return { json: toTaskOutput(record, { taskId: task.taskId, model, simplify, waitedMs }), binary };
}
