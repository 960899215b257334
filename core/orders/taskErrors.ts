import type { GatewayClient, MediaKind } from '../client';
import { gatewayError, GatewayError, type GatewayErrorDetails, type TaskReference } from '../errors';
import { entryOf } from '../errors/catalogue';
import { refusesAccess } from '../errors/kinds';
import { reasonOf, saidIn, withoutKeys } from '../records/refusals';
import type { TaskRecord } from '../records/taskRecord';
import { MOST_FIELDS, roughDuration, toOutline } from '../text';
import type { Order } from './order';

/** The error of a record with the state `failed` (contract 3.1). */
export function failedTask(taskId: string, { refusal, status }: TaskRecord): GatewayError {
	const reason = reasonOf(refusal);
	if (reason === 'contentDeclined') return gatewayError('taskDeclined', { id: taskId }, saidIn(refusal));
	const { permanent, kind } = entryOf(reason) ?? {};
	// The reasons that a person has to act on. Credits can be added, so a retry may go well then.
	const needsPerson = permanent || kind === 'balance';
	const serviceReason = needsPerson && reason ? gatewayError(reason, {}).details.reason : undefined;
	const data = { id: taskId, status: status === '' ? 'failed' : status };
	return gatewayError('taskFailed', data, { ...saidIn(refusal), serviceReason, permanent });
}

/** Fields of every record (contract 2.3) that never hold the result, and that messages show elsewhere. */
const NO_RESULT = new Set(['id', 'object', 'model', 'status', 'progress', 'created_at']);

/** The error of a completed task without a result URL (at the path of the form). It is paid: the record is shown. */
export function missingResult(
	id: string,
	{ status, progress, raw }: TaskRecord,
	elapsedMs: number,
	path = '',
): GatewayError {
	const details = { task: { taskId: id, status, progress, elapsedMs } };
	const unknown = Object.keys(raw).filter((name) => !NO_RESULT.has(name));
	const shown = unknown.slice(0, MOST_FIELDS).map((name) => [name, raw[name]]);
	const record = withoutKeys(toOutline(unknown.length > 0 ? Object.fromEntries(shown) : raw));
	return gatewayError('noResultUrl', { id, record, ...(path !== '' && { path }) }, details);
}

/** The error of a task where its order tells more about it than the answer. */
export function explainTaskError(
	order: Order,
	error: GatewayError,
	client: Pick<GatewayClient, 'service'>,
): GatewayError {
	const { acceptedAtMs, kind, reused, task } = order;
	if (task === undefined) return error;
	const { taskId: id } = task;
	const isGone = error.kind === 'notFound' || (error.kind === 'download' && GONE.has(error.details.httpStatus ?? 0));
	const isOld = Date.now() - (acceptedAtMs ?? Infinity) > KEPT_MS;
	const isSurelyGone = isOld || (error.kind === 'notFound' && order.purchase?.boughtIn !== undefined);
	if (reused && isGone && isSurelyGone) return goneOf(order, id, error.details);
	// It was accepted, so it is not the ID that is wrong, and nothing has to be bought again.
	if (acceptedAtMs === undefined) return error;
	const why = error.message.replace(` (task ${id})`, '');
	const isElsewhere = order.service !== undefined && order.service !== client.service;
	if (isElsewhere && saysNothing(error))
		return gatewayError('createdTaskElsewhere', { id, why }, withoutPermanence(error));
	if (error.kind === 'notFound') {
		const age = roughDuration(Date.now() - acceptedAtMs);
		const wasFound = order.wait?.polls?.some(({ failed }) => failed !== true);
		const data = { id, age, mediaKind: kind as MediaKind, ...(wasFound && { wasFound }) };
		return gatewayError('createdTaskNotFound', data, error.details);
	}
	if (error.details.reason?.name === 'answerTooLarge')
		return gatewayError('createdTaskTooLarge', { id }, withoutPermanence(error));
	if (isAnswerToPoll(error)) return gatewayError('createdTaskNotShown', { id, why }, withoutPermanence(error));
	if (!refusesAccess(error)) return error;
	const { message, details } = gatewayError('createdTaskRefused', { id, why }, error.details);
	// What follows for the other items stays the same.
	return new GatewayError(error.kind, message, details);
}

/** True for an answer of the service that is no status, after which a wait does not go on. */
const isAnswerToPoll = ({ kind, details }: GatewayError) => details.httpStatus !== undefined && NO_STATUS.has(kind);

/** True for an answer that says nothing about a task, if the task is another service's. */
const saysNothing = (error: GatewayError) => error.kind === 'notFound' || isAnswerToPoll(error) || refusesAccess(error);

const NO_STATUS = new Set<GatewayError['kind']>(['rejected', 'contentPolicy', 'unexpectedAnswer', 'unavailable']);

/** The refusal was one of the question, not of the request that has bought the task. */
const withoutPermanence = ({ details }: GatewayError) => ({ ...details, permanent: undefined });

/** Results are kept for longer. What is gone earlier has another reason, e.g. its host: to pay again would not help. */
const KEPT_MS = 6 * 60 * 60 * 1000;

/** Answers of file hosts that do not have a file any more. */
const GONE = new Set([403, 404, 410]);

/** Throws where a task was bought before, and its result is gone. */
export function assertNotExpired(order: Order, task: TaskReference, { state, expiresAt = Infinity }: TaskRecord): void {
	if (order.reused && state === 'completed' && expiresAt * 1000 < Date.now())
		throw goneOf(order, task.taskId, { task });
}

/** The error of a task whose result is gone: how to buy it again depends on how the order has come by it. */
function goneOf({ purchase }: Order, id: string, details: GatewayErrorDetails): GatewayError {
	const isOfNode = purchase?.boughtIn !== undefined;
	return gatewayError(isOfNode ? 'reusedTaskExpired' : 'purchaseKeyExpired', { id }, details);
}
