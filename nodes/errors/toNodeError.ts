/** From an error of the core to one that n8n shows, with what else the run has bought; and from an error of n8n's to one of the core. */
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { ActionableCause, Failure, INode, TimedCause } from 'n8n-workflow';
import { codeOf, GatewayError, isTransient, gatewayError, invalidInput } from '../../core/errors';
import type { GatewayErrorKind, TaskReference } from '../../core/errors';
import { entryOf } from '../../core/errors/catalogue';
import type { Situation } from '../../core/errors/catalogueEntry';
import { describe, quoteService } from '../../core/errors/describe';
import { endsTheSame } from '../../core/errors/kinds';
import { namesRetry, retryRest } from '../../core/errors/recovery';
import { printable, toRanges, wordsOf } from '../../core/text';
import type { Purchase } from '../../core/orders/order';
import { isReplacedByRetry } from '../../core/orders/states';

/** Characters of five lines in the output panel, on a screen of 1366 pixels. */
const FIVE_LINES = 285;

/** Of more, people read none. */
const IDS_SHOWN = 3;

/** Characters of the service's words that remain in any case: enough to recognize them. */
const SHORTEST_QUOTE = 40;

/** Characters of the service's words under Error details. */
const MOST_WORDS = 5_000;

const SEE_DETAILS = 'IDs: see Error details.';

/**
 * The only place where an error of the core becomes one of n8n's. Message: what happened, naming the field or
 * the task; description: how to go on. It is built from our own words and the service's parsed answer only, so
 * that no request (and with it the key) can travel along.
 */
export function toNodeError(
	error: GatewayError,
	{ node, itemIndex, operation, ...errorContext }: ErrorContext,
	run: BatchSummary = {},
): NodeApiError | NodeOperationError {
	const { subExecution } = errorContext;
	const others = run.rest && run.rest.others + run.rest.unsent;
	const situation = { operation: operation ?? '', recovery: recoveryOf(errorContext), subExecution, others };
	const { words, quote } = textOf(error, situation, run);
	const description = plain(run.ids === undefined ? words : `${words} ${endWithIds(run.ids, words.length)}`);
	const message = plain(errorContext.isTool && description !== '' ? `${error.message}. ${description}` : error.message);
	const failure = failureOf(error);
	const toNode = () => {
		if (error.kind === 'badInput') return new NodeOperationError(node, message, { description, itemIndex, failure });
		const { httpStatus } = error.details;
		const httpCode = httpStatus === undefined ? undefined : String(httpStatus);
		return new NodeApiError(node, { message }, { message, description, itemIndex, httpCode, failure });
	};
	const made = toNode();
	// n8n hands it on to error workflows, which could only search the text otherwise.
	Object.assign(made.context, { code: codeOf(error), ids: idsOf(error, run) });
	const details = [quote, run.details].filter(Boolean) as string[];
	made.messages.push(...details.map(plain));
	return made;
}

/** The place of an error: the advice depends on it. */
export interface ErrorContext {
	node: INode;
	itemIndex: number;
	/** The value of the operation; none in a trigger. */
	operation?: string;
	/** An agent gets to read the message only. */
	isTool?: boolean;
	/** The item becomes an error item, and the execution goes on. */
	isItem?: boolean;
	/** The execution, if another workflow has called it. */
	subExecution?: string;
}

/** The words about the run as a whole, when it ends with the error of one item. */
export interface BatchSummary {
	/** Comes after the advice: the cause is read first. */
	last?: string;
	/** The end of the text: as many IDs as there is room for. All of them are in `details`. */
	ids?: { label: string; ids: string[] };
	/** Other items that were accepted, or may have been, and those that were not sent. */
	rest?: { others: number; unsent: number };
	/** Too much to be read in one place: under Error details in the panel. */
	details?: string;
}

export function recoveryOf({ isTool, isItem }: Pick<ErrorContext, 'isTool' | 'isItem'>): Situation['recovery'] {
	return isTool ? 'callAgain' : isItem ? 'runAgain' : 'retry';
}

/**
 * The words of the panel. Where the service's words make it too long, they are cut, and all of them are under Error
 * details. They only remain where they are the cause.
 */
function textOf(error: GatewayError, situation: Situation, { last, ids, rest }: BatchSummary) {
	const write = (quoteLength?: number) => {
		const about = describe(error, situation, quoteLength);
		return [about, rest && aboutRest(error, situation, { about, unsent: rest.unsent }), last].filter(Boolean).join(' ');
	};
	const roomBelow = (text: string) => FIVE_LINES - text.length - (ids === undefined ? 0 : SEE_DETAILS.length + 1);
	const whole = write();
	const { kind, details } = error;
	if (!details.serviceMessage || situation.recovery === 'callAgain' || roomBelow(whole) >= 0) return { words: whole };
	const room = roomBelow(write(SHORTEST_QUOTE));
	const atLeast = entryOf(details.reason?.name)?.serviceFirst ? SHORTEST_QUOTE : 0;
	const words = write(room < 0 ? atLeast : SHORTEST_QUOTE + room);
	return { words, quote: quoteService(kind, details, MOST_WORDS) };
}

/** One way to the other items, where the advice on this one names none; and how many of them were not sent. */
function aboutRest(
	error: GatewayError,
	situation: Situation,
	{ about, unsent }: { about: string; unsent: number },
): string {
	const meetsTheSame = endsTheSame(error) || error.details.reason?.name === 'createdTaskTooLarge';
	const wayOn = meetsTheSame ? 'pastThisItem' : error.kind === 'badInput' ? 'withChanges' : 'asItIs';
	return [situation.others && !namesRetry(about) && retryRest[wayOn](situation), unsent > 0 && wereNotSent(unsent)]
		.filter(Boolean)
		.join(' ');
}

export const wereNotSent = (unsent: number) => `${unsent === 1 ? '1 item was' : `${unsent} items were`} not sent.`;

/** At most five lines, so that the way on is seen at once: what does not fit is under Error details. */
function endWithIds({ label, ids }: { label: string; ids: string[] }, before: number): string {
	for (let shown = Math.min(IDS_SHOWN, ids.length); shown > 0; shown--) {
		const more = ids.length - shown;
		const list = ids.slice(0, shown).join(', ');
		const text = `${label}: ${list}${more > 0 ? ` and ${more} more, under Error details` : ''}.`;
		if (before + 1 + text.length <= FIVE_LINES) return text;
	}
	return SEE_DETAILS;
}

/** The IDs of all that the service has accepted in the run: that of the error first. */
const idsOf = ({ task }: GatewayError, { ids }: BatchSummary) => [...(task ? [task.taskId] : []), ...(ids?.ids ?? [])];

/** The kind of failure in n8n's words, where n8n has one. From 2.41, it decides when n8n polls a trigger again. */
export function failureOf(error: GatewayError): Failure | undefined {
	const timed = TIMED[error.kind];
	if (timed !== undefined) return { cause: timed, retryAfterMs: error.details.retryAfterMs };
	const cause = ACTIONABLE[error.kind];
	// An answer that says no without a reason may be another one a moment later.
	return cause === undefined || isTransient(error) ? undefined : { cause };
}

/** Errors that pass without a change of the workflow or the credential: by themselves, or when credits are added. */
const TIMED: Partial<Record<GatewayErrorKind, TimedCause>> = {
	balance: 'quota-exhausted',
	rateLimited: 'rate-limited',
	unavailable: 'temporarily-unavailable',
	unreachable: 'temporarily-unavailable',
};

/** Errors that pass only when a person changes the workflow or the credential. */
const ACTIONABLE: Partial<Record<GatewayErrorKind, ActionableCause>> = {
	authentication: 'credential-invalid',
	badInput: 'configuration-invalid',
	notFound: 'configuration-invalid',
	ownMistake: 'node-defect',
	permission: 'configuration-invalid',
	rejected: 'configuration-invalid',
};

/**
 * A text that n8n shows to people: messages, descriptions, hints. n8n takes a description for HTML in some places and for
 * text in others, so what the service or a user has written must read the same in both, and no link of it may work.
 */
export function plain(text: string): string {
	return printable(text).replaceAll('<', '‹').replaceAll('>', '›');
}

/**
 * Tells what the service has accepted of a run that ends with the error of one item (tasks, tokens, groups, assets): how
 * to get it without paying again, and the IDs. n8n keeps no output of a node that ends so, but a retry continues.
 */
export function summarizeAccepted(
	orders: Purchase[],
	acceptedIds: string[],
	error: GatewayError,
	{ operation, isTool }: Pick<ErrorContext, 'operation' | 'isTool'>,
): BatchSummary {
	const { others, failed } = othersOf(orders, acceptedIds, error.task?.taskId);
	const unclear = orders.filter(isUnclear);
	// The error is that of the first one.
	if (error.kind === 'outcomeUnknown') unclear.shift();
	// An agent has no Executions list.
	if (isTool && others.length > 0)
		return {
			last: `Other requests of this call were accepted and are not lost. Their IDs: ${others.map(toLine).join(', ')}.`,
		};
	const { ids, details } = listIds(others, operation === 'generate' ? 'Other tasks' : 'Other IDs');
	const shown = [
		others.length > 0 && details,
		failed.length > 0 && `Also failed: ${failed.map(toLine).join(', ')}`,
		unclear.length > 0 &&
			`Also of unknown outcome, by the index of the item: ${toRanges(unclear.map(({ item }) => item))}`,
	].filter(Boolean);
	return {
		...(!isTool && { rest: { others: others.length + unclear.length, unsent: orders.filter(isUnsent).length } }),
		...(others.length > 0 && { ids }),
		details: shown.join('. ') || undefined,
	};
}

type Accepted = Pick<TaskReference, 'taskId' | 'status'>;

/** The accepted tasks of a run without one: those that a retry continues, and those that have failed. */
function othersOf(
	orders: Purchase[],
	acceptedIds: string[],
	without?: string,
): Record<'others' | 'failed', Accepted[]> {
	const others = new Map(acceptedIds.map((taskId): [string, Accepted] => [taskId, { taskId, status: 'in_progress' }]));
	const failed: Accepted[] = [];
	for (const order of orders) {
		const { task, acceptedAtMs } = order;
		if (!task || task.taskId === '' || acceptedAtMs === undefined) continue;
		if (isReplacedByRetry(order)) failed.push(task);
		else others.set(task.taskId, task);
	}
	const isOther = ({ taskId }: Accepted) => taskId !== without;
	return { others: [...others.values()].filter(isOther), failed: failed.filter(isOther) };
}

/** Held back, because of another item or of a stop. */
export const isUnsent = ({ state, end }: Purchase) => state === 'planned' || end?.as === 'notSubmitted';

/** An API key that cannot be read again was created nevertheless. */
const isUnclear = ({ acceptedAtMs, end }: Purchase) => acceptedAtMs === undefined && end?.as === 'outcomeUnknown';

/** For the text in the panel, as far as there is room, and with the status of each for Error details. */
export function listIds(tasks: Accepted[], label: string): BatchSummary {
	return {
		ids: { label, ids: tasks.map(({ taskId }) => taskId) },
		details: `${label} of this run: ${tasks.map(toLine).join(', ')}`,
	};
}

/** An ID and its status. */
const toLine = ({ taskId, status }: Accepted) => (status === undefined ? taskId : `${taskId} (${status})`);

/** Names the other items with mistakes. */
export function listOtherMistakes(indexes: number[]): string | undefined {
	if (indexes.length === 0) return undefined;
	return `${indexes.length === 1 ? 'Item' : 'Items'} ${toRanges(indexes)} also ${indexes.length === 1 ? 'has' : 'have'} values that are not allowed. n8n counts items from 0.`;
}

/** The error of a form that n8n could not read, for example because of an expression, in n8n's words. */
export function unreadable(thrown: unknown): GatewayError {
	if (thrown instanceof GatewayError) return thrown;
	const { message, description } = thrown as { message?: string; description?: string };
	return invalidInput(message ?? 'The item could not be read', description ?? '', { cause: thrown });
}

/**
 * Reads a file of n8n's. Throws `fileUnreadable` where n8n does not have it any more.
 *
 * @param file by its name, and as the form calls it, where that is known
 */
export async function readingFile<T>(file: { label?: string; fileName: string }, read: () => Promise<T>): Promise<T> {
	return await read().catch((thrown: unknown) => {
		if (thrown instanceof GatewayError) return Promise.reject(thrown);
		const { label, fileName: name } = file;
		return Promise.reject(gatewayError('fileUnreadable', { label, name, words: wordsOf(thrown) }, { cause: thrown }));
	});
}
