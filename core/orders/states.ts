import { asGatewayError, gatewayError, GatewayError, type TaskReference } from '../errors';
import type { Output } from './product';
import {
	MAX_POLLS,
	ORDER_VERSION,
	orderSchema,
	type Order,
	type OrderDraft,
	type OrderEnd,
	type StoredError,
	type SubmitAgain,
} from './order';

/**
 * The states of an order, and which may follow which:
 *
 *     planned ◀─▶ submitting ──▶ accepted ──▶ ended
 *        │             └────────────────────────▲
 *        └──────────────────────────────────────┘
 *
 * The service has accepted nothing of a planned order. `submitting` lasts from just before a creating request until its
 * outcome is known: an order that is found in it later has an unknown outcome. An order for something that exists already
 * begins as accepted. Only `takeUpAgain` leads back.
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
	| 'submits' // surely nothing was accepted, or what was accepted has failed and will not recover
	| 'refuses'; // unless Submit Again is on: nobody knows whether it was accepted

/** The effect of Retry On Fail and Retry execution for each end of an order, and with Submit Again. */
const ENDS: Record<OrderEnd['as'], { retry: Retry; withSubmitAgain: Retry }> = {
	done: { retry: 'continues', withSubmitAgain: 'continues' },
	refused: { retry: 'submits', withSubmitAgain: 'submits' },
	notSubmitted: { retry: 'submits', withSubmitAgain: 'submits' },
	outcomeUnknown: { retry: 'refuses', withSubmitAgain: 'submits' },
	failed: { retry: 'submits', withSubmitAgain: 'submits' },
	timedOut: { retry: 'continues', withSubmitAgain: 'continues' },
	stopped: { retry: 'continues', withSubmitAgain: 'continues' },
};

export function retryOf(end: OrderEnd['as'], { submitAgain }: SubmitAgain): Retry {
	return ENDS[end][submitAgain ? 'withSubmitAgain' : 'retry'];
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

/** Checks an order before it is stored: what cannot be read back would be lost, and nobody would see it in time. */
export function checkOrder(order: Order): Order {
	const [issue] = orderSchema.safeParse(order).error?.issues ?? [];
	if (issue === undefined) return order;
	throw gatewayError('packageBug', { words: `${issue.path.join('.')}: ${issue.message}` });
}

/** Reads a stored order; undefined where it is none. A person may have written it. */
export function parseOrder(value: unknown): Order | undefined {
	return orderSchema.safeParse(value).data;
}

/** Notes that the request is about to be sent. */
export function beginSubmitting(order: Order): void {
	moveTo(order, 'submitting');
}

/** Notes that the service surely has not accepted the request: it can be sent again, now or later. */
export function putOff(order: Order): void {
	delete order.request?.wave;
	if (order.state === 'submitting') moveTo(order, 'planned');
}

/** Notes that the service has accepted it, in this try or an earlier one. */
export function accept(order: Order, task: TaskReference, acceptedAtMs: number): void {
	moveTo(order, 'accepted');
	order.task = { ...task };
	order.acceptedAtMs = acceptedAtMs;
	forgetRequest(order);
}

/** Ends an order with its output item. */
export function endWell(order: Order, output: Output, hints: Iterable<string> = []): void {
	endAs(order, { as: 'done', output }, hints);
}

/** Ends an order with an error. */
export function endBadly(order: Order, thrown: unknown, hints: Iterable<string> = []): GatewayError {
	const error = asGatewayError(thrown);
	endAs(order, { as: endOf(order, error), error: toStored(error) }, hints);
	return error;
}

/**
 * Takes an order that has ended with an error up again, as Retry On Fail does with a node that waits in memory. Returns
 * false where that would change nothing.
 */
export function takeUpAgain(order: Order): boolean {
	const error = errorOf(order);
	const { end, request, task } = order;
	if (error === undefined || end === undefined || order.wait === undefined) return false;
	const submitAgain = request?.submitAgain ?? false;
	const isFinal = error.kind === 'taskFailed' || error.kind === 'notFound';
	const isCreated = order.acceptedAtMs !== undefined && !isCreatedAgain(error, { submitAgain });
	if (isCreated ? isFinal || task === undefined : request === undefined) return false;
	if (!isCreated && retryOf(end.as, { submitAgain }) !== 'submits') return false;
	delete order.end;
	delete order.wait.startedAtMs;
	delete order.wait.dueAtMs;
	order.state = isCreated ? 'accepted' : 'planned';
	if (isCreated) return true;
	// It is not in that wave any more: the next one may come after a sleep.
	delete order.request?.wave;
	if (task !== undefined) order.earlierTaskIds = [...(order.earlierTaskIds ?? []), task.taskId];
	delete order.task;
	delete order.acceptedAtMs;
	delete order.reused;
	delete order.wait.polls;
	return true;
}

export function hasEnded({ state }: Order): boolean {
	return state === 'ended';
}

/** The error that an order has ended with; undefined where it has ended well, or not yet. */
export function errorOf({ end }: Order): GatewayError | undefined {
	return end?.error && fromStored(end.error);
}

/** True when a retry has to forget the task and create another one. */
export function isCreatedAgain(error: GatewayError, { submitAgain }: SubmitAgain): boolean {
	if (error.kind === 'notFound') return submitAgain;
	return error.kind === 'taskFailed' && error.details.permanent !== true;
}

/** Keeps the polls that are worth storing. Without an acceptance their times would not fit those of the next part. */
export function trimPolls(order: Order): void {
	if (order.wait?.polls === undefined) return;
	order.wait.polls = order.acceptedAtMs === undefined ? [] : order.wait.polls.slice(-MAX_POLLS);
}

function endOf({ state }: Order, { kind }: GatewayError): OrderEnd['as'] {
	if (kind === 'stopped' || kind === 'outcomeUnknown' || kind === 'notSubmitted') return kind;
	if (kind === 'taskTimedOut') return 'timedOut';
	return state === 'accepted' ? 'failed' : 'refused';
}

function endAs(order: Order, end: OrderEnd, hints: Iterable<string>): void {
	moveTo(order, 'ended');
	const said = [...hints];
	order.end = said.length > 0 ? { ...end, hints: said } : end;
	if (order.batch?.retry !== undefined && end.error !== undefined) return;
	forgetRequest(order);
	delete order.request;
	delete order.wait;
}

/** The prompt is needed for submitting only. */
function forgetRequest(order: Order): void {
	delete order.request?.wave;
	if (order.batch?.retry !== undefined) return;
	delete order.request;
	delete order.scope;
}

function moveTo(order: Order, state: Order['state']): void {
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
