import type { IDataObject } from 'n8n-workflow';
import { formError } from '../errors/formErrors';
import { includeInputOption, surviveRestartsOption } from '../form/options';
import type { Item, JobOutput } from './item';
import type { Run } from './run';
import { withoutErrors } from './output';
import type { Ticket } from './ticket';

/** How the result is wanted, among other things that are not handed on. */
type Wish = Pick<
	Ticket,
	| 'kind'
	| 'model'
	| 'downloadResult'
	| 'downloadLink'
	| 'outputField'
	| 'fileName'
	| 'simplify'
	| 'resultPath'
	| 'urlExpected'
	| 'resultNeeded'
> & { sent: ReadonlySet<string> };

type Wait = Pick<Ticket, 'taskId' | 'acceptedAtMs' | 'startedAtMs' | 'timeoutMs' | 'onTimeout' | 'plan' | 'input'>;

/** Leaves the task to the sub-execution that waits for all tasks of the run. */
export function leaveTask(run: Run, item: Item, wish: Wish, wait: Wait): JobOutput {
	const {
		kind,
		model,
		downloadResult,
		downloadLink,
		outputField,
		fileName,
		simplify,
		resultPath,
		urlExpected,
		resultNeeded,
		sent,
	} = wish;
	const { taskId, acceptedAtMs, startedAtMs, timeoutMs, onTimeout, plan, input } = wait;
	run.tickets?.set(item.index, {
		...{ taskId, kind, isOurs: acceptedAtMs !== undefined, acceptedAtMs, startedAtMs, timeoutMs, onTimeout, plan },
		requestsPerSecond: run.limits.requestsPerSecond,
		...{
			model,
			downloadResult,
			downloadLink,
			outputField,
			fileName,
			simplify,
			resultPath,
			urlExpected,
			resultNeeded,
			sent: [...sent],
			input,
		},
	});
	return { json: { task_id: taskId } };
}

/** Read before anything is sent. */
export function inputToPassOn(item: Item): IDataObject | undefined {
	return item.options.flag(includeInputOption) ? withoutErrors(item.input.json) : undefined;
}

/** Tasks that nobody here waits for all run at the service at the same time. */
export function assertAllFit({ context }: Item, { limits, background }: Run): void {
	const count = context.getInputData().length;
	if (count > limits.concurrency)
		throw formError('moreThanConcurrent', {
			count,
			max: limits.concurrency,
			choice: background ? 'Start a Workflow' : surviveRestartsOption.displayName,
		});
}
