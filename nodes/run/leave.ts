import type { IDataObject } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import { formError } from '../errors/formErrors';
import { includeInputOption, surviveRestartsOption } from '../form/options';
import type { Item, JobOutput } from './item';
import type { Run } from './run';
import { withoutErrors } from './output';
import { MOST_SENT, wrongWith, type Ticket } from './ticket';

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
	const ticket = toTicket(run, wish, wait);
	const words = wrongWith(ticket);
	if (words !== undefined) throw gatewayError('notHandedOver', { id: wait.taskId, words });
	run.tickets?.set(item.index, ticket);
	return { json: { task_id: wait.taskId } };
}

function toTicket({ limits }: Run, wish: Wish, wait: Wait): Ticket {
	const { kind, model, downloadResult, downloadLink, outputField, fileName, simplify, resultPath } = wish;
	const { urlExpected, resultNeeded, sent } = wish;
	const { taskId, acceptedAtMs, startedAtMs, timeoutMs, onTimeout, plan, input } = wait;
	return {
		...{ taskId, kind, isOurs: acceptedAtMs !== undefined, acceptedAtMs, startedAtMs, timeoutMs, onTimeout, plan },
		requestsPerSecond: limits.requestsPerSecond,
		...{ model, downloadResult, downloadLink, outputField, fileName, simplify, resultPath, urlExpected, resultNeeded },
		sent: [...sent],
		input,
	};
}

/** Before anything is sent: whether what is to be left can be read again, whatever comes of the request. */
export function assertLeavable(run: Run, wish: Wish, wait: Omit<Wait, 'taskId' | 'startedAtMs'>): void {
	const count = wish.sent.size;
	if (count > MOST_SENT) throw formError('tooManyUrls', { count, max: MOST_SENT, choice: choiceOf(run) });
	const words = wrongWith(toTicket(run, wish, { ...wait, taskId: 'task', startedAtMs: Date.now() }));
	if (words !== undefined) throw formError('itemUnreadable', { words });
}

/** Read before anything is sent. */
export function inputToPassOn(item: Item): IDataObject | undefined {
	return item.options.flag(includeInputOption) ? withoutErrors(item.input.json) : undefined;
}

/** Tasks that nobody here waits for all run at the service at the same time. */
export function assertAllFit({ context }: Item, run: Run): void {
	const count = context.getInputData().length;
	const { concurrency: max } = run.limits;
	if (count > max) throw formError('moreThanConcurrent', { count, max, choice: choiceOf(run) });
}

/** What the form calls it. */
const choiceOf = ({ background }: Run) => (background ? 'Start a Workflow' : surviveRestartsOption.displayName);
