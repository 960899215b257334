import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { GatewayError, gatewayError } from '../../core/errors';
import { toNodeError } from '../errors/toNodeError';
import { listIds } from '../run/batchSummary';
import type { OnError } from '../run/toItem';
import { ordersOfStart, requireOrders } from './orderItems';
import { outputResults } from './outputResults';
import { pollTasks, type PollMemory } from './poller';
import { STEPS } from './storedNames';
import { keepWaiting } from './supervisor';
import { resumeUrlOf } from './wakeUp';

type Step = (context: IExecuteFunctions) => Promise<INodeExecutionData[]>;

/** The address by which this execution is woken. The orders themselves are in Start. */
const noteAddress: Step = async (context) => {
	await requireOrders(context.getInputData());
	return [{ json: { details: { resume_url: resumeUrlOf(context) } } }];
};

/** In the place of a step that another version of the package has: the execution ends, and says which tasks it had. */
const refuseOther: Step = async (context) => {
	const { rows } = context.getContext('node') as PollMemory;
	const orders = await (rows === undefined ? ordersOfStart(context) : requireOrders(rows));
	const [first, ...rest] = orders.flatMap(({ task }) => task ?? []);
	const error = gatewayError('storedByOtherVersion', { id: first?.taskId });
	const withoutId = orders.filter(({ task }) => task === undefined).length;
	const last = `Without a task ID: ${withoutId} ${withoutId === 1 ? 'item' : 'items'}. If the other version has submitted them, n8n's log has their IDs.`;
	const others = { ...(rest.length > 0 && listIds(rest, 'Other tasks')), ...(first && withoutId > 0 && { last }) };
	const errorContext = { node: context.getNode(), itemIndex: 0, isItem: true };
	throw toNodeError(error, errorContext, others);
};

const withNodeErrors =
	(step: Step): Step =>
	async (context) => {
		try {
			return await step(context);
		} catch (thrown) {
			throw thrown instanceof GatewayError ? toNodeError(thrown, { node: context.getNode(), itemIndex: 0 }) : thrown;
		}
	};

/** The hidden operations, by their values. */
const steps = new Map<string, Step>([
	[STEPS.keepWaiting, keepWaiting],
	[STEPS.noteAddress, noteAddress],
	[STEPS.pollTasks, pollTasks],
	...(Object.entries(STEPS.results) as Array<[OnError, string]>).map(([onError, value]): [string, Step] => [
		value,
		async (context) => await outputResults(context, onError),
	]),
]);

/** The name of a step begins like this in every version: so each knows those of another one as steps. */
const PREFIX = 'durable';

/** The hidden operation of this value, which may be that of another version; undefined where it is none. */
export function stepOf(operation: string): Step | undefined {
	const step = steps.get(operation) ?? (operation.startsWith(PREFIX) ? refuseOther : undefined);
	return step && withNodeErrors(step);
}
