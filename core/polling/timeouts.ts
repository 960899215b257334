import { gatewayError, type GatewayError } from '../errors';
import { formatDuration } from '../text';
import type { PollTarget } from './pollTarget';

type Target = Pick<PollTarget<unknown>, 'thing' | 'task'>;

/**
 * The error of a wait that has come to its deadline.
 *
 * @param trouble the reason why the last poll got no answer
 */
export function timedOut({ thing, task }: Target, timeoutMs: number, trouble?: GatewayError): GatewayError {
	const { taskId: id, status, progress } = task;
	const { serviceMessage, serviceCode } = trouble?.details ?? {};
	const data = { thing, id, after: formatDuration(timeoutMs), status, progress, trouble: trouble?.message };
	return gatewayError('timedOut', data, { task: { ...task }, serviceMessage, serviceCode });
}

/** The error of a wait that ends because the service asks for a pause that is longer than what is left. */
export function toldToWait(
	{ thing, task }: Target,
	{ askedMs, leftMs }: { askedMs: number; leftMs: number },
): GatewayError {
	const data = { thing, id: task.taskId, asked: formatDuration(askedMs), left: formatDuration(leftMs) };
	return gatewayError('timedOutEarly', data, { task: { ...task } });
}
