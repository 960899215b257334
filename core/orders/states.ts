import { asGatewayError, gatewayError, GatewayError, type TaskReference } from '../errors';
import { endsTheSame } from '../errors/kinds';
import type { JsonObject } from '../json';
import { urlsOfRequest } from '../records/locateResult';
import { shorten } from '../text';
import { MAX_PROMPT_LENGTH, MOST_EARLIER_TASKS, ORDER_VERSION, orderSchema } from './order';
import type { Order, OrderDraft, OrderEnd, Output, Purchase, StoredError } from './order';

/**
 * The states of an order, and which may follow which:
 *
 *        ┌──────────────────────────▼
 *     planned ◀─▶ submitting ──▶ accepted ──▶ ended
 *        │             └────────────────────────▲
 *        └──────────────────────────────────────┘
 *
 * The service has accepted nothing of a planned order. `submitting` lasts from just before a creating request until its
 * outcome is known: an order that is found in it later has an unknown outcome. An order for something that exists already
 * begins as accepted, or becomes so at once. Only `reopenForRetry` leads back.
 */
const NEXT: Record<Order['state'], ReadonlyArray<Order['state']>> = {
	planned: ['submitting', 'accepted', 'ended'],
	submitting: ['planned', 'accepted', 'ended'],
	accepted: ['ended'],
	ended: [],
};

/** The effect of running an order again. */
export type Retry =
	| 'continues' // with the same ID: costs nothing
	| 'endsAgain' // in the same way, with the same ID: costs nothing
	| 'submits' // nothing was accepted, or what was accepted has failed and is left behind
	| 'refuses'; // unless a person submits it again by the name of its run: it may have been accepted

/** The ends of an order as retries tell them apart: four of them are stored as `failed`. */
type End = Exclude<OrderEnd['as'], 'failed'> | 'undelivered' | 'taskFailed' | 'taskFailedForGood' | 'taskNotFound';

/**
 * The effect of Retry On Fail and Retry execution on each end. The ledger forgets what a retry submits in the place of, and
 * Across Restarts takes up again what is not to end in the same way.
 */
const RETRIES: Record<End, Retry> = {
	done: 'continues',
	refused: 'submits',
	notSubmitted: 'submits',
	outcomeUnknown: 'refuses',
	// Accepted, but the file, the result or an answer of the service is missing.
	undelivered: 'continues',
	taskFailed: 'submits',
	// The same request would fail again: the form has to change, and then it is another one.
	taskFailedForGood: 'endsAgain',
	// It was accepted, and may be found later.
	taskNotFound: 'continues',
	timedOut: 'continues',
	stopped: 'continues',
};

/** An end with as much of its error as decides about retries. */
type EndToRetry = Pick<OrderEnd, 'as'> & { error?: { kind: string; details: { permanent?: boolean } } };

/** The effect of a retry on an order that has ended so. */
export function retryOf(end: EndToRetry): Retry {
	return RETRIES[toEnd(end)];
}

/** True when a retry submits again in the place of what the service has accepted. */
export function isReplacedByRetry({ acceptedAtMs, end }: Purchase): boolean {
	return acceptedAtMs !== undefined && end !== undefined && retryOf(end) === 'submits';
}

/**
 * True where an accepted order is about to end with an error after which its task may never give a result, or its API
 * key cannot be shown again. A retry costs nothing and looks again; one by a person who names the run buys another one.
 */
export function isGivenUp({ state, acceptedAtMs }: Purchase, { kind, details }: GatewayError): boolean {
	if (state !== 'accepted' || acceptedAtMs === undefined) return false;
	return GIVEN_UP.has(kind) || toEnd({ as: 'failed', error: { kind, details } }) === 'taskFailedForGood';
}

const GIVEN_UP: ReadonlySet<string> = new Set(['notFound', 'notShown', 'outcomeUnknown']);

function toEnd({ as, error }: EndToRetry): End {
	if (as !== 'failed') return as;
	if (error?.kind === 'notFound') return 'taskNotFound';
	if (error?.kind !== 'taskFailed') return 'undelivered';
	return error.details.permanent === true ? 'taskFailedForGood' : 'taskFailed';
}

/** Makes a new order and checks it. Throws where the form has let something through that cannot be stored. */
export function makeOrder(draft: OrderDraft): Order {
	const state = draft.request === undefined ? 'accepted' : 'planned';
	return checkOrder({ version: ORDER_VERSION, state, ...draft });
}

/** The order of an item that could not be read: it has ended before it began. */
export function makeRefused(item: number, error: GatewayError): Order {
	const end = { as: 'refused' as const, error: toStored(error) };
	return checkOrder({ version: ORDER_VERSION, item, thing: 'task', kind: '', state: 'ended', then: 'nothing', end });
}

/** Checks a new order: if it could not be read back from the database, that would be found out after it was paid. */
export function checkOrder(order: Order): Order {
	const [issue] = orderSchema.safeParse(order).error?.issues ?? [];
	if (issue === undefined) return order;
	throw gatewayError('packageBug', { words: `${issue.path.join('.')}: ${issue.message}` });
}

/** Notes that the request is about to be sent. */
export function beginSubmitting(order: Purchase): void {
	moveTo(order, 'submitting');
}

/** Notes that the service surely has not accepted the request: it can be sent again, now or later. */
export function putOff(order: Purchase): void {
	if (order.state === 'submitting') moveTo(order, 'planned');
}

/**
 * Notes that the service has accepted it, in this try or an earlier one.
 *
 * @param uploads URLs of its images that were uploaded
 */
export function accept(
	order: Purchase,
	task: TaskReference,
	acceptedAtMs: number,
	uploads: readonly string[] = order.request?.uploads ?? [],
): void {
	moveTo(order, 'accepted');
	// A record may repeat them, and they are no result.
	if (order.result !== undefined) order.result.requestUrls = [...urlsOfRequest([order.request?.body, uploads])];
	order.task = { ...task };
	order.acceptedAtMs = acceptedAtMs;
	// Its outcome is known. Retry On Fail elsewhere may send it again.
	if (!order.isRetried) dropRequest(order);
}

/** Ends an order with its output item. */
export function endWell(order: Order, output: Output, hints: Iterable<string> = []): void {
	endAs(order, { as: 'done', output }, hints);
}

/** Ends an order with an error. */
export function endBadly(order: Purchase, thrown: unknown, hints: Iterable<string> = []): GatewayError {
	const error = asGatewayError(thrown);
	endAs(order, { as: endOf(order, error), error: toStored(error) }, hints);
	return error;
}

/**
 * Takes up again an order that has ended with an error, as Retry On Fail does. Returns false where it changes nothing.
 *
 * @param options.submits false: only what costs nothing, because the task exists
 * @param options.nowMs Unix milliseconds: the timeout of an order counts for all its tries
 */
export function reopenForRetry(order: Purchase, { submits, nowMs }: { submits: boolean; nowMs: number }): boolean {
	const { wait } = order;
	const retry = retryInPlace(order);
	if (wait === undefined || retry === undefined || (retry === 'submits' && !submits)) return false;
	if ((wait.startedAtMs ?? nowMs) + wait.timeoutMs <= nowMs) return false;
	const error = errorOf(order);
	if (retry === 'continues' && error !== undefined && endsTheSame(error)) return false;
	if (retry === 'continues') order.state = 'accepted';
	else planAgain(order);
	// The wait for a place was over when the task before was accepted.
	if (wait.startedAtMs !== undefined && wait.wantedAtMs !== undefined) wait.wantedAtMs = wait.startedAtMs;
	delete order.end;
	delete wait.dueAtMs;
	forgetTrouble(wait);
	return true;
}

/** True for an order that has ended with an error which Retry On Fail would not change, or only repeat. */
export function staysFailed(order: Purchase): boolean {
	const error = errorOf(order);
	return error !== undefined && (order.wait === undefined || retryInPlace(order) === undefined || endsTheSame(error));
}

/** The effect of Retry On Fail on an order that is waited for; undefined where it changes nothing. */
function retryInPlace({ end, request, task }: Purchase): 'continues' | 'submits' | undefined {
	if (end?.error === undefined) return undefined;
	const retry = retryOf(end);
	if (retry === 'continues' && task !== undefined) return retry;
	return retry === 'submits' && request !== undefined ? retry : undefined;
}

/** True for an ended order that Retry On Fail may take up again with its task. */
export const mayGoOn = (order: Purchase): boolean => order.isRetried === true && retryInPlace(order) === 'continues';

/** Leaves behind the task that has failed, if there is one. */
function planAgain(order: Purchase): void {
	const { task, wait } = order;
	order.state = 'planned';
	if (task !== undefined) leaveBehind(order, [task.taskId]);
	delete order.task;
	delete order.acceptedAtMs;
	delete order.reused;
	delete order.purchase;
	delete wait?.polls;
	delete wait?.notBeforeMs;
	delete wait?.otherIds;
	forgetTrouble(wait);
}

/** Notes the IDs of tasks that have failed, and in whose place another one was created, or may have been. */
export function leaveBehind(order: Purchase, taskIds: Iterable<string>): void {
	order.earlierTaskIds = [...new Set([...(order.earlierTaskIds ?? []), ...taskIds])].slice(-MOST_EARLIER_TASKS);
}

function forgetTrouble(wait: Order['wait']): void {
	delete wait?.contradictedSinceMs;
	delete wait?.graceMs;
	delete wait?.sameAnswer;
}

/** True where nothing is known to have been created for it. */
export function isOpen({ state }: Purchase): boolean {
	return state === 'planned' || state === 'submitting';
}

/** True where an order has ended with its output item. */
export function endsWell({ end }: Purchase): boolean {
	return end !== undefined && end.error === undefined;
}

export function hasEnded({ state }: Purchase): boolean {
	return state === 'ended';
}

/** The error that an order has ended with; undefined where it has ended well, or not yet. */
export function errorOf({ end }: Purchase): GatewayError | undefined {
	return end?.error && fromStored(end.error);
}

function endOf({ state }: Purchase, { kind }: GatewayError): OrderEnd['as'] {
	if (kind === 'stopped' || kind === 'outcomeUnknown' || kind === 'notSubmitted') return kind;
	if (kind === 'taskTimedOut') return 'timedOut';
	return state === 'accepted' ? 'failed' : 'refused';
}

function endAs(order: Purchase, end: OrderEnd, hints: Iterable<string>): void {
	moveTo(order, 'ended');
	const said = [...hints];
	order.end = said.length > 0 ? { ...end, hints: said } : end;
	if (order.isRetried && end.error !== undefined) return;
	dropRequest(order);
	delete order.scope;
	delete order.wait;
}

/** Removes the request of an order, which keeps its prompt alone: the output names it. */
export function dropRequest(order: Purchase): void {
	const prompt = promptOf(order);
	if (prompt !== undefined) order.prompt = prompt;
	delete order.request;
}

/** The prompt that was asked with; undefined for a task that was created elsewhere, and a body without one. */
export function promptOf({ thing, prompt, request }: Purchase): string | undefined {
	return prompt ?? (thing === 'task' ? promptIn(request?.body) : undefined);
}

/** The prompt of a request body, as an order keeps it: n8n stores it, so it has a bound. */
export function promptIn({ prompt }: JsonObject = {}): string | undefined {
	if (typeof prompt !== 'string' || prompt === '') return undefined;
	return shorten(prompt, MAX_PROMPT_LENGTH);
}

function moveTo(order: Purchase, state: Order['state']): void {
	if (!NEXT[order.state].includes(state)) {
		throw gatewayError('packageBug', { words: `an order that is ${order.state} cannot become ${state}` });
	}
	order.state = state;
}

function toStored({ kind, message, details }: GatewayError): StoredError {
	const stored: StoredError['details'] & { cause?: unknown } = { ...details, others: details.others?.map(toStored) };
	delete stored.cause;
	return { kind, message, details: stored };
}

function fromStored({ kind, message, details }: StoredError): GatewayError {
	return new GatewayError(kind, message, { ...details, others: details.others?.map(fromStored) });
}
