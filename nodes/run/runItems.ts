import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { takingBreaks } from '../../core/clock';
import { GatewayError, type TaskReference } from '../../core/errors';
import { runTasks, type TaskJob, type TaskOutcome } from '../../core/tasks/runTasks';
import { realClock } from '../connection/transport';
import { describe } from '../errors/advice';
import { formError } from '../errors/formErrors';
import { plain } from '../errors/plain';
import { toNodeError, wayOf, type AboutRun, type Place } from '../errors/toNodeError';
import { includeInputOption } from '../form/options';
import { Parameters } from '../form/parameters';
import { aboutAccepted, alsoWrong } from './aboutRun';
import { Item, type Job, type JobOutput } from './item';
import { withoutErrors } from './output';

export interface RunItemsOptions {
	concurrency: number;
	place: Omit<Place, 'itemIndex'>;
	/** Checks one item and says what is to be done with it. Sends nothing. */
	prepare: (item: Item) => Promise<Job> | Job;
	/** Called when all items have ended, whichever way. */
	onEnd: () => Promise<void>;
	/** Called when the user has stopped the execution. */
	onStop: () => void;
	/** Called when every item has ended well. */
	onSuccess: () => void;
	/** What was accepted so far, in earlier tries, too: an item that this try does not get to is not lost either. */
	acceptedIds: () => string[];
}

/** An item whose form has been read, or what is wrong with it. */
interface Prepared {
	item: Item;
	job: Job | GatewayError;
	/** Read now: once the tasks are paid for, an expression that cannot be resolved must not take their results along. */
	includesInput: boolean;
}

/**
 * The item loop of every operation: checks all items before anything is sent, runs them at once, links each
 * output to its input, and turns what went wrong into n8n's errors (or error items, when the node continues).
 */
export async function runItems(context: IExecuteFunctions, options: RunItemsOptions): Promise<INodeExecutionData[]> {
	const signal = context.getExecutionCancelSignal();
	// n8n's Retry On Fail runs a stopped node again: then there is nothing to do.
	if (signal?.aborted) return [];
	const inputs = context.getInputData();
	const continueOnError = context.continueOnFail();
	const nodeError = (error: GatewayError, itemIndex: number, run?: AboutRun) =>
		toNodeError(error, { ...options.place, itemIndex, isItem: continueOnError }, run);

	const parameters = new Parameters(context, options.place.node);
	const prepared: Prepared[] = [];
	const breakIfDue = takingBreaks(realClock);
	for (const [index, input] of inputs.entries()) {
		prepared.push(await prepareItem(new Item(parameters, index, input), options));
		await breakIfDue();
		if (signal?.aborted) return [];
	}
	const [firstInvalid, ...othersInvalid] = prepared.filter(({ job }) => job instanceof GatewayError);
	if (firstInvalid?.job instanceof GatewayError && !continueOnError) {
		throw nodeError(firstInvalid.job, firstInvalid.item.index, {
			last: alsoWrong(othersInvalid.map(({ item }) => item.index)),
		});
	}

	const jobs = prepared.map(
		({ item: { scope }, job }): TaskJob<JobOutput> => ({
			run: job instanceof GatewayError ? async () => await Promise.reject(job) : job,
			scope,
		}),
	);
	const outcomes = await runTasks(jobs, { concurrency: options.concurrency, continueOnError, signal });
	await options.onEnd();
	if (signal?.aborted) {
		options.onStop();
		return [];
	}

	const failures = outcomes.flatMap((outcome, itemIndex) => (outcome.ok ? [] : [{ error: outcome.error, itemIndex }]));
	const first = failures.find(({ error }) => error.kind !== 'stopped' && error.kind !== 'notSubmitted') ?? failures[0];
	if (first === undefined) options.onSuccess();
	else if (!continueOnError) {
		const about = aboutAccepted(
			prepared.map(({ item }) => item),
			options.acceptedIds(),
			first.error,
			options.place,
		);
		throw nodeError(first.error, first.itemIndex, about);
	}

	const toErrorOutput = options.place.node.onError === 'continueErrorOutput';
	const toOutput = (outcome: TaskOutcome<JobOutput>, index: number): INodeExecutionData => {
		const { item, includesInput } = prepared[index] as Prepared; // one outcome for each
		const passedOn = includesInput ? withoutErrors(item.input.json) : {};
		if (outcome.ok) {
			const { json, binary } = outcome.value;
			return { json: { ...passedOn, ...json }, binary, pairedItem: { item: index } };
		}
		const failed: INodeExecutionData = {
			json: { ...passedOn, ...toErrorFields(outcome.error, outcome.error.task ?? item.task, options.place) },
			pairedItem: { item: index },
		};
		return toErrorOutput ? markAsFailed(failed, nodeError(outcome.error, index)) : failed;
	};
	const output: INodeExecutionData[] = [];
	for (const [index, outcome] of outcomes.entries()) {
		output.push(toOutput(outcome, index));
		await breakIfDue();
	}
	return output;
}

/**
 * n8n sends an item to the error output when it has an `error`, and then replaces its JSON by the message alone.
 * A property that is not copied along with the item does the first without the second: task ID and state stay.
 */
export function markAsFailed(item: INodeExecutionData, error: INodeExecutionData['error']): INodeExecutionData {
	return Object.defineProperty(item, 'error', { value: error, enumerable: false });
}

async function prepareItem(item: Item, { prepare }: RunItemsOptions): Promise<Prepared> {
	let includesInput = false;
	try {
		includesInput = item.options.flag(includeInputOption);
		return { item, includesInput, job: await prepare(item) };
	} catch (thrown) {
		return { item, includesInput, job: thrown instanceof GatewayError ? thrown : unreadable(thrown) };
	}
}

/** An expression that could not be resolved, for example. */
function unreadable(thrown: unknown): GatewayError {
	const { message, description } = thrown as { message?: string; description?: string };
	return formError('itemUnreadable', { words: message, more: description }, thrown);
}

/** What an error item says. */
export function toErrorFields(
	error: GatewayError,
	task: TaskReference | undefined,
	{ operation, isTool }: Pick<Place, 'operation' | 'isTool'> = {},
): IDataObject {
	const fields: IDataObject = { error: plain(error.message) };
	const details = plain(describe(error, { operation, way: wayOf({ isTool, isItem: true }) }));
	if (details !== '') fields.details = details;
	if (error.details.httpStatus !== undefined) fields.http_status = error.details.httpStatus;
	if (!task) return fields;
	return {
		...fields,
		task_id: task.taskId,
		...(task.status === undefined ? {} : { status: task.status }),
		...(task.progress === undefined ? {} : { progress: task.progress }),
		waited_seconds: Math.round(task.elapsedMs / 100) / 10,
		...(task.urls ? { urls: task.urls } : {}),
	};
}
