import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { GatewayError, type TaskReference } from '../../core/errors';
import { runTasks, type JobControls } from '../../core/tasks/runTasks';
import { DEFAULT_CONCURRENT_TASKS, includeInputOption } from '../form/options';
import { readBoolean } from '../form/readParameters';
import { toNodeError } from './toNodeError';

/** What one input item becomes. `prepare` has checked it; `run` does the work. */
export interface ItemJob {
	run: (controls: JobControls) => Promise<Pick<INodeExecutionData, 'json' | 'binary'>>;
	/** The task that belongs to the item, as far as it is known by now. */
	task?: TaskReference;
}

export interface RunItemsOptions {
	concurrency?: number;
	/** Checks one item and says what is to be done with it. Sends nothing. */
	prepare: (itemIndex: number) => Promise<ItemJob> | ItemJob;
	/** Called when the user has stopped the execution. */
	onStop?: () => void;
	/** Called when every item has ended well. */
	onSuccess?: () => void;
}

/**
 * The item loop of every operation: checks all items before anything is sent, runs them at once, links each
 * output to its input, and turns what went wrong into n8n's errors (or error items, when the node continues).
 */
export async function runItems(
	context: IExecuteFunctions,
	options: RunItemsOptions,
): Promise<INodeExecutionData[]> {
	const signal = context.getExecutionCancelSignal();
	// n8n's Retry On Fail runs a stopped node again: then there is nothing to do.
	if (signal?.aborted) return [];
	const items = context.getInputData();
	const continueOnError = context.continueOnFail();

	const prepared: Array<ItemJob | GatewayError> = [];
	// Read now: once the tasks are paid for, an expression that cannot be resolved must not take their results along.
	const passesOnInput: boolean[] = [];
	for (let index = 0; index < items.length; index++) {
		prepared.push(
			await prepareItem(() => {
				passesOnInput[index] = readIncludeInput(context, index);
				return options.prepare(index);
			}),
		);
	}
	const invalid = prepared.flatMap((entry, index) => (entry instanceof GatewayError ? [index] : []));
	if (invalid.length > 0 && !continueOnError) {
		const others = invalid.slice(1);
		throw toNodeError(
			context.getNode(),
			prepared[invalid[0]] as GatewayError,
			invalid[0],
			others.length > 0 ? `Items ${others.join(', ')} hold values that are not allowed, too.` : undefined,
		);
	}

	const valid = prepared.flatMap((entry, index) => (entry instanceof GatewayError ? [] : [index]));
	const jobs = valid.map((index) => prepared[index] as ItemJob);
	const outcomes = await runTasks(jobs, {
		concurrency: options.concurrency ?? DEFAULT_CONCURRENT_TASKS,
		continueOnError,
		signal,
	});
	if (signal?.aborted) {
		options.onStop?.();
		return [];
	}

	const failures = outcomes.flatMap((outcome, index) =>
		outcome.ok ? [] : [{ error: outcome.error, itemIndex: valid[index] }],
	);
	if (failures.length > 0 && !continueOnError) {
		const first = failures.find(({ error }) => error.kind !== 'stopped' && error.kind !== 'notSubmitted') ?? failures[0];
		throw toNodeError(context.getNode(), first.error, first.itemIndex, listOtherTasks(jobs, first.error.task));
	}
	if (failures.length === 0 && invalid.length === 0) options.onSuccess?.();

	const toErrorOutput = context.getNode().onError === 'continueErrorOutput';
	return items.map((item, index): INodeExecutionData => {
		const entry = prepared[index];
		const outcome = entry instanceof GatewayError ? { ok: false as const, error: entry } : outcomes[valid.indexOf(index)];
		const passedOn = passesOnInput[index] ? withoutError(item.json) : {};
		if (outcome.ok) {
			const { json, binary } = outcome.value;
			return { json: { ...passedOn, ...json }, binary, pairedItem: { item: index } };
		}
		const task = outcome.error.task ?? (entry as Partial<ItemJob>).task;
		const failed: INodeExecutionData = {
			json: { ...passedOn, ...toErrorFields(outcome.error, task) },
			pairedItem: { item: index },
		};
		return toErrorOutput ? markAsFailed(failed, toNodeError(context.getNode(), outcome.error, index)) : failed;
	});
}

/**
 * n8n sends an item to the error output when it has an `error`, and then replaces its JSON by the message alone.
 * A property that is not copied along with the item does the first without the second: task ID and state stay.
 */
function markAsFailed(item: INodeExecutionData, error: INodeExecutionData['error']): INodeExecutionData {
	return Object.defineProperty(item, 'error', { value: error, enumerable: false });
}

async function prepareItem(prepare: () => Promise<ItemJob> | ItemJob): Promise<ItemJob | GatewayError> {
	try {
		return await prepare();
	} catch (thrown) {
		if (thrown instanceof GatewayError) return thrown;
		// An expression that could not be resolved, for example: n8n's own words say it best.
		const { message, description } = thrown as { message?: string; description?: string };
		return new GatewayError('badInput', message ?? 'The item could not be read', { description });
	}
}

function readIncludeInput(context: IExecuteFunctions, itemIndex: number): boolean {
	return readBoolean(context, itemIndex, includeInputOption, 'options.includeInputFields');
}

/** An `error` that came with the input is not of this node: n8n would run the node again for it, and buy anew. */
function withoutError(input: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(input).filter(([name]) => name !== 'error'));
}

function toErrorFields(error: GatewayError, task: TaskReference | undefined): IDataObject {
	const fields: IDataObject = { error: error.message };
	if (error.description) fields.details = error.description;
	if (error.details.httpStatus !== undefined) fields.http_status = error.details.httpStatus;
	if (!task) return fields;
	return {
		...fields,
		task_id: task.taskId,
		status: task.status,
		...(task.progress === undefined ? {} : { progress: task.progress }),
		waited_seconds: Math.round(task.elapsedMs / 100) / 10,
		...(task.urls ? { urls: task.urls } : {}),
	};
}

/** Every task of the batch that was accepted (or token, group, asset), so that none is lost with the error. */
function listOtherTasks(jobs: ItemJob[], named: TaskReference | undefined): string | undefined {
	const tasks = jobs.flatMap(({ task }) => (task && task.taskId !== named?.taskId ? [task] : []));
	if (tasks.length === 0) return undefined;
	const list = tasks.map(({ taskId, status }) => `${taskId} (${status})`).join(', ');
	return `Other requests of this run were accepted and are not lost: ${list}. A retry of this execution does not send them again, but continues with what they created.`;
}
