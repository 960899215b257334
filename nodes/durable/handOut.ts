import { NodeApiError, type IDataObject, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { plain } from '../errors/plain';
import { listIds, toLine } from '../run/aboutRun';
import { outcomeOf, type Row } from './rows';
import type { OnError } from './subWorkflow';

export function onErrorOf(context: IExecuteFunctions): OnError {
	if (!context.continueOnFail()) return 'stopWorkflow';
	return context.getNode().onError === 'continueErrorOutput' ? 'continueErrorOutput' : 'continueRegularOutput';
}

/**
 * The output of the node: one item for each row, in their order. Where the workflow is to stop, it throws what the first
 * item that did not succeed has ended with.
 *
 * @param keptIn the execution whose Keep Waiting puts out all rows
 */
export function handOut(
	context: IExecuteFunctions,
	rows: Row[],
	onError: OnError,
	keptIn?: string,
): INodeExecutionData[] {
	const outcomes = rows.map((row) => ({ json: outcomeOf(row), binary: row.binary }));
	const failed = outcomes.filter(({ json }) => json.error !== undefined);
	const [first] = failed;
	if (first !== undefined && onError === 'stopWorkflow')
		throw toError(
			context,
			first.json,
			outcomes.map(({ json }) => json),
			keptIn,
		);
	return outcomes.map(({ json, binary }, item) => ({
		json: json.error !== undefined && onError === 'continueErrorOutput' ? forErrorOutput(json) : json,
		...(binary ? { binary } : {}),
		pairedItem: { item },
	}));
}

/** n8n sends an item to the error output, with all that it says, only when it has no other fields than these. */
function forErrorOutput({ error, details: message = '', ...details }: IDataObject): IDataObject {
	return { error, message, details };
}

/** It is stored, and a retry throws it again: so it says where the results are. */
function toError(
	context: IExecuteFunctions,
	{ error, details, http_status: httpStatus, task_id: id }: IDataObject,
	all: IDataObject[],
	keptIn?: string,
): NodeApiError {
	const others = all.flatMap(({ task_id: other, status }) =>
		other === undefined || other === id
			? []
			: [{ taskId: String(other), status: status === undefined ? undefined : String(status) }],
	);
	const description = [
		others.length > 0 && `The results of the other tasks of this run (${others.length}) are not lost.`,
		keptIn &&
			`All results and files are in execution ${keptIn} of this workflow, in the output of the node Keep Waiting.`,
		'Retrying this execution buys nothing and leads to the same result. To get the result of a task, create a new workflow: a trigger, and behind it Wait for Task with its ID.',
		details,
		others.length > 0 && listIds(others),
	];
	const made = new NodeApiError(
		context.getNode(),
		{ message: String(error) },
		{
			message: String(error),
			description: description.filter(Boolean).join(' '),
			httpCode: httpStatus === undefined ? undefined : String(httpStatus),
		},
	);
	if (others.length > 0) made.messages.push(plain(`All other IDs of this run: ${others.map(toLine).join(', ')}`));
	return made;
}
